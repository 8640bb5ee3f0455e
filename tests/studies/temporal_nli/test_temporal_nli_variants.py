"""Test splits that a control cannot pass: balanced splits and contrast pairs are read back and
measured.
"""

import pandas as pd
import pytest

from scripts.data.counterparts import contrast_pairs, is_counterpart
from scripts.data.tables import read_table
from scripts.studies.temporal_nli.evaluate import LABELS
from scripts.studies.temporal_nli.parts import UNSEEN
from scripts.studies.temporal_nli.reader import read
from tests.clean.cleaned_dialogs import call as clean
from tests.conftest import ROOT
from tests.rows import rows_of
from tests.studies.temporal_nli.test_build_temporal_nli import build

SMALL = {"train_templates": 24, "test_templates": 8, "iterations": 2}


@pytest.fixture(scope="session")
def made(program, tmp_path_factory):
    """Return a function that builds a set with these options; it returns the dataset's folder, or
    the text of a refusal.
    """
    folder = tmp_path_factory.mktemp("variants")
    clean(program, "event_templates", ROOT / "resources", folder / "clean")

    def call(challenge_set, ok=True, **options):
        name = "-".join([challenge_set, *(f"{key}-{value}" for key, value in options.items())])
        output = folder / "build/event_templates" / name
        if output.exists():
            return output
        given = SMALL | {"challenge_set": challenge_set} | options
        done = build(program, folder / "clean", output, ok, **given)
        return output if ok else done.stderr

    return call


def split_of(folder, split="test") -> pd.DataFrame:
    return read_table(folder / f"{split}.parquet").to_pandas()


@pytest.mark.parametrize(
    "challenge_set, contrast",
    rows_of("""
        temp_order    | preposition
        temp_order    | times
        temp_duration | preposition
        cross_unit    | preposition
        cross_unit    | times
    """),
)
def test_a_counterpart_differs_in_one_thing_and_reads_back_to_its_label(
    made, challenge_set, contrast
):
    folder, plain = made(challenge_set, contrast=contrast), made(challenge_set)
    rows, whole = split_of(folder), split_of(plain)
    for split in ("train", "dev"):
        assert split_of(folder, split).equals(split_of(plain, split))
    pairs = contrast_pairs(rows["example_id"])
    assert 2 * len(pairs) == len(rows) and is_counterpart(rows["example_id"]).sum() == len(pairs)
    texts = list(zip(rows["text_a"], rows["text_b"]))
    stand = [frozenset((texts[one], texts[other])) for one, other in pairs]
    assert len(set(stand)) == len(stand)
    # each pair of the whole set is an original, a counterpart, or a pair with one time twice
    for pair in set(zip(whole["text_a"], whole["text_b"])) - set(texts):
        first, second, _ = read(*pair, challenge_set)
        assert contrast == "times" and first["time"] == second["time"]
    readings = [read(*pair, challenge_set) for pair in texts]
    assert [reading.label for reading in readings] == [LABELS[label] for label in rows["label"]]
    for one, other in pairs:
        (first, second, _), (new_first, new_second, _) = readings[one], readings[other]
        if contrast == "times":
            changed = {"time", "kind", "position", "number", "unit", "day", "suffix"}
            assert (new_first["time"], new_second["time"]) == (second["time"], first["time"])
        else:
            changed = {"less"} if challenge_set == "temp_duration" else {"preposition"}
            assert new_first == first and {new_second[name] for name in changed} != {
                second[name] for name in changed
            }
        for old, new in ((first, new_first), (second, new_second)):
            assert {name for name in old if old[name] != new[name]} <= changed


def cell(pair: pd.Series) -> tuple:
    """Return the cell of a pair, read from its sentences: the facts that a control may know."""
    first, second, _ = read(pair["text_a"], pair["text_b"], pair["challenge_set"])
    if pair["challenge_set"] == "temp_duration":
        return second["less"], second["time"]
    return first["preposition"], second["preposition"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "challenge_set, held_out",
    rows_of("""
        temp_order    | range
        temp_duration | list
        cross_unit    | unit
        cross_unit    | range
    """),
)
def test_balanced_leaves_no_cue_of_the_label(made, challenge_set, held_out):
    folder, plain = (
        made(challenge_set, held_out=held_out, balanced=True),
        made(challenge_set, held_out=held_out),
    )
    rows, whole = split_of(folder), split_of(plain)
    assert split_of(folder, "train").equals(split_of(plain, "train"))
    assert set(rows["example_id"]) < set(whole["example_id"])
    unseen = rows[rows["part"] == UNSEEN]
    counts = unseen.groupby([unseen.apply(cell, axis=1), "label"]).size().unstack()
    assert (counts.nunique(axis=1) == 1).all() and (counts.notna().sum(axis=1) == 2).all()
    if challenge_set == "cross_unit":
        first, second = (
            unseen[text].str.extract(r"(?i)(?:in|before|after) (\d+) ")[0].astype(int)
            for text in ("text_a", "text_b")
        )
        if held_out == "unit":  # "more" in one pair of units is "less" in the other
            assert (second / first).between(24, 2.628e6 / 86_400).all()
        else:
            ratio = unseen["unit_pair"].map(
                {"minutes_hours": 60, "hours_days": 24, "days_months": 30.42, "months_years": 12}
            )
            assert (second / ratio).between(7.9, 10.1).all()
    if (challenge_set, held_out) == ("temp_order", "range"):
        for premise, hypothesis in zip(unseen["text_a"], unseen["text_b"]):
            years = [
                int(text)
                for text in pd.Series([premise, hypothesis]).str.extract(r"(\d{4})")[0].dropna()
            ]
            assert not years or years[0] == years[1] or min(years) >= 1968


def test_what_cannot_be_made_is_refused(made):
    said = made("temp_duration", ok=False, contrast="times")
    assert "contrast: times needs a time in both sentences" in said
    said = made(
        "temp_order", ok=False, held_out="list", balanced=True, iterations=1, test_templates=1
    )
    assert "balanced leaves no unseen pair; ask for more test_templates" in said
