"""Tabulate how well the rules find temporal expressions: masked spans found, and what is found in
dialogs (Qin et al. 2021).

Of each challenge the share of its masked spans that are found with exact bounds in the restored
dialogs, in all, by kind, and up to 30 that are not. Of each corpus of dialogs how many temporal
expressions there are, by kind, and how many dialogs (duplicates apart) are such as the paper makes
a challenge of: more than three expressions, at least one with a numeral. Beside them what the paper
counts in DailyDialog with SUTime (sections 3 and 4).

Reads  <cleaned>/<source>/<split>.parquet (schemas challenge, dialogs), <spans>/<source>/<split>.parquet (schema spans),
       resources/sources.yaml for titles and splits
Writes <output>.csv, .md, .tex

    python -m scripts.studies.timedial.figures.spans --cleaned results/clean --spans results/build/temporal_spans \\
        --metrics results/evaluate/default/metrics.parquet --sources resources/sources.yaml --models resources/models.yaml \\
        --dialogs dailydialog --challenges timedial \\
        --output results/publish/default/tables/timedial_spans
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.text.restored_dialogs import restored_turns
from scripts.running.program import UserError, execute
from scripts.data.tables import CHALLENGE, SPANS, read_table
from scripts.publish.arguments import publisher_arguments
from scripts.publish.names import load, source_title
from scripts.publish.table import filled, percent, publish_table

KINDS = ["date", "time", "duration", "set", "age"]
COLUMNS = ["Corpus", "Split", "What", "Kind", "Number", "Of", "Share (%)", "In the paper", "Text"]
NUMBERS = ["Number", "Of", "Share (%)", "In the paper"]
MISSES, AROUND = 30, 40  # misses listed for a challenge; characters shown on each side of a miss
MORE_THAN = 3  # expressions in a dialog of the paper's challenge
PAPER = {"dailydialog": {"dialogs": 1127, "numeric": 1526, "distinct": 2153}}
CAPTION = ("Temporal expressions found by rules. Masked spans of a challenge: those found with exactly the bounds that were "
           "masked, in the dialogs with the original option restored; a miss has the kind of what overlaps it. Misses are "
           "listed, the masked span in brackets, then what was found there. Candidate dialogs: more than three expressions, "
           "at least one with a numeral, duplicates apart. In the paper: sections 3 and 4 of Qin et al. 2021, by SUTime.")


def masked_spans(challenge: pd.DataFrame, spans: pd.DataFrame, where: str) -> pd.DataFrame:
    """Each masked span: split, dialog_id, exact (found with its bounds), kind (of what overlaps it;
    empty: nothing), shown.

    challenge, spans: tables of these schemas for the same split; where: the challenge's file, for
    messages.
    """
    masked = restored_turns(challenge, where).dropna(subset="mask_start")
    pairs = masked.merge(spans[["dialog_id", "turn", "start", "end", "kind"]],
                         on=["dialog_id", "turn"], how="left")
    pairs = pairs[(pairs["start"] < pairs["mask_end"]) & (pairs["mask_start"] < pairs["end"])].copy()
    pairs["exact"] = (pairs["start"] == pairs["mask_start"]) & (pairs["end"] == pairs["mask_end"])
    pairs["found"] = [text[int(start) : int(end)] for text, start,
                      end in zip(pairs["text"], pairs["start"], pairs["end"])]
    by = pairs.groupby("dialog_id").agg(exact=("exact", "any"), kind=("kind", "first"),
                                        found=("found", " | ".join))
    masked = masked.join(by, on="dialog_id")
    masked["exact"] = masked["exact"].fillna(False).astype(bool)
    masked["kind"] = masked["kind"].fillna("")
    masked["found"] = masked["found"].fillna("nothing")
    masked["shown"] = [f"{'…' if start > AROUND else ''}{text[max(start - AROUND, 0) : start]}[{text[start:end]}]"
                       f"{text[end : end + AROUND]}{'…' if len(text) > end + AROUND else ''} → {found}"
                       for text, start, end,
                       found in masked[["text", "mask_start", "mask_end", "found"]].to_numpy()]
    return masked[["split", "dialog_id", "exact", "kind", "shown"]].reset_index(drop=True)


def counted(what: str, number: int, of: int | None = None, **cells: str) -> dict:
    """A row of text: a count, and its share of a larger one."""
    share = {} if of is None else {"Of": f"{of:,}",
                                   "Share (%)": percent(number / of if of else None)}
    return {"Split": "all", "What": what, "Number": f"{number:,}", **share, **cells}


def challenge_rows(masked: pd.DataFrame) -> list[dict]:
    """Rows of text about a challenge's masked spans (masked_spans() of all its splits)."""

    def found(part: pd.DataFrame, **cells: str) -> dict:
        return counted("masked spans found with exact bounds", part["exact"].sum(), len(part),
                       **cells)

    rows = [found(part, Split=split) for split, part in masked.groupby("split", sort=False)]
    rows += [found(masked)] if len(rows) > 1 else []
    by_kind = dict(iter(masked.groupby("kind")))
    rows += [found(by_kind[kind], Kind=kind or "nothing found there") for kind in [*KINDS, ""]
             if kind in by_kind]
    missed = masked[~masked["exact"]].head(MISSES).assign(What="missed")
    missed = missed.rename(columns={"split": "Split", "kind": "Kind", "shown": "Text"})
    return rows + missed.to_dict("records")


def dialog_rows(spans: pd.DataFrame, dialogs: pd.DataFrame, paper: dict[str, int]) -> list[dict]:
    """Rows of text about the expressions (schema spans, all splits) of a corpus.

    dialogs: split, dialog_id and duplicate_of, one row a dialog.
    """
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
        *(counted("temporal expressions", count, len(spans), Kind=kind)
          for kind, count in by_kind.items()),
        counted("temporal expressions with a numeral", spans["has_numeral"].sum(), len(spans)),
        counted("different expressions (case apart)", spans["text"].str.lower().nunique(),
                **printed.get("distinct", {})),
        counted("different values", spans["value"].nunique()),
        counted(f"candidate dialogs (more than {MORE_THAN} expressions, one with a numeral)",
                len(candidates), len(unique),
                **printed.get("dialogs", {})),
        counted("expressions with a numeral in candidate dialogs", candidates["numeric"].sum(),
                **printed.get("numeric", {})),
    ]


def splits_of(source: str, sources: dict, where: Path) -> list[str]:
    """The splits of a source. Raises UserError for an unknown source."""
    if source not in sources:
        raise UserError(f"{where}: no source {source}; it has {', '.join(sources)}")
    return sources[source]["splits"]


def read_split(folder: Path, split: str, columns: list[str]) -> pd.DataFrame:
    """A split of a source."""
    return read_table(folder / f"{split}.parquet", columns).to_pandas()


def tabulate(given: argparse.Namespace) -> pd.DataFrame:
    """The table of text for the sources that the arguments name."""
    sources, rows = load(given.sources), []
    for source in [*given.challenges, *given.dialogs]:
        cleaned, splits = given.cleaned / source, splits_of(source, sources, given.sources)
        spans = [read_split(given.spans / source, split, SPANS.names) for split in splits]
        if source in given.challenges:
            masked = [masked_spans(read_split(cleaned, split, CHALLENGE.names), found,
                                   str(cleaned / f"{split}.parquet"))
                      for split, found in zip(splits, spans)]
            of_source = challenge_rows(pd.concat(masked, ignore_index=True))
        else:
            columns = ["split", "dialog_id", "duplicate_of"]
            dialogs = [read_split(cleaned, split, columns).drop_duplicates("dialog_id")
                       for split in splits]
            of_source = dialog_rows(pd.concat(spans), pd.concat(dialogs), PAPER.get(source, {}))
        title = source_title(source, sources) + " [sample data]" * ("sample" in sources[source])
        rows += [{"Corpus": title} | row for row in of_source]
    table = pd.DataFrame(rows, columns=COLUMNS).astype(object).fillna("")
    return filled(table, set(COLUMNS) - {"In the paper", "Text"})


def main(given: argparse.Namespace) -> None:
    if not given.dialogs and not given.challenges:
        raise UserError("neither --dialogs nor --challenges names a source; name at least one")
    table = tabulate(given)
    caption = CAPTION
    if table["Corpus"].str.endswith("[sample data]").any():
        caption += " SAMPLE DATA where marked: made-up dialogs, not a corpus."
    publish_table(given, table, caption, set(COLUMNS) - set(NUMBERS))


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "spans").parse_args())
