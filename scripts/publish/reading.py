"""What the page shows of tables: cards to read (scripts/publish/cards.py), verdicts on claims, and published numbers. Not a program."""

from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd

from scripts.data.csv_files import read_csv
from scripts.publish.cards import ABOUT
from scripts.publish.claims import CONTRADICTED, NOT_COMPARABLE, NOT_REPRODUCED, REPRODUCED
from scripts.publish.comparison import ELSEWHERE, SETTING

# ---- cards

PLACE = ABOUT[:3]
WHO = {"Model right": "Model", "Control right": "Control", "Human right": "People"}
OUTCOME = {"yes": "right", "no": "wrong"}
SLICE, SYSTEMS = "slice: ", ("model: ", "control: ")
LONG, CLIP = 400, 160  # characters of a text that is folded, and of what is seen of it
WIDE = 5  # columns of a card that takes the whole width
GAP = "____"


def clip(text: str) -> str:
    """What is seen of a long text that is folded: the line that something is left out of, or its beginning."""
    line = next((line for line in text.split("\n") if GAP in line), text)
    return f"{line[:CLIP]}…" if len(line) > CLIP else f"{line} …"


def system_title(column: str) -> str:
    """`model: BERT, seed 1` as a card names it."""
    return "people" if column == "human" else column.removeprefix(SYSTEMS[0])


def cell(text: str) -> dict:
    """A cell of a card; what someone answered wrong ends with a cross."""
    return {"text": text.replace(" ×", "\N{NO-BREAK SPACE}×"), "wrong": text.endswith("×")}


def card_of(
    rows: pd.DataFrame, of_item: list[str], of_option: list[str], systems: list[str]
) -> dict:
    """The card of an item: rows of its options, or its one row; of_item, of_option: the columns with its texts."""
    first = rows.iloc[0]
    told = [name for name in systems if (rows[name] != "").any()]
    options = [name for name in of_option if name == "Gold" or (rows[name] != "").any()]
    if options:
        table = {
            "header": [*options, *map(system_title, told)],
            "rows": [
                [cell(value) for value in row]
                for row in rows[[*options, *told]].to_numpy().tolist()
            ],
        }
    else:
        table = {
            "header": ["Who", "Answer"],
            "rows": [[cell(system_title(name)), cell(first[name])] for name in told],
        }
    who = {title: OUTCOME[first[name]] for name, title in WHO.items() if first[name]}
    slices = {
        name.removeprefix(SLICE): first[name]
        for name in rows
        if name.startswith(SLICE) and first[name]
    }
    texts = [
        {
            "name": name,
            "text": first[name],
            "clip": clip(first[name]) if len(first[name]) > LONG else "",
        }
        for name in of_item
    ]
    return {
        "item": first["Item"],
        "who": who,
        "slices": slices,
        "texts": texts,
        "table": table,
        "parts": {name: first[name] for name in PLACE} | who | slices,
    }


def choices(cards: list[dict]) -> dict[str, dict[str, int]]:
    """By name what cards can be filtered by, with how many they are; of what is the same on all cards there is no choice."""
    found: defaultdict[str, Counter] = defaultdict(Counter)
    for card in cards:
        for name, value in card["parts"].items():
            found[name][value] += 1
    return {
        name: dict(sorted(counts.items()))
        for name, counts in found.items()
        if len(counts) > 1 or counts.total() < len(cards)
    }


def cards_of(file: Path) -> dict:
    """The cards of a table in groups by corpus, dataset and split, whether they are wide, and the choices of each filter."""
    table = read_csv(file)
    systems = [name for name in table if name.startswith(SYSTEMS) or name == "human"]
    texts = [
        name for name in table if name not in (*ABOUT, *systems) and not name.startswith(SLICE)
    ]
    items = table.groupby([*PLACE, "Item"], sort=False)
    several = (items.size() > 1).any()
    # Of options is what changes from one row of an item to another; of items without options all is of the item.
    of_option = [name for name in texts if several and (items[name].nunique() > 1).any()]
    of_item = [name for name in texts if name not in of_option]
    groups: dict[tuple, list] = {}
    for (*place, _), rows in items:
        groups.setdefault(tuple(place), []).append(card_of(rows, of_item, of_option, systems))
    cards = [card for group in groups.values() for card in group]
    found = choices(cards)
    return {
        "groups": [{"title": " · ".join(place), "cards": group} for place, group in groups.items()],
        "count": len(cards),
        "wide": any(len(card["table"]["header"]) > WIDE for card in cards),
        "who": {name: counts for name, counts in found.items() if name in WHO.values()},
        "slices": {name: counts for name, counts in found.items() if name not in WHO.values()},
    }


# ---- verdicts and published numbers

LOOKS = {
    REPRODUCED: "yes",
    NOT_REPRODUCED: "no",
    CONTRADICTED: "control",
    NOT_COMPARABLE: "open",
}  # CSS classes
IN_TEXT = (
    "Section",
    "Appendix",
    "Abstract",
    "Footnote",
    "Released code",
    "AllenNLP",
)  # how places outside tables and figures begin


def verdict_rows(file: Path) -> dict:
    """The rows of a table of verdicts, each with its look, and how many there are of each verdict."""
    table = read_csv(file)
    rows = [
        {name.lower(): value for name, value in row.items()} | {"look": LOOKS[row["Verdict"]]}
        for row in table.to_dict("records")
    ]
    counts = table["Verdict"].value_counts()
    return {"rows": rows, "counts": [(int(counts[name]), name) for name in LOOKS if name in counts]}


def notes_of(rows: pd.DataFrame) -> list[str]:
    """The notes of a table, each once, behind the rows that it is about where it is not about all."""
    notes = []
    for note, about in rows[rows["Note"] != ""].groupby("Note", sort=False):
        names = list(dict.fromkeys(about["Row"]))
        whole = len(names) == rows["Row"].nunique() or len(names) > 3
        notes.append(note if whole else f"{', '.join(names)}: {note}")
    return notes


def table_of(name: str, rows: pd.DataFrame) -> dict:
    """One table or figure of the paper: what is measured where that is the same in all rows, its rows, and its notes.

    A name of a row stands once over the rows that have it; rows without a number of this study are marked.
    """
    measures, shown = rows["Measure"].unique(), []
    for row in rows.to_dict("records"):
        again = bool(shown) and shown[-1]["row"] == row["Row"]
        shown.append(
            {key.lower(): value for key, value in row.items()}
            | {"again": again, "none": row["Here"] == ""}
        )
    elsewhere = bool((rows["Caveat"] == ELSEWHERE["statistics"]).all())
    return {
        "name": name,
        "elsewhere": elsewhere,
        "measure": measures[0] if len(measures) == 1 else "",
        "rows": shown,
        "notes": notes_of(rows),
        "measured": len({(row["row"], row["measure"]) for row in shown if not row["none"]}),
        "printed": len({(row["row"], row["measure"]) for row in shown}),
    }


def paper_tables(file: Path) -> dict:
    """What the page shows of a table of published numbers: tables and figures, numbers in the text, settings of training."""
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
