"""Fetch one corpus: bring its files, open its archives, verify every file, then give them their names.

Reads  the entry NAME of SOURCES (resources/sources.yaml): urls, members, hashes; a mirror is tried first
Writes OUTPUT/<file> for each file and archive member that the entry names, all of them or none

A download that is cut goes on where it stopped: give the same command again after a failure. A source that
has `sampler:` instead of `downloads:` is written by a program of scripts/fetch/samples/.

    python -m scripts.fetch.source --source activitynet --output results/fetch/activitynet --mirror ../mirror
"""

import argparse
import hashlib
import lzma
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from scripts.common.program import UserError, cut, execute, log, parser, shown
from scripts.fetch.download import MIRROR_HELP, UNPINNED, check_mirror, download, hand_over, read_entry
from scripts.fetch.web import CHUNK, MOST, named

# What zipfile and its decompressors raise on bytes that are no whole zip.
BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ArithmeticError, LookupError,
          NotImplementedError, RuntimeError, ValueError)
FACTS = {"sha256", "bytes"}
REPACKED = 10  # times what its members open to: what an archive may weigh, which may hold more than what is used


def name_of(item: dict) -> str:
    """What a download is called: its `file`, or the last part of its first URL."""
    return item.get("file") or PurePosixPath(urlsplit(item["urls"][0]).path).name


def is_file(name: object) -> bool:
    """Whether the last part of a name is one that a file can have."""
    return isinstance(name, str) and name.isprintable() and PurePosixPath(name).name not in ("", "..") and len(name) <= 255


def is_url(text: str) -> bool:
    """Whether a text is the URL of a file that can be asked for."""
    try:
        return text.isprintable() and urlsplit(text).scheme in ("http", "https", "file")
    except ValueError:
        return False


def check_source(name: str, entry: dict, sources: Path) -> None:
    """Refuse, in one sentence, an entry that cannot be fetched as it is written."""
    where = f"{sources}: {name}"
    if "downloads" not in entry:
        raise UserError(f"{where} has no downloads, it is a sample; use python -m scripts.fetch.samples.{entry.get('sampler', '…')}")
    names = []
    if not isinstance(entry["downloads"], list) or not all(isinstance(item, dict) for item in entry["downloads"]):
        raise UserError(f"{where}: downloads is no list of downloads; write `- urls: [https://…]` for each")
    for item in entry["downloads"]:
        if not item.get("urls") or not isinstance(item["urls"], list) or not all(isinstance(url, str) for url in item["urls"]):
            raise UserError(f"{where}: a download has no list of urls; write `urls: [https://…]`")
        for url in item["urls"]:
            if not is_url(url):
                raise UserError(f"{where}: {cut(url, 200)} is none of https://, http:// and file://; correct it")
        if not isinstance(item.get("file", ""), str):
            raise UserError(f"{where}: file is {shown(item['file'])}, not a name; correct it")
        if ("members" in item) == ("file" in item):
            raise UserError(f"{where}: {item['urls'][0]} needs either `file:` or, for an archive, `members:`")
        members = item.get("members", {name_of(item): item})
        if not isinstance(members, dict) or not members or not all(map(is_file, members)):
            raise UserError(f"{where}: {item['urls'][0]}: a member or a file has no name that a file can have; correct it")
        for file, facts in members.items():
            if not isinstance(facts, dict):
                raise UserError(f"{where}: {file} has no sha256 and bytes; write them, or null if unknown")
            if missing := sorted(FACTS - set(facts)):
                raise UserError(f"{where}: {file} has no {missing[0]}; write it, or null if unknown")
            if facts["bytes"] is not None and (type(facts["bytes"]) is not int or not 0 <= facts["bytes"] < 2**60):
                raise UserError(f"{where}: bytes of {file} must be a whole number, or null if unknown; correct it")
            if facts["sha256"] is not None and not re.fullmatch("[0-9a-f]{64}", str(facts["sha256"])):
                raise UserError(f"{where}: sha256 of {file} must be 64 hexadecimal digits, or null if unknown; correct it")
            names.append(PurePosixPath(file).name)
    if twice := [file for file in names if names.count(file) > 1]:
        raise UserError(f"{where}: two downloads or members are a file {twice[0]}; their names must differ")


def refuse_unsafe(archive: zipfile.ZipFile, called: str) -> None:
    """Raise UserError for an archive with an entry that leads out of its folder, is a link, or is there twice."""
    seen = set()
    for entry in archive.infolist():
        path = PurePosixPath(entry.orig_filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or path.parts and path.parts[0].endswith(":"):
            why = "leads out of the archive's folder"
        elif stat.S_ISLNK(entry.external_attr >> 16):
            why = "is a link"
        elif path in seen and not entry.is_dir():
            why = "is there twice"
        else:
            seen.add(path)
            continue
        raise UserError(f"{called}: entry {entry.orig_filename[:200]} {why}, so nothing of the archive was opened: "
                        "get the archive from a source that you trust")


def damaged(called: str, error: Exception) -> UserError:
    return UserError(f"{called} is truncated or damaged, or no zip that can be opened "
                     f"({' '.join(str(error).split())[:200]}): it was removed; fetch it again, and if that ends the same, "
                     "replace the copy in the mirror or at its URL")


def read_member(archive: zipfile.ZipFile, member: str, called: str) -> Iterator[bytes]:
    """The bytes of a member as they are opened. Raises UserError for a damaged one."""
    try:
        with archive.open(member) as source:
            while piece := source.read(CHUNK):
                yield piece
    except BROKEN as error:
        raise damaged(called, error) from error


def extract(archive: zipfile.ZipFile, member: str, facts: dict, target: Path, called: str, pin: str) -> None:
    """Write one member to `target`, counting and hashing its bytes as they come, whatever its header claims.

    facts: sha256 and bytes, each None where not known. Raises UserError when the member is not as they say.
    """
    digest, size, limit = hashlib.sha256(), 0, facts["bytes"]
    most = MOST if limit is None else limit
    with named(target), open(target, "wb") as opened:
        for piece in read_member(archive, member, called):
            size += len(piece)
            if size > most:
                raise UserError(f"{called}: member {member} opens to more than the {most:,} bytes that {pin} declares; get "
                                "the right archive, or, if the change is meant, correct bytes there")
            opened.write(piece)
            digest.update(piece)
    found = digest.hexdigest()
    if facts["sha256"] not in (None, found):
        raise UserError(f"{called}: member {member} is not the file that {pin} names (expected sha256 "
                        f"{facts['sha256']}, found {found}): get the right archive, or, if the change is "
                        "meant, pin the hash found")
    if limit is not None and size != limit:
        raise UserError(f"{called}: member {member} has {size:,} bytes, but {pin} declares {limit:,}; "
                        "correct bytes there")
    if facts["sha256"] is None:
        log.info(UNPINNED, f"{called}: member {member}", found, pin)


def open_archive(place: Path, members: dict, folder: Path, called: str, pin: str) -> dict[str, Path]:
    """Write the named members of a zip into `folder`, verified; returns {base name: place}.

    A bad archive is removed from where downloads are kept, so that the next fetch brings it anew.
    """
    written = {}
    try:
        try:
            archive = zipfile.ZipFile(place)
        except BROKEN as error:
            raise damaged(called, error) from error
        with archive:
            refuse_unsafe(archive, called)
            there = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
            for member, facts in members.items():
                if member not in there:
                    more = f" and {len(there) - 20} more" if len(there) > 20 else ""
                    raise UserError(f"{called}: member {member} is missing from the archive, which holds "
                                    f"{', '.join(file[:200] for file in there[:20]) or 'nothing'}{more}; correct {pin}, "
                                    "or get the right archive")
                name = PurePosixPath(member).name
                extract(archive, member, facts, folder / name, called, pin)
                written[name] = folder / name
    except UserError:
        place.unlink()
        raise
    return written


def weight(members: dict) -> int | None:
    """What an archive of these members may weigh at most; None where the size of one is not known."""
    sizes = [facts["bytes"] for facts in members.values()]
    return None if None in sizes else REPACKED * sum(sizes) + 1_000_000


def fetch(entry: dict, pin: str, partial: Path, mirror: str | None) -> dict[str, Path]:
    """Bring and verify all files of a source; returns {file name: its place under `partial`}. pin: where its hashes are declared."""
    files: dict[str, Path] = {}
    for item in entry["downloads"]:
        called = name_of(item)
        if "members" in item:
            brought = download(called, item["urls"], None, pin, partial, mirror, most=weight(item["members"]),
                               archive=True)
            opened = partial / "opened"
            opened.mkdir(exist_ok=True)
            files |= open_archive(brought, item["members"], opened, f"{called} from {item['urls'][0]}", pin)
        else:
            files[PurePosixPath(called).name] = download(called, item["urls"], item["sha256"], pin, partial, mirror,
                                                         item["bytes"])
    return files


def main(given: argparse.Namespace) -> None:
    mirror = check_mirror(given.mirror)
    entry = read_entry("source", given.source, given.sources)
    check_source(given.source, entry, given.sources)
    partial = given.partial / given.source
    try:
        files = fetch(entry, given.place or f"{given.sources} ({given.source})", partial, mirror)
        hand_over({place: given.output / name for name, place in files.items()})
    finally:
        shutil.rmtree(partial / "opened", ignore_errors=True)
    size = sum((given.output / name).stat().st_size for name in files)
    shutil.rmtree(partial, ignore_errors=True)
    log.info("%s: %s files, %s bytes, in %s", given.source, len(files), f"{size:,}", given.output)


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    program.add_argument("--source", required=True, metavar="NAME", help="an entry of SOURCES")
    program.add_argument("--sources", type=Path, default=Path("resources/sources.yaml"), metavar="FILE",
                         help="default: %(default)s")
    program.add_argument("--place", metavar="TEXT", help="what to call the place of the entry in messages; default: SOURCES (NAME)")
    program.add_argument("--output", type=Path, required=True, help="the folder to write to, results/fetch/NAME")
    program.add_argument("--mirror", default="", metavar="PLACE", help=MIRROR_HELP)
    program.add_argument("--partial", type=Path, default=Path("results/fetch/.partial"), metavar="DIR",
                         help="where unfinished downloads are kept; default: %(default)s")
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
