"""Items to read: which are drawn, who counts as right,
and what the page makes of a table of them.
"""

import numpy as np
import pandas as pd

from scripts.publish.cards import Place, System, cards_of, write_cards
from scripts.publish.reading import cards_of as read_cards


def place(options: bool) -> Place:
    """Four items, of two options each where wanted; a model right on the first two,
    a control on every other one.
    """
    item = np.repeat(np.arange(4), 2) if options else np.arange(4)
    rows = pd.DataFrame(
        {
            "Item": [f"i{number}" for number in item],
            "Question": [f"<b>question</b> {number}" for number in item],
        }
    )
    if options:
        rows["Option"] = [f"option {place}" for place in range(8)]
    rows["Gold"] = np.where(np.arange(len(rows)) % 2, "yes", "no")
    systems = [
        System(
            name,
            kind,
            np.full(len(rows), "yes", dtype=object),
            np.linspace(-1, 1, len(rows)),
            wrong,
        )
        for name, kind, wrong in (
            ("BERT", "model", item > 1),
            ("worse", "model", item > 0),
            ("bag", "control", item % 2 == 1),
            ("coin", "control", item > -1),
        )
    ]
    slices = {
        "all": np.full(4, True),
        "kind=first_half": np.arange(4) < 2,
        "kind=even": np.arange(4) % 2 == 0,
    }
    return Place({"Corpus": "C", "Dataset": "D", "Split": "test"}, rows, slices, systems)


def test_the_table_has_who_was_right_the_slices_and_what_each_said():
    table = cards_of(place(options=False), 4).set_index("Item")
    assert set(table["Model"]) == {"BERT"}
    assert set(table["Control"]) == {"bag"}, "those that are right most often"
    items = table.sort_index()
    assert items["Model right"].tolist() == "yes yes no no".split()
    assert (items["Human right"] == "").all()
    assert items["Control right"].tolist() == "yes no yes no".split()
    assert items["slice: kind"].tolist() == ["first half; even", "first half", "even", ""]
    assert table.index[0] == "i1"
    assert table.index[1] == "i2", "what the model alone knows, then what the control alone knows"
    assert table.loc["i0", "model: BERT"] == "yes −1.00"
    assert table.loc["i3", "model: BERT"] == "yes 1.00 ×"
    assert list(table)[-3:] == ["model: BERT", "model: worse", "control: bag"], (
        "of the controls the best alone"
    )


def test_the_page_shows_options_as_rows_and_texts_once(tmp_path):
    write_cards([place(options=True)], "caption", tmp_path / "cards")
    shown = read_cards(tmp_path / "cards.csv")
    card = next(card for card in shown["groups"][0]["cards"] if card["item"] == "i3")
    assert [name for name, *_ in card["texts"]] == ["Question"]
    assert [*card["options"], *card["systems"]] == [
        "Option",
        "Gold",
        "model: BERT",
        "model: worse",
        "control: bag",
    ] and len(card["rows"]) == 2
    assert card["who"] == {"Model": "wrong", "Control": "wrong"} and card["rows"][0][
        "model: BERT"
    ].endswith("×")
    assert shown["count"] == 4 and shown["who"]["Model"] == {"right": 2, "wrong": 2}
    assert shown["slices"]["kind"] == {"even": 1, "first half": 1, "first half; even": 1}
    assert "Corpus" not in shown["slices"], "of what is the same on all cards there is no choice"
    write_cards([], "caption", tmp_path / "none")
    assert read_cards(tmp_path / "none.csv")["count"] == 0
