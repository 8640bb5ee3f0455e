"""Tabulate what one training gives to another: each system with and without the weights that it
begins with, and the paired difference.
"""

import argparse

import pandas as pd

from scripts.publish.arguments import run_program
from scripts.publish.marks import note_of
from scripts.publish.table import percent, publish_table, signed
from scripts.publish.transfer.metrics import transfers

WORDS = ["Probe", "Corpus", "Dataset", "Split", "System", "Begins", "Metric"]
CAPTION = (
    "Transfer: a model that begins with weights trained on something else, against the same model "
    "without, on the same items with the same seeds. Means over the seeds; the difference with its "
    "95 % interval over paired groups and seeds."
)


def told(row: pd.Series) -> str:
    """A difference with its interval: `by +2.1 (−0.3 to +4.5)`.

    A word first: a spreadsheet would take a text that begins with + for a formula.
    """
    span = (
        "one group"
        if pd.isna(row["ci_low"])
        else f"{signed(row['ci_low'])} to {signed(row['ci_high'])}"
    )
    return f"by {signed(row['value'])} ({span})"


def main(given: argparse.Namespace) -> None:
    found = transfers(given.metrics, given.sources, given.models)
    table = pd.DataFrame(
        [
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
            for _, row in found.iterrows()
        ]
    )
    publish_table(given, table, CAPTION, WORDS)


if __name__ == "__main__":
    run_program(main, __doc__)
