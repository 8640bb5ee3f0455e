"""Made-up inputs for the publish tests of MC-TACO: metrics, runs, datasets and resources in the
real schemas.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from scripts.studies.mctaco.tables import ANSWERS
from scripts.data.tables import QUESTIONS as QUESTIONS_SCHEMA
from tests.ladder import compared
from scripts.studies.mctaco.evaluate import SCHEMA
from tests.files import write_rows
from tests.registers import write_published
from tests.runs import write_run
from tests.publish.publish_inputs import HOSTILE, Inputs, metric_row, with_draws

# For each category: the number of answers, the points that are added to a model's exact match, and
# random's exact match.
CATEGORIES, LIFT, RANDOM = yaml.safe_load("""
- {duration: 314, ordering: 263, typical_time: 266, frequency: 300, stationarity: 189}
- {duration: -0.08, ordering: -0.04, typical_time: 0, frequency: 0.03, stationarity: 0.14}
- {duration: 0.031, ordering: 0.084, typical_time: 0.061, frequency: 0.04, stationarity: 0.247}
""")
SIZES = {25: 169, 50: 338, 100: 676, 200: 1350, 370: 2495}
# Made-up F1 and exact match of each system.
TRAINED = {
    ("bert_base", False): (0.668, 0.402),
    ("bert_base", True): (0.688, 0.421),
    ("roberta_base", False): (0.716, 0.447),
    ("esim_glove", False): (0.51, 0.213),
    ("esim_contextual", False): (0.552, 0.27),
}
FIXED, CONTROLS = yaml.safe_load("""
- {random: [0.362, 0.081], always_yes: [0.498, 0.121], always_no: [0.174, 0.174]}
- {bag_of_words: [0.45, 0.2], answer_and_category: [0.64, 0.45]}  # the second is better than the best model
""")
SOURCES = yaml.safe_load("""
mctaco:
  title: MC-TACO
  evaluate: [test]
  predictions:
    told: {title: BERT-base (released predictions), file: told.txt, split: test, of: bert_base, unit_normalization: true}
sample_mctaco:
  title: Sample questions in the format of MC-TACO
  evaluate: [test]
  sample: {format: mctaco, questions: 300, seed: 1}
""")
MODELS = yaml.safe_load("""
bag_of_words: {title: bag of words}
answer_and_category: {title: answer and category}
minilm: {title: MiniLM-L6 (a small model)}
esim_glove: {title: ESIM (GloVe)}
esim_contextual: {title: ESIM (frozen BERT)}
bert_base: {title: BERT-base}
roberta_base: {title: RoBERTa-base}
""") | {"hostile": {"title": HOSTILE}}
SEEDS = [1, 2, 3]
NAMED = {False: "default", True: "unit_normalization-True"}


def measured(same: dict, value: float, seeds: list[int]) -> list[dict]:
    """Return a row for each seed, 0.008 apart, and a row for their mean."""
    values = [value + 0.008 * (number - (len(seeds) - 1) / 2) for number in range(len(seeds))]
    rows = [same | {"seed": seed, "value": one, "sd": None} for seed, one in zip(seeds, values)]
    sd = float(np.std(values, ddof=1)) if len(seeds) > 1 else None
    every_row = [*rows, same | {"seed": None, "value": float(np.mean(values or [value])), "sd": sd}]
    return [
        row | {"ci_low": max(row["value"] - 0.026, 0), "ci_high": min(row["value"] + 0.026, 1)}
        for row in every_row
    ]


def of_system(same: dict, f1: float, exact: float, seeds: list[int]) -> list[dict]:
    """Return every metric of one system, overall and by category."""
    rows = []
    both = {"f1": f1, "exact_match": exact, "f1_minus_exact_match": f1 - exact}

    def add(metric: str, name: str, n: int, value: float) -> None:
        of = same | {"slice": name, "metric": metric, "n": n, "groups": n}
        rows.extend(measured(of, min(max(value, 0), 1), seeds))

    for metric, value in both.items():
        is_plain = metric in ("f1", "exact_match")
        add(metric, "all", 1332, value)
        for name, n in CATEGORIES.items() if is_plain else ():
            is_random = (same["model"], metric) == ("random", "exact_match")
            add(metric, f"category={name}", n, RANDOM[name] if is_random else value + LIFT[name])
    return rows


def system(
    model: str,
    method: str,
    pairs: int | None,
    normalized: bool = False,
    source: str = "mctaco",
    **more,
) -> dict:
    """Return the columns that all rows of a system share."""
    same = {"source": source, "model": model, "method": method, "dataset": NAMED[normalized]}
    same |= {"sample": source.startswith("sample"), "draw": 0, "train_questions": None}
    return metric_row("mctaco", unit_normalization=normalized, train_pairs=pairs, **same) | more


def metric_rows(
    source: str = "mctaco", trained: dict = TRAINED, seeds: list[int] = SEEDS, curve: bool = True
) -> list[dict]:
    """Return the rows of Table 2 with its baselines and controls (evaluated once for each dataset),
    and BERT's curve with five draws for each size.
    """
    rows = []
    for normalized in sorted({False, *(normalized for _, normalized in trained)}):
        for model, values in FIXED.items():
            rows += of_system(system(model, "baseline", None, normalized, source), *values, [])
        for model, values in CONTROLS.items():
            rows += of_system(system(model, "control", 3783, normalized, source), *values, [])
    for (model, normalized), (f1, exact) in trained.items():
        rows += of_system(system(model, "train", 3783, normalized, source), f1, exact, seeds)
    for (questions, pairs), draw in (
        ((size, draw) for size in SIZES.items() for draw in range(5)) if curve else ()
    ):
        same = system(
            "bert_base",
            "train",
            pairs + 13 * draw - 26,
            source=source,
            experiment="curve",
            train_questions=questions,
            draw=draw,
            dataset=f"train_questions-{questions}-draw-{draw}",
        )
        reached = 1 - np.exp(-pairs / 700)
        rows += of_system(
            same,
            0.37 + 0.295 * reached + 0.012 * (draw - 2),
            0.1 + 0.3 * reached + 0.009 * (draw - 2),
            [1],
        )
    # no figure shows contrast pairs
    pairs = {"contrast": "unit", "dataset": "unit", "value": 0.99, "ci_low": 0.98, "ci_high": 1.0}
    rows += [row | pairs for row in rows if row["model"] == "bert_base"]
    rows = with_draws(rows, 0.0133)
    return compared(rows)


def untrained_rows() -> list[dict]:
    """Return rows of BERT with random heads from three seeds."""
    same = system("bert_base", "untrained", 0, experiment="untrained", train_questions=0)
    return with_draws(of_system(same, 0.31, 0.15, SEEDS), 0.0133)


def released_rows(exact: float = 0.427) -> list[dict]:
    """Return rows of the judgements that were released with the corpus."""
    return with_draws(
        of_system(system("told", "released", None, True, dataset="released"), 0.699, exact, []),
        0.0133,
    )


def hours(numbers: list[int]) -> list[str]:
    return [f"{number} hours" for number in numbers]


# question id: category, text, candidates, labels, probabilities of likely
QUESTIONS = {
    "test:0": (
        "duration",
        "How long did the chairman speak?",
        hours([9, 1, 2, 3]),
        [0, 1, 1, 0],
        [0.9, 0.8, 0.3, 0.2],
    ),
    "test:1": ("duration", HOSTILE, hours([1, 2, 400]), [1, 1, 0], [0.9, 0.8, 0.1]),
    "test:2": (
        "frequency",
        "How often is there rain?",
        ["every day", "every week", "every year"],
        [1, 1, 0],
        [0.2, 0.9, 0.4],
    ),
    "test:3": ("ordering", "What happened after?", ["it fell", HOSTILE], [1, 0], [0.3, 0.95]),
    "test:4": ("typical_time", "When do they eat?", ["noon", "3 a.m."], [1, 0], [0.99, 0.02]),
    "test:5": ("stationarity", "Is it still there?", ["yes", "no"], [1, 0], [0.4, 0.6]),
    "test:6": ("ordering", "What came first?", ["it rose"], [1], [0.7]),
}


def make_run(results: Path, model: str, seed: int) -> str:
    """Write one run's outputs and its dataset."""
    answers = [
        {
            "group_id": group,
            "text_a": f"{HOSTILE}. {question}",
            "text_b": candidate,
            "label": label,
            "category": category,
            "answer": candidate,
        }
        for group, (category, question, candidates, labels, _) in QUESTIONS.items()
        for candidate, label in zip(candidates, labels)
    ]
    answers = [answer | {"example_id": f"test:{number}"} for number, answer in enumerate(answers)]
    write_rows(answers, results / "build/mctaco/mctaco/default/test.parquet", ANSWERS)
    likely = np.concatenate([question[-1] for question in QUESTIONS.values()])
    scores = np.log(np.stack([1 - likely, likely], axis=1))
    return write_run(
        results / "train/mctaco",
        f"mctaco-default-{model}-seed-{seed}-0",
        [("test", "held_out", pd.DataFrame(answers), scores)],
        study="mctaco",
        source="mctaco",
        dataset="default",
        model=model,
        method="train",
        seed=seed,
        data_options={"unit_normalization": False, "train_questions": None, "draw": 0},
        train_examples=3400,
        held_out_examples=383,
    )


class Study(Inputs):
    """A made-up study of MC-TACO."""

    def __init__(self, folder: Path, program, rows: list[dict]):
        super().__init__(folder, program, "mctaco", SCHEMA, rows)
        self.write_resources(sources=SOURCES, models=MODELS)
        write_published(self.resources)

    def write_released(self, words: list[str]) -> None:
        """Write the judgements released with the corpus, one for each answer of QUESTIONS."""
        file = self.results / "fetch/mctaco/told.txt"
        file.parent.mkdir(parents=True)
        file.write_text("\n".join(words) + "\n")

    def write_cleaned(self) -> None:
        """Write QUESTIONS as a cleaned corpus of two splits."""
        rows = [
            {
                "source": "mctaco",
                "question_id": group,
                "sentence": "She spoke at length .",
                "question": question,
                "answer": candidate,
                "label": label,
                "category": category,
            }
            for group, (category, question, candidates, labels, _) in QUESTIONS.items()
            for candidate, label in zip(candidates, labels)
        ]
        for split, part in (("train", rows[:7]), ("test", rows[7:])):
            write_rows(
                [row | {"split": split} for row in part],
                self.results / f"clean/mctaco/{split}.parquet",
                QUESTIONS_SCHEMA,
            )
