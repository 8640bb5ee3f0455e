"""Each number in the tables of README.md and of the findings is the one on record (findings.yaml says where)."""

import functools
import re

import pandas as pd
import pytest

from scripts.data.yaml_files import read_yaml
from scripts.publish.table import percent, signed
from tests.conftest import ROOT

RECORD = ROOT / "docs/record"
NAMED = "study preset experiment dataset method model split slice scoring metric control".split()
MEANS = ["value", "ci_low", "ci_high"]
ENDS = r" \(([+−]?\d+\.\d)(?:–| to )([+−]?\d+\.\d)\)"
NUMBER = re.compile(rf"([+−]?\d+\.\d)(?:{ENDS})?")
DIFFERENCE = re.compile(r"\d - \d")
FOLDER = sorted(ROOT.glob("docs/findings/*.md"))
WHERE = read_yaml(ROOT / "tests/project/findings.yaml")
PAGES = ["docs/findings.md", *(f"docs/findings/{page.name}" for page in FOLDER)]


@functools.cache
def record() -> pd.DataFrame:
    """The means on record of all studies, without draws."""
    tables = [pd.read_parquet(file) for file in sorted(RECORD.glob("*/metrics.parquet"))]
    tables = [table.reindex(columns=[*NAMED, *MEANS, "seed", "wording"]) for table in tables]
    rows = pd.concat(tables, ignore_index=True)
    rows = rows[rows["seed"].isna() & rows["wording"].isna() & (rows["metric"] != "confusion")]
    return rows.astype({name: "category" for name in NAMED})


@functools.cache
def rows_with(word: str) -> pd.Series:
    """Which rows of the record have this word in some column."""
    return (record()[NAMED] == word).any(axis=1)


def measured(words: list[str]) -> tuple[str, ...]:
    """Value and interval of the one row of the record that has these words.

    The metric is the one that is named last.
    """
    difference = next((word for word in words if word.startswith("above_")), "")
    metrics = [word for word in words if word in record()["metric"].cat.categories]
    metric = f"{metrics[-1]}_{difference}" if difference else metrics[-1]
    others = {word for word in words if word not in (*metrics, difference)}
    if not any("=" in word for word in words):
        others.add("all")  # the slice
    rows = record()[record()["metric"] == metric]
    for word in others:
        rows = rows[rows_with(word).loc[rows.index]]
    assert len(rows[MEANS].drop_duplicates()) == 1, f"{' '.join(words)}: {len(rows)} rows"
    row = rows.iloc[0]
    assert not difference or row["control"] in others, f"{' '.join(words)}: to {row['control']}"
    show = signed if difference else percent
    return tuple(show(row[name]) for name in MEANS)


def published(metric: str, name: str, words: list[str]) -> tuple[str]:
    """The paper's value, in the row of the study's published numbers that ends so."""
    (study,) = {path.name for path in (ROOT / "scripts/studies").iterdir()} & set(words)
    table = pd.read_csv(ROOT / f"scripts/studies/{study}/published.csv", dtype=str)
    is_row = (table["table"] + ": " + table["row"]).str.endswith(name)
    (value,) = table[is_row & table["metric"].isin([metric, f"reported.{metric}"])]["value"]
    return (f"{float(value.split(' ')[0]):.1f}",)


def tabled(place: str) -> tuple[str, ...]:
    """A cell of a table of the record: its number, and the interval if it has one."""
    file, texts = place.split(": ", 1)
    *texts, column = texts.split(" | ")
    table = pd.read_csv(RECORD / f"tables/{file}.csv", dtype=str)
    for text in texts:
        table = table[table.apply(lambda row, text=text: any(text in str(c) for c in row), axis=1)]
    (cell,) = table[column]
    return tuple(part for part in NUMBER.match(cell).groups() if part)


def expected(locator: str, words: list[str], before: list[str]) -> list[tuple[str, ...] | None]:
    """The numbers that a locator stands for: value and, if known, both ends of its interval.

    before: the numbers that the row prints so far. None: it is not on record.
    """
    kind, _, rest = locator.partition(": ")
    if locator == "not on record":
        return [None]
    if kind == "published":
        return [published(*rest.split(": ", 1), words)]
    if kind.startswith("table "):
        return [tabled(locator.removeprefix("table "))]
    if DIFFERENCE.fullmatch(locator):
        one, other = (float(before[int(place) - 1]) for place in locator.split(" - "))
        return [(signed((one - other) / 100),)]
    several = [[*words, *locator.split()]]
    for word in (word for word in locator.split() if "&" in word):
        several = [[*(w for w in several[0] if w != word), one] for one in word.split("&")]
    return [measured(one) for one in several]


def tables(file: str) -> dict[str, list[str]]:
    """The rows of each table of a file, by the heading above it."""
    found, heading = {}, ""
    for line in (ROOT / file).read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|"):
            found.setdefault(heading, []).append(line)
    return {heading: lines[2:] for heading, lines in found.items()}


def located(file: str) -> list[tuple[str, str, list[str], list[str]]]:
    """Of each row: its heading, how it begins, the locators of its numbers, their common words."""
    return [
        (
            heading,
            f"| {begins}",
            row
            if isinstance(row, list)
            else [one if DIFFERENCE.fullmatch(one) else f"{one} {row}" for one in table["columns"]],
            table.get("words", "").split(),
        )
        for heading, table in WHERE[file].items()
        for begins, row in table["rows"].items()
    ]


ROWS = [(file, *row) for file in WHERE for row in located(file)]


@pytest.mark.parametrize("file, heading, begins, locators, words", ROWS)
def test_a_row_has_the_numbers_of_the_record(file, heading, begins, locators, words):
    (line,) = [line for line in tables(file)[heading] if line.startswith(begins)]
    printed = NUMBER.findall(line.split("|", 2)[2])
    known: list = []
    for locator in locators:
        known += expected(locator.strip(), words, [value for value, *_ in printed])
    assert len(printed) == len(known), (line, known)
    for (value, *ends), there in zip(printed, known, strict=True):
        if there is not None:
            assert value == there[0], line
            assert not ends[0] or tuple(end.lstrip("+") for end in ends) == tuple(
                end.lstrip("+") for end in there[1:]
            ), line


@pytest.mark.parametrize("file", ["README.md", *PAGES])
def test_every_row_is_checked(file):
    """All tables of a page of findings, and those of README.md that findings.yaml names."""
    for heading, lines in tables(file).items():
        if file in PAGES or heading in WHERE[file]:
            rows = WHERE[file].get(heading, {}).get("rows", {})
            assert len(lines) == len(rows), heading
