"""Tabulate the scorecard: models by probes. A cell shows the study's headline, its interval, and
its differences to the controls of each kind with their verdicts.

With an --output that ends in _column, the table fits a column of a paper (3.3 in): the first probe
of each study, its score and the distance.
"""

import pandas as pd

from scripts.measure.comparisons import ABOVE, BELOW as BELOW_CONTROL
from scripts.measure.comparisons import LIKE, MORE, SHORTCUT, TITLES
from scripts.publish import latex
from scripts.publish.item import Given
from scripts.publish.scorecard.card import BELOW, FEET, NO_HEADLINE, Scorecard, at
from scripts.publish.scorecard.card import read_scorecard, size_in_words
from scripts.publish.table import OF_COLUMN, interval, percent, publish_table, signed


def cell_text(cell: dict | str) -> str:
    """Return a cell as text: `61.2 (58.1–64.3); like for like +2.0: not clear; shortcut …`."""
    if isinstance(cell, str):
        return cell
    text = f"{percent(cell['value'])} ({interval(cell)})"
    for kind in (LIKE, SHORTCUT, MORE):
        if pd.notna(difference := cell[f"{kind}_difference"]):
            text += f"; {TITLES[kind]} {signed(difference)}: {cell[f'{kind}_words']}"
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


def foot_text(foot: dict) -> str:
    """Return a number of people or of a paper, with its interval and whose it is."""
    text = percent(foot["value"])
    text = f"{text} ({foot['ends']})" if foot["ends"] else text
    return f"{text}, {foot['whose']}" if foot["whose"] else text


def tabulate(card: Scorecard) -> pd.DataFrame:
    columns = dict(zip(headings(card.probes, card.studies, card.sources), card.probes))
    feet = {(foot["who"], foot["probe"]): foot_text(foot) for foot in card.feet.to_dict("records")}
    table = [
        {
            "Kind": row["kind"],
            "Model": row["title"],
            "Asked": row["asked"],
            "Parameters": size_in_words(row["parameters"]),
        }
        | {name: cell_text(card.cell(row, probe)) for name, probe in columns.items()}
        | {
            f"{OF_COLUMN}{name}": cell["experiment"]
            for name, probe in columns.items()
            if not isinstance(cell := card.cell(row, probe), str)
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


def short_cell(cell: dict | str) -> str:
    """Return a score and its distance, `49.5 (−24.7)`. † marks a distance that is not clear."""
    if isinstance(cell, str) or pd.isna(cell["above"]):
        return "" if isinstance(cell, str) else percent(cell["value"])
    mark = "" if cell["verdict"] in (ABOVE, BELOW_CONTROL) else "†"
    return f"{percent(cell['value'])} ({signed(cell['above'])}){mark}"


def in_a_column(card: Scorecard) -> pd.DataFrame:
    """Return the table for a column of a paper, without rows that ran in none of its probes."""
    firsts = {probe["study"]: probe for probe in reversed(card.probes)}
    probes = [firsts[study] for study in dict.fromkeys(one["study"] for one in card.probes)]
    names = headings(probes, card.studies, card.sources)
    table = [
        {"Model": f"{row['title']}, {row['asked']}"}
        | {name: short_cell(card.cell(row, probe)) for name, probe in zip(names, probes)}
        for row in card.rows
    ]
    table += [
        {"Model": who}
        | {
            name: ", ".join(at(card.feet[card.feet["who"] == who], probe)["value"].map(percent))
            for name, probe in zip(names, probes)
        }
        for who in FEET
    ]
    table = pd.DataFrame(table)
    return table[(table[names] != "").any(axis=1)]


def main(given: Given) -> None:
    card = read_scorecard(given)
    if not card:
        publish_table(given, [{"Model": NO_HEADLINE}], {"Model"})
    elif given.output.name.endswith("_column"):
        publish_table(given, in_a_column(card), {"Model"}, latex.COLUMN)
    else:
        publish_table(given, tabulate(card), {"Kind", "Model", "Asked"})
