"""What the project knows of papers: their numbers, their claims, and answers to their items that
others released.

Programs read these texts themselves, because they are long. A rule compares their hashes.
"""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from scripts.data.csv_rows import rows_of
from scripts.data.studies import read_claims, read_published, read_released, read_studies
from scripts.running.project_version import ROOT


@cache
def _rows(root: Path) -> list[list[str]]:
    return read_published(read_studies(root), root)


def texts_of(
    published: Iterable[str],
    claims: Iterable[str] = (),
    released: dict[str, list[str]] | None = None,
    numbers: Iterable[list[str]] = (),
    root: Path = ROOT,
) -> dict[str, str]:
    """Return texts by file name. published: the studies whose papers' numbers are shown; claims:
    the study whose claims are shown; released: by study the sources of released answers; numbers:
    from numbers_of(), of the sources that are measured.
    """
    texts = {"published.csv": rows_of([*_rows(root), *numbers], "study", set(published))}
    for study in claims:
        texts["claims.yaml"] = json.dumps(read_claims(study, root))
    for study, sources in (released or {}).items():
        texts["released.csv"] = rows_of(read_released(study, root), "source", set(sources))
    return texts


def files_of(texts: dict[str, str]) -> dict[str, object]:
    """Return what texts_of() says by the files that say it. Claims come with their classes."""
    claims = json.loads(texts.get("claims.yaml", "{}"))
    return texts | {f"{name}.yaml": said for name, said in claims.items()}
