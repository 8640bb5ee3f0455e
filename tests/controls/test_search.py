"""The search for controls finds a planted cue for each learner, finds nothing where nothing is
planted, and reads no label of a test set.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score

from scripts.data.runs import facts_of
from scripts.controls.control import view_of
from scripts.controls.stack import search
from scripts.controls.view import View
from tests.rows import texts_of
from tests.controls.test_controls import run_control, scores_of

pytestmark = pytest.mark.slow  # it trains many times
ROWS, WORDS = 510, [f"word{number}" for number in range(30)]


def examples(seed: int, rows: int = ROWS) -> pd.DataFrame:
    """Draw texts of random words with random labels, three examples in each group."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "example_id": [f"{seed}:{row}" for row in range(rows)],
            "group_id": [f"{seed}:{row // 3}" for row in range(rows)],
            "first": [" ".join(draw.choice(WORDS, 6)) for _ in range(rows)],
            "second": [" ".join(draw.choice(WORDS, 6)) for _ in range(rows)],
            "size": draw.normal(size=rows),
            "label": draw.integers(2, size=rows),
        }
    )


def cues(table: pd.DataFrame) -> pd.Series:
    return table["second"]


def kind(table: pd.DataFrame) -> pd.Series:
    return table["first"].str[-1:].isin(list("02468")).map({True: "even", False: "odd"})


def size(table: pd.DataFrame) -> np.ndarray:
    return table["size"].to_numpy()


def has_word(table: pd.DataFrame) -> np.ndarray:
    return table["second"].str.contains(r"\bword7\b").to_numpy()


PLANTED = {  # a view, and a label that only this view shows
    "linear": (View("words", words=cues), has_word),
    "crossed": (
        View("words by kind", cues=cues, by=kind),
        lambda table: has_word(table) == (kind(table) == "even"),
    ),
    "boosted": (View("sizes", numbers=size), lambda table: np.abs(size(table)) > 0.7),
    "rule": (
        View("sizes, by a rule", numbers=lambda table: size(table) * 0, rules={"size": size}),
        lambda table: size(table) > 0,
    ),
}


def right(view: View, train: pd.DataFrame, test: pd.DataFrame) -> tuple[str, float]:
    found = search(view, train, 2, False)
    return found.learner, float((found.scores(test).argmax(1) == test["label"]).mean())


@pytest.mark.parametrize("learner", PLANTED)
def test_what_is_planted_is_found_by_its_learner_and_nothing_where_nothing_is(learner):
    view, shown = PLANTED[learner]
    train, test = (
        table.assign(label=np.asarray(shown(table)).astype(int))
        for table in (examples(1), examples(2))
    )
    chosen, share = right(view, train, test)
    assert chosen.startswith(learner) and share > 0.9, (chosen, share)
    assert abs(right(view, examples(1), examples(2))[1] - 0.5) < 0.06, "labels that nothing shows"


def test_the_value_of_a_learner_is_that_of_scikit_learns_folds():
    """The reference is independent: the same words, folds by group, one penalty."""
    train = examples(1).assign(label=lambda table: has_word(table).astype(int))
    train.loc[::7, "label"] ^= 1
    found = search(View("words", cues=cues), train, 2, False)
    counts = CountVectorizer(analyzer=str.split, binary=True).fit_transform(train["second"])
    share = cross_val_score(
        LogisticRegression(C=1.0),
        counts,
        train["label"],
        groups=train["group_id"],
        cv=GroupKFold(5),
    ).mean()
    assert abs(found.values["linear, C=1"] - share) < 0.02


def test_an_exchanged_pair_has_the_other_label():
    train = examples(1).assign(label=lambda table: has_word(table).astype(int))
    test = examples(2)
    turned = test.rename(columns={"first": "second", "second": "first"})
    for view in (
        View("words", words=cues),
        View("sizes", numbers=lambda table: has_word(table)[:, None].astype(float)),
    ):
        scores = search(view, train, 2, True).scores
        np.testing.assert_allclose(scores(test), scores(turned)[:, ::-1], atol=1e-6)


# ---- through the program


def run_search(program, folder, view: str, train: pd.DataFrame, test: pd.DataFrame):
    teaches = ["first_position", "second_position", "sentences"]
    study = {"study": "strided_sop"}
    return run_control(
        program, folder, train, test, {"search": view}, settings=study, teaches=teaches
    )


def captions(seed: int, rows: int = 400) -> pd.DataFrame:
    """Draw pairs of captions from videos of nine. Captions of the last two thirds of a video say
    "again".
    """
    draw = np.random.default_rng(seed)
    first, second = np.sort(
        draw.permuted(np.tile(np.arange(9), (rows, 1)), axis=1)[:, :2], axis=1
    ).T
    label = draw.integers(2, size=rows)
    texts = {
        position: [
            f"{'the man again' if at > 2 else 'a man now'} {' '.join(draw.choice(WORDS, 4))}"
            for at in position_of
        ]
        for position, position_of in (("first", first), ("second", second))
    }
    in_order = label == 1
    return pd.DataFrame(
        {
            "pair_id": [f"{seed}:{row}" for row in range(rows)],
            "video_id": [f"{seed}:{row // 3}" for row in range(rows)],
            "text_a": np.where(in_order, texts["first"], texts["second"]),
            "text_b": np.where(in_order, texts["second"], texts["first"]),
            "first_position": first.astype(np.int32),
            "second_position": second.astype(np.int32),
            "sentences": np.full(rows, 9, np.int32),
            "label": label.astype(np.int8),
        }
    )


def test_no_label_and_no_place_of_what_is_measured_is_read(program, tmp_path):
    train, test = captions(1), captions(2)
    other = test.assign(
        label=1 - test["label"],
        first_position=test["second_position"],
        second_position=test["first_position"],
        sentences=test["sentences"] + 5,
    )
    found = []
    for name, measured in (("as_it_is", test), ("permuted", other)):
        run_search(program, tmp_path / name, "both_texts", train, measured).checked()
        found.append(scores_of(tmp_path / name))
    np.testing.assert_array_equal(*found)
    assert (found[0].argmax(1) == test["label"]).mean() > 0.6, "the planted opening is found"
    facts = facts_of(tmp_path / "as_it_is/run/run.json")
    assert facts["learner"] in facts["learners"] and facts["train_examples"] == len(train)


# ---- the views of the studies


def reached(study: str, name: str, train: pd.DataFrame, test: pd.DataFrame, labels: int) -> float:
    found = search(view_of(study, name), train, labels, False)
    return float((found.scores(test).argmax(1) == test["label"]).mean())


NEAREST = texts_of("""
two hours | three hours | ten minutes | five years
a fortnight | two weeks | one night | half a year
half an hour | 40 minutes | 2 hours | six days
5 pm | five thirty in the afternoon | 9 am | midnight
March 3rd | the fifth of March | December | July 10
Monday | Tuesday | Friday | Thursday morning and Saturday
twice a day | every ten hours | once a year | monthly
1987 | the late 1980s | 1920 | 2011
two and a half years | three years | half a year | 9 years
""")


@pytest.mark.parametrize("options", NEAREST, ids=lambda options: options[0])
def test_the_two_options_that_are_nearest_in_size_are_on_top(options):
    rule = view_of("timedial", "all_options").rules["nearest_two"]
    for turned in (options, options[::-1]):
        table = pd.DataFrame({"choice_id": "one", "second": turned})
        ranks = pd.Series(rule(table), turned)
        assert set(ranks.nlargest(2).index) == set(options[:2]), ranks.to_dict()


def dated(seed: int, names: list[str]) -> pd.DataFrame:
    """Draw pairs of times. The hypothesis says that the premise's time is before, or after, its
    own.
    """
    draw, rows = np.random.default_rng(seed), 1200
    one, other = np.array([draw.choice(len(names), 2, replace=False) for _ in range(rows)]).T
    before = draw.integers(2, size=rows) == 1
    template = draw.integers(20, size=rows)
    return pd.DataFrame(
        {
            "example_id": [f"{seed}:{row}" for row in range(rows)],
            "group_id": [f"template {number}" for number in template],
            "first": [f"Person{n} left on {names[at]}." for n, at in zip(template, one)],
            "second": [
                f"Person{n} left {'before' if sooner else 'after'} {names[at]}."
                for n, at, sooner in zip(template, other, before)
            ],
            "label": ((one < other) == before).astype(int),
        }
    )


YEAR = "January February March April May June July August September October November December"


def answers(seed: int, rows: int = 150) -> pd.DataFrame:
    """Draw questions with four answers; the two likely answers are durations in the same unit."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(rows):
        near, far, farther = draw.permutation(["minutes", "days", "years"])
        texts = [f"{draw.integers(2, 9)} {unit}" for unit in (near, near, far, farther)]
        found += [
            {
                "example_id": f"{number}:{place}",
                "group_id": str(number),
                "category": "duration",
                "first": "Ann left. How long was she away?",
                "second": text,
                "label": int(place < 2),
            }
            for place, text in enumerate(texts)
        ]
    return pd.DataFrame(found).sample(frac=1, random_state=0)


def test_answers_that_stand_near_each_other_are_found_together_and_not_alone():
    together, alone = (
        reached("mctaco", name, answers(1), answers(2), 2) for name in ("all_options", "one_text")
    )
    assert together > 0.95 and alone < 0.7, (together, alone)


def dialogs(
    seed: int, rows: int, options: list[list[str]], subjects: tuple[str, str] = ("flight", "meal")
) -> pd.DataFrame:
    """Make dialogs about flights, which take hours, and meals, which take minutes. The right
    options of one kind are the wrong options of the other.
    """
    draw = np.random.default_rng(seed)
    kinds = draw.integers(2, size=rows)
    return pd.DataFrame(
        [
            {
                "example_id": f"{seed}:{row}:{number}",
                "group_id": f"{seed}:{row}",
                "choice_id": f"{seed}:{row}",
                "first": f"A: The {subjects[kind]} number {row} takes <MASK> .",
                "second": text,
                "label": int(side == kind),
            }
            for row, kind in enumerate(kinds)
            for number, (side, text) in enumerate(
                (side, text) for side in (0, 1) for text in options[side]
            )
        ]
    )


def test_words_of_the_dialog_choose_between_two_pairs_of_neighbours():
    """`two hours` is not in the training split, but it is near `three hours`."""
    train = dialogs(1, 200, [["three hours"], ["ten minutes"]])
    test = dialogs(2, 100, [["three hours", "two hours"], ["ten minutes", "90 seconds"]])
    found = search(view_of("timedial", "everything"), train, 2, False).scores(test)
    margin = pd.Series(found[:, -1] - found[:, 0])
    order = margin.groupby(test["choice_id"]).rank(ascending=False)
    assert ((order <= 2) == (test["label"] == 1)).all()
    assert order.notna().all() and margin.groupby(test["choice_id"]).nunique().eq(4).all()


OPTIONS, NEW = [["three hours"], ["ten minutes"]], ("plane", "lunch")


def run_dialogs(program, folder, view: str, **files):
    """Search a control of dialogs; the test's subjects are new words. files: see run_controls()."""
    train, test = dialogs(1, 200, OPTIONS), dialogs(2, 100, OPTIONS, NEW)
    columns = {"example_id": "example_id", "group_id": "group_id", "choice_id": "choice_id"}
    given = {"columns": columns, "inputs": ["first", "second"], "exchangeable": False}
    given |= {"settings": {"study": "timedial"}, "files": files}
    return run_control(program, folder, train, test, {"search": view}, **given), test


VECTORS = "flight 1 0\nplane 0.9 0.1\nmeal 0 1\nlunch 0.1 0.9\nthe 0.5 0.5\n"


@pytest.fixture
def vectors(tmp_path):
    return tmp_path / "vectors.txt"


def test_word_vectors_understand_a_new_word_and_words_alone_do_not(program, tmp_path, vectors):
    vectors.write_text(VECTORS)
    process, test = run_dialogs(program, tmp_path, "dialog_vectors", vectors=vectors)
    assert process.returncode == 0, process.stderr
    assert (scores_of(tmp_path).argmax(1) == test["label"]).all()
    assert list(facts_of(tmp_path / "run/run.json")["model_files"]) == ["vectors.txt"]
    (alone := tmp_path / "alone").mkdir()
    run_dialogs(program, alone, "everything")
    assert (scores_of(alone).argmax(1) == test["label"]).mean() < 0.7


def test_a_view_of_word_vectors_without_any_is_refused(program, tmp_path, vectors):
    run_dialogs(program, tmp_path, "dialog_vectors")[0].refused("give the control `vectors_of`")
    vectors.write_text("house 1 0\n")
    process, _ = run_dialogs(program, tmp_path, "dialog_vectors", vectors=vectors)
    process.refused("has no word of the texts")
    run_dialogs(program, tmp_path, "rules", vectors=vectors)[0].refused("leave out `vectors_of`")


def test_a_control_learns_from_the_training_split_of_another_dataset(program, tmp_path):
    """There it learns the words that its own training split does not have, and it says so."""
    (other := tmp_path / "other").mkdir()
    dialogs(3, 300, OPTIONS, NEW).to_parquet(other / "train.parquet")
    (place := tmp_path / "place").mkdir()
    process, test = run_dialogs(program, place, "everything", learns_from=other)
    process.checked()
    assert (scores_of(place).argmax(1) == test["label"]).all()
    (alone := tmp_path / "alone").mkdir()
    run_dialogs(program, alone, "everything")[0].checked()
    found, own = (facts_of(folder / "run/run.json") for folder in (place, alone))
    assert (found["train_examples"], own["train_examples"]) == (600, 400)
    assert found["data"]["test"] == own["data"]["test"]
    assert found["data"]["train"] != own["data"]["train"]


def test_no_threshold_is_tuned_for_whole_groups():
    """Most groups are right as a whole where a weak control says the frequent label. Its
    probabilities stay those of the labels, as a model's do.
    """
    train, test = examples(3, 200), examples(4, 100)
    draw = np.random.default_rng(5)
    for table in (train, test):
        table["label"] = (draw.random(len(table)) < 0.3).astype(int)
    found = search(View("words", words=cues), train, 2, False, whole=True)
    assert abs(np.exp(found.scores(test)[:, 1]).mean() - 0.3) < 0.04
