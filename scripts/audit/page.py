"""The page of an audit: one HTML file with one figure. Not a program."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from scripts.audit.cues import CUE
from scripts.audit.features import are_labels
from scripts.audit.predictions import KEPT
from scripts.audit.reach import Reach, Benchmark
from scripts.data.keyed import keyed_hash
from scripts.publish.parts import data_url, templates
from scripts.publish.style import CONTROL, GREY, INK, drawn

READ, WORDS, MOST = 10, 12, 12  # items to read for each cue; words with most weight; cues shown
LONGEST = 400  # letters of a text to read


def figure_of(reaches: list[Reach], chance: float, categories: pd.DataFrame) -> Figure:
    """A line a shortcut: its share with its interval, where variants were learnt from (hollow), and
    the categories (small).
    """
    figure, axes = plt.subplots(figsize=(7.0, 0.6 + 0.27 * len(reaches)), layout="constrained")
    axes.axvline(chance * 100, color=GREY, linestyle="--", linewidth=0.8)
    for row, reach in enumerate(reversed(reaches)):
        low, high = reach.shown.ci_low, reach.shown.ci_high
        if low is not None and high is not None:
            axes.plot([low * 100, high * 100], [row, row], color=INK, linewidth=1.2)
        of_category = categories.loc[categories["shortcut"] == reach.title, "share"] * 100
        axes.plot(of_category, [row] * len(of_category), "|", color=CONTROL, markersize=7)
        axes.plot(reach.share_copies.value * 100, row, "o", mfc="none", color=GREY, markersize=5)
        axes.plot(reach.shown.value * 100, row, "o", color=INK, markersize=5)
    axes.set_yticks(range(len(reaches)), [reach.title for reach in reversed(reaches)])
    axes.set(xlim=(0, 100), xlabel="items answered, % (dashed: chance)")
    axes.grid(axis="x")
    return figure


def heavy_words(test: Benchmark) -> dict[str, list[str]]:
    """Return the words with most weight: of options for right and wrong, or of the question for
    each label.
    """
    options, found = test.options, {}
    labels = are_labels(options)
    texts, kinds = options["option"], pd.Series("", options.index)
    if labels:
        texts, kinds = options["question"], options["option"]
    try:
        counter = CountVectorizer(ngram_range=(1, 2), binary=True, min_df=5).fit(texts)
    except ValueError:  # fewer words
        return {}
    names = counter.get_feature_names_out()
    for label, rows in options.groupby(kinds):
        if rows["right"].nunique() < 2:
            continue
        model = LogisticRegression(C=0.3, solver="liblinear")
        model.fit(counter.transform(texts[rows.index]), rows["right"])
        order = np.argsort(model.coef_[0])
        found[label or "right"] = list(names[order[::-1][:WORDS]])
        if not labels:
            found["wrong"] = list(names[order[:WORDS]])
    return found


def items_to_read(test: Benchmark, which: np.ndarray) -> list[dict]:
    """Return ten of the items, drawn by hash, with their options."""
    items = test.items[which]
    items = items.iloc[np.argsort(keyed_hash(items["item_id"]))[:READ]].sort_index()
    rows = test.options[test.options["item"].isin(items.index)].groupby("item")
    options = [list(zip(part["option"], part["right"])) for _, part in rows]
    shown = items.assign(
        text=items["text"].str[-LONGEST:], question=items["question"].str[-LONGEST:]
    )
    return shown.assign(options=options).to_dict("records")


def as_rows(table: pd.DataFrame) -> dict:
    """Return a table for the template, shares in per cent."""
    cells = table.map(lambda cell: f"{cell * 100:.1f}" if isinstance(cell, float) else str(cell))
    cells = cells.where(table.notna(), "")
    return {"heads": [name.replace("_", " ") for name in cells], "rows": cells.to_numpy().tolist()}


def write_page(
    place: Path,
    name: str,
    verdict: dict,
    test: Benchmark,
    reaches: list[Reach],
    tables: dict[str, pd.DataFrame],
    declaration: str,
) -> None:
    """Write index.html and reaches.svg into a folder."""
    is_whole = tables["reaches"]["category"] == "all"
    whole, parts = (tables["reaches"][rows] for rows in (is_whole, ~is_whole))
    figure = drawn(lambda: figure_of(reaches, test.chance, parts))
    figure.savefig(place / "reaches.svg", format="svg", metadata={"Date": None, "Title": name})
    plt.close(figure)
    best = next(reach.title for reach in reaches if reach.name == verdict["shortcut"])
    cues, hard, kept = tables["cues"].head(MOST), tables["hard_items"], tables["predictions"]
    faults = tables["faults"]
    faults = faults.assign(examples=faults["examples"].str.join(", "))
    counts = hard["category"].value_counts().rename_axis("category").reset_index(name="items")
    content = {
        "name": name,
        "sentence": verdict["sentence"],
        "picture": data_url((place / "reaches.svg").read_bytes()),
        "has_train": test.items["is_train"].any(),
        "reaches": as_rows(whole.drop(columns="category")),
        "categories": as_rows(parts[parts["shortcut"] == best]),
        "cues": as_rows(cues[CUE]),
        "examples": [
            (cue, items_to_read(test, right > 0.5))
            for cue, right in zip(cues["cue"], cues["answered"])
        ],
        "words": heavy_words(test),
        "faults": as_rows(faults),
        "hard": as_rows(counts),
        "hard_items": len(hard),
        "predictions": as_rows(kept[KEPT]),
        "declaration": declaration,
    }
    html = templates().get_template("audit.html.j2").render(content)
    (place / "index.html").write_text(html, encoding="utf-8")
