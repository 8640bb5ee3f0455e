"""Write a small challenge in the format of TimeDial, quirks of the real file included.

It is made from dialogs that scripts/fetch/samples/dailydialog.py writes with the same --dialogs and --seed, as the real one
is from DailyDialog. Writes test.json: an eighth as many instances with two right options, a fortieth as many with one.

    python -m scripts.fetch.samples.timedial --dialogs 1200 --seed 1 --output /tmp/sample
"""

import argparse
import json
import re
from pathlib import Path
from random import Random

from scripts.common.files import whole
from scripts.common.program import SEED, execute, log, parser, whole_number
from scripts.fetch.samples.dialog_texts import NUMBERS
from scripts.fetch.samples.dialog_times import Time
from scripts.fetch.samples.dialogs import Turn, corpus, text_of

MASK = "<MASK>"


def wrong_options(chance: Random, asked: Time, texts: str) -> list[tuple[str, str]]:
    """Two wrong options of different value, with the rule by which each was made (as TimeDial numbers them).

    Rule 1 takes a time that the dialog has elsewhere, rule 2 one with a number of it, rule 3 what it likes; which of them is
    drawn in the real proportions, and the third takes the place of one that finds nothing.
    """
    heard = {word for word in re.split("[ :]", texts) if word.isdecimal() or word in NUMBERS.values()}
    phrases = [one for one in asked.wrong if f" {one[0]} " in f" {texts} "]
    numerals = [one for one in asked.wrong if heard & set(re.split("[ :]", one[0])) and one not in phrases]
    pools = {"Rule 1": phrases, "Rule 2": numerals, "Rule 3": asked.wrong}
    options: list[tuple[str, str]] = []
    values = []
    for weights in ((27, 42, 31), (5, 45, 50)):
        rule = chance.choices(list(pools), weights)[0]
        pool = [one for one in pools[rule] if one[1] not in values and one[0] not in [text for text, _ in options]]
        if not pool:
            rule, pool = "Rule 3", [one for one in asked.wrong if one[1] not in values]
        text, value = chance.choice(pool)
        options.append((text, rule))
        values.append(value)
    return options


def instance(chance: Random, turns: list[Turn], extra: bool) -> dict | None:
    """A dialog with one of its times masked, as TimeDial writes it; None where no time of it will do.

    A time will do that is said once in the dialog and has another right wording, preferably another right value.
    """
    whole_text = " ".join(map(text_of, turns))
    times = [(number, place, piece) for number, turn in enumerate(turns) for place, piece in enumerate(turn)
             if isinstance(piece, Time)]
    able = [(number, place, time) for number, place, time in times
            if len(re.findall(rf"(?<!\w){re.escape(time.text)}(?!\w)", whole_text)) == 1
            and any(text != time.text for text, _ in time.right) and len({value for _, value in time.wrong}) > 1]
    if not able:
        return None
    number, place, asked = chance.choice(able)
    another = [one for one in asked.right if one[0] != asked.text]
    better = [one for one in another if one[1] != asked.value] or another
    conversation = []
    for at, turn in enumerate(turns):
        text = text_of([MASK if (at, where) == (number, place) else piece for where, piece in enumerate(turn)])
        conversation.append(f"{'AB'[at % 2]}:{' ' if at else ''}{text}")
    first, second = wrong_options(chance, asked, whole_text)
    options = [asked.text, "none" if extra else chance.choice(better)[0], first[0], second[0]]
    # As in the real file: spaces behind options, and an empty turn at the end of most dialogs.
    options = [f"{text}{' ' * chance.randint(1, 2)}" if text != "none" and chance.random() < 0.15 else text
               for text in options]
    if chance.random() < 0.73:
        conversation.append("")
    return {"conversation": conversation, "correct1": options[0], "correct2": options[1], "incorrect1": options[2],
            "incorrect1_rule": first[1], "incorrect2": options[3], "incorrect2_rule": second[1]}


def challenge(by_split: dict[str, list[list[Turn]]], wanted: int, seed: int) -> list[dict]:
    """The instances, each of another dialog, most of them of train: an eighth and a fortieth of `wanted`."""
    chance = Random(seed + 1_000_003)  # draws of its own: the dialogs are the same whether a challenge is made or not
    dialogs = {" ".join(map(text_of, one)): one for split in by_split.values() for one in split}
    order = list(dialogs.values())
    chance.shuffle(order)
    extras, right = wanted // 40, wanted // 8
    found: list[dict] = []
    for one in order:
        if len(found) == extras + right:
            break
        # Every sixth is an extra: two right options are what most have.
        if (masked := instance(chance, one, len(found) % 6 == 4)) is not None:
            found.append(masked)
    return [one | {"id": number} for number, one in enumerate(found, 1)]


def main(given: argparse.Namespace) -> None:
    instances = challenge(corpus(given.dialogs, given.seed), given.dialogs, given.seed)
    with whole(given.output / "test.json") as place:
        place.write_text(json.dumps(instances, indent=1) + "\n", encoding="utf-8", newline="")
    log.info("%s: sample challenge of %d instances, seed %d", given.output / "test.json", len(instances), given.seed)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--dialogs", type=whole_number(48, 20_000), required=True, help="how many in all three splits")
    options.add_argument("--seed", type=SEED, required=True, help="of all draws")
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
