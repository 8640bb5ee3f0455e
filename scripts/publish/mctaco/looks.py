"""How the systems of mctaco look in its figures. Apart from their numbers, since tables draw nothing and need no matplotlib."""

import pandas as pd
from matplotlib.lines import Line2D

from scripts.publish import style
from scripts.publish.mctaco.metrics import BASELINES

LABELLED = 12  # systems beside one another: of more, the legend tells unit normalization once


def looks(metrics: pd.DataFrame) -> dict[str, dict]:
    """Per trained system its colour and marker, by model and method; with unit normalization open markers and dashed lines; controls
    grey."""
    own = metrics[~metrics["model"].isin(BASELINES)].drop_duplicates("system")
    trained, controls = own[own["method"] != "control"], own[own["method"] == "control"]
    kinds = style.told_apart(zip(trained["kind"], trained["model"], trained["method"].replace("untrained", "train")))
    greys = {kind: style.CONTROL_MARKERS[number % 6] for number, kind in enumerate(dict.fromkeys(controls["kind"]))}
    return {row["system"]: {"colour": style.CONTROL, "marker": greys[row["kind"]], "face": style.PAPER, "line": "-"}
            for _, row in controls.iterrows()} | {row["system"]: {
        "colour": kinds[row["kind"]][0], "marker": kinds[row["kind"]][1],
        "face": style.PAPER if row["unit_normalization"] else kinds[row["kind"]][0],
        "line": (0, (4, 1.6)) if row["unit_normalization"] else "-",
    } for _, row in trained.iterrows()}


def legend_of_systems(points: pd.DataFrame, known: dict[str, dict]) -> list[Line2D]:
    """The models' marks, each once: with unit normalization they are open, which is told once."""
    systems = points[points["system"].isin(known) & (points["method"] != "control")].drop_duplicates("kind")
    handles = [Line2D([], [], color=known[system]["colour"], marker=known[system]["marker"], markersize=5, linestyle="", label=kind)
               for system, kind in zip(systems["system"], systems["kind"])]
    if points["unit_normalization"].any():
        handles.append(Line2D([], [], color=style.GREY, marker="o", markersize=5, markerfacecolor=style.PAPER, linestyle="",
                              label="open: + unit normalization"))
    return handles
