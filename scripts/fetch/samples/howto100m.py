"""Write a sample corpus of any size in the format of HowTo100M, quirks of the real files included.

Writes raw_caption.zip (raw_caption.json inside; with --unzipped that file itself) and HowTo100M_v1.csv: speech as a
recogniser would write it, about --captions-per-video lines each. The same arguments give the same bytes on every machine.
Its words tell no order, one by one (scripts/fetch/samples/rides.py).

    python -m scripts.fetch.samples.howto100m --videos 700 --seed 1 --output /tmp/sample
    python -m scripts.fetch.samples.howto100m --videos 240000 --captions-per-video 112 --unzipped --seed 1 \\
        --output /tmp/two_gigabytes
"""

import argparse
import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tqdm import tqdm

from scripts.common.files import whole
from scripts.common.program import SEED, execute, log, parser, whole_number
from scripts.fetch.samples.files import identifiers, opened_zip
from scripts.fetch.samples.procedures import PROCEDURES
from scripts.fetch.samples.rides import rides

POOL = 2000  # videos that are told anew; a larger corpus repeats them under other ids


def narrated(chance: Random, count: int) -> dict:
    """One video as HowTo100M has it: start, end, text, with what a speech recogniser leaves behind."""
    lines = rides(chance, count)
    for number in range(1, count):
        draw = chance.random()
        if draw < 0.03:
            lines[number] = lines[number - 1]
        elif draw < 0.07:
            lines[number] = f"{lines[number - 1]} {lines[number]}"
    starts, now = [], 2 * chance.random()
    for _ in lines:
        starts.append(round(now, 2))
        now += 1 + 3 * chance.random()
    ends = [round(start + 2 + 3 * chance.random(), 2) for start in starts]
    texts: list = list(lines)
    for number in range(count):
        draw = chance.random()
        if draw < 0.01:
            texts[number] = texts[number].replace(" ", "\n", 1)
        elif draw < 0.013:
            texts[number] = chance.choice(["", " "])
        elif draw < 0.014:
            texts[number] = float("nan")
        elif draw < 0.015:
            texts[number] = f"{{so}} {texts[number]} \\ }}"
        elif draw < 0.016:
            texts[number] = chance.choice([None, 100, 2.5])
    if chance.random() < 0.02:
        starts[1], starts[2] = starts[2], starts[1]
    if chance.random() < 0.01:
        texts.pop()
    elif chance.random() < 0.01:
        ends.pop()
    return {"start": starts, "end": ends, "text": texts}


def lengths(chance: Random, average: int, count: int) -> list[int]:
    """So many numbers of captions, evenly between 0.4 and 1.6 of the average."""
    return [chance.randint(max(3, average * 2 // 5), max(3, average * 8 // 5)) for _ in range(count)]


def howto100m(names: list[str], captions_per_video: int, chance: Random) -> Iterator[bytes]:
    """raw_caption.json, video by video. Past POOL videos the same bodies come again, in another order."""
    pool = [json.dumps(narrated(chance, length)).encode()
            for length in lengths(chance, captions_per_video, min(len(names), POOL))]
    order = list(range(len(pool)))
    yield b"{"
    for number, name in enumerate(tqdm(names, unit="video", disable=None)):
        if number and number % len(pool) == 0:
            chance.shuffle(order)
        yield (b", " if number else b"") + f'"{name}": '.encode() + pool[order[number % len(pool)]]
    yield b"}"


def listing(names: list[str], chance: Random) -> str:
    """HowTo100M_v1.csv for these videos, less a few and with a few that have no captions."""
    kinds = sorted({(first, second) for first, second, *_ in PROCEDURES.values()})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["video_id", "task_id", "rank", "category_1", "category_2"])
    rows = [name for name in names if chance.random() >= 0.01] + identifiers(chance, 3)
    for name in rows:
        task = chance.randrange(len(kinds))
        writer.writerow([name, task, chance.randint(1, 200), *kinds[task]])
    return text.getvalue()


def main(given: argparse.Namespace) -> None:
    chance = Random(given.seed)
    names = identifiers(chance, given.videos)
    with whole(given.output / "HowTo100M_v1.csv") as place:
        place.write_text(listing(names, chance), encoding="utf-8", newline="")
    written = 0
    with whole(given.output / f"raw_caption.{'json' if given.unzipped else 'zip'}") as place:
        with open(place, "wb") if given.unzipped else opened_zip(place, "raw_caption.json") as opened:
            for piece in howto100m(names, given.captions_per_video, chance):
                written += opened.write(piece)
    log.info("%s: sample corpus in the format of HowTo100M, %d videos, seed %d, %.1f MB",
             given.output, given.videos, given.seed, written / 1e6)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--videos", type=whole_number(10, 10_000_000), required=True, help="how many")
    options.add_argument("--seed", type=SEED, required=True, help="of all draws")
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    options.add_argument("--captions-per-video", type=whole_number(1, 10_000), default=25,
                         help="on average; 25 unless told, the real file has 112")
    options.add_argument("--unzipped", action="store_true", help="write raw_caption.json itself")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
