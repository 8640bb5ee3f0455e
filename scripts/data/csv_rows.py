"""Rows of a CSV text as lists of cells. Standard library only."""

import csv
import io
import sys

from scripts.running.program import UserError


def records_of(
    text: str, where: str, remedy: str, delimiter: str = ",", quotes: bool = True
) -> list[list[str]]:
    """Return the records of a CSV text, the header first, without empty lines. where: the file,
    for messages. quotes: whether quotes may surround a cell. Raises UserError for a record with
    more or fewer cells than the header, and for broken quotes.
    """
    csv.field_size_limit(sys.maxsize)
    quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    source = io.StringIO(text, newline="")
    reader = csv.reader(source, strict=True, delimiter=delimiter, quoting=quoting)
    records: list[list[str]] = []
    try:
        for cells in reader:
            if records and cells and len(cells) != len(records[0]):
                raise UserError(
                    f"{where}: the record that ends in line {reader.line_num} has {len(cells)} "
                    f"cells, but the header has {len(records[0])}; mend it, or {remedy}"
                )
            records += [cells] if cells else []
    except csv.Error as error:
        raise UserError(
            f"{where}: not a CSV file in UTF-8 (line {reader.line_num}: {error}); mend it, or "
            f"{remedy}"
        ) from None
    if not records:
        raise UserError(f"{where}: not a CSV file in UTF-8 (it is empty); {remedy}")
    return records


def csv_rows(text: str, columns: list[str], where: str) -> list[list[str]]:
    """Return records_of() a text of the project. Raises UserError for a wrong header."""
    rows = records_of(text, where, "put a text with a comma in double quotes")
    if rows[0] != columns:
        raise UserError(f"{where}: its header is not {','.join(columns)}; restore it")
    return rows


def rows_of(rows: list[list[str]], column: str, values: set[str]) -> str:
    """A CSV of the rows (from csv_rows()) that have one of these values in a column, under their
    header.
    """
    place = rows[0].index(column)
    selected = io.StringIO()
    csv.writer(selected, lineterminator="\n").writerows(
        row for row in rows if row is rows[0] or row[place] in values
    )
    return selected.getvalue()
