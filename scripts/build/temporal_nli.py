"""Build a temporal NLI challenge set (Thukral et al. 2021, section 3): generated from event templates, or as released.

temp_order     "They got married in March." / "They got married before July.": two times, before or after
temp_duration  "The meeting lasted from 12 PM to 5 PM." / "The meeting lasted for 5 hours.": is the duration right?
cross_unit     "The store will close in 2 hours." / "The store will close before 40 minutes.": durations in adjacent units

Labels of sets I and III: entailment when the premise's time (or interval) lies inside the hypothesis's interval,
contradiction when it lies outside, neutral otherwise; of set II: entailment when the stated duration holds. Times of
one pair lie in the same cycle (the same day, week, …), at most half of it apart, unless next_cycle says otherwise.

Reads  <cleaned>/train.parquet, test.parquet (schema templates, or schema nli for a released set)
Writes <output>/train.parquet, dev.parquet, test.parquet (schema nli); dev holds whole templates taken out of train

Every draw follows from a hash of its place in the set and generation_seed alone, so the same options give the same
sentences on every machine. A pair that a set already has is drawn again. --options are explained in
resources/studies.yaml.

    python -m scripts.build.temporal_nli --cleaned results/clean/event_templates --splits train test \\
        --options '{"challenge_set": "temp_order", "train_templates": null, "test_templates": null, "iterations": 5,
                    "generation_seed": 0, "dev_fraction": 0.1}' --output /tmp/temp_order
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.build.options import options_of
from scripts.common.files import whole_set
from scripts.common.keyed import keyed_hash
from scripts.common.program import UserError, log, parser, run
from scripts.common.tables import NLI, provenance_of, read_table, write_table

ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
FORWARD, FRONTED = "forward", "fronted"
FIXED, INTERVAL = "fixed", "interval"

# Table 1: the lists of times. A day of the month ends at 28, so that it exists in every month.
HOURS_12 = [f"{hour % 12 or 12} {half}" for half, hours in (("AM", range(12)), ("PM", range(12, 24))) for hour in hours]
HOURS_24 = [f"{hour:02}:00" for hour in range(24)]
WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
DAYS = [f"{day}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10 if day % 100 not in (11, 12, 13) else 0, 'th') }"
        for day in range(1, 29)]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December"]
SHORT_MONTHS = [month[:3] for month in MONTHS]
YEARS = [str(year) for year in range(1900, 2001)]

# The ways to choose two times: the unit, how many times the list has, the two spellings (one of them for each sentence
# of a pair, a coin says which), the parts of a date, the preposition of a fixed time, whether time runs in a cycle.
LISTS = {
    "hour_12": ("hours", 24, (HOURS_12, HOURS_12), "at"),
    "hour_24": ("hours", 24, (HOURS_24, HOURS_24), "at"),
    "hour_both": ("hours", 24, (HOURS_12, HOURS_24), "at"),
    "weekday": ("day", 7, (WEEKDAYS, WEEKDAYS), "on"),
    "month_day": ("day", 28, ([f"the {day}" for day in DAYS], [f"the {day}" for day in DAYS]), "on"),
    "month_full": ("month", 12, (MONTHS, MONTHS), "in"),
    "month_abbreviated": ("month", 12, (SHORT_MONTHS, SHORT_MONTHS), "in"),
    "month_both": ("month", 12, (MONTHS, SHORT_MONTHS), "in"),
    "year": ("year", len(YEARS), (YEARS, YEARS), "in"),
}
SPELLINGS = {"full": (MONTHS, MONTHS), "abbreviated": (SHORT_MONTHS, SHORT_MONTHS), "both": (MONTHS, SHORT_MONTHS)}
UNCYCLED = {"month_day", "year"}  # the month's length is not stated; years do not come again

# Set III. Seconds of a unit, as in the release; a day_time there is an hour here.
SECONDS = {"minutes": 60, "hours": 3600, "day": 86_400, "month": 2.628e6, "year": 3.154e7}
NAMES = {"minutes": "minute", "hours": "hour", "day": "day", "month": "month", "year": "year"}
UNIT_PAIRS = {"minutes_hours": ("minutes", "hours"), "hours_days": ("hours", "day"), "days_months": ("day", "month"),
              "months_years": ("month", "year")}
MAGNITUDES = range(1, 11)  # T1, in the higher unit
DIFFERENCE_RANGE = 5  # of T2 from T1, in the higher unit

HYPOTHESES = {  # set II: claimed duration as (factor, plus), worded "less than" or not, and whether it holds
    "equal_gold": (1, 0, "", ENTAILMENT),
    "equal_gold_plus_1": (1, 1, "", CONTRADICTION),
    "equal_gold_times_10": (10, 0, "", CONTRADICTION),
    "less_than_gold": (1, 0, "less than ", CONTRADICTION),
    "less_than_gold_plus_1": (1, 1, "less than ", ENTAILMENT),
    "less_than_gold_times_10": (10, 0, "less than ", ENTAILMENT),
}
MOST_ROUNDS = 200  # of drawing again before a set is held to have no further pair


def cross(table: pd.DataFrame, **columns: list) -> pd.DataFrame:
    """Every row of the table with every combination of the values."""
    for name, values in columns.items():
        table = table.merge(pd.DataFrame({name: values}), how="cross")
    return table


def drawn(table: pd.DataFrame, key: list[str], what: int, seed: int, below: np.ndarray | int) -> np.ndarray:
    """An integer from 0 to `below` - 1 for each row, by hash of the row's key, its round, `what` and the seed."""
    text = table[key[0]]
    for name in key[1:]:
        text = text + ":" + table[name].astype(str)
    # The upper 32 bits scaled: exact in integers, so the same everywhere.
    hashed = keyed_hash(text, table["round"].to_numpy(), what, seed) >> np.uint64(32)
    return (hashed * np.asarray(below).astype(np.uint64) >> np.uint64(32)).astype(np.int64)


def without_repeats(cells: pd.DataFrame, fill, iterations: int) -> pd.DataFrame:
    """`fill(cells)` drawn anew, for the rows that it marks as unfit and for repeated texts, until none is left.

    fill takes cells with a column `round` and returns one row or more for each cell, in order, with the columns cell
    (the cell's row number), fit, text_a, text_b. A cell with one bad row is drawn again whole.
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
        pairs = pd.concat([pairs[~pairs["cell"].isin(again)], anew]).sort_values("cell", kind="stable", ignore_index=True)
    worst = pairs.loc[bad].iloc[0]
    raise UserError(f"{worst['group_id']}: {worst['choice']} has no further pair of sentences that differs from the "
                    f"others; lower iterations (now {iterations})")


def spelled(choice: pd.Series, position: np.ndarray, other: np.ndarray) -> pd.Series:
    """The time at a position of each row's list, in the list's first spelling, or the other one."""
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
    """How many times a list has."""
    months = 12 * len(YEARS)
    return LISTS[choice][1] if choice in LISTS else 28 * months if choice.startswith("date_dmy") else months


def preposition(choice: str) -> str:
    """Of a fixed time: at 5 PM, on Monday, in May, on 5th May 1950, in May 1950."""
    return LISTS[choice][3] if choice in LISTS else "on" if choice.startswith("date_dmy") else "in"


def sentence(forward: pd.Series, fronted: pd.Series, position: pd.Series, when: pd.Series) -> pd.Series:
    """`They got married in May.` or `In May, they got married.`"""
    capital = when.str[:1].str.upper() + when.str[1:]
    return (forward + " " + when + ".").where(position == FORWARD, capital + ", " + fronted + ".")


def inside(before: np.ndarray, premise_type: np.ndarray, premise_before: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """The labels of sets I and III, for the hypothesis `before T2` (else `after T2`); difference is T1 - T2.

    A fixed T1 is inside when strictly before (after) T2. An interval that opens the same way is inside when T1 is not
    beyond T2, one that opens the other way is disjoint when T1 is not short of it; all else is neutral.
    """
    beyond = np.where(before, difference, -difference)  # how far T1 lies outside the hypothesis's interval
    fixed = np.where(beyond < 0, ENTAILMENT, CONTRADICTION)
    same_way = np.where(beyond <= 0, ENTAILMENT, NEUTRAL)
    other_way = np.where(beyond >= 0, CONTRADICTION, NEUTRAL)
    return np.where(premise_type == FIXED, fixed, np.where(premise_before == before, same_way, other_way))


def sides(templates: pd.DataFrame) -> pd.DataFrame:
    """A row for each tense side and unit: group_id, tense, unit, forward, fronted."""
    parts = [pd.DataFrame({"group_id": templates["template"], "tense": tense, "unit": templates[f"{tense}_units"],
                           "forward": templates[tense], "fronted": templates[f"{tense}_fronted"]})
             for tense in ("past", "future")]
    return pd.concat(parts).explode("unit").dropna(subset="unit").reset_index(drop=True)


def choices(units: pd.Series, dates: list[str]) -> pd.DataFrame:
    """The ways to choose times in each unit, as columns unit and choice."""
    rows = [(unit, choice) for choice, (unit, *_) in LISTS.items()]
    rows += [("year", f"{kind}_{spelling}") for kind in dates for spelling in SPELLINGS]
    return pd.DataFrame(rows, columns=["unit", "choice"]).merge(pd.DataFrame({"unit": units.unique()}))


def temp_order(templates: pd.DataFrame, iterations: int, seed: int) -> pd.DataFrame:
    """Set I: for each side and list, `iterations` draws for each premise (fixed, interval) and position."""
    cells = sides(templates)
    cells = cells.merge(choices(cells["unit"], ["date_dmy", "date_my"]), on="unit")
    cells = cross(cells, premise_type=[FIXED, INTERVAL], premise_position=[FORWARD, FRONTED], draw=list(range(iterations)))
    key = ["group_id", "tense", "choice", "premise_type", "premise_position", "draw"]

    def fill(some: pd.DataFrame) -> pd.DataFrame:
        size = some["choice"].map(length).to_numpy()
        first, second = (drawn(some, key, what, seed, size) for what in (1, 2))
        before, premise_before, other = (drawn(some, key, what, seed, 2) == 1 for what in (3, 4, 5))
        fixed = (some["premise_type"] == FIXED).to_numpy()
        some["premise_preposition"] = np.where(fixed, some["choice"].map(preposition),
                                               np.where(premise_before, "before", "after"))
        some["hypothesis_preposition"] = np.where(before, "before", "after")
        some["hypothesis_position"] = some["premise_position"]
        times = [spelled(some["choice"], where, which) for where, which in ((first, other), (second, ~other))]
        for text, preposition_of, time in zip(("text_a", "text_b"), ("premise", "hypothesis"), times):
            some[text] = sentence(some["forward"], some["fronted"], some["premise_position"],
                                  some[f"{preposition_of}_preposition"] + " " + time)
        some["label"] = inside(before, some["premise_type"].to_numpy(), premise_before, first - second)
        some["difference"] = np.abs(first - second) / size
        near = (some["difference"] <= 0.5) | (some["unit"] == "year")  # farther ones might lie in the next cycle
        some["fit"] = near & (some["text_a"] != some["text_b"])
        return some

    return without_repeats(cells, fill, iterations)


def counted(number: np.ndarray, unit: np.ndarray | str) -> np.ndarray:
    """`1 hour`, `5 hours`."""
    unit = np.where(number == 1, unit, np.char.add(np.asarray(unit, dtype=str), "s"))
    return np.char.add(np.char.add(number.astype(str), " "), unit).astype(object)


def duration_text(number: np.ndarray, unit: pd.Series, in_years: np.ndarray) -> np.ndarray:
    """A duration in words; with `in_years`, months as years and months, a zero part left out."""
    years, months = counted(number // 12, "year"), counted(number % 12, "month")
    mixed = np.where(number < 12, months, np.where(number % 12 == 0, years, years + " " + months))
    return np.where(in_years, mixed, counted(number, unit.map(NAMES).to_numpy()))


def temp_duration(templates: pd.DataFrame, iterations: int, seed: int) -> pd.DataFrame:
    """Set II: for each duration unit and list, `iterations` premises for each cycle and form, six hypotheses each."""
    lasting = pd.DataFrame({"group_id": templates["template"], "unit": templates["duration_units"],
                            **{name: templates[name] for name in ("span_start", "span_end", "duration")}})
    lasting = lasting.explode("unit").dropna(subset="unit")
    cells = lasting.merge(choices(lasting["unit"], ["date"]), on="unit")
    date = cells["choice"].isin([f"date_{spelling}" for spelling in SPELLINGS])
    cells = pd.concat([cells[~date].assign(duration_format=""),
                       *(cells[date].assign(duration_format=form) for form in ("months", "years_months"))])
    turns = (cells["duration_format"] == "") & ~cells["choice"].isin(UNCYCLED)
    cells = pd.concat([cells.assign(next_cycle=False), cells[turns].assign(next_cycle=True)])
    cells = cross(cells, premise_form=["one_clause", "two_clauses"], draw=list(range(iterations)))
    cells["counted"] = cells["unit"].mask(cells["duration_format"] != "", "month")
    key = ["group_id", "choice", "duration_format", "next_cycle", "premise_form", "draw"]

    def fill(some: pd.DataFrame) -> pd.DataFrame:
        size = some["choice"].map(length).to_numpy()
        one = drawn(some, key, 1, seed, size)
        two = (one + 1 + drawn(some, key, 2, seed, size - 1)) % size  # never the same
        other = drawn(some, key, 3, seed, 2) == 1
        turn = some["next_cycle"].to_numpy(bool)
        start, end = np.where(turn, np.maximum(one, two), np.minimum(one, two)), np.where(turn, np.minimum(one, two),
                                                                                         np.maximum(one, two))
        gold = (end - start) % size
        begins, ends = spelled(some["choice"], start, other), spelled(some["choice"], end, ~other)
        at = some["choice"].map(preposition) + " "
        until = at.where(~some["span_end"].str.endswith("until"), "")
        some["text_a"] = (some["duration"] + " from " + begins + " to " + ends + ".").where(
            some["premise_form"] == "one_clause",
            some["span_start"] + " " + at + begins + " " + some["span_end"] + " " + until + ends + ".")
        some["difference"], some["gold"] = gold / size, gold
        pairs = cross(some, hypothesis_type=list(HYPOTHESES))
        factor, plus, less, label = (pairs["hypothesis_type"].map({name: facts[part] for name, facts in HYPOTHESES.items()})
                                     for part in range(4))
        claimed = (pairs["gold"] * factor + plus).to_numpy()
        words = duration_text(claimed, pairs["counted"], (pairs["duration_format"] == "years_months").to_numpy())
        pairs["text_b"] = pairs["duration"] + " for " + less + words + "."
        return pairs.assign(label=label, fit=True)

    return without_repeats(cells, fill, iterations)


def cross_unit(templates: pd.DataFrame, iterations: int, seed: int) -> pd.DataFrame:
    """Set III: for each adjacent pair of units and each T1, every form of premise and hypothesis, T2 below and above."""
    ahead = sides(templates)
    ahead = ahead[ahead["tense"] == "future"].groupby(["group_id", "tense", "forward", "fronted"], sort=False)["unit"]
    pairs = pd.DataFrame([(*key, name) for key, units in ahead for name, adjacent in UNIT_PAIRS.items()
                          if set(adjacent) <= set(units)], columns=["group_id", "tense", "forward", "fronted", "unit_pair"])
    if pairs.empty:
        return pairs
    some = cross(pairs, magnitude=list(MAGNITUDES), premise_position=[FORWARD, FRONTED],
                 hypothesis_position=[FORWARD, FRONTED], premise_preposition=["in", "before", "after"],
                 direction=["lower", "higher"], hypothesis_preposition=["before", "after"]).assign(round=0)
    low, high = (some["unit_pair"].map({name: pair[place] for name, pair in UNIT_PAIRS.items()}) for place in (0, 1))
    ratio = (high.map(SECONDS) / low.map(SECONDS)).to_numpy()
    magnitude = some["magnitude"].to_numpy()
    # T2 as near as it is usual to say keeps away from T1 ("1 month" and "30 days" are the same to most people).
    same = np.rint(magnitude * ratio).astype(np.int64)
    least = np.maximum(1, np.rint((magnitude - DIFFERENCE_RANGE) * ratio).astype(np.int64))
    most = np.rint((magnitude + DIFFERENCE_RANGE) * ratio).astype(np.int64)
    lower = (some["direction"] == "lower").to_numpy()
    key = ["group_id", "unit_pair", "magnitude", "premise_position", "hypothesis_position", "premise_preposition",
           "direction", "hypothesis_preposition"]
    second = np.where(lower, least, same + 1) + drawn(some, key, 1, seed, np.where(lower, same - least, most - same))
    some["difference"] = second / ratio - magnitude
    some["premise_type"] = np.where(some["premise_preposition"] == "in", FIXED, INTERVAL)
    some["text_a"] = sentence(some["forward"], some["fronted"], some["premise_position"],
                              some["premise_preposition"] + " " + counted(magnitude, high.map(NAMES).to_numpy()))
    some["text_b"] = sentence(some["forward"], some["fronted"], some["hypothesis_position"],
                              some["hypothesis_preposition"] + " " + counted(second, low.map(NAMES).to_numpy()))
    some["label"] = inside((some["hypothesis_preposition"] == "before").to_numpy(), some["premise_type"].to_numpy(),
                           (some["premise_preposition"] == "before").to_numpy(), -some["difference"].to_numpy())
    return some


SETS = {"temp_order": temp_order, "temp_duration": temp_duration, "cross_unit": cross_unit}


def generated(templates: pd.DataFrame, split: str, options: dict) -> pd.DataFrame:
    """One split of a set, in the columns of the schema nli, from a table of templates."""
    name = options["challenge_set"]
    rows = SETS[name](templates.sort_values("template"), options["iterations"], options["generation_seed"])
    rows = rows.reset_index(drop=True).assign(challenge_set=name)
    rows["example_id"] = f"{name}:{split}:" + rows.index.astype(str)
    return rows.reindex(columns=NLI.names).replace({"duration_format": {"": None}})


def fewer(names: pd.Series, wanted: int | None, where: str) -> set[str]:
    """All names, or the `wanted` whose hash is lowest. Raises UserError when there are not so many."""
    known = pd.Series(names.unique(), dtype=object)
    if wanted is None:
        return set(known)
    if wanted > len(known):
        raise UserError(f"{where}: {wanted} templates were asked for, there are {len(known)}; ask for fewer")
    return set(known[np.argsort(keyed_hash(known), kind="stable")[:wanted]])


def read(cleaned: Path, split: str, options: dict) -> pd.DataFrame:
    """The pairs of one split, of at most `<split>_templates` templates."""
    file = cleaned / f"{split}.parquet"
    rows = read_table(file).to_pandas()
    if "challenge_set" in rows:
        rows = rows[rows["challenge_set"] == options["challenge_set"]]
    else:
        rows = generated(rows, split, options)
    where = f"{file}: {options['challenge_set']}, {split}_templates"
    return rows[rows["group_id"].isin(fewer(rows["group_id"], options[f"{split}_templates"], where))]


def held_out(rows: pd.DataFrame, fraction: float, where: str) -> pd.Series:
    """Which rows belong to the templates that are dev: the share of all templates whose hash is lowest, one at least."""
    templates = rows["group_id"].nunique()
    if templates < 2:
        raise UserError(f"{where}: {templates} template(s) give pairs, but dev is held out of train by template, so two "
                        "are needed; ask for more templates")
    return rows["group_id"].isin(fewer(rows["group_id"], max(1, round(fraction * templates)), where))


def write_splits(tables: dict[str, pd.DataFrame], given: argparse.Namespace, folder: Path) -> None:
    """Write every split to a folder. Raises UserError for one that is measured on and has no pair."""
    options, first = given.options, given.splits[0]
    for split, rows in tables.items():
        source = given.cleaned / f"{first if split == 'dev' else split}.parquet"
        if split in given.splits[1:] and not len(rows):
            raise UserError(f"{source}: no pairs of {options['challenge_set']}; add templates that have such units")
        write_table(pa.Table.from_pandas(rows, schema=NLI, preserve_index=False), folder / f"{split}.parquet", NLI,
                    provenance_of(source) | {"split": split, "options": options})
        shares = ", ".join(f"{share:.1%} {name}" for name, share in zip(
            ("entailment", "neutral", "contradiction"), (np.bincount(rows["label"].astype(int), minlength=3) / max(1, len(rows)))))
        log.info("%s %s: %d pairs of %d templates, %s", given.output, split, len(rows), rows["group_id"].nunique(), shares)


def main(given: argparse.Namespace) -> None:
    options = given.options
    tables = {split: read(given.cleaned, split, options) for split in given.splits}
    first = given.splits[0]
    if len(tables[first]):
        dev = held_out(tables[first], options["dev_fraction"], f"{given.cleaned / first}.parquet")
        tables["dev"], tables[first] = tables[first][dev], tables[first][~dev]
    else:  # set III of the release has no training file
        log.info("%s: no pairs of %s to learn from: only the method direct can use this dataset", given.cleaned,
                 options["challenge_set"])
        tables["dev"] = tables[first]
    with whole_set(given.output) as folder:
        write_splits(tables, given, folder)


def arguments() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--cleaned", type=Path, required=True, help="the folder of one cleaned source")
    made.add_argument("--splits", nargs="+", required=True, help="its splits, the one to learn from first")
    made.add_argument("--options", type=options_of("temporal_nli"), required=True,
                      help="JSON: the options of the study in resources/studies.yaml; what is left out gets its default")
    made.add_argument("--output", type=Path, required=True, help="the folder to write to")
    return made


if __name__ == "__main__":
    run(main, arguments().parse_args())
