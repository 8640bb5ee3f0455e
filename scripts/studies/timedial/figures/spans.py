"""Tabulate how well the rules find temporal expressions: masked spans found with exact bounds, and
up to MISSES that are not; what is found in dialogs, and how many are such as the paper makes a
challenge of. Beside it what the paper counts in DailyDialog with SUTime (Qin et al. 2021, sections
3 and 4).
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.data.tables import CHALLENGE, SPANS, read_table
from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.table import filled, percent, publish_table
from scripts.running.program import UserError
from scripts.studies.timedial.figures.metrics import corpus_title
from scripts.text.restored_dialogs import restored_turns

KINDS = ["date", "time", "duration", "set", "age"]
COLUMNS = ["Corpus", "Split", "What", "Kind", "Number", "Of", "Share (%)", "In the paper", "Text"]
MISSES, AROUND = 30, 40  # misses listed for a challenge; characters shown on each side of a miss
MORE_THAN = 3  # expressions in a dialog of the paper's challenge
PAPER = {"dailydialog": {"dialogs": 1127, "numeric": 1526, "distinct": 2153}}


def masked_spans(challenge: pd.DataFrame, spans: pd.DataFrame, where: str) -> pd.DataFrame:
    """Each masked span: exact (found with its bounds), kind (of what overlaps it), shown. where:
    the challenge's file, for messages.
    """
    masked = restored_turns(challenge, where).dropna(subset="mask_start")
    spans = spans[["dialog_id", "turn", "start", "end", "kind", "text"]]
    pairs = masked.merge(spans.rename(columns={"text": "found"}), on=["dialog_id", "turn"])
    pairs = pairs[(pairs["start"] < pairs["mask_end"]) & (pairs["mask_start"] < pairs["end"])]
    exact = (pairs["start"] == pairs["mask_start"]) & (pairs["end"] == pairs["mask_end"])
    by = pairs.assign(exact=exact).groupby("dialog_id")
    by = by.agg({"exact": "any", "kind": "first", "found": " | ".join})
    masked = masked.join(by, on="dialog_id")
    masked = masked.fillna({"exact": False, "kind": "", "found": "nothing"})
    masked["shown"] = [
        f"{'…' if start > AROUND else ''}{text[max(start - AROUND, 0) : start]}[{text[start:end]}]"
        f"{text[end : end + AROUND]}{'…' if len(text) > end + AROUND else ''} → {found}"
        for text, start, end, found in masked[
            ["text", "mask_start", "mask_end", "found"]
        ].to_numpy()
    ]
    columns = ["split", "dialog_id", "exact", "kind", "shown"]
    return masked[columns].astype({"exact": bool}).reset_index(drop=True)


def counted(what: str, number: int, of: int | None = None, /, **cells: str) -> dict:
    row = {"Split": "all", "What": what, "Number": f"{number:,}"} | cells
    if of is not None:
        row |= {"Of": f"{of:,}", "Share (%)": percent(number / of if of else None)}
    return row


def challenge_rows(masked: pd.DataFrame) -> list[dict]:
    by_split, by_kind = (
        {name: part for name, part in masked.groupby(column, sort=False)}
        for column in ("split", "kind")
    )
    parts = [({"Split": split}, part) for split, part in by_split.items()]
    parts += [({}, masked)] if len(parts) > 1 else []
    parts += [
        ({"Kind": kind or "nothing found there"}, by_kind[kind])
        for kind in [*KINDS, ""]
        if kind in by_kind
    ]
    missed = masked[~masked["exact"]].head(MISSES).assign(What="missed")
    missed = missed.rename(columns={"split": "Split", "kind": "Kind", "shown": "Text"})
    return [
        counted("masked spans found with exact bounds", part["exact"].sum(), len(part), **cells)
        for cells, part in parts
    ] + missed.to_dict("records")


def dialog_rows(spans: pd.DataFrame, dialogs: pd.DataFrame, paper: dict[str, int]) -> list[dict]:
    """dialogs: split, dialog_id and duplicate_of, one row a dialog."""
    unique = dialogs[dialogs["duplicate_of"] == ""]
    by_dialog = spans.merge(unique, on=["split", "dialog_id"]).groupby(["split", "dialog_id"])
    by_dialog = by_dialog.agg(spans=("kind", "size"), numeric=("has_numeral", "sum"))
    candidates = by_dialog[(by_dialog["spans"] > MORE_THAN) & (by_dialog["numeric"] > 0)]
    printed = {name: {"In the paper": f"{number:,}"} for name, number in paper.items()}
    by_kind = spans["kind"].value_counts().reindex(KINDS, fill_value=0)
    return [
        counted("dialogs", len(dialogs)),
        counted("dialogs, duplicates apart", len(unique)),
        counted("temporal expressions", len(spans)),
        *(
            counted("temporal expressions", count, len(spans), Kind=kind)
            for kind, count in by_kind.items()
        ),
        counted("temporal expressions with a numeral", spans["has_numeral"].sum(), len(spans)),
        counted(
            "different expressions (case apart)",
            spans["text"].str.lower().nunique(),
            **printed.get("distinct", {}),
        ),
        counted("different values", spans["value"].nunique()),
        counted(
            f"candidate dialogs (more than {MORE_THAN} expressions, one with a numeral)",
            len(candidates),
            len(unique),
            **printed.get("dialogs", {}),
        ),
        counted(
            "expressions with a numeral in candidate dialogs",
            candidates["numeric"].sum(),
            **printed.get("numeric", {}),
        ),
    ]


def sources_given(given: argparse.Namespace) -> dict:
    sources, names = load(given.sources), [*given.challenges, *given.dialogs]
    if not names:
        raise UserError("neither --dialogs nor --challenges names a source; name at least one")
    if lost := [name for name in names if name not in sources]:
        raise UserError(f"{given.sources}: no source {lost[0]}; it has {', '.join(sources)}")
    return sources


def read_splits(folder: Path, splits: list[str], columns: list[str]) -> list[pd.DataFrame]:
    return [read_table(folder / f"{split}.parquet", columns).to_pandas() for split in splits]


def read_challenge(
    given: argparse.Namespace, source: str, splits: list[str]
) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    tables = (
        read_splits(folder / source, splits, schema.names)
        for folder, schema in ((given.cleaned, CHALLENGE), (given.spans, SPANS))
    )
    return dict(zip(splits, zip(*tables)))


def tabulate(given: argparse.Namespace) -> pd.DataFrame:
    sources, rows = sources_given(given), []
    for source in [*given.challenges, *given.dialogs]:
        splits, cleaned = sources[source]["splits"], given.cleaned / source
        if source in given.challenges:
            read = read_challenge(given, source, splits)
            parts = [masked_spans(*read[name], str(cleaned / f"{name}.parquet")) for name in read]
            of_source = challenge_rows(pd.concat(parts, ignore_index=True))
        else:
            turns = pd.concat(read_splits(cleaned, splits, ["split", "dialog_id", "duplicate_of"]))
            spans = pd.concat(read_splits(given.spans / source, splits, SPANS.names))
            dialogs = turns.drop_duplicates(["split", "dialog_id"])
            of_source = dialog_rows(spans, dialogs, PAPER.get(source, {}))
        rows += [{"Corpus": corpus_title(source, sources)} | row for row in of_source]
    table = pd.DataFrame(rows, columns=COLUMNS).astype(object).fillna("")
    return filled(table, set(COLUMNS) - {"In the paper", "Text"})


def main(given: argparse.Namespace) -> None:
    publish_table(given, tabulate(given), ["Corpus", "Split", "What", "Kind", "Text"])


if __name__ == "__main__":
    run_program(main, __doc__, "spans")
