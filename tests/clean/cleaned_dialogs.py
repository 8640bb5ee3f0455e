"""Call the cleaners and read their counts."""

import pandas as pd


def call(program, name, fetched, output, provenance="{}", *more, ok=True):
    """Call the cleaner of this name; return its output, or its error. more: further options."""
    done = program(
        f"scripts.clean.{name} --source {name} --fetched {fetched} --output {output}",
        *("--provenance", provenance, *more),
    ).checked(ok)
    assert ok or done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    assert ok or not list(output.glob("*")), "nothing half done is left"
    return output if ok else done.stderr


def counted(folder):
    table = pd.read_csv(folder / "cleaning.csv", keep_default_na=False)
    assert list(table.columns) == "source split unit action reason count".split()
    return table.set_index("split unit action reason".split())["count"]
