"""Predictions from elsewhere: every form of a file in all studies; they are kept as a system of an
experiment; wrong files are refused.
"""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from scripts.studies.mctaco.tables import ANSWERS
from scripts.studies.temporal_nli.tables import NLI
from scripts.data.tables import read_table, write_table
from scripts.measure.comparisons import comparisons_beside
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.studies.timedial.tables import CLOZE
from tests.files import write_rows, write_yaml
from tests.runs import write_run
from tests.studies.strided_sop.test_evaluate_strided_sop import scored_pair
from tests.studies.mctaco.test_mctaco import printed
from tests.studies.programs import evaluate, metrics_in
from tests.studies.timedial.test_timedial_metrics import cloze

pytestmark = pytest.mark.slow

SETS = yaml.safe_load("""
strided_sop: [swapped, in_order]
temporal_nli: [entailment, neutral, contradiction]
mctaco: [unlikely, likely]
timedial: [wrong, right]
""")
HEADLINE = {
    "strided_sop": "accuracy",
    "temporal_nli": "accuracy (ternary)",
    "mctaco": "exact match",
    "timedial": "two best accuracy",
}


def examples(study: str) -> tuple[list[dict], pa.Schema]:
    """Return a split of 40 groups, and its schema."""
    if study == "strided_sop":
        return [scored_pair(pair) for pair in range(160)], STRIDED_PAIRS
    if study == "timedial":
        return cloze(40, 2), CLOZE
    if study == "mctaco":
        return [
            {
                "example_id": f"test:{row}",
                "group_id": f"q{row // 3}",
                "sentence_id": f"q{row // 3}",
                "text_a": f"She ate. How long? {row // 3}",
                "text_b": f"{row} hours",
                "label": int(row % 3 == 1),
                "category": "duration" if row % 2 else "frequency",
                "answer": f"{row} hours",
            }
            for row in range(120)
        ], ANSWERS
    return [
        dict.fromkeys(NLI.names)
        | {
            "example_id": f"e{row}",
            "group_id": f"t{row // 4}",
            "text_a": "It was.",
            "text_b": f"It is {row}.",
            "label": row % 3,
            "challenge_set": "temp_order",
            "withheld": "",
        }
        for row in range(160)
    ], NLI


@pytest.fixture(params=SETS)
def dataset(request, tmp_path):
    """Write a dataset of a study; return the study, the folder, and the examples: example_id, group
    and label.
    """
    study = request.param
    rows, schema = examples(study)
    source = "sample_dialogs" if study == "timedial" else "sample"
    folder = tmp_path / "results/build" / study / source / "default"
    options = {"held_out": "template", "limit": 200}
    written = pa.Table.from_pylist(rows, schema=schema)
    write_table(written, folder / "test.parquet", schema, {"options": options})
    table = pd.DataFrame(rows).rename(columns={"pair_id": "example_id"})
    return study, folder, table[["example_id", "label"]]


def measure(program, study: str, folder, *files, ok=True, **options):
    more = [word for name, value in options.items() for word in (f"--{name}", value)]
    typed = f"scripts.studies.{study}.evaluate --dataset {folder} --resamples 50 --predictions"
    return program(typed, *files, *more).checked(ok)


def half_wrong(study: str, table: pd.DataFrame) -> np.ndarray:
    labels = table["label"].to_numpy()
    group = np.arange(len(table)) // (3 if study == "mctaco" else 4)
    return np.where(group % 2, (labels + 1) % len(SETS[study]), labels)


def labels_of(study: str, table: pd.DataFrame, chosen: np.ndarray) -> pd.DataFrame:
    names = [SETS[study][number] for number in chosen]
    return pd.DataFrame({"example_id": table["example_id"], "label": names})


@pytest.mark.parametrize("dataset", ["strided_sop", "timedial"], indirect=True)
def test_every_form_of_a_file_gives_the_same_numbers(program, dataset, tmp_path):
    study, folder, table = dataset
    chosen, names = half_wrong(study, table), SETS[study]
    labels = labels_of(study, table, chosen)
    scores = pd.DataFrame(
        np.where(np.arange(len(names)) == chosen[:, None], -0.25, -3.5), columns=list(names)
    ).assign(example_id=table["example_id"], note="passed over")
    labels.sample(frac=1, random_state=0).to_csv(tmp_path / "labels.csv", index=False)
    scores[::-1].to_csv(tmp_path / "scores.csv", index=False)
    # the last line has no line end
    (tmp_path / "labels.jsonl").write_text(labels.to_json(orient="records", lines=True) + "\n")
    (tmp_path / "scores.jsonl").write_text(
        "\n".join(
            json.dumps(
                {"example_id": row["example_id"], "scores": {name: row[name] for name in names}}
            )
            for row in scores.to_dict("records")
        )
    )
    files = "labels.csv scores.csv labels.jsonl scores.jsonl".split()
    if study == "strided_sop":
        labels.rename(columns={"example_id": "pair_id"}).to_csv(tmp_path / "pairs.csv", index=False)
        files.append("pairs.csv")
    if study == "timedial":
        scores.rename(columns={"right": "score"})[["example_id", "score"]].to_csv(
            tmp_path / "score.csv", index=False
        )
        files.append("score.csv")
    done = [measure(program, study, folder, tmp_path / name) for name in files]
    assert len({tuple(one.stdout.splitlines()[1:]) for one in done}) == 1
    value, low, _, high, count = printed(done[0].stdout)[HEADLINE[study]]
    assert value == "50.00" and float(low) < 50 < float(high), done[0].stdout
    assert int(count) == (160 if study == "strided_sop" else 40)
    both = measure(program, study, folder, tmp_path / files[0], tmp_path / files[1])
    assert both.stdout == done[0].stdout + done[1].stdout


def own_form(study: str, folder, chosen: np.ndarray) -> list[str]:
    """Return the lines of predictions in the form of the study's authors."""
    if study == "mctaco":
        return [["no", "yes"][number] for number in chosen]
    table = read_table(folder / "test.parquet", ["instance_id", "candidate"]).to_pandas()
    return [
        json.dumps({"id": name, "scores": {f" {text} ": float(score) for text, score in scores}})
        for name, scores in (
            (name, zip(rows["candidate"], rows["score"]))
            for name, rows in table.assign(score=chosen).groupby("instance_id")
        )
    ]


@pytest.mark.parametrize("dataset", ["mctaco", "timedial"], indirect=True)
def test_the_form_of_the_authors_gives_the_same_numbers(program, dataset, tmp_path):
    study, folder, table = dataset
    chosen = half_wrong(study, table)
    lines = own_form(study, folder, chosen)
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(lines))
    labels_of(study, table, chosen).to_csv(tmp_path / "labels.csv", index=False)
    done = measure(program, study, folder, file, tmp_path / "labels.csv").stdout.splitlines()
    half = len(done) // 2
    assert done[1:half] == done[half + 1 :]
    wrong = {
        "mctaco": [
            (lines[:-1], "has 119 lines, but the split has 120; line 120 is in only one"),
            ([*lines[:3], "maybe", *lines[4:]], "line 4 is 'maybe'; write yes or no"),
        ],
        "timedial": [
            (lines[1:], "for the example 0:0 (4 of 160 examples of default test have no row)"),
            ([*lines, lines[0]], "line 41: example 0:0 is already in line 1; keep one of them"),
            ([lines[0].replace("hours", "days"), *lines[1:]], "line 1: id 0: "),
            ([lines[0].replace('"0"', '"99"'), *lines[1:]], "no example and no question 99"),
        ],
    }[study]
    for text, said in wrong:
        file.write_text("\n".join(text))
        done = measure(program, study, folder, file, ok=False)
        assert said in done.stderr and len(done.stderr.splitlines()) == 1, (said, done.stderr)


@pytest.mark.parametrize("dataset", ["strided_sop"], indirect=True)
def test_wrong_files_are_refused_in_one_sentence(program, dataset, tmp_path):
    study, folder, table = dataset
    ids = list(table["example_id"])
    good = ["example_id,label", *(f"{one},swapped" for one in ids)]
    scored = ["example_id,swapped,in_order", *(f"{one},0.5,0.5" for one in ids)]
    # The label may be the right one, beside the scores of a model.
    both = [f"{scored[0]},label", *(f"{row},swapped" for row in scored[1:])]
    # Numbers that are equal in 32 bits: a tie that the file does not have.
    close = [scored[0], f"{ids[0]},1000000.06,1000000.05", *scored[2:]]
    scores = {"swapped": 0.5, "in_order": 0.5}
    lines = [json.dumps({"example_id": one, "scores": scores}) for one in [*ids[:2], 7, *ids[3:]]]
    lacks = f"is for the example {ids[-1]} (1 of {len(ids)} examples of default test have no row)"
    for name, rows, said in (
        ("a.csv", good[:-1], lacks),
        ("b.csv", [*good, "nobody,x"], f"row {len(ids) + 2}: default test has no example nobody"),
        (
            "c.csv",
            [*good[:6], good[2], *good[6:]],
            f"row 7: example {ids[1]} is already in row 3; keep one of them",
        ),
        ("t.jsonl", lines, "line 3: its example_id is 7"),
        ("l.csv", both, "in two ways, by label and by swapped, in_order; leave one of them"),
        ("y.csv", close, f"the scores of {ids[0]} are so close to each other"),
    ):
        (tmp_path / name).write_text("\n".join(rows))
        done = measure(program, study, folder, tmp_path / name, ok=False)
        assert done.stderr.startswith(f"error: {tmp_path / name}: ")
        assert said in done.stderr, (name, done.stderr)
        assert len(done.stderr.splitlines()) == 1 and not done.stdout and done.returncode == 1


@pytest.mark.parametrize("dataset", ["timedial"], indirect=True)
def test_wrong_arguments(program, dataset, tmp_path):
    study, folder, table = dataset
    file = tmp_path / "labels.csv"
    labels_of(study, table, table["label"] * 0).to_csv(file, index=False)
    elsewhere = tmp_path / "elsewhere/default"
    elsewhere.mkdir(parents=True)
    (elsewhere / "test.parquet").write_bytes((folder / "test.parquet").read_bytes())
    doubled = tmp_path / "doubled/test.parquet"
    doubled.parent.mkdir()
    pq.write_table(pa.concat_tables([pq.read_table(folder / "test.parquet")] * 2), doubled)
    for place, files, options, said in (
        (doubled.parent, [file], {}, "occurs twice; build the dataset again"),
        (folder, [file], {"split": "val"}, "has no split val; name one by --split: test"),
        (folder, [file], {"name": "a/b"}, "is not a valid name"),
        (folder, [file], {"name": "minilm"}, "has a model of this name; give another name"),
        (
            folder,
            [file] * 2,
            {"name": "twice"},
            "2 files are given, but a name stands for one file",
        ),
        (elsewhere, [file], {"name": "kept"}, f"the dataset must be in results/build/{study}/"),
    ):
        done = measure(program, study, place, *files, ok=False, **options)
        assert said in done.stderr and len(done.stderr.splitlines()) == 1
    for given, said in (
        (["--predictions", file], "--dataset is missing"),
        ([], "--experiment, --runs"),
    ):
        program(f"scripts.studies.{study}.evaluate", *given).refused(said, code=2)
    assert not (tmp_path / "results/external").exists()


def experiment_of(program, study: str, folder, tmp_path, external: list, ok=True):
    """Evaluate an experiment of one run that is always right and a control whose scores all tie,
    with systems from elsewhere.
    """
    names = {"pair_id": "example_id", "video_id": "group_id", "dialog_id": "group_id"}
    table, labels = pd.DataFrame(examples(study)[0]).rename(columns=names), list(SETS[study])
    right = np.eye(len(labels))[table["label"]][:, -1 if study == "timedial" else 0 :]
    options = yaml.safe_load("""
        {limit: 200, stride: 0, size_matched: null, same_videos: null, hard: false, held_out: template, test_templates: null,
          unit_normalization: false, train_questions: null, draw: 0, context_scope: full, negatives: 3, negatives_from: pool,
          negatives_of: any_kind, negatives_by: text, negative_seed: 0, max_dialogs: null}
    """)
    facts = {"study": study, "source": folder.parent.name, "dataset": "default", "seed": 0}
    facts |= {"train_examples": 9, "held_out_examples": 0, "data_options": options}
    facts |= {} if study == "timedial" else {"labels": labels}
    for name, method, scores in (
        ("run", "fill_zero_shot", right),
        ("control", "control", 0 * right),
    ):
        parts = [("test", "direct", table, scores)]
        write_run(tmp_path, name, parts, model=name, method=method, **facts)
    sources = {folder.parent.name: {"evaluate": ["test"], "domain": "in"}}
    write_yaml(tmp_path / "sources.yaml", sources)
    more = ["--resamples", 50, *(["--external", *external] if external else [])]
    where = {"built": tmp_path / "results/build" / study, "sources": tmp_path / "sources.yaml"}
    done = evaluate(program, study, tmp_path, ["run", "control"], *more, **where).checked(ok)
    return metrics_in(tmp_path) if ok else done.stderr


def test_a_named_system_joins_an_experiment_with_its_distance_to_the_controls(
    program, dataset, tmp_path
):
    study, folder, table = dataset
    file = tmp_path / "labels.csv"
    labels_of(study, table, half_wrong(study, table)).to_csv(file, index=False)
    done = measure(program, study, folder, file, name="GPT-5.2_of.us")
    kept = tmp_path / "results/external" / study / folder.parent.name / "default/test/GPT-5.2_of.us"
    assert sorted(path.name for path in kept.iterdir()) == ["predictions.parquet", "run.json"]
    assert str(kept) in done.stderr
    metrics = experiment_of(program, study, folder, tmp_path, [kept])
    ours, theirs = (
        metrics[(metrics["method"] == method) & (metrics["slice"] == "all")]
        for method in ("fill_zero_shot", "external")
    )
    assert set(theirs["model"]) == {"GPT-5.2_of.us"}
    assert theirs["seed"].isna().all()
    assert set(theirs["limit"]) == {200}
    name = HEADLINE[study].split(" (")[0].replace(" ", "_")
    value = theirs[
        (theirs["metric"] == name) & (theirs.get("scoring", "ternary") == "ternary")
    ].iloc[0]
    said = printed(done.stdout)[HEADLINE[study]]
    assert value["value"] == 0.5
    assert f"{value['value'] * 100:.2f}" == said[0], "what was printed is what is published"
    assert f"{value['ci_low'] * 100:.2f}" == said[1] and value["seeds"] == 0
    compared = read_table(comparisons_beside(tmp_path / "metrics.parquet")).to_pandas()
    above = compared[(compared["method"] == "external") & (compared["metric"] == name)]
    above = above[(above["kind"] == "maximum") & (above["slice"] == "all")]
    assert len(above) == (2 if study == "temporal_nli" else 1)
    assert above["control"].notna().all()
    assert (ours["value"] == 1).any()
    without = experiment_of(program, study, folder, tmp_path, [])
    columns = [column for column in without if column != "draws"]
    rest = metrics[metrics["method"] != "external"].reset_index(drop=True)
    pd.testing.assert_frame_equal(rest[columns], without[columns])
    rows, schema = examples(study)
    rows[3] |= (
        {"label": 1 - min(rows[3]["label"], 1)} if study != "timedial" else {"candidate": "never"}
    )
    write_rows(rows, folder / "test.parquet", schema)
    said = experiment_of(program, study, folder, tmp_path, [kept], ok=False)
    assert "has changed since these predictions" in said
    assert "GPT-5.2_of.us: " in said
    assert len(said.splitlines()) == 1
