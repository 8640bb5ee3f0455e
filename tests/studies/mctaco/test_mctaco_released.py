"""Released answers of language models to MC-TACO: the real files get the scores that others
counted, and wrong files are refused.
"""

import csv
import shutil

import pandas as pd
import pytest
import yaml

from scripts.data.studies import RELEASED
from scripts.studies.mctaco.tables import ANSWERS
from tests.clean.cleaned_dialogs import call as clean
from tests.conftest import ROOT
from tests.files import read_texts, write_rows
from tests.rows import rows_of
from tests.runs import write_run
from tests.studies.programs import build, evaluate, metrics_in, splits_in

TABLE = ROOT / "scripts/studies/mctaco/released.csv"
GOLD = "raw.githubusercontent.com/CogComp/MCTACO/master/dataset"
# Exact match and F1, counted without this program (with two digits if the source has two).
COUNTED = rows_of("""
    bert_unit_normalization_released | 42.72 | 69.93
    gpt_4_few_shot             | 50.2  | 65.3
    gpt_4_zero_shot            | 28.5  | 35.9
    gpt_4_zero_shot_joined     | 31.68 | 39.43
    text_davinci_003_few_shot  | 33.6  | 65.0
    text_davinci_003_zero_shot | 26.1  | 48.3
    alpaca_7b_few_shot_1       | 40.9  | 62.6
    llama_7b_few_shot_3        | 17.4  | 17.4
    llama_33b_few_shot_2       | 31.0  | 56.9
    llama_65b_zero_shot_3      | 12.2  | 49.8
    llama_2_7b_zero_shot_1     | 9.4   | 28.4
    llama_2_70b_chat_few_shot_1| 31.2  | 40.2
""")


OPTIONS = {"unit_normalization": False, "train_questions": None, "draw": 0}


def write_table_of(file, rows: list[dict]) -> None:
    """Write a released.csv."""
    with file.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, RELEASED, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_answers(folder, answers: pd.DataFrame) -> None:
    """Write a dataset, and a run that accepts every answer."""
    write_rows(answers.to_dict("records"), folder / "build/mctaco/default/test.parquet", ANSWERS)
    run = [("test", "held_out", answers, [[-2.5, -0.1]] * len(answers))]
    facts = {"source": "mctaco", "dataset": "default", "model": "m", "method": "train"}
    counts = {"seed": 1, "train_examples": 7, "held_out_examples": 0}
    write_run(folder, "run", run, study="mctaco", **facts, **counts, data_options=OPTIONS)


def measure(program, folder):
    more = ("--fetched", folder / "fetch", "--released", folder / "released.csv")
    return evaluate(program, "mctaco", folder, ["run"], *more)


@pytest.fixture(scope="module")
def scored(mirror, program, tmp_path_factory):
    """Return the metrics of the counted files, of zero-shot answers cut after as many lines as
    there are questions, and of few-shot answers as text.
    """
    folder = tmp_path_factory.mktemp("released")
    (folder / "fetch/temporal_llms").mkdir(parents=True)
    (folder / "fetch/mctaco").mkdir()
    bert = f"{mirror}/{GOLD}/../experiments/bert/bert.norm.output.txt"
    shutil.copy(bert, folder / "fetch/mctaco")
    source = yaml.safe_load((ROOT / "resources/sources.yaml").read_text())["temporal_llms"]
    places = {one["file"]: one["urls"][0].removeprefix("https://") for one in source["downloads"]}
    rows = read_texts(TABLE).to_dict("records")
    assert len(rows) == len(places) == 71 and {row["file"] for row in rows} == set(places)
    rows = [row for row in rows if row["name"] in {name for name, *_ in COUNTED}]
    for name in places:
        if not (mirror / places[name]).is_file():
            pytest.skip(f"the mirror has no {places[name]}")
    for row in rows:
        shutil.copy(mirror / places[row["file"]], folder / "fetch/temporal_llms" / row["file"])
    zero = mirror / places["gpt_4_zero_shot_answers.txt"]
    few = zero.parents[1] / "few-shot-icl" / zero.name
    cut = "".join(zero.read_text().splitlines(keepends=True)[:1332])
    for name, text in (("cut", cut), ("few", few.read_text())):
        (folder / f"fetch/temporal_llms/{name}.txt").write_text(text)
        more = {"name": name, "file": f"{name}.txt", "form": "letters", "joined": ""}
        rows.append(rows[0] | more)
    write_table_of(folder / "released.csv", rows)
    clean(program, "mctaco", mirror / GOLD, folder / "clean")
    build(program, "mctaco", folder / "clean", folder / "built", "test", OPTIONS)
    write_answers(folder, splits_in(folder / "built", "test")["test"])
    measure(program, folder).checked()
    return metrics_in(folder)


TIMEBENCH = (
    "raw.githubusercontent.com/zchuz/TimeBench/e7fd6722fd0b3814dc595912749223d45e42fab9/"
    "TimeBench-subset-7553/McTaco/mctaco_f2_timebench.jsonl"
)


def test_the_released_files_score_as_counted(scored):
    rows = scored[(scored["method"] == "released") & (scored["slice"] == "all")]
    assert set(rows["dataset"]) == {"released", "temporal_llms"} and rows["seed"].isna().all()
    found = rows.pivot(index="model", columns="metric", values="value") * 100
    for name, exact, f1 in COUNTED:
        assert found.loc[name, "exact_match"] == pytest.approx(exact, abs=0.06), name
        assert found.loc[name, "f1"] == pytest.approx(f1, abs=0.06), name
    assert found.loc["gpt_4_zero_shot_joined", "exact_match"] == pytest.approx(31.68, abs=0.006)
    wording = rows.set_index("model")["wording"]
    assert set(wording["alpaca_7b_few_shot_1"]) == {"1"} and wording["gpt_4_few_shot"].isna().all()


TINY = pd.DataFrame(
    rows_of("""
        test:0 | 1 | duration     | 1 hour
        test:0 | 0 | duration     | 11 hours
        test:0 | 0 | duration     | a year
        test:1 | 1 | stationarity | 'yes'
        test:1 | 0 | stationarity | 'no'
    """),
    columns=["group_id", "label", "category", "answer"],
)
TINY = TINY.assign(
    example_id=[f"test:{number}" for number in range(5)],
    sentence_id=TINY["group_id"],
    text_a="When?",
    text_b=TINY["answer"],
)
ROW = {"source": "temporal_llms", "corpus": "mctaco", "name": "one", "model": "One"}
ROW |= {"file": "one.txt"}


def tiny(program, folder, text: str, row: dict):
    (folder / "fetch/temporal_llms").mkdir(parents=True)
    (folder / "fetch/mctaco").mkdir()
    (folder / "fetch/mctaco/bert.norm.output.txt").write_text("no\n" * 5)
    (folder / "fetch/temporal_llms/one.txt").write_text(text)
    write_table_of(folder / "released.csv", [ROW | row])
    write_answers(folder, TINY)
    return measure(program, folder)


def test_letters_and_candidates_are_accepted_anywhere(program, tmp_path):
    """ "11 hours" contains "1 hour"; an answer over two lines is one answer."""
    row = {"form": "letters", "joined": "1-2"}
    tiny(program, tmp_path, "I see\n11 Hours\n(A) YES\n", row).checked()
    rows = metrics_in(tmp_path).query("model == 'one'")
    rows = rows.set_index(["metric", "slice"])["value"]
    assert rows["exact_match", "category=duration"] == 0
    assert rows["f1", "category=duration"] == pytest.approx(2 / 3)  # 1 hour and 11 hours
    assert rows["exact_match", "category=stationarity"] == 1


@pytest.mark.parametrize(
    "text, row, said",
    [
        ("yes\n" * 4, {"form": "judgements"}, "one.txt: has 4 lines, but the split has 5; line 5"),
        ("yes\nmaybe\n", {"form": "judgements"}, "one.txt: line 2 is 'maybe'; write yes or no"),
        (
            "(A)\n(B)\n(A)\n",
            {"form": "letters"},
            "one.txt: has 3 answers, but the split has 2 questions; give a line for each, or name "
            "lines that are one answer in released.csv (joined)",
        ),
        ("(A)\n", {"form": "letters", "joined": "3-2"}, "row 1 (one): joined is '3-2'; write the"),
        ("(A)\n(B)\n", {"form": "letters", "joined": "2-3"}, "one.txt: has 2 lines, but released"),
    ],
)
def test_wrong_files_are_refused_in_one_sentence(program, tmp_path, text, row, said):
    tiny(program, tmp_path, text, row).refused(said, lines=1)
    assert not (tmp_path / "metrics.parquet").exists()


@pytest.mark.parametrize("text, judged", [("few", "gpt_4_few_shot"), ("cut", "gpt_4_zero_shot")])
def test_letters_are_read_as_their_authors_did(scored, text, judged):
    """The scores agree in every slice. If answers are cut by lines, the last 286 questions get
    answers of other questions.
    """
    rows = scored[scored["metric"].isin(["exact_match", "f1", "consistency"])]
    one, other = (
        rows[rows["model"] == name].set_index(["metric", "slice"])["value"]
        for name in (text, judged)
    )
    assert len(one) > 12
    pd.testing.assert_series_equal(one, other)


def test_the_slice_timebench_is_of_the_questions_of_its_file(scored, mirror):
    """F1 of always yes is 2 r / (r + n) for a question with r right ones of n candidates, over
    TimeBench's ids.
    """
    if not (mirror / TIMEBENCH).is_file():
        pytest.skip(f"the mirror has no {TIMEBENCH}")
    gold = pd.read_csv(mirror / GOLD / "test_9442.tsv", sep="\t", header=None, quoting=3)
    question = pd.factorize(gold[0] + " " + gold[1])[0]
    of_question = (gold[3] == "yes").groupby(question).agg(["sum", "size"])
    asked = pd.read_json(mirror / TIMEBENCH, lines=True)["qid"]
    asked = of_question.loc[asked]
    rows = scored[(scored["model"] == "always_yes") & (scored["slice"] == "timebench=yes")]
    rows = rows.set_index("metric")
    assert rows["n"]["f1"] == len(asked) == asked.index.nunique() == 851
    wanted = (2 * asked["sum"] / asked.sum(axis=1)).mean()
    assert rows["value"]["f1"] == pytest.approx(wanted, abs=1e-12)
    assert rows["value"]["exact_match"] == pytest.approx((asked["sum"] == asked["size"]).mean())
