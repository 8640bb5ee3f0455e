"""The ladder of controls: what reaches how far, rung by rung, and a model's distance to each rung.

A rung says how much a method brings along. The lowest comes first:

chance       the most frequent label, or a random one
blind        the same model without the text that it should read
rules        declared scores; nothing is learnt
words        learnt from words and numbers of the training split, without pretraining
texts        knowledge of texts: word vectors, latent semantic analysis, counts of other texts
unpretrained the same network without pretraining, trained in the same way

A control names its rung in resources/models.yaml. The best control of a rung is the one with the
highest value on the training split, cross-fitted (`training_value` of its run.json). The test takes
no part. Controls that see all candidates of a question and those that see one are chosen apart,
because TimeDial's training split has two candidates and its test four. Of these two the higher one
on the test stands, which errs to the model's disadvantage.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scripts.measure.intervals import NUMBER, SHARE, difference
from scripts.data.declared import ceilings, method_of_blind, sees_all

CHANCE, BLIND, RULES, WORDS, TEXTS, UNPRETRAINED = RUNGS = (
    "chance",
    "blind",
    "rules",
    "words",
    "texts",
    "unpretrained",
)
OWN = (BLIND, UNPRETRAINED)  # rungs of one model, not of all models of a dataset
CONTROL_METHODS = {"control", "baseline", "majority"}
LOWER = "lower"
PLACE = (
    "source",
    "dataset",
    "split",
    "slice",
    "scoring",
    "metric",
)  # systems are compared within these
SYSTEM = (*PLACE, "model", "seed", "wording")  # a system and its blind control share these


class Ladder(NamedTuple):
    """Where the models of an experiment stand.

    rungs           the rung of each control, by its name
    seeing_all      the controls that see all candidates of a question together
    pretrained      the pretrained model of each model without pretraining, by name
    training_values the value of each control on the training split, by source, dataset and name;
                    a control that learnt from too few groups has none, nor one of left_out
    metrics         the metrics that the study declares; those with `better` are compared
    """

    rungs: Mapping[str, str]
    seeing_all: frozenset[str] = frozenset()
    pretrained: Mapping[str, str] = {}
    training_values: Mapping[tuple[str, str, str], float] = {}
    metrics: Mapping[str, Mapping] = {}

    def rung_of(self, row: Mapping) -> str | None:
        """Return the rung of a row of metrics; None for a model, and for people."""
        if row.get("method") == "control":
            return self.rungs[row["model"]]
        if row.get("method") in CONTROL_METHODS:
            return CHANCE if row["model"] not in ceilings() else None
        if method_of_blind(row.get("method")):
            return BLIND
        return UNPRETRAINED if row["model"] in self.pretrained else None

    def chosen(self, rows: Iterable[dict]) -> dict | None:
        """Return the row of a rung's best control; None without rows."""
        known: dict[bool, list[tuple[float, dict]]] = {}
        kept = []
        for row in rows:
            value = self.training_values.get((row["source"], row["dataset"], row["model"]))
            if value is None:
                kept.append(row)
            else:
                known.setdefault(row["model"] in self.seeing_all, []).append((value, row))
        kept += [max(of, key=lambda one: one[0])[1] for of in known.values()]
        return self.best(kept)

    def best(self, rows: Iterable[dict]) -> dict | None:
        """Return the row with the best value of a metric; None without rows."""
        return max(rows, key=lambda row: sign(self.metrics, row) * row["value"], default=None)


def with_rungs(rows: list[dict], ladder: Ladder) -> list[dict]:
    """Return the rows of metrics with their rung in the column `rung`."""
    return [row | {"rung": ladder.rung_of(row)} for row in rows]


def sign(metrics: Mapping[str, Mapping], row: Mapping) -> int:
    """Return -1 for a row of a metric of which a lower value is better, else 1."""
    return -1 if metrics.get(row["metric"], {}).get("better") == LOWER else 1


def bounds_of(metrics: Mapping[str, Mapping], row: Mapping) -> tuple[float, float]:
    """Return the possible values of the metric of a row."""
    return NUMBER if metrics.get(row["metric"], {}).get("unit") == "number" else SHARE


def above(row: dict, other: dict, what: str, metrics: Mapping[str, Mapping] = {}) -> dict:
    """Return the row `<metric>_above_<what>`: by how much a row of metrics is better than another,
    paired. `control` and `rung` are of the other row. A blind model's name is that of its method.
    """
    rung = other.get("rung")
    pair = (row, other) if sign(metrics, row) > 0 else (other, row)
    return (
        row
        | difference(*pair, bounds_of(metrics, row))._asdict()
        | {"metric": f"{row['metric']}_above_{what}", "rung": rung}
        | {"control": other["method"] if rung == BLIND else other["model"]}
        | {"draws": None, "sd": None, "sd_beyond_groups": None}
    )


def distances(rows: list[dict], ladder: Ladder) -> list[dict]:
    """Return how far each model is above each rung, paired over the groups: rows
    `accuracy_above_words`, … for the rungs that were measured on the same split of the same
    dataset. `accuracy_above_control` is the distance to the control of any rung with the best
    value on the test, so it errs to the model's disadvantage. Slices without draws have no rows.

    A model that scores one candidate at a time cannot compare the candidates. If the best control
    sees all of them, `accuracy_above_same_view` is the distance to the best one that does not.
    Released predictions belong to no dataset here, so they are compared with the controls of all
    datasets. Each wording of a model is compared with the blind model under the same wording.

    rows: with `rung`. Metrics without a direction (`better` of study.yaml) are not compared.
    """
    compared = {name for name, entry in ladder.metrics.items() if "better" in entry}
    shown = [row for row in rows if row.get("draws") is not None and row["metric"] in compared]
    means = [row for row in shown if row["seed"] is None]
    blind = {
        (method_of_blind(row.get("method")), *map(row.get, SYSTEM)): row
        for row in shown
        if row["rung"] == BLIND
    }
    unpretrained = {
        (row.get("method"), ladder.pretrained[row["model"]], *map(row.get, PLACE)): row
        for row in means
        if row["rung"] == UNPRETRAINED
    }
    controls: dict[tuple, list[dict]] = {}
    for row in means:
        if row["rung"] not in (None, *OWN):
            controls.setdefault(tuple(map(row.get, PLACE)), []).append(row)
    found = []
    for row in means:
        if row["rung"] not in (None, UNPRETRAINED) or row["model"] in ceilings():
            continue
        beside = list(controls.get(tuple(map(row.get, PLACE)), []))
        if row.get("method") == "released":
            same = ("source", "split", "slice", "metric", "limit", "n")
            beside += [
                other
                for of_place in controls.values()
                for other in of_place
                if all(other.get(name) == row.get(name) for name in same)
            ]
        beside += filter(
            None,
            [
                blind.get((row.get("method"), *map(row.get, SYSTEM))),
                unpretrained.get((row.get("method"), row["model"], *map(row.get, PLACE))),
            ],
        )
        best = {
            rung: ladder.chosen(other for other in beside if other["rung"] == rung)
            for rung in RUNGS
        }
        best["control"] = of_all = ladder.best(beside)
        if of_all and of_all["model"] in ladder.seeing_all and not sees_all(row.get("method")):
            best["same_view"] = ladder.best(
                one for one in beside if one["model"] not in ladder.seeing_all
            )
        found += [above(row, other, what, ladder.metrics) for what, other in best.items() if other]
    return found + [
        above(row, other, BLIND, ladder.metrics)
        for row in shown
        if row.get("wording") and (other := blind.get((row.get("method"), *map(row.get, SYSTEM))))
    ]
