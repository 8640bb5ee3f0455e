"""The sample corpora have the quirks of the real files, and a regularity that a model can learn."""

import json
from functools import cache

import pandas as pd
import pytest
import yaml

from scripts.data.yaml_files import entries_of
from scripts.controls.control import classifier
from tests.conftest import ROOT
from tests.rows import rows_of

SOURCES = entries_of(ROOT / "resources/sources.yaml")
# The counts of the cleaners, except white space.
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


LIFTS = r"(up|down) \w+ \w+ (cellar|kitchen|office|roof)"


@pytest.fixture(scope="module")
def samples(program, tmp_path_factory):
    """Return a function that fetches a source from resources/samples/, cleans it like the workflow,
    and returns its folder.
    """

    @cache
    def of(source):
        folder = tmp_path_factory.mktemp(source)
        program(
            f"scripts.fetch.source --source {source} --output {folder}/fetch "
            f"--partial {folder}/partial"
        ).checked()
        program(
            f"scripts.clean.{SOURCES[source]['cleaner']} --source {source} "
            f"--fetched {folder}/fetch --output {folder}/clean --provenance {{}}"
        ).checked()
        return folder

    return of


@pytest.mark.parametrize("source", QUIRKS)
def test_every_quirk_of_the_real_files(samples, source):
    counts = pd.read_csv(samples(source) / "clean/cleaning.csv").groupby("reason")["count"].sum()
    assert not [quirk for quirk in QUIRKS[source] if not counts.get(quirk)]


# ---- Captions


@pytest.fixture(scope="module")
def pairs(program, samples):
    """Return a function from (source, stride) to the training pairs and the evaluation pairs."""

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
    """Return the accuracy of a control that sees these features of the difference of the
    two texts.
    """
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
    """In the format of ActivityNet, words show the order.

    In the format of HowTo100M only way and floor together show it, never words alone.
    """
    assert accuracy(*pairs("sample_activitynet", stride), ["words"]) > of_words
    train, measured = pairs("sample_howto100m", stride)
    for features in ("words", "first_words", "cue_words", "lengths"):
        assert abs(accuracy(train, measured, [features]) - 0.5) < 0.06, features

    def way_and_floor(texts):
        seen = texts.str.extract(LIFTS)
        return seen[0].str.cat(seen[1], sep=" ")

    # How late a lift with this way is at this floor, from the training pairs alone: a model can
    # learn this.
    late = (
        pd.concat([1 - train["label"], train["label"]])
        .groupby(way_and_floor(pd.concat([train["first"], train["second"]])))
        .mean()
    )
    later = way_and_floor(measured["second"]).map(late).fillna(0.5) - way_and_floor(
        measured["first"]
    ).map(late).fillna(0.5)
    assert ((later > 0) == measured["label"]).mean() > of_lifts
