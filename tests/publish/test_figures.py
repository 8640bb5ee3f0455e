"""Every figure of numbers of the studies on record, in its largest or its smallest form, has no cut
mark and no overlapping texts.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from scripts.publish import style
from scripts.publish.item import Given, arguments, by_hand
from tests.forking import Ended
from tests.publish.figure_faults import faults_of
from tests.publish.recorded import Recorded

pytestmark = pytest.mark.slow  # many figures

# For each figure: its study and the preset whose runs it draws.
FIGURES = {
    "accuracy_by_stride": ("strided_sop", "base"),
    "strided_sop_chosen_pairs": ("strided_sop", "base"),
    "strided_sop_learning_curve": ("strided_sop", "curves"),
    "strided_sop_windows": ("strided_sop", "extensions"),
    "strided_sop_stride_matrix": ("strided_sop", "extensions"),
    "strided_sop_which_stride": ("strided_sop", "extensions"),
    "strided_sop_spans": ("strided_sop", "extensions"),
    "temporal_nli_temp_order": ("temporal_nli", "small"),
    "temporal_nli_temp_duration": ("temporal_nli", "small"),
    "temporal_nli_cross_unit": ("temporal_nli", "small"),
    "temporal_nli_generalization": ("temporal_nli", "base"),
    "temporal_nli_held_out_lists": ("temporal_nli", "lists"),
    "temporal_nli_learning_curve": ("temporal_nli", "curves"),
    "mctaco_by_category": ("mctaco", "base"),
    "mctaco_training_size": ("mctaco", "base"),
    "choices_accuracy": ("choices", "transfer"),
    "timedial_accuracy": ("timedial", "base"),
    "timedial_errors_by_rule": ("timedial", "base"),
}
NOT_MODELS = "control baseline majority human".split()
MANY = 7  # further models in the largest form


def here(typed: str, *given) -> Ended:
    """Run a publish program in this process."""
    by_hand(arguments().parse_args(list(map(str, given)), Given()))
    return Ended(typed, 0, "", "")


def small(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep one model with one method and one control, without intervals. Mark all rows as sample
    data, cut to 200 items.
    """
    is_control, is_model = frame["method"] == "control", ~frame["method"].isin(NOT_MODELS)
    kept = ~is_control & ~is_model
    for is_of in (is_model, is_control):
        same = ["model", "method"]
        kept |= is_of & (frame[same] == frame[is_of].iloc[0][same]).all(axis=1)
    return frame[kept].assign(ci_low=np.nan, ci_high=np.nan, sample=True, limit=200)


def large(frame: pd.DataFrame) -> pd.DataFrame:
    """Add MANY models with long names and scores from 0 to 100 % to the first model."""
    model = frame[~frame["method"].isin(NOT_MODELS)]
    first = model[model["model"] == model["model"].iloc[0]]
    more = []
    for number in range(MANY):
        value = (first["value"] + 2 * number / (MANY - 1) - 1).clip(0, 1)
        ends = {"ci_low": (value - 0.04).clip(0, 1), "ci_high": (value + 0.04).clip(0, 1)}
        name = f"another_model_of_many_{number}_instruct"
        more.append(first.assign(model=name, value=value, **ends))
    return pd.concat([frame, *more])


# The largest form of each figure, but of a learning curve, whose legend holds a few models; and the
# smallest of one figure of each study.
FIRST = {study: name for name, (study, _) in reversed(FIGURES.items())}
FORMS = [(name, small if "learning_curve" in name else large) for name in FIGURES]
FORMS += [(name, small) for name in FIRST.values()]


@pytest.mark.parametrize("name, form", FORMS)
def test_no_figure_has_a_fault_in_any_form(name, form, tmp_path, monkeypatch):
    found = []

    def save(draw, given) -> None:
        """Find the faults of the figure, and of the one for a column if there is one."""
        for columns in {2, given.columns}:
            figure = style.drawn(draw, columns)
            assert figure.get_figwidth() == style.WIDTHS[columns]
            found.extend(faults_of(figure))
            if form is small:
                texts = "\n".join(text.get_text() for axes in figure.axes for text in axes.texts)
                assert "SAMPLE DATA" in texts and "AT MOST 200 ITEMS" in texts, "on its face"
            plt.close(figure)

    monkeypatch.setattr(style, "save", save)
    Recorded(tmp_path, here, *FIGURES[name], form).call(name)
    assert found == []
