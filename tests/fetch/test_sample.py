"""The sample corpora: the same bytes each time, the quirks of the real files,
and something that a model can learn.
"""

import hashlib
import json
import re
from functools import cache

import pandas as pd
import pytest
import yaml

from scripts.data.files import sha256_of
from scripts.data.yaml_files import entries_of
from scripts.fetch.samples.dialogs import challenge, corpus
from scripts.fetch.samples.files import texts_of
from scripts.train.control import classifier
from tests.conftest import ROOT
from tests.rows import rows_of

SOURCES = entries_of(ROOT / "resources/sources.yaml")
DIALOGS = SOURCES["sample_dialogs"]["sample"]["dialogs"]
# Of the default study's samples. They change with the texts, and must be the same on every machine.
PINNED = {
    "sample_activitynet": "1f91a59f17c5b523",
    "sample_howto100m": "524c85daf3b2b35f",
    "sample_dialogs": "b8bd47c27ee6817e",
    "sample_challenge": "2529c81e08417f01",
    "sample_mctaco": "18f2c58d8d80de32",
}
# What the cleaners count, beside white space.
QUIRKS = yaml.safe_load("""
sample_activitynet:
- 'not in the order of start times: sorted'
- 'line break in the text: made a space'
- 'several spaces in a row in the text: made one'
- start is after end
- start equals end
- end is past the duration of the video
- listed in train_ids.json but has no captions
- listed in val_ids.json but has no captions
- occurs in train too (in upper or lower case)
sample_howto100m:
- 'lists of different lengths: cut to the shortest'
- text is missing (null or NaN)
- text is not text
- text is empty
- of these, text on several lines
- 'not in the order of start times: sorted'
- the next caption repeats it or goes on from it
- begins before the one in front ends
- not in HowTo100M_v1.csv
- in HowTo100M_v1.csv but without captions
sample_dialogs:
- 'full-width characters: made plain'
- 'no space after a full stop between words: put in'
- 'a spaced apostrophe in a contraction: closed'
- the same words as one of an earlier split
sample_challenge:
- text is empty, at the end of the dialog
- 'white space at an end: removed'
- 'wrong by rule: phrase'
- 'wrong by rule: numeral'
- 'wrong by rule: open_ended'
sample_mctaco:
- a soft hyphen in a text
- a wide space in a text
- a " in a text
""")


@pytest.fixture(scope="module")
def samples(program, tmp_path_factory):
    """The folder of a source (and of other options), written and cleaned as the workflow does."""

    @cache
    def of(source, **changed):
        folder, entry = tmp_path_factory.mktemp(source), SOURCES[source]
        options = [
            part
            for name, value in {**entry["sample"], **changed}.items()
            for part in (f"--{name}", value)
        ]
        for name, *rest in (
            (f"fetch.samples.{entry['sampler']}", *options, "--output", folder / "fetch"),
            (
                f"clean.{entry['cleaner']}",
                "--source",
                source,
                "--fetched",
                folder / "fetch",
                "--output",
                folder / "clean",
                "--provenance",
                "{}",
            ),
        ):
            program(f"scripts.{name}", *rest).checked()
        assert {file.name for file in (folder / "fetch").iterdir()} == set(entry["files"])
        return folder

    return of


@pytest.mark.parametrize("source", PINNED)
def test_the_same_bytes_on_every_machine(samples, source):
    hashes, others = (
        [sha256_of(folder / "fetch" / name) for name in SOURCES[source]["files"]]
        for folder in (samples(source), samples(source, seed=2))
    )
    assert hashlib.sha256("".join(hashes).encode()).hexdigest()[:16] == PINNED[source]
    assert not set(hashes) & set(others)


@pytest.mark.parametrize("source", QUIRKS)
def test_every_quirk_of_the_real_files(samples, source):
    counts = pd.read_csv(samples(source) / "clean/cleaning.csv").groupby("reason")["count"].sum()
    assert not [quirk for quirk in QUIRKS[source] if not counts.get(quirk)]


# ---- Captions


@pytest.fixture(scope="module")
def pairs(program, samples):
    """(source, stride): the pairs to learn from, and those to measure on."""

    @cache
    def of(source, stride):
        folder, splits = samples(source), (SOURCES[source]["train"], SOURCES[source]["evaluate"][0])
        options = {
            "stride": stride,
            "size_matched": None,
            "same_videos": None,
            "max_videos": None,
            "hard": False,
            "label_seed": 0,
        }
        program(
            f"scripts.studies.strided_sop.build --cleaned {folder}/clean "
            f"--output {folder}/stride-{stride}",
            "--splits",
            *splits,
            "--options",
            json.dumps(options),
        ).checked()
        return [
            pd.read_parquet(folder / f"stride-{stride}/{split}.parquet").rename(
                columns={"text_a": "first", "text_b": "second"}
            )
            for split in splits
        ]

    return of


def accuracy(train, measured, features):
    """Of a control that sees these features of the difference of the two texts."""
    scores = classifier(features, train, 2, True)(measured)
    return (scores.argmax(1) == measured["label"]).mean()


@pytest.mark.parametrize(
    "stride, of_words, of_lifts",
    rows_of("""
        0 | 0.65 | 0.5
        1 | 0.75 | 0.6
        3 | 0.85 | 0.75
    """),
)
def test_what_says_the_order(pairs, stride, of_words, of_lifts):
    """Words do so in the format of ActivityNet.

    In that of HowTo100M only way and floor together do, never words alone.
    """
    assert accuracy(*pairs("sample_activitynet", stride), ["words"]) > of_words
    train, measured = pairs("sample_howto100m", stride)
    for features in ("words", "first_words", "cue_words", "lengths"):
        assert abs(accuracy(train, measured, [features]) - 0.5) < 0.06, features
    lifts = texts_of("captions")["lifts"]

    def way_and_floor(texts):
        seen = texts.str.extract(
            rf"({'|'.join(lifts['ways'])}) \w+ \w+ ({'|'.join(lifts['floors'])})"
        )
        return seen[0].str.cat(seen[1], sep=" ")

    # How late a lift that goes this way is at this floor, by the training pairs alone: what a model
    # can learn.
    late = (
        pd.concat([1 - train["label"], train["label"]])
        .groupby(way_and_floor(pd.concat([train["first"], train["second"]])))
        .mean()
    )
    later = way_and_floor(measured["second"]).map(late).fillna(0.5) - way_and_floor(
        measured["first"]
    ).map(late).fillna(0.5)
    assert ((later > 0) == measured["label"]).mean() > of_lifts


# ---- Dialogs and questions


@pytest.fixture(scope="module")
def dialogs():
    """The dialogs and instances of the default study."""
    by_split = corpus(DIALOGS, 1)
    return by_split, challenge(by_split, DIALOGS, 1)


def plain(text):
    return re.sub(r"[\W_]", "", text).lower()


@pytest.mark.parametrize(
    "kind, options, code, said",
    rows_of("""
        captions | [--format, howto100m, --videos, 2] | 2 | 'argument --videos: ''2'' is not a whole number from 10 to'
        captions | [--format, activitynet, --videos, 20, --unzipped] | 1 | leave them out, or give --format howto100m
        dialogs | [--format, timedial, --dialogs, 47] | 2 | '''47'' is not a whole number from 48 to 20000'
        questions | [--questions, 1001] | 2 | '''1001'' is not a whole number from 10 to 1000'
    """),
)
def test_what_is_refused(program, tmp_path, kind, options, code, said):
    done = program(f"scripts.fetch.samples.{kind} --seed 1 --output {tmp_path}", *options)
    assert done.returncode == code and said in done.stderr and not list(tmp_path.iterdir())
