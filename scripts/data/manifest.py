"""Write down which files a folder of results holds:
manifest.json, with the bytes and the sha256 of each.

How many files a source, a dataset or a model has differs from one to the next, but a rule of
Snakemake has fixed outputs. So a rule's output is the manifest, written last, when every file is
there; whoever reads the files depends on it.

Reads  FOLDER/<file> for each FILE
Writes OUTPUT: {"files": {"train.parquet": {"bytes": 12, "sha256": "…"}}}

    python -m scripts.data.manifest \\
        --folder results/clean/hirest train.parquet val.parquet cleaning.csv \\
        --output results/clean/hirest/manifest.json
"""

import argparse
import json
from pathlib import Path

from scripts.data.files import sha256_of, whole
from scripts.running.program import UserError, execute, parser


def describe(folder: Path, names: list[str]) -> dict:
    """`{"files": {name: {bytes, sha256}}}`. Raises UserError for a file that is not there."""
    facts = {}
    for name in sorted(names):
        if not (folder / name).is_file():
            raise UserError(
                f"{folder / name} was not written; correct the program that should write it, or "
                "the entry in resources/ that names it"
            )
        facts[name] = {"bytes": (folder / name).stat().st_size, "sha256": sha256_of(folder / name)}
    return {"files": facts}


def files_in(manifest: Path) -> dict[str, dict]:
    """By name the bytes and the sha256 of the files that a manifest lists.

    Raises UserError where it is damaged.
    """
    try:
        files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        return {
            name: {"bytes": facts["bytes"], "sha256": facts["sha256"]}
            for name, facts in files.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UserError(
            f"{manifest}: is damaged; remove it, and the same command writes it again"
        ) from None


def lost_files(manifest: Path) -> list[str]:
    """The files of a manifest that are gone or have another length now; its own name,
    if it cannot be read.
    """
    try:
        files = files_in(manifest)
    except UserError:
        return [manifest.name]
    places = {name: manifest.parent / name for name in files}
    return [
        name
        for name, place in places.items()
        if not place.is_file() or place.stat().st_size != files[name]["bytes"]
    ]


def changed_file(manifest: Path, hashes: dict[str, str]) -> str | None:
    """The first of the files, by their sha256 now, that is not as the manifest says; None where
    all are, or there is no manifest.
    """
    files = files_in(manifest) if manifest.exists() else {}
    return next(
        (
            name
            for name, sha256 in hashes.items()
            if name in files and files[name]["sha256"] != sha256
        ),
        None,
    )


def write_manifest(folder: Path, names: list[str], output: Path) -> None:
    """Describe the named files of a folder in `output`.

    Raises UserError for a file that is not there.
    """
    described = describe(folder, names)
    with whole(output) as place:
        place.write_text(json.dumps(described, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main(given: argparse.Namespace) -> None:
    write_manifest(given.folder, given.files, given.output)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("files", nargs="+", metavar="FILE", help="a file's path inside the folder")
    options.add_argument("--folder", type=Path, required=True, help="the folder that holds them")
    options.add_argument("--output", type=Path, required=True, help="the manifest to write")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
