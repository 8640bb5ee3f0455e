"""Compare models with controls: the table of comparisons, and every verdict. No other module
decides a verdict.

A control declares what it reads of an item, and what it learns from (`controls` of study.yaml).
These two give its kind:

shortcut       it reads less than the model: options alone, one sentence, nothing. Does the test
               need the text?
like_for_like  it reads what the model reads, and learns from the same examples or from nothing,
               without pretraining. Does the test need pretraining? The headline's difference
with_more      it reads more (other answers, other items) or learns from more texts. Does the test
               need a neural network at all?
solver         it declares the answer, such as a calendar. A ceiling: no verdict is made from it

Two kinds belong to one model: `blind`, the same model without the text that it should read, and
`unpretrained`, the same network without pretraining. `maximum` is the highest control of all kinds
on the test but solvers. It is the winner of a search on the test, so it has no verdict.

The control of a kind is the one with the highest value on the training split, cross-fitted
(`training_value` of run.json). The test takes no part, with one exception: controls that see all
candidates of a question and those that see one are chosen apart where a kind has both. In
TimeDial's training split one of four candidates is right, in its test two, so the two values cannot
be compared. The higher one on the test stands, which errs to the model's disadvantage.

A verdict is made within a family of tests: the study's headline cells for one model (`family` of
study.yaml), a comparison that is no headline is a family of its own. The p-value is multiplied by
the size of the family (Bonferroni), so a verdict does not depend on what else ran. Fewer than three
seeds are no sample of seeds: their verdict is about these runs alone. Predictions made elsewhere
count as one run.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from scripts.data.declared import ceilings, learns, method_of_blind, sees_all
from scripts.data.tables import table_schema
from scripts.measure.intervals import LEVEL, NUMBER, SHARE, Estimate, difference, least_difference

SHORTCUT, LIKE, MORE, SOLVER, BLIND, UNPRETRAINED, MAXIMUM = KINDS = tuple(
    "shortcut like_for_like with_more solver blind unpretrained maximum".split()
)
TITLES = {
    SHORTCUT: "shortcut",
    LIKE: "like for like",
    MORE: "with more",
    SOLVER: "solver",
    BLIND: "itself, blind",
    UNPRETRAINED: "without pretraining",
    MAXIMUM: "highest on the test",
}
OF_CONTROLS = (SHORTCUT, LIKE, MORE)  # the kinds whose control is chosen on the training split
CHANCE = "chance"  # the rung of baselines
CONTROL_METHODS = {"control", "baseline", "majority"}
MADE_ELSEWHERE = {"released", "external"}
LOWER = "lower"
# Systems are compared within these; a system and its blind control share a SYSTEM.
PLACE = ("source", "dataset", "split", "slice", "scoring", "metric")
SYSTEM = (*PLACE, "model", "seed", "wording")

ABOVE, BELOW, LEVEL_WITH, UNCLEAR, CANNOT_TELL, UNKNOWN = VERDICTS = (
    "above",
    "below",
    "level",
    "not clear",
    "cannot tell",
    "one group",
)
MARGIN = 0.03  # a model is level with a control within this
SEEN = 0.05  # a comparison that cannot show a difference of this size cannot tell
FEW_SEEDS = 3  # fewer are no sample of seeds
OF_RUNS = (" for this ensemble", " in this run", " in these two runs")  # by the number of seeds

SCHEMA = table_schema(  # resources/columns.yaml describes the columns
    f"experiment study model method {' '.join(PLACE)} wording n groups seeds value kind control "
    "rung control_value difference ci_low ci_high p_value family least_difference verdict words "
    "at_cap tried control_tried sample",
    **dict.fromkeys("n groups seeds family tried control_tried".split(), "int64"),
    **dict.fromkeys("value control_value difference ci_low ci_high".split(), "float64"),
    **dict.fromkeys(("p_value", "least_difference"), "float64"),
    **dict.fromkeys(("at_cap", "sample"), "bool"),
)


class Control(NamedTuple):
    """What an experiment says of a control. reads: less, same or more than the model. learns: from
    nothing, the same examples, more, or declared. training_values: by source and dataset.
    """

    reads: str
    learns: str
    rung: str = "words"
    sees_all: bool = False
    training_values: Mapping[tuple[str, str], float] = {}

    def kind(self, beside_all: bool = False) -> str:
        """Return the kind of the control; beside_all: beside a model that sees all candidates."""
        if self.learns == "declared":
            return SOLVER
        if self.reads == "less":
            return SHORTCUT
        reads_more = self.reads == "more" and not (beside_all and self.sees_all)
        return MORE if reads_more or self.learns == "more" else LIKE


class Contest(NamedTuple):
    """What the comparisons of an experiment need beside its metrics.

    controls    by name
    pretrained  the pretrained model of each model without pretraining, by name
    at_cap      the systems (source, dataset, model, method) with a run that ended at its cap of
                epochs while its held-out loss fell
    tried       the number of settings that each system tried (of a control: of learners)
    metrics     the metrics that the study declares; those with `better` are compared
    headline    the study's headline
    family      the number of headline cells of one model that the study declares
    """

    controls: Mapping[str, Control]
    pretrained: Mapping[str, str] = {}
    at_cap: frozenset[tuple[str, str, str, str]] = frozenset()
    tried: Mapping[tuple[str, str, str, str], int] = {}
    metrics: Mapping[str, Mapping] = {}
    headline: str = ""
    family: int = 1

    def rung_of(self, row: Mapping) -> str | None:
        """Return the rung of a row of metrics; None for a model, and for people."""
        if row["model"] in ceilings():
            return None
        if row.get("method") == "control":
            return self.controls[row["model"]].rung
        if row.get("method") in CONTROL_METHODS:
            return CHANCE
        if method_of_blind(row.get("method")):
            return BLIND
        return UNPRETRAINED if row["model"] in self.pretrained else None

    def kind_of(self, row: Mapping, beside_all: bool = False) -> str | None:
        """Return the kind of a row of metrics; None for a model, for people and for labels."""
        if row.get("method") == "control":
            return self.controls[row["model"]].kind(beside_all)
        if row["model"] in ceilings():
            return None
        if row.get("method") in CONTROL_METHODS:
            return SHORTCUT
        return self.rung_of(row)

    def chosen(self, rows: Iterable[dict]) -> dict | None:
        """Return the row of the control of a kind; None without rows. Controls without a value on
        the training split count only if no other control ran.
        """
        rows = list(rows)
        known: dict[bool, list[tuple[float, dict]]] = {}
        for row in rows:
            control = self.controls.get(row["model"])
            value = control and control.training_values.get((row["source"], row["dataset"]))
            if control and value is not None:
                known.setdefault(control.sees_all, []).append((value, row))
        return self.best([max(of, key=lambda one: one[0])[1] for of in known.values()] or rows)

    def best(self, rows: Iterable[dict]) -> dict | None:
        """Return the row with the best value of a metric; None without rows."""
        return max(rows, key=lambda row: sign(self.metrics, row) * row["value"], default=None)


def sign(metrics: Mapping[str, Mapping], row: Mapping) -> int:
    """Return -1 for a row of a metric of which a lower value is better, else 1."""
    return -1 if metrics.get(row["metric"], {}).get("better") == LOWER else 1


def place_of(row: Mapping) -> tuple[str, str, str, str]:
    """Return the source, dataset, model and method of a row of metrics."""
    return row["source"], row["dataset"], row["model"], str(row.get("method"))


def bounds_of(metrics: Mapping[str, Mapping], row: Mapping) -> tuple[float, float]:
    """Return the possible values of the metric of a row."""
    return NUMBER if metrics.get(row["metric"], {}).get("unit") == "number" else SHARE


def with_kinds(rows: list[dict], contest: Contest) -> list[dict]:
    """Return the rows of metrics with kind and rung, and for controls whether each is the chosen
    one of its kind at its place.
    """
    kinds = [contest.kind_of(row) for row in rows]
    of_kind: dict[tuple, list[dict]] = {}
    for row, kind in zip(rows, kinds):
        if kind and row.get("method") in CONTROL_METHODS and row["seed"] is None:
            of_kind.setdefault((kind, *map(row.get, PLACE)), []).append(row)
    chosen = {id(contest.chosen(those)) for those in of_kind.values()}
    return [
        row
        | {"kind_of_control": kind, "rung": contest.rung_of(row)}
        | {"chosen": id(row) in chosen if row.get("method") in CONTROL_METHODS else None}
        for row, kind in zip(rows, kinds)
    ]


# ---- verdicts


def verdict_of(estimate: Estimate, least: float | None, family: int) -> str:
    """Return one of VERDICTS. least: from least_difference(); family: the number of tests."""
    if estimate.p_value is None or estimate.ci_low is None or estimate.ci_high is None:
        return UNKNOWN
    if min(1.0, estimate.p_value * family) <= 1 - LEVEL:
        return ABOVE if estimate.value > 0 else BELOW
    if -MARGIN < estimate.ci_low and estimate.ci_high < MARGIN:
        return LEVEL_WITH
    return CANNOT_TELL if least and least > SEEN else UNCLEAR


def words_of(
    verdict: str,
    seeds: int | None,
    least: float | None,
    family: int,
    cap: bool,
    other_cap: bool = False,
) -> str:
    """Return a verdict in words. seeds: of a model that learnt, 0 for an ensemble; None for any
    other. cap, other_cap: whether a run of the model, or of the other side, stopped at its cap.
    """
    if verdict == UNKNOWN:
        return "one group, so no interval"
    few = seeds is not None and seeds < FEW_SEEDS
    clearly = "" if few else "clearly "
    said = {
        ABOVE: f"{clearly}above",
        BELOW: f"{clearly}below",
        LEVEL_WITH: f"level (within {MARGIN * 100:.0f} points)",
    }.get(verdict, verdict)
    if verdict in (UNCLEAR, CANNOT_TELL) and least:
        only = "only " if verdict == CANNOT_TELL else ""
        said += f" ({only}a difference of {least * 100:.1f} points would have been seen)"
    tests = f" among {family} tests" if family > 1 else ""
    runs = OF_RUNS[seeds] if few and seeds is not None else ""
    caps = "; stopped at its cap, not trained to the end" if cap else ""
    caps += "; the other side was not trained to the end" if other_cap else ""
    return said + runs + tests + caps


def compared(row: dict, other: dict, kind: str, contest: Contest) -> dict:
    """Return the comparison (schema SCHEMA, without the experiment) of a system's row of metrics
    with that of a control. The difference is positive where the system is better. A blind model is
    named by its method.
    """
    learnt = learns(row.get("method")) and row.get("wording") is None
    seeds = row["seeds"] if learnt else None
    if row.get("method") in MADE_ELSEWHERE:
        seeds = 1
    fixed = row | {"seeds": 1} if seeds is not None and seeds < FEW_SEEDS else row
    pair = (fixed, other) if sign(contest.metrics, row) > 0 else (other, fixed)
    estimate = difference(*pair, bounds_of(contest.metrics, row))
    is_headline = row["metric"] == contest.headline and row["slice"] == "all"
    family = contest.family if is_headline else 1
    place = place_of(row)
    found = {name: row.get(name) for name in SCHEMA.names} | {
        "kind": kind,
        "control": other["method"] if kind == BLIND else other["model"],
        "rung": contest.rung_of(other),
        "control_value": other["value"],
        "difference": estimate.value,
        "ci_low": estimate.ci_low,
        "ci_high": estimate.ci_high,
        "p_value": estimate.p_value,
        "at_cap": place in contest.at_cap,
        "tried": contest.tried.get(place),
        "control_tried": contest.tried.get(place_of(other)),
    }
    if kind in (SOLVER, MAXIMUM):
        return found | {"verdict": None, "words": None, "p_value": None}
    least = least_difference(estimate, family)
    verdict = verdict_of(estimate, least, family)
    caps = found["at_cap"], place_of(other) in contest.at_cap
    words = words_of(verdict, seeds, least, family, *caps)
    return found | {"family": family, "least_difference": least, "verdict": verdict, "words": words}


# ---- the table


def comparisons_of(rows: list[dict], contest: Contest) -> list[dict]:
    """Return the comparisons of the models of an experiment (schema SCHEMA, without the
    experiment), paired over the groups, for each metric with a direction (`better` of study.yaml).

    rows: of metrics. Slices without draws are not compared. Released predictions belong to no
    dataset here, so they are compared with the controls of all datasets. Each wording of a model is
    compared with the blind model under the same wording.
    """
    wanted = {name for name, entry in contest.metrics.items() if "better" in entry}
    shown = [row for row in rows if row.get("draws") is not None and row["metric"] in wanted]
    means = [row for row in shown if row["seed"] is None]
    blind = {
        (method_of_blind(row.get("method")), *map(row.get, SYSTEM)): row
        for row in shown
        if method_of_blind(row.get("method"))
    }
    unpretrained = {
        (row.get("method"), contest.pretrained[row["model"]], *map(row.get, PLACE)): row
        for row in means
        if row["model"] in contest.pretrained
    }
    controls: dict[tuple, list[dict]] = {}
    other: dict | None
    for row in means:
        if row.get("method") in CONTROL_METHODS:
            controls.setdefault(tuple(map(row.get, PLACE)), []).append(row)
    found: list[dict] = []
    for row in means:
        method = row.get("method")
        is_beside = method in CONTROL_METHODS or method_of_blind(method)
        if is_beside or row["model"] in ceilings():
            continue
        beside = list(controls.get(tuple(map(row.get, PLACE)), []))
        if method == "released":
            same = ("source", "split", "slice", "metric", "limit", "n")
            beside += [
                other
                for of_place in controls.values()
                for other in of_place
                if all(other.get(name) == row.get(name) for name in same)
            ]
        of_kind: dict[str | None, list[dict]] = {}
        for other in beside:
            of_kind.setdefault(contest.kind_of(other, sees_all(method)), []).append(other)
        others: dict[str, dict | None] = {
            kind: contest.chosen(of_kind.get(kind, [])) for kind in OF_CONTROLS
        }
        others[SOLVER] = contest.best(of_kind.get(SOLVER, []))
        others[MAXIMUM] = contest.best(sum((of_kind.get(kind, []) for kind in OF_CONTROLS), []))
        others[BLIND] = blind.get((method, *map(row.get, SYSTEM)))
        others[UNPRETRAINED] = unpretrained.get((method, row["model"], *map(row.get, PLACE)))
        found += [compared(row, other, kind, contest) for kind, other in others.items() if other]
    return found + [
        compared(row, other, BLIND, contest)
        for row in shown
        if row.get("wording") and (other := blind.get((row.get("method"), *map(row.get, SYSTEM))))
    ]


def comparisons_beside(metrics: Path) -> Path:
    """Return the file of comparisons beside a file of metrics: comparisons.parquet beside
    metrics.parquet, mctaco.comparisons.parquet beside mctaco.parquet.
    """
    name = "comparisons" if metrics.stem == "metrics" else f"{metrics.stem}.comparisons"
    return metrics.with_name(f"{name}.parquet")
