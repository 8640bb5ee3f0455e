"""The page of an audit: one HTML file with one figure. Not a program."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from scripts.audit.features import are_labels
from scripts.audit.reach import Reach, Benchmark
from scripts.data.keyed import keyed_hash
from scripts.publish.parts import data_url, templates
from scripts.publish.style import CONTROL, GREY, INK, drawn

READ, WORDS, MOST = 10, 12, 12  # items to read for each cue; words with most weight; cues shown


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
    texts = options["question"] if labels else options["option"]
    try:
        counter = CountVectorizer(ngram_range=(1, 2), binary=True, min_df=5)
        counter.fit(texts)
    except ValueError:  # fewer words
        return {}
    names = counter.get_feature_names_out()
    for label in sorted(set(options["option"])) if labels else [""]:
        rows = (options["option"] == label).to_numpy() if labels else np.ones(len(options), bool)
        right = options["right"].to_numpy()[rows]
        if len(np.unique(right)) < 2:
            continue
        model = LogisticRegression(C=0.3, solver="liblinear").fit(
            counter.transform(texts[rows]), right
        )
        order = np.argsort(model.coef_[0])
        found[label or "right"] = list(names[order[::-1][:WORDS]])
        if not labels:
            found["wrong"] = list(names[order[:WORDS]])
    return found


def items_to_read(test: Benchmark, which: np.ndarray) -> list[dict]:
    """Return ten of the items, drawn by hash, with their options."""
    names = test.items["item_id"][which]
    chosen = names.iloc[np.argsort(keyed_hash(names))[:READ]].index
    rows = test.options[test.options["item"].isin(chosen)].groupby("item")
    return [
        {
            "item_id": test.items.at[item, "item_id"],
            "text": test.items.at[item, "text"][-400:],
            "question": test.items.at[item, "question"],
            "options": list(zip(part["option"], part["right"])),
        }
        for item, part in rows
    ]


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
    table: pd.DataFrame,
    cues: pd.DataFrame,
    faults: pd.DataFrame,
    hard: pd.DataFrame,
    beside: pd.DataFrame,
    words: str,
) -> None:
    """Write index.html and reaches.svg into a folder."""
    chance = float(test.items["chance"][~test.items["is_train"]].mean())
    categories = table[table["category"] != "all"]
    figure = drawn(lambda: figure_of(reaches, chance, categories))
    figure.savefig(place / "reaches.svg", format="svg", metadata={"Date": None, "Title": name})
    plt.close(figure)
    columns = ["cue", "coverage", "precision", "low", "high", "chance"]
    titles = {reach.name: reach.title for reach in reaches}
    content = {
        "name": name,
        "sentence": verdict["sentence"],
        "picture": data_url((place / "reaches.svg").read_bytes()),
        "learnt": "the training file"
        if test.items["is_train"].any()
        else "other items of the same test",
        "reaches": as_rows(table[table["category"] == "all"].drop(columns="category")),
        "categories": as_rows(categories[categories["shortcut"] == titles[verdict["shortcut"]]]),
        "cues": as_rows(cues[columns].head(MOST)),
        "examples": [
            (cue, items_to_read(test, answered > 0.5))
            for cue, answered in zip(cues["cue"].head(MOST), cues["answered"])
        ],
        "words": heavy_words(test),
        "faults": as_rows(faults.assign(examples=faults["examples"].str.join(", "))),
        "hard": as_rows(
            hard["category"].value_counts().rename_axis("category").reset_index(name="items")
        ),
        "hard_items": len(hard),
        "predictions": as_rows(
            beside.drop(columns=[each for each in beside if each.endswith(("_low", "_high"))])
        )
        if len(beside)
        else None,
        "declaration": words,
    }
    html = templates().get_template("audit.html.j2").render(content)
    (place / "index.html").write_text(html, encoding="utf-8")
