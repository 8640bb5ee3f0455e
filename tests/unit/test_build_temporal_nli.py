"""The generated challenge sets: sizes, every sentence read back by an independent reader, draws by seed; wrong input."""

import json
import shutil

import pandas as pd
import pytest
import yaml

from scripts.common.tables import content_digest, read_table
from tests.conftest import ROOT
from tests.temporal_nli_reader import check

EXPECT = yaml.safe_load((ROOT / "resources/sources.yaml").read_text())["event_templates"]["expect"]
SETS = ["temp_order", "temp_duration", "cross_unit"]
WORDS = pd.Series(["entailment", "neutral", "contradiction"])
OPTIONS = {"train_templates": None, "test_templates": None, "iterations": 5, "generation_seed": 0, "dev_fraction": 0.1}


@pytest.fixture(scope="session")
def generate(program, tmp_path_factory):
    """Clean the list of templates (another one: by a function that changes it) and build a set; {split: pairs}."""

    def call(challenge_set: str, mend=None, ok=True, **options):
        folder = tmp_path_factory.mktemp("generated")
        shutil.copy(ROOT / "resources/templates.csv", folder)
        if mend:
            table = pd.read_csv(folder / "templates.csv", dtype=str, keep_default_na=False)
            mend(table).to_csv(folder / "templates.csv", index=False)
        expect = [] if mend else ["--expect", json.dumps(EXPECT)]
        done = program("scripts.clean.event_templates", "--source", "event_templates", "--fetched", folder,
                       "--output", folder / "clean", "--provenance", "{}", *expect)
        assert done.returncode == 0, done.stderr
        done = program("scripts.build.temporal_nli", "--cleaned", folder / "clean", "--splits", "train", "test", "--options",
                       json.dumps(OPTIONS | {"challenge_set": challenge_set} | options), "--output", folder / "built")
        assert (done.returncode == 0) == ok, done.stderr
        return done.stderr if not ok else {split: read_table(folder / f"built/{split}.parquet").to_pandas()
                                           for split in ("train", "dev", "test")}

    return call


@pytest.fixture(scope="session")
def generated(generate):
    """The three sets as they are by default; made once."""
    return {challenge_set: generate(challenge_set) for challenge_set in SETS}


@pytest.mark.parametrize("challenge_set", SETS)
def test_sizes_are_the_papers(generated, challenge_set):
    splits = generated[challenge_set]
    assert len(splits["train"]) + len(splits["dev"]) == EXPECT["train"]["pairs"][challenge_set]
    assert len(splits["test"]) == EXPECT["test"]["pairs"][challenge_set]
    groups = {split: set(table["group_id"]) for split, table in splits.items()}
    assert not groups["train"] & groups["dev"] and not groups["train"] & groups["test"] and groups["dev"]
    everything = pd.concat(splits.values())
    assert everything["example_id"].is_unique and not everything.duplicated(["text_a", "text_b"]).any()


@pytest.mark.parametrize("challenge_set", SETS)
def test_every_sentence_reads_back_to_its_label(generated, challenge_set):
    """The reader knows neither the generator nor the label; it finds no fault in any row of any split."""
    rows = pd.concat(generated[challenge_set].values(), ignore_index=True)
    rows["label"] = WORDS[rows["label"]].to_numpy()
    faults = check(rows[["text_a", "text_b", "label", "challenge_set"]])
    assert len(faults) == 0, faults.head(20).to_string()


def test_labels_are_spread_as_in_the_paper(generated):
    """A draw of set I gives about 35.5, 24.4 and 40.1 %; sets II and III are even by construction."""
    order = pd.concat(generated["temp_order"].values())["label"].value_counts(normalize=True)
    assert order[0] == pytest.approx(0.355, abs=0.02)
    assert order[1] == pytest.approx(0.244, abs=0.02) and order[2] == pytest.approx(0.401, abs=0.02)
    for table in generated["temp_duration"].values():
        assert (table["label"] == 0).mean() == (table["label"] == 2).mean() == 0.5
    for table in generated["cross_unit"].values():
        assert set(table["label"].value_counts()) == {len(table) / 3}


def test_variations_are_crossed_in_full(generated):
    """Each template has as many pairs of each form, and the paper's 20, 60 and 48 for each list, list and T1."""
    order = generated["temp_order"]["test"]
    assert set(order.groupby(["group_id", "tense", "choice"]).size()) == {20}
    assert set(order.groupby(["group_id", "tense", "choice", "premise_type", "premise_position"]).size()) == {5}
    assert (order["difference"][~order["choice"].str.contains("year|date")] <= 0.5).all()
    lasting = generated["temp_duration"]["test"]
    assert set(lasting.groupby(["group_id", "choice", "duration_format", "next_cycle"], dropna=False).size()) == {60}
    assert lasting.loc[lasting["next_cycle"], "choice"].isin(["year", "month_day", "date_full"]).sum() == 0
    cross = generated["cross_unit"]["test"]
    assert set(cross.groupby(["group_id", "unit_pair"]).size()) == {480}
    assert cross["difference"].abs().max() < 5.1 and ((cross["difference"] < 0) == (cross["direction"] == "lower")).all()


@pytest.mark.slow
def test_another_seed_draws_other_sentences(generated, generate):
    """That the same options draw the same ones everywhere is pinned below, as digests of each test set."""
    again = generate("cross_unit")
    for split, table in generated["cross_unit"].items():
        pd.testing.assert_frame_equal(table, again[split])
    for challenge_set in SETS:
        fresh = generate(challenge_set, generation_seed=1)["test"]
        same = generated[challenge_set]["test"].merge(fresh, on=["text_a", "text_b"])
        assert len(fresh) == len(generated[challenge_set]["test"]) and len(same) < 0.25 * len(fresh)


def test_a_template_keeps_its_sentences_when_the_list_changes(generated, generate):
    fewer = generate("temp_order", mend=lambda table: table[table.index % 2 == 0])["test"]
    whole = generated["temp_order"]["test"]
    pd.testing.assert_frame_equal(
        fewer[["text_a", "text_b", "label"]].reset_index(drop=True),
        whole.loc[whole["group_id"].isin(fewer["group_id"]), ["text_a", "text_b", "label"]].reset_index(drop=True))


def test_sizes_are_settings(generated, generate):
    one = generate("temp_order", iterations=1, train_templates=8, test_templates=3, dev_fraction=0.25)
    assert {split: table["group_id"].nunique() for split, table in one.items()} == {"train": 6, "dev": 2, "test": 3}
    whole = generated["temp_order"]["test"]
    assert len(one["test"]) * 5 == whole["group_id"].isin(one["test"]["group_id"]).sum()


@pytest.mark.slow
def test_more_draws_than_there_are_pairs_is_an_error(generate):
    said = generate("temp_duration", lambda table: table[::10], ok=False, iterations=100)
    assert "has no further pair of sentences that differs from the others; lower iterations (now 100)" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(("options", "said"), [
    ({"train_templates": 999}, "train_templates: 999 templates were asked for"),
    ({"test_templates": 99}, "test_templates: 99 templates were asked for"),
])
def test_too_few_templates(generate, options, said):
    assert said in generate("temp_order", ok=False, **options)


def test_a_set_too_small_for_its_split(generate):
    first = {"train": 1, "test": 1}

    def one_each(table):
        return table[table.groupby("split").cumcount() < table["split"].map(first)]

    said = generate("temp_order", mend=one_each, ok=False)
    assert "1 template(s) give pairs, but dev is held out of train by template" in said

    def no_duration(table):
        return table[(table["split"] == "train") | (table["duration_units"] == "point")]

    assert "test.parquet: no pairs of temp_duration; add templates" in generate("temp_duration", mend=no_duration, ok=False)

    def only_years(table):
        lonely = table["split"] == "test"
        table.loc[lonely, ["future", "future_fronted", "future_units"]] = ["They will leave", "they will leave", "year"]
        return table

    assert "test.parquet: no pairs of cross_unit; add templates" in generate("cross_unit", mend=only_years, ok=False)


def changed(row: int, **cells):
    """A list of templates with other cells in one row."""

    def mend(table: pd.DataFrame) -> pd.DataFrame:
        for column, value in cells.items():
            table.loc[row, column] = value
        return table

    return mend


@pytest.mark.parametrize(("mend", "said"), [
    (lambda table: table.drop(columns="past_fronted"), "column past_fronted is missing; the columns are template, split"),
    (changed(2, past_units="day, fortnight"), "row 4 ({name}): past_units has fortnight; the units are hours, day, month, year"),
    (changed(2, past_units="minutes"), "row 4 ({name}): past_units has minutes; the units are hours, day, month, year"),
    (changed(3, future=""), "row 5 ({name}): future is empty, but future_units is not; give both or neither"),
    (changed(3, future_units=""), "row 5 ({name}): future is given, but future_units is empty; give both or neither"),
    (changed(1, split="dev"), "row 3 ({name}): split is neither train nor test; write one of them"),
    (changed(1, template=""), "row 3 (no name): column template is empty"),
    (changed(0, duration_units=""), "row 2 ({name}): duration_units is empty; write point"),
    (changed(0, past_units="day, day"), "row 2 ({name}): past_units names a unit twice"),
    (changed(3, past="The fog rolled in"), "row 5 ({name}): past ends in 'in', but a preposition and a time follow it"),
    (changed(5, past_units="day"), "train sides"),
])
def test_a_wrong_list_is_refused(program, tmp_path, mend, said):
    table = pd.read_csv(ROOT / "resources/templates.csv", dtype=str, keep_default_na=False)
    names = table["template"].copy()
    mend(table).to_csv(tmp_path / "templates.csv", index=False)
    done = program("scripts.clean.event_templates", "--source", "event_templates", "--fetched", tmp_path,
                   "--output", tmp_path / "clean", "--provenance", "{}", "--expect", json.dumps(EXPECT))
    row = next((int(word) for word in said.split() if word.isdigit()), 2)
    assert done.returncode == 1 and said.format(name=names[row - 2]) in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "clean").exists()


def test_wrong_marginals_are_told_with_the_difference(program, tmp_path):
    expect = json.loads(json.dumps(EXPECT))
    expect["train"]["sides"]["month"] += 2
    expect["test"]["pairs"]["cross_unit"] -= 480
    done = program("scripts.clean.event_templates", "--source", "event_templates", "--fetched", ROOT / "resources",
                   "--output", tmp_path, "--provenance", "{}", "--expect", json.dumps(expect))
    assert done.returncode == 1
    assert "train sides month: 68, expected 70 (-2)" in done.stderr
    assert "test pairs cross_unit: 15840, expected 15360 (+480)" in done.stderr


def test_templates_are_well_formed():
    """Nothing in a form that a reader of times could stumble over."""
    table = pd.read_csv(ROOT / "resources/templates.csv", dtype=str, keep_default_na=False)
    forms = table[["past", "past_fronted", "future", "future_fronted", "span_start", "span_end", "duration"]].stack()
    forms = forms[forms != ""]
    assert not forms.str.contains(r"  |^ | $|\.$|\d").any()
    for form in ("past", "future"):
        front = table[f"{form}_fronted"]
        lowered = table[form].str[:1].str.lower() + table[form].str[1:]
        assert ((front == lowered) | (front == table[form])).all()
    assert table["past"][table["past"] != ""].is_unique and table["future"][table["future"] != ""].is_unique


def test_content_is_the_same_on_every_machine(generated, tmp_path):
    """The digest of the texts and labels of each test set, as they came out where the list was last changed."""
    pinned = yaml.safe_load((ROOT / "tests/unit/temporal_nli_digests.yaml").read_text())
    found = {}
    for challenge_set, splits in generated.items():
        splits["test"][["text_a", "text_b", "label"]].to_parquet(tmp_path / f"{challenge_set}.parquet")
        found[challenge_set] = content_digest(tmp_path / f"{challenge_set}.parquet", ["text_a", "text_b", "label"])
    assert found == pinned, "if templates.csv or the generator was changed on purpose, write these digests into the file"
