"""Write a table in its three published forms: CSV, Markdown and LaTeX. Write the points of a figure
as CSV.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

import pandas as pd

from scripts.data.csv_files import write_csv
from scripts.data.files import whole
from scripts.data.yaml_files import read_yaml
from scripts.running.program import log
from scripts.publish.item import Given
from scripts.publish.latex import PAGE, latex_table
from scripts.publish.marks import MARK, meant, with_replicates

# A column with names of experiments (`, ` between them), which the page links to their runs. LaTeX
# lacks it. `Experiment of X` has the names for the column X; the page shows them as links alone.
EXPERIMENT = "Experiment"
OF_COLUMN = f"{EXPERIMENT} of "
# Characters that turn the direction of the text after them. They are shown as escapes.
TURNS = {turn: f"\\u{turn:04x}" for turn in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def percent(share: float | None, decimals: int = 1) -> str:
    return "" if share is None or pd.isna(share) else f"{share * 100:.{decimals}f}"


def with_commas(text: str) -> str:
    """Return `1,104` for 1104; any other text unchanged."""
    return f"{int(text):,}" if text.isdigit() and len(text) > 3 else text


def interval(row: Mapping, decimals: int = 1) -> str:
    """Return an interval as `52.0–56.1`, or `one group`: a single group allows no interval."""
    low, high = (percent(row[end], decimals) for end in ("ci_low", "ci_high"))
    return f"{low}–{high}" if low else "one group"


def number_cells(name: str, row: Mapping | None) -> dict[str, str]:
    """Return the cells of a number, its sd and its interval; empty cells if there is no row."""
    return {
        f"{name} (%)": "" if row is None else percent(row["value"]),
        f"{name} sd": "" if row is None else percent(row["sd"]),
        f"{name} 95 % interval": "" if row is None else interval(row),
    }


def caption_of(given: Given, table: pd.DataFrame | None = None) -> str:
    """Return the caption of a table from figures.yaml, empty for a name that is not in it (of a
    program run by hand). With `table`, it also explains the marks in this table.
    """
    file, name = given.resources / "figures.yaml", given.output.name
    items = read_yaml(file) if file.exists() else []
    text = " ".join(next((item["caption"] for item in items if item["name"] == name), "").split())
    if table is None:
        return text
    if "Wordings" in table:
        has_seeds = "Seeds" in table and bool((table["Seeds"] != "").any())
        text = with_replicates(text, has_seeds, bool((table["Wordings"] != "").any()))
    found = {mark for cell in table.to_numpy().flat for mark in MARK.findall(str(cell))}
    return " ".join([text, *meant(found)])


def by_metric(rows: pd.DataFrame, column: str = "metric") -> dict[str, pd.Series]:
    return {row[column]: row for _, row in rows.iterrows()}


def signed(difference: float) -> str:
    """Return a difference of shares in points: `+2.1`, `−0.3`, `0.0`."""
    text = f"{difference * 100:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def markdown(text: str) -> str:
    for sign in "\\|*_`<[":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")


def without_turns(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose texts show the characters that turn directions."""
    return table.map(lambda cell: cell.translate(TURNS) if isinstance(cell, str) else cell)


def write_points(points: pd.DataFrame, output: Path) -> None:
    write_csv(without_turns(points), output.with_name(f"{output.name}.csv"))


def markdown_table(table: pd.DataFrame, numbers: Collection[str] = ()) -> str:
    lines = [
        [markdown(column) for column in table],
        ["---:" if column in numbers else "---" for column in table],
        *([markdown(cell) for cell in row] for row in table.to_numpy()),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write(
    table: pd.DataFrame, caption: str, numbers: list[str], output: Path, holds: int = PAGE
) -> None:
    """Write a table of text cells; the columns `numbers` are set flush right. holds: of
    latex_table().
    """
    table = without_turns(table).rename(columns=lambda name: name.translate(TURNS))
    numbers = [name.translate(TURNS) for name in numbers]
    write_csv(table, output.with_name(f"{output.name}.csv"))
    table = table[[name for name in table if not name.startswith(OF_COLUMN)]]
    plain = table.drop(columns=EXPERIMENT, errors="ignore")
    files = {
        "md": f"{markdown_table(table, numbers)}\n{markdown(caption)}\n",
        "tex": latex_table(plain, caption, numbers, output.name, holds),
    }
    for suffix, text in files.items():
        with whole(output.with_name(f"{output.name}.{suffix}")) as place:
            place.write_text(text, encoding="utf-8")


def filled(table: pd.DataFrame, words: Collection[str]) -> pd.DataFrame:
    """Return the table with the columns of words and the other columns that are not empty."""
    return table.loc[:, [name for name in table if name in words or (table[name] != "").any()]]


def publish_table(
    given: Given, table: pd.DataFrame | list[dict], words: Collection[str], holds: int = PAGE
) -> None:
    """Write a table in its three forms. words: the columns without numbers. If `table` is a list of
    rows, the columns that no row fills are left out. holds: of latex_table().
    """
    if isinstance(table, list):
        table = filled(pd.DataFrame(table).fillna(""), words)
    numbers = [name for name in table if name not in words]
    write(table, caption_of(given, table), numbers, given.output, holds)
    log.info("%s: %d rows", given.output, len(table))
