"""The sample dialogs, as turns of text and times; DailyDialog and TimeDial are written from the same ones.

The same number and seed give the same dialogs on every machine.
"""

import re
from random import Random

from scripts.fetch.samples.dialog_texts import (
    ASIDES, BORN, CLOSINGS, DAYS, FIRST_LEADS, HABITS, HOURS, LEADS, NAMES, OPENINGS, PEOPLE, PLACES, RUNS, SCENES, SEASONS, TAILS,
    TASKS)
from scripts.fetch.samples.dialog_times import (
    Time, ages, clock_times, drawn, durations, frequencies, months, said, weekdays, years)

SPLITS = ("train", "validation", "test")
LONGEST = 112  # words and signs of a dialog, two for each speaker among them: 128 hold it with a candidate

Turn = list[str | Time]


def filled(template: str, words: dict[str, object]) -> Turn:
    """A turn: the template with its braces filled, times kept apart from the text around them."""
    pieces: Turn = [""]
    for piece in re.split(r"(\{\w+\})", template):
        value = words[piece[1:-1]] if piece.startswith("{") else piece
        if callable(value):
            value = value()
        if isinstance(value, Time):
            pieces += [value, ""]
        else:
            pieces[-1] += value
    return pieces


def scene(chance: Random, kind: str, present: tuple[str, str], leads: list[str], asides: list[str]) -> tuple[Turn, Turn]:
    """A question to the second of those present and its answer; the times in them follow from what they are about.

    May open with the last of the asides, which is then taken from the list.
    """
    words: dict[str, object] = {"name": chance.choice([other for other in NAMES if other not in present])}
    if kind == "task":
        words["do"] = chance.choice(list(TASKS))
        words["TIME"] = drawn(chance, *durations(TASKS[words["do"]]))
    elif kind == "age":
        words["who"] = chance.choice(list(PEOPLE))
        words["TIME"], words["he"] = drawn(chance, *ages(PEOPLE[words["who"]][:2])), PEOPLE[words["who"]][2]
    elif kind == "clock":
        words["do"] = chance.choice(list(HOURS))
        words["TIME"] = lambda: drawn(chance, *clock_times(HOURS[words["do"]]))
    elif kind == "place":
        words["place"] = chance.choice(list(PLACES))
        words["OPEN"], words["CLOSE"] = (drawn(chance, *clock_times(hours)) for hours in PLACES[words["place"]])
    elif kind == "habit":
        words["do"] = chance.choice(list(HABITS))
        words["TIME"] = lambda: drawn(chance, *frequencies(HABITS[words["do"]]))
    elif kind == "run":
        words["bus"] = chance.choice(list(RUNS))
        words["TIME"] = drawn(chance, *frequencies(RUNS[words["bus"]]))
    elif kind == "season":
        words["do"] = chance.choice(list(SEASONS))
        words["IN"] = drawn(chance, *months(chance, SEASONS[words["do"]]))
        words["in"] = "on" if words["IN"].text[-1].isdigit() else "in"
    elif kind == "day":
        words["do"] = chance.choice(list(DAYS))
        words["DAY"] = drawn(chance, *weekdays(chance, DAYS[words["do"]]))
        words["on"] = "" if " " in words["DAY"].text else "on "
    else:
        words["born"] = chance.choice(list(BORN))
        words["YEAR"] = drawn(chance, *years(BORN[words["born"]]))
    asked, answered = chance.choice(SCENES[kind])
    lead, tail, aside = chance.choice(leads), chance.choice(TAILS), ""
    if chance.random() < 0.5:
        aside = asides.pop().replace("{n}", chance.choice(said(chance.randint(2, 12))))
        lead = "" if lead == "And " else re.sub(" , $", " . ", lead)
    if not lead or lead[-2] in ".?":
        asked = asked[0].upper() + asked[1:]
    opening = lead.replace("{name}", present[1]) + aside
    return filled(opening + asked, words), filled(answered.replace(" ,{tail}", f" ,{tail}" if tail else ""), words)


def text_of(turn: Turn) -> str:
    """A turn as it is said."""
    return "".join(piece.text if isinstance(piece, Time) else piece for piece in turn)


def dialog(chance: Random) -> list[Turn]:
    """Four to ten turns: perhaps a greeting, two or three scenes about different things, perhaps a farewell."""
    while True:
        (first, second), asides = chance.sample(NAMES, 2), chance.sample(ASIDES, len(ASIDES))
        turns: list[Turn] = []
        if chance.random() < 0.3:
            words = {"name": second, "other": first}
            turns += [filled(turn, words) for turn in chance.choice(OPENINGS)]
        # Tasks come oftener than the rest: durations are what most of the real challenge asks for.
        kinds = ["task", "task", *SCENES]
        chance.shuffle(kinds)
        for kind in kinds[: chance.choice([3, 3, 4])]:
            present = (first, second) if len(turns) % 2 == 0 else (second, first)
            turns += scene(chance, kind, present, LEADS if turns else FIRST_LEADS, asides)
        if chance.random() < 0.3:
            turns.append(filled(chance.choice(CLOSINGS), {"name": second}))
        if sum(2 + len(re.findall(r"\w+|[^\w\s]", text_of(turn))) for turn in turns) <= LONGEST:
            return turns


def corpus(wanted: int, seed: int) -> dict[str, list[list[Turn]]]:
    """So many different dialogs, by split; in validation and test one in twelve is a copy of one of an earlier split."""
    chance, known, by_split = Random(seed), set(), {}
    sizes = {"train": wanted - 2 * (wanted // 12), "validation": wanted // 12, "test": wanted // 12}
    for split in SPLITS:
        before = [one for dialogs in by_split.values() for one in dialogs]
        by_split[split] = []
        while len(by_split[split]) < sizes[split]:
            if before and len(by_split[split]) % 12 == 5:
                by_split[split].append(chance.choice(before))
                continue
            one = dialog(chance)
            if (said_in_all := " ".join(map(text_of, one))) not in known:
                known.add(said_in_all)
                by_split[split].append(one)
    return by_split
