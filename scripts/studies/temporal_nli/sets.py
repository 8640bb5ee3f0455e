"""Generate the three challenge sets of temporal NLI (Thukral et al. 2021, section 3) from event
templates.

The labels of sets I and III compare the premise's time (or interval) with the hypothesis's
interval:
  entailment      it lies inside
  contradiction   it lies outside
  neutral         otherwise
In set II the label is entailment if the stated duration is true, else contradiction. Both times of
a pair lie in the same cycle (the same day, week, …); with next_cycle the end lies in the next one.
In set I times in a cycle are at most half a cycle apart.

Every draw depends only on a hash of its place in the set and on the seed. A repeated pair is drawn
again.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from scripts.studies.temporal_nli.parts import known_order, late, late_magnitude
from scripts.studies.temporal_nli.times import FORWARD, FRONTED, NAMES, SECONDS, SPELLINGS, UNCYCLED
from scripts.studies.temporal_nli.times import UNIT_PAIRS, choices, counted, duration_text, length
from scripts.studies.temporal_nli.times import preposition, sentence, spelled
from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError

ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
FIXED, INTERVAL = "fixed", "interval"

MAGNITUDES = range(1, 11)  # T1 of set III, in the higher unit
DIFFERENCE_RANGE = 5  # the largest difference of T2 from T1, in the higher unit

# set II: the claimed duration as factor and addend, its words before the duration, its label
HYPOTHESES = {
    "equal_gold": (1, 0, "", ENTAILMENT),
    "equal_gold_plus_1": (1, 1, "", CONTRADICTION),
    "equal_gold_times_10": (10, 0, "", CONTRADICTION),
    "less_than_gold": (1, 0, "less than ", CONTRADICTION),
    "less_than_gold_plus_1": (1, 1, "less than ", ENTAILMENT),
    "less_than_gold_times_10": (10, 0, "less than ", ENTAILMENT),
}
MOST_ROUNDS = 200  # rounds of drawing again before an error says that no further pair exists


def cross(table: pd.DataFrame, **columns: list) -> pd.DataFrame:
    """Return every row of the table with every combination of the values."""
    for name, values in columns.items():
        table = table.merge(pd.DataFrame({name: values}), how="cross")
    return table


def drawn(
    table: pd.DataFrame, key: list[str], what: int, seed: int, below: np.ndarray | int
) -> np.ndarray:
    """Return an integer from 0 to `below` - 1 for each row, by hash of the row's key, its round,
    `what` and the seed.
    """
    text = table[key[0]]
    for name in key[1:]:
        text = text + ":" + table[name].astype(str)
    # Scale the upper 32 bits. Integers are exact, so every machine gives the same draw.
    hashed = keyed_hash(text, table["round"].to_numpy(), what, seed) >> np.uint64(32)
    return (hashed * np.asarray(below).astype(np.uint64) >> np.uint64(32)).astype(np.int64)


def without_repeats(
    cells: pd.DataFrame, fill: Callable[[pd.DataFrame], pd.DataFrame], iterations: int
) -> pd.DataFrame:
    """Return `fill(cells)`. Draw again while a text is repeated or a row is marked as unfit.

    fill takes cells with a column `round`. It returns one row or more for each cell, in order, with
    the columns cell (the cell's row number), fit, text_a, text_b. A cell with one bad row is drawn
    again as a whole.
    """
    if cells.empty:  # no template has such units
        return cells
    cells = cells.reset_index(drop=True).assign(round=0)
    pairs = fill(cells.assign(cell=cells.index))
    for _ in range(MOST_ROUNDS):
        bad = ~pairs["fit"] | pairs.duplicated(["text_a", "text_b"])
        again = np.unique(pairs.loc[bad, "cell"])
        if not len(again):
            return pairs.drop(columns=["fit", "cell", "round"])
        cells.loc[again, "round"] += 1
        anew = fill(cells.loc[again].assign(cell=again))
        pairs = pd.concat([pairs[~pairs["cell"].isin(again)], anew]).sort_values(
            "cell", kind="stable", ignore_index=True
        )
    worst = pairs.loc[bad].iloc[0]
    raise UserError(
        f"{worst['group_id']}: {worst['choice']} has no further pair of sentences that differs "
        f"from the others; lower iterations (now {iterations})"
    )


def inside(
    before: np.ndarray, premise_type: np.ndarray, premise_before: np.ndarray, difference: np.ndarray
) -> np.ndarray:
    """Return the labels of sets I and III, for the hypothesis `before T2` (else `after T2`);
    difference is T1 - T2.

    A fixed T1 gives entailment if it lies strictly before (after) T2, else contradiction.
    Intervals:
      same opening    entailment if T1 is not beyond T2, else neutral
      other opening   contradiction if T1 does not fall short of T2, else neutral
    """
    # how far T1 lies outside the hypothesis's interval
    beyond = np.where(before, difference, -difference)
    fixed = np.where(beyond < 0, ENTAILMENT, CONTRADICTION)
    same_way = np.where(beyond <= 0, ENTAILMENT, NEUTRAL)
    other_way = np.where(beyond >= 0, CONTRADICTION, NEUTRAL)
    return np.where(
        premise_type == FIXED, fixed, np.where(premise_before == before, same_way, other_way)
    )


def sides(templates: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each tense side and unit: group_id, tense, unit, forward, fronted."""
    parts = []
    for tense in ("past", "future"):
        names = {"template": "group_id", f"{tense}_units": "unit", tense: "forward"}
        names |= {f"{tense}_fronted": "fronted"}
        parts.append(templates[[*names]].rename(columns=names).assign(tense=tense))
    return pd.concat(parts).explode("unit").dropna(subset="unit").reset_index(drop=True)


def temp_order(
    templates: pd.DataFrame, iterations: int, seed: int, lists: Sequence[str] = ()
) -> pd.DataFrame:
    """Generate set I: for each side and list, `iterations` draws for each premise (fixed, interval)
    and position. lists: take these in each side, at all distances, instead of the lists of the
    side's units.
    """
    cells = sides(templates)
    if lists:
        cells = cross(cells.drop_duplicates(["group_id", "tense"]), choice=list(lists))
    else:
        cells = cells.merge(choices(cells["unit"], ["date_dmy", "date_my"]), on="unit")
    cells = cross(
        cells,
        premise_type=[FIXED, INTERVAL],
        premise_position=[FORWARD, FRONTED],
        draw=list(range(iterations)),
    )
    key = ["group_id", "tense", "choice", "premise_type", "premise_position", "draw"]

    def fill(pairs: pd.DataFrame) -> pd.DataFrame:
        size = pairs["choice"].map(length).to_numpy()
        first, second = (drawn(pairs, key, what, seed, size) for what in (1, 2))
        before, premise_before, other = (
            drawn(pairs, key, what, seed, 2) == 1 for what in (3, 4, 5)
        )
        fixed = (pairs["premise_type"] == FIXED).to_numpy()
        pairs["premise_preposition"] = np.where(
            fixed, pairs["choice"].map(preposition), np.where(premise_before, "before", "after")
        )
        pairs["hypothesis_preposition"] = np.where(before, "before", "after")
        pairs["hypothesis_position"] = pairs["premise_position"]
        times = [
            spelled(pairs["choice"], where, which)
            for where, which in ((first, other), (second, ~other))
        ]
        for text, part, time in zip(("text_a", "text_b"), ("premise", "hypothesis"), times):
            pairs[text] = sentence(pairs, part, time)
        pairs["label"] = inside(
            before, pairs["premise_type"].to_numpy(), premise_before, first - second
        )
        pairs["difference"] = np.abs(first - second) / size
        pairs["late"] = late(pairs["choice"], first) | late(pairs["choice"], second)
        pairs["known"] = known_order(pairs["choice"], first, second)
        # times farther apart could lie in the next cycle
        near = (pairs["difference"] <= 0.5) | (pairs["unit"] == "year") | bool(lists)
        pairs["fit"] = near & (pairs["text_a"] != pairs["text_b"])
        return pairs

    return without_repeats(cells, fill, iterations)


def duration_cells(templates: pd.DataFrame) -> pd.DataFrame:
    """Return the premises of set II without their times: each duration unit, list, spelling, cycle
    and form.
    """
    lasting = pd.DataFrame(
        {
            "group_id": templates["template"],
            "unit": templates["duration_units"],
            **{name: templates[name] for name in ("span_start", "span_end", "duration")},
        }
    )
    lasting = lasting.explode("unit").dropna(subset="unit")
    cells = lasting.merge(choices(lasting["unit"], ["date"]), on="unit")
    date = cells["choice"].isin([f"date_{spelling}" for spelling in SPELLINGS])
    cells = pd.concat(
        [
            cells[~date].assign(duration_format=""),
            *(cells[date].assign(duration_format=form) for form in ("months", "years_months")),
        ]
    )
    turns = (cells["duration_format"] == "") & ~cells["choice"].isin(UNCYCLED)
    cells = pd.concat([cells.assign(next_cycle=False), cells[turns].assign(next_cycle=True)])
    cells = cross(cells, premise_form=["one_clause", "two_clauses"])
    return cells.assign(counted=cells["unit"].mask(cells["duration_format"] != "", "month"))


def duration_premises(premises: pd.DataFrame, start, end, other) -> pd.Series:
    """Return the texts of premises of set II, from a start to an end. other: (n,) whether the start
    has the other spelling.
    """
    begins = spelled(premises["choice"], start, other)
    until = spelled(premises["choice"], end, ~other)
    at = premises["choice"].map(preposition) + " "
    until_at = at.where(~premises["span_end"].str.endswith("until"), "")
    one_clause = premises["duration"] + " from " + begins + " to " + until + "."
    starts = premises["span_start"] + " " + at + begins
    two_clauses = starts + " " + premises["span_end"] + " " + until_at + until + "."
    return one_clause.where(premises["premise_form"] == "one_clause", two_clauses)


def temp_duration(templates: pd.DataFrame, iterations: int, seed: int) -> pd.DataFrame:
    """Generate set II: for each duration unit and list, `iterations` premises for each cycle and
    form, six hypotheses each.
    """
    cells = cross(duration_cells(templates), draw=list(range(iterations)))
    key = ["group_id", "choice", "duration_format", "next_cycle", "premise_form", "draw"]

    def fill(premises: pd.DataFrame) -> pd.DataFrame:
        size = premises["choice"].map(length).to_numpy()
        one = drawn(premises, key, 1, seed, size)
        two = (one + 1 + drawn(premises, key, 2, seed, size - 1)) % size  # never equals `one`
        other = drawn(premises, key, 3, seed, 2) == 1
        turn = premises["next_cycle"].to_numpy(bool)
        ends = np.sort([one, two], axis=0)
        start, end = np.where(turn, ends[::-1], ends)
        gold = (end - start) % size
        premises["text_a"] = duration_premises(premises, start, end, other)
        premises["difference"], premises["gold"] = gold / size, gold
        start_late, end_late = (late(premises["choice"], place) for place in (start, end))
        premises["late"], premises["known"] = start_late | end_late, start_late + 2 * end_late
        pairs = cross(premises, hypothesis_type=list(HYPOTHESES))
        factor, plus, less, label = (
            pairs["hypothesis_type"].map({name: facts[part] for name, facts in HYPOTHESES.items()})
            for part in range(4)
        )
        claimed = (pairs["gold"] * factor + plus).to_numpy()
        words = duration_text(
            claimed, pairs["counted"], (pairs["duration_format"] == "years_months").to_numpy()
        )
        pairs["text_b"] = pairs["duration"] + " for " + less + words + "."
        return pairs.assign(label=label, fit=True)

    return without_repeats(cells, fill, iterations)


def unit_cells(templates: pd.DataFrame) -> pd.DataFrame:
    """Return the forms of set III without their numbers: each adjacent pair of units, T1, and forms
    of premise and hypothesis. Empty without a template of both units.
    """
    ahead = sides(templates)
    ahead = ahead[ahead["tense"] == "future"].groupby(
        ["group_id", "tense", "forward", "fronted"], sort=False
    )["unit"]
    pairs = pd.DataFrame(
        [
            (*key, name)
            for key, units in ahead
            for name, adjacent in UNIT_PAIRS.items()
            if set(adjacent) <= set(units)
        ],
        columns=["group_id", "tense", "forward", "fronted", "unit_pair"],
    )
    if pairs.empty:
        return pairs
    return cross(
        pairs,
        magnitude=list(MAGNITUDES),
        premise_position=[FORWARD, FRONTED],
        hypothesis_position=[FORWARD, FRONTED],
        premise_preposition=["in", "before", "after"],
        direction=["lower", "higher"],
        hypothesis_preposition=["before", "after"],
    ).assign(round=0)


def cross_unit(templates: pd.DataFrame, iterations: int, seed: int) -> pd.DataFrame:
    """Generate set III: for each adjacent pair of units and each T1, every form of premise and
    hypothesis, with T2 below and above T1.
    """
    crossed = unit_cells(templates)
    if crossed.empty:
        return crossed
    low, high = (
        crossed["unit_pair"].map({name: pair[place] for name, pair in UNIT_PAIRS.items()})
        for place in (0, 1)
    )
    ratio = (high.map(SECONDS) / low.map(SECONDS)).to_numpy()
    magnitude = crossed["magnitude"].to_numpy()
    # T2 is never equal to T1 in the usual ratio ("1 month" and "30 days" are equal to most people).
    same = np.rint(magnitude * ratio).astype(np.int64)
    least = np.maximum(1, np.rint((magnitude - DIFFERENCE_RANGE) * ratio).astype(np.int64))
    most = np.rint((magnitude + DIFFERENCE_RANGE) * ratio).astype(np.int64)
    lower = (crossed["direction"] == "lower").to_numpy()
    key = ["group_id", "unit_pair", "magnitude", "premise_position", "hypothesis_position"]
    key += ["premise_preposition", "direction", "hypothesis_preposition"]
    second = np.where(lower, least, same + 1) + drawn(
        crossed, key, 1, seed, np.where(lower, same - least, most - same)
    )
    crossed["difference"] = second / ratio - magnitude
    crossed["late"] = late_magnitude(magnitude, max(MAGNITUDES))
    crossed["premise_type"] = np.where(crossed["premise_preposition"] == "in", FIXED, INTERVAL)
    crossed["text_a"] = sentence(crossed, "premise", counted(magnitude, high.map(NAMES).to_numpy()))
    crossed["text_b"] = sentence(crossed, "hypothesis", counted(second, low.map(NAMES).to_numpy()))
    crossed["label"] = inside(
        (crossed["hypothesis_preposition"] == "before").to_numpy(),
        crossed["premise_type"].to_numpy(),
        (crossed["premise_preposition"] == "before").to_numpy(),
        -crossed["difference"].to_numpy(),
    )
    return crossed


SETS = {"temp_order": temp_order, "temp_duration": temp_duration, "cross_unit": cross_unit}
