"""What the project declares: sources, models, studies, figures and the numbers of the papers."""

import tempfile
from pathlib import Path

from scripts.data.studies import read_figures, read_published, read_studies
from scripts.data.yaml_files import read_yaml
from scripts.running.job_files import rows_of
from tests.conftest import ROOT

SOURCES, MODELS = (read_yaml(ROOT / f"resources/{name}.yaml") for name in ("sources", "models"))
STUDIES = read_studies()
FIGURES = read_figures(STUDIES)


def write_published(folder: Path, studies=STUDIES) -> Path:
    """The published.csv that the workflow hands to programs, of these studies."""
    file = folder / "published.csv"
    file.write_text(rows_of(read_published(STUDIES), "study", set(studies)), encoding="utf-8")
    return file


PUBLISHED = write_published(Path(tempfile.mkdtemp()))
