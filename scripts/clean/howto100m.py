"""Clean the speech captions of HowTo100M, as a stream: memory does not grow with the file.

Reads  raw_caption.zip, raw_caption.json or caption.json, whichever is there, in that order, from --fetched (zipped or
       not is told by content): one object {video_id: {"start": […], "end": […], "text": […]}};
       and HowTo100M_v1.csv, if it is there, for the categories
Writes train/ and val/, each a folder of shards part-00000.parquet … (schema captions, videos in the order of the
       file) with manifest.json; videos.parquet (one row a video: split, categories, captions kept); cleaning.csv

A tenth of the videos, by hash of the id, is val. Captions are cleaned in this order, and each thing done is counted:
lists of different lengths are cut to the shortest; what is not text is dropped, and what has no finite times; white
space is stripped and joined; empty text is dropped; captions are sorted by start time; a caption is dropped when the
next one of the video repeats it or goes on from it by whole words. A video id that occurs again is dropped.

    python -m scripts.clean.howto100m --source howto100m --fetched results/fetch/howto100m \\
        --output results/clean/howto100m --provenance '{"licence": "unstated"}'
"""

import argparse
import json
import re
import shutil
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv
from tqdm import tqdm

from scripts.clean.captions import (EMPTY, NO_SENTENCE, NO_TIME, UNSORTED, Count, cleaner_arguments, shaped, total,
                                    write_cleaning)
from scripts.common.files import sha256_of
from scripts.common.keyed import keyed_hash, keyed_uniform
from scripts.common.program import UserError, log, run
from scripts.common.tables import CAPTIONS, table_writer, write_table

NAMES = ("raw_caption.zip", "raw_caption.json", "caption.json")
LISTING = "HowTo100M_v1.csv"
SPLITS = ("train", "val")
VAL_SHARE = 0.1
VIDEOS = pa.schema([
    ("source", pa.string()), ("split", pa.string()), ("video_id", pa.string()),
    ("category_1", pa.string()), ("category_2", pa.string()), ("captions", pa.int32()),
])
CHUNK = 1 << 22  # bytes read at a time
BATCH = 1 << 22  # bytes of JSON cleaned at a time
LONGEST = 1 << 26  # bytes of one video; a file that leaves one open this long is broken

GAP = re.compile(rb"[ \t\n\r]*")
WHITE = r"[\s\v\x{1c}-\x{1f}\x{85}\p{Z}]+"  # as str.split() has it, for Arrow's regular expressions
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
FLAT = rb'\{(?:[^"{}]++|%b)*+\}' % STRING.pattern
OBJECT = re.compile(rb'\{(?:[^"{}]++|%b|%b)*+\}' % (STRING.pattern, FLAT), re.DOTALL)  # a text may be an object


class Video(msgspec.Struct, gc=False):
    """The captions of one video as the file has them. A text can be anything; a time can be null or NaN."""

    start: list[float | None]
    end: list[float | None]
    text: list


DECODER = msgspec.json.Decoder(Video)


def videos(stream: BinaryIO, name: str, chunk: int = CHUNK) -> Iterator[tuple[str, Video, int]]:
    """Every video of a JSON object of videos, with its id and how many bytes of the file are read so far.

    An object is looked for up to the next `}`. As no shorter prefix of a JSON object is valid, what decodes there is
    the whole object. Only where the decoder refuses it (a brace in a text, a NaN) its end is searched for properly.
    Raises UserError that names the video where the file is broken or of another shape. `name` is the file's.
    """
    buffer, at, before, last = b"", 0, 0, None  # `before`: bytes of the file in front of the buffer

    def more() -> bool:
        """Drop what is behind, read on (more for long objects, so as not to search them often); False at the end."""
        nonlocal buffer, at, before
        try:
            read = stream.read(max(chunk, len(buffer) - at))
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise UserError(f"{name}: the zip is damaged ({error}) behind {here()}; fetch it again") from None
        buffer, before, at = buffer[at:] + read, before + at, 0
        return bool(read)

    def here() -> str:
        return f"video {last} (byte {before + at})" if last is not None else f"its start (byte {before + at})"

    def symbol() -> bytes:
        """The next byte that is not white space, b"" at the end; steps over it."""
        nonlocal at
        while True:
            at = GAP.match(buffer, at).end()
            if at < len(buffer):
                at += 1
                return buffer[at - 1 : at]
            if not more():
                return b""

    def broken(expected: str) -> UserError:
        if at >= len(buffer):
            return UserError(f"{name}: the file ends too early, behind {here()}: {expected} is missing; fetch it again")
        return UserError(f"{name}: broken JSON behind {here()}: {expected} is missing; fetch it again")

    def whole_object(key: str) -> Video:
        """The object that begins at `at`, whatever its texts and numbers; steps over it."""
        nonlocal at
        where = f"{name}: video {key}, which begins at byte {before + at}"
        while not (found := OBJECT.match(buffer, at)):
            if len(buffer) - at > LONGEST or not more():
                raise UserError(f"{where}, does not end; the last whole video before it is {last}; fetch it again")
        at = found.end()
        try:
            return DECODER.decode(found.group())
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        try:
            value = json.loads(found.group().decode("utf-8"))  # slower, but knows NaN and Infinity
        except ValueError as error:
            raise UserError(f"{where}: broken JSON ({error}); the last whole video before it is {last}; "
                            "fetch it again") from None
        return shaped(value, Video, where)

    def video_id() -> str:
        """The key that begins at the `"` at `at`; steps over it."""
        nonlocal at
        while not (found := STRING.match(buffer, at)):
            if len(buffer) - at > LONGEST or not more():
                at = len(buffer)
                raise broken("the end of a video id")
        try:
            key = json.loads(found.group())
            key.encode("utf-8")  # half of a surrogate pair is no text
        except ValueError as error:
            raise UserError(f"{name}: the video id behind {here()} cannot be read ({error}); fetch it again") from None
        at = found.end()
        return key

    def expect(wanted: bytes, called: str) -> bytes:
        """Step over white space and one of the bytes wanted; returns it."""
        nonlocal at
        found = symbol()
        if not found or found not in wanted:
            at -= len(found)
            raise broken(called)
        return found

    expect(b"{", "the { of an object of videos")
    mark = expect(b'"}', "a video id")
    while mark != b"}":
        at -= 1
        key = video_id()
        expect(b":", f"the colon after video {key}")
        expect(b"{", f"the object with start, end and text of video {key}")
        at -= 1
        while (end := buffer.find(b"}", at) + 1) == 0 and len(buffer) - at <= LONGEST and more():
            pass
        try:
            video = DECODER.decode(buffer[at:end])
            at = end
        except (msgspec.DecodeError, UnicodeDecodeError):
            video = whole_object(key)
        last = key
        yield key, video, before + at
        if (mark := expect(b",}", "a comma or the closing }")) == b",":
            mark = expect(b'"', "a video id")
    if symbol():
        at -= 1
        raise broken("the end of the file")


@contextmanager
def opened(file: Path) -> Iterator[tuple[BinaryIO, int, str]]:
    """The JSON of a caption file, zipped or not: a stream, its size in bytes, and a name for messages."""
    with open(file, "rb") as raw:
        if raw.read(2) != b"PK":
            raw.seek(0)
            yield raw, file.stat().st_size, str(file)
            return
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise UserError(f"{file}: not a whole zip ({error}), so no video can be read; fetch it again") from None
    with archive:
        members = [member for member in archive.infolist() if Path(member.filename).name in NAMES]
        if len(members) != 1:
            raise UserError(f"{file}: needs one of {' and '.join(NAMES[1:])} inside, but has "
                            f"{', '.join(archive.namelist()[:5]) or 'nothing'}; fetch it again")
        try:
            stream = archive.open(members[0])
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise UserError(f"{file}: cannot be opened ({error}); fetch it again") from None
        with stream:
            yield stream, members[0].file_size, f"{file}: {members[0].filename}"


def caption_file(fetched: Path) -> Path:
    """The caption file to read; says so when there are several."""
    present = [fetched / name for name in NAMES if (fetched / name).is_file()]
    if not present:
        raise UserError(f"{fetched}: none of {', '.join(NAMES)} is there; fetch one of them")
    if len(present) > 1:
        log.info("%s: reading %s, not %s", fetched, present[0].name, ", ".join(file.name for file in present[1:]))
    return present[0]


def batches(read: Iterator[tuple[str, Video, int]], size: int = BATCH) -> Iterator[tuple[list[str], list[Video], int]]:
    """Videos in lists of at least `size` bytes of JSON (the last may be less), with the bytes read so far."""
    names, some, begun, done = [], [], 0, 0
    for name, video, done in read:
        names.append(name)
        some.append(video)
        if done - begun >= size:
            full, names, some, begun = (names, some, done), [], [], done
            yield full
            del full
    if names:
        yield names, some, done


def texts_of(values: list) -> pa.Array:
    """An array of strings from decoded JSON, null for all that is not text."""
    texts = [value if type(value) is str else None for value in values]
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        # Half of a surrogate pair is nothing that a file can hold as text; U+FFFD stands for it.
        return pa.array([text and text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts],
                        pa.string())


def spaced(texts: pa.Array) -> pa.Array:
    """Texts stripped, with one space for every run of white space."""
    # Few need it, and to find them is ten times faster than to replace everywhere.
    odd = pc.match_substring_regex(texts, "[^ -~]|  |^ | $").fill_null(False)
    some = pc.replace_substring_regex(texts.filter(odd), WHITE, " ")
    return pc.replace_with_mask(texts, odd, pc.utf8_trim(some, " "))


def goes_on(texts: pa.Array, video: np.ndarray) -> np.ndarray:
    """For each text: does the next one of the same video repeat it, or go on from it by whole words?"""
    if len(texts) < 2:
        return np.zeros(len(texts), bool)
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    characters = np.frombuffer(texts.buffers()[2], np.uint8)
    begin, length = offsets[:-1], np.diff(offsets)
    here, there = begin[:-1], begin[1:]
    behind = np.minimum(there + length[:-1], len(characters) - 1)
    could = (video[:-1] == video[1:]) & (
        (length[:-1] == length[1:]) | ((length[:-1] < length[1:]) & (characters[behind] == ord(" "))))
    could &= characters[here] == characters[there]
    rows = np.flatnonzero(could)
    # Compare what is left byte by byte, all rows at once.
    lengths = length[rows]
    ends = np.cumsum(lengths)
    within = np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)
    differ = characters[np.repeat(here[rows], lengths) + within] != characters[np.repeat(there[rows], lengths) + within]
    same = np.diff(np.concatenate([[0], np.cumsum(differ)])[np.concatenate([[0], ends])]) == 0
    found = np.zeros(len(texts), bool)
    found[rows[same]] = True
    return found


def clean_batch(names: list[str], some: list[Video], source: str) -> tuple[pa.Table, pa.Table, Counter]:
    """The captions and the videos of a batch of different videos, and counts by (split number, unit, action, reason).

    Captions have schema CAPTIONS, videos VIDEOS without the categories.
    """
    ids = pd.Series(names, dtype=object)
    split_of = (keyed_uniform(ids, 0) < VAL_SHARE).astype(np.int64)
    counts: Counter = Counter()

    def count(unit: str, action: str, reason: str, per_split: np.ndarray) -> None:
        for split in range(len(SPLITS)):
            counts[split, unit, action, reason] += int(per_split[split])

    def by_video(amount: np.ndarray) -> np.ndarray:
        return np.bincount(split_of, weights=amount, minlength=len(SPLITS))

    def by_row(rows: np.ndarray) -> np.ndarray:
        return np.bincount(split_of[video[rows]], minlength=len(SPLITS))

    sizes = np.array([(len(one.start), len(one.end), len(one.text)) for one in some], dtype=np.int64).reshape(-1, 3)
    shortest, longest = sizes.min(axis=1), sizes.max(axis=1)
    uneven = np.flatnonzero(shortest < longest)
    for number in uneven:
        for values in (some[number].start, some[number].end, some[number].text):
            del values[shortest[number]:]
    values = list(chain.from_iterable(one.text for one in some))
    texts = texts_of(values)
    start, end = (pa.array(chain.from_iterable(times), pa.float64(), size=len(values)).fill_null(np.nan).to_numpy()
                  for times in ([one.start for one in some], [one.end for one in some]))
    video = np.repeat(np.arange(len(some)), shortest)
    count("videos", "read", "", by_video(np.ones(len(some))))
    count("videos", "changed", "lists of different lengths: cut to the shortest", by_video(shortest < longest))
    count("captions", "read", "", by_video(longest))
    count("captions", "dropped", "beyond the shortest list", by_video(longest - shortest))

    text = texts.is_valid().to_numpy(zero_copy_only=False)
    missing = np.array([number for number in np.flatnonzero(~text)
                        if values[number] is None or values[number] != values[number]], dtype=np.int64)
    timed = np.isfinite(start) & np.isfinite(end)
    tidy = spaced(texts)
    empty = pc.equal(pc.binary_length(tidy), 0).fill_null(False).to_numpy(zero_copy_only=False)
    changed = pc.not_equal(tidy, texts).fill_null(False).to_numpy(zero_copy_only=False)
    broken = pc.match_substring(texts, "\n").fill_null(False).to_numpy(zero_copy_only=False)
    count("captions", "dropped", "text is missing (null or NaN)", by_row(missing))
    count("captions", "dropped", "text is not text", by_row(~text) - by_row(missing))
    count("captions", "dropped", NO_TIME, by_row(text & ~timed))
    count("captions", "dropped", EMPTY, by_row(text & timed & empty))
    rows = np.flatnonzero(text & timed & ~empty)
    count("captions", "changed", "white space stripped and joined", by_row(rows[changed[rows]]))
    count("captions", "changed", "of these, text on several lines", by_row(rows[broken[rows]]))
    count("captions", "noted", "start is after end", by_row(rows[start[rows] > end[rows]]))

    backwards = (np.diff(start[rows]) < 0) & (np.diff(video[rows]) == 0)
    count("videos", "changed", UNSORTED, np.bincount(split_of[np.unique(video[rows[1:][backwards]])], minlength=2))
    if backwards.any():
        rows = rows[np.lexsort((start[rows], video[rows]))]
    # What stood between two captions may have kept them apart, so look again until nothing goes.
    tidy = tidy.take(pa.array(rows))
    while (rolling := goes_on(tidy, video[rows])).any():
        count("captions", "dropped", "the next caption repeats it or goes on from it", by_row(rows[rolling]))
        rows, tidy = rows[~rolling], tidy.filter(pa.array(~rolling))
    kept = np.bincount(video[rows], minlength=len(some))
    count("captions", "kept", "", by_row(rows))
    count("captions", "noted", "begins before the one in front ends",
          by_row(rows[1:][(start[rows[1:]] < end[rows[:-1]]) & (video[rows[1:]] == video[rows[:-1]])]))
    count("videos", "dropped", NO_SENTENCE, by_video(kept == 0))
    count("videos", "kept", "", by_video(kept > 0))

    id_array, split_array = pa.array(names, pa.string()), pa.array(SPLITS).take(pa.array(split_of))
    of_row = pa.array(video[rows])
    captions = pa.table({
        "source": pa.repeat(source, len(rows)),
        "split": split_array.take(of_row),
        "video_id": id_array.take(of_row),
        "position": pa.array(np.arange(len(rows)) - np.repeat(np.cumsum(kept) - kept, kept), pa.int32()),
        "text": tidy,
        "start_s": pa.array(start[rows]),
        "end_s": pa.array(end[rows]),
    })
    listed = pa.table({"source": pa.repeat(source, len(names)), "split": split_array, "video_id": id_array,
                       "captions": pa.array(kept, pa.int32())})
    return captions, listed, counts


class Shards:
    """Writes the captions of one split into files of so many videos each; the manifest comes last."""

    def __init__(self, folder: Path, videos_per_shard: int, provenance: dict):
        self.folder, self.most, self.provenance = folder, videos_per_shard, provenance
        self.shards: list[dict] = []
        self.stack: ExitStack | None = None

    def write(self, captions: pa.Table) -> None:
        """Add whole videos, in order."""
        firsts = np.flatnonzero(captions["position"].to_numpy() == 0)
        done = 0
        while done < len(firsts):
            if self.stack is None:
                self.open()
            shard = self.shards[-1]
            taken = min(len(firsts) - done, self.most - shard["videos"])
            last = firsts[done + taken] if done + taken < len(firsts) else len(captions)
            part = captions.slice(firsts[done], last - firsts[done])
            self.writer.write_table(part.cast(self.writer.schema))
            shard["rows"] += len(part)
            shard["videos"] += taken
            done += taken
            if shard["videos"] == self.most:
                self.close()

    def open(self) -> None:
        """Begin the next shard."""
        file = f"part-{len(self.shards):05}.parquet"
        self.shards.append({"file": file, "sha256": None, "rows": 0, "videos": 0})
        with ExitStack() as stack:
            self.writer: pq.ParquetWriter = stack.enter_context(
                table_writer(self.folder / file, CAPTIONS, self.provenance))
            self.stack = stack.pop_all()

    def close(self) -> None:
        """End the shard that is open, if one is."""
        if self.stack is not None:
            self.stack.close()
            self.stack = None
            self.shards[-1]["sha256"] = sha256_of(self.folder / self.shards[-1]["file"])

    def finish(self) -> None:
        """End the last shard and write the manifest."""
        self.close()
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "manifest.json").write_text(json.dumps({"shards": self.shards}, indent=1) + "\n")


@contextmanager
def replacing(output: Path) -> Iterator[Path]:
    """A hidden folder beside `output`; when the block ends well, what is in it takes its place in `output`.

    Otherwise it goes and `output` stays as it was; what a killed run left behind goes at the next start.
    """
    hidden = output.with_name(f".{output.name}.writing")
    shutil.rmtree(hidden, ignore_errors=True)
    hidden.mkdir(parents=True)
    try:
        yield hidden
        output.mkdir(parents=True, exist_ok=True)
        for made in sorted(hidden.iterdir()):
            # A folder cannot be renamed over another: the old one moves aside, whole, and goes with the hidden one.
            if (output / made.name).is_dir():
                (output / made.name).replace(hidden / f"old-{made.name}")
            made.replace(output / made.name)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def categories(file: Path) -> pa.Table:
    """video_id, category_1, category_2 of every video in HowTo100M_v1.csv, as its first row has them."""
    columns = ["video_id", "category_1", "category_2"]
    try:
        table = csv.read_csv(file, convert_options=csv.ConvertOptions(
            include_columns=columns, column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False))
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise UserError(f"{file}: not a CSV file with the columns {', '.join(columns)} ({error}); "
                        "fetch it again") from None
    return table.combine_chunks()


def with_categories(listed: pa.Table, known: pa.Table) -> tuple[pa.Table, list[Count]]:
    """The table of videos with their categories (null where none are known), and counts."""
    place = pc.index_in(listed["video_id"], value_set=known["video_id"].combine_chunks())
    table = listed.append_column("category_1", known["category_1"].take(place))
    table = table.append_column("category_2", known["category_2"].take(place))
    without = dict(zip(*np.unique(listed["split"].filter(place.is_null()).to_numpy(), return_counts=True)))
    others = pc.count_distinct(known["video_id"]).as_py() - (len(listed) - sum(without.values()))
    counts = [(split, "videos", "noted", f"not in {LISTING}", int(without.get(split, 0))) for split in SPLITS]
    return table, [*counts, ("all", "videos", "noted", f"in {LISTING} but without captions", int(others))]


def clean(file: Path, listing: Path | None, source: str, provenance: dict, folder: Path,
          videos_per_shard: int) -> list[Count]:
    """Read `file` as a stream and write everything into `folder`; returns the counts."""
    shards = {split: Shards(folder / split, videos_per_shard, provenance | {"split": split}) for split in SPLITS}
    counts: Counter = Counter()
    listed, repeated = [], 0
    seen = np.array([], np.uint64)  # hashes of the ids so far, sorted: 8 bytes for a video
    with opened(file) as (stream, size, name), \
            tqdm(total=size, unit="B", unit_scale=True, desc=source, disable=None) as bar:
        for names, some, done in batches(videos(stream, name)):
            hashes = keyed_hash(pd.Series(names, dtype=object))
            new, first = np.unique(hashes, return_index=True)
            fresh = np.sort(first[~np.isin(new, seen, assume_unique=True)])
            repeated += len(names) - len(fresh)
            if len(fresh) < len(names):
                names, some = [names[number] for number in fresh], [some[number] for number in fresh]
            seen = np.union1d(seen, new)
            captions, batch_videos, found = clean_batch(names, some, source)
            counts.update(found)
            listed.append(batch_videos)
            for split in SPLITS:
                shards[split].write(captions.filter(pc.equal(captions["split"], split)))
            bar.update(done - bar.n)
            del some, captions  # not to hold this batch while the next one is read
    if not listed:
        raise UserError(f"{file}: no video in it; fetch it again")
    for split, each in shards.items():
        each.finish()
        if not each.shards:
            raise UserError(f"{file}: none of its videos with captions falls to {split} (by hash of the id a tenth is "
                            "val); give a file with more videos")
    rows: list[Count] = [("all", "videos", "dropped", "the video id occurs a second time", repeated)]
    rows += [(SPLITS[split], *what, number) for (split, *what), number in
             sorted(counts.items(), key=lambda counted: counted[0][0])]
    if listing is None:
        known = pa.table({name: pa.array([], pa.string()) for name in ("video_id", "category_1", "category_2")})
        table, _ = with_categories(pa.concat_tables(listed), known)
    else:
        table, more = with_categories(pa.concat_tables(listed), categories(listing))
        rows += more
    write_table(table, folder / "videos.parquet", VIDEOS, provenance)
    write_cleaning(source, rows, folder / "cleaning.csv")
    return rows


def main(given: argparse.Namespace) -> None:
    if given.videos_per_shard < 1:
        raise UserError(f"--videos-per-shard {given.videos_per_shard} is not a number of videos; give 1 or more")
    file, listing = caption_file(given.fetched), given.fetched / LISTING
    with replacing(given.output) as folder:
        counts = clean(file, listing if listing.is_file() else None, given.source, given.provenance, folder,
                       given.videos_per_shard)
    log.info("%s: kept %d of %d captions of %d videos; cleaning.csv says what was changed", given.source,
             total(counts, "captions", "kept"), total(counts, "captions", "read"), total(counts, "videos", "kept"))


def arguments() -> argparse.ArgumentParser:
    made = cleaner_arguments(__doc__)
    made.add_argument("--videos-per-shard", type=int, default=20_000, metavar="N", help="20000 unless told otherwise")
    return made


if __name__ == "__main__":
    run(main, arguments().parse_args())
