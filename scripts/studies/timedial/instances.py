"""Turn masked spans into instances (schema cloze): dialogs in order, spans in their place, contexts
with one mask.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from scripts.data.tables import DIALOGS, SPANS, read_complete
from scripts.running.program import UserError
from scripts.studies.timedial.leakage import LONG, MASK, NEAR, challenge_turns, normalized
from scripts.studies.timedial.tables import CLOZE
from scripts.text.restored_dialogs import restored_turns

SENTENCE_START = r"(?:^|[.?!…])[\s\"'“‘]*$"
NUMERAL = (
    r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif"
    r"|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
    r"|thousand|dozen|half)\b"
)
AROUND = {"target": 0, "local": 1, "full": 1_000_000}  # turns kept on each side of the masked turn


def ordered(file: Path) -> pd.DataFrame:
    """Return the turns in order of dialog (train:2 before train:10) and turn, with the number of
    their dialog from 0 (`dialog`). Raises UserError if the turns cannot be masked: a turn contains
    a mask or a line break, or turns are not numbered 0, 1, 2, ….
    """
    dialogs = read_complete(file, DIALOGS).to_pandas()
    for sign, name in ((MASK, MASK), ("\n", "a line break")):
        wrong = dialogs[dialogs["text"].str.contains(sign, regex=False)]
        if len(wrong):
            raise UserError(
                f"{file}: turn {wrong['turn'].iloc[0]} of dialog {wrong['dialog_id'].iloc[0]} "
                f"holds {name}, which datasets use as a mark; take it out of the corpus and clean "
                "it again"
            )
    dialogs = dialogs.assign(digits=dialogs["dialog_id"].str.len()).sort_values(
        ["digits", "dialog_id", "turn"], ignore_index=True
    )
    dialogs["dialog"] = pd.factorize(dialogs["dialog_id"])[0]
    gaps = dialogs[dialogs["turn"] != dialogs.groupby("dialog").cumcount()]
    if len(gaps):
        raise UserError(
            f"{file}: the turns of dialog {gaps['dialog_id'].iloc[0]} are not numbered 0, 1, 2, …, "
            "each once; clean the corpus again"
        )
    return dialogs


def spans_in_dialogs(file: Path, dialogs: pd.DataFrame) -> pd.DataFrame:
    """Return the spans in the order of the dialogs, with these columns:
      instance_id
      dialog          the number of the dialog
      length          the number of turns of the dialog
      row             the row of the span's turn in `dialogs`
      before, after   the rest of that turn's text
      initial         whether the span begins a sentence

    dialogs: from ordered(). Raises UserError if the spans are not from these dialogs.
    """
    spans = read_complete(file, SPANS).to_pandas()
    first = np.flatnonzero(dialogs["turn"] == 0)
    dialog = pd.Index(dialogs["dialog_id"].to_numpy()[first]).get_indexer(spans["dialog_id"])
    # -1 is a dialog that is not found; it has no turn
    length = np.append(np.bincount(dialogs["dialog"]), 0)
    lost = spans[(dialog < 0) | (spans["turn"] < 0) | (spans["turn"] >= length[dialog])]
    if len(lost):
        raise UserError(
            f"{file}: a span lies in turn {lost['turn'].iloc[0]} of dialog "
            f"{lost['dialog_id'].iloc[0]}, which is not among the cleaned dialogs; find the spans "
            "again"
        )
    spans = spans.assign(dialog=dialog, row=first[dialog] + spans["turn"], length=length[dialog])
    spans = spans.sort_values(["row", "start", "end"], ignore_index=True)
    texts, starts, ends = dialogs["text"].to_numpy()[spans["row"]], spans["start"], spans["end"]
    wrong = spans[
        [
            text[start:end] != span
            for text, start, end, span in zip(texts, starts, ends, spans["text"])
        ]
    ]
    wrong = pd.concat([wrong, spans[spans.duplicated(["row", "start"])]])
    if len(wrong):
        one = wrong.iloc[0]
        raise UserError(
            f"{file}: the span {one['text']!r} from character {one['start']} of turn {one['turn']} "
            f"of dialog {one['dialog_id']} is not the text there, or occurs twice; find the "
            "spans again"
        )
    before = [text[:start] for text, start in zip(texts, starts)]
    return spans.assign(
        instance_id=spans["dialog_id"] + ":" + spans["turn"].astype(str) + ":" + starts.astype(str),
        before=before,
        after=[text[end:] for text, end in zip(texts, ends)],
        initial=pc.match_substring_regex(pa.array(before, pa.string()), SENTENCE_START).to_numpy(
            False
        ),
    )


def contexts(lines: list[str], masks: pd.DataFrame, masked: pd.Series, scope: str) -> list[str]:
    """Return the text of each instance: the lines in scope, including the masked line.

    lines: the lines of all dialogs, one dialog after the other. masks: row (of the masked line),
    turn (its place in the dialog), length (of the dialog). masked: the masked line of each
    instance.
    """
    most = AROUND[scope]
    found = []
    for row, turn, length, line in zip(masks["row"], masks["turn"], masks["length"], masked):
        before = lines[row - min(turn, most) : row]
        after = lines[row + 1 : row + min(length - turn, most + 1)]
        found.append("\n".join([*before, line, *after]))
    return found


def numbered(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of the schema cloze. An example id is the instance's id and the candidate's
    number.
    """
    number = rows.groupby("instance_id").cumcount().astype(str)
    return rows.assign(example_id=rows["instance_id"] + ":" + number)[CLOZE.names]


def cloze(
    masks: pd.DataFrame, dialogs: pd.DataFrame, offered: pd.DataFrame, scope: str
) -> pd.DataFrame:
    """Return the instances (schema cloze) of spans from spans_in_dialogs(). Each has its own text,
    which is right, then the offered candidates.

    offered: mask (a row of masks), candidate, rule, label. A candidate at the start of a sentence
    gets a capital.
    """
    begins = (masks["initial"] & ~masks["text"].str[:1].str.islower()).to_numpy()[offered["mask"]]
    capital = offered["candidate"].str[:1].str.upper() + offered["candidate"].str[1:]
    offered = offered.assign(
        candidate=offered["candidate"].mask(begins, capital), is_original=False
    )
    right_rows = pd.DataFrame({"mask": np.arange(len(masks)), "candidate": masks["text"]})
    right_rows = right_rows.assign(rule="", label=1, is_original=True)
    rows = pd.concat([right_rows, offered]).sort_values("mask", kind="stable", ignore_index=True)
    said = dialogs["speaker"] + ": "
    masked = said.to_numpy()[masks["row"]] + masks["before"] + MASK + masks["after"]
    instances = masks[["instance_id", "dialog_id", "kind", "has_numeral"]].assign(
        context=contexts((said + dialogs["text"]).tolist(), masks, masked, scope),
        context_scope=scope,
        turns=masks["length"],
        leak="",
    )
    return numbered(rows.join(instances, on="mask"))


def behind_masks(challenge: pd.DataFrame, spans: pd.DataFrame, where: str) -> pd.DataFrame:
    """Return kind and has_numeral of the masked span of each instance. Index: instance_id.

    The spans were found in the dialog with the original option in place. The masked span is the
    span that overlaps the mask most; a tie goes to the span with the nearest ends. If no span
    overlaps the mask, the kind is `other`, and has_numeral is true if the option contains a digit
    or a number word. Raises UserError for an instance without exactly one original option.
    """
    masked = restored_turns(challenge, where).dropna(subset="mask_start")[
        ["dialog_id", "turn", "mask_start", "mask_end"]
    ]
    near = masked.merge(spans, on=["dialog_id", "turn"])
    near["common"] = np.minimum(near["end"], near["mask_end"]) - np.maximum(
        near["start"], near["mask_start"]
    )
    near["off"] = (near["start"] - near["mask_start"]).abs() + (
        near["end"] - near["mask_end"]
    ).abs()
    near = near[near["common"] > 0].sort_values(
        ["common", "off", "start"], ascending=[False, True, True]
    )
    option = challenge[challenge["is_original"]].set_index("instance_id")["option"]
    found = near.drop_duplicates("dialog_id").set_index("dialog_id").reindex(option.index)
    has_numeral = found["has_numeral"].astype("boolean").fillna(option.str.contains(NUMERAL))
    return pd.DataFrame(
        {"kind": found["kind"].fillna("other"), "has_numeral": has_numeral.astype(bool)}
    )


def dialogs_of(challenge: pd.DataFrame, where: str) -> pd.Series:
    """Return the dialog that each instance was made from, named by its first instance. Index:
    instance_id.

    Annotators changed words between instances of one dialog. So two instances belong to one dialog
    if they share half of the long turns of either, directly or through other instances. The
    original option is in place (LONG and NEAR of scripts/studies/timedial/leakage.py).
    """
    turns = restored_turns(challenge, where)
    turns = turns.assign(number=pd.factorize(turns["dialog_id"])[0], key=normalized(turns["text"]))
    long = turns[turns["key"].str.len() >= LONG].drop_duplicates(["number", "key"])
    pairs = long.merge(long, on="key").groupby(["number_x", "number_y"], as_index=False).size()
    count = np.bincount(long["number"], minlength=turns["number"].max() + 1)
    fewest = np.minimum(count[pairs["number_x"]], count[pairs["number_y"]])
    one, other = pairs.loc[pairs["size"] >= NEAR * fewest, ["number_x", "number_y"]].to_numpy().T
    graph = sparse.coo_array((np.ones(len(one)), (one, other)), shape=(len(count), len(count)))
    group = sparse.csgraph.connected_components(graph, directed=False)[1]
    names = pd.Series(turns["dialog_id"].unique())
    return names.groupby(group).transform("first").set_axis(names)


def challenge_cloze(
    challenge: pd.DataFrame, spans: pd.DataFrame, scope: str, near: set[str], where: str
) -> pd.DataFrame:
    """Return the instances of a challenge split (schema cloze). Instances of one dialog have the
    same dialog_id.

    near: instances that share words with a training dialog.
    """
    if challenge.empty:  # a challenge may have an empty split
        return pd.DataFrame(columns=CLOZE.names)
    instance_turns = challenge_turns(challenge, where)
    instance_turns = instance_turns.assign(
        row=np.arange(len(instance_turns)),
        length=instance_turns.groupby("instance_id")["turn"].transform("size"),
    )
    masks = instance_turns[instance_turns["masked"]]
    instances = pd.DataFrame(
        {
            "context": contexts(instance_turns["line"].tolist(), masks, masks["line"], scope),
            "place": masks["row"].to_numpy(),
            "turns": masks["length"].to_numpy(),
        },
        masks["instance_id"],
    ).join(behind_masks(challenge, spans, where))
    rows = challenge.join(instances, on="instance_id").sort_values(
        ["place", "label"], ascending=[True, False], kind="stable"
    )
    return numbered(
        rows.assign(
            dialog_id=rows["instance_id"].map(dialogs_of(challenge, where)),
            candidate=rows["option"],
            context_scope=scope,
            leak=np.where(rows["instance_id"].isin(near), "near", "none"),
        )
    )
