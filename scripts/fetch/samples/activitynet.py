"""Write a small sample corpus in the format of ActivityNet Captions, quirks of the real files included.

Writes train.json, val_1.json, val_2.json, train_ids.json, val_ids.json: --videos videos in train, a fifth of that in
val_1, and the same again (a few fewer) in other words in val_2. The same arguments give the same bytes on every machine.

    python -m scripts.fetch.samples.activitynet --videos 900 --seed 1 --output /tmp/sample
"""

import argparse
import json
from pathlib import Path
from random import Random

from scripts.common.files import whole
from scripts.common.program import SEED, execute, log, parser, whole_number
from scripts.fetch.samples.files import identifiers
from scripts.fetch.samples.procedures import CARDS, MANNERS, PERSONS, any_procedure, linked, outline, third_person


def sentences(chance: Random, steps: list[tuple[float, list[str]]]) -> list[str]:
    """The steps as written sentences, with a card or two among them."""
    told = []
    for time, step in steps:
        words = third_person(chance.choice(step))
        if chance.random() < 0.5:
            words = f"{words} {chance.choice(MANNERS)}"
        text = f"{chance.choice(PERSONS)} {words}"
        if chance.random() < 0.35:
            text = f"{linked(chance, time)} {text}"
        told.append((time, f"{text[0].upper()}{text[1:]}."))
    for usual, cards in CARDS.items():
        if chance.random() < 0.12:
            time = chance.random() if usual is None else usual
            told.append((time, chance.choice(cards)))
    return [text for _, text in sorted(told)]


def captioned(chance: Random, steps: list[tuple[float, list[str]]], duration: float) -> dict:
    """One video as ActivityNet has it: duration, timestamps, sentences."""
    texts = sentences(chance, steps)
    borders = [duration * (number + 0.3 * chance.random()) / len(texts) for number in range(len(texts) + 1)]
    spans = [[round(begin, 2), round(min(end + 3 * chance.random(), duration), 2)]
             for begin, end in zip(borders, borders[1:])]
    spans[0][0] = chance.choice([0, 0, spans[0][0]])
    texts = [texts[0], *(f" {text}" if chance.random() < 0.7 else text for text in texts[1:])]
    return {"duration": duration, "timestamps": spans, "sentences": texts}


def disturb(chance: Random, videos: dict[str, dict]) -> None:
    """Put the quirks of the real files into a split, in place: each occurs, whatever the seed."""
    long = [video for video in videos.values() if len(video["sentences"]) >= 5]

    def part(share: float) -> list[dict]:
        return chance.sample(long, min(len(long), 1 + int(share * len(long))))

    for video in part(0.03):
        pieces = list(zip(video["timestamps"], video["sentences"]))
        pieces[1], pieces[2] = pieces[2], pieces[1]
        video["timestamps"], video["sentences"] = map(list, zip(*pieces))
    for video in part(0.03):
        video["sentences"][3] = video["sentences"][3].replace(" ", "  ")
    for video in part(0.01):
        video["sentences"][4] = video["sentences"][4].lstrip().replace(" ", "\n", 1)
    for video in part(0.02):
        video["timestamps"][-1][1] = round(video["duration"] + 0.01 + 0.98 * chance.random(), 2)
    for video in part(0.05):
        video["timestamps"][1] = [int(second) for second in video["timestamps"][1]]
    for video in part(0)[:1]:
        begin, end = video["timestamps"][3]
        video["timestamps"][3] = [end, begin]
    for video in part(0)[:1]:
        video["timestamps"][0] = [video["timestamps"][0][0]] * 2


def activitynet(videos: int, seed: int) -> dict[str, dict | list]:
    """The five files of captions.zip, by name."""
    chance = Random(seed)
    evaluated = max(2, videos // 5)
    names = [f"v_{name}" for name in identifiers(chance, videos + evaluated + 5)]
    unlisted = [names.pop() for _ in range(5)]
    corpus: dict[str, dict] = {"train.json": {}, "val_1.json": {}, "val_2.json": {}}
    for number, name in enumerate(names):
        procedure = any_procedure(chance)
        # A quarter of the videos is short, as many of the real ones are.
        steps = outline(chance, procedure, *((3, 4) if chance.random() < 0.25 else (5, 12)))
        duration = round(20 + 180 * chance.random(), 2)
        if number < videos:
            corpus["train.json"][name] = captioned(chance, steps, duration)
            continue
        corpus["val_1.json"][name] = captioned(chance, steps, duration)
        if number % 25 != 7:
            steps = sorted(chance.sample(steps, max(min(3, len(steps)), int(0.85 * len(steps)))))
            corpus["val_2.json"][name] = captioned(chance, steps, duration)
    for split in corpus.values():
        disturb(chance, split)
    # Some sentences of val_1 occur in train as they are.
    shared = chance.sample(list(corpus["val_1.json"].values()), 1 + evaluated // 50)
    train = list(corpus["train.json"].values())
    for video in shared:
        video["sentences"][-1] = train[chance.randrange(len(train))]["sentences"][-1]
    listed = {"train_ids.json": [*corpus["train.json"], *unlisted[:3]],
              "val_ids.json": [*corpus["val_1.json"], *unlisted[3:]]}
    for ids in listed.values():
        chance.shuffle(ids)
    return corpus | listed


def main(given: argparse.Namespace) -> None:
    written = 0
    for name, content in activitynet(given.videos, given.seed).items():
        with whole(given.output / name) as place:
            written += place.write_bytes(json.dumps(content).encode())
    log.info("%s: sample corpus in the format of ActivityNet Captions, %d videos, seed %d, %.1f MB",
             given.output, given.videos, given.seed, written / 1e6)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--videos", type=whole_number(10, 10_000_000), required=True, help="how many in train")
    options.add_argument("--seed", type=SEED, required=True, help="of all draws")
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
