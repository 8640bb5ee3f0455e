"""Write a small corpus of dialogs in the format of DailyDialog, quirks of the real files included.

Writes train.zip, validation.zip, test.zip: ten, one and one parts of --dialogs. The same arguments give the same bytes on
every machine.

    python -m scripts.fetch.samples.dailydialog --dialogs 1200 --seed 1 --output /tmp/sample
"""

import argparse
import re
from pathlib import Path
from random import Random

from scripts.common.files import whole
from scripts.common.program import SEED, execute, log, parser, whole_number
from scripts.fetch.samples.dialogs import Turn, corpus, text_of
from scripts.fetch.samples.files import opened_zip


def line(turns: list[Turn], chance: Random) -> str:
    """A dialog as DailyDialog writes it, with the odd spacing and the odd signs of the real file in some places."""
    texts = [text_of(turn) for turn in turns]
    if chance.random() < 0.3:
        texts = [text.replace("'", " ’ ") for text in texts]
    elif chance.random() < 0.1:
        texts = [text.replace("'", " ' ") for text in texts]
    for number, text in enumerate(texts):
        if chance.random() < 0.06:
            texts[number] = re.sub(r" \. (?=[A-Z])", ".", text, count=1)
        if chance.random() < 0.01:
            texts[number] = re.sub(r" \.$", " 。", texts[number])
    return "".join(f"{text} __eou__ " for text in texts).rstrip(" ")


def main(given: argparse.Namespace) -> None:
    by_split = corpus(given.dialogs, given.seed)
    chance = Random(given.seed + 2_000_003)
    for split, dialogs in by_split.items():
        text = "".join(f"{line(turns, chance)}\n" for turns in dialogs)
        with whole(given.output / f"{split}.zip") as place:
            with opened_zip(place, f"{split}/dialogues_{split}.txt") as opened:
                opened.write(text.encode("utf-8"))
    sizes = ", ".join(f"{len(dialogs)} of {split}" for split, dialogs in by_split.items())
    log.info("%s: sample dialogs, %s, seed %d", given.output, sizes, given.seed)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--dialogs", type=whole_number(48, 20_000), required=True, help="how many in all three splits")
    options.add_argument("--seed", type=SEED, required=True, help="of all draws")
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
