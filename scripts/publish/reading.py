"""What the page shows of tables: cards to read (scripts/publish/cards.py), verdicts on claims, and
published numbers.
"""

from pathlib import Path

import pandas as pd

from scripts.data.csv_files import read_csv
from scripts.publish.cards import ABOUT
from scripts.publish.claims import CONTRADICTED, NOT_COMPARABLE, NOT_REPRODUCED, REPRODUCED
from scripts.publish.comparison import ELSEWHERE, REPORTED, SETTING
from scripts.publish.table import filled

# ---- cards

PLACE = ABOUT[:3]
WHO = {"Model right": "Model", "Control right": "Control", "Human right": "People"}
SLICE, SYSTEMS = "slice: ", ("model: ", "control: ")
LONG, CLIP = 400, 160  # characters of a text that is folded, and of what is seen of it
WIDE = 5  # columns of a card that takes the whole width
GAP = "____"


def clip(text: str) -> str:
    """What is seen of a long text that is folded: the line with a gap, or the beginning."""
    if len(text) <= LONG:
        return ""
    line = next((line for line in text.split("\n") if GAP in line), text)
    return f"{line[:CLIP]}…" if len(line) > CLIP else f"{line} …"


def choices(parts: pd.DataFrame) -> dict[str, dict[str, int]]:
    """What cards can be filtered by, with how many they are; nothing that is the same on all."""
    return {
        name: values[values != ""].value_counts().sort_index().to_dict()
        for name, values in parts.items()
        if values.nunique() > 1
    }


def by_kind(facts: dict) -> dict[str, dict]:
    """What is told of cards, apart by what it is about: who was right, and slices."""
    who = {name: value for name, value in facts.items() if name in WHO.values()}
    return {"who": who, "slices": {name: facts[name] for name in facts if name not in who}}


def cards_of(file: Path) -> dict:
    """The cards of a table in groups by corpus, dataset and split, whether they are wide, and the
    choices of each filter. A card is the rows of an item.
    """
    table = read_csv(file)
    systems = [name for name in table if name.startswith(SYSTEMS) or name == "human"]
    slices = [name for name in table if name.startswith(SLICE)]
    texts = [name for name in table if name not in (*ABOUT, *systems, *slices)]
    items = table.groupby([*PLACE, "Item"], sort=False)
    several = (items.size() > 1).any()
    # Of options is what changes from one row of an item to another; of items without options all is
    # of the item.
    of_option = [name for name in texts if several and (items[name].nunique() > 1).any()]
    first = table[~table.duplicated([*PLACE, "Item"])]
    who = first[list(WHO)].rename(columns=WHO).replace({"yes": "right", "no": "wrong"})
    facts = who.join(first[slices].rename(columns=lambda name: name.removeprefix(SLICE)))
    groups: dict[tuple, list] = {}
    for (*place, item), rows in items:
        index = rows.index[0]
        of_card = {name: value for name, value in facts.loc[index].items() if value}
        groups.setdefault(tuple(place), []).append(
            {
                "item": item,
                "texts": [
                    (name, text, clip(text))
                    for name, text in rows.loc[index, texts].items()
                    if name not in of_option
                ],
                **by_kind(of_card),
                "parts": dict(zip(PLACE, place)) | of_card,
                "options": filled(rows[of_option], ["Gold"]).columns.tolist(),
                "systems": filled(rows[systems], []).columns.tolist(),
                "rows": rows.to_dict("records"),
            }
        )
    cards = [card for group in groups.values() for card in group]
    return {
        "groups": [{"title": " · ".join(place), "cards": group} for place, group in groups.items()],
        "count": len(cards),
        "wide": any(
            len(card["options"]) + len(card["systems"]) > WIDE for card in cards if card["options"]
        ),
        **by_kind(choices(first[PLACE].join(facts))),
    }


# ---- verdicts and published numbers

# CSS classes
LOOKS = {REPRODUCED: "yes", NOT_REPRODUCED: "no", CONTRADICTED: "control", NOT_COMPARABLE: "open"}
# how places outside tables and figures begin
IN_TEXT = ("Section", "Appendix", "Abstract", "Footnote", "Released code", "AllenNLP")


def verdict_rows(file: Path) -> dict:
    """The rows of a table of verdicts, each with its look, and how many there are of each."""
    table = read_csv(file)
    rows = table.assign(look=table["Verdict"].map(LOOKS)).rename(columns=str.lower)
    counts = table["Verdict"].value_counts()
    return {
        "rows": rows.to_dict("records"),
        "counts": [(int(counts[name]), name) for name in LOOKS if name in counts],
    }


def notes_of(rows: pd.DataFrame) -> list[str]:
    """The notes of a table, behind the rows that they are about where that is not all."""
    notes = []
    for note, about in rows[rows["Note"] != ""].groupby("Note", sort=False):
        names = list(dict.fromkeys(about["Row"]))
        whole = len(names) == rows["Row"].nunique() or len(names) > 3
        notes.append(note if whole else f"{', '.join(names)}: {note}")
    return notes


def table_of(name: str, rows: pd.DataFrame) -> dict:
    """One table or figure of the paper. A name of a row stands once over its rows; rows without a
    number of this study are marked.
    """
    measures, numbers = rows["Measure"].unique(), ["Row", "Measure"]
    shown = rows.assign(again=rows["Row"] == rows["Row"].shift(), none=rows["Here"] == "")
    return {
        "name": name,
        "elsewhere": bool((rows["Caveat"] == ELSEWHERE["statistics"]).all()),
        "reported": bool((rows["Caveat"] == ELSEWHERE[REPORTED]).all()),
        "measure": measures[0] if len(measures) == 1 else "",
        "rows": shown.rename(columns=str.lower).to_dict("records"),
        "notes": notes_of(rows),
        "measured": len(rows[~shown["none"]].drop_duplicates(numbers)),
        "printed": len(rows.drop_duplicates(numbers)),
    }


def paper_tables(file: Path) -> dict:
    """Tables and figures of a paper, numbers in the text, settings of training."""
    table = read_csv(file)
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
