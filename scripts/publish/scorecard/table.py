"""Tabulate the scorecard: models by probes. A cell shows the study's headline, its interval and its
distance to the best control.
"""

import argparse

import pandas as pd

from scripts.publish.arguments import run_program
from scripts.publish.scorecard.card import BELOW, FEET, Scorecard, read_scorecard, size_in_words
from scripts.publish.table import interval, percent, publish_table, signed
from scripts.publish.verdicts import in_short


def cell_text(cell: dict | str) -> str:
    """Return a cell as text: `61.2 (58.1–64.3), +12.0: above; wordings 58.0–63.1`."""
    if isinstance(cell, str):
        return cell
    text = f"{percent(cell['value'])} ({interval(cell)})"
    if pd.notna(cell["above"]):
        over = f" over {percent(cell['over'])}" if pd.notna(cell["over"]) else ""
        text += f", {signed(cell['above'])}{over}: {in_short(cell)}"
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
    """Return the columns' headings: study, probe, corpus if the study has several, and marks. Names
    are short if the headings then still differ.
    """
    corpora = pd.DataFrame(probes).groupby("study")["corpus"].nunique()
    for name_of in ("short", "none, but the title"):
        names = []
        for probe in probes:
            study, corpus = studies[probe["study"]], sources.get(probe["corpus"], {})
            name = f"{study.get(name_of, probe['study_title'])}, {probe['title']}"
            if corpora[probe["study"]] > 1:
                name += f", {corpus.get(name_of, probe['corpus_title'])}"
            names.append(name + probe["note"])
        if len(set(names)) == len(names):
            break
    return names


def tabulate(card: Scorecard) -> pd.DataFrame:
    columns = dict(zip(headings(card.probes, card.studies, card.sources), card.probes))
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
        | {name: cell_text(card.cell(row, probe)) for name, probe in columns.items()}
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
