"""The times and durations of temporal NLI (Thukral et al. 2021, table 1), and their spelling in
sentences.
"""

import re
from string import ascii_uppercase

import numpy as np
import pandas as pd

FORWARD, FRONTED = "forward", "fronted"

# Table 1: the lists of times. Days end at 28, because every month has a 28th.
HOURS_12 = [
    f"{hour % 12 or 12} {half}"
    for half, hours in (("AM", range(12)), ("PM", range(12, 24)))
    for hour in hours
]
HOURS_24 = [f"{hour:02}:00" for hour in range(24)]
WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
DAYS = [
    f"{day}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10 if day % 100 not in (11, 12, 13) else 0, 'th') }"  # noqa: E501
    for day in range(1, 29)
]
THE_DAYS = [f"the {day}" for day in DAYS]
MONTHS = (
    "January February March April May June July August September October November December"
).split()
SHORT_MONTHS = [month[:3] for month in MONTHS]
YEARS = [str(year) for year in range(1900, 2001)]

# Lists that are not of time, and number words. A noun tells the letter A from the article. Nobody
# can know the order of the invented words, because it was drawn by lot.
NUMBER_WORDS = [
    f"number {word}"
    for word in "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty".split()
]
LETTERS = [f"the letter {letter}" for letter in ascii_uppercase]
GREEK = [
    f"the letter {letter}"
    for letter in "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi "
    "omicron pi rho sigma tau upsilon phi chi psi omega".split()
]
RANKS = [
    f"the rank of {rank}"
    for rank in "private corporal sergeant lieutenant captain major colonel general".split()
]
PLANETS = [
    f"the planet {planet}"
    for planet in "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune".split()
]
INVENTED = [
    f"the level {word}"
    for word in "gorp nirp vost dax snad sorb zarn obba drell lurn heb mip clat yat usp jex twim "
    "quib wug blick plonk krelt fep tove".split()
]

# The ways to choose two times: the unit (empty: only with the option held_out_list), the number of
# times in the list, two spellings, and the preposition of a fixed time. Each sentence of a pair
# uses one spelling; a coin decides which.
LISTS = {
    "hour_12": ("hours", 24, (HOURS_12, HOURS_12), "at"),
    "hour_24": ("hours", 24, (HOURS_24, HOURS_24), "at"),
    "hour_both": ("hours", 24, (HOURS_12, HOURS_24), "at"),
    "weekday": ("day", 7, (WEEKDAYS, WEEKDAYS), "on"),
    "month_day": ("day", 28, (THE_DAYS, THE_DAYS), "on"),
    "month_full": ("month", 12, (MONTHS, MONTHS), "in"),
    "month_abbreviated": ("month", 12, (SHORT_MONTHS, SHORT_MONTHS), "in"),
    "month_both": ("month", 12, (MONTHS, SHORT_MONTHS), "in"),
    "year": ("year", len(YEARS), (YEARS, YEARS), "in"),
    "number_word": ("", len(NUMBER_WORDS), (NUMBER_WORDS, NUMBER_WORDS), "at"),
    "letter": ("", len(LETTERS), (LETTERS, LETTERS), "at"),
    "greek": ("", len(GREEK), (GREEK, GREEK), "at"),
    "rank": ("", len(RANKS), (RANKS, RANKS), "at"),
    "planet": ("", len(PLANETS), (PLANETS, PLANETS), "at"),
    "invented": ("", len(INVENTED), (INVENTED, INVENTED), "at"),
}
# The lists of the option held_out_list, and the halves that it holds out together. Each half has
# lists of time, numerals and lists that are not of time, and all prepositions: the other half
# teaches them. Lists that share items stay in one half.
HALVES = {
    "half_1": (
        *("weekday", "hour_12", "hour_24", "hour_both", "year"),
        *("letter", "planet", "invented"),
    ),
    "half_2": ("month_full", "month_day", "number_word", "greek", "rank"),
}
EACH_LIST = (*HALVES["half_1"], *HALVES["half_2"])
SPELLINGS = {
    "full": (MONTHS, MONTHS),
    "abbreviated": (SHORT_MONTHS, SHORT_MONTHS),
    "both": (MONTHS, SHORT_MONTHS),
}
UNCYCLED = {"month_day", "year"}  # months differ in length; years do not repeat

# Seconds of a unit, as in the release. The release's unit day_time is hours here.
SECONDS = {"minutes": 60, "hours": 3600, "day": 86_400, "month": 2.628e6, "year": 3.154e7}
NAMES = {"minutes": "minute", "hours": "hour", "day": "day", "month": "month", "year": "year"}
UNIT_PAIRS = {
    "minutes_hours": ("minutes", "hours"),
    "hours_days": ("hours", "day"),
    "days_months": ("day", "month"),
    "months_years": ("month", "year"),
}  # set III: adjacent units


NAMED = "|".join([*WEEKDAYS, *MONTHS, *SHORT_MONTHS])
NOUNS = ["letter", "rank", "planet", "level", "number"]  # before the items of other lists
TIME = re.compile(
    rf"\d[\w:]*(?: (?:[AP]M|{'|'.join(NAMES.values())})s?\b)?|\b(?:{NAMED})\b"
    rf"|\b(?:{'|'.join(NOUNS)}) (?:of )?\w+",
    re.IGNORECASE,
)


def held_out_choices(name: str) -> list[str]:
    """Return the lists that share an item with a list, or with a list of a half."""

    def items(choice: str) -> set[str]:
        return set().union(*LISTS[choice][2])

    wanted = set().union(*map(items, HALVES.get(name, (name,))))
    return [choice for choice in EACH_LIST if items(choice) & wanted]


def times_in(texts: pd.Series) -> pd.Series:
    """Return the times and durations that each text names, in its order: `5 PM`, `March 1950`."""
    return texts.str.findall(TIME).str.join(" ")


def spelled(choice: pd.Series, position: np.ndarray, other: np.ndarray) -> pd.Series:
    """Return the time at a position of each row's list, in the list's first spelling, or its second
    if `other` is true.
    """
    said = pd.Series("", index=choice.index, dtype=object)
    for name, at in choice.groupby(choice).groups.items():
        rows = choice.index.get_indexer(at)
        where, which = position[rows], other[rows]
        if name in LISTS:
            first, second = (np.array(spelling, dtype=object) for spelling in LISTS[name][2])
            said.loc[at] = np.where(which, second[where], first[where])
            continue
        kind, spelling = name.rsplit("_", 1)
        first, second = (np.array(months, dtype=object) for months in SPELLINGS[spelling])
        day, month_of = (where % 28, where // 28) if kind == "date_dmy" else (None, where)
        month = np.where(which, second[month_of % 12], first[month_of % 12])
        date = month + " " + np.array(YEARS, dtype=object)[month_of // 12]
        said.loc[at] = date if day is None else np.array(DAYS, dtype=object)[day] + " " + date
    return said


def length(choice: str) -> int:
    """Return the number of times of a list."""
    if choice in LISTS:
        return LISTS[choice][1]
    months = 12 * len(YEARS)
    return 28 * months if choice.startswith("date_dmy") else months


def preposition(choice: str) -> str:
    """Return the preposition of a fixed time: at 5 PM, on Monday, in May, on 5th May 1950, in May
    1950.
    """
    if choice in LISTS:
        return LISTS[choice][3]
    return "on" if choice.startswith("date_dmy") else "in"


def choices(units: pd.Series, dates: list[str]) -> pd.DataFrame:
    """Return the ways to choose times in each unit, as columns unit and choice."""
    rows = [(unit, choice) for choice, (unit, *_) in LISTS.items()]
    rows += [("year", f"{kind}_{spelling}") for kind in dates for spelling in SPELLINGS]
    return pd.DataFrame(rows, columns=["unit", "choice"]).merge(
        pd.DataFrame({"unit": units.unique()})
    )


def sentence(pairs: pd.DataFrame, part: str, time: pd.Series | np.ndarray) -> pd.Series:
    """Return `They got married in May.` or `In May, they got married.`; part: premise or
    hypothesis.
    """
    when = pairs[f"{part}_preposition"] + " " + time
    capital = when.str[:1].str.upper() + when.str[1:]
    forward, fronted = pairs["forward"] + " " + when + ".", capital + ", " + pairs["fronted"] + "."
    return forward.where(pairs[f"{part}_position"] == FORWARD, fronted)


def counted(number: np.ndarray, unit: np.ndarray | str) -> np.ndarray:
    """Return `1 hour`, `5 hours`."""
    unit = np.where(number == 1, unit, np.char.add(np.asarray(unit, dtype=str), "s"))
    return np.char.add(np.char.add(number.astype(str), " "), unit).astype(object)


def duration_text(number: np.ndarray, unit: pd.Series, in_years: np.ndarray) -> np.ndarray:
    """Return a duration in words. With `in_years`, months become years and months, without a zero
    part.
    """
    years, months = counted(number // 12, "year"), counted(number % 12, "month")
    mixed = np.where(number < 12, months, np.where(number % 12 == 0, years, years + " " + months))
    return np.where(in_years, mixed, counted(number, unit.map(NAMES).to_numpy()))
