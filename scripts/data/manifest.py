"""The files of a folder of results: manifest.json, with the bytes and the sha256 of each.

The number of files differs between sources, datasets and models, but a rule of Snakemake has fixed
outputs. So a rule's output is the manifest. The job writes it last, when every file exists. Every
job that reads the files depends on it.

    {"files": {"train.parquet": {"bytes": 12, "sha256": "…"}}}
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.data.files import sha256_of, whole
from scripts.running.program import UserError


def files_in(manifest: Path) -> dict[str, dict]:
    """Return the bytes and the sha256 of the files of a manifest, by name. Raises UserError for a
    damaged manifest.
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


def has_manifest(folder: Path) -> bool:
    """Return whether a folder has a manifest of this project, and not a file of another kind."""
    try:
        return bool(files_in(folder / "manifest.json"))
    except (OSError, UserError):
        return False


def lost_files(manifest: Path) -> list[str]:
    """Return the files of a manifest that are missing or have another length now. If the manifest
    cannot be read, return its own name.
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


def manifest_beside(file: Path) -> Path:
    """Return the manifest of all files whose names are equal up to the first dot."""
    return file.with_name(f"{file.name.split('.')[0]}.manifest.json")


def _hashes_of(file: Path) -> tuple[Path, dict[Path, str]]:
    """Return the file that records the sha256 of a file of results/, and the sha256 by file. The
    record is the file itself if it is a manifest, else a manifest beside it, or the mark of a
    finished run. Without a record, return the file and no sha256.
    """
    if file.name.endswith("manifest.json"):
        facts = files_in(file)
        return file, {file.parent / name: one["sha256"] for name, one in facts.items()}
    for manifest in (manifest_beside(file), file.with_name("manifest.json")):
        if manifest.is_file() and file.name in (facts := files_in(manifest)):
            return manifest, {file: facts[file.name]["sha256"]}
    for folder in file.parents[:2]:
        mark = folder / "work/finished.json"
        if mark.is_file():
            try:
                known = json.loads(mark.read_text(encoding="utf-8"))["sha256"]
                return mark, {file: known[str(file.relative_to(folder))]}
            except (ValueError, KeyError, TypeError):  # the run itself reports this and restarts
                break
    return file, {}


def check_made(files: Iterable[Path]) -> None:
    """Raise UserError if a file of an earlier stage has changed since its rule wrote it. For a
    folder or a manifest, all listed files are checked; a folder without a manifest is not. For a
    file of a finished run, the run's own list of hashes is used.
    """
    manifests = (file / "manifest.json" if file.is_dir() else file for file in files)
    for file in dict.fromkeys(manifests):
        if file.name == "manifest.json" and not file.exists():
            continue  # a folder that no rule wrote: a local corpus, a test's data
        recorded_in, hashes = _hashes_of(file)
        for place, sha256 in hashes.items():
            if not place.is_file() or sha256_of(place) != sha256:
                raise UserError(
                    f"{place}: has changed since its rule wrote it (its sha256 is not the one in "
                    f"{recorded_in}); remove {file}, and the same command makes it again"
                )


def write_manifest(folder: Path, names: list[str], output: Path) -> None:
    """Describe some files of a folder in `output`. Raises UserError for a missing file."""
    files = {}
    for name in sorted(names):
        if not (folder / name).is_file():
            raise UserError(
                f"{folder / name} was not written; correct the program that should write it, or "
                "the entry in resources/ that names it"
            )
        files[name] = {"bytes": (folder / name).stat().st_size, "sha256": sha256_of(folder / name)}
    with whole(output) as place:
        text = json.dumps({"files": files}, indent=1, sort_keys=True)
        place.write_text(text + "\n", encoding="utf-8")


def _states(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the files of a folder, each with what changes when a program writes it again."""
    return {
        file: (file.stat().st_ino, file.stat().st_ctime_ns)
        for file in folder.rglob("*")
        if file.is_file()
    }


@contextmanager
def replaced_folder(manifest: Path | None) -> Iterator[None]:
    """Let the block write the folder of a manifest. Afterwards the folder has only the files that
    the block wrote, and the manifest lists them. On an error nothing is removed or listed. Without
    a manifest, do nothing.

    A folder inside that has its own manifest is listed by that one file.
    """
    if manifest is None:
        yield
        return
    folder = manifest.parent
    before = _states(folder)
    yield
    written = _states(folder)
    for file, state in before.items():
        if written.get(file) == state:
            file.unlink()
            del written[file]
    for inside in sorted(folder.rglob("*"), reverse=True):
        if inside.is_dir() and not any(inside.iterdir()):
            inside.rmdir()
    parts = {file.parent for file in written if file.name == "manifest.json"} - {folder}
    names = [
        str(file.relative_to(folder))
        for file in written
        if file != manifest and (file.parent not in parts or file.name == "manifest.json")
    ]
    write_manifest(folder, names, manifest)


def describe_beside(*files: Path) -> None:
    """Write the manifest of files with one name beside them, so that readers can check them. On any
    error all the files are removed.
    """
    try:
        write_manifest(files[0].parent, [file.name for file in files], manifest_beside(files[0]))
    except BaseException:
        for file in files:
            file.unlink(missing_ok=True)
        raise
