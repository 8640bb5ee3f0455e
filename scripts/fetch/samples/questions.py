"""Write sample questions about time in the format of MC-TACO, quirks of the real files included.

People do something. How long did it take, when and how often do they do it, what comes next, what
stays as it is? An answer is likely when it lies in the usual range of the activity, so a model can
learn it. The texts stand in resources/samples/questions.yaml. The same arguments give the same
bytes on every machine.

Writes dev_3783.tsv and test_9442.tsv, named as the real ones: --questions questions in the first,
half as many in the second.

    python -m scripts.fetch.samples.questions --questions 240 --seed 1 --output /tmp/sample
"""

import argparse
from random import Random

from scripts.running.program import execute, log, whole_number
from scripts.fetch.samples.dialog_times import MINUTES, YEARLY
from scripts.fetch.samples.files import sample_arguments, texts_of, write

CANDIDATES = 7  # of a question, on average
DRAWS = 3 * CANDIDATES

Answers = dict[str, bool]  # by text, whether it is likely


def durations(chance: Random, least: int, most: int) -> Answers:
    answers = {}
    for _ in range(DRAWS):
        unit, minutes = chance.choice(list(MINUTES.items()))
        number = chance.choice([1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 20, 30, 40, 45, 50, 90])
        answers[f"{number} {unit}{'' if number == 1 else 's'}"] = least <= number * minutes <= most
    return answers


def clock_times(chance: Random, least: int, most: int) -> Answers:
    return {
        f"{hour % 12 or 12}:00 {'am' if hour < 12 else 'pm'}": least <= hour <= most
        for hour in chance.sample(range(24), DRAWS)
    }


def frequencies(chance: Random, least: int, most: int) -> Answers:
    """Every number of times a day, week, month, year, decade."""
    answers, periods = {}, [*YEARLY.items(), ("decade", 0.1)]
    for _ in range(DRAWS):
        number, (period, yearly) = chance.choice([1, 2, 3, 4, 5, 10, 20]), chance.choice(periods)
        words = {1: "once", 2: "twice"}.get(number, f"{number} times")
        answers[f"{words} a {period}"] = least <= number * yearly <= most
    return answers


def question(chance: Random) -> tuple[str, str, list[tuple[str, bool]], str]:
    """One question: sentence, question, (answer, likely) for each candidate, category."""
    texts = texts_of("questions")
    activity = chance.choice(texts["activities"])
    who, where = chance.choice(texts["people"]), chance.choice(texts["places"])
    category, asks = chance.choice(list(texts["questions"].items()))
    next_ones = [one["next"] for one in texts["activities"] if one["next"] != activity["next"]]
    answers = {  # all are drawn, although only one kind is wanted
        "Event Duration": durations(chance, *activity["minutes"]),
        "Typical Time": clock_times(chance, *activity["hours"]),
        "Frequency": frequencies(chance, *activity["yearly"]),
        "Event Ordering": {f"they {activity['next']}": True}
        | {f"they {other}": False for other in chance.sample(next_ones, 4)},
        "Stationarity": {
            "yes": True,
            "it is": True,
            "no": False,
            "only for a minute": False,
            f"no, not that {activity['state'][:9]}": False,
        },
    }
    sentence = f"{who[0].upper()}{who[1:]} {activity['past']}{where}."
    return sentence, asks.format(who=who, **activity), list(answers[category].items()), category


def corpus(wanted: int, chance: Random, known: set[str]) -> list[str]:
    """The lines of `wanted` different questions, none of them in `known` (which grows)."""
    lines: list[str] = []
    questions = 0
    while questions < wanted:
        sentence, asks, candidates, category = question(chance)
        if f"{sentence} {asks}" in known:
            continue
        known.add(f"{sentence} {asks}")
        questions += 1
        chosen = chance.sample(candidates, min(len(candidates), chance.randint(1, 2 * CANDIDATES)))
        # Odd characters of the real files: a wide space, a soft hyphen, a lone quotation mark.
        sentence = sentence.replace(" ", "\u2002", 1) if questions % 40 == 3 else sentence
        sentence = f'"{sentence}' if questions % 30 == 7 else sentence
        if questions % 50 == 9:
            chosen[0] = (chosen[0][0].replace("a", "a\u00ad", 1), chosen[0][1])
        lines += [
            "\t".join([sentence, asks, answer, "yes" if likely else "no", category])
            for answer, likely in chosen
        ]
    return lines


def main(given: argparse.Namespace) -> None:
    chance, known = Random(given.seed), set()
    sizes = {"dev_3783.tsv": given.questions, "test_9442.tsv": given.questions // 2}
    for name, wanted in sizes.items():
        lines = corpus(wanted, chance, known)
        write(given.output / name, "\n".join(lines) + "\n")
        log.info(
            "%s: %d sample questions with %d answers, seed %d",
            given.output / name,
            wanted,
            len(lines),
            given.seed,
        )


if __name__ == "__main__":
    execute(main, sample_arguments(__doc__, "questions", whole_number(10, 1_000)).parse_args())
