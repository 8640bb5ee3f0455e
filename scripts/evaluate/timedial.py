"""Measure TimeDial (Qin et al. 2021, section 5): 2-best accuracy, and how often a wrong option outranks a right one.

  two_best_accuracy  of instances with two right options and two wrong ones (the paper's set): the share in which both
                     right ones score above both wrong ones. A tie counts as wrong: a model that cannot tell a wrong
                     option from a right one has not chosen.
  one_best_accuracy  the same of instances with one right option (the released extras, which the paper leaves out)
  wrong_above_right  of the wrong options made by one rule (phrase, numeral, open_ended; all: of every rule) the share
                     that scores as high as at least one right option of its instance, or higher (figure 2: `ranking
                     those negative options over the true correct options`; n: the wrong options)

On a file of scores, one JSON object a line with the score of every option of one instance, higher is better; options
are compared without the spaces around them. Prints per cent with 95 % bootstrap intervals over instances:

    python -m scripts.evaluate.timedial --gold test.json --scores FILE
    {"id": 1, "scores": {"forty-eight hours": -3.2, "50 hours": -4.1, "two hours": -2.9, "12 days": -7.0}}

On the runs of an experiment, as the workflow does: the same as shares from 0 to 1, over all instances (slice all), by
kind of the masked span (kind=date), by whether it holds a numeral (has_numeral=true), by length of the dialog
(turns=7-10), and for wrong_above_right by rule (rule=phrase); for the epoch that was best on the held-out dialogs. A row
without seed is the mean over the seeds; its sd is over the seeds. Beside them baselines that read no meaning, whose
ties are broken at random, in expectation over all orders:

  random           every option ties: 1/6 of two right of four, 1/3 of one right of three
  in_context       an option that stands in the visible rest of the dialog, word for word, before one that does not
  most_frequent    by how many spans of the training data read like the option
  numeral_overlap  by how many numbers the option shares with the visible rest, in digits or words

Reads  <trained>/<run>/predictions.parquet and run.json of every run;
       <build>/<source>/<dataset>/<split>.parquet of the splits measured on, and train.parquet (schema cloze)
Writes a Parquet file (schema metrics: scripts/common/tables.py); `source` is what the runs learnt from, `measured_on`
       whose instances they were measured on, `domain` in, out or zero_shot (of what did not learn)

    python -m scripts.evaluate.timedial --experiment timedial --runs RUN RUN … --trained results/train/timedial \\
        --build results/build/timedial --sources resources/sources.yaml --output /tmp/metrics.parquet
"""

import argparse
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from scripts.build.unit_normalization import CARDINALS, ONES, SCALES, TENS
from scripts.common.program import UserError, cut, log, run, shown
from scripts.common.tables import CLOZE, read_table, write_table
from scripts.common.texts import json_of, lines_in, text_of
from scripts.evaluate.arguments import evaluation_arguments, file_or_runs
from scripts.evaluate.bootstrap import interval, resampled_sums

SCHEMA = pa.schema([
    ("experiment", pa.string()), ("study", pa.string()), ("model", pa.string()), ("source", pa.string()),
    ("measured_on", pa.string()), ("domain", pa.string()), ("dataset", pa.string()), ("method", pa.string()),
    ("context_scope", pa.string()), ("negatives", pa.int64()), ("negatives_of", pa.string()), ("negatives_by", pa.string()),
    ("negative_seed", pa.int64()), ("max_dialogs", pa.int64()), ("train_examples", pa.int64()), ("seed", pa.int64()),
    ("split", pa.string()), ("slice", pa.string()), ("metric", pa.string()), ("value", pa.float64()), ("sd", pa.float64()),
    ("ci_low", pa.float64()), ("ci_high", pa.float64()), ("n", pa.int64()), ("groups", pa.int64()), ("sample", pa.bool_()),
])
ACCURACY = {1: "one_best_accuracy", 2: "two_best_accuracy"}  # by the number of right options
TITLES = {"one_best_accuracy": "1-best accuracy", "two_best_accuracy": "2-best accuracy"}
RULES = {"Rule 1": "phrase", "Rule 2": "numeral", "Rule 3": "open_ended"}
TURNS = {"1-6": (1, 6), "7-10": (7, 10), "11-15": (11, 15), "16+": (16, math.inf)}
NUMERAL = re.compile(rf"\d+|\b({'|'.join(TENS)})(?:[\s-]+({'|'.join(ONES)}))?\b|\b(?:{'|'.join(CARDINALS | SCALES)})\b")


def lowest_right(score: np.ndarray, label: np.ndarray, instance: np.ndarray) -> np.ndarray:
    """(instances,) the lowest score of a right option."""
    lowest = np.full(instance.max() + 1, np.inf)
    np.minimum.at(lowest, instance[label == 1], score[label == 1])
    return lowest


def outranked(score: np.ndarray, label: np.ndarray, instance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(instances,) 1 where every right option scores above every wrong one, and (n,) 1 for the wrong options that
    score as high as a right one of their instance or higher.

    score, label (1 right, 0 wrong): (n,), one an option; instance: (n,) integers from 0.
    """
    above = ((label == 0) & (score >= lowest_right(score, label, instance)[instance])).astype(float)
    return (np.bincount(instance, above) == 0).astype(float), above


def outranked_by_chance(score: np.ndarray, label: np.ndarray, instance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As outranked(), but ties are broken at random: the expected values over all orders of what ties, not one draw."""
    lowest = lowest_right(score, label, instance)
    tied = score == lowest[instance]
    right, wrong = (np.bincount(instance, tied & (label == some)) for some in (1, 0))
    above = np.bincount(instance, (label == 0) & (score > lowest[instance])) > 0
    # Of all orders of the tied options one set of places is right: the first ones.
    orders = np.array([math.comb(int(a + b), int(a)) for a, b in zip(right, wrong)])
    # A wrong option that ties with k right ones is the last of them in one of k + 1 orders.
    option = np.where(tied, 1 - 1 / (right[instance] + 1), score > lowest[instance])
    return np.where(above, 0, 1 / orders), np.where(label == 0, option, 0)


def words(texts: pd.Series) -> pd.Series:
    """Texts as words and signs in lower case with one space between and around them; a new line is a sign."""
    return " " + texts.str.lower().str.replace("\n", " ¶ ").str.findall(r"\w+|[^\w\s]").str.join(" ") + " "


def numerals(text: str) -> set[int]:
    """The numbers in a text, in digits or words: {48, 2} of "forty-eight hours, or 2"."""
    return {TENS[found[1]] + ONES.get(found[2], 0) if found[1] else
            int(found[0]) if found[0].isdecimal() else (CARDINALS | SCALES)[found[0]]
            for found in NUMERAL.finditer(text.lower())}


def baselines(options: pd.DataFrame, learnt: pd.Series) -> dict[str, np.ndarray]:
    """By name the (n,) score of every option; options: schema cloze, learnt: the masked spans of the training data."""
    visible = options["context"].str.replace(r"(?m)^[AB]:", "", regex=True).str.replace("<MASK>", "\n")
    said, option, times = words(visible), words(options["candidate"]), words(learnt).value_counts()
    return {
        "random": np.zeros(len(options)),
        "in_context": np.array([text in context for text, context in zip(option, said)], float),
        "most_frequent": option.map(times).fillna(0).to_numpy(float),
        "numeral_overlap": np.array([len(numerals(text) & numerals(context)) for text, context
                                     in zip(options["candidate"], visible)], float),
    }


def rates(counted: list[np.ndarray], of: np.ndarray, resamples: int) -> list[dict]:
    """A rate of each seed and their mean (seed: the place in the list, or None), with its 95 % interval.

    counted: by seed the (instances,) counts above the line, of: (instances,) those below it; none: no rows. Instances
    are drawn whole, since the options of one are not independent.
    """
    some = of > 0
    if not some.any():
        return []
    sums = np.stack([*counted, of])[:, some]
    value, drawn = sums[:-1].sum(1) / sums[-1].sum(), resampled_sums(sums.T, resamples)
    draws, rows = drawn[:, :-1] / drawn[:, -1:], []
    same = {"n": int(of.sum()), "groups": int(some.sum())}
    for seed in range(len(counted)):
        low, high = interval(draws[:, seed])
        rows.append(same | {"seed": seed, "value": value[seed], "sd": None, "ci_low": low, "ci_high": high})
    low, high = interval(draws.mean(1))
    return rows + [same | {"seed": None, "value": value.mean(), "ci_low": low, "ci_high": high,
                           "sd": value.std(ddof=1) if len(counted) > 1 else None}]


def slices(instances: pd.DataFrame) -> dict[str, np.ndarray]:
    """The slices of the instances, by name: which of them belong to it; instances: kind, has_numeral and turns."""
    kind = instances["kind"].fillna("").replace("", "other")
    parts = {"all": np.full(len(instances), True)}
    parts |= {f"kind={name}": (kind == name).to_numpy() for name in sorted(set(kind))}
    parts |= {f"has_numeral={str(some).lower()}": (instances["has_numeral"] == some).to_numpy(bool) for some in (True, False)}
    return parts | {f"turns={name}": instances["turns"].between(*ends).to_numpy() for name, ends in TURNS.items()}


def of_options(options: pd.DataFrame, outcomes: list[tuple[np.ndarray, np.ndarray]], resamples: int) -> list[dict]:
    """Both metrics with all their slices; outcomes: of each seed what outranked() tells of these options.

    options: instance (from 0), label, rule; kind, has_numeral and turns, where the slices by them are wanted.
    """
    instance, rule, wrong = options["instance"].to_numpy(), options["rule"].to_numpy(), options["label"].to_numpy() == 0
    right = np.bincount(instance, ~wrong).astype(int)
    metric, rows = ACCURACY[int(right[0])], []
    first = options.drop_duplicates("instance").sort_values("instance")
    for name, part in (slices(first) if "kind" in first else {"all": right > 0}).items():
        found = rates([accurate * part for accurate, _ in outcomes], part.astype(float), resamples)
        rows += [row | {"metric": metric, "slice": name} for row in found]
    for name in ("all", *(f"rule={some}" for some in RULES.values())):
        asked = wrong & ((name == "all") | (rule == name.removeprefix("rule=")))
        found = rates([np.bincount(instance, above * asked) for _, above in outcomes],
                      np.bincount(instance, asked.astype(float)), resamples)
        rows += [row | {"metric": "wrong_above_right", "slice": name} for row in found]
    return rows


def checked(options: pd.DataFrame, where: Path) -> pd.DataFrame:
    """The options with a column `instance`, from 0 in their order; refuses instances that no metric is made for."""
    options = options.assign(instance=pd.factorize(options["instance_id"])[0])
    right, count = (options.groupby("instance")["label"].agg(how) for how in ("sum", "size"))
    if not right.isin(ACCURACY).all() or right.nunique() > 1 or (right == count).any():
        odd = right[~right.isin(ACCURACY) | (right != right.mode()[0]) | (right == count)].index[0]
        name = options.loc[options["instance"] == odd, "instance_id"].iloc[0]
        raise UserError(f"{where}: instance {name} has {right[odd]} right options of {count[odd]}; in one split each has one "
                        "right option, or each has two, and all have wrong ones: build the dataset again")
    return options


def scores_of(folder: Path, split: str, options: pd.DataFrame) -> tuple[np.ndarray, bool]:
    """A run's (n,) scores of the options, in their order, and whether it learnt."""
    table = read_table(folder / "predictions.parquet", ["split", "selection", "example_id", "score"])
    table = table.filter((pc.field("split") == split) & (pc.field("selection") != "peak")).combine_chunks()
    ids = pd.Index(table["example_id"].to_pandas())
    if len(ids) != len(options) or set(ids) != set(options["example_id"]):
        raise UserError(f"{folder}: its predictions on {split} are not of the options that were built; run it again")
    last = pc.list_flatten(table["score"]).to_numpy().reshape(len(table), -1)[:, -1]
    score = last[ids.get_indexer(options["example_id"])].astype(float)
    if np.isnan(score).any():
        raise UserError(f"{folder}: the score of {options['example_id'][np.isnan(score)].iloc[0]} is not a number; lower the "
                        "learning rate or set precision: fp32, then run it again")
    return score, table["selection"][0].as_py() != "direct"


def of_dataset(options: pd.DataFrame, learnt: pd.Series, tested: dict[tuple, list[dict]], trained: Path, split: str,
               domain: str, resamples: int) -> list[dict]:
    """Every metric on one split of one dataset; tested: by model and method the facts of each run."""
    label, instance, rows = options["label"].to_numpy(), options["instance"].to_numpy(), []
    for name, score in baselines(options, learnt).items():
        same = {"model": name, "method": "baseline", "domain": domain if name == "most_frequent" else "zero_shot"}
        found = of_options(options, [outranked_by_chance(score, label, instance)], resamples)
        rows += [same | row for row in found if row["seed"] is None]
    for (model, method), runs in tested.items():
        found = [scores_of(trained / facts["run"], split, options) for facts in runs]
        learns = found[0][1]
        same = {"model": model, "method": method, "domain": domain if learns else "zero_shot",
                "train_examples": runs[0]["train_examples"] if learns else None}
        for row in of_options(options, [outranked(score, label, instance) for score, _ in found], resamples):
            if row["seed"] is None or learns:  # what does not learn has no seed: its one row is the mean
                rows.append(same | row | {"seed": None if row["seed"] is None else runs[row["seed"]]["seed"]})
    return rows


def measure(experiment: str, trained: Path, runs: list[str], build: Path, sources: dict, resamples: int) -> pa.Table:
    """Every metric of an experiment (schema metrics)."""
    grids: dict[tuple, dict[tuple, list[dict]]] = {}
    for name in runs:
        facts = json.loads((trained / name / "run.json").read_text(encoding="utf-8"))
        tested = grids.setdefault((facts["source"], facts["dataset"]), {})
        tested.setdefault((facts["model"], facts["method"]), []).append(facts)
    rows = []
    for (source, dataset), tested in grids.items():
        measured_on = sources[source].get("measured_on", source)
        domain = sources[source].get("domain")
        if domain not in ("in", "out"):
            raise UserError(f"resources/sources.yaml: {source} does not say of which domain it is to {measured_on}; write "
                            "`domain: in` or `domain: out`")
        folder = build / source / dataset
        train = read_table(folder / "train.parquet", ["candidate", "label"]).to_pandas()
        learnt = train.loc[train["label"] == 1, "candidate"]
        same = {"experiment": experiment, "study": "timedial", "source": source, "measured_on": measured_on,
                "dataset": dataset, "sample": "sample" in sources[source] or "sample" in sources[measured_on]}
        same |= next(iter(tested.values()))[0]["data_options"]
        for split in sources[measured_on]["evaluate"]:
            file = folder / f"{split}.parquet"
            options = read_table(file, CLOZE.names).to_pandas()
            if len(options):  # a set may come without extras
                found = of_dataset(checked(options, file), learnt, tested, trained, split, domain, resamples)
                rows += [same | {"split": split} | row for row in found]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def read_gold(file: Path) -> pd.DataFrame:
    """The options of the released file: instance_id, split (test: two right ones, extras: one), option, label, rule."""
    remedy = "give TimeDial's test.json"
    data = json_of(text_of(file, remedy, remedy), str(file), remedy)
    rows = []
    for number, one in enumerate(data if isinstance(data, list) else [data], 1):
        try:
            extra = one["correct2"].strip() == "none"
            options = [(one["correct1"], 1, ""), *([] if extra else [(one["correct2"], 1, "")]),
                       *((one[f"incorrect{place}"], 0, RULES[one[f"incorrect{place}_rule"].strip()]) for place in (1, 2))]
            rows += [{"instance_id": str(one["id"]), "split": "extras" if extra else "test", "option": option.strip(),
                      "label": label, "rule": rule} for option, label, rule in options]
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            raise UserError(f"{file}: instance {number} is not one of TimeDial ({type(error).__name__}: {cut(str(error))}); give its "
                            "test.json as it was released") from None
    if not rows:
        raise UserError(f"{file}: has no instance; give TimeDial's test.json")
    table = pd.DataFrame(rows)
    twice = table[table.duplicated(["instance_id", "option"])]
    if len(twice):
        raise UserError(f"{file}: id {cut(twice['instance_id'].iloc[0])} has the option {shown(twice['option'].iloc[0])} twice; give "
                        "TimeDial's test.json as it was released")
    return table


def once(pairs: list[tuple]) -> dict:
    """A JSON object, keys without the spaces around them; a key that stands twice is refused."""
    known = {}
    for key, value in pairs:
        if key.strip() in known:
            raise ValueError(f"{shown(key.strip())} stands twice")
        known[key.strip()] = value
    return known


def is_finite(score: object) -> bool:
    """Whether a value of JSON is a number that can be compared: neither true nor NaN nor beyond all floats."""
    try:
        return not isinstance(score, bool) and isinstance(score, int | float) and math.isfinite(score)
    except OverflowError:
        return False


def scores_on(line: str, where: str, wanted: dict[str, list[str]]) -> tuple[str, dict]:
    """The id and the scores of one line; wanted: the options of each id."""
    try:
        one = json.loads(line, object_pairs_hook=once)
        name, scores = str(one["id"]), dict(one["scores"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{where} is not an object like {{\"id\": 1, \"scores\": {{\"two hours\": -3.2, …}}}} "
                        f"({type(error).__name__}: {cut(str(error))}); mend it") from None
    if name not in wanted:
        raise UserError(f"{where}: no instance has the id {cut(name)}; take the line out")
    unknown = [option for option in scores if option not in wanted[name]]
    missing = [option for option in wanted[name] if option not in scores]
    if unknown or missing:
        what = f"{shown(unknown[0])} is no option of it" if unknown else f"the option {shown(missing[0])} has no score"
        raise UserError(f"{where}: id {cut(name)}: {what}; score {', '.join(map(shown, wanted[name]))}")
    for option, score in scores.items():
        if not is_finite(score):
            raise UserError(f"{where}: id {cut(name)}: the score of {shown(option)} is {shown(score)}, not a number; write one "
                            "that is finite")
    return name, scores


def read_scores(file: Path, gold: pd.DataFrame) -> np.ndarray:
    """(n,) the score of each option of read_gold(). Raises UserError that names the line."""
    wanted = {name: list(options) for name, options in gold.groupby("instance_id", sort=False)["option"]}
    remedy = "give the scores, one JSON object a line"
    lines = lines_in(text_of(file, remedy, remedy), str(file), remedy) or [""]
    found: dict[str, dict] = {}
    for number, line in enumerate(lines, 1):
        name, scores = scores_on(line, f"{file}: line {number}", wanted)
        if name in found:
            raise UserError(f"{file}: line {number}: id {cut(name)} stood on a line before; keep one of them")
        found[name] = scores
    left = [name for name in wanted if name not in found]
    if left:
        raise UserError(f"{file}: line {len(lines)} is the last, and none is of id {cut(left[0])} ({len(left)} of {len(wanted)} "
                        "ids have no line); score every instance")
    return np.array([found[name][option] for name, option in zip(gold["instance_id"], gold["option"])], float)


def score_file(gold_file: Path, scores_file: Path, resamples: int) -> None:
    """Print the metrics of a file of scores, in per cent."""
    gold = read_gold(gold_file)
    gold["score"] = read_scores(scores_file, gold)
    print(f"{'':<48}{'%':>7}{'95 % interval':>18}{'n':>8}")
    for split, some in gold.groupby("split", sort=False):
        options = checked(some, gold_file)
        outcome = outranked(*(options[name].to_numpy() for name in ("score", "label", "instance")))
        for row in of_options(options, [outcome], resamples):
            if row["seed"] is None:
                rule = row["slice"].removeprefix("rule=").replace("_", "-")
                what = f"{rule} options above a right one" if "rule=" in row["slice"] else "wrong options above a right one"
                what = TITLES.get(row["metric"], what)
                span = f"{row['ci_low'] * 100:.1f} to {row['ci_high'] * 100:.1f}"
                print(f"{f'{split}: {what}':<48}{row['value'] * 100:>7.2f}{span:>18}{row['n']:>8,}")


def main(given: argparse.Namespace) -> None:
    if given.gold:
        score_file(given.gold, given.scores, given.resamples)
        return
    sources = yaml.safe_load(given.sources.read_text(encoding="utf-8"))
    table = measure(given.experiment, given.trained, given.runs, given.build, sources, given.resamples)
    write_table(table, given.output, SCHEMA, {"experiment": given.experiment, "bootstrap_resamples": given.resamples})
    log.info("%s: %d numbers of %d runs", given.experiment, len(table), len(given.runs))


def arguments() -> argparse.ArgumentParser:
    made = evaluation_arguments(__doc__, required=False)
    files = made.add_argument_group("a file of scores")
    files.add_argument("--gold", type=Path, help="TimeDial's test.json")
    files.add_argument("--scores", type=Path, help="a JSON object a line, for every instance: id and scores")
    return made


if __name__ == "__main__":
    run(main, file_or_runs(arguments(), ["gold", "scores"]))
