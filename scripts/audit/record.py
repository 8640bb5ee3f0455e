"""Put audits on record: each audit.json, a table with a row for each, and the figure of
docs/audit.md.

Reads  FOLDER/<benchmark>/audit.json (scripts/audit/audit.py)
Writes RECORD/<benchmark>.json, RECORD/audits.csv and manifest.json (their hashes), and --figure

    python -m scripts.audit.record results/audit docs/record/audit --figure docs/figures/audit.svg
"""

import argparse
import json
from pathlib import Path

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from scripts.data.csv_files import write_csv
from scripts.data.files import whole
from scripts.data.manifest import write_manifest
from scripts.data.yaml_files import entries_of
from scripts.publish.style import COLOURS, GREY, INK, drawn
from scripts.running.program import UserError, execute, parser

SOURCES = Path(__file__).parents[2] / "resources/sources.yaml"
SHOWN = {  # columns of the figure: their titles and marks, the last above the others
    "published": ("best published", "x", COLOURS[1]),
    "people": ("people", "^", COLOURS[1]),
    "words": ("everything, by words", "s", COLOURS[0]),
    "best": ("farthest shortcut", "o", INK),
}


def row_of(name: str, audit: dict, entry: dict) -> dict:
    """Return the row of an audit: shares in per cent. entry: of its source, whose published numbers
    give those of people, or the best one of others.
    """
    reaches, best = audit["reaches"], audit["verdict"]["shortcut"]
    names = ("position", "options", "options_with_copies", "question", "context", "words")
    shares = {"chance": audit["chance"]} | {key: reaches[key] for key in names}
    shares |= dict(zip(("best", "low", "high"), (reaches[best], *reaches[f"{best}_interval"])))
    row = {"benchmark": name, "title": entry.get("title", name)}
    row |= {"items": audit["items"], "groups": audit["groups"]}
    row |= {key: None if value is None else round(100 * value, 1) for key, value in shares.items()}
    row |= {"shortcut": best, "part": audit["verdict"]["part"]}
    for column, is_human in (("people", True), ("published", False)):
        known = entry.get("published", [])
        numbers = [one["value"] for one in known if (one.get("model") == "human") == is_human]
        row[column] = max(numbers, default=None)
    return row


def figure_of(rows: pd.DataFrame) -> Figure:
    """A line a test: chance (a stroke), the farthest shortcut with its interval, everything by
    words, and people; where no number of people is known, the best published one.
    """
    rows = rows.sort_values("best", ignore_index=True)
    rows["published"] = rows["published"].where(rows["people"].isna())
    figure, axes = plt.subplots(figsize=(7.0, 0.8 + 0.25 * len(rows)), layout="constrained")
    axes.plot(rows["chance"], rows.index, "|", color=GREY, markersize=10, label="chance")
    axes.hlines(rows.index, rows["low"].astype(float), rows["high"].astype(float), color=INK)
    for column, (label, marker, colour) in SHOWN.items():
        axes.plot(rows[column], rows.index, marker, color=colour, markersize=4.5, label=label)
    axes.set_yticks(rows.index, rows["title"])
    axes.set(xlim=(0, 100), xlabel="items answered, %")
    axes.grid(axis="x")
    figure.legend(loc="outside upper center", ncols=5, columnspacing=1, handletextpad=0)
    return figure


def main(given: argparse.Namespace) -> None:
    files = sorted(given.folder.glob("*/audit.json"))
    if not files:
        raise UserError(f"{given.folder}: has no <benchmark>/audit.json; audit a benchmark first")
    audits = {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}
    for name, audit in audits.items():
        with whole(given.record / f"{name}.json") as place:
            text = json.dumps(audit, ensure_ascii=False, separators=(",", ":"))
            place.write_text(text + "\n", encoding="utf-8")
    known = entries_of(SOURCES)
    rows = pd.DataFrame(
        [row_of(name, audit, known.get(name, {})) for name, audit in audits.items()]
    )
    write_csv(rows, given.record / "audits.csv")
    names = [f"{name}.json" for name in audits]
    write_manifest(given.record, [*names, "audits.csv"], given.record / "manifest.json")
    figure = drawn(lambda: figure_of(rows))
    with whole(given.figure) as place:
        figure.savefig(place, format="svg", metadata={"Date": None})
    plt.close(figure)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("folder", type=Path, help="the folder of audits")
    options.add_argument("record", type=Path, help="the folder of the record")
    options.add_argument("--figure", type=Path, required=True, help="the figure, .svg")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
