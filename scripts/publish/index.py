"""List the studies that are there, each with a link to its page and what it found: what a
configuration's `name` has kept apart.

Reads  metrics.parquet of each study, whose folder has the study's name; findings.json, which its
       page wrote beside itself (scripts/publish/site.py), so that the list says what the page says
Writes the HTML file, beside the folders of the studies' pages

    python -m scripts.publish.index results/evaluate/*/metrics.parquet \\
        --findings results/publish/*/findings.json --output results/publish/index.html
"""

import argparse
import json
from pathlib import Path

import pandas as pd

from scripts.data.files import whole
from scripts.running.program import UserError, execute, log, parser
from scripts.data.tables import read_metrics
from scripts.publish.marks import marks_of
from scripts.publish.parts import templates

TOLD = ("short", "clauses", "who", "caveats", "marks")  # of a Finding (scripts/publish/findings.py)


def read_findings(file: Path) -> dict:
    """The findings of a page and the caveats that all of them share."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        return {
            "findings": [{name: one[name] for name in TOLD} for one in told["findings"]],
            "shared_caveats": told["shared_caveats"],
        }
    except (ValueError, TypeError, KeyError):
        raise UserError(
            f"{file}: holds no findings of a page; remove it and publish its study again"
        ) from None


def told_of(name: str, metrics: pd.DataFrame, findings: dict[str, Path]) -> dict:
    """What the list tells of a study; findings: the files by study."""
    return {
        "name": name,
        "marks": marks_of(metrics.assign(sample=metrics["sample"].all())),
        "experiments": metrics["experiment"].nunique(),
        "corpora": [
            source.replace("_", " ") for source in sorted(metrics["source"].dropna().unique())
        ],
        **(
            read_findings(findings[name])
            if name in findings
            else {"findings": None, "shared_caveats": []}
        ),
    }


def main(given: argparse.Namespace) -> None:
    findings = {file.parent.name: file for file in given.findings}
    tables = {file.parent.name: read_metrics(file).to_pandas() for file in given.metrics}
    published = [told_of(name, metrics, findings) for name, metrics in sorted(tables.items())]
    html = templates().get_template("index.html.j2").render({"published": published})
    with whole(given.output) as place:
        place.write_text(html, encoding="utf-8")
    log.info("%s: %d studies", given.output, len(tables))


def arguments() -> argparse.ArgumentParser:
    asked = parser(__doc__)
    asked.add_argument("metrics", nargs="+", type=Path, help="metrics.parquet of each study")
    asked.add_argument(
        "--findings",
        nargs="*",
        type=Path,
        default=[],
        help="findings.json of each study whose page wrote it",
    )
    asked.add_argument("--output", type=Path, required=True, help="the HTML file to write")
    return asked


if __name__ == "__main__":
    execute(main, arguments().parse_args())
