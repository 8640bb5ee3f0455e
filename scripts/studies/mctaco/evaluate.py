"""Measure MC-TACO (Zhou et al. 2019, section 4): exact match and F1 by question,
as the authors score them.

  exact_match  the share of questions with every candidate judged right
  f1           the mean over questions of the F1 of accepted candidates (precision is 1 if no
               candidate is accepted, recall is 1 if no candidate is likely, F1 is 0 if both are 0)
  f1_minus_exact_match  f1 less exact_match: credit for candidates of questions with a wrong
                        candidate
  ranked_right   the share of mixed questions (with a likely and an unlikely candidate) whose likely
                 candidates all score above all unlikely ones. It needs no threshold
  question_area  the share of pairs of a likely and an unlikely candidate of one question in which
                 the likely one scores higher (a tie counts half): the area under the curve of a
                 question, as a mean over mixed questions
  contrast_exact_match  the share of contrast pairs (data option contrast) in which every candidate
                        of the question and of its counterpart is judged right

The rows also contain always_yes, always_no, random (its expected value) and the data's labels
(gold). Groups are sentences, because one sentence has several questions. Judgements that a paper's
authors released (`predictions` of the sources) are a system with the method `released`. So are
released judgements of language models (--released); their dataset is the name of their source. An
untrained model (method untrained) has train_questions 0. Contrast pairs have the slices
contrast=original and contrast=counterpart.

External predictions have the labels likely and unlikely. Or they have the form of the authors'
release, one yes or no a line, in the order of their file.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.clean.mctaco import CATEGORIES
from scripts.data.counterparts import contrast_pairs, is_counterpart
from scripts.running.program import execute
from scripts.studies.mctaco.options import Options
from scripts.studies.mctaco.tables import ANSWERS
from scripts.measure.arguments import evaluation_arguments, evaluation_given
from scripts.measure.bootstrap import Resampling, resampling
from scripts.measure.experiment import EXTERNAL, read_examples, read_scores, replicates_of
from scripts.measure.answered import Answered
from scripts.text.sizes import KINDS, shared_kind
from scripts.studies.mctaco.prediction_files import lettered_judgements, own_judgements
from scripts.studies.mctaco.prediction_files import released_judgements
from scripts.studies.mctaco.released import Released, read_released
from scripts.measure.people import System, Values, people_rows
from scripts.measure.study import Part, Study, evaluate
from scripts.measure.tally import Replicate, metric_rows, metrics_schema, share_tally

OF_PEOPLE = ("exact_match", "f1")  # metrics that are also measured on people
PRINTED = {"category=": OF_PEOPLE}  # metrics of slices to print for external predictions
ANSWERED = Answered(
    "mctaco",
    ("example_id", "group_id", "text_a", "text_b"),
    (["unlikely", "likely"],),
    own=own_judgements,
)
SCHEMA = metrics_schema(Options, {"train_pairs": pa.int64()})


# ---- the paper's metrics


def f1_of(right: np.ndarray, accepted: np.ndarray, likely: np.ndarray) -> np.ndarray:
    """Return F1 from three arrays of counts with one shape: accepted candidates that are likely,
    accepted candidates, likely candidates.
    """
    precision = np.divide(right, accepted, out=np.ones(np.shape(right)), where=accepted > 0)
    recall = np.divide(right, likely, out=np.ones(np.shape(right)), where=likely > 0)
    both = precision + recall
    return np.divide(2 * precision * recall, both, out=np.zeros(np.shape(right)), where=both > 0)


def by_question(
    label: np.ndarray, accepted: np.ndarray, question: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (questions,) exact match and (questions,) F1. label and accepted are (n,) 0 or 1;
    question is (n,) integers from 0.
    """
    wrong = np.bincount(question, weights=label != accepted)
    counts = (
        np.bincount(question, weights=counted) for counted in (label * accepted, accepted, label)
    )
    return (wrong == 0).astype(float), f1_of(*counts)


def question_values(answers: pd.DataFrame, judgements: list[np.ndarray]) -> Values:
    """Return the (replicates, questions) values of each metric; a missing value is NaN. judgements:
    for each replicate (n,) 1 for an accepted answer, else 0, in the order of the answers.
    """
    label, question = answers["label"].to_numpy(), pd.factorize(answers["group_id"])[0]
    both = np.stack([by_question(label, accepted, question) for accepted in judgements], 1)
    return with_gap(*both)


def ranked_values(answers: pd.DataFrame, scores: list[np.ndarray]) -> Values:
    """Return the (replicates, questions) values of ranked_right and question_area; NaN where a
    question is not mixed. scores: for each replicate (n,) how likely an answer is.
    """
    rows = pd.DataFrame({"question": pd.factorize(answers["group_id"])[0]})
    likely = answers["label"].to_numpy() == 1
    questions, found = rows["question"].max() + 1, []
    for score in scores:
        rows["score"] = score
        pairs = rows[likely].merge(rows[~likely], on="question")
        higher = pairs["score_x"] > pairs["score_y"]
        half = (pairs["score_x"] == pairs["score_y"]) / 2
        of_question = pairs.assign(all=higher, area=higher + half).groupby("question")
        found.append(of_question.agg({"all": "min", "area": "mean"}).reindex(range(questions)))
    names = {"ranked_right": "all", "question_area": "area"}
    return {
        name: np.stack([one[of].to_numpy(float) for one in found]) for name, of in names.items()
    }


def slices(answers: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return a mask (questions,) for each slice. time=…: the kind of time that all answers of a
    question name. timebench=yes: questions with at least four
    candidates and a likely one, as in TimeBench (Chu et al. 2024). contrast=…: the originals and
    the counterparts, if the split has contrast pairs.
    """
    question = pd.factorize(answers["group_id"])[0]
    category = answers["category"].groupby(question).first().to_numpy()
    likely = np.bincount(question, weights=answers["label"])
    time = answers["answer"].groupby(question).agg(shared_kind).to_numpy()
    found = (
        {"all": np.full(len(category), True)}
        | {f"category={name}": category == name for name in CATEGORIES.values()}
        | {f"time={name}": time == name for name in KINDS}
        | {"timebench=yes": (np.bincount(question) >= 4) & (likely > 0)}
    )
    rewritten = is_counterpart(answers["group_id"].drop_duplicates())
    if rewritten.any():
        found |= {"contrast=original": ~rewritten, "contrast=counterpart": rewritten}
    return found


class Questions(NamedTuple):
    """The questions of a split, ready for tallies.

    ids: (questions,) their names. sentence: (questions,) the number of each question's sentence,
    from 0. slices: from slices(). drawn: the draws over the sentences.
    """

    ids: pd.Index
    sentence: np.ndarray
    slices: dict[str, np.ndarray]
    drawn: Resampling


def questions_of(answers: pd.DataFrame, resamples: int) -> Questions:
    """Return the questions of answers (group_id, sentence_id, answer, category), by first
    appearance.
    """
    first = answers.drop_duplicates("group_id")
    sentence, names = pd.factorize(first["sentence_id"])
    drawn = resampling(names, resamples)
    return Questions(pd.Index(first["group_id"]), sentence, slices(answers), drawn)


def rows_of(values: Values, asked: Questions, replicates: Sequence[Replicate] = ()) -> list[dict]:
    """Return the rows of each metric on each slice of questions, and on contrast pairs. values:
    from question_values(). Sums are by sentence.
    """
    tallies, groups = [], len(asked.drawn.block)
    for metric, table in (values | of_pairs(values["exact_match"], asked.ids)).items():
        for name, part in asked.slices.items():
            if name.startswith("contrast=") and metric not in OF_PEOPLE:
                continue
            there = part & ~np.isnan(table).any(0)
            is_kind = name.startswith(("category=", "time="))
            compared = is_kind and metric in ("exact_match", "ranked_right")
            place = asked.sentence, groups, compared
            tallies.append(share_tally(name, metric, table, there, *place))
    return metric_rows(tallies, replicates, asked.drawn)


def rows_of_part(
    answers: pd.DataFrame, part: Part, resamples: int, people: pd.DataFrame | None
) -> list[dict]:
    label, question = answers["label"].to_numpy(), pd.factorize(answers["group_id"])[0]
    asked = questions_of(answers, resamples)
    baselines = {
        "random": with_gap(*(values[None] for values in expected_at_random(label, question)))
    } | {
        name: question_values(answers, [accepted])
        for name, accepted in (
            ("always_yes", np.ones_like(label)),
            ("always_no", np.zeros_like(label)),
            ("gold", label),
        )
    }
    measured: list[tuple[dict, Values, list[Replicate]]] = [
        ({"model": name, "method": "baseline"}, values, []) for name, values in baselines.items()
    ]
    for (model, method), runs in part.systems.items():
        facts = runs[0].facts
        scores = [read_scores(run, part.split, answers["example_id"], "answers")[0] for run in runs]
        same = {
            "model": model,
            "method": method,
            "train_pairs": facts["train_examples"] + facts["held_out_examples"],
        }
        if method == "untrained":
            same |= {"train_questions": 0, "draw": 0}
        elif method == EXTERNAL:
            same |= {"train_pairs": None}
        values = question_values(
            answers, [(score[:, 1] > score[:, 0]).astype(int) for score in scores]
        ) | ranked_values(answers, [score[:, 1] - score[:, 0] for score in scores])
        measured.append((same, values, replicates_of(runs)))
    rows = [
        same | row
        for same, values, replicates in measured
        for row in rows_of(values, asked, replicates)
    ]
    found = {
        (same["model"], same["method"]): System(
            {metric: values[metric] for metric in OF_PEOPLE}, replicates
        )
        for same, values, replicates in measured
        if same["model"] != "gold"
    }
    by_unit = answers.assign(unit=answers["group_id"], group_id=answers["sentence_id"])
    return rows + people_rows(
        people, by_unit, people_values, found, len(ANSWERED.labels[0]), resamples
    )


# ---- beside the paper: a fair coin, the gap of the metrics, contrast pairs, people


def expected_at_random(label: np.ndarray, question: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (questions,) expected exact match and F1 of a system that tosses a fair coin for each
    candidate. They are computed over all outcomes, not from one draw.
    """
    size, likely = np.bincount(question), np.bincount(question, weights=label).astype(int)
    f1 = np.zeros(len(size))
    for candidates, wanted in set(zip(size.tolist(), likely.tolist())):
        # accepted candidates: likely ones, others
        right, other = np.indices((wanted + 1, candidates - wanted + 1))
        ways = np.outer(
            [math.comb(wanted, k) for k in range(wanted + 1)],
            [math.comb(candidates - wanted, k) for k in range(candidates - wanted + 1)],
        )
        outcomes = ways / 2.0**candidates * f1_of(right, right + other, np.full_like(right, wanted))
        f1[(size == candidates) & (likely == wanted)] = outcomes.sum()
    return 2.0**-size, f1


def with_gap(exact: np.ndarray, f1: np.ndarray) -> Values:
    """Return the values of exact match, of F1 and of their difference."""
    return {"exact_match": exact, "f1": f1, "f1_minus_exact_match": f1 - exact}


def of_pairs(exact: np.ndarray, ids: pd.Index) -> Values:
    """Return contrast_exact_match: (replicates, questions), with a value at the original of each
    contrast pair and NaN at other questions. It is empty if there are no contrast pairs. exact:
    (replicates, questions).
    """
    original, counterpart = contrast_pairs(ids).T
    both = np.full_like(exact, np.nan)
    both[:, original] = exact[:, original] * exact[:, counterpart]
    return {"contrast_exact_match": both} if len(original) else {}


def people_values(rows: pd.DataFrame, chosen: np.ndarray) -> Values:
    """Return the (questions,) values of each metric, for people's answers that accept (1) or reject
    (0) each candidate.
    """
    return dict(
        zip(OF_PEOPLE, by_question(rows["label"].to_numpy(), chosen, pd.factorize(rows["unit"])[0]))
    )


STUDY = Study(
    ANSWERED,
    SCHEMA,
    lambda file: read_examples(file, ANSWERS, 2),
    rows_of_part,
    unit="group_id",
    printed=PRINTED,
)


# ---- judgements that others released


def released_rows(
    parts: list[Part], fetched: Path | None, others: list[Released], resamples: int
) -> list[dict]:
    """Return the rows of released judgements (with the corpora, and by others), read from
    `fetched`. Each split is measured once. Contrast pairs have no rows, because nobody judged the
    counterparts.
    """
    rows: list[dict] = []
    done = set()
    if fetched is None:
        return rows
    for part in parts:
        limit = part.options.get("limit")
        if "contrast" in part.options or (part.source, part.split, limit) in done:
            continue
        done.add((part.source, part.split, limit))
        same = {"study": "mctaco", "source": part.source, "split": part.split, "limit": limit}
        same["sample"] = "sample" in part.entry
        answers = STUDY.read(part.file)
        asked = questions_of(answers, resamples)
        for released, accepted in released_answers(part, answers, fetched, others):
            values = question_values(answers, [accepted])
            rows += [same | row | released for row in rows_of(values, asked)]
    return rows


def released_answers(
    part: Part, answers: pd.DataFrame, fetched: Path, others: list[Released]
) -> Iterator[tuple[dict, np.ndarray]]:
    """Yield the columns of metrics of each system whose judgements of these answers were released,
    and (n,) its judgements: first the systems that came with the corpus, then each file of others.
    """
    same = {"method": "released", "draw": 0}
    for name, entry in part.entry.get("predictions", {}).items():
        if entry["split"] == part.split:
            how = {"dataset": "released", "unit_normalization": entry["unit_normalization"]}
            accepted = released_judgements(
                fetched / part.source / entry["file"], answers["example_id"]
            )
            yield same | how | {"model": name}, accepted
    for one in others:
        if one.corpus == part.source:
            file = fetched / one.source / one.file
            if one.form == "letters":
                accepted = lettered_judgements(file, answers, one.joined)
            else:
                accepted = released_judgements(file, answers["example_id"])
            how = {"dataset": one.source, "unit_normalization": False}
            yield same | how | {"model": one.name, "wording": one.wording or None}, accepted


def main(given: argparse.Namespace) -> None:
    others = read_released(given.released) if given.released else []
    if named := given.released_sources:
        others = [one for one in others if one.source in named]
    evaluate(
        given, STUDY, lambda parts: released_rows(parts, given.fetched, others, given.resamples)
    )


def arguments() -> argparse.ArgumentParser:
    options = evaluation_arguments(__doc__, "mctaco")
    options.add_argument(
        "--fetched",
        type=Path,
        help="results/fetch, to measure the judgements that were released with a corpus",
    )
    options.add_argument(
        "--released", type=Path, help="released.csv: the list of other people's released answers"
    )
    options.add_argument(
        "--released-sources",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="the sources of --released to measure, in results/fetch; default: all",
    )
    return options


if __name__ == "__main__":
    execute(main, evaluation_given(arguments()))
