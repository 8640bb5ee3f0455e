"""Clean the released temporal NLI sets (Thukral et al. 2021) into the columns
of the generated ones.

No text and no label is changed and no row is dropped, because the published scores include the
errors of the release. A row's template is the one in templates.csv with the same event. So whole
templates can be held out.

Reads  cs1_train.csv, cs1_test.csv, cs2_train.csv, cs2_test.csv, cs3_test.csv, templates.csv from
       --fetched
Writes train.parquet, test.parquet (schema nli), in the order of the files, and cleaning.csv

    python -m scripts.clean.temporal_nli_release --source temporal_nli_release \\
        --fetched results/fetch/temporal_nli_release --output results/clean/temporal_nli_release \\
        --provenance '{"licence": "CC0 1.0"}'
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.clean.corpus import cleaner_arguments, counted, mapped, write_corpus
from scripts.running.program import UserError, execute, shown
from scripts.studies.temporal_nli.tables import NLI
from scripts.data.texts import csv_of, numbers_of

FILES = {
    "train": {"temp_order": "cs1_train.csv", "temp_duration": "cs2_train.csv"},
    "test": {
        "temp_order": "cs1_test.csv",
        "temp_duration": "cs2_test.csv",
        "cross_unit": "cs3_test.csv",
    },
}
LABELS = {"Entailment": 0, "Neutral": 1, "Contradiction": 2, "E": 0, "N": 1, "C": 2}
CHOICES = {
    "SINGLE_day_time_12": "hour_12",
    "SINGLE_day_time_24": "hour_24",
    "MULTI_day_time": "hour_both",
    "SINGLE_day": "weekday",
    "SINGLE_date": "month_day",
    "SINGLE_month_full": "month_full",
    "SINGLE_month_abv": "month_abbreviated",
    "MULTI_month": "month_both",
    "SINGLE_year": "year",
    "DATE_DMY_full": "date_dmy_full",
    "DATE_DMY_abv": "date_dmy_abbreviated",
    "DATE_DMY_both": "date_dmy_both",
    "DATE_MY_full": "date_my_full",
    "DATE_MY_abv": "date_my_abbreviated",
    "DATE_MY_both": "date_my_both",
    "DATE_M_full": "date_full",
    "DATE_M_abv": "date_abbreviated",
    "DATE_M_both": "date_both",
    "DATE_YM_full": "date_full",
    "DATE_YM_abv": "date_abbreviated",
    "DATE_YM_both": "date_both",
}
HYPOTHESES = {
    "EQUAL_GOLD": "equal_gold",
    "EQUAL_GOLD+1": "equal_gold_plus_1",
    "EQUAL_GOLD*10": "equal_gold_times_10",
    "LESS_GOLD": "less_than_gold",
    "LESS_GOLD+1": "less_than_gold_plus_1",
    "LESS_GOLD*10": "less_than_gold_times_10",
}
UNIT_PAIRS = {
    "day_time": "minutes_hours",
    "day": "hours_days",
    "month": "days_months",
    "year": "months_years",
}
POSITIONS = {"forward": "forward", "backward": "fronted"}
SIDES = {
    f"{side} {tense}": (POSITIONS[side.lower()], tense.lower())
    for side in ("Forward", "Backward")
    for tense in ("Past", "Future")
}
COLUMNS = {  # with a comma between two
    "temp_order": "Premise, Hypothesis, Label, Time Diff, Type, Prem Fixed, Temp Type",
    "temp_duration": "Premise, Hypothesis, Label, Time Diff, Type, Dur Type, Next Cycle, Temp Type",
    "cross_unit": "Premise, Hypothesis, Label, Premise Preposition, Higher Duration Unit, "
    "Premise Direction, Hypothesis Direction, Lower/Higher Diff",
}
NUMBERS, TRUTHS = {"Time Diff", "Lower/Higher Diff"}, {"Prem Fixed", "Next Cycle"}
# The event of a hypothesis, before or behind its time.
FRONTED = r"^(?:Before|After) [^,]*, (?P<event>.*)\.$"
FORWARD = r"^(?>(?P<event>.*) (?:before|after) )[^,]*\.$"
LASTING = r"^(?P<event>.*) for (?:less than )?\d+ \w+(?: \d+ \w+)?\.$"
EVENT_COLUMNS = {
    "temp_order": [
        *("Forward Past Template", "Backward Past Template"),
        *("Forward Future Template", "Backward Future Template"),
    ],
    "temp_duration": ["Duration Template"],
    "cross_unit": ["Forward Future Template", "Backward Future Template"],
}


def read(file: Path, columns: list[str]) -> pd.DataFrame:
    """The named columns of a CSV file, as text except those of NUMBERS and TRUTHS."""
    table = csv_of(file, columns)
    for name in NUMBERS & set(columns):
        table[name] = numbers_of(table[name], file)
    for name in TRUTHS & set(columns):
        table[name] = mapped(table, name, {"True": True, "False": False}, file, first_line=2)
    return table


def events(
    table: pd.DataFrame, templates: pd.DataFrame, challenge_set: str, file: Path
) -> pd.Series:
    """The template of each row, as the number of its row in templates.csv (from 0),
    found by the hypothesis's event.
    """
    patterns = [LASTING] if challenge_set == "temp_duration" else [FRONTED, FORWARD]
    event = table["Hypothesis"].str.extract(patterns[0])["event"]
    for pattern in patterns[1:]:
        event = event.fillna(table["Hypothesis"].str.extract(pattern)["event"])
    numbers = {
        str(form).lower(): str(number)
        for column in EVENT_COLUMNS[challenge_set]
        for number, form in templates[column].items()
        if form
    }
    template = event.str.lower().map(numbers)
    if template.isna().any():
        row = template.index[template.isna()][0]
        raise UserError(
            f"{file}: row {row + 2}: no event of templates.csv is in "
            f"{shown(table['Hypothesis'][row])}; fetch both files again"
        )
    return template


def prepositions(sentences: pd.Series, positions: pd.Series) -> pd.Series:
    """The preposition of each sentence's time: its first word when fronted,
    else the last preposition in it.
    """
    last = sentences.str.extract(r"^(?s:.*) (at|on|in|before|after) ")[0]
    return last.mask(positions == "fronted", sentences.str.split(" ", n=1).str[0].str.lower())


def clean(file: Path, split: str, challenge_set: str, templates: pd.DataFrame) -> pd.DataFrame:
    """One released file in the columns of the schema nli."""
    table = read(file, COLUMNS[challenge_set].split(", "))
    rows = pd.DataFrame(index=table.index, columns=NLI.names, dtype=object)
    rows["example_id"] = [f"{challenge_set}:{split}:{row}" for row in table.index]
    rows["group_id"] = events(table, templates, challenge_set, file)
    rows["text_a"], rows["text_b"] = table["Premise"], table["Hypothesis"]
    rows["label"] = mapped(table, "Label", LABELS, file, first_line=2)
    rows["challenge_set"] = challenge_set
    if challenge_set == "cross_unit":
        rows["premise_preposition"] = table["Premise Preposition"]
        rows["premise_type"] = (table["Premise Preposition"] == "in").map(
            {True: "fixed", False: "interval"}
        )
        rows["unit_pair"] = mapped(table, "Higher Duration Unit", UNIT_PAIRS, file, first_line=2)
        rows["premise_position"] = mapped(table, "Premise Direction", POSITIONS, file, first_line=2)
        rows["hypothesis_position"] = mapped(
            table, "Hypothesis Direction", POSITIONS, file, first_line=2
        )
        rows["difference"] = table["Lower/Higher Diff"]
        rows["direction"] = (table["Lower/Higher Diff"] < 0).map({True: "lower", False: "higher"})
        rows["tense"] = "future"
    else:
        rows["choice"] = mapped(table, "Type", CHOICES, file, first_line=2)
        rows["difference"] = table["Time Diff"]
    if challenge_set == "temp_order":
        sides = mapped(table, "Temp Type", SIDES, file, first_line=2)
        rows["premise_position"] = rows["hypothesis_position"] = sides.str[0]
        rows["tense"] = sides.str[1]
        rows["premise_type"] = table["Prem Fixed"].map({True: "fixed", False: "interval"})
        rows["premise_preposition"] = prepositions(rows["text_a"], rows["premise_position"])
    if challenge_set == "temp_duration":
        rows["premise_form"] = mapped(
            table, "Temp Type", {"Near": "one_clause", "Spread": "two_clauses"}, file, first_line=2
        )
        rows["next_cycle"] = table["Next Cycle"]
        rows["hypothesis_type"] = mapped(table, "Dur Type", HYPOTHESES, file, first_line=2)
        rows["duration_format"] = (
            table["Type"]
            .str.extract(r"^DATE_(YM|M)_")[0]
            .map({"M": "months", "YM": "years_months"})
        )
    else:
        rows["hypothesis_preposition"] = prepositions(rows["text_b"], rows["hypothesis_position"])
    return rows


def main(given: argparse.Namespace) -> None:
    tables, counts = {}, []
    columns = list(dict.fromkeys(name for names in EVENT_COLUMNS.values() for name in names))
    templates = read(given.fetched / "templates.csv", columns)
    for split, files in FILES.items():
        parts = []
        for challenge_set, name in files.items():
            part = clean(given.fetched / name, split, challenge_set, templates)
            counts += counted(
                split,
                f"{challenge_set} pairs",
                read=len(part),
                kept=len(part),
                noted={"an earlier pair has the same texts": part.duplicated(["text_a", "text_b"])},
            )
            parts.append(part)
        tables[split] = pd.concat(parts)
    write_corpus(given, tables, NLI, counts)


if __name__ == "__main__":
    execute(main, cleaner_arguments(__doc__).parse_args())
