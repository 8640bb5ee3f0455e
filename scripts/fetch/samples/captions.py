"""Write sample captions in the format of a real corpus, quirks of the real files included.

--format activitynet   train.json, val_1.json, val_2.json, train_ids.json, val_ids.json
    --videos videos in train, a fifth of that in val_1. val_2 has the videos of val_1 (a few fewer)
    in other words. The steps of a procedure have a usual order, which a model can learn. The order
    wavers a little, and some sentences have no place in it: neighbours are harder than others.
--format howto100m     raw_caption.zip, with raw_caption.json inside, and HowTo100M_v1.csv
    Speech as a recogniser would write it. No single word shows the order, only two together do.

The texts stand in resources/samples/captions.yaml. The same arguments give the same bytes on every
machine.

    python -m scripts.fetch.samples.captions --format activitynet --videos 900 --seed 1 \\
        --output /tmp/sample
    python -m scripts.fetch.samples.captions --format howto100m --videos 240000 --seed 1 \\
        --captions-per-video 112 --unzipped --output /tmp/two_gigabytes
"""

import argparse
import csv
import io
import json
from collections.abc import Iterator
from random import Random

from tqdm import tqdm

from scripts.data.files import whole
from scripts.running.program import UserError, execute, log, whole_number
from scripts.fetch.samples.files import (
    identifiers,
    opened_zip,
    sample_arguments,
    texts_of,
    wavered,
    write,
)

WAVER = 0.18  # how far a step strays from its usual place in time, of a whole video's length
LIFT_WAVER = 0.04  # how far a line about a lift strays
FILLED = 0.05  # share of lines that say nothing about the lift
LONGEST_RIDE = 24  # lines
POOL = 2000  # different videos of howto100m; a larger corpus repeats them under other ids

Steps = list[tuple[float, list[str]]]  # the time and two wordings of each


# ---- In the format of ActivityNet Captions


def outline(chance: Random, texts: dict) -> Steps:
    """Some steps of a procedure, in the order in which they happen."""
    # Procedures that stand first are drawn more often.
    procedure = chance.choice(texts["procedures"][: chance.randint(1, len(texts["procedures"]))])
    # A quarter of the videos is short, as many of the real ones are.
    fewest, most = (3, 4) if chance.random() < 0.25 else (5, 12)
    steps = procedure["steps"]
    drawn = [((number + 0.5) / len(steps), step) for number, step in enumerate(steps)]
    drawn = chance.sample(drawn, chance.randint(3, len(steps)))
    for shared in texts["shared"]:
        drawn += [
            (chance.random() if shared["time"] is None else shared["time"], step)
            for step in chance.sample(shared["steps"], chance.randint(0, 2))
        ]
    drawn = chance.sample(drawn, min(len(drawn), chance.randint(fewest, most)))
    return sorted(
        (
            time + wavered(chance, WAVER),
            [wording.format(place=procedure["place"]) for wording in step],
        )
        for time, step in drawn
    )


def sentences(chance: Random, texts: dict, steps: Steps) -> list[str]:
    """The steps as written sentences, with a card or two among them."""
    timed = []
    for time, step in steps:
        words = chance.choice(step)
        if chance.random() < 0.5:
            words = f"{words} {chance.choice(texts['manners'])}"
        text = f"{chance.choice(texts['persons'])} {words}"
        if chance.random() < 0.35:
            links = next(link["words"] for link in texts["links"] if time < link["until"])
            text = f"{chance.choice(links)} {text}"
        timed.append((time, f"{text[0].upper()}{text[1:]}."))
    for card in texts["cards"]:
        if chance.random() < 0.12:
            time = chance.random() if card["time"] is None else card["time"]
            timed.append((time, chance.choice(card["sentences"])))
    return [text for _, text in sorted(timed)]


def captioned(chance: Random, texts: dict, steps: Steps, duration: float) -> dict:
    """One video as ActivityNet has it: duration, timestamps, sentences."""
    lines = sentences(chance, texts, steps)
    borders = [
        duration * (number + 0.3 * chance.random()) / len(lines) for number in range(len(lines) + 1)
    ]
    spans = [
        [round(begin, 2), round(min(end + 3 * chance.random(), duration), 2)]
        for begin, end in zip(borders, borders[1:])
    ]
    spans[0][0] = chance.choice([0, 0, spans[0][0]])
    spaced = [lines[0], *(f" {line}" if chance.random() < 0.7 else line for line in lines[1:])]
    return {"duration": duration, "timestamps": spans, "sentences": spaced}


def disturb(chance: Random, videos: dict[str, dict]) -> None:
    """Put the quirks of the real files into a split, in place: each occurs with every seed."""
    long = [video for video in videos.values() if len(video["sentences"]) >= 5]

    def part(share: float) -> list[dict]:
        return chance.sample(long, min(len(long), 1 + int(share * len(long))))

    for video in part(0.03):
        for values in (video["timestamps"], video["sentences"]):
            values[1], values[2] = values[2], values[1]
    for video in part(0.03):
        video["sentences"][3] = video["sentences"][3].replace(" ", "  ")
    for video in part(0.01):
        video["sentences"][4] = video["sentences"][4].lstrip().replace(" ", "\n", 1)
    for video in part(0.02):
        past = 0.01 + 0.98 * chance.random()
        video["timestamps"][-1][1] = round(video["duration"] + past, 2)
    for video in part(0.05):
        video["timestamps"][1] = [int(second) for second in video["timestamps"][1]]
    for video in part(0):
        video["timestamps"][3].reverse()
    for video in part(0):
        video["timestamps"][0] = [video["timestamps"][0][0]] * 2


def activitynet(videos: int, chance: Random) -> dict[str, dict | list]:
    texts, evaluated = texts_of("captions"), max(2, videos // 5)
    names = [f"v_{name}" for name in identifiers(chance, videos + evaluated + 5)]
    unlisted = [names.pop() for _ in range(5)]
    train, val_1, val_2 = {}, {}, {}
    for number, name in enumerate(names):
        steps = outline(chance, texts)
        duration = round(20 + 180 * chance.random(), 2)
        (train if number < videos else val_1)[name] = captioned(chance, texts, steps, duration)
        if number >= videos and number % 25 != 7:
            steps = sorted(chance.sample(steps, max(min(3, len(steps)), int(0.85 * len(steps)))))
            val_2[name] = captioned(chance, texts, steps, duration)
    for split in (train, val_1, val_2):
        disturb(chance, split)
    # Some sentences of val_1 occur in train unchanged.
    for video in chance.sample(list(val_1.values()), 1 + evaluated // 50):
        video["sentences"][-1] = chance.choice(list(train.values()))["sentences"][-1]
    train_ids, val_ids = [*train, *unlisted[:3]], [*val_1, *unlisted[3:]]
    for ids in (train_ids, val_ids):
        chance.shuffle(ids)
    return {
        "train.json": train,
        "val_1.json": val_1,
        "val_2.json": val_2,
        "train_ids.json": train_ids,
        "val_ids.json": val_ids,
    }


def write_activitynet(given: argparse.Namespace) -> None:
    for name, content in activitynet(given.videos, Random(given.seed)).items():
        write(given.output / name, json.dumps(content))


# ---- In the format of HowTo100M


def ride(chance: Random, lifts: dict, count: int) -> list[str]:
    """`count` lines about both lifts, on their way from one end of the house to the other."""
    ways = [lifts["ways"][number % 2] for number in range(count)]
    chance.shuffle(ways)
    lines = []
    for number, way in enumerate(ways):
        time = (number + 0.5) / count + wavered(chance, LIFT_WAVER)
        if chance.random() < FILLED:
            lines.append(chance.choice(lifts["fillers"]))
            continue
        floors = lifts["floors"] if way == "up" else lifts["floors"][::-1]
        floor = floors[min(max(int(time * len(floors)), 0), len(floors) - 1)]
        between, tail = chance.choice(lifts["between"]), chance.choice(lifts["tails"])
        lines.append(f"{way} {between} {floor} {tail}".strip())
    return lines


def narrated(chance: Random, lifts: dict, count: int) -> dict:
    """One video as HowTo100M has it: start, end, text, with a recogniser's traces."""
    rides = -(-count // LONGEST_RIDE)
    shares = [count * (place + 1) // rides - count * place // rides for place in range(rides)]
    texts: list = [line for share in shares for line in ride(chance, lifts, share)]
    for number in range(1, count):
        draw = chance.random()
        if draw < 0.03:
            texts[number] = texts[number - 1]
        elif draw < 0.07:
            texts[number] = f"{texts[number - 1]} {texts[number]}"
    starts, now = [], 2 * chance.random()
    for _ in texts:
        starts.append(round(now, 2))
        now += 1 + 3 * chance.random()
    ends = [round(start + 2 + 3 * chance.random(), 2) for start in starts]
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


def howto100m(names: list[str], average: int, chance: Random) -> Iterator[bytes]:
    """raw_caption.json, video by video. After POOL videos the bodies repeat, reordered."""
    lifts = texts_of("captions")["lifts"]
    least, most = max(3, average * 2 // 5), max(3, average * 8 // 5)
    lengths = [chance.randint(least, most) for _ in names[:POOL]]
    pool = [json.dumps(narrated(chance, lifts, length)).encode() for length in lengths]
    order = list(range(len(pool)))
    yield b"{"
    for number, name in enumerate(tqdm(names, unit="video", disable=None)):
        if number and number % len(pool) == 0:
            chance.shuffle(order)
        yield (b", " if number else b"") + f'"{name}": '.encode() + pool[order[number % len(pool)]]
    yield b"}"


def listing(names: list[str], chance: Random) -> str:
    """HowTo100M_v1.csv for these videos, without a few, and with a few that have no captions."""
    categories, text = texts_of("captions")["categories"], io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["video_id", "task_id", "rank", "category_1", "category_2"])
    for name in [name for name in names if chance.random() >= 0.01] + identifiers(chance, 3):
        task = chance.randrange(len(categories))
        writer.writerow([name, task, chance.randint(1, 200), *categories[task]])
    return text.getvalue()


def write_howto100m(given: argparse.Namespace) -> None:
    chance = Random(given.seed)
    names = identifiers(chance, given.videos)
    write(given.output / "HowTo100M_v1.csv", listing(names, chance))
    member = "raw_caption.json"
    with whole(given.output / (member if given.unzipped else "raw_caption.zip")) as place:
        with open(place, "wb") if given.unzipped else opened_zip(place, member) as opened:
            opened.writelines(howto100m(names, given.captions_per_video or 25, chance))


FORMATS = {"activitynet": write_activitynet, "howto100m": write_howto100m}


def main(given: argparse.Namespace) -> None:
    if given.format == "activitynet" and (given.captions_per_video or given.unzipped):
        raise UserError(
            "--captions-per-video and --unzipped are options of howto100m; leave them "
            "out, or give --format howto100m"
        )
    FORMATS[given.format](given)
    log.info(
        "%s: sample captions in the format of %s, %d videos, seed %d",
        given.output,
        given.format,
        given.videos,
        given.seed,
    )


def arguments() -> argparse.ArgumentParser:
    options = sample_arguments(__doc__, "videos", whole_number(10, 10_000_000), FORMATS)
    options.add_argument(
        "--captions-per-video",
        type=whole_number(1, 10_000),
        metavar="N",
        help="for howto100m: the mean number; default: 25 (the real file has 112)",
    )
    options.add_argument(
        "--unzipped",
        action="store_true",
        help="for howto100m: write raw_caption.json without a zip",
    )
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
