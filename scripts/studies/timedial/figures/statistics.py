"""Tabulate what TimeDial's challenge holds beside what the paper prints of it (Qin et al.

2021, table 3).

Instances, their different dialogs, turns, words of a turn (split at white space, without the
speaker), the temporal expressions that the rules find in the dialogs with the original option in
place, and by which rule wrong options were made; of all splits together and of each.

Reads  <cleaned>/<source>/<split>.parquet (schema challenge), <spans>/<source>/<split>.parquet (schema spans),
       resources/sources.yaml for titles and splits, published.csv beside it
Writes <output>.csv, .md, .tex

    python -m scripts.studies.timedial.figures.statistics --metrics results/evaluate/default/metrics.parquet --cleaned results/clean \\
        --spans results/build/temporal_spans --challenges timedial --sources resources/sources.yaml \\
        --models resources/models.yaml --output results/publish/default/tables/timedial_statistics
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.text.restored_dialogs import restored_turns
from scripts.running.program import UserError, execute
from scripts.data.tables import CHALLENGE, SPANS, read_table
from scripts.publish.arguments import publisher_arguments
from scripts.publish.names import load, source_title
from scripts.publish.published import STATISTICS, claims_beside, statistics_table
from scripts.publish.table import publish_table
from scripts.studies.timedial.figures.metrics import RULES
from scripts.studies.timedial.figures.spans import splits_of

NAMES = {"instances": "instances", "dialogs": "different dialogs (original option in place)",
         "turns": "turns of a dialog",
         "words": "words of a turn", "expressions": "temporal expressions in different dialogs",
         "expressions_of_dialog": "temporal expressions of a dialog",
         "right": "right options of an instance",
         "wrong": "wrong options of an instance"}
NAMES |= {f"rule_{rule}": f"wrong options by {title} (%)" for rule, title in RULES.items()}
COUNTS = ("instances", "dialogs", "expressions")
CAPTION = ("What TimeDial's challenge holds: counts and means of the cleaned corpus beside table 3 of Qin et al. 2021, who found "
           "temporal expressions by SUTime; here rules do. Words are split at white space, speakers left out. The paper's shares of "
           "wrong options sum to 111.3 %: they are the released test options of each rule over 1,985, its number of temporal "
           "expressions, where there are 2,208 wrong options.")


def statistics(challenge: pd.DataFrame, spans: pd.DataFrame, where: str) -> pd.Series:
    """The numbers of NAMES of a table of the schema challenge; spans: those of the same splits."""
    turns = restored_turns(challenge, where)
    dialogs = turns.groupby("dialog_id", sort=False)["text"].agg("\n".join)
    different = dialogs.index[~dialogs.str.lower().duplicated()]
    labels, instances = challenge.groupby("label").size(), len(dialogs)
    rules = challenge.loc[challenge["label"] == 0, "rule"].value_counts(normalize=True) * 100
    return pd.Series({
        "instances": instances, "dialogs": len(different), "turns": len(turns) / instances,
        "words": turns["text"].str.split().str.len().mean(),
                      "expressions": spans["dialog_id"].isin(different).sum(),
        "expressions_of_dialog": len(spans) / instances, "right": labels.get(1, 0) / instances,
                      "wrong": labels.get(0, 0) / instances,
    } | {f"rule_{rule}": rules.get(rule, 0.0) for rule in RULES})


def tabulate(cleaned: Path, spans: Path, splits: list[str], claims: pd.DataFrame,
             title: str) -> pd.DataFrame:
    """A row of text for each number of one challenge; cleaned, spans: its folders; claims: of
    claims_beside(), about it.
    """
    tables = {split: [read_table(folder / f"{split}.parquet", schema.names).to_pandas()
                      for folder, schema in ((cleaned, CHALLENGE), (spans, SPANS))]
              for split in splits}
    tables = {split: parts for split, parts in tables.items() if len(parts[0])}
    values = {split: statistics(*parts, str(cleaned / f"{split}.parquet"))
              for split, parts in tables.items()}
    if len(values) > 1:
        whole = [pd.concat(parts, ignore_index=True) for parts in zip(*tables.values())]
        values = {"All": statistics(*whole, str(cleaned))} | values
    every = pd.DataFrame(values, index=pd.Index(NAMES, name="metric"))
    table = statistics_table(pd.concat({"all": every}, names=["slice"]), COUNTS, claims)
    table = table.reset_index(drop=True)
    table["In the paper"] = [f"{int(value):,}" if value.isdigit() else value
                             for value in table["In the paper"]]
    return pd.concat([pd.DataFrame({"Corpus": title, "Number": list(NAMES.values())}), table],
                     axis=1)


def main(given: argparse.Namespace) -> None:
    if not given.challenges:
        raise UserError("--challenges names no source; name at least one")
    sources = load(given.sources)
    claims = claims_beside(given.sources, "timedial", ["measured_on", "slice"])
    claims = claims[claims["metric"].str.startswith(STATISTICS)]
    table = pd.concat([
        tabulate(given.cleaned / source, given.spans / source,
                 splits_of(source, sources, given.sources),
                 claims[claims["measured_on"] == source],
                 source_title(source, sources) + " [sample data]" * ("sample" in sources[source]))
        for source in given.challenges], ignore_index=True).fillna("")
    table = table[[*(name for name in table if name != "In the paper"),
                   *(["In the paper"] if table["In the paper"].any() else [])]]
    sample = table["Corpus"].str.endswith("[sample data]").any()
    caption = CAPTION + " SAMPLE DATA where marked: made-up dialogs, not a corpus." * bool(sample)
    publish_table(given, table, caption, ["Corpus", "Number"])


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__, "spans").parse_args())
