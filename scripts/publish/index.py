"""List the studies that are there, each with a link to its page: what a configuration's `name` has kept apart.

Reads  metrics.parquet of each study, whose folder has the study's name
Writes the HTML file, beside the folders of the studies' pages

    python -m scripts.publish.index results/evaluate/*/metrics.parquet --output results/publish/index.html
"""

import argparse
from html import escape
from pathlib import Path

import pandas as pd

from scripts.common.files import whole
from scripts.common.program import execute, log, parser
from scripts.common.tables import read_metrics
from scripts.publish.marks import at_most

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>timestride: studies</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 60rem; padding: 0 1rem; color: #1d1d1f }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ text-align: left; vertical-align: top; padding: .5rem .8rem .5rem 0; border-top: 1px solid #d0d0d5 }}
</style>
<h1>Studies</h1>
<table>
<tr><th>Study</th><th>Measures</th><th>Corpora</th><th>Experiments</th></tr>
{rows}
</table>
</html>
"""


def listed(values: pd.Series) -> str:
    """Different values, as text for a cell."""
    return escape(", ".join(sorted(set(values.dropna().astype(str)))).replace("_", " "))


def row_of(name: str, metrics: pd.DataFrame) -> str:
    """The row of a study; metrics: columns study, source, experiment, sample, limit."""
    marks = ["sample data"] * bool(metrics["sample"].all()) + [at_most(limit) for limit in sorted(metrics["limit"].dropna().unique())]
    note = f" ({', '.join(marks)})" if marks else ""
    cells = [f'<a href="{escape(name)}/index.html">{escape(name)}</a>{note}', listed(metrics["study"]), listed(metrics["source"]),
             str(metrics["experiment"].nunique())]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def main(given: argparse.Namespace) -> None:
    tables = {file.parent.name: read_metrics(file).to_pandas() for file in given.metrics}
    rows = "\n".join(row_of(name, metrics) for name, metrics in sorted(tables.items()))
    with whole(given.output) as place:
        place.write_text(PAGE.format(rows=rows), encoding="utf-8")
    log.info("%s: %d studies", given.output, len(tables))


def arguments() -> argparse.ArgumentParser:
    asked = parser(__doc__)
    asked.add_argument("metrics", nargs="+", type=Path, help="metrics.parquet of each study")
    asked.add_argument("--output", type=Path, required=True, help="the HTML file to write")
    return asked


if __name__ == "__main__":
    execute(main, arguments().parse_args())
