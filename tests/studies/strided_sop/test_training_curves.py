"""The curves of training: what a figure shows of the histories of runs."""

import numpy as np
import pandas as pd

from scripts.studies.strided_sop.figures.training_curves import draw


def test_no_stride_is_cut_by_the_limits_of_a_flatter_one():
    losses = {0: [0.693, 0.694, 0.692], 1: [0.69, 0.60, 0.40]}
    history = pd.DataFrame(
        [
            {
                "source": "corpus",
                "model": "m",
                "variant": "{}",
                "stride": stride,
                "split": split,
                "epoch": epoch,
                "loss": loss,
                "accuracy": 0.5,
                "selected": epoch == 3,
                "limit": None,
                "summed": False,
                "sample": False,
                "seed": 1,
                "run": f"run{stride}",
            }
            for stride, of_epochs in losses.items()
            for split in ("train", "val")
            for epoch, loss in enumerate(of_epochs, 1)
        ]
    )
    figure = draw(
        history, {"corpus": {"title": "Corpus", "evaluate": ["val"]}}, {"m": {"title": "M"}}
    )
    panels = [axes for axes in figure.axes if axes.lines]
    assert len(panels) == 4
    for axes in panels:
        drawn = np.concatenate([np.ravel(line.get_ydata()) for line in axes.lines]).astype(float)
        low, high = axes.get_ylim()
        assert low <= np.nanmin(drawn) and np.nanmax(drawn) <= high
