"""The paired differences between a system that begins with another run's weights
and the same without.

Not a program.
"""

from pathlib import Path

import pandas as pd

from scripts.plan.comparable import ROW
from scripts.measure.intervals import difference
from scripts.running.program import UserError
from scripts.data.tables import read_metrics
from scripts.data.yaml_files import read_yaml
from scripts.publish.names import load, method_title, model_title, source_title
from scripts.publish.selection import pairs_of

PREFERRED = {"scoring": "ternary"}  # of several ways to score one answer
KEY = [*ROW, "split"]


def is_coin(begun: dict) -> bool:
    """Whether what a run begins with learnt a coin in place of the order of the same pairs: a
    control of any further training.
    """
    return begun["data"].get("train_labels") == "coin"


def start_title(begun: dict, studies: dict, sources: dict) -> str:
    """What a run begins with, in words: `after sentence order of stride 4 (ActivityNet
    Captions)`; begun: as comparable.transfers() tells it.
    """
    study = studies[begun["study"]]
    corpus = sources.get(begun["source"], {}).get("title", begun["source"].replace("_", " "))
    stage = {"mlm": ", masked words", "clm": ", next words"}.get(begun["method"], "")
    learnt = (
        study["learnt"].format(**begun["data"]) if "learnt" in study else f"{study['title']}{stage}"
    )
    return (
        f"after coins for {learnt}, {corpus} (a control)"
        if is_coin(begun)
        else f"after {learnt}, {corpus}"
    )


def headlines(metrics: Path, studies: dict) -> pd.DataFrame:
    """The rows of all studies' headlines on whole splits, over all replicates, with their draws."""
    rows = read_metrics(metrics, draws=True).to_pandas()
    rows = rows[rows["seed"].isna() & rows["wording"].isna() & (rows["slice"] == "all")]
    rows = rows[
        rows["metric"]
        == rows["study"].map({name: study["headline"] for name, study in studies.items()})
    ]
    for column, plain in PREFERRED.items():
        if column in rows:
            rows = rows[rows[column].isna() | (rows[column] == plain)]
    return rows


def transfers(metrics: Path, sources_file: Path, models_file: Path) -> pd.DataFrame:
    """A row for each transfer and split: KEY, probe, corpus, system, begun, is_control (see
    is_coin), with_value, without_value, value (their difference), ci_low, ci_high, seeds, n,
    groups, sample, limit; shares from 0 to 1.

    Raises UserError where the metrics hold none of them.
    """
    studies, sources, models = (
        load(sources_file.with_name("studies.yaml")),
        load(sources_file),
        load(models_file),
    )
    rows, found = headlines(metrics, studies), []
    for told in read_yaml(sources_file.with_name("compared.yaml")):
        if told["study"] not in studies:
            continue
        same = rows[(rows[list(ROW)] == pd.Series({name: told[name] for name in ROW})).all(axis=1)]
        of, beside = (same[same["experiment"] == told[name]] for name in ("experiment", "without"))
        method, begun = told["method"], told["begun_with"]
        for row in pairs_of(of, beside, ["split"]).to_dict("records"):
            found.append(
                {name: row[name] for name in KEY}
                | {
                    "experiment": told["experiment"],
                    "without": told["without"],
                    "probe": studies[told["study"]]["title"],
                    "corpus": source_title(told["source"], sources),
                    "begun": start_title(begun, studies, sources),
                    "is_control": is_coin(begun),
                    "system": model_title(told["model"], models)
                    + ("" if method in ("train", "classify") else f", {method_title(method)}"),
                    "metric": row["metric"],
                    "with_value": row["value"],
                    "without_value": row["other"]["value"],
                }
                | difference(row, row["other"])._asdict()
                | {name: int(row[name]) for name in ("seeds", "n", "groups")}
                | {name: row[name] for name in ("sample", "limit")}
            )
    if not found:
        raise UserError(
            f"{metrics}: no run beside one that begins with another run's weights; evaluate both "
            "experiments again"
        )
    return pd.DataFrame(found)
