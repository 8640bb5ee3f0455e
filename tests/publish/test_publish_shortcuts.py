"""The tables of what labels give away: counts by hand for each study, hostile text,
and what is too rare to be told.
"""

import pytest

from scripts.studies.mctaco.tables import ANSWERS
from scripts.data.tables import METRICS
from scripts.studies.temporal_nli.tables import NLI
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.studies.timedial.tables import CLOZE
from tests.publish.publish_inputs import metric_row
from tests.files import read_texts, write_json, write_rows, write_yaml

pytestmark = pytest.mark.slow  # many processes; left out of `make check`

HOSTILE = (
    "=cmd() <script>alert('x')</script> & 50% {{ 7 * 7 }} a_b | $x^{ \\input{x} [l](javascript:x)"
)
SCHEMAS = {"strided_sop": STRIDED_PAIRS, "temporal_nli": NLI, "mctaco": ANSWERS, "timedial": CLOZE}


def pairs(split: str) -> list[dict]:
    """80 pairs; in 40 one sentence says then: in training it is the later one in 30 of them,
    in evaluation in 10.
    """
    later = {"train": 30, "test": 10}[split]
    return [
        {
            "pair_id": f"{split}{number}",
            "text_a": f"a cup {HOSTILE}",
            "text_b": ("then" if number < 40 else "a") + f" cup {HOSTILE}",
            "label": int(number < later) if number < 40 else number % 2,
        }
        for number in range(80)
    ]


def hypotheses(split: str) -> list[dict]:
    """40 hypotheses of 80 say for: in training 30 follow from their premise, in evaluation 20;
    the others contradict it.
    """
    follow = {"train": 30, "test": 20}[split]
    return [
        {
            "example_id": f"{split}{number}",
            "text_a": HOSTILE,
            "text_b": f"It lasted {'for' if number < 40 else 'within'} a while.",
            "label": 0 if number < follow else 2,
        }
        for number in range(80)
    ]


def answers(split: str) -> list[dict]:
    """40 answers of 80 are hours: likely are 30 of them in training and 10 in evaluation; of the
    others it is the reverse.
    """
    likely = {"train": 30, "test": 10}[split]
    return [
        {
            "example_id": f"{split}{number}",
            "group_id": f"{split}{number}",
            "text_a": HOSTILE,
            "text_b": "some hours" if number < 40 else "it fell",
            "label": int(number % 40 < likely) if number < 40 else int(number % 40 >= likely),
        }
        for number in range(80)
    ]


def candidates(split: str) -> list[dict]:
    """40 dialogs with four candidates: two are right,
    one of the wrong ones stands in the dialog.
    """
    texts = {"two days": 1, "a week": 1, "ten minutes": 0, "nine years": 0}
    return [
        {
            "example_id": f"{split}{number}:{text}",
            "instance_id": f"{split}{number}",
            "context": f"A: {HOSTILE} took ten minutes.\nB: <MASK>.",
            "candidate": text,
            "label": label,
        }
        for number in range(40)
        for text, label in texts.items()
    ]


# Of each study: its examples, a cue, and that cue's row, in per cent.
COUNTED = {
    # then in 40 of 80: right in 30 of 40, then in 10 of 40; alone 10 + half of the other 40; at
    # best 30 + half of the other 40.
    "strided_sop": (
        pairs,
        "then, next, after",
        "75.0 50.0 25.0 50.0 50.0 40 37.5 62.5 punished".split(),
    ),
    # for: entailment, which is 30 of 80 and 20 of 80; alone 20 + the other 40, which contradict as
    # in training.
    "temporal_nli": (
        hypotheses,
        "hypothesis: for (entails <b>)",
        "75.0 37.5 50.0 25.0 50.0 40 75.0 75.0 helps".split(),
    ),
    # hours: likely in 30 of 40, then in 10 of 40; half of all are likely in training and in
    # evaluation; the others are likely to be unlikely: alone 10 of 40, and of the others 10 of 40; at best 30, and these 10.
    "mctaco": (answers, "hours", "75.0 50.0 25.0 50.0 50.0 40 25.0 50.0 punished".split()),
    # what stands in the dialog is never right; who avoids it chooses two of three, both right in
    # one case of three.
    "timedial": (
        candidates,
        "stands in its dialog",
        "0.0 50.0 0.0 50.0 25.0 40 33.3 33.3 helps".split(),
    ),
}
NUMBERS = [
    "P in training (%)",
    "Average",
    "P in evaluation (%)",
    "Average there",
    "Coverage (%)",
    "n",
    "Alone (%)",
    "At best (%)",
    "The evaluation",
]


def shortcuts(program, folder, study: str, splits: dict[str, list[dict]], sample: bool = False):
    """The finished process, and the table without suffix."""
    schema = SCHEMAS[study]
    for split, rows in splits.items():
        rows = [{name: None for name in schema.names} | row for row in rows]
        write_rows(rows, folder / f"build/made/d/{split}.parquet", schema)
    row = {"model": "m", "source": "made", "dataset": "d", "metric": "accuracy", "sample": sample}
    row = metric_row(study, 0.5, **row)
    write_rows([row], folder / "metrics.parquet", METRICS)
    for name, content in (("sources", {"made": {"title": HOSTILE}}), ("models", {"m": {}})):
        write_yaml(folder / f"{name}.yaml", content)
    runs = []
    for seed in (1, 2):  # two runs of a dataset are one row for each cue
        runs.append(f"run{seed}")
        (folder / "train" / runs[-1]).mkdir(parents=True, exist_ok=True)
        write_json(
            folder / "train" / runs[-1] / "run.json",
            {
                "run": runs[-1],
                "source": "made",
                "dataset": "d",
                "splits": ["train", "test"],
                "data_options": {},
                "labels": ["entails_<b>", "neutral", "contradicts"],
            },
        )
    output = folder / f"tables/{study}_shortcuts"
    return program(
        f"scripts.studies.{study}.shortcuts --metrics {folder}/metrics.parquet "
        f"--sources {folder}/sources.yaml --models {folder}/models.yaml "
        f"--train {folder}/train --build {folder}/build --output {output}",
        "--runs",
        *runs,
    ), output


@pytest.mark.parametrize("study", COUNTED)
def test_a_cue_is_counted_in_training_and_in_evaluation_and_scored_alone(program, tmp_path, study):
    examples, cue, wanted = COUNTED[study]
    done, output = shortcuts(
        program,
        tmp_path,
        study,
        {split: examples(split) for split in ("train", "test")},
        sample=True,
    )
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1, done.stderr
    table = read_texts(output.with_name(f"{output.name}.csv"))
    assert not table.duplicated(["Corpus", "Dataset", "Cue"]).any()
    row = table[table["Cue"] == cue].iloc[0]
    assert row[NUMBERS].tolist() == wanted
    assert set(table["Split"]) == {"test"}
    assert set(table["Corpus"]) == {f"'{HOSTILE} [sample data]"}, "a spreadsheet shows it as text"
    gaps = (table["P in training (%)"].astype(float) - table["Average"].astype(float)).abs()
    assert gaps.is_monotonic_decreasing, "surest in training first"


def test_what_is_rare_is_not_told(program, tmp_path):
    """A cue on fewer than thirty examples says little; where every one is,
    the table has its head and no rows.
    """
    done, output = shortcuts(
        program, tmp_path, "mctaco", {split: answers(split)[20:60] for split in ("train", "test")}
    )
    assert done.returncode == 0, done.stderr
    assert len(output.with_name(f"{output.name}.csv").read_text().splitlines()) == 1


def test_a_dataset_that_is_not_there_is_one_clear_sentence(program, tmp_path):
    done, output = shortcuts(program, tmp_path, "mctaco", {"train": answers("train")})
    assert done.returncode == 1
    assert "test.parquet" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not output.parent.exists() or not list(output.parent.iterdir())
