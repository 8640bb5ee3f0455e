"""The numbers that the README opens with are those of the committed records."""

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
    """The number of a record that `wanted` tells, per cent; of what is known by heart, on the
    released set I, that of the table.
    """
    if wanted == "by heart":
        table = pd.read_csv(RECORDS / record / "tables/temporal_nli_memory.csv")
        (row,) = table[
            (table["Model"] == wanted)
            & table["Source"].str.contains("released")
            & table["Challenge set"].str.startswith("Set I:")
        ].to_dict("records")
        return f"{row['Accuracy (%)']:.1f}"
    metrics = pd.read_csv(RECORDS / record / "metrics.csv.gz", low_memory=False)
    rows = metrics[metrics["seed"].isna() & metrics["wording"].isna()]
    for name, value in ({"slice": "all"} | wanted).items():
        rows = rows[rows[name] == value]
    assert len(rows) > 0 and rows["value"].nunique() == 1, (record, wanted, len(rows))
    return percent(rows["value"].iloc[0])


@pytest.mark.parametrize("begins, numbers", ROWS, ids=[begins for begins, _ in ROWS])
def test_a_row_of_the_readme_has_the_numbers_of_the_record(begins, numbers):
    (line,) = [
        line
        for line in (ROOT / "README.md").read_text().splitlines()
        if line.startswith(f"| {begins}")
    ]
    *_, reaches, beside, _ = line.split("|")
    assert re.findall(r"\b\d+\.\d\b", f"{reaches} {beside}") == [
        recorded(*number) for number in numbers
    ]


def test_each_row_of_the_readmes_findings_is_checked():
    text = (ROOT / "README.md").read_text()
    table = text[text.index("| measured |") :].split("\n\n")[0].splitlines()[2:]
    assert len(table) == len(ROWS)
