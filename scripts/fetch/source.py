"""Fetch one corpus: bring its files, open its archives, verify every file,
then give the files their names.

Reads  the entry NAME of SOURCES (resources/sources.yaml): urls, members, hashes; a mirror is tried
       first
Writes OUTPUT/<file> for each file and archive member that the entry names: all files or no file

A download that is cut continues where it stopped: give the same command again after a failure.
Nothing is fetched if OUTPUT has all files with their hashes.

    python -m scripts.fetch.source --source activitynet --output results/fetch/activitynet \\
        --mirror ../mirror
"""

import argparse
import shutil
import stat
import zipfile
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from scripts.data.files import sha256_of, zip_errors
from scripts.running.program import UserError, cut, execute
from scripts.plan.schemas import check, schema
from scripts.fetch.download import Downloads, alone, check_mirror, fetch_parser, finish, read_entry
from scripts.fetch.download import verify
from scripts.fetch.web import CHUNK, MOST, TooLarge, write

# an archive may have this many times the bytes of its used members, because it may have other files
REPACKED = 10


def check_downloads(name: str, entry: dict, sources: Path) -> list[dict]:
    """Return the downloads of an entry. Raises UserError if the entry has no valid downloads."""
    where = f"{sources}: {name}"
    if "downloads" not in entry:
        raise UserError(f"{where} has no downloads: its file is on this machine already")
    known = schema("sources")["$defs"]
    wanted = known["source"]["properties"]["downloads"]
    items = check(entry["downloads"], {"$defs": known, **wanted}, where)
    paths = [path for item in items for path in item.get("members", [item.get("file")])]
    names = [PurePosixPath(path).name for path in paths]
    if odd := {"", ".."}.intersection(names):
        raise UserError(
            f"{where}: {sorted(odd)[0]!r} is not a valid name of a file or a member; correct it"
        )
    if twice := [file for file in names if names.count(file) > 1]:
        raise UserError(
            f"{where}: two downloads or members have the name {twice[0]}; give each its own name"
        )
    return items


# ---- Archives


def refuse_unsafe(archive: zipfile.ZipFile, called: str) -> None:
    """Raise UserError for an archive with an entry that leads out of its folder, is a link, or
    occurs twice.
    """
    seen = set()
    for entry in archive.infolist():
        path = PurePosixPath(entry.orig_filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")):
            why = "leads out of the archive's folder"
        elif stat.S_ISLNK(entry.external_attr >> 16):
            why = "is a link"
        elif path in seen and not entry.is_dir():
            why = "is there twice"
        else:
            seen.add(path)
            continue
        raise UserError(
            f"{called}: entry {cut(entry.orig_filename, 200)} {why}, so nothing of the "
            "archive was opened: get the archive from a source that you trust"
        )


def open_archive(
    place: Path, members: dict, folder: Path, called: str, pin: str
) -> dict[str, Path]:
    """Write the named members of a zip into `folder` and verify them. The sizes in their headers
    are not trusted. Return {base name: place}.
    """
    written = {}
    broken = f"{called} is truncated or damaged, or no zip, and its copy was removed"
    with zip_errors(broken):
        archive = zipfile.ZipFile(place)
    with archive:
        refuse_unsafe(archive, called)
        there = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        for member, facts in members.items():
            if member not in there:
                raise UserError(
                    f"{called}: member {member} is missing from the archive, which "
                    f"holds {cut(', '.join(there), 400) or 'nothing'}; correct {pin}, "
                    "or get the right archive"
                )
            target, what = folder / PurePosixPath(member).name, f"{called}: member {member}"
            most = MOST if facts["bytes"] is None else facts["bytes"]
            target.unlink(missing_ok=True)
            try:
                with zip_errors(broken), archive.open(member) as opened:
                    pieces = iter(lambda: opened.read(CHUNK), b"")
                    write(pieces, target, what, 0, facts["bytes"], most)
            except TooLarge:
                raise UserError(
                    f"{what} unpacks to more than the {most:,} bytes that {pin} "
                    "declares; get the right archive, or, if the change is meant, "
                    "correct bytes there"
                ) from None
            verify(target, what, pin, facts["sha256"], facts["bytes"])
            written[target.name] = target
    return written


def weight(members: dict) -> int | None:
    """Return the most bytes that an archive of these members may have; None if the size of a member
    is not known.
    """
    sizes = [facts["bytes"] for facts in members.values()]
    return None if None in sizes else REPACKED * sum(sizes) + 1_000_000


def fetch(items: list[dict], downloads: Downloads) -> dict[str, Path]:
    """Bring and verify all files of a source; {file name: its place}."""
    files: dict[str, Path] = {}
    for item in items:
        if "file" in item:
            files[item["file"]] = downloads.bring(
                item["file"], item["urls"], item["sha256"], item.get("bytes")
            )
            continue
        called = PurePosixPath(urlsplit(item["urls"][0]).path).name
        brought = downloads.bring(
            called, item["urls"], None, most=weight(item["members"]), archive=True
        )
        opened = downloads.partial / "opened"
        opened.mkdir(exist_ok=True)
        try:
            files |= open_archive(
                brought, item["members"], opened, f"{called} from {item['urls'][0]}", downloads.pin
            )
        except UserError:  # so that the next fetch brings the archive anew
            brought.unlink()
            raise
    return files


def already_here(items: list[dict], folder: Path) -> dict[str, Path]:
    """Return the files of a folder if all of them have their declared hashes; else nothing."""
    facts = {
        PurePosixPath(name).name: fact["sha256"]
        for item in items
        for name, fact in item.get("members", {item.get("file"): item}).items()
    }
    files = {name: folder / name for name in facts}
    are_here = all(
        file.is_file() and sha256_of(file) == facts[name] for name, file in files.items()
    )
    return files if are_here else {}


def main(given: argparse.Namespace) -> None:
    mirror = check_mirror(given.mirror)
    items = check_downloads(
        given.source, read_entry(given.source, given.sources, given.entry), given.sources
    )
    partial, pin = given.partial / given.source, given.place or f"{given.sources} ({given.source})"
    with alone(partial):
        try:
            files = already_here(items, given.output)
            files = files or fetch(items, Downloads(pin, partial, mirror))
            finish(given.source, files, given.output, partial)
        finally:
            shutil.rmtree(partial / "opened", ignore_errors=True)


def arguments() -> argparse.ArgumentParser:
    return fetch_parser(__doc__, "source", "the folder to write to, results/fetch/NAME")


if __name__ == "__main__":
    execute(main, arguments().parse_args())
