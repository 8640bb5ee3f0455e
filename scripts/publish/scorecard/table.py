"""Tabulate the scorecard: models by probes, each cell the study's headline, how sure it is and how
far it lies above the best control.
"""

import argparse
from collections.abc import Callable, Mapping

import pandas as pd

from scripts.publish.arguments import run_program
from scripts.publish.scorecard.card import BELOW, FEET, Scorecard, read_scorecard, size_in_words
from scripts.publish.table import interval, percent, publish_table, signed

NO_BETTER = "†"


def cell_text(cell: Mapping) -> str:
    """`61.2 (58.1–64.3), +12.0; wordings 58.0–63.1`, marked where not clearly above the control."""
    text = f"{percent(cell['value'])} ({interval(cell)})"
    if pd.notna(cell["above"]):
        over = f" over {percent(cell['over'])}" if pd.notna(cell["over"]) else ""
        text += f", {signed(cell['above'])}{over}" + ("" if cell["clear"] else f" {NO_BETTER}")
    if pd.notna(cell["above_same_view"]):
        text += f" (one candidate {signed(cell['above_same_view'])})"
    if pd.notna(cell["blind"]):
        text += f"; blind {percent(cell['blind'])}"
    if pd.notna(cell["wordings"]) and cell["wordings"] > 1:
        text += f"; wordings {percent(cell['lowest'])}–{percent(cell['highest'])}"
    if pd.notna(cell["unread"]):
        text += f"; unread {percent(cell['unread'])}"
    if cell["learnt_part"]:
        text += f"; learnt from {cell['learnt_part']}"
    return text


def headings(probes: list[dict], studies: dict, sources: dict) -> list[str]:
    """Study, what is probed, the corpus where the study has several, and marks; short names where
    these tell the columns apart.
    """
    corpora = pd.DataFrame(probes).groupby("study")["corpus"].nunique()

    def names(name_of: Callable[[dict, str], str]) -> list[str]:
        parts = [
            [
                name_of(studies[probe["study"]], probe["study_title"]),
                probe["title"],
                name_of(sources.get(probe["corpus"], {}), probe["corpus_title"]),
            ][: 2 + (corpora[probe["study"]] > 1)]
            for probe in probes
        ]
        return [", ".join(part) + probe["note"] for part, probe in zip(parts, probes)]

    short = names(lambda entry, title: entry.get("short", title))
    return short if len(set(short)) == len(short) else names(lambda entry, title: title)


def tabulate(card: Scorecard) -> pd.DataFrame:
    columns = dict(zip(headings(card.probes, card.studies, card.sources), card.probes))
    texts = {
        (cell["model"], cell["way"], cell["probe"]): cell_text(cell)
        for cell in card.cells.to_dict("records")
    }
    feet = {
        (foot["who"], foot["probe"]): percent(foot["value"])
        + f" ({foot['ends']})" * bool(foot["ends"])
        + f", {foot['whose']}" * bool(foot["whose"])
        for foot in card.feet.to_dict("records")
    }
    table = [
        {
            "Kind": row["kind"],
            "Model": row["title"],
            "Parameters": size_in_words(row["parameters"]),
            "Asked": row["asked"],
        }
        | {
            name: texts.get((row["model"], row["way"], probe["probe"]), card.missing(row, probe))
            for name, probe in columns.items()
        }
        for row in card.rows
    ] + [
        {"Kind": BELOW, "Model": who}
        | {name: feet.get((who, probe["probe"]), "") for name, probe in columns.items()}
        for who in FEET
        if who in set(card.feet["who"])
    ]
    table = pd.DataFrame(table).fillna("")
    return table if (table["Parameters"] != "").any() else table.drop(columns="Parameters")


def main(given: argparse.Namespace) -> None:
    table = tabulate(read_scorecard(given))
    publish_table(given, table, set(table) - {"Parameters"})


if __name__ == "__main__":
    run_program(main, __doc__, "runs")
