"""Rows of a CSV text as lists of cells. Standard library only."""

import csv
import io

from scripts.running.program import UserError


def csv_rows(text: str, columns: list[str], where: str) -> list[list[str]]:
    """Return the rows of a CSV text, the header first, without empty lines. where: the file, for
    messages. Raises UserError for a wrong header, and for a row with a wrong number of cells.
    """
    rows = []
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        for row in reader:
            if row and len(row) != len(columns):
                raise UserError(
                    f"{where}: line {reader.line_num} ends a row of {len(row)} cells, but the "
                    f"header has {len(columns)}; put a text with a comma in double quotes"
                )
            rows += [row] if row else []
    except csv.Error as error:
        raise UserError(
            f"{where}: line {reader.line_num} is not CSV ({error}); correct it there"
        ) from None
    if not rows or rows[0] != columns:
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
