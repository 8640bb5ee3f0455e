"""Units of time, from seconds to millennia, and the most proper unit
of a quantity (Zhou et al. 2019, section 4).

A month has 30 days, a year 365 days. Between months and years, 12 months are a year.
"""

import numpy as np

DAY = 86400
SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": DAY,
    "week": 7 * DAY,
    "month": 30 * DAY,
    "year": 365 * DAY,
    "decade": 3650 * DAY,
    "century": 36500 * DAY,
    "millennium": 365000 * DAY,
}  # ascending
UNITS = list(SECONDS)
SIZE = np.array(list(SECONDS.values()), float)
# months in each unit; NaN for units that are not counted in months
MONTHS = np.array([np.nan] * 5 + [1, 12, 120, 1200, 12000])
LARGEST = UNITS.index("century")  # the largest unit in rewritten texts
PLURALS = {unit: f"{unit}s" for unit in UNITS} | {"century": "centuries", "millennium": "millennia"}
NAMES = {
    "second": "seconds?|secs?",
    "minute": "minutes?|mins?",
    "hour": "hours?|hrs?",
    "day": "days?",
    "week": "weeks?|wks?",
    "month": "months?|mths?",
    "year": "years?|yrs?",
    "decade": "decades?",
    "century": "century|centur(?:ie|y)s",
    "millennium": "millenn?iums?|millenn?ia",
}


def converted(value: np.ndarray, unit: np.ndarray, into: np.ndarray) -> np.ndarray:
    """Convert values from units into other units (places in UNITS): a year has 12 months or 365
    days, a month has 30 days.
    """
    by_months = MONTHS[unit] / MONTHS[into]
    return value * np.where(np.isnan(by_months), SIZE[unit] / SIZE[into], by_months)


def proper(value: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return the place in UNITS of the most proper unit of each value.

    Rounding may lift a value to half of a larger unit (29.999 minutes are written as 30). The value
    is then written in that unit, and so on. So normalising a result again does not change it.
    """
    written, chosen = value, unit
    for _ in UNITS:
        largest = np.zeros_like(unit)
        for larger in range(1, LARGEST + 1):
            enough = converted(written, chosen, np.full_like(unit, larger)) >= 0.5 * (1 - 1e-9)
            largest = np.where(enough, larger, largest)
        rounded = np.round(converted(value, unit, largest), 2)
        settled, written, chosen = (largest == chosen) & (rounded == written), rounded, largest
        if settled.all():
            break
    return chosen


def in_unit(value: np.ndarray, unit: np.ndarray, into: np.ndarray) -> np.ndarray:
    """Convert values into their most proper unit: at least 0.5, except in seconds."""
    amount = converted(value, unit, into)
    return np.where((into > 0) & (value > 0), np.maximum(amount, 0.5), amount)
