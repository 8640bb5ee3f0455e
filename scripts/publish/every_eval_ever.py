"""Give the numbers of one model the form of every_eval_ever 0.3.0
(resources/schemas/every_eval_ever.schema.json). scripts/publish/leaderboard.py writes the files.

The files leave out metrics without a direction (gaps, ranges, shares of answers). They have no
single examples, because most corpora do not allow others to pass on their texts.
"""

import pandas as pd

from scripts.measure.intervals import LEVEL
from scripts.running.project_version import version

SHARE = {"metric_unit": "proportion", "min_score": 0, "max_score": 1}
NAME, SCHEMA_VERSION = "timestride", "0.3.0"
DETAILS = ("study", "experiment", "source", "dataset", "method", "split", "limit", "sample")


def aggregate(rows: pd.DataFrame, name: str, facts: dict, date: int) -> dict:
    """Return the aggregate file of one model. rows: its rows from leaderboard_rows() of
    leaderboard.py; facts: its --facts; date: Unix seconds.
    """
    model = facts["models"][name]
    identity = model.get("hub", f"{NAME}/{name}")
    metrics = [
        facts["metrics"][row["study"]].get(row["metric"], {}) for row in rows.to_dict("records")
    ]
    details = {
        "deployment_type": "self_deployed",
        "model_availability": "open_weights" if "hub" in model else "unknown",
    }
    details |= {"revision": model["revision"]} if "revision" in model else {}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{NAME}/{identity}/{date}",
        "evaluation_timestamp": str(date),
        "retrieved_timestamp": str(date),
        "source_metadata": {
            "source_name": NAME,
            "source_type": "evaluation_run",
            "source_organization_name": NAME,
            "evaluator_relationship": "third_party" if "hub" in model else "other",
        },
        "eval_library": {"name": NAME, "version": version()},
        "model_info": {"name": name, "id": identity, "additional_details": details},
        "evaluation_results": [
            result_of(row, metric)
            for row, metric in zip(rows.to_dict("records"), metrics)
            if "better" in metric
        ],
    }


def result_of(row: dict, metric: dict) -> dict:
    details = {key: str(row[key]) for key in DETAILS if key in row and pd.notna(row[key])}
    interval = {
        "lower": row["ci_low"],
        "upper": row["ci_high"],
        "confidence_level": LEVEL,
        "method": "bootstrap over groups, and seeds where there are several",
    }
    known = {"confidence_interval": interval} if pd.notna(row["ci_low"]) else {}
    return {
        "evaluation_result_id": f"{row['task']}:{row['metric']},{row['key']}",
        "evaluation_name": row["task"],
        "source_data": {
            "dataset_name": f"{row['source']}/{row['dataset']}",
            "source_type": "other",
            "additional_details": details,
        },
        "metric_config": {
            "metric_name": row["metric"],
            "lower_is_better": metric["better"] == "lower",
            "score_type": "continuous",
            **(SHARE if metric.get("unit", "share") == "share" else {"metric_unit": "number"}),
            "additional_details": {"scoring": row["key"]},
        },
        "score_details": {
            "score": row["value"],
            "uncertainty": known | {"num_samples": int(row["n"])},
        },
    }
