"""Write small corpora of dialogs in the formats of DailyDialog and TimeDial, quirks of the real files included.

The dialogs are our own: two people talk about how long things take, when they happen, how often, and how old somebody is.
What can be said in each place follows from what is talked about (an egg takes minutes, a degree years), in that turn or in
the one before, so that a model can learn it. The same arguments give the same bytes on every machine, and the same --dialogs
and --seed the same dialogs in both formats: the challenge is made from some that the corpus holds, as the real one is.

--format dailydialog   writes train.zip, validation.zip, test.zip: ten, one and one parts of --dialogs
--format timedial      writes test.json: an eighth as many instances with two right options, a fortieth as many with one

    python -m scripts.fetch.sample_dialogs --format dailydialog --dialogs 1200 --seed 1 --output /tmp/sample
"""

import argparse
import json
import re
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple

from scripts.common.files import whole
from scripts.common.program import UserError, log, parser, run
from scripts.fetch.sample import opened_zip

SPLITS = ("train", "validation", "test")
LONGEST = 112  # words and signs of a dialog, two for each speaker among them: 128 hold it with a candidate
MASK = "<MASK>"

MINUTES = {"second": 1 / 60, "minute": 1, "hour": 60, "day": 1440, "week": 10080, "month": 43200, "year": 525600}
# What is usually counted in each unit, beside one of it.
COUNTS = {"second": (10, 20, 30, 40), "minute": (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 45), "hour": range(2, 13),
          "day": (2, 3, 4, 5, 6, 8, 10, 12), "week": (2, 3, 4, 5, 6, 8, 10), "month": (2, 3, 4, 5, 6, 7, 8, 9, 10),
          "year": (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30)}
NUMBERS = dict(enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())) | {
    15: "fifteen", 20: "twenty", 25: "twenty-five", 30: "thirty", 40: "forty", 45: "forty-five", 50: "fifty", 60: "sixty",
    70: "seventy", 75: "seventy-five", 80: "eighty", 85: "eighty-five", 90: "ninety"}
MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
WORKDAYS, WEEKEND = range(5), (5, 6)

# What people do and how many minutes it takes, least and most.
TASKS = {
    "boil an egg": (3, 10), "feed the cat": (2, 10), "make a cup of coffee": (3, 10), "iron a shirt": (5, 15),
    "take a shower": (5, 15), "walk to the bus stop": (4, 15), "wash the dishes": (10, 30), "change a tyre": (15, 45),
    "watch the new film": (120, 180), "fly to London": (180, 720), "drive to the coast": (120, 360),
    "roast a turkey": (180, 300), "paint the kitchen": (240, 600), "play a round of golf": (180, 300),
    "clean the whole house": (180, 480),
    "get over a bad cold": (5760, 14400), "get a parcel from China": (7200, 17280), "drive across the country": (4320, 11520),
    "get a visa": (7200, 17280), "read that thick novel": (20160, 40320), "travel around Europe": (20160, 60480),
    "train for a long race": (40320, 100800), "build a garage": (86400, 216000), "plan a big wedding": (216000, 432000),
    "learn to drive a car": (86400, 259200), "write a cookbook": (216000, 432000), "get a degree": (3 * 525600, 5 * 525600),
    "become a doctor": (6 * 525600, 10 * 525600), "learn to play the violin well": (4 * 525600, 10 * 525600),
    "pay for the whole house": (15 * 525600, 30 * 525600),
}
# Who is how old, in years, least and most; he, she or it.
PEOPLE = {
    "baby": (0.2, 0.9, "she"), "new puppy": (0.2, 0.6, "it"), "little son at school": (6, 11, "he"),
    "little niece at school": (6, 11, "she"), "daughter at university": (19, 23, "she"), "cousin at college": (18, 23, "he"),
    "boss": (40, 60, "she"), "mother": (45, 65, "she"), "grandmother": (70, 90, "she"), "grandfather": (70, 90, "he"),
}
# What happens at which hours of the day.
HOURS = {
    "have breakfast": (6, 7, 8), "get up": (5, 6, 7), "walk the dog before work": (6, 7), "have lunch": (12, 13),
    "meet for lunch": (12, 13), "have dinner": (18, 19, 20), "watch the evening news": (19, 20, 21), "go to bed": (22, 23),
    "turn off all the lights": (22, 23), "pick the kids up from school": (14, 15, 16), "start work": (8, 9),
}
PLACES = {
    "bank": ((8, 9), (16, 17)), "bakery": ((5, 6), (15, 16, 17)), "museum": ((9, 10), (17, 18)),
    "night club": ((21, 22), (3, 4)),
    "library": ((9, 10), (18, 19)), "post office": ((8, 9), (16, 17)),
}
# What is done how many times a year, least and most.
HABITS = {
    "feed the dog": (365, 1100), "water the flowers": (180, 400), "take that medicine": (365, 1500),
    "check the mail": (300, 800),
    "go to the gym": (52, 210), "change the sheets": (26, 60), "cut the grass": (26, 60), "call the old aunt": (26, 110),
    "pay the rent": (12, 12), "get a haircut": (6, 12), "go to the dentist": (1, 2), "celebrate the birthday": (1, 1),
    "vote for a president": (0.2, 0.25), "buy a new car": (0.1, 0.25), "move to another city": (0.1, 0.25),
}
RUNS = {"city bus": (5256, 60000), "night train": (365, 365), "airport shuttle": (8760, 35040)}
# What is done in which months (from 0), on which days of the week (from 0), and what began in which years.
SEASONS = {
    "go skiing": (0, 1), "pick the apples": (8, 9), "plant the tulips": (2, 3), "swim in the lake": (5, 6, 7),
    "go to the beach": (5, 6, 7), "shovel the snow": (0, 1), "cut the roses": (4, 5), "pick the grapes": (8, 9),
}
DAYS = {
    "go to church": (6,), "have a picnic with the kids": WEEKEND, "sleep late": WEEKEND, "see the office manager": WORKDAYS,
    "write the school test": WORKDAYS, "watch the football game": WEEKEND, "go to the bank": WORKDAYS,
}
BORN = {
    "my grandfather was born": range(1930, 1946), "my grandmother was born": range(1932, 1948),
    "our baby was born": range(2019, 2025), "the new airport opened": range(2008, 2022),
    "the old castle was built": range(1520, 1680, 10), "my twin sisters were born": range(1990, 2004),
}

NAMES = ("Alice Ben Carla David Emma Frank Grace Henry Irene Jack Karen Leo Maria Nick Olivia Peter Rose Sam Tina Victor "
         "Wendy Paul Linda Tom").split()
OPENINGS = [
    ("Hello , {name} ! How are you doing ?", "I'm fine , {other} , thank you . And you ?"),
    ("Good to see you , {name} . You look tired .", "I know , {other} . I've worked too much ."),
    ("Hi , {name} . Do you have a moment ?", "Sure , {other} . What can I do for you ?"),
    ("Excuse me , are you {name} ?", "Yes , I am . You must be {other} ."),
    ("{name} , can I ask you something ?", "Of course you can , {other} . Go ahead ."),
    ("Oh , {name} ! I didn't expect to see you here .", "What a nice surprise , {other} !"),
]
LEADS = ["", "", "By the way , {name} , ", "Tell me , {name} , ", "I see . ", "Really ? ", "That's good to know . ",
         "Well , {name} , ", "One more question , {name} . ", "I'm curious . ", "Oh , that's right . ",
         "Something else , {name} . ", "And "]
FIRST_LEADS = ["", "Tell me , {name} , ", "Listen , {name} . ", "Excuse me , {name} . ", "I'm curious , {name} . ",
               "Hi , {name} . "]
TAILS = ["", "", "", "", "", " I think", " as far as I know", " to be honest", " so {name} told me", " as you can guess",
         " if I'm right", " just as my friend {name} said", " at least at our place", " believe it or not"]
CLOSINGS = [
    "Thanks , {name} . See you tomorrow .", "All right . I have to go , {name} .",
    "Great . Let's talk about it next week , {name} .",
    "Thank you so much for your help , {name} .", "I must hurry . {name} is waiting for me .",
    "OK , {name} . I'll call you tonight .",
]
# Times that nothing else in the dialog tells: {n} is a number from two to twelve.
ASIDES = ["I only have {n} minutes left . ", "I've known you for {n} years . ", "I was away for {n} days . ",
          "I waited here for {n} hours . ", "We last met {n} weeks ago . ", "I moved here {n} months ago . "]
# Two turns each, a question and its answer. What stands in braces is drawn: times in capital letters.
SCENES = {
    "task": [
        ("how long does it take to {do} ?", "It usually takes {TIME} ,{tail} ."),
        ("how long do you need to {do} ?", "I need {TIME} to {do} ,{tail} ."),
        ("are you going to {do} ?", "Yes , and I'll be done in {TIME} ,{tail} ."),
        ("do you want to {do} ?", "I do , but it takes {TIME} ,{tail} ."),
        ("I'm going to {do} .", "You know that you can't {do} faster than in {TIME} ,{tail} ."),
        ("what did {name} do ?", "{name} had to {do} . It took {TIME} ,{tail} ."),
        ("is it hard to {do} ?", "No , {name} managed to {do} in {TIME} ,{tail} ."),
    ],
    "age": [
        ("how old is your {who} ?", "My {who} is {TIME} ,{tail} ."),
        ("is that a picture of your {who} ?", "Yes , {he} is {TIME} ,{tail} ."),
        ("I met your {who} and {name} at the party .", "Did you know that {he} is only {TIME} ?"),
    ],
    "clock": [
        ("when do you {do} ?", "I always {do} at {TIME} ,{tail} ."),
        ("shall we {do} together ?", "Gladly . We can do that at {TIME} ,{tail} ."),
        ("does {name} {do} at {TIME} ?", "Yes , but I {do} at {TIME} ,{tail} ."),
    ],
    "place": [
        ("is the {place} still open ?", "I think so . The {place} opens at {OPEN} and closes at {CLOSE} ,{tail} ."),
        ("when does the {place} open ?", "It opens at {OPEN} ,{tail} , and {name} closes it at {CLOSE} ."),
    ],
    "habit": [
        ("how often do you {do} ?", "I {do} {TIME} ,{tail} ."),
        ("do you really {do} {TIME} ?", "No , but {name} has to {do} {TIME} ,{tail} ."),
        ("who is going to {do} ?", "{name} will do it {TIME} ,{tail} ."),
    ],
    "run": [
        ("how often does the {bus} run ?", "The {bus} leaves {TIME} ,{tail} ."),
        ("did {name} miss the {bus} ?", "Don't worry , there is one {TIME} ,{tail} ."),
    ],
    "season": [
        ("when do you {do} ?", "We {do} {in} {IN} ,{tail} ."),
        ("would you like to {do} with {name} ?", "Yes , let's do that {in} {IN} ,{tail} ."),
    ],
    "day": [
        ("when will you {do} ?", "I want to {do} {on}{DAY} ,{tail} ."),
        ("are you free to {do} with {name} ?", "Yes , we could do that {on}{DAY} ,{tail} ."),
    ],
    "born": [
        ("do you know when {born} ?", "I believe it was in {YEAR} ,{tail} ."),
        ("{name} says that {born} in {YEAR} .", "That must be true ,{tail} ."),
    ],
}


class Time(NamedTuple):
    """A time in a turn: as it is said, and all that could and could not be said in its place, as (text, value)."""

    text: str
    value: object
    right: list[tuple[str, object]]
    wrong: list[tuple[str, object]]


Turn = list[str | Time]


def drawn(chance: Random, right: list, wrong: list) -> Time:
    """One of the right ones."""
    return Time(*chance.choice(right), right, wrong)


def said(number: int) -> list[str]:
    """A number in figures, and in words where it is short."""
    return [str(number), *([NUMBERS[number]] if number in NUMBERS else [])]


def near(value: float, usual: tuple[float, float], factor: float) -> bool | None:
    """Whether a value lies in the usual range (True), far from it (False) or neither (None)."""
    if usual[0] <= value <= usual[1]:
        return True
    return False if value < usual[0] / factor or value > usual[1] * factor else None


def parted(times: list[tuple[str, object, bool | None]]) -> tuple[list, list]:
    """The right and the wrong ones of (text, value, whether it is right, wrong or neither)."""
    return [time[:2] for time in times if time[2]], [time[:2] for time in times if time[2] is False]


def durations(usual: tuple[float, float]) -> tuple[list, list]:
    """`ten minutes`, `10 minutes`; right in the usual minutes, in the unit in which they are counted."""
    counted = max((unit for unit in MINUTES if 2 * MINUTES[unit] <= usual[0] + 1), key=MINUTES.get)
    made = []
    for unit, size in MINUTES.items():
        for number in COUNTS[unit]:
            fits = near(number * size, usual, 5)
            if not (fits and unit != counted):
                made += [(f"{word} {unit}s", number * size, fits) for word in said(number)]
    return parted(made)


def ages(usual: tuple[float, float]) -> tuple[list, list]:
    """`80 years old`, `six months old`."""
    years = [(f"{word} years old", number, near(number, usual, 2.2))
             for number in (2, 3, 4, 5, *range(6, 12), 15, 18, 19, 20, 21, 22, 23, 40, 45, 50, 60, 70, 75, 80, 85, 90)
             for word in said(number)]
    months = [(f"{word} months old", number / 12, near(number / 12, usual, 2.2)) for number in range(2, 12)
              for word in said(number)]
    return parted(years + months)


def clock_times(usual: tuple[int, ...]) -> tuple[list, list]:
    """`7 am`, `7:30 pm`, `seven o'clock`; wrong where four hours or more away, without am or pm three."""

    def apart(hour: float, cycle: int) -> float:
        return min(min((hour - one) % cycle, (one - hour) % cycle) for one in usual)

    made = []
    for hour, half in product(range(24), (0, 30)):
        value, shown = hour + half / 60, hour % 12 or 12
        fits = True if hour in usual else False if apart(value, 24) >= 4 else None
        made.append((f"{shown}{':30' if half else ''} {'am' if hour < 12 else 'pm'}", value, fits))
        if not half and fits:
            made.append((f"{NUMBERS[shown]} o'clock", value, True))
        if not half and hour < 12 and apart(hour, 12) >= 3:
            made.append((f"{NUMBERS[shown]} o'clock", value, False))
    return parted(made)


def frequencies(usual: tuple[float, float]) -> tuple[list, list]:
    """`twice a week`, `every day`, `every ten minutes`; by how many times a year it is."""
    made = []
    for unit in ("day", "week", "month", "year"):
        yearly = {"day": 365, "week": 52, "month": 12, "year": 1}[unit]
        for number, word in enumerate(("once", "twice", "three times", "four times"), 1):
            made.append((f"{word} a {unit}", number * yearly, near(number * yearly, usual, 5)))
        made.append((f"every {unit}", yearly, near(yearly, usual, 5)))
    for unit, numbers in (("minute", (10, 15, 20, 30)), ("hour", (2, 3, 6)), ("week", (2, 3)), ("year", (4, 5, 8, 10))):
        for number in numbers:
            yearly = MINUTES["year"] / MINUTES[unit] / number
            made += [(f"every {word} {unit}s", yearly, near(yearly, usual, 5)) for word in said(number)]
    return parted(made)


def months(chance: Random, usual: tuple[int, ...]) -> tuple[list, list]:
    """`in July` or `on July 12`, all of one form; wrong where three months or more away."""
    day = chance.choice([None, *range(2, 28)])
    made = []
    for month, name in enumerate(MONTHS):
        apart = min(min((month - one) % 12, (one - month) % 12) for one in usual)
        fits = True if apart == 0 else False if apart >= 3 else None
        for shown in ([None] if day is None else [day, day + 1]):
            made.append((name if shown is None else f"{name} {shown}", (month, shown), fits))
    return parted(made)


def weekdays(chance: Random, usual: tuple[int, ...]) -> tuple[list, list]:
    """`next Monday`, all with the same word before it."""
    first = chance.choice(["next ", "this ", ""])
    return parted([(f"{first}{name}", day, day in usual) for day, name in enumerate(WEEKDAYS)])


def years(usual: range) -> tuple[list, list]:
    """`1938`; wrong where twelve years or more away."""
    known = sorted({year for some in BORN.values() for year in some})
    apart = {year: min(abs(year - one) for one in usual) for year in known}
    return parted([(str(year), year, True if apart[year] == 0 else False if apart[year] >= 12 else None) for year in known])


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
    chance, known, made = Random(seed), set(), {}
    sizes = {"train": wanted - 2 * (wanted // 12), "validation": wanted // 12, "test": wanted // 12}
    for split in SPLITS:
        before = [one for some in made.values() for one in some]
        made[split] = []
        while len(made[split]) < sizes[split]:
            if before and len(made[split]) % 12 == 5:
                made[split].append(chance.choice(before))
                continue
            one = dialog(chance)
            if (said_in_all := " ".join(map(text_of, one))) not in known:
                known.add(said_in_all)
                made[split].append(one)
    return made


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


def wrong_options(chance: Random, asked: Time, texts: str) -> list[tuple[str, str]]:
    """Two wrong options of different value, with the rule by which each was made (as TimeDial numbers them).

    Rule 1 takes a time that the dialog has elsewhere, rule 2 one with a number of it, rule 3 what it likes; which of them is
    drawn in the real proportions, and the third takes the place of one that finds nothing.
    """
    heard = {word for word in re.split("[ :]", texts) if word.isdecimal() or word in NUMBERS.values()}
    phrases = [one for one in asked.wrong if f" {one[0]} " in f" {texts} "]
    numerals = [one for one in asked.wrong if heard & set(re.split("[ :]", one[0])) and one not in phrases]
    pools = {"Rule 1": phrases, "Rule 2": numerals, "Rule 3": asked.wrong}
    made: list[tuple[str, str]] = []
    values = []
    for weights in ((27, 42, 31), (5, 45, 50)):
        rule = chance.choices(list(pools), weights)[0]
        pool = [one for one in pools[rule] if one[1] not in values and one[0] not in [text for text, _ in made]]
        if not pool:
            rule, pool = "Rule 3", [one for one in asked.wrong if one[1] not in values]
        text, value = chance.choice(pool)
        made.append((text, rule))
        values.append(value)
    return made


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


def challenge(made: dict[str, list[list[Turn]]], wanted: int, seed: int) -> list[dict]:
    """The instances, each of another dialog, most of them of train: an eighth and a fortieth of `wanted`."""
    chance = Random(seed + 1_000_003)  # draws of its own: the dialogs are the same whether a challenge is made or not
    dialogs = {" ".join(map(text_of, one)): one for some in made.values() for one in some}
    order = list(dialogs.values())
    chance.shuffle(order)
    extras, right = wanted // 40, wanted // 8
    found: list[dict] = []
    for one in order:
        if len(found) == extras + right:
            break
        # Every sixth is an extra: two right options are what most have.
        if (made_of := instance(chance, one, len(found) % 6 == 4)) is not None:
            found.append(made_of)
    return [one | {"id": number} for number, one in enumerate(found, 1)]


def texts() -> list[str]:
    """Every piece of text of which the corpus is made."""
    pieces = [*TASKS, *PEOPLE, *HOURS, *PLACES, *HABITS, *RUNS, *SEASONS, *DAYS, *BORN, *NAMES, *LEADS, *FIRST_LEADS, *TAILS,
              *CLOSINGS, *ASIDES, *(turn for pair in OPENINGS for turn in pair),
              *(turn for some in SCENES.values() for pair in some for turn in pair)]
    units = [word for unit in MINUTES for word in (unit, f"{unit}s")]
    numbers = [str(number) for number in range(91)]
    born = [str(year) for some in BORN.values() for year in some]
    return [*(re.sub(r"\{\w+\}", " ", piece) for piece in pieces), *units, *numbers, *born, *NUMBERS.values(), *MONTHS,
            *WEEKDAYS, "am pm o'clock old once twice three four times every next this in on he she it"]


def main(given: argparse.Namespace) -> None:
    if not 48 <= given.dialogs <= 20_000:
        raise UserError(f"--dialogs {given.dialogs} is not between 48 and 20000; choose another number")
    made = corpus(given.dialogs, given.seed)
    if given.format == "timedial":
        found = challenge(made, given.dialogs, given.seed)
        with whole(given.output / "test.json") as place:
            place.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8", newline="")
        log.info("%s: sample challenge of %d instances, seed %d", given.output / "test.json", len(found), given.seed)
        return
    chance = Random(given.seed + 2_000_003)
    for split, some in made.items():
        text = "".join(f"{line(turns, chance)}\n" for turns in some)
        with whole(given.output / f"{split}.zip") as place:
            with opened_zip(place, f"{split}/dialogues_{split}.txt") as opened:
                opened.write(text.encode("utf-8"))
    sizes = ", ".join(f"{len(some)} of {split}" for split, some in made.items())
    log.info("%s: sample dialogs, %s, seed %d", given.output, sizes, given.seed)


def arguments() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--format", choices=["dailydialog", "timedial"], required=True)
    made.add_argument("--dialogs", type=int, required=True, help="how many in all three splits (48 to 20000)")
    made.add_argument("--seed", type=int, required=True)
    made.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return made


if __name__ == "__main__":
    run(main, arguments().parse_args())
