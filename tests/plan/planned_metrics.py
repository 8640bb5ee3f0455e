"""Rows of metrics as the runs of a preset would give them, without a run: one for each system,
split, slice and metric.
"""

import json
from functools import cache

import numpy as np
import pandas as pd
import yaml

from scripts.data.yaml_files import read_yaml
from scripts.plan.configuration import resolve
from scripts.plan.schemas import checked
from scripts.plan.settings import Configuration
from tests.conftest import ROOT
from tests.plan.test_configuration import overlaid, unknown
from tests.registers import MODELS, SOURCES, STUDIES

METRICS = yaml.safe_load("""
strided_sop: [accuracy, peak_accuracy]
temporal_nli: [accuracy, weighted_f1, confusion, says_entailment]
mctaco: [exact_match, f1, f1_minus_exact_match]
timedial: [two_best_accuracy, one_best_accuracy, wrong_above_right]
""")
BASELINES = {"temporal_nli": ["majority"], "mctaco": ["random", "always_yes", "always_no"]}


@cache
def planned(preset: str):
    """Return the plan of a preset over the default configuration."""
    config = overlaid(read_yaml(ROOT / "config.yaml"), read_yaml(ROOT / f"presets/{preset}.yaml"))
    return resolve(checked(Configuration, config), SOURCES, MODELS, STUDIES, [], unknown)


def systems_of(preset: str, study: str) -> list[dict]:
    """Return the systems of a preset's runs and the study's baselines: the columns of their metrics
    that are known before measuring.
    """
    systems, seen = [], set()
    for run in planned(preset).runs.values():
        if run.study != study or STUDIES[study]["methods"][run.method].get("makes_model"):
            continue
        source = SOURCES[run.dataset.source]
        learns = STUDIES[study]["methods"][run.method]["learns"]
        same = {
            "study": study,
            "source": run.dataset.source,
            "dataset": run.dataset.name,
            "measured_on": source.get("measured_on"),
        }
        same |= (
            {"domain": source.get("domain", "in") if learns else "zero_shot"}
            if study == "timedial"
            else {}
        )
        same |= run.dataset.data
        systems.append(same | {"model": run.model, "method": run.method})
        baselines = (
            [] if (run.dataset.source, run.dataset.name) in seen else BASELINES.get(study, [])
        )
        seen.add((run.dataset.source, run.dataset.name))
        systems += [
            same | {"model": name, "method": "majority" if name == "majority" else "baseline"}
            for name in baselines
        ]
    return list({json.dumps(system, sort_keys=True): system for system in systems}.values())


def planned_metrics(preset: str, study: str, slices: list[str]) -> pd.DataFrame:
    """Return the metrics of a study as a preset would give them; every value is a half. slices: the
    slices of the rows.
    """
    rows = []
    for number, system in enumerate(systems_of(preset, study)):
        splits = SOURCES[system["measured_on"] or system["source"]]["evaluate"]
        scorings = ["ternary", "binary"] if study == "temporal_nli" else [None]
        rows += [
            system
            | {
                "experiment": preset,
                "runs": f"run-{number}",
                "split": split,
                "slice": name,
                "metric": metric,
                "scoring": scoring,
            }
            for split in splits
            for name in slices
            for metric in METRICS[study]
            for scoring in scorings
        ]
    fixed = yaml.safe_load("""
        {value: 0.5, sd: null, seeds: 1, ci_low: 0.4, ci_high: 0.6, n: 100, groups: 50, effective_groups: 50.0,
          sample: false, seed: null, wording: null}
    """)
    table = pd.DataFrame(rows).assign(**fixed)
    table["chosen"] = table["method"] == "control"
    table["kind_of_control"] = table["method"].map({"control": "like_for_like"})
    table["draws"] = [[np.full(20, 0.5)] for _ in range(len(table))]
    return table
