"""List the published studies, each with a link to its page and its findings. Here a study is all
that was published under one `name` of a configuration.

Every call of Snakemake that may run jobs writes the list of all configurations' pages
(scripts/running/start.py).

Reads  FOLDER/evaluate/<name>/metrics.parquet of each study that has a page; findings.json beside
       the page (scripts/publish/site.py writes both, so the list and the page have the same
       findings)
Writes FOLDER/publish/index.html
"""

import json
from pathlib import Path

import pandas as pd

from scripts.data.files import whole
from scripts.data.manifest import check_made
from scripts.running.program import UserError, log
from scripts.data.tables import read_metrics
from scripts.publish.marks import marks_of
from scripts.publish.parts import templates
from scripts.publish.table import TURNS

KEPT = ("short", "sentence", "marks")  # of a Finding (scripts/publish/findings.py)


def read_findings(file: Path) -> dict:
    """Read the findings of a page, and the caveats that all its findings share; none for a page of
    an earlier version.
    """
    try:
        page = json.loads(file.read_text(encoding="utf-8"))
        return {
            "findings": [{name: one[name] for name in KEPT} for one in page["findings"]],
            "shared_caveats": page["shared_caveats"],
        }
    except (FileNotFoundError, KeyError):
        return {"findings": None, "shared_caveats": []}
    except (ValueError, TypeError):
        raise UserError(
            f"{file}: is not a findings file; remove it and publish its study again"
        ) from None


def entry_of(name: str, metrics: pd.DataFrame, findings: Path) -> dict:
    return {
        "name": name,
        "marks": marks_of(metrics.assign(sample=metrics["sample"].all())),
        "experiments": metrics["experiment"].nunique(),
        "corpora": [
            source.replace("_", " ") for source in sorted(metrics["source"].dropna().unique())
        ],
        **read_findings(findings),
    }


def list_studies(results: Path) -> None:
    pages = {
        page: file
        for page in sorted(results.glob("publish/*/index.html"))
        if (file := results / "evaluate" / page.parent.name / "metrics.parquet").exists()
    }
    findings = [page.with_name("findings.json") for page in pages]
    check_made([*pages.values(), *filter(Path.exists, findings)])
    published = [
        entry_of(page.parent.name, read_metrics(file).to_pandas(), page.with_name("findings.json"))
        for page, file in pages.items()
    ]
    html = templates().get_template("index.html.j2").render({"published": published})
    output = results / "publish/index.html"
    with whole(output) as place:
        place.write_text(html.translate(TURNS), encoding="utf-8")
    log.info("%s: %d studies", output, len(published))
