"""Tabulate which claims of a paper this study bears out: each sentence, the verdict, why, and the numbers.

The claims, and how each is told, stand in resources/claims.yaml; scripts/publish/verdicts.py gives the verdicts:
  reproduced                  the paper's model, or another one of its class, shows it clearly
  not reproduced              it clearly shows something else
  contradicted by a control   a control shows the same, or is as good: what is claimed needs no understanding of time
  not comparable              no such run, no comparable one beside it, sample data, a part of a split, another class of model, or an interval too wide to tell

Reads  metrics.parquet, resources/sources.yaml, models.yaml, claims.yaml beside them
Writes <output>.csv, .md, .tex

    python -m scripts.publish.claims --metrics results/evaluate/default/metrics.parquet --sources resources/sources.yaml \\
        --models resources/models.yaml --output results/publish/default/tables/mctaco_verdicts
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.running.program import UserError, execute, log
from scripts.plan.schemas import check, schema
from scripts.data.tables import read_metrics
from scripts.data.yaml_files import read_yaml
from scripts.publish.arguments import publisher_arguments
from scripts.publish.names import load
from scripts.publish.selection import as_published
from scripts.publish.table import write
from scripts.publish.verdicts import VERDICTS, verdict

CAPTION = ("What the paper claims, and whether this study bears it out. Reproduced: the paper's model, or another one of its class, shows it "
           "clearly (95 % intervals). Not reproduced: it clearly shows something else. Contradicted by a control: what cannot understand "
           "time shows the same, or is as good. Not comparable: why is told. Sample data bear nothing out.")
COLUMNS = ["Claim", "Verdict", "Why", "Numbers", "Source", "Note"]


def as_settings(part: object) -> object:
    """A part of a claim as settings name it: all values as text, `none` for a missing one."""
    if isinstance(part, dict):
        return {column: as_settings(value) for column, value in part.items()}
    if isinstance(part, list):
        return [as_settings(one) for one in part]
    return "none" if part is None else str(part)


def read_claims(file: Path, study: str) -> tuple[dict, list[dict]]:
    """The classes of models, and the claims about a study, their rows as settings. Raises UserError for a broken file."""
    if not file.exists():
        raise UserError(f"{file}: no such file; the claims of the papers belong there, beside sources.yaml")
    whole = check(read_yaml(file), schema("claims"), str(file))
    settings = ("where", "than", "control")
    return whole["classes"], [
        claim | {key: as_settings(claim[key]) for key in settings if key in claim}
        for claim in whole["claims"] if claim["study"] == study]


def tabulate(claims: list[dict], metrics: pd.DataFrame, classes: dict, titles: dict, options: list[str]) -> pd.DataFrame:
    """A row of text for each claim, in the order of the file; metrics: the study's rows over all seeds."""
    rows = []
    for claim in claims:
        found = verdict(claim, metrics, classes, titles, options)
        rows.append([claim["says"], found["verdict"], found["why"], found["numbers"], claim["source"], claim.get("note", "")])
    return pd.DataFrame(rows, columns=COLUMNS)


def main(given: argparse.Namespace) -> None:
    study = given.output.name.removesuffix("_verdicts")
    classes, claims = read_claims(given.sources.with_name("claims.yaml"), study)
    metrics = read_metrics(given.metrics, draws=True).to_pandas()
    rows = metrics[(metrics["study"] == study) & metrics["seed"].isna()]
    facts = load(given.sources.with_name("studies.yaml"))[study]
    table = tabulate(claims, as_published(rows, facts), classes, load(given.models), facts.get("named_options", []))
    write(table, CAPTION, [], given.output)
    told = table["Verdict"].value_counts()
    log.info("%s: %s", given.output, ", ".join(f"{told[name]} {name}" for name in VERDICTS if name in told) or "no claim")


if __name__ == "__main__":
    execute(main, publisher_arguments(__doc__).parse_args())
