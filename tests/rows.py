"""A table of cases as one test, which tries every row and reports all failed rows together; and
tables as text.
"""

import functools
import inspect
from collections.abc import Callable, Iterable

import pytest
import yaml


def rows_of(text: str) -> list[tuple]:
    """Return the rows of a table, one on each line. Its cells are separated by | and are YAML:
    words, numbers, null, [a, list].
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [
        tuple(yaml.load(cell, loader) for cell in line.split("|"))
        for line in text.strip().splitlines()
    ]


def texts_of(text: str) -> list[tuple]:
    """Return the rows of a table whose cells are texts with any sign but |."""
    return [tuple(map(str.strip, line.split("|"))) for line in text.strip().splitlines()]


def each_row(names: str, rows: Iterable | str) -> Callable:
    """Replace `pytest.mark.parametrize(names, rows)` for quick cases that leave nothing behind; all
    rows count as one test.
    """
    names = [name.strip() for name in names.split(",")]
    assert len(names) > 1 or not isinstance(rows, str), "a table as text needs several columns"
    rows = rows_of(rows) if isinstance(rows, str) else list(rows)
    assert rows, "a table without rows tests nothing"

    def decorate(test: Callable) -> Callable:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def all_rows(**fixtures):
            faults = []
            for row in rows:
                values = dict(zip(names, row if len(names) > 1 else [row], strict=True))
                try:
                    test(**fixtures, **values)
                except (Exception, pytest.fail.Exception) as fault:
                    faults.append(
                        f"{', '.join(f'{name}={value!r}' for name, value in values.items())}\n"
                        f"    {type(fault).__name__}: {fault}"
                    )
            if faults:
                pytest.fail(
                    f"{len(faults)} of {len(rows)} rows:\n" + "\n".join(faults), pytrace=False
                )

        all_rows.__signature__ = signature.replace(
            parameters=[
                parameter for name, parameter in signature.parameters.items() if name not in names
            ]
        )
        return all_rows

    return decorate
