"""Tabulate how well the rules find temporal expressions: masked spans found, and what is found in dialogs (Qin et al. 2021).

Of each challenge the share of its masked spans that are found with exact bounds in the restored dialogs, in all, by kind,
and up to 30 that are not. Of each corpus of dialogs how many temporal expressions there are, by kind, and how many dialogs
(duplicates apart) are such as the paper makes a challenge of: more than three expressions, at least one with a numeral.
Beside them what the paper counts in DailyDialog with SUTime (sections 3 and 4).

Reads  <cleaned>/<source>/<split>.parquet (schemas challenge, dialogs), <spans>/<source>/<split>.parquet (schema spans),
       resources/sources.yaml for titles and splits
Writes <output>.csv, .md, .tex

    python -m scripts.publish.timedial.spans --cleaned results/clean --spans results/build/temporal_spans \\
        --metrics results/evaluate/default/metrics.parquet --sources resources/sources.yaml --models resources/models.yaml \\
        --dialogs dailydialog --challenges timedial \\
        --output results/publish/default/tables/timedial_spans
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.build.restored_dialogs import restored_turns
from scripts.common.program import UserError, execute, log
from scripts.common.tables import CHALLENGE, SPANS, read_table
from scripts.publish.arguments import publisher_arguments
from scripts.publish.names import load
from scripts.publish.table import percent, write

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
    """Each masked span: split, dialog_id, exact (found with its bounds), kind (of what overlaps it; empty: nothing), shown.

    challenge, spans: tables of these schemas for the same split; where: the challenge's file, for messages.
    """
    masked = restored_turns(challenge, where).dropna(subset="mask_start")
    pairs = masked.merge(spans[["dialog_id", "turn", "start", "end", "kind"]], on=["dialog_id", "turn"], how="left")
    pairs = pairs[(pairs["start"] < pairs["mask_end"]) & (pairs["mask_start"] < pairs["end"])].copy()
    pairs["exact"] = (pairs["start"] == pairs["mask_start"]) & (pairs["end"] == pairs["mask_end"])
    pairs["found"] = [text[int(start) : int(end)] for text, start, end in zip(pairs["text"], pairs["start"], pairs["end"])]
    by = pairs.groupby("dialog_id").agg(exact=("exact", "any"), kind=("kind", "first"), found=("found", " | ".join))
    masked = masked.join(by, on="dialog_id")
    masked["exact"] = masked["exact"].fillna(False).astype(bool)
    masked["kind"] = masked["kind"].fillna("")
    masked["found"] = masked["found"].fillna("nothing")
    masked["shown"] = [f"{'…' if start > AROUND else ''}{text[max(start - AROUND, 0) : start]}[{text[start:end]}]"
                       f"{text[end : end + AROUND]}{'…' if len(text) > end + AROUND else ''} → {found}"
                       for text, start, end, found in masked[["text", "mask_start", "mask_end", "found"]].to_numpy()]
    return masked[["split", "dialog_id", "exact", "kind", "shown"]].reset_index(drop=True)


def share_row(what: str, part: pd.Series, **cells: str) -> dict:
    """A row of text: how many of a column of truths hold."""
    return {"What": what, "Number": f"{part.sum():,}", "Of": f"{len(part):,}", "Share (%)": percent(part.mean()), **cells}


def challenge_rows(masked: pd.DataFrame) -> list[dict]:
    """Rows of text about a challenge's masked spans (masked_spans() of all its splits)."""
    what = "masked spans found with exact bounds"
    rows = [share_row(what, part["exact"], Split=split) for split, part in masked.groupby("split", sort=False)]
    if len(rows) > 1:
        rows.append(share_row(what, masked["exact"], Split="all"))
    for kind in [*KINDS, ""]:
        part = masked[masked["kind"] == kind]
        if len(part):
            rows.append(share_row(what, part["exact"], Split="all", Kind=kind or "nothing found there"))
    missed = masked[~masked["exact"]]
    return rows + [{"Split": row["split"], "What": "missed", "Kind": row["kind"], "Text": row["shown"]}
                   for _, row in missed.head(MISSES).iterrows()]


def dialog_rows(spans: pd.DataFrame, dialogs: pd.DataFrame, paper: dict[str, int]) -> list[dict]:
    """Rows of text about the expressions (schema spans, all splits) of a corpus.

    dialogs: split, dialog_id and duplicate_of, one row a dialog.
    """
    numeric, unique = spans["has_numeral"], dialogs[dialogs["duplicate_of"] == ""]
    by_dialog = spans.merge(unique, on=["split", "dialog_id"]).groupby(["split", "dialog_id"])
    by_dialog = by_dialog.agg(spans=("kind", "size"), numeric=("has_numeral", "sum"))
    candidates = by_dialog[(by_dialog["spans"] > MORE_THAN) & (by_dialog["numeric"] > 0)]

    def of_paper(name: str) -> dict:
        return {"In the paper": f"{paper[name]:,}"} if name in paper else {}

    rows = [{"What": "dialogs", "Number": f"{len(dialogs):,}"},
            {"What": "dialogs, duplicates apart", "Number": f"{len(unique):,}"},
            {"What": "temporal expressions", "Number": f"{len(spans):,}"}]
    rows += [{"What": "temporal expressions", "Kind": kind, "Number": f"{count:,}", "Of": f"{len(spans):,}",
              "Share (%)": percent(count / len(spans) if len(spans) else None)}
             for kind, count in spans["kind"].value_counts().reindex(KINDS, fill_value=0).items()]
    return [{**row, "Split": "all"} for row in [
        *rows, {"What": "temporal expressions with a numeral", "Number": f"{numeric.sum():,}", "Of": f"{len(spans):,}",
                "Share (%)": percent(numeric.mean() if len(spans) else None)},
        {"What": "different expressions (case apart)", "Number": f"{spans['text'].str.lower().nunique():,}"}
        | of_paper("distinct"),
        {"What": "different values", "Number": f"{spans['value'].nunique():,}"},
        {"What": f"candidate dialogs (more than {MORE_THAN} expressions, one with a numeral)",
         "Number": f"{len(candidates):,}", "Of": f"{len(unique):,}",
         "Share (%)": percent(len(candidates) / len(unique) if len(unique) else None)} | of_paper("dialogs"),
        {"What": "expressions with a numeral in candidate dialogs", "Number": f"{candidates['numeric'].sum():,}"}
        | of_paper("numeric"),
    ]]


def splits_of(source: str, sources: dict, where: Path) -> list[str]:
    """The splits of a source. Raises UserError for an unknown source."""
    if source not in sources:
        raise UserError(f"{where}: no source {source}; it has {', '.join(sources)}")
    return sources[source]["splits"]


def tabulate(given: argparse.Namespace) -> pd.DataFrame:
    """The table of text for the sources that the arguments name."""
    sources, rows = load(given.sources), []
    for source in given.challenges:
        parts = []
        for split in splits_of(source, sources, given.sources):
            file = given.cleaned / source / f"{split}.parquet"
            spans = read_table(given.spans / source / f"{split}.parquet", SPANS.names).to_pandas()
            parts.append(masked_spans(read_table(file, CHALLENGE.names).to_pandas(), spans, str(file)))
        rows += [{"Corpus": source} | row for row in challenge_rows(pd.concat(parts, ignore_index=True))]
    for source in given.dialogs:
        splits = splits_of(source, sources, given.sources)
        spans = pd.concat([read_table(given.spans / source / f"{split}.parquet", SPANS.names).to_pandas()
                           for split in splits])
        dialogs = pd.concat([read_table(given.cleaned / source / f"{split}.parquet", ["split", "dialog_id", "duplicate_of"])
                             .to_pandas().drop_duplicates("dialog_id") for split in splits])
        rows += [{"Corpus": source} | row for row in dialog_rows(spans, dialogs, PAPER.get(source, {}))]
    table = pd.DataFrame(rows, columns=COLUMNS).astype(object).fillna("")
    table["Corpus"] = table["Corpus"].map(lambda name: sources[name].get("title", name)
                                          + (" [sample data]" if "sample" in sources[name] else ""))
    return table.loc[:, [name for name in table if name not in ("In the paper", "Text") or (table[name] != "").any()]]


def main(given: argparse.Namespace) -> None:
    if not given.dialogs and not given.challenges:
        raise UserError("neither --dialogs nor --challenges names a source; name at least one")
    table = tabulate(given)
    caption = CAPTION
    if table["Corpus"].str.endswith("[sample data]").any():
        caption += " SAMPLE DATA where marked: made-up dialogs, not a corpus."
    write(table, caption, [name for name in table if name in NUMBERS], given.output)
    shares = table[table["What"].str.startswith("masked") & (table["Kind"] == "")]
    log.info("%s: %s", given.output, "; ".join(f"{row['Corpus']} {row['Split']} {row['Share (%)']} % of masked spans found"
                                              for _, row in shares.iterrows()) or f"{len(table)} rows")


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "spans").parse_args())
