"""The share of temporal expressions that the rules find in sentences marked before the rules.

The missed expressions were read while the rules were written. So the share is a guard, not an
estimate for unseen text.

Our sentences are in temporal_spans_marked.txt. temporal_spans_dailydialog.csv marks sentences of
DailyDialog's training dialogs that have no challenge instance, drawn at random: 260 with a number,
month, weekday or preposition of time (draw `numbers`), 110 with a number behind a preposition
(`preposition`), 110 with a word of time (`cue`). Its licence allows no text here. A row has the
dialog, the turn, the sentence's bounds, a hash of its text, and the bounds of its expressions, in
characters of the turn.
"""

import hashlib
import re
import zipfile

import pandas as pd
import pytest

from scripts.text.temporal_spans import expressions, rule_pipeline
from scripts.text.temporal_words import rules_of
from scripts.clean.dailydialog import archived, clean_split
from tests.conftest import ROOT

MARKED = re.compile(r"\{([^|}]*)\|(\w+)\}")
MARKED_HERE = [
    line
    for line in (ROOT / "tests/text/temporal_spans_marked.txt")
    .read_text(encoding="utf-8")
    .splitlines()
    if not line.startswith("#")
]
Bounds = set[tuple[int, int]]


@pytest.fixture(scope="module")
def bounds_in():
    """Return a function that returns the bounds of the expressions of each text."""
    rules = rules_of()
    nlp = rule_pipeline(rules)
    return lambda texts: [
        {(one.start, one.end) for one in found} for found in expressions(texts, nlp, rules)
    ]


def marks(sentence: str) -> Bounds:
    """Return the bounds of the marked expressions, in the sentence without its marks."""
    taken, bounds = 0, set()
    for found in MARKED.finditer(sentence):
        bounds.add((found.start() - taken, found.start() - taken + len(found[1])))
        taken += len(found[0]) - len(found[1])
    return bounds


def precision_and_recall(marked: list[Bounds], found: list[Bounds]) -> tuple[float, float]:
    right = sum(len(one & other) for one, other in zip(marked, found))
    return right / sum(map(len, found)), right / sum(map(len, marked))


def test_marked_sentences(bounds_in):
    assert len(set(MARKED_HERE)) == len(MARKED_HERE) >= 150
    found = bounds_in([MARKED.sub(r"\1", sentence) for sentence in MARKED_HERE])
    precision, recall = precision_and_recall([marks(sentence) for sentence in MARKED_HERE], found)
    assert precision > 0.95 and recall > 0.93, (precision, recall)


@pytest.fixture(scope="module")
def sentences(mirror, tmp_path_factory) -> pd.DataFrame:
    """Return temporal_spans_dailydialog.csv with the texts of the turns."""
    archive = mirror / "yanran.li/files/ijcnlp_dailydialog.zip"
    if not archive.is_file():
        pytest.skip(f"{archive} is missing")
    folder = tmp_path_factory.mktemp("dailydialog")
    with zipfile.ZipFile(archive) as outer:
        (folder / "train.zip").write_bytes(outer.read("ijcnlp_dailydialog/train.zip"))
    rows = pd.read_csv(ROOT / "tests/text/temporal_spans_dailydialog.csv", keep_default_na=False)
    wanted = set(rows["dialog_id"].str.removeprefix("train:").astype(int))
    lines = archived(folder / "train.zip", "train").split("\n")
    # cleaning all lines would take long
    lines = [line if number in wanted else ". __eou__" for number, line in enumerate(lines)]
    turns = clean_split("\n".join(lines), "dailydialog", "train", "train.zip")[0]
    texts = turns.set_index(["dialog_id", "turn"])["text"]
    rows["text"] = texts.reindex(pd.MultiIndex.from_frame(rows[["dialog_id", "turn"]])).to_numpy()
    return rows


def test_sentences_of_dailydialog(bounds_in, sentences):
    shown = [
        text[start:end]
        for text, start, end in zip(sentences["text"], sentences["start"], sentences["end"])
    ]
    assert [hashlib.sha256(text.encode()).hexdigest()[:12] for text in shown] == sentences[
        "sha256"
    ].to_list()
    marked = [
        {tuple(map(int, bounds.split("-"))) for bounds in spans.split()}
        for spans in sentences["spans"]
    ]
    found = [
        {(start, end) for start, end in bounds if start < row.end and row.start < end}
        for bounds, row in zip(bounds_in(sentences["text"].to_list()), sentences.itertuples())
    ]
    precision, recall = precision_and_recall(marked, found)
    assert precision > 0.98 and recall > 0.98, (precision, recall)
