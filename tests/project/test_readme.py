"""The numbers with which README.md and docs/findings.md open are those of the committed records."""

import re

import pandas as pd
import pytest

from scripts.publish.table import percent
from tests.conftest import ROOT

RECORDS = ROOT / "docs/record"
ORDER = {"study": "strided_sop", "source": "activitynet", "metric": "accuracy"}
SPLITS = [{"split": "val_1"}, {"split": "val_2"}]
NLI = {"study": "temporal_nli", "scoring": "ternary", "metric": "accuracy"}
RELEASED, GENERATED = NLI | {"source": "temporal_nli_release"}, NLI | {"source": "event_templates"}
MCTACO = {"study": "mctaco", "dataset": "default", "metric": "exact_match"}
TIMEDIAL = {"study": "timedial", "metric": "two_best_accuracy"}
MPNET, WORDS = {"model": "mpnet_base", "method": "train"}, {"model": "bag_of_words"}
HYPOTHESIS = {"method": "hypothesis_only"}
CLASSIFIED = {"method": "classify"}
SEARCHED, OPTIONS = {"model": "search_both_texts"}, {"model": "search_all_options"}
TRIGRAMS = {"model": "least_said_then_trigram"}
# How a row begins, and of each of its numbers the record that it stands in and what tells its row
# of the metrics.
ROWS = [
    (
        "order of neighbouring captions",
        [
            (record, ORDER | who | split | {"dataset": "stride-0"})
            for record, who in (("base", MPNET), ("controls", SEARCHED), ("base", WORDS))
            for split in SPLITS
        ],
    ),
    (
        "order of captions with three",
        [
            ("base", ORDER | who | split | {"dataset": "stride-3"})
            for who in (MPNET, WORDS)
            for split in SPLITS
        ],
    ),
    (
        "temporal NLI, set I:",
        [
            ("base_rest", RELEASED | MPNET | {"dataset": "temp_order"}),
            ("controls", RELEASED | SEARCHED | {"dataset": "temp_order"}),
            ("base_rest", "by heart"),
        ],
    ),
    (
        "set I, generated:",
        [
            (
                record,
                GENERATED | who | {"dataset": f"temp_order-{held_out}", "slice": "part=unseen"},
            )
            for record, who in (
                ("base_further", MPNET),
                ("controls", SEARCHED),
                ("base_further", WORDS),
            )
            for held_out in ("range", "list")
        ],
    ),
    (
        "temporal NLI, set II:",
        [
            ("base_further", RELEASED | who | {"dataset": "temp_duration"})
            for who in (MPNET, WORDS, HYPOTHESIS)
        ],
    ),
    (
        "temporal NLI, set III:",
        [
            (record, GENERATED | who | {"dataset": "cross_unit-train_templates-14"})
            for record, who in (("base_rest", MPNET), ("controls", SEARCHED), ("base_rest", WORDS))
        ],
    ),
    (
        "MC-TACO, exact match",
        [
            ("base", MCTACO | MPNET),
            ("controls", MCTACO | OPTIONS),
            ("controls", MCTACO | {"model": "search_one_text"}),
            ("base_rest", MCTACO | {"method": "train_blind"}),
        ],
    ),
    (
        "TimeDial, both right options first",
        [
            *(
                (
                    "base_further",
                    TIMEDIAL
                    | CLASSIFIED
                    | {"dataset": f"local-{where}occurrence-max_dialogs-1000"},
                )
                for where in ("", "dialog-")
            ),
            ("controls", TIMEDIAL | OPTIONS | {"experiment": "timedial_controls"}),
            (
                "base_further",
                TIMEDIAL | TRIGRAMS | {"dataset": "local-occurrence-max_dialogs-1000"},
            ),
        ],
    ),
    (
        "TimeDial, whole dialogs",
        [
            ("gemma", TIMEDIAL | {"method": "likelihood"}),
            ("controls", TIMEDIAL | OPTIONS | {"experiment": "timedial_controls"}),
            ("controls", TIMEDIAL | TRIGRAMS | {"dataset": "default"}),
        ],
    ),
]


def recorded(record: str, wanted: dict | str) -> str:
    """The number of a preset on record that `wanted` tells, per cent; of what is known by heart, on the
    released set I, that of the table.
    """
    if wanted == "by heart":
        table = pd.read_csv(RECORDS / "tables" / record / "temporal_nli_memory.csv")
        (row,) = table[
            (table["Model"] == wanted)
            & table["Source"].str.contains("released")
            & table["Challenge set"].str.startswith("Set I:")
        ].to_dict("records")
        return f"{row['Accuracy (%)']:.1f}"
    metrics = pd.read_parquet(RECORDS / wanted["study"] / "metrics.parquet")
    is_mean = metrics["seed"].isna() & metrics["wording"].isna()
    rows = metrics[is_mean & (metrics["preset"] == record)]
    for name, value in ({"slice": "all"} | wanted).items():
        rows = rows[rows[name] == value]
    assert len(rows) > 0 and rows["value"].nunique() == 1, (record, wanted, len(rows))
    return percent(rows["value"].iloc[0])


# How a row of README.md begins: its row of docs/findings.md, and there the places of the model's
# number and of the control's.
OPENING = {
    "Jain": ("order of neighbouring captions", 0, 2),
    "Thukral": ("set I, generated:", 1, 3),
    "the same": ("temporal NLI, set III:", 0, 1),
    "Zhou": ("MC-TACO, exact match", 0, 1),
    "Qin": ("TimeDial, both right options first", 0, 2),
}


HEADS = {"README.md": "| paper | test |", "docs/findings.md": "| measured | model |"}


def opening(file: str) -> list[str]:
    """The rows of a file's first table, without its head."""
    text = (ROOT / file).read_text()
    return text[text.index(HEADS[file]) :].split("\n\n")[0].splitlines()[2:]


def cells(file: str, begins: str) -> list[str]:
    """The cells of the one row that begins so."""
    (line,) = [line for line in opening(file) if line.startswith(f"| {begins}")]
    return line.split("|")[1:-1]


@pytest.mark.parametrize("begins, numbers", ROWS, ids=[begins for begins, _ in ROWS])
def test_a_row_of_the_findings_has_the_numbers_of_the_record(begins, numbers):
    reaches, beside = cells("docs/findings.md", begins)[2:]
    assert re.findall(r"\b\d+\.\d\b", f"{reaches} {beside}") == [
        recorded(*number) for number in numbers
    ]


@pytest.mark.parametrize("begins", OPENING)
def test_a_row_of_the_readme_has_the_numbers_of_the_record(begins):
    row, model, control = OPENING[begins]
    known = [recorded(*dict(ROWS)[row][place]) for place in (model, control)]
    *found, difference = (cell.strip() for cell in cells("README.md", begins)[2:])
    assert found == known
    expected = f"{float(known[0]) - float(known[1]):+.1f}".replace("-", "\N{MINUS SIGN}")
    assert difference == expected


def test_each_row_of_the_opening_tables_is_checked():
    assert len(opening("README.md")) == len(OPENING)
    assert len(opening("docs/findings.md")) == len(ROWS)
