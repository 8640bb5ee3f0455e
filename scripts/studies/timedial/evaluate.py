"""Measure TimeDial (Qin et al. 2021, section 5): 2-best accuracy,
and how often a wrong option outranks a right one.

  two_best_accuracy  for instances with two right and two wrong options (the paper's set): the share
                     with both right options above both wrong ones. A tie counts as wrong, because
                     the model made no choice.
  one_best_accuracy  the same for instances with one right option (the released extras, which the
                     paper leaves out)
  contrast_two_best_accuracy, contrast_one_best_accuracy
                     the share of contrast pairs (data option `contrast`) with a right instance and
                     a right counterpart
  joined_two_best_accuracy
                     the same as two_best_accuracy where each option shares its score with the
                     option of its instance that is nearest in size. Right options are neighbours,
                     which some controls use; here every system uses it
  wrong_above_right  the share of wrong options that score as high as a right option of their
                     instance, or higher; by the rule that made them (phrase, numeral, open_ended;
                     all: every rule). n counts wrong options. Figure 2: `ranking those negative
                     options over the true correct options`

Slices are
  kind=date           kind of the masked span
  time=clock          kind of time that both right options name (scripts/text/sizes.py)
  form=differs, same  whether both right options have a part of their form in common, and no wrong
                      option has it: first word, plural, hyphen, capital, "ago" or "old". The words
                      around the gap may require this form (tallies.py)
  has_numeral=true    whether the span contains a numeral
  turns=7-10          length of the dialog
  leak=near, none     instances that still share words with a dialog of the training corpus, and the
                      other instances
  contrast=original, counterpart
                      halves of contrast pairs
  rule=phrase         rule, for wrong_above_right only

Groups are dialogs. Dialogs that exchanged options (data option `choices`) answer each other: a rule
that chooses the same two options in both is right in exactly one. So all dialogs that are linked by
exchanges are one group. A control's tie counts as the expected value over all random orders. If all
options tie, this is 1/6 for two right options of four, and 1/3 for one right option of three.

`source` is the training source, `measured_on` the source of the instances. `domain` is one of
  in, out       the training source is in, or out of, the domain of the instances
  contaminated  the training data includes the dialogs of the instances
  zero_shot     the model did not learn
  few_shot      the model saw a few examples
  external      external predictions

External predictions give a score of every candidate, or a label right or wrong. A line of JSON may
also have the scores of one instance's options; higher is better:

    {"id": 1, "scores": {"forty-eight hours": -3.2, "50 hours": -4.1, "two hours": -2.9,
                         "12 days": -7.0}}
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.counterparts import contrast_pairs
from scripts.running.program import UserError
from scripts.studies.timedial.options import Options
from scripts.studies.timedial.pool import joined
from scripts.studies.timedial.tables import CLOZE
from scripts.measure.bootstrap import resampling
from scripts.measure.experiment import EXTERNAL, read_examples, replicates_of
from scripts.measure.filtered import Filter
from scripts.measure.answered import Answered
from scripts.measure.people import System, people_rows
from scripts.measure.study import Part, Study, run_evaluation
from scripts.measure.tally import Tally, metric_rows, metrics_schema, share, sums_by_group
from scripts.measure.ranking import checked, outranked, outranked_by_chance, scores_of
from scripts.studies.timedial.tallies import ACCURACY, joined_tallies, tallies_of

TEXT, COUNT = pa.string(), pa.int64()
SCHEMA = metrics_schema(Options, {"measured_on": TEXT, "domain": TEXT, "train_examples": COUNT})
PRINTED = {"rule=": ("wrong_above_right",)}  # metrics of slices to print for external predictions
ANSWERED = Answered(
    "timedial",
    ("example_id", "dialog_id", "context", "candidate"),
    (["wrong", "right"],),
    scored=True,
)


# ---- the paper's metrics


def rows_of(
    options: pd.DataFrame, part: Part, resamples: int, people: pd.DataFrame | None
) -> list[dict]:
    options = options.assign(instance=pd.factorize(options["instance_id"])[0])
    label, instance, rows = options["label"].to_numpy(), options["instance"].to_numpy(), []
    first = options.drop_duplicates("instance")
    group, names = pd.factorize(first["group_id"])
    drawn = resampling(names, resamples)
    metric, found = ACCURACY[int(label[instance == 0].sum())], {}
    for (model, method), runs in part.systems.items():
        scored = [scores_of(run, part.split, options) for run in runs]
        learns = scored[0][1]
        domain = "zero_shot"
        if learns:
            domain = domain_of(part)
        elif method == EXTERNAL:
            domain = EXTERNAL
        elif runs[0].facts.get("shots"):
            domain = "few_shot"
        same = {
            "model": model,
            "method": method,
            "domain": domain,
            "train_examples": runs[0].facts["train_examples"] if learns else None,
        }
        # a control with few features ties often; the order of tied options is no achievement
        how = outranked_by_chance if method == "control" else outranked
        outcomes = [how(score, label, instance) for score, _ in scored]
        found[model, method] = System(
            {metric: np.stack([ranked for ranked, _ in outcomes])}, replicates_of(runs)
        )
        tallies = tallies_of(options, outcomes) + contrast_tallies(first, metric, outcomes)
        if metric == ACCURACY[2]:
            tallies += joined_tallies(options, [score for score, _ in scored], how)
        tallies = [by_group(tally, group) for tally in tallies]
        rows += [same | row for row in metric_rows(tallies, replicates_of(runs), drawn)]
    rows += people_rows(
        people,
        options.assign(unit=options["instance_id"]),
        lambda part, chosen: {metric: people_values(part, chosen)},
        found,
        2,
        resamples,
    )
    return [{"measured_on": part.entry.get("measured_on", part.source)} | row for row in rows]


def by_group(tally: Tally, group: np.ndarray) -> Tally:
    """Return a tally by instance as a tally by group. group: (instances,) integers from 0."""
    many = group.max() + 1
    counts = np.bincount(group, tally.counts, many).astype(int)
    return replace(tally, sums=sums_by_group([*tally.sums], group, many), counts=counts)


def domain_of(part: Part) -> str:
    """Return the training source's domain relative to the instances: in, out or contaminated.

    Raises UserError if the source's entry gives no domain.
    """
    if part.options.get("contaminated"):
        return "contaminated"
    if (domain := part.entry.get("domain")) not in ("in", "out"):
        raise UserError(
            f"resources/sources.yaml: {part.source} has no domain, in or out of the domain of "
            f"{part.entry.get('measured_on', part.source)}; write `domain: in` or `domain: out`"
        )
    return domain


def read_options(file: Path) -> pd.DataFrame:
    """Return the options of a split (schema cloze), with `instance`, the number of their instance,
    and `group_id`. A split may be empty (no extras).
    """
    options = read_examples(file, CLOZE, 2, missing=("rule", "kind", "leak"), empty=True)
    return options if options.empty else checked(options, file).assign(group_id=groups_of)


def groups_of(options: pd.DataFrame) -> pd.Series:
    """Return (n,) the group of each option: its dialog. Dialogs that are linked by exchanged
    options have the name of the first of them.
    """
    dialog = options["dialog_id"]
    if not (options["rule"] == "exchanged").any():
        return dialog
    texts = options.groupby("instance_id")["candidate"].transform(lambda of: "\n".join(sorted(of)))
    return dialog.groupby(joined(dialog, texts)).transform("first")


# ---- beside the paper: contrast pairs, people


def contrast_tallies(
    instances: pd.DataFrame, metric: str, outcomes: list[tuple[np.ndarray, np.ndarray]]
) -> list[Tally]:
    """Return `contrast_<metric>` at the original of each contrast pair, and the metric of originals
    and of counterparts; empty without contrast pairs. instances, outcomes: as for tallies_of().
    """
    original, counterpart = contrast_pairs(instances["instance_id"]).T
    if not len(original):
        return []
    right, none = np.stack([right for right, _ in outcomes]), np.zeros(len(instances), int)
    both, tallies = np.zeros_like(right), []
    both[:, original] = right[:, original] * right[:, counterpart]
    for name, title, values, places in (
        ("all", f"contrast_{metric}", both, original),
        ("contrast=original", metric, right, original),
        ("contrast=counterpart", metric, right, counterpart),
    ):
        counts = none.copy()
        counts[places] = 1
        tallies.append(Tally(name, {title: share}, values * counts, counts))
    return tallies


def people_values(options: pd.DataFrame, chosen: np.ndarray) -> np.ndarray:
    """Return (instances,) 1 if a person chose the right options and no others, else 0."""
    return outranked(chosen, options["label"].to_numpy(), pd.factorize(options["instance_id"])[0])[
        0
    ]


STUDY = Study(
    ANSWERED,
    SCHEMA,
    read_options,
    rows_of,
    unit="instance_id",
    printed=PRINTED,
    filters=Filter("instance_id", ("group_id",), chooses=True),
)


if __name__ == "__main__":
    run_evaluation(__doc__, STUDY)
