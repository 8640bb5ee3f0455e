"""Write a small corpus of questions about time in the format of MC-TACO, quirks of the real files included.

The questions are our own: what people do, how long it takes, when and how often they do it, what comes next and what stays
as it is. An answer is likely when it lies in the usual range of the activity, so that a model can learn it. The same
arguments give the same bytes on every machine.

Writes dev_3783.tsv and test_9442.tsv (named as the real ones; --questions of them in the first, half as many in the other)

    python -m scripts.fetch.samples.mctaco --questions 240 --seed 1 --output /tmp/sample
"""

import argparse
from pathlib import Path
from random import Random

from scripts.common.files import whole
from scripts.common.program import SEED, execute, log, parser, whole_number

# What people do: past form, base form, usual minutes (least, most), usual hours of the day, usual times a year, what they
# do next, and what of it stays (a state that holds on, and one that does not).
ACTIVITIES = [
    ("brushed the cat", "brush the cat", (3, 20), (7, 22), (50, 365), "put the brush away", "the cat still has fur"),
    ("baked a loaf of bread", "bake a loaf of bread", (60, 240), (6, 18), (10, 110), "let the loaf cool", "the bread is still bread"),
    ("painted the fence", "paint the fence", (120, 900), (8, 18), (1, 2), "washed the brushes", "the fence is still there"),
    ("read a novel", "read a novel", (240, 1800), (9, 23), (3, 60), "put the book back", "the novel still has an end"),
    ("watched a film", "watch a film", (75, 200), (14, 23), (10, 150), "switched the screen off", "the film still exists"),
    ("ate breakfast", "eat breakfast", (5, 45), (5, 10), (250, 366), "rinsed the bowl", "breakfast still comes first"),
    ("mowed the lawn", "mow the lawn", (20, 150), (9, 19), (8, 40), "emptied the mower", "the lawn still grows"),
    ("wrote a letter", "write a letter", (10, 120), (8, 22), (2, 60), "sealed the envelope", "the letter still has a sender"),
    ("swam in the lake", "swim in the lake", (10, 90), (9, 19), (5, 80), "dried off with a towel", "the lake still holds water"),
    ("repaired the roof", "repair the roof", (180, 2400), (8, 17), (1, 2), "carried the ladder down", "the house still stands"),
    ("slept in a tent", "sleep in a tent", (240, 660), (20, 23), (1, 25), "folded the tent", "the tent still has poles"),
    ("cooked a pot of soup", "cook a pot of soup", (25, 180), (10, 20), (10, 120), "filled the bowls", "the pot is still round"),
    ("fed the horses", "feed the horses", (10, 60), (5, 19), (300, 800), "closed the stable", "the horses still eat hay"),
    ("tuned the piano", "tune the piano", (45, 240), (9, 18), (1, 4), "played a song", "the piano still has keys"),
    ("walked the dog", "walk the dog", (10, 90), (6, 22), (200, 1100), "hung up the leash", "the dog still has a tail"),
    ("visited the dentist", "visit the dentist", (15, 90), (8, 17), (1, 4), "drove home again", "the dentist still has a chair"),
    ("picked the apples", "pick the apples", (60, 600), (8, 18), (1, 10), "carried the baskets in", "the tree still has roots"),
    ("ironed the shirts", "iron the shirts", (10, 90), (8, 22), (20, 110), "hung the shirts up", "the shirts still have sleeves"),
]
PEOPLE = ["Nora", "Ben", "Aunt Lucy", "the baker", "our neighbor", "Victor", "the twins", "Grandpa", "Yusuf", "Helena", "the teacher",
          "my cousin"]
PLACES = ["", " at home", " in the village", " with a friend", " in the rain", " on holiday", " before the guests came"]
UNITS = [("second", 1 / 60), ("minute", 1), ("hour", 60), ("day", 1440), ("week", 10080), ("month", 43200), ("year", 525600)]
PERIODS = [("day", 365), ("week", 52), ("month", 12), ("year", 1), ("decade", 0.1)]
CANDIDATES = 7  # of a question, on average


def said(number: int, unit: str) -> str:
    """`1 hour`, `5 hours`."""
    return f"{number} {unit}{'' if number == 1 else 's'}"


def durations(chance: Random, usual: tuple[int, int]) -> list[tuple[str, bool]]:
    """Quantities of every size, and whether each lies in the usual range."""
    answers = {}
    for _ in range(3 * CANDIDATES):
        unit, minutes = UNITS[min(len(UNITS) - 1, chance.randrange(len(UNITS)))]
        number = chance.choice([1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 20, 30, 40, 45, 50, 90])
        answers[said(number, unit)] = usual[0] <= number * minutes <= usual[1]
    return list(answers.items())


def clock_times(chance: Random, usual: tuple[int, int]) -> list[tuple[str, bool]]:
    """Hours of the day."""
    answers = {}
    for hour in chance.sample(range(24), 3 * CANDIDATES):
        answers[f"{hour % 12 or 12}:00 {'am' if hour < 12 else 'pm'}"] = usual[0] <= hour <= usual[1]
    return list(answers.items())


def frequencies(chance: Random, usual: tuple[int, int]) -> list[tuple[str, bool]]:
    """So many times a day, week, month, year, decade."""
    answers = {}
    for _ in range(3 * CANDIDATES):
        number, (period, times) = chance.choice([1, 2, 3, 4, 5, 10, 20]), chance.choice(PERIODS)
        words = {1: "once", 2: "twice"}.get(number, f"{number} times")
        answers[f"{words} a {period}"] = usual[0] <= number * times <= usual[1]
    return list(answers.items())


def events(chance: Random, following: str) -> list[tuple[str, bool]]:
    """What they did next: the usual thing, and others."""
    others = [activity[5] for activity in ACTIVITIES if activity[5] != following]
    return [(f"they {following}", True), *((f"they {other}", False) for other in chance.sample(others, 4))]


def states(chance: Random, state: str) -> list[tuple[str, bool]]:
    """Whether something that stays still holds."""
    return [("yes", True), ("it is", True), ("no", False), ("only for a minute", False), (f"no, not that {state[:9]}", False)]


def question(chance: Random) -> tuple[str, str, list[tuple[str, bool]], str]:
    """One question: sentence, question, (answer, likely) for each candidate, category."""
    past, base, minutes, hours, year, following, state = chance.choice(ACTIVITIES)
    who, where = chance.choice(PEOPLE), chance.choice(PLACES)
    sentence = f"{who[0].upper()}{who[1:]} {past}{where}."
    kind = chance.randrange(5)
    return [
        (sentence, f"How long did it take to {base}?", durations(chance, minutes), "Event Duration"),
        (sentence, f"When did {who} {base}?", clock_times(chance, hours), "Typical Time"),
        (sentence, f"How often does {who} {base}?", frequencies(chance, year), "Frequency"),
        (sentence, f"What happened after {who} {past}?", events(chance, following), "Event Ordering"),
        (sentence, f"Is it so that {state}?", states(chance, state), "Stationarity"),
    ][kind]


def texts() -> list[str]:
    """Every piece of text of which the corpus is made."""
    pieces = [part for activity in ACTIVITIES for part in activity if isinstance(part, str)]
    units = [word for unit, _ in UNITS for word in (unit, f"{unit}s")]
    return [*pieces, *PEOPLE, *PLACES, *units, *(period for period, _ in PERIODS), "once twice times a am pm they yes it is no",
            "only for minute not that how long did take to when often does what happened after is so"]


def corpus(wanted: int, chance: Random, known: set[str]) -> list[str]:
    """The lines of so many different questions, none of them in `known` (which grows)."""
    lines: list[str] = []
    questions = 0
    while questions < wanted:
        sentence, asked, candidates, category = question(chance)
        if f"{sentence} {asked}" in known:
            continue
        known.add(f"{sentence} {asked}")
        questions += 1
        chosen = chance.sample(candidates, min(len(candidates), chance.randint(1, 2 * CANDIDATES)))
        # The odd signs of the real files: a wide space, a soft hyphen, a lone quotation mark.
        sentence = sentence.replace(" ", "\u2002", 1) if questions % 40 == 3 else sentence
        sentence = f'"{sentence}' if questions % 30 == 7 else sentence
        chosen[0] = (chosen[0][0].replace("a", "a\u00ad", 1) if questions % 50 == 9 else chosen[0][0], chosen[0][1])
        lines += ["\t".join([sentence, asked, answer, "yes" if likely else "no", category]) for answer, likely in chosen]
    return lines


def main(given: argparse.Namespace) -> None:
    chance, known = Random(given.seed), set()
    for name, wanted in (("dev_3783.tsv", given.questions), ("test_9442.tsv", given.questions // 2)):
        lines = corpus(wanted, chance, known)
        with whole(given.output / name) as place:
            place.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        log.info("%s: sample questions, %d of them with %d answers, seed %d", given.output / name, wanted, len(lines), given.seed)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--questions", type=whole_number(10, 1_000), required=True, help="how many in the first file")
    options.add_argument("--seed", type=SEED, required=True, help="of all draws")
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
