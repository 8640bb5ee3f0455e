"""What the figures and tables of timedial share: its metrics by system, and what the paper prints.

A system is a model of resources/models.yaml in one paradigm, which learnt in the domain of the
challenge, out of it, or not at all (zero-shot), or a control. The published numbers are read from
published.csv beside sources.yaml; one stands only beside the challenge that its `setting` names
(measured_on).
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.studies.timedial.evaluate import SCHEMA
from scripts.publish.comparison import DIFFERENCE
from scripts.publish.marks import limit_if_several
from scripts.publish.names import (
    experiment_if_needed, model_title, source_title, study_metrics, without_people)
from scripts.publish.published import claims_beside, with_shares

PARADIGMS = {"control": "controls: no understanding of time", "classify": "classification",
             "classify_blind": "control: the candidate alone, classified", "fill": "mask filling",
             "generate": "generation",
             "pseudo_log_likelihood": "pseudo-log-likelihood",
             "likelihood": "likelihood of candidate and what follows",
             "likelihood_blind": "control: the candidate without its dialog",
             "likelihood_token": "likelihood of candidate and what follows, per token",
             "likelihood_candidate": "likelihood of the candidate, per token",
             "likelihood_candidate_blind": "control: the candidate without its dialog, per token",
             "external": "predictions from elsewhere"}
DOMAINS = {"zero_shot": "zero-shot", "few_shot": "few-shot", "out": "out-of-domain",
           "in": "in-domain", "contaminated": "in-domain, contaminated", "external": ""}
NOT_LEARNT = ["zero_shot", "external"]  # what no training data of a study changes
SCOPES = ["target", "local", "full"]  # from little context to much
BLIND = ["random", "most_frequent", "second_text"]  # controls that never see the dialog
RULES = {"phrase": "phrase matching", "numeral": "numeral matching", "open_ended": "open-ended"}
SETTINGS = {"negatives": "{:.0f} negatives", "negatives_from": "negatives from {}",
            "negatives_of": "negatives of {}",
            "negatives_by": "negatives by {}", "negative_seed": "draw {:.0f}",
            "max_dialogs": "{:,.0f} dialogs"}
SYSTEM = ["measured_on", "paradigm", "title", "domain"]
POINTS = ["origin", "measured_on", "split", "paradigm", "title", "domain", "model", "source",
          "context_scope", "experiment", "train_examples", "seed", "wording", "slice", "metric",
          "value", "sd", "ci_low", "ci_high", "n", "groups", "sample", "limit"]


def details(trained: pd.DataFrame, sources: dict) -> pd.Series:
    """`, 5 negatives`: the settings of the data in which the systems of one challenge differ, and
    what they learnt from.
    """
    texts = pd.Series("", index=trained.index)
    learnt = ~trained["domain"].isin(NOT_LEARNT)
    for _, challenge in trained[learnt].groupby("measured_on"):
        for column, text in SETTINGS.items():
            if challenge[column].nunique(dropna=False) > 1:
                texts[challenge.index] += [
                    ", all dialogs" if pd.isna(value) else
                    ", " + text.format(value.replace("_", " ") if isinstance(value, str) else value)
                    for value in challenge[column]]
        if (challenge.groupby("domain")["source"].nunique() > 1).any():
            texts[challenge.index] += [f", {source_title(name, sources)}"
                                       for name in challenge["source"]]
    return texts


def timedial_metrics(path: Path, models: dict, sources: dict) -> pd.DataFrame:
    """The timedial rows of a metrics table, with columns `paradigm`, `title` (of the model) and
    `origin`.

    Real data first, in the order of PARADIGMS, then models as in models.yaml, then DOMAINS. What
    two experiments share stands once; where they measured the same setting differently, the title
    carries the experiment's name. What did not learn, and controls, stand once for each challenge
    and context: as measured beside the most dialogs to learn from.
    """
    metrics = without_people(study_metrics(path, "timedial", SCHEMA))
    metrics = metrics.astype({"seed": float, "limit": float})
    titles = metrics["model"].map(lambda name: model_title(name, models))
    metrics = metrics.assign(paradigm=metrics["method"].str.removesuffix("_zero_shot"),
                             title=titles + limit_if_several(metrics), origin="here")
    point = ["measured_on", "split", "paradigm", "model", "domain", "context_scope", "limit",
             "slice", "metric", "seed"]
    learnt = ~metrics["domain"].isin(NOT_LEARNT) & (metrics["paradigm"] != "control")
    most_first = metrics[~learnt].sort_values("max_dialogs", ascending=False, na_position="first",
                                              kind="stable")
    trained = metrics[learnt].copy()
    trained["title"] += details(trained, sources)
    trained["title"] += experiment_if_needed(trained, [*point, "source", *SETTINGS])
    rows = pd.concat([most_first.drop_duplicates([*point, "wording"]), trained], ignore_index=True)
    order = rows[["sample", "measured_on", "split", "paradigm", "model", "title", "domain",
                  "context_scope", "slice", "metric", "seed"]].copy()
    for name, values in (("paradigm", PARADIGMS), ("model", models), ("domain", DOMAINS),
                         ("context_scope", SCOPES)):
        places = {value: place for place, value in enumerate(values)}
        order[name] = order[name].map(places).fillna(len(values))
    return rows.loc[order.sort_values(list(order), kind="stable").index].reset_index(drop=True)


def over_seeds(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows that are means over the seeds."""
    return metrics[metrics["seed"].isna()]


def widest(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows of the most context that each system was measured with: full, where it was."""
    scope = metrics["context_scope"].map(SCOPES.index)
    return metrics[scope == scope.groupby([metrics[name] for name in SYSTEM]).transform("max")]


def with_best_control(points: pd.DataFrame, metrics: pd.DataFrame,
                      also: tuple[str, ...] = ()) -> pd.DataFrame:
    """The points of a figure without those of controls, but for these and the one with the highest
    2-best accuracy of each challenge that has not read its dialogs.
    """
    rows = widest(over_seeds(metrics))
    rows = rows[(rows["paradigm"] == "control") & (rows["metric"] == "two_best_accuracy")
                & (rows["slice"] == "all")]
    rows = rows[rows["domain"] != "contaminated"]
    best = rows.loc[rows.groupby("measured_on")["value"].idxmax(), SYSTEM]
    is_best = pd.MultiIndex.from_frame(points[SYSTEM]).isin(pd.MultiIndex.from_frame(best))
    return points[(points["paradigm"] != "control") | is_best | points["model"].isin(also)]


def label_of(row: Mapping) -> str:
    """A system within its paradigm: `BERT-base, in-domain`."""
    no_domain = ["external", "zero_shot"] if row["paradigm"] == "control" else ["external"]
    return row["title"] + ("" if row["domain"] in no_domain else f", {DOMAINS[row['domain']]}")


def context_told(points: pd.DataFrame) -> str:
    """What the systems of a panel saw of the dialog, in words."""
    full = points.loc[points["paradigm"] != "control", "context_scope"].eq("full").all()
    return "full dialog context" if full else "each with the most context it was measured with"


def paradigm_title(name: str) -> str:
    """A paradigm's name in figures."""
    return PARADIGMS.get(name, name.replace("_", " "))


def published_beside(sources: Path) -> pd.DataFrame:
    """What the paper prints of systems, from published.csv beside sources.yaml; values as shares
    from 0 to 1.

    Columns: table, measured_on, paradigm, model, title (the paper's name of the model), domain,
    context_scope, slice, metric, value. The changes of table 7 are added to the value with the
    target context.
    """
    claims = claims_beside(sources, "timedial",
                           ["measured_on", "method", "domain", "context_scope", "slice"])
    claims = with_shares(claims[claims["metric"].isin(["two_best_accuracy", "wrong_above_right"])],
                         sources)
    claims = claims.fillna({"measured_on": "", "method": "", "domain": "", "context_scope": "full",
                            "slice": "all"})
    zero_shot = claims["method"].str.endswith("_zero_shot")
    table = claims.assign(
        paradigm=claims["method"].str.removesuffix("_zero_shot"),
        domain=claims["domain"].mask(zero_shot, "zero_shot"),
        title=claims["row"].str.split(",").str[0], origin="published", sample=False)
    is_change = claims["unit"].str.startswith(DIFFERENCE)
    key = ["table", "measured_on", "paradigm", "model", "domain"]
    start = table[~is_change & (table["context_scope"] == "target")].set_index(key)["value"]
    base = table[key].merge(start.reset_index(), how="left")["value"].to_numpy()
    table["value"] += np.where(is_change, base, 0)
    return table.drop(columns="row").reset_index(drop=True)


def published_on(points: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The published numbers on the challenges of the points; none beside sample data."""
    real = points.loc[~points["sample"].astype(bool), "measured_on"]
    return published[published["measured_on"].isin(real)]


def human(published: pd.DataFrame, measured_on: str) -> float | None:
    """What people reach on a challenge, from 0 to 1, by table 5."""
    people = published[(published["model"] == "human") & (published["measured_on"] == measured_on)]
    return float(people["value"].iloc[0]) if len(people) else None


def beside_paper(points: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The points of one challenge and the paper's numbers on it, in the order of the page, with a
    column `row`.

    A number of the paper stands in the row of the same system; of systems that were not run, in a
    row of its own, last in their paradigm.
    """
    key = ["paradigm", "model", "domain"]
    points = points.assign(row=points["paradigm"] + "|" + points["title"] + "|" + points["domain"])
    paper = published[published["paradigm"].isin(PARADIGMS)]
    paper = paper.assign(order=paper["domain"].map(list(DOMAINS).index))
    paper = paper.sort_values(["model", "order"], kind="stable")
    paper = paper.merge(points.drop_duplicates(key)[[*key, "row"]], how="left")
    alone = paper["paradigm"] + "|" + paper["model"] + "|" + paper["domain"] + " (paper only)"
    paper["row"] = paper["row"].fillna(alone)
    both = pd.concat([points, paper], ignore_index=True) if len(paper) else points
    names = [*PARADIGMS, *(name for name in both["paradigm"].unique() if name not in PARADIGMS)]
    return both.sort_values("paradigm", key=lambda column: column.map(names.index), kind="stable",
                            ignore_index=True)


def drawn(points: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The points of a figure as they stand in its CSV: measured here, then published on the
    challenges that are no sample.
    """
    published = published_on(points, published)
    parts = [points, published] if len(published) else [points]
    return pd.concat([part.reindex(columns=POINTS).astype(object) for part in parts],
                     ignore_index=True)
