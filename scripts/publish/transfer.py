"""Draw what one training gives to another: paired differences, a panel for each probe.

A row is a system on a corpus, a mark how many points it gains by beginning with weights that were
trained on something else before. The CSV has both numbers of a difference.
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.data.tables import read_metrics
from scripts.data.yaml_files import read_yaml
from scripts.measure.intervals import difference
from scripts.plan.comparable import ROW
from scripts.publish.arguments import run_program
from scripts.publish.names import load, method_note, model_title, source_title
from scripts.publish.panels import forest_of, publish
from scripts.publish.selection import pairs_of

KEY = [*ROW, "split"]
CONTROL = "control: after as much training on the same pairs, with coins for labels"


def is_coin(begun: dict) -> bool:
    """Whether a run begins with a control of any further training: coins in place of the order."""
    return begun["data"].get("train_labels") == "coin"


def start_title(begun: dict, studies: dict, sources: dict) -> str:
    """`after sentence order of stride 4 (ActivityNet Captions)`, of a transfer's begun_with."""
    study = studies[begun["study"]]
    corpus = sources.get(begun["source"], {}).get("title", begun["source"].replace("_", " "))
    stage = {"mlm": ", masked words", "clm": ", next words"}.get(begun["method"], "")
    learnt = study.get("learnt", f"{study['title']}{stage}").format(**begun["data"])
    coins = is_coin(begun)
    return f"after {'coins for ' * coins}{learnt}, {corpus}{' (a control)' * coins}"


def headlines(metrics: Path, studies: dict) -> pd.DataFrame:
    """The rows of all studies' headlines on whole splits, over all replicates."""
    rows = read_metrics(metrics, draws=True).to_pandas()
    rows = rows[rows["seed"].isna() & rows["wording"].isna() & (rows["slice"] == "all")]
    headline = {name: study["headline"] for name, study in studies.items()}
    rows = rows[rows["metric"] == rows["study"].map(headline)]
    if "scoring" in rows:  # of several ways to score one answer
        rows = rows[rows["scoring"].isna() | (rows["scoring"] == "ternary")]
    return rows


def transfers(metrics: Path, sources_file: Path, models_file: Path) -> pd.DataFrame:
    """A row for each transfer and split; value is the difference."""
    studies = load(sources_file.with_name("studies.yaml"))
    sources, models = load(sources_file), load(models_file)
    rows, found = headlines(metrics, studies), []
    for entry in read_yaml(sources_file.with_name("compared.yaml")):
        if entry["study"] not in studies:
            continue
        same = rows[(rows[list(ROW)] == pd.Series({name: entry[name] for name in ROW})).all(axis=1)]
        of, beside = (same[same["experiment"] == entry[name]] for name in ("experiment", "without"))
        begun, how = entry["begun_with"], method_note(entry["method"], ("train", "classify"))
        system = model_title(entry["model"], models) + how
        for row in pairs_of(of, beside, ["split"]).to_dict("records"):
            found.append(
                {name: row[name] for name in KEY}
                | {
                    "experiment": entry["experiment"],
                    "without": entry["without"],
                    "probe": studies[entry["study"]]["title"],
                    "corpus": source_title(entry["source"], sources),
                    "begun": start_title(begun, studies, sources),
                    "is_control": is_coin(begun),
                    "system": system,
                    "metric": row["metric"],
                    "with_value": row["value"],
                    "without_value": row["other"]["value"],
                }
                | difference(row, row["other"])._asdict()
                | {name: int(row[name]) for name in ("seeds", "n", "groups")}
                | {name: row[name] for name in ("sample", "limit")}
            )
    return pd.DataFrame(found)


def main(given: argparse.Namespace) -> None:
    found = transfers(given.metrics, given.sources, given.models)
    panels = []
    for probe, points in found.groupby("probe", sort=False):
        row = points["system"]
        for name in ("dataset", "split"):
            several = points.groupby("source")[name].transform("nunique") > 1
            row += (", " + points[name]).where(several, "")
        corpora = ", ".join(dict.fromkeys(points["corpus"]))
        detail = f"{corpora}; {points['metric'].iloc[0].replace('_', ' ')}"
        panels.append((probe, detail, points.assign(row=row, series=points["begun"])))
    xlabel, line = "points above the same model without", "no difference"
    publish(given, found, lambda: forest_of(panels, xlabel, 0.0, line, CONTROL))


if __name__ == "__main__":
    run_program(main, __doc__)
