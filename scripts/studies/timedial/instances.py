"""Masked spans as instances (schema cloze): dialogs in order, spans in their place, contexts with one mask.

Not a program.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from scripts.studies.timedial.leakage import MASK
from scripts.studies.timedial.pool import wrong_rows
from scripts.running.program import UserError
from scripts.data.tables import CLOZE


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
    rows = wrong_rows(ids, spans["dialog"], places, pool, options)
    wrong = pool["form"].to_numpy()[rows]
    at_start = (spans["initial"] & ~spans["text"].str[:1].str.islower()).to_numpy()
    wrong[at_start] = capital(wrong[at_start].ravel()).reshape(-1, options["negatives"])
    candidates = np.column_stack([spans["text"].to_numpy(object), wrong])
    lines = (dialogs["speaker"] + ": " + dialogs["text"]).to_numpy(object)
    length, turn = spans["length"].to_numpy(), spans["turn"].to_numpy(np.int64)
    masked = dialogs["speaker"].to_numpy()[spans["row"]] + ": " + spans["before"] + MASK + spans["after"]
    texts = contexts(lines, spans["row"].to_numpy() - turn, length, turn, masked, options["context_scope"])
    count = candidates.shape[1]
    number = np.tile(np.arange(count), len(spans))
    of = pa.array(np.repeat(np.arange(len(spans)), count))
    table = pa.table({
        "instance_id": pa.array(ids), "dialog_id": pa.array(spans["dialog_id"]), "context": texts,
        "kind": pa.array(spans["kind"]), "has_numeral": pa.array(spans["has_numeral"]), "turns": pa.array(length, pa.int32()),
        "leak": pa.array([""] * len(spans), pa.string()),
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
