"""What does choosing the best of several controls on the test do to a model that is level with all?

A model and k controls answer N items, each right with the same probability. The answers of two
controls agree more often than those of a model and a control (a shared normal variable; correlation
0.6 and 0.3). The control is the best of k on the test, or the best of k on as many training items.
Printed: the mean difference of the model, and how often a paired test at 5 % calls it below.

    python -m benchmarks.best_of --times 2000
"""

import argparse
from statistics import NormalDist

import numpy as np

from scripts.running.program import execute, parser

ITEMS, RATE = 300, 0.65
SHARED = 0.3  # of the variance: of the item, for all systems; as much again for all controls
Z = 1.959963984540054


def answers(draw: np.random.Generator, controls: int) -> np.ndarray:
    """Return (1 + controls, ITEMS) 0 or 1: the model first."""
    item, of_controls = draw.normal(size=(2, ITEMS))
    own = draw.normal(size=(1 + controls, ITEMS))
    shared = np.sqrt(SHARED) * np.vstack([np.zeros(ITEMS)] + [of_controls] * controls)
    left = np.sqrt([[1 - SHARED]] + [[1 - 2 * SHARED]] * controls)
    sure = np.sqrt(SHARED) * item + shared + left * own
    return (sure > NormalDist().inv_cdf(1 - RATE)).astype(float)


def differences(times: int, controls: int, on_test: bool) -> tuple[float, float]:
    """Return the mean difference in points, and the share of cases that are called below."""
    draw, found = np.random.default_rng(controls), []
    for _ in range(times):
        test, train = answers(draw, controls), answers(draw, controls)
        chosen = 1 + (test if on_test else train)[1:].mean(1).argmax()
        gaps = test[0] - test[chosen]
        found.append((gaps.mean(), gaps.mean() + Z * gaps.std(ddof=1) / np.sqrt(ITEMS) < 0))
    mean, below = np.mean(found, 0) * 100
    return mean, below


def main(given: argparse.Namespace) -> None:
    print("| controls | chosen on | mean difference (points) | called below (%) |")
    print("| ---: | --- | ---: | ---: |")
    for controls in (1, 3, 10):
        for on_test in (False, True):
            mean, below = differences(given.times, controls, on_test)
            where = "the test" if on_test else "training items"
            print(f"| {controls} | {where} | {mean:+.1f} | {below:.1f} |".replace("-", "−"))


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--times", type=int, default=2000, help="the number of simulated tests")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
