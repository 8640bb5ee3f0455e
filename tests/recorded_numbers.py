"""Find the numbers in the tables of README.md and of the docs in docs/record.

recorded_numbers.yaml gives the place of each number. A test (tests/project/test_findings.py)
compares them. After the record has changed, `--write` writes the record's numbers into the tables.

    python -m tests.recorded_numbers --write
"""

import argparse
import functools
import re
from pathlib import Path

import pandas as pd

from scripts.data.yaml_files import read_yaml
from scripts.publish.table import percent, signed

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs/record"
NAMED = "study preset experiment dataset held_out method model split slice scoring metric".split()
OF_KIND = re.compile(r"(beside|control):(\w+)")  # a difference to the control of a kind, its score
MEANS = ["value", "ci_low", "ci_high"]
NUMBER = re.compile(r"([+−]?\d+\.\d)( \([+−]?\d+\.\d(?:–| to )[+−]?\d+\.\d\))?")
WHERE = read_yaml(ROOT / "tests/recorded_numbers.yaml")

Number = tuple[str, ...]  # a value, and both ends of its interval if there is one


@functools.cache
def record() -> pd.DataFrame:
    """Read the means on record of all studies, without draws."""
    tables = [pd.read_parquet(file) for file in sorted(RECORD.glob("*/metrics.parquet"))]
    tables = [table.reindex(columns=[*NAMED, *MEANS, "seed", "wording"]) for table in tables]
    rows = pd.concat(tables, ignore_index=True)
    is_mean = rows["wording"].isna() | (rows["method"] == "released")
    rows = rows[rows["seed"].isna() & is_mean & (rows["metric"] != "confusion")]
    return rows.astype({name: "category" for name in NAMED})


@functools.cache
def comparisons() -> pd.DataFrame:
    """Read the comparisons on record of all studies, over all wordings."""
    rows = pd.concat(pd.read_parquet(file) for file in sorted(RECORD.glob("*/comparisons.parquet")))
    rows = rows[rows["wording"].isna() | (rows["method"] == "released")].reset_index(drop=True)
    return rows.reindex(columns=[*NAMED, "kind", "difference", "control_value", *MEANS])


@functools.cache
def rows_with(word: str, of_kind: bool = False) -> pd.Series:
    """Return which rows of the record have this word in some column."""
    return ((comparisons() if of_kind else record())[NAMED] == word).any(axis=1)


def measured(words: list[str]) -> Number:
    """Return the number of the one row of the record that has these words; the last word that names
    a metric counts. beside:KIND, control:KIND: of the comparison with the control of a kind.
    """
    kind = next(filter(None, map(OF_KIND.fullmatch, words)), None)
    table = comparisons() if kind else record()
    metrics = [word for word in words if word in record()["metric"].cat.categories]
    others = {word for word in words if word not in metrics and not OF_KIND.fullmatch(word)}
    if not any("=" in word for word in words):
        others.add("all")  # the slice
    rows = table[table["metric"] == metrics[-1]]
    rows = rows[rows["kind"] == kind[2]] if kind else rows
    for word in others:
        rows = rows[rows_with(word, bool(kind)).loc[rows.index]]
    shown = {"beside": ["difference", *MEANS[1:]], "control": ["control_value"]}
    columns = shown[kind[1]] if kind else MEANS
    assert len(rows[columns].drop_duplicates()) == 1, f"{' '.join(words)}: {len(rows)} rows"
    show = signed if kind and kind[1] == "beside" else percent
    return tuple(show(rows.iloc[0][name]) for name in columns)


def published(metric: str, name: str, words: list[str]) -> Number:
    """Return the paper's value, from the row of the study's published numbers with this ending."""
    (study,) = {path.name for path in (ROOT / "scripts/studies").iterdir()} & set(words)
    table = pd.read_csv(ROOT / f"scripts/studies/{study}/published.csv", dtype=str)
    is_row = (table["table"] + ": " + table["row"]).str.endswith(name)
    (value,) = table[is_row & table["metric"].isin([metric, f"reported.{metric}"])]["value"]
    return (f"{float(value.split(' ')[0]):.1f}",)


def tabled(file: str, texts: list[str], column: str) -> Number:
    """Return a cell of a table of the record, in the row whose cells match these regular
    expressions.
    """
    table = pd.read_csv(RECORD / f"tables/{file}.csv", dtype=str)
    for text in texts:
        table = table[
            table.apply(
                lambda row, text=text: any(re.search(text, c) for c in row.dropna()), axis=1
            )
        ]
    (cell,) = table[column]
    return tuple(re.findall(r"[\d.]+", cell))


def found(locator: str, words: list[str]) -> list[Number]:
    """Return the numbers of a locator; an empty one if the number is not on record."""
    kind, _, rest = locator.partition(": ")
    if locator == "not on record":
        return [()]
    if kind == "published":
        return [published(*rest.split(": ", 1), words)]
    if kind.startswith("table "):
        *texts, column = rest.split(" | ")
        return [tabled(kind.removeprefix("table "), texts, column)]
    several = [[*words, *locator.split()]]
    for word in (word for word in locator.split() if "&" in word):
        several = [[*(w for w in several[0] if w != word), one] for one in word.split("&")]
    return [measured(one) for one in several]


def printed(number: Number, there: re.Match) -> str:
    """Return the number as text, with its interval if the table shows one there."""
    if not number or not there[2]:
        return number[0] if number else there[0]
    value, low, high = number
    if low[0] == "−" or high[0] == "+" != low[0]:
        return f"{value} ({low} to {high})"
    if low[0] == "+":
        return f"{value} ({low[1:]} to {high[1:]})"
    return f"{value} ({low}–{high})"


def rewritten(line: str, locators: list[str], words: list[str]) -> str:
    """Return a table's row with the numbers of the record, from its second cell on."""
    numbers = [number for locator in locators for number in found(locator.strip(), words)]
    first = line.index("|", 1)
    places = list(NUMBER.finditer(line, first))
    assert len(places) == len(numbers), f"{line}: {numbers}"
    for place, number in zip(reversed(places), reversed(numbers), strict=True):
        line = line[: place.start()] + printed(number, place) + line[place.end() :]
    return line


def tables(file: str) -> dict[str, list[str]]:
    """Return the rows of the tables of a file, by the heading above them."""
    rows, heading = {}, ""
    for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|"):
            rows.setdefault(heading, []).append(line)
    return {heading: lines[2:] for heading, lines in rows.items()}


def rows_of(file: str) -> list[tuple[str, str, list[str], list[str]]]:
    """Return for each row: its heading, its beginning, the locators of its numbers, their common
    words.
    """
    rows = []
    for heading, table in WHERE[file].items():
        for begins, row in table["rows"].items():
            if not isinstance(row, list):
                columns = table["columns"]
                row = [f"{one} {row}" for one in columns]
            rows.append((heading, f"| {begins}", row, table.get("words", "").split()))
    return rows


def line_of(file: str, heading: str, begins: str) -> str:
    """Return the one row of a table that begins with this text."""
    lines = [line for line in tables(file)[heading] if line.startswith(begins)]
    assert len(lines) == 1, f"{file}, {heading}: {len(lines)} rows begin with {begins}"
    return lines[0]


def write() -> None:
    """Write the record's numbers into all tables."""
    for file in WHERE:
        text = (ROOT / file).read_text(encoding="utf-8")
        for heading, begins, locators, words in rows_of(file):
            line = line_of(file, heading, begins)
            section = text.index(f"# {heading}\n")
            place = text.index(f"{line}\n", section)
            text = text[:place] + rewritten(line, locators, words) + text[place + len(line) :]
        (ROOT / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true", required=True)
    parser.parse_args()
    write()
