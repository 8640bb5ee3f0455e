"""What the page shows of a table of cards (scripts/publish/cards.py): its cards in groups, and what they can be filtered by."""

from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd

from scripts.data.csv_files import read_csv
from scripts.publish.cards import ABOUT

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


def card_of(rows: pd.DataFrame, of_item: list[str], of_option: list[str], systems: list[str]) -> dict:
    """The card of an item: rows of its options, or its one row; of_item, of_option: the columns with its texts."""
    first = rows.iloc[0]
    told = [name for name in systems if (rows[name] != "").any()]
    options = [name for name in of_option if name == "Gold" or (rows[name] != "").any()]
    if options:
        table = {"header": [*options, *map(system_title, told)],
                 "rows": [[cell(value) for value in row] for row in rows[[*options, *told]].to_numpy().tolist()]}
    else:
        table = {"header": ["Who", "Answer"], "rows": [[cell(system_title(name)), cell(first[name])] for name in told]}
    who = {title: OUTCOME[first[name]] for name, title in WHO.items() if first[name]}
    slices = {name.removeprefix(SLICE): first[name] for name in rows if name.startswith(SLICE) and first[name]}
    texts = [{"name": name, "text": first[name], "clip": clip(first[name]) if len(first[name]) > LONG else ""} for name in of_item]
    return {"item": first["Item"], "who": who, "slices": slices, "texts": texts, "table": table,
            "parts": {name: first[name] for name in PLACE} | who | slices}


def choices(cards: list[dict]) -> dict[str, dict[str, int]]:
    """By name what cards can be filtered by, with how many they are; of what is the same on all cards there is no choice."""
    found: defaultdict[str, Counter] = defaultdict(Counter)
    for card in cards:
        for name, value in card["parts"].items():
            found[name][value] += 1
    return {name: dict(sorted(counts.items())) for name, counts in found.items()
            if len(counts) > 1 or counts.total() < len(cards)}


def cards_of(file: Path) -> dict:
    """The cards of a table in groups by corpus, dataset and split, whether they are wide, and the choices of each filter."""
    table = read_csv(file)
    systems = [name for name in table if name.startswith(SYSTEMS) or name == "human"]
    texts = [name for name in table if name not in (*ABOUT, *systems) and not name.startswith(SLICE)]
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
    return {"groups": [{"title": " · ".join(place), "cards": group} for place, group in groups.items()], "count": len(cards),
            "wide": any(len(card["table"]["header"]) > WIDE for card in cards),
            "who": {name: counts for name, counts in found.items() if name in WHO.values()},
            "slices": {name: counts for name, counts in found.items() if name not in WHO.values()}}
