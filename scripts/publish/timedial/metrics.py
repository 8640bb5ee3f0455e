"""What the figures and tables of timedial share: its metrics by system, and what the paper prints.

A system is a model of resources/models.yaml in one paradigm, which learnt in the domain of the challenge, out of it, or
not at all (zero-shot), or a control. The published numbers are read from published.csv beside sources.yaml;
one stands only beside the challenge that its `setting` names (measured_on).
"""

from pathlib import Path

import numpy as np
import pandas as pd

from scripts.common.program import UserError
from scripts.common.tables import read_metrics
from scripts.evaluate.timedial import SCHEMA
from scripts.publish.comparison import DIFFERENCE, settings_of
from scripts.publish.marks import limit_if_several
from scripts.publish.names import model_title, without_people

PARADIGMS = {"control": "controls: no understanding of time", "classify": "classification",
             "classify_blind": "control: the candidate alone, classified", "fill": "mask filling", "generate": "generation",
             "pseudo_log_likelihood": "pseudo-log-likelihood", "likelihood": "likelihood of candidate and what follows",
             "likelihood_blind": "control: the candidate without its dialog",
             "likelihood_token": "likelihood of candidate and what follows, per token",
             "likelihood_candidate": "likelihood of the candidate, per token",
             "likelihood_candidate_blind": "control: the candidate without its dialog, per token", "external": "predictions from elsewhere"}
DOMAINS = {"zero_shot": "zero-shot", "few_shot": "few-shot", "out": "out-of-domain", "in": "in-domain", "contaminated": "in-domain, contaminated", "external": ""}
NOT_LEARNT = ["zero_shot", "external"]  # what no training data of a study changes
SCOPES = ["target", "local", "full"]  # from little context to much
BLIND = ["random", "most_frequent", "second_text"]  # controls that never see the dialog
RULES = {"phrase": "phrase matching", "numeral": "numeral matching", "open_ended": "open-ended"}
SETTINGS = {"negatives": "{:.0f} negatives", "negatives_from": "negatives from {}", "negatives_of": "negatives of {}",
            "negatives_by": "negatives by {}", "negative_seed": "draw {:.0f}", "max_dialogs": "{:,.0f} dialogs"}
SYSTEM = ["measured_on", "paradigm", "title", "domain"]
POINTS = ["origin", "measured_on", "split", "paradigm", "title", "domain", "model", "source", "context_scope", "experiment",
          "train_examples", "seed", "wording", "slice", "metric", "value", "sd", "ci_low", "ci_high", "n", "groups", "sample", "limit"]


def details(trained: pd.DataFrame, sources: dict) -> pd.Series:
    """`, 5 negatives`: the settings of the data in which the systems of one challenge differ, and what they learnt from."""
    texts = pd.Series("", index=trained.index)
    learnt = ~trained["domain"].isin(NOT_LEARNT)
    for _, challenge in trained[learnt].groupby("measured_on"):
        for column, text in SETTINGS.items():
            if challenge[column].nunique(dropna=False) > 1:
                told = challenge[column].map(lambda value, text=text: f", {text.format(str(value).replace('_', ' '))}"
                                             if isinstance(value, str) else ", " + text.format(value), na_action="ignore")
                texts[challenge.index] += told.fillna(", all dialogs")
        if (challenge.groupby("domain")["source"].nunique() > 1).any():
            texts[challenge.index] += challenge["source"].map(lambda name: f", {title_of(name, sources)}")
    return texts


def timedial_metrics(path: Path, models: dict, sources: dict) -> pd.DataFrame:
    """The timedial rows of a metrics table, with columns `paradigm`, `title` (of the model) and `origin`.

    Real data first, in the order of PARADIGMS, then models as in models.yaml, then DOMAINS. What two experiments share
    stands once; where they measured the same setting differently, the title carries the experiment's name. What did not
    learn, and controls, stand once for each challenge and context: as measured beside the most dialogs to learn from.
    """
    metrics = read_metrics(path, SCHEMA).to_pandas()
    metrics = without_people(metrics[metrics["study"] == "timedial"]).copy()
    if metrics.empty:
        raise UserError(f"{path}: no rows of study timedial; run an experiment of it before drawing its figures")
    metrics["paradigm"] = metrics["method"].str.removesuffix("_zero_shot")
    metrics["told"] = limit_if_several(metrics)
    point = ["measured_on", "split", "paradigm", "model", "domain", "context_scope", "limit", "slice", "metric"]
    learnt = ~metrics["domain"].isin(NOT_LEARNT) & (metrics["paradigm"] != "control")
    most_first = metrics[~learnt].sort_values("max_dialogs", ascending=False, na_position="first", kind="stable")
    fixed = most_first.drop_duplicates([*point, "seed", "wording"])
    trained = metrics[learnt].drop_duplicates([name for name in metrics if name != "experiment"])
    point += ["source", *SETTINGS, "seed"]
    twice = trained[trained["seed"].isna()].groupby(point, dropna=False)["experiment"].transform("size") > 1
    ambiguous = set(trained.loc[twice[twice].index, "model"])
    told = trained["experiment"].where(trained["model"].isin(ambiguous), "").map(lambda name: name and f" ({name})")
    trained = trained.assign(told=trained["told"] + details(trained, sources) + told)
    rows = pd.concat([part.astype({"seed": float, "limit": float}) for part in (fixed, trained)], ignore_index=True)
    rows["title"] = rows["model"].map(lambda name: model_title(name, models)) + rows["told"]
    place = {name: number for number, name in enumerate(models)}
    order = pd.DataFrame({
        "sample": rows["sample"], "measured_on": rows["measured_on"], "split": rows["split"],
        "paradigm": rows["paradigm"].map({name: number for number, name in enumerate(PARADIGMS)}).fillna(len(PARADIGMS)),
        "model": rows["model"].map(place).fillna(len(place)), "title": rows["title"],
        "domain": rows["domain"].map(list(DOMAINS).index), "scope": rows["context_scope"].map(SCOPES.index),
        "slice": rows["slice"], "metric": rows["metric"], "seed": rows["seed"]})
    rows = rows.loc[order.sort_values(list(order), kind="stable").index].reset_index(drop=True)
    return rows.assign(origin="here").drop(columns="told")


def over_seeds(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows that are means over the seeds."""
    return metrics[metrics["seed"].isna()]


def widest(metrics: pd.DataFrame) -> pd.DataFrame:
    """The rows of the most context that each system was measured with: full, where it was."""
    scope = metrics["context_scope"].map(SCOPES.index)
    return metrics[scope == scope.groupby([metrics[name] for name in SYSTEM]).transform("max")]


def with_best_control(points: pd.DataFrame, metrics: pd.DataFrame, also: tuple[str, ...] = ()) -> pd.DataFrame:
    """The points of a figure without those of controls, but for these and the one with the highest 2-best accuracy of each challenge that
    has not read its dialogs."""
    rows = widest(over_seeds(metrics))
    rows = rows[(rows["paradigm"] == "control") & (rows["metric"] == "two_best_accuracy") & (rows["slice"] == "all")]
    rows = rows[rows["domain"] != "contaminated"]
    best = rows.loc[rows.groupby("measured_on")["value"].idxmax(), SYSTEM]
    is_best = pd.MultiIndex.from_frame(points[SYSTEM]).isin(pd.MultiIndex.from_frame(best))
    return points[(points["paradigm"] != "control") | is_best | points["model"].isin(also)]


def label_of(row) -> str:
    """A system within its paradigm: `BERT-base, in-domain`; with less than the full dialog, its context too."""
    plain = row["domain"] == "external" or row["paradigm"] == "control" and row["domain"] == "zero_shot"
    domain = "" if plain else f", {DOMAINS[row['domain']]}"
    less = row["paradigm"] != "control" and row["context_scope"] != "full"
    return row["title"] + domain + (f", {row['context_scope']} context" if less else "")


def context_told(points: pd.DataFrame) -> str:
    """What the systems of a panel saw of the dialog, in words."""
    full = points.loc[points["paradigm"] != "control", "context_scope"].eq("full").all()
    return "full dialog context" if full else "each with the most context it was measured with"


def paradigm_title(name: str) -> str:
    """A paradigm's name in figures."""
    return PARADIGMS.get(name, name.replace("_", " "))


def title_of(source: str, sources: dict) -> str:
    """The title of a corpus."""
    return sources.get(source, {}).get("title", source)


def claims_beside(sources: Path) -> pd.DataFrame:
    """The rows about timedial of the published.csv beside sources.yaml, all text. Raises UserError when it is missing."""
    file = sources.parent / "published.csv"
    try:
        claims = pd.read_csv(file, dtype=str, keep_default_na=False)
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; the published numbers belong there, beside sources.yaml") from None
    return claims[claims["study"] == "timedial"]


def published_beside(sources: Path) -> pd.DataFrame:
    """What the paper prints of systems, from published.csv beside sources.yaml; values as shares from 0 to 1.

    Columns: table, measured_on, paradigm, model, title (the paper's name of the model), domain, context_scope, slice,
    metric, value. The changes of table 7 are added to the value with the target context.
    """
    claims = claims_beside(sources)
    claims = claims[claims["metric"].isin(["two_best_accuracy", "wrong_above_right"])]
    value = pd.to_numeric(claims["value"], errors="coerce")
    if value.isna().any():
        raise UserError(f"{sources.parent / 'published.csv'}: row {value.index[value.isna()][0] + 2}: value is not a number; write "
                        "43.1 for 43.1 %")
    settings = claims["setting"].map(settings_of)
    method = settings.map(lambda parts: parts.get("method", ""))
    table = pd.DataFrame({
        "table": claims["table"], "measured_on": settings.map(lambda parts: parts.get("measured_on", "")),
        "paradigm": method.str.removesuffix("_zero_shot"), "model": claims["model"],
        "title": claims["row"].str.split(",").str[0],
        "domain": settings.map(lambda parts: parts.get("domain", "")).mask(method.str.endswith("_zero_shot"), "zero_shot"),
        "context_scope": settings.map(lambda parts: parts.get("context_scope", "full")),
        "slice": settings.map(lambda parts: parts.get("slice", "all")), "metric": claims["metric"], "value": value / 100,
        "change": claims["unit"].str.startswith(DIFFERENCE),
    }).reset_index(drop=True)
    key = ["table", "measured_on", "paradigm", "model", "domain"]
    start = table[~table["change"] & (table["context_scope"] == "target")].set_index(key)["value"]
    base = start.reindex(pd.MultiIndex.from_frame(table[key])).to_numpy() if len(start) else np.nan
    table["value"] += np.where(table["change"], base, 0)
    return table.drop(columns="change").assign(origin="published", sample=False)


def same_system(published: pd.DataFrame, row) -> pd.DataFrame:
    """The published rows of a system (its model, paradigm and domain, on its challenge)."""
    keys = ["measured_on", "paradigm", "model", "domain"]
    return published[(published[keys] == [row[key] for key in keys]).all(axis=1)]


def human(published: pd.DataFrame, measured_on: str) -> float | None:
    """What people reach on a challenge, from 0 to 1, by table 5."""
    people = published[(published["model"] == "human") & (published["measured_on"] == measured_on)]
    return float(people["value"].iloc[0]) if len(people) else None


def systems_of(points: pd.DataFrame, published: pd.DataFrame) -> list[dict]:
    """The systems of one challenge in the order of the page, those of the paper alone last in their paradigm.

    Each: measured_on, paradigm, title, domain, model, sample, context_scope (full, where there are several), and here
    (whether it was run).
    """
    columns = [*SYSTEM, "model", "sample", "context_scope"]
    several = points.groupby(SYSTEM)["context_scope"].transform("nunique") > 1
    points = points.assign(context_scope=points["context_scope"].mask(several, "full"))
    published = published.assign(context_scope="full")
    here = points.drop_duplicates(SYSTEM)[columns].assign(here=True)
    own = set(map(tuple, here[["paradigm", "model", "domain"]].to_numpy()))
    known = published[published["paradigm"].isin(PARADIGMS)].drop_duplicates(["paradigm", "model", "domain"])
    known = known.sort_values(["model", "domain"], kind="stable",
                              key=lambda column: column.map(list(DOMAINS).index) if column.name == "domain" else column)
    alone = known[~pd.MultiIndex.from_frame(known[["paradigm", "model", "domain"]]).isin(own)]
    every = pd.concat([here, alone[columns].assign(here=False)], ignore_index=True)
    names = [*PARADIGMS, *(name for name in every["paradigm"].unique() if name not in PARADIGMS)]
    return every.sort_values("paradigm", key=lambda name: name.map(names.index), kind="stable").to_dict("records")


def drawn(points: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """The points of a figure as they stand in its CSV: measured here, then published on the challenges that are no sample."""
    published = published[published["measured_on"].isin(points.loc[~points["sample"], "measured_on"])]
    parts = [points, *([published] if len(published) else [])]
    return pd.concat([part.reindex(columns=POINTS).astype(object) for part in parts], ignore_index=True)
