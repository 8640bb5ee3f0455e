"""Read what the figures and tables of timedial share: the metrics by system, the published numbers,
and how to draw a row.

A system is a control, or a model of resources/models.yaml in one paradigm. The model learnt in the
domain of the challenge, out of the domain, or not at all (zero-shot). A published number is shown
only for the challenge that its `setting` names (measured_on).
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from scripts.data.declared import BLIND as METHOD_BLIND
from scripts.measure.comparisons import LIKE
from scripts.publish.item import Given
from scripts.publish import style
from scripts.publish.comparison import DIFFERENCE
from scripts.publish.marks import limit_if_several
from scripts.publish.names import (
    experiment_if_needed,
    in_order,
    source_title,
    study_metrics,
    titles_of,
    without_people,
)
from scripts.publish.panels import Look, Rows, among
from scripts.publish.published import claims_beside, with_shares
from scripts.publish.selection import only
from scripts.studies.timedial.evaluate import SCHEMA

PARADIGMS = {
    "control": "controls",
    "classify": "classification",
    "classify_blind": "control: the candidate alone, classified",
    "fill": "mask filling",
    "generate": "generation",
    "pseudo_log_likelihood": "pseudo-log-likelihood",
    "likelihood": "likelihood of candidate and what follows",
    "likelihood_blind": "control: the candidate without its dialog",
    "likelihood_word": "likelihood of candidate and what follows, masked by word",
    "likelihood_word_blind": "control: the candidate without its dialog, masked by word",
    "likelihood_token": "likelihood of candidate and what follows, per token",
    "likelihood_candidate": "likelihood of the candidate, per token",
    "likelihood_candidate_blind": "control: the candidate without its dialog, per token",
    "external": "predictions from elsewhere",
}
DOMAINS = {
    "zero_shot": "zero-shot",
    "few_shot": "few-shot",
    "out": "out-of-domain",
    "in": "in-domain",
    "contaminated": "in-domain, contaminated",
    "external": "",
}
NOT_LEARNT = ["zero_shot", "external"]  # systems that do not learn from a study's training data
SCOPES = ["target", "local", "full"]  # from little context to much
BLIND = ["random", "most_frequent", "second_text"]  # controls that never see the dialog
RULES = {"phrase": "phrase matching", "numeral": "numeral matching", "open_ended": "open-ended"}
SETTINGS = {
    "negatives": "{:.0f} negatives",
    "negatives_from": "negatives from {}",
    "negatives_of": "negatives of {}",
    "negatives_by": "negatives by {}",
    "negative_seed": "draw {:.0f}",
    "max_dialogs": "{:,.0f} dialogs",
}
# names of the data options choices and contrast
VARIANTS = {
    "missed": ", missed by nearest two",
    "exchanged": ", exchanged options",
    "unit": ", units exchanged",
}
SYSTEM = ["measured_on", "paradigm", "title", "domain"]
DATASET = ["source", "dataset", "limit"]
POINTS = (
    "origin measured_on split paradigm title domain model source context_scope experiment "
    "train_examples seed wording slice metric value sd ci_low ci_high n groups sample limit"
).split()
COLOURS = dict(zip("classify fill generate pseudo_log_likelihood".split(), style.COLOURS))
MARKERS = dict(zip(DOMAINS, "^vsopP"))
PAPER = Look(style.INK, "D", "", style.PAPER, 4.4)
IN_PAPER = "in the paper (Qin et al. 2021)"
SAMPLE = " [sample data]"


# ---- metrics


def details(trained: pd.DataFrame, sources: dict) -> pd.Series:
    """Return how the training data of one challenge's systems differ, for example `, 5
    negatives`.
    """
    texts = pd.Series("", index=trained.index)
    for _, challenge in trained.groupby("measured_on"):
        for column, text in SETTINGS.items():
            if challenge[column].nunique(dropna=False) > 1:
                words = challenge[column].map(text.format, na_action="ignore").fillna("all dialogs")
                texts[challenge.index] += ", " + words.str.replace("_", " ")
        if (challenge.groupby("domain")["source"].nunique() > 1).any():
            titles = [source_title(source, sources) for source in challenge["source"]]
            texts[challenge.index] += [f", {title}" for title in titles]
    return texts


def dataset_beside(metrics: pd.DataFrame, learnt: pd.DataFrame) -> pd.DataFrame:
    """Return the dataset of each source and variant whose controls stand beside the models, with
    what the highest model that learnt from it `reached`. It is the dataset of the highest model;
    without models, that with the most context and dialogs. learnt: their accuracies().
    """
    highest = learnt.groupby(DATASET, dropna=False, as_index=False)["value"].max()
    datasets = metrics.drop_duplicates(DATASET).merge(
        highest[[*DATASET, "value"]].rename(columns={"value": "reached"}), "left", DATASET
    )
    datasets["scope"] = datasets["context_scope"].map(SCOPES.index)
    datasets = datasets.fillna({"reached": 0, "max_dialogs": np.inf})
    order = ["reached", "scope", "max_dialogs"]
    datasets = datasets.sort_values(order, ascending=False, kind="stable")
    return datasets.drop_duplicates(["source", "variant", "limit"])[[*DATASET, "reached"]]


def timedial_metrics(path: Path, models: dict, sources: dict) -> pd.DataFrame:
    """Return the timedial rows of a metrics table, real data first, with columns `paradigm`,
    `title` (of the model), `origin`, `variant` (of VARIANTS) and `blind` (it never sees the
    dialog).

    Rows that two experiments share appear once. If they measured one setting differently, the title
    includes the experiment. Controls and models that did not learn appear once for each challenge
    and context: the row of the experiment with the most dialogs, of controls first those `beside`
    the models (dataset_beside()).
    """
    metrics = without_people(study_metrics(path, "timedial", SCHEMA))
    metrics = metrics.astype({"seed": float, "limit": float})
    choices, contrast = (
        metrics[name].map(VARIANTS).fillna("").astype(object) for name in ("choices", "contrast")
    )
    variant = choices + contrast
    metrics = metrics.assign(
        paradigm=metrics["method"].str.removesuffix("_zero_shot"),
        title=titles_of(metrics, models) + variant + limit_if_several(metrics),
        variant=variant,
        origin="here",
        blind=metrics["model"].isin(BLIND) | metrics["method"].str.endswith(METHOD_BLIND),
    )
    place = ["measured_on", "split", "paradigm", "model"]
    of_row = ["domain", "context_scope", "slice", "metric", "seed"]
    point = [*place, *of_row, "variant", "limit"]
    is_control = metrics["paradigm"] == "control"
    learnt = ~metrics["domain"].isin(NOT_LEARNT) & ~is_control
    datasets = dataset_beside(metrics, accuracies(metrics[learnt & ~metrics["blind"]]))
    metrics["beside"] = is_control & among(metrics, datasets, DATASET)
    metrics["reached"] = metrics[DATASET].merge(datasets, "left")["reached"].to_numpy()
    metrics.loc[is_control & ~metrics["beside"], "chosen"] = False
    most_first = metrics[~learnt].sort_values(
        ["beside", "max_dialogs"], ascending=False, na_position="first", kind="stable"
    )
    trained = metrics[learnt].copy()
    trained["title"] += details(trained, sources)
    trained["title"] += experiment_if_needed(trained, [*point, "source", *SETTINGS])
    return in_order(
        pd.concat([most_first.drop_duplicates([*point, "wording"]), trained]),
        ["sample", *place, "title", *of_row],
        paradigm=PARADIGMS,
        model=models,
        domain=DOMAINS,
        context_scope=SCOPES,
    )


def accuracies(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return 2-best accuracy over all seeds."""
    return only(metrics, seed=None, metric="two_best_accuracy", slice="all")


def widest(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return each system's rows with the most context that it was measured with; of a control, the
    rows `beside` the models.
    """
    scope = metrics["context_scope"].map(SCOPES.index) + len(SCOPES) * metrics["beside"]
    return metrics[scope == scope.groupby([metrics[name] for name in SYSTEM]).transform("max")]


def with_best_control(points: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the points without controls, except random and, of each challenge and variant, the
    control like for like that was chosen on the dataset of the highest model that learnt
    (dataset_beside()). It has not read the challenge's dialogs.
    """
    rows = widest(accuracies(metrics))
    rows = rows[(rows["paradigm"] == "control") & (rows["domain"] != "contaminated")]
    rows = rows[rows["chosen"].eq(True) & rows["kind_of_control"].eq(LIKE)]
    best = rows.sort_values("reached", ascending=False, kind="stable")
    best = best.drop_duplicates(["measured_on", "variant"])
    is_best = among(points, best, SYSTEM)
    return points[(points["paradigm"] != "control") | is_best | (points["model"] == "random")]


# ---- names


def domain_title(row: Mapping) -> str:
    says_nothing = (row["paradigm"], row["domain"]) == ("control", "zero_shot")
    return "" if says_nothing else DOMAINS[row["domain"]]


def context_in_words(points: pd.DataFrame) -> str:
    full = points.loc[points["paradigm"] != "control", "context_scope"].eq("full").all()
    return "full dialog context" if full else "each system with its longest context"


def paradigm_title(name: str) -> str:
    return PARADIGMS.get(name, name.replace("_", " "))


def corpus_title(source: str, sources: dict) -> str:
    title = source_title(source, sources)
    return f"{title}{SAMPLE}" if "sample" in sources.get(source, {}) else title


# ---- the paper


def published_beside(resources: Path) -> pd.DataFrame:
    """Return the paper's scores of systems, as shares; title is the paper's name of the model. The
    changes of table 7 are added to the value with the target context.
    """
    parts = ["measured_on", "method", "domain", "context_scope", "slice"]
    claims = claims_beside(resources, "timedial", parts)
    claims = only(claims, metric=["two_best_accuracy", "wrong_above_right"])
    claims = with_shares(claims).fillna(
        dict.fromkeys(parts, "") | {"context_scope": "full", "slice": "all"}
    )
    is_zero = claims["method"].str.endswith("_zero_shot")
    table = claims.assign(
        paradigm=claims["method"].str.removesuffix("_zero_shot"),
        domain=claims["domain"].mask(is_zero, "zero_shot"),
        title=claims["row"].str.split(",").str[0],
        origin="published",
        sample=False,
    )
    is_change = claims["unit"].str.startswith(DIFFERENCE)
    key = ["table", "measured_on", "paradigm", "model", "domain"]
    start = table[~is_change & (table["context_scope"] == "target")].set_index(key)["value"]
    table["value"] += table[key].join(start, on=key)["value"].where(is_change, 0)
    return table.drop(columns="row").reset_index(drop=True)


def published_on(points: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return the published numbers on the challenges of the points, without sample data."""
    real = points.loc[~points["sample"].astype(bool), "measured_on"]
    return published[published["measured_on"].isin(real)]


def beside_paper(points: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return the points of one challenge and the paper's numbers on it, in the order of the page,
    with `row`. A published number has the row of the same system. A system that was not run here
    gets its own row, last in its paradigm.
    """
    key = ["paradigm", "model", "domain"]
    points = points.assign(row=points["paradigm"] + "|" + points["title"] + "|" + points["domain"])
    paper = in_order(published[published["paradigm"].isin(PARADIGMS)], key[1:], domain=DOMAINS)
    same = points[points["variant"] == ""].drop_duplicates(key)
    paper = paper.merge(same[[*key, "row"]], how="left")
    alone = paper["paradigm"] + "|" + paper["model"] + "|" + paper["domain"] + " (paper only)"
    paper["row"] = paper["row"].fillna(alone)
    both = pd.concat([points, paper]) if len(paper) else points
    return in_order(both, ["paradigm"], paradigm=dict.fromkeys([*PARADIGMS, *both["paradigm"]]))


# ---- figures


def read(given: Given, table: str) -> tuple[pd.DataFrame, pd.DataFrame, dict]:
    """Return timedial_metrics(), the numbers of a table of the paper, and the sources."""
    sources, published = given.sources, published_beside(given.resources)
    metrics = timedial_metrics(given.metrics, given.models, sources)
    return metrics, published[published["table"] == table], sources


def drawn(points: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return the points of the CSV: measured here, then published."""
    parts = [part for part in (points, published_on(points, published)) if len(part)] or [points]
    parts = [part.reindex(columns=POINTS).astype(object) for part in parts]
    return pd.concat(parts, ignore_index=True)


def name_of(row: pd.Series) -> str:
    is_here = row["origin"] == "here"
    less = is_here and row["paradigm"] != "control" and row["context_scope"] != "full"
    parts = [row["title"], domain_title(row), f"{row['context_scope']} context" if less else ""]
    title = ", ".join(filter(None, parts))
    return title if is_here else f"{title} (paper only)"


def bands_of(rows: Rows, table: pd.DataFrame) -> list[float]:
    """Return the y of the headings over rows that were measured here; the marks of sample data do
    not go over published rows.
    """
    here = set(table.loc[table["origin"] == "here", "head"])
    return [y for y, head in rows.heads.items() if head in here]


def in_rows(points: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return beside_paper() with the columns of Rows. A name gives the context if it is less than
    the full dialog.
    """
    table = beside_paper(points, published)
    is_here = table["origin"] == "here"
    named = table.drop_duplicates("row").set_index("row")
    return table.assign(
        name=table["row"].map(named.apply(name_of, axis=1)),
        head=table["paradigm"].map(paradigm_title),
        series=(table["paradigm"] + "|" + table["domain"]).where(is_here, IN_PAPER),
    )


def draw_systems(axes: Axes, points: pd.DataFrame, rows: Rows) -> None:
    """Draw a colour for each paradigm and a marker for each domain; controls grey, the
    paper open.
    """
    known = {IN_PAPER: PAPER}
    for row in points[points["series"] != IN_PAPER].to_dict("records"):
        paradigm = row["paradigm"]
        is_control = paradigm == "control" or paradigm.endswith(METHOD_BLIND)
        colour = style.GREY if is_control else COLOURS.get(paradigm, style.COLOURS[4])
        known[row["series"]] = Look(colour, "X" if is_control else MARKERS[row["domain"]], "")
    rows.draw(axes, points, known)
    axes.set_xlim(0, 100)


def legend_of(table: pd.DataFrame) -> list[tuple[str, list[Line2D]]]:
    is_published = table["origin"] == "published"
    present = set(table.loc[~is_published & (table["paradigm"] != "control"), "domain"])
    handles = [
        Look(style.INK, MARKERS[name], "").handle(title)
        for name, title in DOMAINS.items()
        if name in present
    ]
    if is_published.any():
        handles.append(PAPER.handle(IN_PAPER))
    return [("", handles)]
