"""Make the cells of the scorecard: the study's headline for each probe, model and way of asking.

A probe is one test of a study: a corpus with one value of the option that the study names (`probe`
of study.yaml), on the first measured split of the corpus. Altered experiments have no cell
(`altered` of scripts/plan/workplan.py): their models start from other weights or learn a second
objective.

A way is how a model was asked: fine-tuned, by filling masks, by likelihood, … If several methods
belong to one way, the cell shows the study's first method (`headline_methods` of study.yaml). It
does not show the best method: the test must not choose it. The cell also has the method's blind
control (`<method>_blind`).
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.declared import method_of_blind
from scripts.data.tables import read_metrics
from scripts.measure.comparisons import CONTROL_METHODS, LIKE, MADE_ELSEWHERE
from scripts.measure.comparisons import OF_CONTROLS, SOLVER
from scripts.publish.comparison import parts_of, published_claims, settings_of
from scripts.publish.names import in_order, method_title
from scripts.publish.compared import SYSTEM as COMPARED, with_comparisons
from scripts.publish.selection import as_text, only, rank, without_repeats

PROBE = ["study", "corpus", "option", "limit"]
# the columns that identify one measurement
SYSTEM = ["study", "experiment", "model", "method", "source", "dataset", "split", "scoring"]
KINDS = {
    "encoder": "encoders",
    "encoder_decoder": "encoder-decoders",
    "decoder": "decoders",
    "api": "behind an API",
    "esim": "no transformers",
}
UNKNOWN = "unknown kind"
ELSEWHERE = "predictions from elsewhere"  # no run gives their kind
# the first ways of a model; the title of a method is a way, too
WAYS = FINE_TUNED, FILLED, LIKELIHOOD = "fine-tuned", "mask filling", "likelihood"
FILLS = ("fill", "pseudo_log_likelihood")  # paradigms that fill masks with any model
SCORES = ("likelihood", "generate")  # paradigms that fill masks with an encoder alone
Networks = dict[str, tuple[str, float]]  # by model: its kind and parameters
# the columns of a cell's headline, and those of the comparison like for like
HEADLINE = {"above": "difference", "above_low": "ci_low", "above_high": "ci_high"}
HEADLINE |= {name: name for name in ("control", "verdict", "words", "family")}


def read_scores(file: Path) -> pd.DataFrame:
    """Read the metrics of whole splits, with every column that identifies a measurement."""
    metrics = read_metrics(file).to_pandas()
    metrics = metrics[metrics["slice"] == "all"]
    # without a type, a column that the table lacks would have floats
    texts = dict.fromkeys((*SYSTEM, "measured_on"), object)
    return metrics.reindex(
        columns=list(dict.fromkeys([*metrics, *texts, "kind_of_control", "chosen"]))
    ).astype(texts)


def networks_of(runs: Iterable[dict]) -> Networks:
    """Return each model's kind and number of parameters. runs: their run.json."""
    found: Networks = {}
    for facts in runs:
        kind, parameters = facts.get("kind"), facts.get("parameters")
        if facts["model"] not in found or kind:
            size = float(parameters or "nan")
            found[facts["model"]] = KINDS.get(kind, kind or UNKNOWN), size
    return found


def way_of(study: dict, method: str, kind: str) -> str:
    """Return the way in which a method of a study asks a model of this kind."""
    how = study["methods"].get(method, {})
    paradigm = how.get("paradigm")
    if how.get("learns"):
        return FINE_TUNED
    if paradigm in FILLS or (paradigm in SCORES and kind == KINDS["encoder"]):
        return FILLED
    return LIKELIHOOD if paradigm in SCORES else method_title(method)


def unlearnt(studies: dict) -> set[str]:
    """Return the methods with a fresh head that nothing trains. They have no cell, because they are
    no evidence of what a model understands.
    """
    methods = [item for study in studies.values() for item in study["methods"].items()]
    return {method for method, how in methods if how.get("fresh_head")}


def probe_rows(metrics: pd.DataFrame, studies: dict, sources: dict) -> pd.DataFrame:
    """Return the rows of the studies' headlines on probes, also of `human_…`, with the columns
    PROBE, `probe` (its number), `coarse` (the place of the scoring among those of the study, from
    the finest) and `scored` (a coarse scoring in words, else empty).
    """
    parts = [
        rows_on_probes(metrics[metrics["study"] == name], study, sources)
        for name, study in studies.items()
    ]
    rows = pd.concat(parts, ignore_index=True)
    order = pd.DataFrame({name: places(rows[name], studies, sources) for name in PROBE})
    first = order["option"].groupby([rows["study"], rows["corpus"]]).transform("min")
    order.insert(1, "first", first)  # sort a study's corpora by their first option
    rows = rows.loc[order.sort_values(list(order), kind="stable").index].reset_index(drop=True)
    return rows.assign(probe=rows.groupby(PROBE, sort=False, dropna=False).ngroup())


def rows_on_probes(rows: pd.DataFrame, study: dict, sources: dict) -> pd.DataFrame:
    probe, headline = study.get("probe", {}), study["headline"]
    shown = rows["metric"].isin([headline, f"human_{headline}"])
    rows = rows[shown & ~rows["experiment"].isin(study.get("altered", []))]
    plain = dict.fromkeys(study.get("extensions", [])) | probe.get("plain", {})
    for option in plain.keys() & set(rows):
        rows = rows[rows[option].isna() | (rows[option] == plain[option])]
    option = as_text(rows[probe["option"]]) if "option" in probe else ""
    corpus = rows["measured_on"].astype(object).fillna(rows["source"])
    coarse = rank(rows["scoring"], scorings_of(study))
    words = dict([*scorings_of(study).items()][1:])
    scored = [words.get(scoring, "") for scoring in rows["scoring"]]
    rows = rows.assign(option=option, corpus=corpus, coarse=coarse, scored=scored)
    known = corpus.map(lambda name: sources.get(name, {}).get("evaluate", []))
    splits = [rank([split], of)[0] for split, of in zip(rows["split"], known)]
    splits = pd.Series(splits, rows.index, float)
    rows = rows[splits == splits.groupby(corpus).transform("min")]
    if not probe.get("ends"):
        return rows
    number = pd.to_numeric(rows["option"], errors="coerce")
    numbers = number.groupby(rows["corpus"])
    return rows[number.eq(numbers.transform("min")) | number.eq(numbers.transform("max"))]


def places(column: pd.Series, studies: dict, sources: dict) -> pd.Series:
    """Return the sort key of a column of PROBE: the order of resources/, strides by size, no limit
    first.
    """
    if column.name == "limit":
        return column.astype(float).fillna(0)
    options = [
        option for study in studies.values() for option in study.get("probe", {}).get("titles", {})
    ]
    order = {"study": studies, "corpus": sources, "option": options}[column.name]
    places = pd.Series(rank(column, order), column.index, dtype=float)
    number = pd.to_numeric(column, errors="coerce").fillna(len(order))
    return places.mask(places == len(order), number)


def preferred(rows: pd.DataFrame, studies: dict) -> pd.DataFrame:
    """Return one row for each probe, model and way: of the study's first method, then of the option
    values that the study prefers.
    """
    methods = [
        (name, method)
        for name, study in studies.items()
        for method in (*study.get("headline_methods", []), *study["methods"])
    ]
    place = rank(zip(rows["study"], rows["method"]), methods)
    order = pd.DataFrame({"method": place}, index=rows.index)
    for name, study in studies.items():
        for option, first in study.get("probe", {}).get("prefers", {}).items():
            if option not in rows:
                continue
            values = rows.loc[rows["study"] == name, option]
            if first == "least":
                place = values.astype(float).fillna(0)
            elif first == "most":
                place = -values.astype(float).fillna(float("inf"))
            else:
                place = rank(values.astype(object).fillna(next(iter(first))), first)
            order.loc[values.index, option] = place
    rows = rows.loc[order.sort_values(list(order), kind="stable").index]
    return rows.drop_duplicates(["probe", "model", "way"])


def learnt_part(cells: pd.DataFrame, studies: dict) -> pd.Series:
    """Return the training size of each fine-tuned cell, for example `4,000 pairs`; empty for the
    whole training split.
    """
    found = pd.Series("", cells.index)
    tuned = cells[cells["way"] == FINE_TUNED]
    for name, study in studies.items():
        prefers = study.get("probe", {}).get("prefers", {})
        for option in [option for option, first in prefers.items() if first == "most"]:
            sizes = tuned.reindex(columns=[option]).loc[tuned["study"] == name, option].dropna()
            words = f"{{:,.0f}} {option.removeprefix('train_').removeprefix('max_')}"
            found[sizes.index] = sizes.astype(float).map(words.format)
    return found


def scorings_of(study: dict) -> dict[str, str]:
    """Return a study's scorings in words, from the finest."""
    return study.get("probe", {}).get("prefers", {}).get("scoring", {})


def asked_rows(rows: pd.DataFrame, studies: dict, networks: Networks) -> pd.DataFrame:
    """Return the rows of models on probes, sorted, with kind, parameters and way. Controls, blind
    and untrained models, and people are left out.
    """
    is_model = ~rows["method"].isin([*CONTROL_METHODS, *unlearnt(studies), "human"])
    is_asked = is_model & rows["method"].map(method_of_blind).isna()
    rows = rows[is_asked]
    known = [networks.get(name, (UNKNOWN, None)) for name in rows["model"]]
    known = pd.DataFrame(known, rows.index, ["kind", "parameters"])
    is_elsewhere = known["kind"].eq(UNKNOWN) & rows["method"].isin(MADE_ELSEWHERE)
    kind = known["kind"].mask(is_elsewhere, ELSEWHERE)
    asked = zip(rows["study"], rows["method"], kind)
    way = [way_of(studies[study], *how) for study, *how in asked]
    rows = rows.assign(kind=kind, parameters=known["parameters"].astype(float), way=way)
    return in_order(rows, ["probe", "kind", "parameters"], kind=KINDS.values())


def cells_of(
    rows: pd.DataFrame,
    metrics: pd.DataFrame,
    comparisons: pd.DataFrame,
    studies: dict,
    networks: Networks,
) -> pd.DataFrame:
    """Return a row for each probe, model and way. rows: from probe_rows(); metrics: from
    read_scores(); comparisons: from read_comparisons(); networks: from networks_of(). All values
    are shares from 0 to 1.

    Columns: PROBE, probe, kind, parameters, model, way, method, split, value, sd, seeds, ci_low,
    ci_high, n; for each kind of comparison its control, difference and verdict
    (with_comparisons()), and those of the headline (like for like) as above, above_low, above_high,
    control, verdict and words; blind, blind_low, blind_high (the blind model); wordings (their
    number), lowest, highest (single wordings); unread (the share of answers that name no option);
    learnt_part; sample.
    """
    texts = dict.fromkeys(SYSTEM, object)  # pandas makes a column without values a float column
    rows, metrics = asked_rows(rows, studies, networks).astype(texts), metrics.astype(texts)
    spread = rows[rows["wording"].notna()].groupby(SYSTEM, dropna=False, as_index=False)
    spread = spread.agg(
        lowest=("value", "min"), highest=("value", "max"), wordings=("wording", "nunique")
    )
    means = only(metrics, seed=None, wording=None)
    unread = only(means, metric="unread_answers")[[*SYSTEM, "value"]]
    unread = unread.drop(columns="scoring").rename(columns={"value": "unread"})
    cells = without_repeats(only(rows, seed=None, wording=None))
    cells = preferred(cells, studies).sort_index()
    cells = cells.merge(spread.astype(texts), how="left").merge(unread, how="left")
    cells = cells.assign(learnt_part=learnt_part(cells, studies))
    of_blind = means["method"].map(method_of_blind)
    ends = {"value": "blind", "ci_low": "blind_low", "ci_high": "blind_high"}
    blind = means.assign(method=of_blind)[of_blind.notna()].rename(columns=ends)
    on = [*SYSTEM, "metric"]
    cells = cells.merge(blind[[*on, *ends.values()]].drop_duplicates(on), how="left", on=on)
    cells = with_comparisons(cells, comparisons, COMPARED)
    return cells.assign(**{name: cells[f"{LIKE}_{of}"] for name, of in HEADLINE.items()})


def chosen_controls(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows on probes of the chosen control of each kind, and of the solver."""
    shown = rows["kind_of_control"].isin([*OF_CONTROLS, SOLVER]) & rows["chosen"].eq(True)
    return rows[shown & rows["seed"].isna() & rows["method"].eq("control")]


def ranking(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a study's systems (index: model and way), the best first: wins, the number of others
    that it beats on the probes that both have. Ties: the one with most probes, then with the
    highest mean. Predictions that the authors released count only if the study has no others.
    """
    is_own = cells["method"] != "released"
    cells = cells[is_own] if is_own.any() else cells
    systems = cells.groupby(["model", "way"], sort=False)["value"].agg(["size", "mean"])
    values = cells.pivot(index=["model", "way"], columns="probe", values="value")
    values = values.loc[systems.index].to_numpy()
    wins = np.nan_to_num(values[:, None] - values).sum(axis=2) > 0
    systems.insert(0, "wins", wins.sum(axis=1))
    return systems.sort_values(list(systems), ascending=False, kind="stable")


def best_system(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of a study's best system, the first of ranking()."""
    model, way = ranking(cells).index[0]
    return cells[(cells["model"] == model) & (cells["way"] == way)].reset_index(drop=True)


def controls_beside(rows: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the control of each probe and kind: the one beside the cell of the study's best
    system. rows: from probe_rows().
    """
    best = [best_system(of_study) for _, of_study in cells.groupby("study", sort=False)]
    there = pd.concat([*best, cells]).sort_values("coarse", kind="stable")
    place, kinds = ["study", "source", "dataset", "split", "scoring"], (*OF_CONTROLS, SOLVER)
    there = there[["probe", *place, *(f"{kind}_control" for kind in kinds)]]
    found = there.assign(place=range(len(there))).merge(chosen_controls(rows), on=["probe", *place])
    named = [row[f"{row['kind_of_control']}_control"] for row in found.to_dict("records")]
    compared = pd.Series(named, found.index, object)
    found = found[compared.isna() | (compared == found["model"])]
    found = found.sort_values(["place", "value"], ascending=[True, False], kind="stable")
    return found.drop_duplicates(["probe", "kind_of_control"])


def best_of(rows: pd.DataFrame, place: str | list[str] = "probe") -> pd.DataFrame:
    """Return the row with the highest value for each probe, or each place."""
    return rows.sort_values("value", ascending=False, kind="stable").drop_duplicates(place)


def people(rows: pd.DataFrame) -> pd.DataFrame:
    """Return people's scores measured here, one for each probe. rows: from probe_rows()."""
    return rows[rows["metric"].str.startswith("human_")].drop_duplicates("probe")


def published(file: Path, probes: pd.DataFrame, studies: dict) -> pd.DataFrame:
    """Return the paper's best score and its human score for each probe, except probes on sample
    data: probe, who, row, value.

    A claim belongs to a probe if its setting names no other corpus, scoring, option or, except for
    people, slice. With another `source~…`, the paper used other examples of the same kind.
    """
    claims, found = published_claims(file), []
    claims = claims[claims["unit"] == "%"]
    value = pd.to_numeric(claims["value"].str.split(" ±").str[0], errors="coerce") / 100
    said = claims["setting"].map(settings_of)
    claims = claims.assign(value=value, said=said, who="paper").dropna(subset="value")
    claims.loc[claims["model"] == "human", "who"] = "human"
    for probe in probes[~probes["sample"].astype(bool)].to_dict("records"):
        study, corpus = studies[probe["study"]], probe["corpus"]
        is_own = (claims["study"] == probe["study"]) & (claims["metric"] == study["headline"])
        is_own &= ~claims["model"].isin(study.get("baselines", []))
        wanted = {"measured_on": corpus, "scoring": probe["scoring"], "slice": "all"}
        wanted[study.get("probe", {}).get("option")] = probe["option"]
        for claim in claims[is_own].to_dict("records"):
            said = {"measured_on": claim["said"].get("source", corpus)} | claim["said"]
            differ = {name for name, value in wanted.items() if said.get(name, value) != value}
            method = said.get("method")
            unlike = method_of_blind(method) or method in unlearnt(studies)
            if not unlike and differ <= ({"slice"} if claim["who"] == "human" else set()):
                is_other = parts_of(claim["setting"], "~").get("source", corpus) != corpus
                row = f"{claim['row']}, other examples" if is_other else claim["row"]
                found.append(claim | {"probe": probe["probe"], "row": row})
    table = pd.DataFrame(found, columns=["probe", "who", "row", "value"])
    return best_of(table, ["probe", "who"])
