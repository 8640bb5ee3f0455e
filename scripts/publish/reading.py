"""Prepare tables for the page: cards to read (scripts/publish/cards.py) and published numbers."""

import pandas as pd

from scripts.publish.cards import ABOUT
from scripts.publish.comparison import ELSEWHERE, REPORTED, SETTING
from scripts.publish.table import filled

# ---- cards

PLACE = ABOUT[:3]
WHO = {"Model right": "Model", "Control right": "Control", "Human right": "People"}
SLICE, SYSTEMS = "slice: ", ("model: ", "control: ")
LONG, CLIP = 400, 160  # characters of the longest text that is not folded, and of a visible part
WIDE = 5  # a card with more columns takes the whole width
GAP = "____"


def clip(text: str) -> str:
    """Return the visible part of a long, folded text: the line with a gap, or the beginning."""
    if len(text) <= LONG:
        return ""
    line = next((line for line in text.split("\n") if GAP in line), text)
    return f"{line[:CLIP]}…" if len(line) > CLIP else f"{line} …"


def choices(parts: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return the filters of cards: how many cards have each value of a column. A column with the
    same value on all cards is no filter.
    """
    return {
        name: values[values != ""].value_counts().sort_index().to_dict()
        for name, values in parts.items()
        if values.nunique() > 1
    }


def cards_of(table: pd.DataFrame) -> dict:
    """Return the cards of a table in groups by corpus, dataset and split, their number, whether
    they are wide, and the choices of each filter. A card has all rows of an item.
    """
    table = table.astype(object)  # single cells are faster in it than in Arrow's texts
    systems = [name for name in table if name.startswith(SYSTEMS) or name == "human"]
    slices = [name for name in table if name.startswith(SLICE)]
    texts = [name for name in table if name not in (*ABOUT, *systems, *slices)]
    items = table.groupby([*PLACE, "Item"], sort=False)
    # Columns that differ between the rows of an item are about options.
    of_option = [name for name in texts if (items[name].nunique() > 1).any()]
    first = table[~table.duplicated([*PLACE, "Item"])]
    who = first[list(WHO)].rename(columns=WHO).replace({"yes": "right", "no": "wrong"})
    parts = first[slices].rename(columns=lambda name: name.removeprefix(SLICE))
    groups: dict[str, list] = {}
    for (*place, item), rows in items:
        index = rows.index[0]
        known = {"who": who.loc[index], "slices": parts.loc[index]}
        known = {of: facts[facts != ""].to_dict() for of, facts in known.items()}
        of_item = rows.loc[index, [name for name in texts if name not in of_option]]
        groups.setdefault(" · ".join(place), []).append(
            {
                "item": item,
                "texts": [(name, text, clip(text)) for name, text in of_item.items()],
                **known,
                "parts": dict(zip(PLACE, place)) | known["who"] | known["slices"],
                "options": list(filled(rows[of_option], ["Gold"])),
                "systems": list(filled(rows[systems], [])),
                "rows": rows.to_dict("records"),
            }
        )
    cards = sum(groups.values(), [])
    with_options = [card for card in cards if card["options"]]
    return {
        "groups": [{"title": title, "cards": group} for title, group in groups.items()],
        "count": len(cards),
        "wide": any(len(card["options"] + card["systems"]) > WIDE for card in with_options),
        "who": choices(who),
        "slices": choices(first[PLACE].join(parts)),
    }


# ---- published numbers

# how places outside tables and figures begin
IN_TEXT = ("Section", "Appendix", "Abstract", "Footnote", "Released code", "AllenNLP")


def notes_of(rows: pd.DataFrame) -> list[str]:
    """Return the notes of a table, each after the names of its rows if it is about one to three of
    several rows.
    """
    notes = []
    for note, about in rows[rows["Note"] != ""].groupby("Note", sort=False):
        names = list(dict.fromkeys(about["Row"]))
        whole = len(names) == rows["Row"].nunique() or len(names) > 3
        notes.append(note if whole else f"{', '.join(names)}: {note}")
    return notes


def table_of(name: str, rows: pd.DataFrame) -> dict:
    """Return one table or figure of the paper, with how many of its numbers were measured here."""
    measures, numbers = rows["Measure"].unique(), rows.drop_duplicates(["Row", "Measure"])
    return {
        "name": name,
        "elsewhere": bool((rows["Caveat"] == ELSEWHERE["statistics"]).all()),
        "reported": bool((rows["Caveat"] == ELSEWHERE[REPORTED]).all()),
        "measure": measures[0] if len(measures) == 1 else "",
        "rows": rows.to_dict("records"),
        "notes": notes_of(rows),
        "measured": int((numbers["Here"] != "").sum()),
        "printed": len(numbers),
    }


def paper_tables(table: pd.DataFrame) -> dict:
    """Return the tables and figures of a paper, the numbers in its text, and its settings of
    training.
    """
    is_setting = table["Measure"].str.startswith(SETTING)
    settings = table[is_setting].assign(Measure=table["Measure"].str.removeprefix(SETTING))
    tables = [
        table_of(name, rows) for name, rows in table[~is_setting].groupby("Table", sort=False)
    ]
    in_text = [one for one in tables if one["name"].startswith(IN_TEXT)]
    return {
        "tables": [one for one in tables if one not in in_text],
        "in_text": in_text,
        "settings": [table_of(name, rows) for name, rows in settings.groupby("Table", sort=False)],
    }
