"""What the scorecard shows: of every probe, model and way of asking the study's headline, from the metrics of all studies.

A probe is one test of a study: a corpus with one value of the option that the study names (`probe` of study.yaml), on
the first split that the corpus is measured on. Other datasets of the study are no probes. A model that begins with other weights, or
learns a second objective, is not the model (altered experiments, scripts/plan/comparable.py).

A way is how a model was asked: fine-tuned, by filling masks, by likelihood, … Where a model was asked by several methods of one
way, the one that the study tells first (`headline_methods` of study.yaml) has the cell, for every kind of model the
same, and not the best: that would be chosen on the test. A method's own control (`<method>_blind`) stands in its cell.
"""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from scripts.plan.probe import BLIND
from scripts.data.runs import facts_of
from scripts.data.tables import read_metrics
from scripts.measure.experiment import CONTROL_METHODS
from scripts.publish.comparison import parts_of, published_claims, settings_of
from scripts.publish.names import method_title
from scripts.publish.selection import as_text

SCORES = {"two_best_accuracy": "2-best accuracy", "exact_match": "exact match"}
PROBE = ["study", "corpus", "option", "limit"]
SYSTEM = [
    "study",
    "experiment",
    "model",
    "method",
    "source",
    "dataset",
    "split",
    "scoring",
]  # tells the rows of one measurement
KINDS = {
    "encoder": "encoders",
    "encoder_decoder": "encoder-decoders",
    "decoder": "decoders",
    "esim": "no transformers",
}
UNKNOWN = "kind not told by the runs"
ELSEWHERE = "predictions from elsewhere"  # no run of theirs tells a kind
FINE_TUNED, FILLED, LIKELIHOOD, DIRECT = (
    method_title(name) for name in ("train", "fill", "likelihood", "direct")
)
WAYS = [FINE_TUNED, DIRECT, FILLED, LIKELIHOOD]
OTHER_WAYS = {
    "direct": DIRECT,
    "fill_zero_shot": FILLED,
    "pseudo_log_likelihood": FILLED,
    "released": "released predictions",
    "external": "from elsewhere",
}
LESS = {
    "hypothesis_only",
    "untrained",
}  # methods that keep something from the model: no answer to what it understands
NO_CLAIM = {"majority", "random", "always_yes", "always_no"}


def read_scores(file: Path) -> pd.DataFrame:
    """The metrics of whole splits, with every column that tells one measurement from another."""
    metrics = read_metrics(file).to_pandas()
    metrics = metrics[metrics["slice"] == "all"]
    texts = dict.fromkeys(
        (*SYSTEM, "measured_on"), object
    )  # a column that no study of this table has would be of numbers
    return metrics.reindex(columns=list(dict.fromkeys([*metrics, *texts, "control"]))).astype(texts)


def networks_of(files: list[Path]) -> dict[str, tuple[str, float]]:
    """By model its kind and the parameters of its network, as its run.json tells; (UNKNOWN, nan) where it is of an older version."""
    found: dict[str, tuple[str, float]] = {}
    for facts in map(facts_of, files):
        kind, parameters = facts.get("kind"), facts.get("parameters")
        if facts["model"] not in found or kind:
            found[facts["model"]] = (
                KINDS.get(kind, kind or UNKNOWN),
                float(parameters) if parameters else float("nan"),
            )
    return found


def way_of(study: dict, method: str, kind: str) -> str:
    """How a method of a study asks a model of this kind (a title of KINDS), in words."""
    if study["methods"].get(method, {}).get("learns"):
        return FINE_TUNED
    if method.startswith(("likelihood", "verbalizer", "generate")):
        return FILLED if kind == KINDS["encoder"] else LIKELIHOOD
    return OTHER_WAYS.get(method, method.replace("_", " "))


def with_probes(metrics: pd.DataFrame, studies: dict, sources: dict) -> pd.DataFrame:
    """The rows of the studies' headlines (and `…_above_control`) on a probe, with the columns PROBE."""
    return pd.concat(
        [
            rows_on_probes(metrics[metrics["study"] == name], study, sources)
            for name, study in studies.items()
        ],
        ignore_index=True,
    )


def rows_on_probes(rows: pd.DataFrame, study: dict, sources: dict) -> pd.DataFrame:
    """The rows of with_probes() of one study."""
    probe, headline = study.get("probe", {}), study["headline"]
    rows = rows[
        ~rows["experiment"].isin(study.get("altered", []))
        & rows["metric"].isin([headline, f"{headline}_above_control", f"human_{headline}"])
    ]
    for option, plain in (
        dict.fromkeys(study.get("extensions", [])) | probe.get("plain", {})
    ).items():
        if option in rows:
            rows = rows[rows[option].isna() | (rows[option] == plain)]
    option = as_text(rows[probe["option"]]) if "option" in probe else ""
    rows = rows.assign(
        option=option, corpus=rows["measured_on"].astype(object).fillna(rows["source"])
    )
    splits = [sources.get(corpus, {}).get("evaluate", []) for corpus in rows["corpus"]]
    places = pd.Series(
        [of.index(split) if split in of else len(of) for of, split in zip(splits, rows["split"])],
        rows.index,
        float,
    )
    rows = rows[places == places.groupby(rows["corpus"]).transform("min")]
    if not probe.get("ends"):
        return rows
    number = pd.to_numeric(rows["option"], errors="coerce")
    ends = [number.groupby(rows["corpus"]).transform(end) for end in ("min", "max")]
    return rows[(number == ends[0]) | (number == ends[1])]


def keys(rows: pd.DataFrame) -> pd.Series:
    """A number for each row, equal for rows of one measurement (SYSTEM)."""
    return pd.util.hash_pandas_object(
        rows[SYSTEM].astype(object).fillna("").astype(str), index=False
    )


def rank(values: Iterable, order: Iterable) -> list[int]:
    """The place of each value in an order; what is not in it comes last."""
    places = {name: place for place, name in enumerate(dict.fromkeys(order))}
    return [places.get(value, len(places)) for value in values]


def preferred(rows: pd.DataFrame, studies: dict) -> pd.DataFrame:
    """One row for each probe, model and way: of the method that the study tells first, then of the values that it prefers."""
    methods = [
        (name, method)
        for name, study in studies.items()
        for method in (*study.get("headline_methods", []), *study["methods"])
    ]
    order = pd.DataFrame(
        {"method": rank(zip(rows["study"], rows["method"]), methods)}, index=rows.index
    )
    for name, study in studies.items():
        for option, first in study.get("probe", {}).get("prefers", {}).items():
            values = rows.loc[rows["study"] == name, option]
            if isinstance(first, list):
                order.loc[values.index, option] = rank(
                    values.astype(object).fillna(first[0]), first
                )
            else:
                order.loc[values.index, option] = (
                    values.astype(float).fillna(0)
                    if first == "least"
                    else -values.astype(float).fillna(float("inf"))
                )
    return rows.loc[order.sort_values(list(order), kind="stable").index].drop_duplicates(
        [*PROBE, "model", "way"]
    )


def asked_rows(
    metrics: pd.DataFrame, studies: dict, sources: dict, networks: dict[str, tuple[str, float]]
) -> pd.DataFrame:
    """The rows of models on probes, in the order of the probes, then of kind and size: with PROBE, kind, parameters, way and key."""
    rows = with_probes(metrics, studies, sources)
    rows = rows[~rows["method"].isin([*CONTROL_METHODS, *LESS, "human"])]
    rows = rows[~rows["metric"].str.endswith("_above_control")].drop(columns="control")
    known = pd.DataFrame(
        [networks.get(name, (UNKNOWN, None)) for name in rows["model"]],
        rows.index,
        ["kind", "parameters"],
    )
    kind = known["kind"].mask(
        (known["kind"] == UNKNOWN) & rows["method"].isin(["released", "external"]), ELSEWHERE
    )
    way = [
        way_of(studies[study], method, of)
        for study, method, of in zip(rows["study"], rows["method"], kind)
    ]
    rows = rows.assign(kind=kind, parameters=known["parameters"].astype(float), way=way, key=keys)
    by = [places(rows[name], studies, sources).rename(name) for name in PROBE]
    first = (
        by[2].groupby([rows["study"], rows["corpus"]]).transform("min").rename("first")
    )  # a study's corpora by what they begin with
    order = pd.concat([by[0], first, *by[1:]], axis=1).assign(
        size=rank(rows["kind"], KINDS.values()), parameters=rows["parameters"]
    )
    return rows.loc[order.sort_values(list(order), kind="stable").index].reset_index(drop=True)


def cells_of(
    metrics: pd.DataFrame, studies: dict, sources: dict, networks: dict[str, tuple[str, float]]
) -> pd.DataFrame:
    """A row for each probe, model and way; metrics: of read_scores(); networks: of networks_of().

    Columns: PROBE, kind, parameters, model, way, method, split, value, sd, seeds, ci_low, ci_high, n; above, above_low, above_high,
    control (how far above which control; missing without one); blind, blind_low, blind_high (the same model without what it should
    read), above_blind, above_blind_low, above_blind_high (how far above that); wordings (how many), lowest, highest (of one
    wording); sample. All values are shares from 0 to 1.
    """
    rows = asked_rows(metrics, studies, sources, networks)
    rows = rows[~rows["method"].str.endswith(BLIND)]
    means = rows[rows["seed"].isna() & rows["wording"].isna()]
    of_all = metrics[metrics["seed"].isna() & metrics["wording"].isna()]
    blind = of_all[of_all["method"].str.endswith(BLIND, na=False)]
    told = [
        compared(of_all, "_above_control", "above").join(
            compared(of_all, "_above_control", "", ["control"])
        ),
        compared(of_all, "_above_blind", "above_blind"),
        compared(blind.assign(method=blind["method"].str.removesuffix(BLIND)), "", "blind"),
    ]
    asked = rows[rows["wording"].notna()].groupby("key")
    spread = (
        asked["value"]
        .agg(lowest="min", highest="max")
        .join(asked["wording"].nunique().rename("wordings"))
    )
    cells = preferred(means, studies).join(spread, on="key")
    for columns in told:
        cells = cells.join(columns, on=["key", "metric"])
    return cells.sort_index(ignore_index=True)


def compared(
    metrics: pd.DataFrame, suffix: str, name: str, columns: list[str] | None = None
) -> pd.DataFrame:
    """By key and metric what a cell is compared with: of the metrics that end so the value and the ends of its interval, as <name>,
    <name>_low and <name>_high; or other columns as they are."""
    rows = metrics[metrics["metric"].str.endswith(suffix)].assign(key=keys)
    found = rows.set_index(["key", rows["metric"].str.removesuffix(suffix)])
    found = found[~found.index.duplicated()]
    return (
        found[columns]
        if columns
        else found[["value", "ci_low", "ci_high"]].set_axis(
            [name, f"{name}_low", f"{name}_high"], axis=1
        )
    )


def places(column: pd.Series, studies: dict, sources: dict) -> pd.Series:
    """What a column of PROBE is sorted by: the order of resources/, strides by size, what is not limited first."""
    if column.name == "limit":
        return column.astype(float).fillna(0)
    options = [
        option for study in studies.values() for option in study.get("probe", {}).get("titles", {})
    ]
    order = {"study": studies, "corpus": sources, "option": options}[column.name]
    places = pd.Series(rank(column, order), column.index, dtype=float)
    return places.mask(
        places == len(order), pd.to_numeric(column, errors="coerce").fillna(len(order))
    )


def is_clear(cells: pd.DataFrame, controls: pd.DataFrame) -> pd.Series:
    """Whether each cell lies clearly above every control: the interval of its distance to the best of its own conditions (context,
    training data) holds nothing from 0 down, and its own interval lies above the best that the probe has; controls: of best_controls().
    """
    best = (
        cells[PROBE]
        .merge(controls[[*PROBE, "value"]], on=PROBE, how="left")["value"]
        .set_axis(cells.index)
    )
    is_own = (
        cells["value"] - cells["above"] - best
    ).abs() < 1e-9  # paired with the best itself, which tells more than two intervals
    return (cells["above_low"] > 0) & (is_own | ~(cells["ci_low"] <= best))


def control_rows(metrics: pd.DataFrame, studies: dict, sources: dict) -> pd.DataFrame:
    """The rows of controls on probes."""
    rows = with_probes(metrics, studies, sources)
    return rows[
        rows["method"].isin(CONTROL_METHODS)
        & (rows["model"] != "gold")
        & rows["seed"].isna()
        & ~rows["metric"].str.endswith("_above_control")
    ]


def best_controls(
    metrics: pd.DataFrame, cells: pd.DataFrame, studies: dict, sources: dict
) -> pd.DataFrame:
    """The best control of each probe, on the datasets of its cells: PROBE, model, value, ci_low, ci_high."""
    rows = control_rows(metrics, studies, sources)
    place = ["study", "source", "dataset", "split", "scoring"]
    finest = cells[
        (cells["scoring"] != "binary")
        | (cells.groupby(PROBE, dropna=False)["scoring"].transform("nunique") < 2)
    ]
    there = pd.MultiIndex.from_frame(finest[place].astype(object).fillna(""))
    rows = rows[pd.MultiIndex.from_frame(rows[place].astype(object).fillna("")).isin(there)]
    return rows.sort_values("value", ascending=False, kind="stable").drop_duplicates(PROBE)


def people(metrics: pd.DataFrame, studies: dict, sources: dict) -> pd.DataFrame:
    """What people reached on a probe, measured here: PROBE, value, ci_low, ci_high."""
    rows = with_probes(metrics, studies, sources)
    return rows[rows["metric"].str.startswith("human_")].drop_duplicates(PROBE)


def published(file: Path, probes: pd.DataFrame, studies: dict) -> pd.DataFrame:
    """The paper's best and its people, for each probe that no sample stands for: PROBE, who (paper, human), row, value.

    file: published.csv. A claim belongs to a probe where its setting names no other corpus or option; where it says
    `source~…`, the paper's examples were others of the same kind.
    """
    claims, found = published_claims(file), []
    claims = claims[(claims["unit"] == "%") & ~claims["model"].isin(NO_CLAIM)]
    claims = claims.assign(
        number=pd.to_numeric(claims["value"].str.split(" ±").str[0], errors="coerce")
    ).dropna(subset="number")
    for probe in probes[~probes["sample"].astype(bool)].to_dict("records"):
        study, option = probe["study"], studies[probe["study"]].get("probe", {}).get("option")
        own_claims = claims[
            (claims["study"] == study) & (claims["metric"] == studies[study]["headline"])
        ]
        for claim in own_claims.to_dict("records"):
            said = settings_of(claim["setting"])
            is_human = claim["model"] == "human"
            corpus = said.get("measured_on", said.get("source", probe["corpus"]))
            own = [
                corpus == probe["corpus"],
                said.get(option, probe["option"]) == probe["option"],
                is_human or said.get("slice", "all") == "all",
                said.get("method") not in LESS,
                said.get("scoring", probe["scoring"]) == probe["scoring"],
            ]
            if all(own):
                other = (
                    parts_of(claim["setting"], "~").get("source", probe["corpus"])
                    != probe["corpus"]
                )
                found.append(
                    {name: probe[name] for name in PROBE}
                    | {
                        "who": "human" if is_human else "paper",
                        "row": claim["row"] + ", other examples" * other,
                        "value": claim["number"] / 100,
                    }
                )
    table = pd.DataFrame(found, columns=[*PROBE, "who", "row", "value"])
    return table.sort_values("value", ascending=False, kind="stable").drop_duplicates(
        [*PROBE, "who"]
    )
