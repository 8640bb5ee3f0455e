"""Build the masked datasets of TimeDial (Qin et al. 2021, section 4): every temporal expression of a dialog, masked.

The dialogs that the challenge was made from leave, exact and near (scripts/build/dialog_leakage.py), then those that
occur before. Every span of those that stay gives one instance: its own text is right, and `negatives` candidates drawn
from the pool are wrong. The pool holds each different text of the split's spans once: the paper's is of 2,153 spans for
14.5 thousand masks (table 4), so a text that is frequent is not drawn more often, and the more frequent candidate tends to be
the right one. With negatives_by: occurrence a text is drawn as often as it occurs, which takes that hint away. What is held
out is drawn for from the texts that are learnt from besides its own, which may be too few of a kind. A candidate never equals
the right one or another candidate in value ("two weeks", "14 days"), and is written as its place asks: with a capital at the start of a
sentence, as in the midst of one elsewhere, so that writing does not tell right from wrong. Drawn candidates may still
fit by chance; the paper leaves them, too.

Reads  <cleaned>/<split>.parquet (schema dialogs), <spans>/<split>.parquet (schema spans) of the two --splits,
       <challenge>/<split>.parquet (schema challenge), <challenge-spans>/<split>.parquet (spans) of the --measured splits
Writes <output>/train.parquet, validation.parquet and <measured>.parquet (schema cloze), leakage.csv: for each split
       of the dialogs what left and why, in turn, what stayed, and of what was built: mask_instances, candidates, pool
       (different texts) and right_by_frequency (the share of instances that the most frequent candidate gets right)

    python -m scripts.build.timedial --cleaned results/clean/dailydialog --spans results/build/temporal_spans/dailydialog \\
        --splits train validation --challenge results/clean/timedial \\
        --challenge-spans results/build/temporal_spans/timedial --measured test extras \\
        --options '{"context_scope": "full", "negatives": 3, "negatives_of": "any_kind",
                    "negatives_by": "text", "negative_seed": 0, "max_dialogs": null}' --output /tmp/timedial

max_dialogs keeps that many dialogs of the first split and a fifth as many of the second, of those with a span, whose ids
hash lowest: a larger number keeps the dialogs of a smaller one, and their candidates, since the pool is not cut.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.build.dialog_leakage import MASK, challenge_turns, sources
from scripts.build.options import options_of
from scripts.common.files import whole, whole_set
from scripts.common.keyed import keyed_hash, keyed_uniform
from scripts.common.program import UserError, log, parser, run
from scripts.common.tables import CHALLENGE, CLOZE, DIALOGS, SPANS, provenance_of, read_table, write_table

LEARNT = ("train", "validation")
EXACT, NEAR, DUPLICATE = "exact source of the challenge", "near source of the challenge", "occurs before"
NO_SPAN, TOO_MANY = "no temporal expression", "over max_dialogs"
HELD_OUT = 5  # of max_dialogs to learn from, one to hold out

NUMERAL = (r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)"
           r"teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen|half)\b")

SENTENCE_START = r"(?:^|[.?!…])[\s\"'“‘]*$"

# Separate draws from the same key, so that no choice predicts another.
DRAW, DIALOG = 1, 2


def ordered(dialogs: pd.DataFrame, where: str) -> pd.DataFrame:
    """Turns by dialog (train:2 before train:10) and place, with the number of their dialog from 0 (`dialog`).

    Raises UserError where they cannot be masked.
    """
    for sign, name in ((MASK, MASK), ("\n", "a line break")):
        wrong = dialogs[dialogs["text"].str.contains(sign, regex=False)]
        if len(wrong):
            raise UserError(f"{where}: turn {wrong['turn'].iloc[0]} of dialog {wrong['dialog_id'].iloc[0]} holds {name}, "
                            "which datasets use as a mark; take it out of the corpus and clean it again")
    dialogs = dialogs.assign(digits=dialogs["dialog_id"].str.len())
    dialogs = dialogs.sort_values(["digits", "dialog_id", "turn"], ignore_index=True).drop(columns="digits")
    dialogs["dialog"] = (dialogs["dialog_id"] != dialogs["dialog_id"].shift()).cumsum() - 1
    gaps = dialogs[dialogs["turn"] != dialogs.groupby("dialog").cumcount()]
    if len(gaps):
        raise UserError(f"{where}: the turns of dialog {gaps['dialog_id'].iloc[0]} are not numbered 0, 1, 2, …, each once; "
                        "clean the corpus again")
    return dialogs


def placed(spans: pd.DataFrame, dialogs: pd.DataFrame, where: str) -> pd.DataFrame:
    """Spans in the order of the dialogs, with: dialog (its number), length (its turns), row (of the span's turn in
    `dialogs`), before and after (the rest of that turn's text).

    dialogs: of ordered(). Raises UserError when the spans are not those of these dialogs.
    """
    first = np.flatnonzero(dialogs["turn"] == 0)
    dialog = pd.Index(dialogs["dialog_id"].to_numpy()[first]).get_indexer(spans["dialog_id"])
    length = np.append(np.bincount(dialogs["dialog"]), 0)  # no turn of a dialog that is not found, -1
    lost = spans[(dialog < 0) | (spans["turn"] < 0) | (spans["turn"] >= length[dialog])]
    if len(lost):
        raise UserError(f"{where}: a span lies in turn {lost['turn'].iloc[0]} of dialog {lost['dialog_id'].iloc[0]}, which "
                        "is not among the cleaned dialogs; find the spans again")
    spans = spans.assign(dialog=dialog, row=first[dialog] + spans["turn"], length=length[dialog])
    spans = spans.sort_values(["row", "start", "end"], ignore_index=True)
    texts, starts, ends = dialogs["text"].to_numpy()[spans["row"]], spans["start"], spans["end"]
    wrong = spans[[text[start:end] != span for text, start, end, span in zip(texts, starts, ends, spans["text"])]]
    wrong = pd.concat([wrong, spans[spans.duplicated(["row", "start"])]])
    if len(wrong):
        one = wrong.iloc[0]
        raise UserError(f"{where}: the span {one['text']!r} from character {one['start']} of turn {one['turn']} of dialog "
                        f"{one['dialog_id']} is not what stands there, or there twice; find the spans again")
    return spans.assign(before=[text[:start] for text, start in zip(texts, starts)],
                        after=[text[end:] for text, end in zip(texts, ends)])


def reasons_to_leave(dialogs: pd.DataFrame, asked: pd.DataFrame) -> np.ndarray:
    """Why each dialog leaves, by its number; empty text for those that stay. asked: of challenge_turns()."""
    reasons = np.where(dialogs.loc[dialogs["turn"] == 0, "duplicate_of"] == "", "", DUPLICATE).astype(object)
    exact, near = sources(dialogs, asked)
    reasons[near] = NEAR
    reasons[exact] = EXACT
    return reasons


def cut(reasons: np.ndarray, ids: pd.Series, spans: pd.DataFrame, most: int | None) -> np.ndarray:
    """Reasons to leave, also for dialogs without a span, and for all but the `most` of the rest whose ids hash lowest."""
    spanless = np.bincount(spans["dialog"], minlength=len(reasons)) == 0
    reasons = np.where((reasons == "") & spanless, NO_SPAN, reasons)
    if most is not None:
        stay = np.flatnonzero(reasons == "")
        reasons[stay[np.argsort(keyed_hash(ids.iloc[stay], DIALOG), kind="stable")[most:]]] = TOO_MANY
    return reasons


def words_as_written(spans: pd.DataFrame, key: pd.Series) -> pd.Series:
    """For each span text in lower case (key) its form in the midst of a sentence, the most frequent one.

    A text that only ever starts a sentence loses its capital if its first word is written small elsewhere.
    """
    forms = pd.DataFrame({"key": key, "form": spans["text"], "initial": spans["initial"]})
    forms = forms.groupby(["key", "initial", "form"], as_index=False).size()
    small = forms.loc[~forms["initial"], "form"].str.split(n=1).str[0].unique()
    forms = forms.sort_values(["key", "initial", "size", "form"], ascending=[True, True, False, True])
    forms = forms.drop_duplicates("key").set_index("key")
    lower = forms["form"].str[:1].str.lower() + forms["form"].str[1:]
    return forms["form"].mask(forms["initial"] & lower.str.split(n=1).str[0].isin(small), lower)


def joined(one: pd.Series, other: pd.Series) -> np.ndarray:
    """A number per row: the same for rows that are equal in one column or the other, directly or through further rows."""
    one, other = pd.factorize(one)[0], pd.factorize(other)[0]
    number, before = one, None
    while before is None or (number != before).any():
        before = number
        for column in (other, one):
            lowest = np.full(column.max(initial=-1) + 1, len(column))
            np.minimum.at(lowest, column, number)
            number = lowest[column]
    return number


def pool_of(spans: pd.DataFrame, by_kind: bool, by_occurrence: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pool of the different texts of spans, and for each span where to draw from.

    pool: kind (one for all unless by_kind), form, meaning, end. A meaning is a number that texts share when any of their
    spans share a value, and a text with itself in another case. Texts lie on a line, each as wide as it is likely to be drawn
    (1, or its occurrences), and end where `end` says.
    spans: first and size (the piece of that line for its kind), meaning, meanings (how many the pool of its kind has).
    """
    key = spans["text"].str.lower()
    each = pd.DataFrame({"kind": spans["kind"] if by_kind else "", "key": key, "meaning": joined(key, spans["value"])})
    each["width"] = each.groupby(["kind", "key"])["key"].transform("size") if by_occurrence else 1
    pool = each.drop_duplicates(["kind", "key"]).sort_values(["kind", "key"], ignore_index=True)
    kinds = pool.groupby("kind").agg(size=("width", "sum"), meanings=("meaning", "nunique"))
    kinds["first"] = kinds["size"].cumsum() - kinds["size"]
    pool["form"] = pool["key"].map(words_as_written(spans, key))
    pool["end"] = pool["width"].cumsum()
    return pool[["kind", "form", "meaning", "end"]], each[["kind", "meaning"]].join(kinds, on="kind")


def drawn(ids: pd.Series, places: pd.DataFrame, pool: pd.DataFrame, wanted: int, seed: int) -> np.ndarray:
    """Rows of the pool for every instance, shape (instances, wanted), from its id and the seed alone.

    Draws are uniform over the piece of the line (first, size) that places give; one whose meaning is the instance's own, or
    that of an earlier draw, is passed over. Instances that still lack some are drawn for again, with twice as many draws.
    """
    taken = np.zeros((len(ids), wanted), np.int64)
    left, draws = np.arange(len(ids)), 2 * wanted + 2
    first, size, own = (places[name].to_numpy() for name in ("first", "size", "meaning"))
    ends, meanings = pool["end"].to_numpy(), pool["meaning"].to_numpy()
    while len(left):
        share = keyed_uniform(ids.iloc[left], seed, DRAW, np.arange(draws)[:, None]).T
        rows = np.searchsorted(ends, first[left, None] + (share * size[left, None]).astype(np.int64), side="right")
        meant = meanings[rows]
        order = np.argsort(meant, axis=1, kind="stable")
        inorder = np.take_along_axis(meant, order, 1)
        passed = np.zeros(meant.shape, bool)
        np.put_along_axis(passed, order[:, 1:], inorder[:, 1:] == inorder[:, :-1], 1)
        passed |= meant == own[left, None]
        enough = (~passed).sum(1) >= wanted
        chosen = np.argsort(passed[enough], axis=1, kind="stable")[:, :wanted]
        taken[left[enough]] = np.take_along_axis(rows[enough], chosen, 1)
        left, draws = left[~enough], 2 * draws
    return taken


def capital(texts: np.ndarray) -> np.ndarray:
    """Texts with their first letter in upper case."""
    return np.array([text[:1].upper() + text[1:] for text in texts], dtype=object)


def contexts(lines: np.ndarray, first: np.ndarray, length: np.ndarray, turn: np.ndarray, masked: pd.Series,
             scope: str) -> pa.Array:
    """The text of each instance: the lines in scope, its masked line in place.

    lines: of all dialogs, one after the other. For each instance: first (the row of its dialog's first line), length (of
    its dialog), turn (which one is masked), masked (that line with the mask).
    """
    begin, end = {"full": (np.zeros_like(turn), length), "target": (turn, turn + 1),
                  "local": (np.maximum(turn - 1, 0), np.minimum(turn + 2, length))}[scope]
    ends = np.cumsum(end - begin)
    starts = ends - (end - begin)
    rows = np.repeat(first + begin - starts, end - begin) + np.arange(ends[-1] if len(ends) else 0)
    shown = lines[rows]
    shown[starts + turn - begin] = masked
    lists = pa.LargeListArray.from_arrays(np.append(0, ends), pa.array(shown, pa.large_string()))
    return pc.binary_join(lists, pa.scalar("\n", pa.large_string())).cast(pa.string())


def cloze(spans: pd.DataFrame, dialogs: pd.DataFrame, pool: pd.DataFrame, places: pd.DataFrame, options: dict) -> pa.Table:
    """The instances of the spans with their candidates (schema cloze); places: of the same spans, from pool_of()."""
    ids = spans["dialog_id"] + ":" + spans["turn"].astype(str) + ":" + spans["start"].astype(str)
    rows = drawn(ids, places, pool, options["negatives"], options["negative_seed"])
    wrong = pool["form"].to_numpy()[rows]
    at_start = (spans["initial"] & ~spans["text"].str[:1].str.islower()).to_numpy()
    wrong[at_start] = capital(wrong[at_start].ravel()).reshape(-1, options["negatives"])
    candidates = np.column_stack([spans["text"].to_numpy(object), wrong])
    lines = (dialogs["speaker"] + ": " + dialogs["text"]).to_numpy(object)
    length, turn = spans["length"].to_numpy(), spans["turn"].to_numpy(np.int64)
    masked = dialogs["speaker"].to_numpy()[spans["row"]] + ": " + spans["before"] + MASK + spans["after"]
    texts = contexts(lines, spans["row"].to_numpy() - turn, length, turn, masked, options["context_scope"])
    each = candidates.shape[1]
    number = np.tile(np.arange(each), len(spans))
    of = pa.array(np.repeat(np.arange(len(spans)), each))
    table = pa.table({
        "instance_id": pa.array(ids), "dialog_id": pa.array(spans["dialog_id"]), "context": texts,
        "kind": pa.array(spans["kind"]), "has_numeral": pa.array(spans["has_numeral"]), "turns": pa.array(length, pa.int32()),
    }).take(of)
    right = number == 0
    return with_columns(table, number, options["context_scope"], candidate=pa.array(candidates.ravel(), pa.string()),
                        label=pa.array(right).cast(pa.int8()), rule=pa.array(np.where(right, "", "drawn")),
                        is_original=pa.array(right))


def with_columns(table: pa.Table, number: np.ndarray, scope: str, **columns: pa.Array) -> pa.Table:
    """A table of the schema cloze: its example ids are those of the instances with the candidate's number."""
    for name, column in columns.items():
        table = table.append_column(name, column)
    ids, numbers = table["instance_id"].cast(pa.string()), pa.array(number).cast(pa.string())
    table = table.append_column("example_id", pc.binary_join_element_wise(ids, numbers, ":"))
    return table.append_column("context_scope", pa.array(np.full(len(table), scope))).select(CLOZE.names).cast(CLOZE)


def span_behind_mask(challenge: pd.DataFrame, asked: pd.DataFrame, spans: pd.DataFrame, where: str) -> pd.DataFrame:
    """kind and has_numeral of what each instance masks, and `found`: exact, overlapping, or none. Index: instance_id.

    It is the span, of those found in the dialog with the original option in place, that lies where the mask is, or of
    those that overlap it the one that does so most. Where there is none, the kind is `other`, and a digit or a number word
    in the option tells of a numeral. Raises UserError for an instance without exactly one original option.
    """
    original = challenge.loc[challenge["is_original"], ["instance_id", "option"]]
    counts = challenge["instance_id"].map(original["instance_id"].value_counts()).fillna(0)
    if (counts != 1).any():
        wrong = counts.ne(1).idxmax()
        raise UserError(f"{where}: instance {challenge['instance_id'][wrong]} has {counts[wrong]:.0f} original options, not "
                        "one; clean the challenge again")
    masked = asked.loc[asked["masked"], ["instance_id", "turn", "text"]].merge(original, on="instance_id")
    masked["mask_start"] = masked["text"].str.find(MASK)
    masked["mask_end"] = masked["mask_start"] + masked["option"].str.len()
    near = masked.drop(columns="text").merge(spans.rename(columns={"dialog_id": "instance_id"}), on=["instance_id", "turn"])
    near["common"] = np.minimum(near["end"], near["mask_end"]) - np.maximum(near["start"], near["mask_start"])
    near["off"] = (near["start"] - near["mask_start"]).abs() + (near["end"] - near["mask_end"]).abs()
    near = near[near["common"] > 0].sort_values(["common", "off", "start"], ascending=[False, True, True])
    near = near.drop_duplicates("instance_id").set_index("instance_id")
    found = masked.set_index("instance_id")[["option"]].join(near[["kind", "has_numeral", "off"]])
    told = found["option"].str.contains(NUMERAL)
    return pd.DataFrame({
        "kind": found["kind"].fillna("other"),
        "has_numeral": found["has_numeral"].astype("boolean").fillna(told).astype(bool),
        "found": np.select([found["off"].isna(), found["off"] == 0], ["none", "exact"], "overlapping")})


def challenge_cloze(challenge: pd.DataFrame, spans: pd.DataFrame, scope: str, where: str) -> tuple[pa.Table, pd.Series]:
    """The instances of a challenge split (schema cloze), and how many masks were found among its spans."""
    asked = challenge_turns(challenge, where)
    behind = span_behind_mask(challenge, asked, spans, where)
    masked = np.flatnonzero(asked["masked"])
    turn = asked["turn"].to_numpy()[masked]
    length = asked.groupby("instance_id")["turn"].transform("size").to_numpy()[masked]
    lines = asked["line"].to_numpy(object)
    texts = contexts(lines, masked - turn, length, turn, asked["line"].iloc[masked], scope)
    instances = pd.DataFrame({"context": texts.to_pandas().to_numpy(), "turns": length,
                              "place": np.arange(len(masked))}, asked["instance_id"].iloc[masked]).join(behind)
    rows = challenge.join(instances, on="instance_id").sort_values(["place", "label"], ascending=[True, False], kind="stable")
    number = rows.groupby("instance_id").cumcount().to_numpy()
    names = ["instance_id", "context", "kind", "has_numeral", "turns", "label", "rule", "is_original"]
    table = pa.Table.from_pandas(rows[names], preserve_index=False)
    return with_columns(table, number, scope, candidate=pa.array(rows["option"], pa.string()),
                        dialog_id=table["instance_id"]), behind["found"].value_counts()


def right_by_frequency(spans: pd.DataFrame, built: pa.Table) -> float:
    """How often the right candidate is the one whose text is the most frequent among the spans; ties count in part."""
    rows = built.select(["instance_id", "candidate", "label"]).to_pandas()
    counts = spans["text"].str.lower().value_counts()
    rows["count"] = rows["candidate"].str.lower().map(counts)
    best = rows[rows["count"] == rows.groupby("instance_id")["count"].transform("max")]
    return float(best.groupby("instance_id")["label"].mean().mean())


def funnel(reasons: np.ndarray, spans: pd.DataFrame, built: pa.Table) -> pd.DataFrame:
    """The rows of leakage.csv for one split: the dialogs that left for each reason, and what was kept after it."""
    rows, stay = [], np.ones(len(reasons), bool)
    for step in ("read", EXACT, NEAR, DUPLICATE, NO_SPAN, TOO_MANY):
        stay &= reasons != step
        rows.append({"reason": step, "dialogs_dropped": (reasons == step).sum(), "dialogs_kept": stay.sum(),
                     "spans": stay[spans["dialog"]].sum()})
    table = pd.DataFrame([*rows, rows[-1] | {"reason": "built", "dialogs_dropped": 0}])
    table["mask_instances"] = pd.array([pd.NA] * len(rows) + [pc.sum(built["label"]).as_py() or 0], "Int64")
    table["candidates"] = pd.array([pd.NA] * len(rows) + [len(built)], "Int64")
    return table


def build_split(dialogs: pd.DataFrame, spans: pd.DataFrame, asked: pd.DataFrame, options: dict, most: int | None,
                where: str, learnt: pd.DataFrame | None = None) -> tuple[pa.Table, pd.DataFrame, pd.DataFrame]:
    """The dataset of one split (schema cloze), its funnel(), and the spans left, for the pool of another split.

    dialogs: of ordered(). spans: of placed(). asked: of challenge_turns(). most: dialogs to keep. learnt: spans whose texts
    are in the pool, too. Raises UserError when no span is left, or too small a pool.
    """
    reasons = reasons_to_leave(dialogs, asked)
    left = spans[reasons[spans["dialog"]] == ""].reset_index(drop=True)
    if left.empty:
        raise UserError(f"{where}: no temporal expression is left: the dialogs have none, or all that do are sources of the "
                        "challenge or occur before; use another source of dialogs")
    left["initial"] = pc.match_substring_regex(pa.array(left["before"], pa.string()), SENTENCE_START).to_numpy(False)
    by_kind = options["negatives_of"] == "same_kind"
    pooled = left if learnt is None else pd.concat([left, learnt], ignore_index=True)
    pool, places = pool_of(pooled, by_kind, options["negatives_by"] == "occurrence")
    places = places[: len(left)]
    small = places[places["meanings"] <= options["negatives"]]
    if len(small):
        raise UserError(f"{where}: {options['negatives']} wrong candidates for each span need as many other values"
                        f"{' of kind ' + small['kind'].iloc[0] if by_kind else ''}, but there are only "
                        f"{small['meanings'].iloc[0] - 1}; ask for fewer negatives{', or any_kind,' if by_kind else ''} or "
                        "give more dialogs")
    reasons = cut(reasons, dialogs.loc[dialogs["turn"] == 0, "dialog_id"], left, most)
    stay = reasons[left["dialog"]] == ""
    built = cloze(left[stay].reset_index(drop=True), dialogs, pool, places[stay], options)
    counts = funnel(reasons, spans, built)
    counts.loc[counts.index[-1], ["pool", "right_by_frequency"]] = [pooled["text"].str.lower().nunique(),
                                                                   round(right_by_frequency(pooled, built), 4)]
    return built, counts.astype({"pool": "Int64"}), left


def build(given: argparse.Namespace, output: Path) -> None:
    """Write every split and leakage.csv to the folder `output`."""
    options = given.options
    measured = {split: read_table(given.challenge / f"{split}.parquet", CHALLENGE.names).to_pandas()
                for split in given.measured}
    asked = challenge_turns(pd.concat(measured.values(), ignore_index=True), str(given.challenge))
    most, rows, learnt = options["max_dialogs"], [], None
    for name, split in zip(LEARNT, given.splits):
        file, spans_file = (folder / f"{split}.parquet" for folder in (given.cleaned, given.spans))
        dialogs = ordered(read_table(file, DIALOGS.names).to_pandas(), str(file))
        spans = placed(read_table(spans_file, SPANS.names).to_pandas(), dialogs, str(spans_file))
        built, counts, learnt = build_split(dialogs, spans, asked, options, most, str(spans_file), learnt)
        most = None if most is None else -(-most // HELD_OUT)
        write_table(built, output / f"{name}.parquet", CLOZE,
                    provenance_of(file) | {"split": split, "options": options})
        rows.append(counts.assign(source=dialogs["source"].iloc[0], split=split))
        log.info("%s %s: %s", given.output, split, "; ".join(
            f"{reason} {dropped:,}" for reason, dropped in zip(counts["reason"], counts["dialogs_dropped"]) if dropped))
        log.info("%s %s: %d candidates for %d masks in %d dialogs, from a pool of %d texts; the most frequent candidate is "
                 "right in %.1f %%", given.output, name, *counts.iloc[-1][
                     ["candidates", "mask_instances", "dialogs_kept", "pool"]], 100 * counts["right_by_frequency"].iloc[-1])
    for split, challenge in measured.items():
        file, spans_file = (folder / f"{split}.parquet" for folder in (given.challenge, given.challenge_spans))
        built, found = challenge_cloze(challenge, read_table(spans_file, SPANS.names).to_pandas(), options["context_scope"],
                                       str(file))
        write_table(built, output / f"{split}.parquet", CLOZE,
                    provenance_of(file) | {"split": split, "options": options})
        log.info("%s %s: %d candidates for %d masks; among the spans: %s", given.output, split, len(built), found.sum(),
                 ", ".join(f"{how} {count:,}" for how, count in found.items()))
    with whole(output / "leakage.csv") as beside:
        table = pd.concat(rows)
        table[["source", "split", *counts]].to_csv(beside, index=False)


def main(given: argparse.Namespace) -> None:
    if not set(LEARNT).isdisjoint(given.measured):
        raise UserError(f"--measured {' '.join(given.measured)}: {' and '.join(LEARNT)} are the names of what is learnt from "
                        "and held out; rename the challenge's split")
    with whole_set(given.output) as folder:
        build(given, folder)


def arguments() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--cleaned", type=Path, required=True, help="the folder of one cleaned source of dialogs")
    made.add_argument("--spans", type=Path, required=True, help="the folder of its temporal spans")
    made.add_argument("--splits", nargs=2, required=True, metavar=("LEARN", "HOLD_OUT"),
                      help="its split to learn from and its split to hold out")
    made.add_argument("--challenge", type=Path, required=True, help="the folder of the cleaned challenge")
    made.add_argument("--challenge-spans", type=Path, required=True, help="the folder of its temporal spans")
    made.add_argument("--measured", nargs="+", required=True, help="the splits of the challenge, all of them")
    made.add_argument("--options", type=options_of("timedial"), required=True,
                      help="JSON: the options of the study in resources/studies.yaml; what is left out gets its default")
    made.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return made


if __name__ == "__main__":
    run(main, arguments().parse_args())
