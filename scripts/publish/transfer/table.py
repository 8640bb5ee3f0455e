"""Tabulate what one training gives to another: each system with and without the weights that it
begins with.
"""

import argparse

import pandas as pd

from scripts.publish.arguments import run_program
from scripts.publish.marks import note_of
from scripts.publish.table import percent, publish_table, signed
from scripts.publish.transfer.metrics import transfers

WORDS = ["Probe", "Corpus", "Dataset", "Split", "System", "Begins", "Metric"]


def told(row: pd.Series) -> str:
    """`by +2.1 (−0.3 to +4.5)`. A spreadsheet takes a text that begins with + for a formula."""
    value, low, high = map(signed, row[["value", "ci_low", "ci_high"]])
    return f"by {value} ({'one group' if pd.isna(row['ci_low']) else f'{low} to {high}'})"


def main(given: argparse.Namespace) -> None:
    table = [
        {
            "Probe": row["probe"],
            "Corpus": row["corpus"] + note_of(row),
            "Dataset": row["dataset"],
            "Split": row["split"],
            "System": row["system"],
            "Begins": row["begun"],
            "Metric": row["metric"].replace("_", " "),
            "With (%)": percent(row["with_value"]),
            "Without (%)": percent(row["without_value"]),
            "Difference (points)": told(row),
            "Seeds": str(row["seeds"]),
            "n": f"{row['n']:,}",
        }
        for _, row in transfers(given.metrics, given.sources, given.models).iterrows()
    ]
    publish_table(given, table, WORDS)


if __name__ == "__main__":
    run_program(main, __doc__)
