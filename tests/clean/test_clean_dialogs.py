"""Cleaned dialogs: the counts of DailyDialog's and TimeDial's real files, repairs, wrong input."""

import json
import zipfile

import pandas as pd
import pytest
import yaml

from scripts.clean import dailydialog
from scripts.data.tables import provenance_of, read_table
from tests.files import write_json
from tests.rows import each_row, rows_of, texts_of
from tests.clean.cleaned_dialogs import call, counted
import re

DAILYDIALOG = "yanran.li/files/ijcnlp_dailydialog.zip"
TIMEDIAL = "raw.githubusercontent.com/google-research-datasets/TimeDial/main"


# DailyDialog


@pytest.fixture(scope="module")
def daily(mirror, program, tmp_path_factory):
    if not (mirror / DAILYDIALOG).is_file():
        pytest.skip(f"the mirror has no {DAILYDIALOG}")
    fetched = tmp_path_factory.mktemp("fetched")
    with zipfile.ZipFile(mirror / DAILYDIALOG) as archive:
        for split in dailydialog.SPLITS:
            (fetched / f"{split}.zip").write_bytes(archive.read(f"ijcnlp_dailydialog/{split}.zip"))
    return call(
        program, "dailydialog", fetched, tmp_path_factory.mktemp("daily"), '{"licence": "CC"}'
    )


def test_dailydialog_is_counted(daily):
    """Other code counted the numbers in the raw files."""
    counts = counted(daily)
    for unit, action, reason, numbers in rows_of("""
        dialogs | kept    | '' | [11118, 1000, 1000]
        turns   | kept    | '' | [87170, 8069, 7740]
        dialogs | noted   | the same words as one of an earlier split | [0, 118, 159]
        turns   | changed | 'full-width characters: made plain' | [22, 2, 2]
    """):
        found = [counts[split, unit, action, reason] for split in dailydialog.SPLITS]
        assert found == numbers, reason
    turns = pd.concat(
        [read_table(daily / f"{split}.parquet").to_pandas() for split in dailydialog.SPLITS]
    )
    first = turns[turns["turn"] == 0]
    assert len(first) == 13118 and (first["duplicate_of"] == "").sum() == 11963
    marked = first["duplicate_of"] != ""
    assert set(first.loc[marked, "duplicate_of"]) <= set(first.loc[~marked, "dialog_id"])
    assert provenance_of(daily / "train.parquet") == {"licence": "CC"}


@each_row(
    "raw, clean",
    [
        *texts_of("""
            I don ’ t know , it ' s late . | I don't know, it's late.
            at ten o ’ clock , ma ' am | at ten o'clock, ma'am
            in two hours ' time | in two hours' time
            five minutes ’ walk | five minutes' walk
            the articles ' a ' and ' the ' | the articles ' a ' and ' the '
            You are right.But when?Now | You are right. But when? Now
            I can ’ t.It ’ s late | I can't. It's late
            at 8 p.m.Any more ? In the U.S. , at 10.30 , www.x.com | at 8 p.m. Any more? In the U.S., at 10.30, www.x.com
            a@b.com , ebay.com , L.A.Hank , Ph.D , 7.45RMB | a@b.com, ebay.com, L.A.Hank, Ph.D, 7.45RMB
            at 5 p . m . or 9A . M . in the U . S . | at 5 p.m. or 9A.M. in the U.S.
            Plan B . Is it ? Vitamin C . A lot | Plan B. Is it? Vitamin C. A lot
            Well ... Yes ?! It is .5 or 3 : 30 | Well ... Yes?! It is .5 or 3: 30
            ＡＢＣ　１２！ café ½ | ABC 12! café ½
        """),
        (" so  much \x7f ", "so much"),
    ],
)
def test_repairs(raw, clean):
    texts, changed = dailydialog.repaired(pd.Series([raw]))
    assert texts[0] == clean
    assert any(which[0] for which in changed.values()) == (raw.strip() != clean)


def archived(folder, **texts):
    """Write train.zip and so on; a split without a given text has one line of dialog."""
    folder.mkdir(exist_ok=True)
    for split in dailydialog.SPLITS:
        with zipfile.ZipFile(folder / f"{split}.zip", "w") as archive:
            archive.writestr(
                f"{split}/dialogues_{split}.txt", texts.get(split, "Hi . __eou__ Hello . __eou__\n")
            )
    return folder


def test_dailydialog_in_small(program, tmp_path):
    """Empty lines and turns are counted, and lines keep their numbers. Dialogs with the same words
    are marked, even if their signs differ.
    """
    text = (
        "Hi ! __eou__ It ’ s late . __eou__\n\nA . __eou__  __eou__ B . __eou__\nopen __eou__ end\n"
        "hi__eou__it ' s LATE__eou__\n"
    )
    output = call(
        program,
        "dailydialog",
        archived(tmp_path / "in", train=text, test="Hi ? __eou__ It's late __eou__\n"),
        tmp_path / "out",
    )
    train = read_table(output / "train.parquet").to_pandas()
    assert train["dialog_id"].tolist() == [f"train:{line}" for line in (0, 0, 2, 2, 3, 3, 4, 4)]
    assert train["text"].tolist()[1:6] == ["It's late.", "A.", "B.", "open", "end"]
    assert train["duplicate_of"].tolist() == [""] * 6 + ["train:0"] * 2
    assert set(read_table(output / "test.parquet")["duplicate_of"].to_pylist()) == {"train:0"}
    counts = counted(output)
    for split, unit, action, reason in rows_of("""
        train | dialogs | dropped | no turn is left
        train | turns   | dropped | text is empty
        train | dialogs | noted   | 'the line does not end with __eou__: its last text is a turn'
        train | dialogs | noted   | the same words as one before in its split
        test  | dialogs | noted   | the same words as one of an earlier split
    """):
        assert counts[split, unit, action, reason] == 1, reason


def broken(file, how):
    """Break one archive in a way that users meet."""
    member, text = {
        "other": ("test/dialogues_train.txt", b""),
        "latin": ("train/dialogues_train.txt", b"caf\xe9 __eou__\n"),
        "twice": ("train/dialogues_train.txt", b"Hi __eou__\n"),
        "large": ("train/dialogues_train.txt", b"x" * (dailydialog.LARGEST + 1)),
    }[how]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for _ in range(2 if how == "twice" else 1):
            archive.writestr(member, text)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "how, said",
    rows_of("""
        other     | has no train/dialogues_train.txt, but test/dialogues_train.txt
        latin     | not UTF-8 text at byte 3
        twice     | has 2 members train/dialogues_train.txt, but only one is expected
        large     | unpacks to more than 200,000,000 bytes
    """),
)
def test_a_wrong_archive_is_refused(program, tmp_path, how, said):
    fetched = archived(tmp_path / "in")
    broken(fetched / "train.zip", how)
    error = call(program, "dailydialog", fetched, tmp_path / "out", ok=False)
    assert said in error and "train.zip" in error


# TimeDial


@pytest.fixture(scope="module")
def timedial(mirror, program, tmp_path_factory):
    if not (mirror / TIMEDIAL / "test.json").is_file():
        pytest.skip(f"the mirror has no {TIMEDIAL}/test.json")
    return call(program, "timedial", mirror / TIMEDIAL, tmp_path_factory.mktemp("timedial"))


def test_timedial_is_counted(timedial):
    counts = counted(timedial)
    assert counts["test", "instances", "kept", ""] == 1104
    assert counts["extras", "instances", "kept", ""] == 342
    both = counts.groupby(level=["unit", "action", "reason"]).sum()
    for unit, action, reason, count in rows_of("""
        options | changed | 'white space at an end: removed' | 898
        turns   | dropped | text is empty, at the end of the dialog | 1056
        turns   | dropped | text is empty, before the end of the dialog | 0
        turns   | changed | 'no space after the speaker''s prefix: put in' | 1446
        options | noted   | 'wrong by rule: phrase' | 464
        options | noted   | 'wrong by rule: numeral' | 1257
        options | noted   | 'wrong by rule: open_ended' | 1171
    """):
        assert both[unit, action, reason] == count, reason


INSTANCE = yaml.safe_load("""
conversation: ['A:How long ?', 'B: About <MASK> .', '']
id: 7
correct1: 'two hours '
correct2: none
incorrect1: two years
incorrect1_rule: Rule 1
incorrect2: ten days
incorrect2_rule: Rule 3
""")


def test_timedial_in_small(program, tmp_path):
    """Odd prefixes, a line break, an empty turn in the middle and a speaker who continues are
    counted.
    """
    one = INSTANCE | {
        "conversation": [" A:  How\nlong ?", "B:", "A: About <MASK> .", "B: "],
        "correct2": "3 hours",
    }
    write_json(tmp_path / "test.json", [one, INSTANCE | {"id": "x", "correct2": "None"}])
    output = call(program, "timedial", tmp_path, tmp_path / "out")
    rows = read_table(output / "test.parquet").to_pandas()
    assert rows["dialog"].unique().tolist() == ["A: How long?\nA: About <MASK>."]
    assert rows["option"].tolist() == ["two hours", "3 hours", "two years", "ten days"]
    assert rows["rule"].tolist() == ["", "", "phrase", "open_ended"]
    assert rows["label"].tolist() == [1, 1, 0, 0]
    assert read_table(output / "extras.parquet")["instance_id"].to_pylist() == ["x"] * 3
    counts = counted(output)
    assert counts["test", "turns", "dropped", "text is empty, before the end of the dialog"] == 1
    assert counts["test", "turns", "dropped", "text is empty, at the end of the dialog"] == 1
    assert counts["test", "turns", "noted", "the same speaker as the turn before"] == 1


@pytest.mark.parametrize("name", ["lines.json", "hub.parquet"])
def test_timedial_in_other_forms_and_under_other_names(program, tmp_path, name):
    instances = [INSTANCE | {"correct2": "3 hours"}, INSTANCE | {"id": 8}]
    write_json(tmp_path / "test.json", instances)
    wanted = call(program, "timedial", tmp_path, tmp_path / "wanted")
    (tmp_path / "test.json").unlink()
    if name.endswith(".parquet"):
        pd.DataFrame(instances).to_parquet(tmp_path / name)
    else:
        (tmp_path / name).write_text("\n".join(map(json.dumps, instances)))
    given = json.dumps({"sha256": {name: None}})
    found = call(program, "timedial", tmp_path, tmp_path / "found", given)
    for split in ("test", "extras"):
        tables = [read_table(place / f"{split}.parquet").to_pandas() for place in (wanted, found)]
        pd.testing.assert_frame_equal(*tables)


@pytest.mark.parametrize(
    "change, said",
    rows_of("""
        {conversation: [A:<MASK> ?, 'B: About <MASK> .']} | 'instance 7: its dialog has more than one <MASK>'
        {conversation: [A:<MASK> ?, Well .]} | 'instance 7: the turn ''Well .'' opens with neither A: nor B:'
        {incorrect1: ' two hours'} | 'instance 7: the option ''two hours'' repeats'
        {incorrect2_rule: Rule 4} | 'instance 7: incorrect2_rule is ''Rule 4'', not one of Rule 1'
    """),
)
def test_a_wrong_instance_is_refused(program, tmp_path, change, said):
    wrong = {key: value for key, value in (INSTANCE | change).items() if value is not None}
    write_json(tmp_path / "test.json", [wrong, INSTANCE | {"id": 8}])
    error = call(program, "timedial", tmp_path, tmp_path / "out", ok=False)
    assert said in error and "test.json" in error and "fetch the file again" in error


def test_a_cut_challenge_file_is_refused(program, tmp_path):
    (tmp_path / "test.json").write_text(json.dumps([INSTANCE, INSTANCE])[:-30])
    error = call(program, "timedial", tmp_path, tmp_path / "out", ok=False)
    assert "broken JSON at line 1" in error and "in or just behind instance 7" in error


def test_a_named_file_of_another_kind_is_refused(program, tmp_path):
    write_json(tmp_path / "test.json", [INSTANCE])  # it stood in place of the named file
    (tmp_path / "mine.csv").touch()
    given = json.dumps({"sha256": {"mine.csv": None}})
    error = call(program, "timedial", tmp_path, tmp_path / "out", given, ok=False)
    assert "the source's entry names no .json or .jsonl or .parquet file" in error


def test_the_original_option_is_dailydialogs(timedial, daily):
    """With its original option, an instance is a dialog of DailyDialog. The authors rewrote 44
    times of the day.
    """
    turns = pd.concat(
        [read_table(daily / f"{split}.parquet").to_pandas() for split in dailydialog.SPLITS]
    )
    known = set(
        turns.groupby("dialog_id")["text"]
        .agg("".join)
        .map(lambda text: re.sub(r"[\W_]", "", text).lower())
    )
    found = {True: 0, False: 0}
    for split in ("test", "extras"):
        for row in read_table(timedial / f"{split}.parquet").to_pandas().itertuples():
            text = re.sub(r"^[AB]: ", "", row.dialog, flags=re.MULTILINE).replace(
                "<MASK>", row.option
            )
            found[row.is_original] += re.sub(r"[\W_]", "", text).lower() in known
    assert found == {True: 1402, False: 0}
