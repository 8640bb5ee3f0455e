"""Clean a list of event templates, from which the temporal NLI sets
are generated (Thukral et al. 2021, section 3).

A row is an event. It has a past side and a future side; a side that the event lacks is empty.

  <past> (<future>)                   the form for "<past> in May."
  <past_fronted> (<future_fronted>)   the form for "In May, <past_fronted>."
  past_units (future_units)           the units in which the event may happen: hours, day, month,
                                      year, and in the future minutes
  duration_units                      `point`, or the units in which the event may last; with
                                      units, these two forms are used, too:
                                      "<span_start> at 5 PM <span_end> at 9 PM."
                                      "<duration> for 4 hours."

Reads  templates.csv (columns: template, split, past, past_fronted, past_units, future,
       future_fronted, future_units, duration_units, span_start, span_end, duration) from --fetched
Writes train.parquet, test.parquet (schema templates), and cleaning.csv, with the sizes of the sets
       that are generated from them

--expect is JSON with the expected numbers of each split (templates, sides, durations, adjacent,
pairs). If a number differs, the program fails and reports the difference.

    python -m scripts.clean.event_templates --source event_templates --fetched resources \\
        --output results/clean/event_templates --provenance '{"licence": "MIT"}'
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.clean.corpus import cleaner_arguments, counted, write_corpus
from scripts.running.program import UserError, cut, execute, json_object, shown
from scripts.data.tables import TEMPLATES
from scripts.data.texts import csv_of

UNITS = ["minutes", "hours", "day", "month", "year"]  # ascending
PAIRS = ["minutes_hours", "hours_days", "days_months", "months_years"]
COLUMNS = (
    "template split past past_fronted past_units future future_fronted future_units "
    "duration_units span_start span_end duration"
).split()
SIDES = {
    "past_units": ["past", "past_fronted"],
    "future_units": ["future", "future_fronted"],
    "duration_units": ["span_start", "span_end", "duration"],
}
SPLITS = ["train", "test"]
POINT = "point"
# A time follows these forms, with a preposition of its own: "rolled in in May" is to be avoided.
FOLLOWED = ["past", "future", "span_start"]
PREPOSITIONS = ("at", "on", "in", "before", "after", "from", "to", "for", "until")


def read(file: Path) -> pd.DataFrame:
    """The checked list, units as lists. Raises UserError that names the row and the column."""
    table = csv_of(file, COLUMNS, "mend it", "write the list of templates there").map(str.strip)
    where = pd.Series(
        [
            f"{file}: row {number + 2} ({cut(name) or 'no name'})"
            for number, name in enumerate(table["template"])
        ],
        index=table.index,
    )
    for wrong, said in [
        (table["template"] == "", "column template is empty; give it a name of its own"),
        (table["template"].duplicated(), "another row has the same name; rename one of them"),
        (~table["split"].isin(SPLITS), "split is neither train nor test; write one of them"),
        (
            (table["past_units"] == "") & (table["future_units"] == ""),
            "it has no past_units and no future_units; give it one side at least",
        ),
        (
            table["duration_units"] == "",
            "duration_units is empty; write point, or the units in which it may last",
        ),
    ]:
        if wrong.any():
            raise UserError(f"{where[wrong].iloc[0]}: {said}")
    for form in FOLLOWED:
        last = table[form].str.split(" ").str[-1]
        if (wrong := last.isin(PREPOSITIONS)).any():
            raise UserError(
                f"{where[wrong].iloc[0]}: {form} ends in {shown(last[wrong].iloc[0])}, but a "
                "preposition and a time follow it; word it in another way"
            )
    for units, forms in SIDES.items():
        table[units] = [
            [unit.strip() for unit in cell.split(",") if unit.strip()] for cell in table[units]
        ]
        known = UNITS if units == "future_units" else UNITS[1:]
        for row, listed in table[units].items():
            if listed == [POINT] and units == "duration_units":
                listed = []
            if unknown := [unit for unit in listed if unit not in known]:
                raise UserError(
                    f"{where[row]}: {units} has {cut(unknown[0])}; the units are {', '.join(known)}"
                )
            if len(set(listed)) < len(listed):
                raise UserError(f"{where[row]}: {units} names a unit twice; name it once")
            for form in forms:
                if listed and not table.at[row, form]:
                    raise UserError(
                        f"{where[row]}: {form} is empty, but {units} is not; give both or neither"
                    )
                if table.at[row, form] and not listed:
                    none = POINT if units == "duration_units" else "empty"
                    raise UserError(
                        f"{where[row]}: {form} is given, but {units} is {none}; give both or "
                        "neither"
                    )
            table.at[row, units] = [unit for unit in UNITS if unit in listed]
    return table


def marginals(table: pd.DataFrame) -> dict[str, dict | int]:
    """The numbers that decide the sizes of the sets, for one split: sides and durations by unit,
    adjacent units, and the pairs.

    The sizes of the sets are for five draws (iterations: 5):
      I    20 (3 month + 3 hours + 2 day + year) + 120 year
      II   60 (6 hours + 3 day + 6 month + year) + 360 year
      III  480 for each adjacent pair of a future side
    """
    units = pd.concat([table["past_units"], table["future_units"]]).explode().value_counts()
    lasting = table["duration_units"].explode().value_counts()
    sides = {"past": int((table["past"] != "").sum()), "future": int((table["future"] != "").sum())}
    sides |= {unit: int(units.get(unit, 0)) for unit in UNITS[1:]}
    durations = {unit: int(lasting.get(unit, 0)) for unit in UNITS[1:]}
    durations[POINT] = int((table["duration_units"].str.len() == 0).sum())
    adjacent = {
        name: sum({low, high} <= set(listed) for listed in table["future_units"])
        for name, low, high in zip(PAIRS, UNITS, UNITS[1:])
    }
    order = 3 * sides["month"] + 3 * sides["hours"] + 2 * sides["day"] + sides["year"]
    lasts = (
        6 * durations["hours"] + 3 * durations["day"] + 6 * durations["month"] + durations["year"]
    )
    return {
        "templates": len(table),
        "sides": sides,
        "durations": durations,
        "adjacent": adjacent,
        "pairs": {
            "temp_order": 20 * order + 120 * sides["year"],
            "temp_duration": 60 * lasts + 360 * durations["year"],
            "cross_unit": 480 * sum(adjacent.values()),
        },
    }


def differences(found: dict, expected: dict, where: str) -> list[str]:
    """Each number that is not the expected one: `train sides month: 67, expected 68 (-1)`."""
    unexpected = []
    for key, value in expected.items():
        if isinstance(value, dict):
            unexpected += differences(found.get(key, {}), value, f"{where} {key}")
        elif found.get(key) != value:
            unexpected.append(
                f"{where} {key}: {found.get(key)}, expected {value} "
                f"({(found.get(key) or 0) - value:+})"
            )
    return unexpected


def main(given: argparse.Namespace) -> None:
    file = given.fetched / "templates.csv"
    table, counts, wrong = read(file), [], []
    for split, rows in table.groupby("split"):
        found = marginals(rows)
        wrong += differences(found, (given.expect or {}).get(split, {}), split)
        counts += counted(split, "templates", read=len(rows), kept=len(rows))
        for name, size in found["pairs"].items():
            counts += counted(split, f"{name} pairs", noted={"with five iterations": size})
    if wrong:
        raise UserError(
            f"{file}: the marginals are not those expected of source {given.source}: "
            f"{'; '.join(wrong)}; change the units of some templates, or `expect` in "
            "resources/sources.yaml"
        )
    table = table.sort_values("template").assign(source=given.source)
    write_corpus(
        given, {split: table[table["split"] == split] for split in SPLITS}, TEMPLATES, counts
    )


def arguments() -> argparse.ArgumentParser:
    shared = cleaner_arguments(__doc__)
    shared.add_argument(
        "--expect",
        type=json_object,
        metavar="JSON",
        help="the marginals that the templates must have",
    )
    return shared


if __name__ == "__main__":
    execute(main, arguments().parse_args())
