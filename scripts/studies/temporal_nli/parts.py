"""The kinds of content that a temporal NLI dataset can hold out, and the sizes of a pair's
difference and durations (Thukral et al. 2021, section 5).

If only the templates of the test split are new, a model can learn the rest by heart. Each list,
spelling, unit and form occurs in the training pairs. So a dataset may hold out one more kind (the
option held_out). Pairs of this kind are not in training. The pairs of the test split are unseen if
they are of this kind, else seen. Both have new templates.

  list      set I, II: weekdays, because their names occur in no other list. With the option
            held_out_list: that list, and all lists that share an item with it
  spelling  set I, II: hours of 24, and abbreviated months, alone or with the other spelling
  unit      set II: durations in days; set III: days with hours, days with months
  range     set I, II: times of the last third of their list (16:00 and later; Friday, Saturday;
            September to December; 1968 to 2000; of a date each of its parts); set III: T1 from 8
            to 10. One such time makes a pair unseen
  form      set I: time first in both sentences; set II: two clauses; set III: time first in either
            sentence
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scripts.studies.temporal_nli.times import DAYS, MONTHS, SECONDS, UNIT_PAIRS, YEARS, length
from scripts.running.program import UserError

TEMPLATE = "template"
KINDS = ["list", "spelling", "unit", "range", "form"]
WITHOUT_MEANING = {
    ("temp_order", "unit"): (
        "the times of temp_order come from lists and are not counted in units; hold out list, "
        "spelling, range or form"
    ),
    ("cross_unit", "list"): (
        "the durations of cross_unit are counted and come from no list; hold out unit, range or "
        "form"
    ),
    ("cross_unit", "spelling"): (
        "the durations of cross_unit are written in one way only; hold out unit, range or form"
    ),
}
WEEKDAY, DAY_LISTS, DAY_PAIRS = ["weekday"], ["weekday", "month_day"], ["hours_days", "days_months"]
OTHER_SPELLING = r"^hour_24$|_both$|_abbreviated$"
SEEN, UNSEEN = "seen", "unseen"

# Bins with their name and upper end. They contain the difference of two times, as a share of the
# list; in set III in the higher unit.
SHARES = {"same": 0, "to_eighth": 1 / 8, "to_quarter": 1 / 4, "to_half": 1 / 2, "over_half": np.inf}
AMOUNTS = {"same": 0, "to_1": 1, "to_2": 2, "to_3": 3, "over_3": np.inf}
SIZES = {"to_3": 3, "to_6": 6, "to_9": 9, "over_9": np.inf}  # of T2, in the higher unit
ROUNDING = 1e-9


def places(choice: pd.Series, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (3, n) the place of the time at a position of each row's list, and the number of
    places. A date has three places: year, month and day. Other times have only their position.
    """
    date, day = (choice.str.startswith(kind).to_numpy(bool) for kind in ("date", "date_dmy"))
    month_of = np.where(day, position // len(DAYS), position)
    of_date = [month_of // 12, month_of % 12, np.where(day, position % len(DAYS), 0)]
    lengths = np.where(
        date, [[len(YEARS)], [len(MONTHS)], [len(DAYS)]], choice.map(length).to_numpy()
    )
    return np.where(date, of_date, [position, 0 * position, 0 * position]), lengths


def late(choice: pd.Series, position: np.ndarray) -> np.ndarray:
    """Return (n,) whether the time at a position of each row's list is in the last third. A date is
    in the last third if one of its parts is.
    """
    place, lengths = places(choice, position)
    return np.any(3 * place >= 2 * lengths, axis=0)


def known_order(choice: pd.Series, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return (n,) the sign of first less second, as far as training shows it if range is held out.
    The sign is 0 if the part that decides is in the last third in both times.
    """
    (of_first, lengths), (of_second, _) = (places(choice, place) for place in (first, second))
    begins = -(-2 * lengths // 3)  # the first place of the last third
    signs = np.sign(np.minimum(of_first, begins) - np.minimum(of_second, begins))
    decides = (of_first != of_second).argmax(0)
    return np.take_along_axis(signs, decides[None], 0)[0]


def late_magnitude(magnitude: np.ndarray, most: int) -> np.ndarray:
    """Return (n,) whether T1, from 1 to `most`, is in the last third."""
    return 3 * (magnitude - 1) >= 2 * most


def withheld(rows: pd.DataFrame, lists: Sequence[str]) -> dict[str, np.ndarray]:
    """Return for each kind which pairs of one set it holds out. A kind without meaning in the set
    is left out. lists: the lists that the kind `list` holds out.

    rows: the columns of the schema nli. Generated sets also have late: whether a time is in the
    last third.
    """
    challenge_set = rows["challenge_set"].iloc[0]
    choice = rows["choice"].astype("string").fillna("")
    fronted = (rows[["premise_position", "hypothesis_position"]] == "fronted").any(axis=1)
    found = {
        "list": choice.isin(lists),
        "spelling": choice.str.contains(OTHER_SPELLING),
        "unit": rows["unit_pair"].isin(DAY_PAIRS)
        if challenge_set == "cross_unit"
        else choice.isin(DAY_LISTS),
        "form": rows["premise_form"] == "two_clauses"
        if challenge_set == "temp_duration"
        else fronted,
    } | ({"range": rows["late"]} if "late" in rows else {})
    return {
        kind: found[kind].to_numpy(bool)
        for kind in KINDS
        if kind in found and (challenge_set, kind) not in WITHOUT_MEANING
    }


def binned(values: pd.Series, ends: dict[str, float]) -> np.ndarray:
    """Return the name of the first bin whose upper end is not below each value; missing for a
    missing value.
    """
    # A missing value sorts after all ends.
    place = np.searchsorted(list(ends.values()), values.to_numpy(float) - ROUNDING)
    return np.array([*ends, None], dtype=object)[place]


def second_size(rows: pd.DataFrame) -> pd.Series:
    """Return T2 of set III in the higher unit, read from the hypothesis; missing in other sets."""
    number = pd.to_numeric(rows["text_b"].str.extract(r"(?i)\b(?:before|after) (\d+) ")[0])
    return number * rows["unit_pair"].map(
        {name: SECONDS[low] / SECONDS[high] for name, (low, high) in UNIT_PAIRS.items()}
    )


def with_parts(rows: pd.DataFrame, lists: Sequence[str] = WEEKDAY) -> pd.DataFrame:
    """Return the pairs of one set with distance, hypothesis_size and withheld (the kinds that hold
    a pair out, separated by spaces). lists: the lists that the kind `list` holds out.
    """
    if rows.empty:
        return rows.assign(distance=None, hypothesis_size=None, withheld="")
    counted = rows["challenge_set"].iloc[0] == "cross_unit"
    words = pd.Series("", rows.index, dtype=object)
    for kind, has in withheld(rows, lists).items():
        words = words.where(~has, words + f" {kind}")
    return rows.assign(
        distance=binned(rows["difference"].abs(), AMOUNTS if counted else SHARES),
        withheld=words.str.strip(),
        hypothesis_size=binned(second_size(rows), SIZES) if counted else None,
    )


def check(challenge_set: str, kind: str, generated: bool) -> None:
    """Raise UserError for a kind that a set lacks, or that a released set does not show."""
    if (challenge_set, kind) in WITHOUT_MEANING:
        raise UserError(
            f"held_out: {kind} has no meaning here: {WITHOUT_MEANING[challenge_set, kind]}"
        )
    if kind == "range" and not generated:
        raise UserError(
            "held_out: range needs the places of the times in their lists, and a released set does "
            "not have these; write source: generated"
        )


def unseen(rows: pd.DataFrame, kind: str) -> pd.Series:
    """Return which pairs of with_parts() a kind holds out. For templates these are all pairs,
    because each split has its own templates.
    """
    return (
        pd.Series(True, rows.index)
        if kind == TEMPLATE
        else rows["withheld"].str.split().map(lambda kinds: kind in kinds).astype(bool)
    )
