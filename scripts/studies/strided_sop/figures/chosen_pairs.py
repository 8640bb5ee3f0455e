"""Draw accuracy against stride on chosen pairs: hard pairs, pairs of the same videos, and pairs in
equal number. accuracy_by_stride.py beside explains the marks.
"""

import argparse

from scripts.publish.arguments import run_program
from scripts.publish.names import load
from scripts.publish.panels import publish
from scripts.studies.strided_sop.figures.accuracy_by_stride import COLUMNS, draw, drawn, is_plain
from scripts.studies.strided_sop.figures.metrics import strided_metrics


def main(given: argparse.Namespace) -> None:
    metrics = strided_metrics(given.metrics, load(given.models))
    metrics = metrics[~is_plain(metrics) & metrics["metric"].isin(["accuracy", "peak_accuracy"])]
    shown, sources = drawn(metrics), load(given.sources)
    publish(given, metrics[COLUMNS], lambda: draw(shown, sources))


if __name__ == "__main__":
    run_program(main, __doc__)
