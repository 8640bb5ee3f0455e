"""The project's declarations: sources, models, studies, figures and the numbers of the papers."""

import json
import shutil
import tempfile
from pathlib import Path

from scripts.data.studies import numbers_of, read_claims, read_figures, read_published, read_studies
from scripts.data.yaml_files import read_yaml
from scripts.data.csv_rows import rows_of
from tests.conftest import ROOT

SOURCES, MODELS = (read_yaml(ROOT / f"resources/{name}.yaml") for name in ("sources", "models"))
STUDIES = read_studies()
FIGURES = read_figures(STUDIES)


def write_published(folder: Path) -> Path:
    """Write the published.csv of all studies that the workflow gives to programs."""
    file = folder / "published.csv"
    rows = [*read_published(STUDIES), *numbers_of(SOURCES, STUDIES)]
    file.write_text(rows_of(rows, "study", set(STUDIES)), encoding="utf-8")
    return file


def hand_over(folder: Path, study: str, figures: list[dict]) -> None:
    """Write the files of resources/ as the workflow gives them to the programs of a study."""
    shutil.copytree(ROOT / "resources", folder)
    handed = {"studies": STUDIES, "figures": figures, "claims": read_claims(study)}
    for name, value in handed.items():
        (folder / f"{name}.yaml").write_text(json.dumps(value), encoding="utf-8")
    write_published(folder)


_PLACE = tempfile.TemporaryDirectory()  # removed as the process ends
PUBLISHED = write_published(Path(_PLACE.name))
