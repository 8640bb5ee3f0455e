"""A table of cases as one test: every row is tried, and all rows that fail are told together."""

import functools
import inspect
from collections.abc import Callable, Iterable

import pytest


def each_row(names: str, rows: Iterable) -> Callable:
    """Like `pytest.mark.parametrize(names, rows)` for quick cases that leave nothing behind, counted as one test."""
    names, rows = [name.strip() for name in names.split(",")], list(rows)
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
