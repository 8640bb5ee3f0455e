"""The generated challenge sets: sizes, draws by seed, wrong input; an independent reader reads
every sentence back.
"""

import json
import shutil
from functools import cache

import pandas as pd
import pytest
import yaml

from tests.files import read_texts
from tests.clean.cleaned_dialogs import call
from tests.conftest import ROOT
from tests.temporal_nli_reader import check
from tests.rows import rows_of
from tests.studies.programs import build as build_set, splits_in

pytestmark = pytest.mark.slow  # whole sets are built

EXPECT = yaml.safe_load((ROOT / "resources/sources.yaml").read_text())["event_templates"]["expect"]
SETS = ["temp_order", "temp_duration", "cross_unit"]
FEW = {"train_templates": 10, "test_templates": 4}
WORDS = pd.Series(["entailment", "neutral", "contradiction"])
OPTIONS = yaml.safe_load("""
{train_templates: null, test_templates: null, iterations: 5, generation_seed: 0, dev_fraction: 0.1,
  held_out: template}
""")

# Times in the last third of their lists: hours from 16:00, Friday and Saturday, 20th to 28th,
# September to December, 1968 to 2000.
LATE = (
    r"\b(?:[4-9]|1[01]) PM\b|\b(?:1[6-9]|2[0-3]):00\b|\bFriday|\bSaturday|\b2\d(?:th|st|nd|rd)\b"
    r"|\b(?:Sep|Oct|Nov|Dec)|\b(?:19[7-9]\d|196[89]|2000)\b"
)


def build(program, cleaned, output, ok=True, **options):
    """Run the builder with these options."""
    return build_set(program, "temporal_nli", cleaned, output, "train test", options, ok=ok)


@pytest.fixture(scope="session")
def generate(program, tmp_path_factory):
    """Return a function that builds a set from the list of templates and returns {split: pairs}.
    mend: a function that changes the list first.
    """

    @cache
    def cleaned(mend):
        folder = tmp_path_factory.mktemp("cleaned")
        shutil.copy(ROOT / "resources/templates.csv", folder)
        if mend:
            table = read_texts(folder / "templates.csv")
            mend(table).to_csv(folder / "templates.csv", index=False)
        return clean(program, folder, folder, {} if mend else EXPECT)

    def call(challenge_set: str, mend=None, ok=True, **options):
        output = tmp_path_factory.mktemp("generated") / "built"
        given = OPTIONS | {"challenge_set": challenge_set} | options
        done = build(program, cleaned(mend), output, ok, **given)
        if not ok:
            return done.stderr
        return splits_in(output, "train dev test")

    return call


@pytest.fixture(scope="session")
def generated(generate):
    """Return the three sets with default options, built once."""
    return {challenge_set: generate(challenge_set) for challenge_set in SETS}


@pytest.fixture(scope="session")
def few(generate):
    """Return the three sets with few templates."""
    return {challenge_set: generate(challenge_set, **FEW) for challenge_set in SETS}


@pytest.mark.parametrize("challenge_set", SETS)
def test_sizes_are_the_papers(generated, challenge_set):
    splits = generated[challenge_set]
    assert len(splits["train"]) + len(splits["dev"]) == EXPECT["train"]["pairs"][challenge_set]
    assert len(splits["test"]) == EXPECT["test"]["pairs"][challenge_set]
    groups = {split: set(table["group_id"]) for split, table in splits.items()}
    assert not groups["train"] & groups["dev"]
    assert not groups["train"] & groups["test"]
    assert groups["dev"]
    everything = pd.concat(splits.values())
    assert everything["example_id"].is_unique
    assert not everything.duplicated(["text_a", "text_b"]).any()


@pytest.mark.parametrize("challenge_set", SETS)
def test_every_sentence_reads_back_to_its_label(generated, challenge_set):
    """The reader does not use the generator or the label; it finds no fault in any row of any
    split.
    """
    rows = pd.concat(generated[challenge_set].values(), ignore_index=True)
    rows["label"] = WORDS[rows["label"]].to_numpy()
    faults = check(rows["text_a text_b label challenge_set".split()])
    assert faults.empty, rows.loc[faults["row"].head(20), ["text_a", "text_b", "label"]].to_string()


def test_labels_are_spread_as_in_the_paper(generated):
    """A draw of set I gives about 35.5, 24.4 and 40.1 %; sets II and III have equal shares by
    construction.
    """
    order = pd.concat(generated["temp_order"].values())["label"].value_counts(normalize=True)
    assert order[0] == pytest.approx(0.355, abs=0.02)
    assert order[1] == pytest.approx(0.244, abs=0.02) and order[2] == pytest.approx(0.401, abs=0.02)
    for table in generated["temp_duration"].values():
        assert (table["label"] == 0).mean() == (table["label"] == 2).mean() == 0.5
    for table in generated["cross_unit"].values():
        assert set(table["label"].value_counts()) == {len(table) / 3}


def test_variations_are_crossed_in_full(generated):
    """Each template has equally many pairs of each form: the paper's 20, 60 and 48 for each list,
    list and T1.
    """
    order = generated["temp_order"]["test"]
    assert set(order.groupby(["group_id", "tense", "choice"]).size()) == {20}
    assert set(
        order.groupby("group_id tense choice premise_type premise_position".split()).size()
    ) == {5}
    assert (order["difference"][~order["choice"].str.contains("year|date")] <= 0.5).all()
    lasting = generated["temp_duration"]["test"]
    assert set(
        lasting.groupby("group_id choice duration_format next_cycle".split(), dropna=False).size()
    ) == {60}
    assert (
        lasting.loc[lasting["next_cycle"], "choice"].isin(["year", "month_day", "date_full"]).sum()
        == 0
    )
    cross = generated["cross_unit"]["test"]
    assert set(cross.groupby(["group_id", "unit_pair"]).size()) == {480}
    assert cross["difference"].abs().max() < 5.1
    assert ((cross["difference"] < 0) == (cross["direction"] == "lower")).all()


# Patterns that no training sentence may match, and that every unseen sentence must match.
DAY_WORDS = r"\bdays?\b"
LEAKS = {
    ("temp_order", "list"): r"day\b",
    ("temp_duration", "list"): r"\b(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day",
    ("temp_order", "spelling"): r"\d\d:00|\b(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b",
    ("temp_duration", "spelling"): r"\d\d:00|\b(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b",
    ("temp_duration", "unit"): DAY_WORDS,
    ("cross_unit", "unit"): DAY_WORDS,
    ("temp_order", "range"): LATE,
    ("temp_duration", "range"): LATE,
    ("cross_unit", "range"): r"\b(?:8|9|10) (?:hour|day|month|year)s",
    ("temp_order", "form"): r"^(?:At|On|In|Before|After) ",
    ("temp_duration", "form"): r"^(?!.* from .* to )",
    ("cross_unit", "form"): r"^(?:In|Before|After) \d",
}


@pytest.mark.parametrize("challenge_set, kind", list(LEAKS))
def test_nothing_that_is_held_out_is_learnt(few, generate, challenge_set, kind):
    """The held-out pattern is searched in the sentences themselves: no pair of train and dev
    matches it, and each unseen pair of test does.
    """
    splits, whole = generate(challenge_set, held_out=kind, **FEW), few[challenge_set]
    premise_alone = (challenge_set, kind) in (("cross_unit", "range"), ("temp_duration", "form"))
    where = ["text_a"] if premise_alone else ["text_a", "text_b"]
    pattern = LEAKS[challenge_set, kind]
    has = {
        split: table[where].apply(lambda texts: texts.str.contains(pattern)).any(axis=1)
        for split, table in splits.items()
    }
    for split in ("train", "dev"):
        assert len(splits[split]) and not has[split].any()
        assert set(splits[split]["part"]) == {"seen"}
    test = splits["test"]
    assert set(test["part"]) == {"seen", "unseen"}
    # "May" has the same spelling in both forms
    spelt = test["text_a"].str.contains("May") | test["text_b"].str.contains("May")
    assert (has["test"] == (test["part"] == "unseen"))[~spelt | (kind != "spelling")].all()
    # The test pairs are those of the whole set; the training pairs are a part of the whole set's.
    pd.testing.assert_frame_equal(test.drop(columns="part"), whole["test"].drop(columns="part"))
    known = pd.concat([whole["train"], whole["dev"]])["example_id"]
    assert set(splits["train"]["example_id"]) | set(splits["dev"]["example_id"]) < set(known)
    withheld = whole["test"]["withheld"].str.split().map(lambda kinds: kind in kinds)
    assert (withheld == (test["part"] == "unseen")).all()


def only_years(table: pd.DataFrame) -> pd.DataFrame:
    cells = {
        "future": "They will leave",
        "future_fronted": "they will leave",
        "future_units": "year",
    }
    table.loc[table["split"] == "test", list(cells)] = list(cells.values())
    return table


@pytest.mark.parametrize(
    "challenge_set, mend, options, said",
    [
        *rows_of("""
            temp_order | null | {train_templates: 999} | 'train_templates asks for 999, but there are'
            temp_order | null | {train_pairs: 99999}   | 'train_pairs asks for 99999, but there are'
            temp_order | null | {held_out: unit}       | 'held_out: unit has no meaning here'
        """),
        (
            "temp_duration",
            lambda table: table.groupby("split").head(2),
            {"iterations": 30},
            "lower iterations (now 30)",
        ),
        (
            "temp_order",
            lambda table: table.groupby("split").head(1),
            {},
            "1 template(s) give pairs, but dev is held out of train by template",
        ),
        ("cross_unit", only_years, {}, "test.parquet: no pairs of cross_unit; add templates"),
    ],
)
def test_a_set_that_cannot_be_made_is_refused(generate, challenge_set, mend, options, said):
    assert said in generate(challenge_set, mend, ok=False, **options)


def clean(program, folder, templates, expect: dict, ok=True):
    more = ["--expect", json.dumps(expect)] if expect else []
    return call(program, "event_templates", templates, folder / "clean", "{}", *more, ok=ok)


@pytest.mark.parametrize(
    "row, cells, said",
    rows_of("""
        2 | {past_units: 'day, fortnight'} | 'row 4 ({name}): past_units has fortnight; the units are hours, day, month, year'
        3 | {future: ''} | 'row 5 ({name}): future is empty, but future_units is not; give both or neither'
        1 | {split: dev} | 'row 3 ({name}): split is neither train nor test; write one of them'
        3 | {past: The fog rolled in} | 'row 5 ({name}): past ends in ''in'', but a preposition and a time follow it'
        0 | null | 'column past_fronted is missing; the columns are template, split'
    """),
)
def test_a_wrong_list_is_refused(program, tmp_path, row, cells, said):
    """A wrong cell in a row, or a missing column past_fronted, is refused."""
    table = read_texts(ROOT / "resources/templates.csv")
    name = table["template"][row]
    if cells is None:
        table = table.drop(columns="past_fronted")
    else:
        table.loc[row, list(cells)] = list(cells.values())
    table.to_csv(tmp_path / "templates.csv", index=False)
    assert said.format(name=name) in clean(program, tmp_path, tmp_path, EXPECT, ok=False)


def test_wrong_marginals_are_told_with_the_difference(program, tmp_path):
    expect = json.loads(json.dumps(EXPECT))
    expect["train"]["sides"]["month"] += 2
    expect["test"]["pairs"]["cross_unit"] -= 480
    error = clean(program, tmp_path, ROOT / "resources", expect, ok=False)
    assert "train sides month: 68, expected 70 (-2)" in error
    assert "test pairs cross_unit: 15840, expected 15360 (+480)" in error
