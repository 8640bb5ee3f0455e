"""Masked datasets of dialogs: no dialog of the challenge remains; candidates, contexts, wrong
input.
"""

import json
import re
import unicodedata
import zipfile
from collections import defaultdict

import pandas as pd
import pyarrow as pa
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scripts.studies.timedial.leakage import challenge_turns, sources
from scripts.data.tables import CHALLENGE, DIALOGS, SPANS, write_table
from scripts.studies.timedial.tables import CLOZE
from tests.files import read_json
from tests.studies.programs import build, splits_in

pytestmark = pytest.mark.slow  # many processes

ZIP = "yanran.li/files/ijcnlp_dailydialog.zip"
TEST = "raw.githubusercontent.com/google-research-datasets/TimeDial/main/test.json"


def dialog_rows(
    dialogs: dict[str, list[str]], split: str = "train", duplicates: dict | None = None
) -> pd.DataFrame:
    rows = [
        ("s", split, name, turn, "AB"[turn % 2], text, (duplicates or {}).get(name, ""))
        for name, turns in dialogs.items()
        for turn, text in enumerate(turns)
    ]
    return pd.DataFrame(rows, columns=DIALOGS.names)


def challenge_rows(
    instances: dict[str, list[str]], options=("two weeks", "14 days", "six weeks", "9 years")
) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "source": "c",
                "split": "test",
                "instance_id": name,
                "option": option,
                "label": label,
                "is_original": number == 0,
                "dialog": "\n".join(f"{'AB'[turn % 2]}: {text}" for turn, text in enumerate(turns)),
                "rule": "" if label else "phrase",
            }
            for name, turns in instances.items()
            for number, (option, label) in enumerate(zip(options, (1, 1, 0, 0)))
        ]
    )


# An independent, slow definition of a source.


def words(text: str) -> str:
    return "".join(
        letter for letter in unicodedata.normalize("NFKC", text).lower() if letter.isalnum()
    )


def long_turns(turns: list[str]) -> set[str]:
    return {words(turn) for turn in turns if len(words(turn)) >= 20}


def is_exact(turns: list[str], asked: list[str]) -> bool:
    if len(turns) != len(asked):
        return False
    for turn, other in zip(turns, asked):
        if "<MASK>" in other:
            before, after = map(words, other.split("<MASK>"))
            here = words(turn)
            if not (
                here.startswith(before)
                and here.endswith(after)
                and len(here) >= len(before) + len(after)
            ):
                return False
        elif words(turn) != words(other):
            return False
    return True


def is_near(turns: list[str], asked: list[str]) -> bool:
    ours, theirs = long_turns(turns), long_turns([turn for turn in asked if "<MASK>" not in turn])
    return bool(ours & theirs) and 2 * len(ours & theirs) >= min(len(ours), len(theirs))


def found(dialogs: pd.DataFrame, challenge: pd.DataFrame) -> tuple[set, set]:
    """Return the ids of the exact and of the near sources."""
    number, names = pd.factorize(dialogs["dialog_id"])
    exact, near = sources(dialogs.assign(dialog=number), challenge_turns(challenge, "challenge"))
    return set(names[exact]), set(names[near])


TURNS = st.sampled_from(
    "Yes .|I come back here in two weeks .|i come back here  in six weeks|we waited for a whole year|"
    "How long have you been here ?|See you .|See you !|that is a very good idea|What ?".split("|")
)
MASKED = st.sampled_from(
    "I come back here in <MASK> .|<MASK>|See <MASK>|we waited for <MASK>|<MASK> ?".split("|")
)


@pytest.mark.slow
@given(
    st.lists(st.lists(TURNS, min_size=1, max_size=4), min_size=1, max_size=6),
    st.lists(
        st.tuples(st.lists(TURNS, max_size=2), MASKED, st.lists(TURNS, max_size=2)),
        min_size=1,
        max_size=4,
    ),
)
@example(  # text behind the mask; text before and behind the mask, which overlaps
    [["we waited for an hour"], ["See you !"]],
    [([], "we waited for <MASK> year", []), ([], "See you <MASK> you", [])],
)
@settings(max_examples=50)
def test_sources_equal_a_slow_reference(dialogs, instances):
    dialogs = {f"train:{number}": turns for number, turns in enumerate(dialogs)}
    instances = {
        str(number): [*before, masked, *after]
        for number, (before, masked, after) in enumerate(instances)
    }
    exact, near = found(dialog_rows(dialogs), challenge_rows(instances))
    assert exact == {
        name
        for name, turns in dialogs.items()
        if any(is_exact(turns, asked) for asked in instances.values())
    }
    assert near == {
        name
        for name, turns in dialogs.items()
        if any(is_near(turns, asked) for asked in instances.values())
    }


@pytest.fixture(scope="module")
def real(mirror):
    """Read the real corpora: dialogs by split, and the challenge."""
    if not (mirror / ZIP).exists() or not (mirror / TEST).exists():
        pytest.skip(f"the mirror lacks {ZIP} or {TEST}")
    splits, outer = {}, zipfile.ZipFile(mirror / ZIP)
    for split in ("train", "validation", "test"):
        with outer.open(f"ijcnlp_dailydialog/{split}.zip") as inner:
            text = zipfile.ZipFile(inner).read(f"{split}/dialogues_{split}.txt").decode()
        splits[split] = {
            f"{split}:{number}": [turn.strip() for turn in line.split("__eou__") if turn.strip()]
            for number, line in enumerate(text.rstrip("\n").split("\n"))
        }
    instances = {}
    for one in read_json(mirror / TEST):
        turns = [re.sub(r"^[AB]:\s*", "", turn).strip() for turn in one["conversation"]]
        instances[str(one["id"])] = turns if turns[-1] else turns[:-1]
    return splits, instances


def test_no_dialog_of_the_real_challenge_remains(real):
    """PROTOCOLS, study 4: 839 / 101 / 77 lines are sources.

    838 lines are equal turn by turn; two more have other breaks between turns.
    """
    splits, instances = real
    sizes = {split: len(dialogs) for split, dialogs in splits.items()}
    assert sizes == {"train": 11118, "validation": 1000, "test": 1000}
    challenge = challenge_rows(instances)
    # Only instances that share a long turn can be near; each of them is compared exactly.
    said_in = defaultdict(set)
    for name, asked in instances.items():
        for turn in long_turns(asked):
            said_in[turn].add(name)
    left = {}
    for split, dialogs in splits.items():
        exact, near = found(dialog_rows(dialogs), challenge)
        left[split] = len(exact), len(near - exact)
        cut_elsewhere = {words(" ".join(dialogs[name])) for name in exact}
        kept = {name: turns for name, turns in dialogs.items() if name not in exact | near}
        assert not cut_elsewhere & {words(" ".join(turns)) for turns in kept.values()}
        for name, turns in kept.items():
            for instance in set().union(*(said_in.get(turn, ()) for turn in long_turns(turns))):
                assert not is_near(turns, instances[instance]), (name, instance)
                assert not is_exact(turns, instances[instance]), (name, instance)
    assert left == {"train": (838, 52), "validation": (101, 6), "test": (77, 6)}


# The program's results on a small corpus: the text of each span, its kind, its value.

KNOWN = yaml.safe_load("""
two weeks: [duration, P14D]
14 days: [duration, P14D]
Two weeks: [duration, P14D]
an hour: [duration, PT1H]
60 minutes: [duration, PT1H]
9 years: [duration, P9Y]
six months: [duration, P6M]
Six months: [duration, P6M]
45 seconds: [duration, PT45S]
Friday: [date, friday]
Next week: [date, next week]
next year: [date, next year]
Tomorrow: [date, tomorrow]
tomorrow: [date, tomorrow]
May: [date, may]
June: [date, june]
5 pm: [time, 'T17:00']
'17:00': [time, 'T17:00']
""")
SPANS_IN_TEXT = re.compile(
    "|".join(rf"(?<!\w){re.escape(text)}(?!\w)" for text in sorted(KNOWN, key=len, reverse=True))
)
DIALOGS_HERE = yaml.safe_load("""
"train:2":
  - How long did you wait there ?
  - two weeks . Then an hour more .
  - Why ?
  - He left in May .
"train:10":
  - See you tomorrow !
  - Tomorrow I will be away .
  - Then Friday ?
  - Yes , 9 years and 14 days from now .
"train:3":
  - Six months is a long time for a child .
  - It was 60 minutes , not six months !
  - 45 seconds ?
"train:4":
  - Next week , or next year ?
  - In June , before two weeks have gone by .
"train:5":
  - No time is named in this one .
  - None at all .
"train:6":  # an exact source
  - the flat is free for six months , madam .
  - I will take it for six months .
  - Good .
"train:7":  # a near source
  - We all know the flat is lovely .
  - The flat is free for six months , madam .
  - and the garden is 9 years old .
"train:8":
  - See you tomorrow !
  - Tomorrow I will be away .
  - Then Friday ?
  - Yes , 9 years and 14 days from now .
""")
ASKED = {
    "1": ["The flat is free for six months , madam .", "I will take it for <MASK> .", "Good ."],
    "9": ["Nobody says what stands in here at all .", "<MASK> !"],
}


def spans_of(dialogs: pd.DataFrame) -> pd.DataFrame:
    rows = [
        {"source": "s", "split": row.split, "dialog_id": row.dialog_id, "turn": row.turn}
        | {"start": found.start(), "end": found.end(), "text": found[0]}
        | dict(zip(("kind", "value"), KNOWN[found[0]]))
        | {"has_numeral": any(letter.isdigit() for letter in found[0])}
        for row in dialogs.itertuples()
        for found in SPANS_IN_TEXT.finditer(row.text)
    ]
    return pd.DataFrame(rows, columns=SPANS.names)


def save(frame: pd.DataFrame, path, schema) -> None:
    write_table(
        pa.Table.from_pandas(frame, schema=schema, preserve_index=False),
        path,
        schema,
        {"licence": "MIT"},
    )


class Corpus:
    """Tables in a folder, which a test may change, and a run of the program on them."""

    def __init__(self, folder, program):
        self.folder, self.program = folder, program
        self.dialogs = dialog_rows(DIALOGS_HERE, duplicates={"train:8": "train:10"})
        self.spans = spans_of(self.dialogs)
        held_out = dialog_rows(
            {f"validation:{name[6:]}": turns for name, turns in DIALOGS_HERE.items()}, "validation"
        )
        self.validation, self.validation_spans = held_out, spans_of(held_out)
        self.challenge = challenge_rows(ASKED)
        restored = self.challenge[self.challenge["is_original"]]
        self.challenge_spans = spans_of(
            dialog_rows(
                {
                    row.instance_id: [
                        turn.replace("<MASK>", row.option) for turn in ASKED[row.instance_id]
                    ]
                    for row in restored.itertuples()
                    if row.instance_id in ASKED
                }
            )
        )

    def build(self, name="out", ok=True, **options):
        at = self.folder / "in"
        for split, dialogs, spans in (
            ("train", self.dialogs, self.spans),
            ("validation", self.validation, self.validation_spans),
        ):
            save(dialogs, at / f"dialogs/{split}.parquet", DIALOGS)
            save(spans, at / f"spans/{split}.parquet", SPANS)
        save(self.challenge, at / "challenge/test.parquet", CHALLENGE)
        save(self.challenge_spans, at / "challenge_spans/test.parquet", SPANS)
        asked = {"cleaned": str(at / "challenge"), "spans": str(at / "challenge_spans")}
        beside = json.dumps({"challenge": asked | {"train": None, "evaluate": ["test"]}})
        place = self.folder / name
        more = ("--spans", at / "spans", "--beside", beside)
        splits = "train validation"
        done = build(self.program, "timedial", at / "dialogs", place, splits, options, *more, ok=ok)
        return splits_in(place, f"{splits} test") if ok else done.stderr


@pytest.fixture
def corpus(tmp_path, program):
    return Corpus(tmp_path, program)


def test_each_span_is_masked_with_its_own_text_right(corpus):
    built = corpus.build()["train"]
    assert list(built) == CLOZE.names
    right = built[built["label"] == 1]
    left = corpus.spans[corpus.spans["dialog_id"].isin("train:2 train:3 train:4 train:10".split())]
    wanted = {f"{row.dialog_id}:{row.turn}:{row.start}": row for row in left.itertuples()}
    assert set(right["instance_id"]) == set(wanted)
    for row in right.itertuples():
        span, turns = wanted[row.instance_id], DIALOGS_HERE[row.dialog_id]
        assert (row.candidate, row.kind, row.has_numeral, row.turns) == (
            span.text,
            span.kind,
            span.has_numeral,
            len(turns),
        )
        lines = [f"{'AB'[turn % 2]}: {text}" for turn, text in enumerate(turns)]
        assert row.context.replace("<MASK>", span.text) == "\n".join(lines)
        assert row.context.split("\n")[span.turn][3 + span.start :].startswith("<MASK>")
        assert row.example_id == f"{row.instance_id}:0" and row.is_original and row.rule == ""
    drawn_rows = built[built["label"] == 0]
    assert set(drawn_rows["rule"]) == {"drawn"} and not drawn_rows["is_original"].any()
    assert (
        built["example_id"]
        == built["instance_id"] + ":" + built.groupby("instance_id").cumcount().astype(str)
    ).all()


@pytest.mark.slow
@pytest.mark.parametrize("kinds", ["any_kind", "same_kind"])
def test_no_candidate_equals_another_in_value(corpus, kinds):
    corpus.spans = corpus.spans[corpus.spans["kind"] != "time"]
    meanings = {text.lower(): meaning for text, meaning in KNOWN.items()}
    drawn = []
    for seed in range(3):
        built = corpus.build(negatives_of=kinds, negative_seed=seed)["train"]
        meant = built["candidate"].str.lower().map(meanings)
        assert not built.assign(value=meant.str[1]).duplicated(["instance_id", "value"]).any()
        assert (built.groupby("instance_id").size() == 4).all()
        assert (meant.str[0] == built["kind"]).all() == (kinds == "same_kind")
        drawn.append(built["candidate"][built["label"] == 0].tolist())
    assert drawn[0] != drawn[1] != drawn[2], "another seed draws others"


@pytest.mark.parametrize(
    "said, leak",
    [
        ("Why ?", "none"),
        ("Nobody says what stands in between ?", "near"),
        ("Nobody says what stands in here ?", "none"),
    ],
)
def test_an_instance_that_a_dialog_to_learn_from_still_shares_words_with_is_near(
    corpus, said, leak
):
    """One shared run of six words is half of the limit: the dialog stays, and the instance is near.
    With two runs the dialog is removed, and no shared words remain.
    """
    corpus.dialogs.loc[corpus.dialogs["text"] == "Why ?", "text"] = said
    corpus.spans = spans_of(corpus.dialogs)
    built = corpus.build()
    leaks = built["test"].groupby("instance_id")["leak"].unique().map(list)
    assert leaks.to_dict() == {"1": ["none"], "9": [leak]}
    assert ("train:2" in set(built["train"]["dialog_id"])) == ("here" not in said)


def changed(table: str, row: int, column: str, change):
    """Return a function that applies `change` to a cell of a table of the corpus."""

    def change_cell(corpus) -> None:
        frame = getattr(corpus, table)
        frame.loc[row, column] = change(frame.loc[row, column])

    return change_cell


def other_mask(text: str):
    def change_masks(corpus) -> None:
        corpus.challenge["dialog"] = corpus.challenge["dialog"].str.replace("<MASK> !", text)

    return change_masks


@pytest.mark.parametrize(
    "change, said",
    [
        (
            changed("dialogs", 1, "text", lambda text: "two weeks <MASK> ."),
            "turn 1 of dialog train:2 holds <MASK>",
        ),
        (changed("spans", 0, "start", lambda start: start + 1), "is not the text there"),
        (other_mask("Never !"), "the dialog of instance 9 has 0 <MASK>, not one"),
        (
            changed("challenge", 4, "is_original", lambda original: False),
            "instance 9 has 0 original options, not one",
        ),
    ],
)
def test_wrong_tables_are_refused(corpus, change, said):
    change(corpus)
    assert said in corpus.build(ok=False)


def test_more_negatives_than_there_are_values_are_refused(corpus):
    said = corpus.build(ok=False, negatives=9, negatives_of="same_kind")
    assert "need as many other values of kind" in said and "ask for fewer" in said
