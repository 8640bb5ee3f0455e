"""Draw what one training gives to another: paired differences, a panel for each probe.

A row is a system on a corpus, a mark how many points it gains by beginning with weights that were
trained on something else before. Grey: after as much training on the same texts with coins for
labels.
"""

import argparse

from scripts.publish.arguments import run_program
from scripts.publish.panels import forest_of, publish
from scripts.publish.transfer.metrics import transfers

CONTROL = "control: after as much training on the same pairs, with coins for labels"


def main(given: argparse.Namespace) -> None:
    found = transfers(given.metrics, given.sources, given.models)
    panels = []
    for probe, points in found.groupby("probe", sort=False):
        row = points["system"]
        for name in ("dataset", "split"):
            several = points.groupby("source")[name].transform("nunique") > 1
            row += (", " + points[name]).where(several, "")
        corpora = ", ".join(dict.fromkeys(points["corpus"]))
        detail = f"{corpora}; {points['metric'].iloc[0].replace('_', ' ')}"
        panels.append((probe, detail, points.assign(row=row, series=points["begun"])))
    xlabel, line = "points above the same model without", "no difference"
    publish(given, found, lambda: forest_of(panels, xlabel, 0.0, line, CONTROL))


if __name__ == "__main__":
    run_program(main, __doc__)
