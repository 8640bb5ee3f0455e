"""How a number with its interval is told, and whether one lies clearly above another: by paired draws wherever there are any.

A row is one of metrics.parquet. Rows over whole splits (slice all) carry draws over their groups, which pair by id: a difference is
clear where its interval excludes zero. Parts of a split carry none: of two of them is told whether their intervals overlap.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scripts.common.intervals import Estimate, difference, slope

# What a comparison needs of a row.
COMPARED = ["value", "sd", "seeds", "ci_low", "ci_high", "effective_groups", "draws"]


def share(row: Mapping, unit: str = "%") -> str:
    """`55.1 % (52.4 to 57.9)`; as shares where the unit is not per cent; without interval where there is one group."""
    factor, decimals, sign = (100, 1, " %") if unit == "%" else (1, 2, "")
    value = f"{row['value'] * factor:.{decimals}f}{sign}"
    if pd.isna(row["ci_low"]):
        return f"{value} (one group: no interval)"
    return f"{value} ({row['ci_low'] * factor:.{decimals}f} to {row['ci_high'] * factor:.{decimals}f})"


def has_draws(row: Mapping) -> bool:
    """Whether a row can be compared by its draws."""
    return isinstance(row.get("draws"), (list, np.ndarray))


def points(found: Estimate) -> str:
    """`+2.1 points (0.9 to 3.3)`: a difference of shares."""
    value = f"{found.value * 100:+.1f} points"
    return value if found.ci_low is None else f"{value} ({found.ci_low * 100:.1f} to {found.ci_high * 100:.1f})"


def beside(row: Mapping, other: Mapping) -> tuple[int, str]:
    """1 where a row lies clearly above another, -1 where clearly below, else 0; and how far, in words."""
    if has_draws(row) and has_draws(other):
        found = difference(row, other)
        word = "no clear difference" if not found.clear else "clearly above" if found.value > 0 else "clearly below"
        return int(np.sign(found.value)) if found.clear else 0, f"{points(found)}, {word}"
    apart = int(row["ci_low"] > other["ci_high"]) - int(row["ci_high"] < other["ci_low"])
    known = pd.notna(row["ci_low"]) and pd.notna(other["ci_low"])
    word = ["the intervals overlap", "above, the intervals do not overlap", "below, the intervals do not overlap"][apart]
    return apart, f"{(row['value'] - other['value']) * 100:+.1f} points, {word if known else 'without an interval'}"


def trend(rows: pd.DataFrame, over: str) -> str:
    """How a metric changes over all values of `over`, in words: the slope of the line of least squares, with its interval."""
    rows = rows.sort_values(over)
    records = rows.to_dict("records")
    low, high = records[0], records[-1]
    if low[over] == high[over]:
        return f"{share(low)} at {over} {low[over]:g}; one {over} shows no change"
    ends = f"{share(low)} at {over} {low[over]:g}, {share(high)} at {over} {high[over]:g}"
    if not all(map(has_draws, records)):
        _, told = beside(high, low)
        return f"{ends}: {told}"
    found = slope(records, rows[over].to_numpy(float))
    if not found.clear:
        return f"{ends}: no clear change, {points(found).replace(' points', f' points a {over}', 1)}"
    rise = Estimate(abs(found.value), *(sorted(abs(end) for end in found[1:])))
    told = points(rise).removeprefix("+").replace(" points", f" points a {over}", 1)
    return f"{ends}: {'increases' if found.value > 0 else 'decreases'} by {told}"
