"""Unit normalization: a table of answers that a person judged, its properties, and the real
answers.
"""

import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scripts.text.time_units import SECONDS
from scripts.text.unit_normalization import in_another_unit, normalize_units, quantities
from tests.files import read_texts
from tests.conftest import ROOT, call
from tests.rows import each_row, rows_of

# Written by hand from real answers: the form that a person calls right, equal if the answer must
# not change.
TABLE = read_texts(ROOT / "tests/text/unit_normalization.csv")
# Constructed: spellings of numbers and units, ranges, sums, and texts that are not an amount of
# time.
EDGES = read_texts(ROOT / "tests/text/unit_normalization_edges.csv")
MODULE = "scripts.text.unit_normalization"


@pytest.mark.parametrize("table", [TABLE, EDGES], ids=["real answers", "edges"])
def test_the_tables(table):
    """A second normalization changes nothing."""
    assert table["answer"].is_unique
    for column in ("answer", "normalized"):
        rows = zip(table[column], normalize_units(table[column]), table["normalized"])
        assert [row for row in rows if row[1] != row[2]] == []


@each_row(
    "answer, wanted",
    """
    1 hour                   | 60 minutes
    1 hour and 15 minutes    | 75 minutes
    30 minutes               | half an hour
    half a year              | 6 months
    once a week              | once every 7 days
    every other day          | every 48 hours
    a day                    | null  # of work
    5 hours                  | null  # 300 minutes
    3 months                 | null  # a quarter of a year
    a few hours              | null
    twice a day              | null
    a two-hour talk          | null
    """,
)
def test_in_another_unit(answer, wanted):
    found = in_another_unit(pd.Series([answer, None], dtype=object))
    assert [text if isinstance(text, str) else None for text in found] == [wanted, None]


@each_row(
    "answer, expression, low, high, unit, days",
    [
        *rows_of("""
            it took 30 months            | 30 months          | 30 | 30  | month | [912.5, 912.5]  # 2.5 years
            about two or three weeks ago | two or three weeks | 2  | 3   | week  | [14, 21]
            100 to 30 years              | 100 to 30 years    | 30 | 100 | year  | [10950, 36500]
        """),
        (
            "1 hour and 15 minutes",
            "1 hour and 15 minutes",
            1.25,
            1.25,
            "hour",
            (1.25 / 24, 1.25 / 24),
        ),
        ("an hour or two", "an hour or two", 1, 2, "hour", (1 / 24, 2 / 24)),
        *rows_of("""
            every 24 hours   | 24 hours     | 24 | 24 | hour       | [1, 1]
            every other week | other week   | 2  | 2  | week       | [14, 14]
            once a week      | a week       | 1  | 1  | week       | [7, 7]
        """),
    ],
)
def test_quantities(answer, expression, low, high, unit, days):
    found = quantities(pd.Series([answer])).iloc[0]
    assert answer[found["start"] : found["end"]] == expression
    assert (found["low"], found["high"], found["unit"]) == (low, high, unit)
    assert (found["seconds_low"], found["seconds_high"]) == pytest.approx(
        [86400 * day for day in days]
    )


@each_row(
    "answer",
    (
        "twice a week|3 times a day|5 days a week|18 years old|next week|at 7|"
        "one second and fifteen minutes|3 days and 3 years|0 hours|"
    ).split("|"),
)
def test_no_quantity(answer):
    assert quantities(pd.Series([answer])).isna().all(axis=None)


def test_soft_hyphens_and_wide_spaces():
    answers = pd.Series(
        [
            "af\u00adter 30\u2002mi\u00adnutes of re\u00adst",
            "two\u00a0days",
            "thirty\u00ad-five\u2003seconds",
        ]
    )
    assert normalize_units(answers).to_list() == [
        "af\u00adter 0.5 hours of re\u00adst",
        "2 days",
        "0.58 minutes",
    ]
    found = quantities(answers).iloc[0]
    assert answers[0][found["start"] : found["end"]] == "30\u2002mi\u00adnutes"


# ---- Properties.

WORDS = (
    "a|an|one|two|seven|thirty-five|one hundred|a hundred|a few|few|a couple of|several|many|"
    "hundreds of|a dozen|half an|two and a half|tens of millions of|other|some"
).split("|")
FORMS = [
    unit + end for unit in SECONDS if unit not in ("century", "millennium") for end in ("", "s")
] + "century centuries millennium hrs min yrs".split()
numbers = st.one_of(
    st.sampled_from(WORDS),
    st.integers(0, 10**6).map(str),
    st.integers(1, 10**6).map("{:,}".format),
    st.decimals(0, 3000, places=2).map(str),
    st.decimals(0, 3, places=4).map(str),
)
amounts = st.builds(
    "{}{}{}".format, numbers, st.sampled_from([" ", "  ", "-", "\u2002"]), st.sampled_from(FORMS)
)
ranges = st.builds(
    "{}{}{} {}".format,
    numbers,
    st.sampled_from([" to ", "-", " or ", " – "]),
    numbers,
    st.sampled_from(FORMS),
)
phrases = st.one_of(amounts, ranges)
before = st.sampled_from(
    (
        "|about |every |once every |each |between |a |the next |twice |age |in |once a |5 days and |"
        "it took |one |every other "
    ).split("|")
)
after = st.sampled_from(
    "| ago| each|.| a day| old| or two| and a half| each week| ride| later|-long| 's| or 3".split(
        "|"
    )
)
glue = st.sampled_from([" ", " and ", " to ", ", ", " or ", "-", " a "])
texts = st.builds("{}{}{}".format, before, phrases, after)
pairs = st.builds("{}{}{}{}{}".format, before, phrases, glue, phrases, after)


def assert_the_same_quantities(first: pd.DataFrame, second: pd.DataFrame) -> None:
    assert (first["unit"].isna() == second["unit"].isna()).all()
    for end in ("seconds_low", "seconds_high"):
        before, after = (table[end].to_numpy(float, na_value=np.nan) for table in (first, second))
        np.testing.assert_allclose(after, before, rtol=0.01)


@given(
    st.lists(texts, min_size=20, max_size=30),
    st.lists(st.one_of(texts, pairs), min_size=20, max_size=30),
)
@settings(max_examples=settings.default.max_examples // 10)
@example(["5 days and seven days a day"], [])
def test_the_quantity_is_preserved_and_normalising_again_changes_nothing(simple, answers):
    simple, both = pd.Series(simple, dtype=object), pd.Series(simple + answers, dtype=object)
    normal = normalize_units(both)
    assert normalize_units(normal).to_list() == normal.to_list()
    assert_the_same_quantities(quantities(simple), quantities(normal[: len(simple)]))


# ---- The real answers.


@pytest.fixture(scope="module")
def answers(mirror):
    folder = mirror / "raw.githubusercontent.com/CogComp/MCTACO/master/dataset"
    columns = "sentence question answer label category".split()
    parts = {
        file: pd.read_csv(
            folder / file, sep="\t", header=None, names=columns, quoting=3, keep_default_na=False
        )
        for file in ("dev_3783.tsv", "test_9442.tsv")
    }
    return pd.concat(parts, names=["file", "row"]).reset_index("file").reset_index(drop=True)


def test_the_table_is_of_real_answers(answers):
    assert set(TABLE["answer"]) <= set(answers["answer"])


def test_changes_of_the_real_answers(answers):
    """Durations change most. The band around the counts, which a person has read through, is
    narrow, so that no changed rule goes unnoticed.
    """
    started = time.process_time()
    normalised = normalize_units(answers["answer"])
    assert time.process_time() - started < 2
    assert len(normalised) == 13225 and normalised.notna().all()
    share = (
        (normalised != answers["answer"])
        .groupby([answers["file"], answers["category"]])
        .mean()
        .unstack("category")
    )
    assert share["Event Duration"].between(0.5, 0.65).all()
    assert share["Frequency"].between(0.1, 0.25).all()
    assert share["Typical Time"].between(0.1, 0.2).all()
    assert share["Stationarity"].between(0.03, 0.15).all()
    assert share["Event Ordering"].between(0.005, 0.03).all()
    assert normalize_units(normalised).eq(normalised).all()


def test_quantities_of_the_real_answers(answers):
    first = quantities(answers["answer"])
    assert first["unit"].notna()[answers["category"] == "Event Duration"].mean() > 0.75
    assert_the_same_quantities(first, quantities(normalize_units(answers["answer"])))
    assert (first["seconds_low"] <= first["seconds_high"]).dropna().all()


# ---- The program.


def run(text: bytes) -> subprocess.CompletedProcess:
    return call(sys.executable, "-m", MODULE, input=text, text=False)


def test_lines_end_at_line_feeds_only():
    text = "30 months\u2028a\n30 months\x0c\u0085b\r\n90 minutes\x1c\x1e\x0b"
    done = run(text.encode())
    assert done.stdout.decode() == "2.5 years\u2028a\n2.5 years\x0c\u0085b\n1.5 hours\x1c\x1e\x0b\n"
    assert b"line feed" in run(b"30 months\r90 minutes\r").stderr
