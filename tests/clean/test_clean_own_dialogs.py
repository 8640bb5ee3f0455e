"""Cleaned dialogs of Schema-Guided Dialogue, and a user's own dialogs in two forms; wrong input."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from scripts.clean import dialogs
from scripts.data.tables import read_table
from tests.files import write_json
from tests.clean.cleaned_dialogs import call, counted
from tests.rows import rows_of

# Schema-Guided Dialogue

TALK = [("USER", " A table  for\n5 pm. "), ("SYSTEM", ""), ("SYSTEM", "Today?"), ("USER", "Yes.")]


def schema_guided(number, said=TALK):
    return {
        "dialogue_id": f"1_{number:05}",
        "services": ["Restaurants_1"],
        "turns": [
            {"speaker": speaker, "utterance": text, "frames": [{"slots": []}]}
            for speaker, text in said
        ],
    }


def schema_guided_files(folder, train, dev):
    for name, dialogs_said in (("train_001", train), ("dev_001", dev)):
        write_json(folder / f"{name}.json", dialogs_said)
    return folder


@pytest.mark.parametrize(
    "train, said",
    [
        ("{}", "holds no list of dialogs"),
        (
            json.dumps([schema_guided(0), schema_guided(4)])[:-40],
            "in or just behind dialog 1_00004",
        ),
        (
            json.dumps([schema_guided(3, [("ROBOT", "Hi")])]),
            "dialog 1_00003: Invalid enum value 'ROBOT' - at `$.turns[0].speaker`",
        ),
        (
            json.dumps([schema_guided(5), schema_guided(5)]),
            "dialog 1_00005 was there before, in train_001.json",
        ),
    ],
)
def test_wrong_schema_guided_is_refused(program, tmp_path, train, said):
    schema_guided_files(tmp_path, [], [schema_guided(1)])
    (tmp_path / "train_001.json").write_text(train)
    assert said in call(program, "schema_guided", tmp_path, tmp_path / "out", ok=False)


# A user's own dialogs


SAID = [
    [f"Is it {number} o'clock ?", " No ,  it is later .", "Thanks .", ""] for number in range(120)
]
NAMED = '{"sha256": {"own.%s": null}}'


def own_dialogs(folder, form, dialogs_said=SAID, speakers=None, order=1):
    """Write a user's own corpus in one of the three forms."""
    folder.mkdir(exist_ok=True)
    if form in ("jsonl", "json"):
        lines = [
            json.dumps({"dialog_id": f"d{number}", "dialog": turns, "more": 1})
            for number, turns in enumerate(dialogs_said)
        ]
        listed = f"[{', '.join(lines)}]" if form == "json" else "\n".join(lines)
        (folder / f"own.{form}").write_text(f"{listed}\n")
    else:
        rows = [
            {
                "dialog_id": f"d{number}",
                "turn": turn,
                "text": text,
                **({"speaker": speakers[turn]} if speakers else {}),
            }
            for number, turns in enumerate(dialogs_said)
            for turn, text in list(enumerate(turns))[::order]
        ]
        pq.write_table(pa.Table.from_pylist(rows), folder / "own.parquet")
    return folder


def test_all_forms_are_the_same(program, tmp_path):
    """The order of a dialog's rows does not matter. A tenth is validation; of equal dialogs, the
    first one in train stays.
    """
    said = SAID + SAID[:60]
    tables = []
    for form, order in (("jsonl", 1), ("json", 1), ("parquet", 1), ("parquet", -1)):
        fetched = own_dialogs(tmp_path / f"{form}{order}", form, said, order=order)
        output = call(program, "dialogs", fetched, tmp_path / f"out{form}{order}", NAMED % form)
        tables.append(
            [read_table(output / f"{split}.parquet").to_pandas() for split in dialogs.SPLITS]
        )
    for pair in tables[1:]:
        for left, right in zip(tables[0], pair):
            pd.testing.assert_frame_equal(left, right)
    train, validation = tables[0]
    both = pd.concat([train, validation])
    assert 5 <= validation["dialog_id"].nunique() <= 35 and both["dialog_id"].nunique() == 180
    assert both.loc[both["dialog_id"] == "d5", ["text", "speaker"]].to_numpy().tolist() == [
        ["Is it 5 o'clock ?", "A"],
        ["No , it is later .", "B"],
        ["Thanks .", "A"],
    ]
    split = both.drop_duplicates("dialog_id").set_index("dialog_id")["split"]
    pairs = [
        sorted((number, number + 120), key=lambda place: (split[f"d{place}"], place))
        for number in range(60)
    ]
    marked = both[both["duplicate_of"] != ""].set_index("dialog_id")["duplicate_of"].to_dict()
    assert marked == {f"d{later}": f"d{first}" for first, later in pairs}
    counts = counted(output)
    assert counts.xs(("turns", "dropped", "text is empty"), level=[1, 2, 3]).sum() == 180
    assert (
        counts.xs(("dialogs", "noted", "the same words as one before"), level=[1, 2, 3]).sum() == 60
    )


TURNS = {f"d{n}": [f"How long is trip {n} ?", "Two hours .", f"At {n} then ."] for n in range(60)}
WHO = ["user", "assistant", "user"]
OF_OTHERS = {
    "eou.txt": lambda: "".join(" __eou__ ".join(said) + " __eou__\n" for said in TURNS.values()),
    "parlai.txt": lambda: "".join(
        f"text:{one}\tlabels:{two}\ntext:{three}\tepisode_done:True\n"
        for one, two, three in TURNS.values()
    ),
    "messages.jsonl": lambda: [
        {"messages": [{"role": who, "content": text} for who, text in zip(WHO, said)]}
        for said in TURNS.values()
    ],
    "conversations.json": lambda: [
        {"id": name, "conversations": [{"from": w, "value": t} for w, t in zip(WHO, said)]}
        for name, said in TURNS.items()
    ],
    "multiwoz.jsonl": lambda: [
        {"log": [{"text": text} for text in said]} for said in TURNS.values()
    ],
    "hub.parquet": lambda: pd.DataFrame({"dialog": list(TURNS.values()), "act": 1}),
    "turns.csv": lambda: pd.DataFrame(
        [(name, turn, text) for name, said in TURNS.items() for turn, text in enumerate(said)],
        columns=["dialog_id", "turn", "text"],
    ),
}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_dialogs_as_others_have_them(program, tmp_path, name):
    content, place = OF_OTHERS[name](), tmp_path / name
    if isinstance(content, pd.DataFrame):
        write = content.to_parquet if name.endswith(".parquet") else content.to_csv
        write(place, index=False)
    elif isinstance(content, str):
        place.write_text(content)
    else:
        lines = [json.dumps(one) for one in content]
        place.write_text("\n".join(lines) if name.endswith("l") else f"[{','.join(lines)}]")
    output = call(
        program, "dialogs", tmp_path, tmp_path / "out", json.dumps({"sha256": {name: None}})
    )
    both = pd.concat(
        read_table(output / f"{split}.parquet").to_pandas() for split in dialogs.SPLITS
    )
    read = both.groupby("dialog_id")["text"].agg(list)
    assert sorted(read) == sorted(TURNS.values())
    assert set(both.groupby("dialog_id")["speaker"].agg("".join)) == {"ABA"}


def test_speakers_are_told_apart(program, tmp_path):
    """A dialog of two speakers; then one of three, where every other one is A."""
    names = "Eve Eve Bob Joe".split()
    found = []
    for said in (SAID, [turns[:3] + ["Hi ."] for turns in SAID]):
        place = tmp_path / str(len(found))
        fetched = own_dialogs(place, "parquet", said, names)
        output = call(program, "dialogs", fetched, place / "out", NAMED % "parquet")
        found.append(read_table(output / "train.parquet")["speaker"].to_pylist()[:4])
    assert found == [["A", "A", "B", "A"], ["A", "A", "B", "A"]], "the fourth turn was empty first"
    counts = counted(output)["train", "dialogs"]
    crowded = "more than two speakers: every other one is A"
    assert counts["noted", crowded] == counts["kept", ""]


GOOD = json.dumps({"dialog_id": 1, "dialog": ["Hi ."]}) + "\n"


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("own.jsonl", GOOD + '{"dialog": ["Hi ."\n', "line 2: "),
        ("own.jsonl", GOOD + '{"dialog": "Hi ."}\n', "line 2: Expected `array | null`, got `str`"),
        ("own.jsonl", GOOD * 2, "line 2: dialog_id 1 was there before"),
        ("own.jsonl", "", "holds no dialog"),
        ("own.jsonl", GOOD, "none of its 1 dialogs falls to"),
        ("own.jsonl", '{"messages": [{"role": "user"}]}\n', "line 1: turn 1 has no text"),
        ("own.jsonl", '{"said": ["a"]}\n', "line 1: its dialog has no turn; write one"),
        ("own.txt", "Hello .\nHi .\n", "line 1 is no dialog; end each turn with __eou__"),
        ("own.csv", "dialog_id,text\na,b\n", "no column turn; it has dialog_id, text"),
        ("own.csv", "dialog_id,turn,text\na,first,b\n", "row 2 has no dialog_id, or its turn"),
    ],
)
def test_wrong_texts_are_refused(program, tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    given = NAMED % name.removeprefix("own.")
    error = call(program, "dialogs", tmp_path, tmp_path / "out", given, ok=False)
    assert said in error and name in error


ROWS = yaml.safe_load("""
dialog_id: [a, a, b]
turn: [0, 1, 0]
text: [x, y, z]
""")


@pytest.mark.parametrize(
    "columns, said",
    rows_of("""
        null | 'own.parquet: not a Parquet file'
        {text: null} | 'no column text; it has dialog_id, turn'
        {dialog_id: [a, null, b]} | row 2 has no dialog_id
        {turn: [0, 0, 0]} | 'row 2: dialog a has turn 0 a second time'
        {text: [[x], [y], [z]]} | 'column text cannot be read: it holds list<element: string>, not text'
    """),
)
def test_wrong_columns_are_refused(program, tmp_path, columns, said):
    if columns is None:
        (tmp_path / "own.parquet").write_bytes(b"PAR1 and no more")
    else:
        table = {name: values for name, values in (ROWS | columns).items() if values is not None}
        pq.write_table(pa.table(table), tmp_path / "own.parquet")
    error = call(program, "dialogs", tmp_path, tmp_path / "out", NAMED % "parquet", ok=False)
    assert said in error and "own.parquet" in error
