"""The training, held-out and evaluation splits of a run, as tables."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from scripts.data.keyed import keyed_uniform
from scripts.running.program import UserError, cut
from scripts.data.tables import check_complete, read_table
from scripts.train.work import reads_training

HELD_OUT = 17  # marks the draw of held-out groups: the same for every seed, stride and model


def read_split(data: Path, split: str, job: dict) -> pa.Table:
    """One split: example_id, group_id, the texts, label, and choice where the study has a
    choice_id. Raises UserError when it is empty or a label is unknown.
    """
    ids = {
        name: job["columns"][name]
        for name in ("example_id", "group_id", "choice_id")
        if name in job["columns"]
    }
    table = read_table(
        data / f"{split}.parquet", [*dict.fromkeys([*ids.values(), *job["inputs"], "label"])]
    )
    if len(table) == 0:
        raise UserError(f"{data / split}.parquet: no examples; the log of its build says why")
    check_complete(data / f"{split}.parquet", table, table.schema.names)
    for name in table.schema.names:
        kind = table[name].type
        if not (pa.types.is_integer(kind) if name == "label" else pa.types.is_string(kind)):
            raise UserError(
                f"{data / split}.parquet: column {name} holds {cut(str(kind))}, not "
                f"{'integers' if name == 'label' else 'text'}; build the dataset again"
            )
    labels = table["label"].to_numpy()
    if labels.min() < 0 or labels.max() >= len(job["labels"]):
        odd = labels.min() if labels.min() < 0 else labels.max()
        raise UserError(
            f"{data / split}.parquet: label {odd} is not one of {len(job['labels'])} labels; build "
            "the dataset again"
        )
    named = {name: table[column] for name, column in ids.items()} | {
        name: table[name] for name in (*job["inputs"], "label")
    }
    if "choice_id" in named:
        named["choice"] = pa.array(
            named.pop("choice_id").to_pandas().factorize()[0].astype(np.int64)
        )
    return pa.table(named)


def read_tables(job: dict, data: Path) -> dict[str, pa.Table]:
    """The splits by name: learned, held_out (unless the share to hold out is 0)
    and each evaluation split.

    The training split is `learned`, without its held-out groups. A method that does not learn has
    only evaluation splits. If its prompt needs the training split, this is `learned`: as a whole,
    or what chooses the threshold under a limit.
    """
    training, (train_split, *evaluation) = job["settings"]["training"], job["splits"]
    tables = {split: read_split(data, split, job) for split in evaluation}
    if not job["learns"]:
        if not reads_training(job.get("prompt"), training):
            return tables
        from scripts.data.limit import choosing  # late: it needs pandas, which most runs do not

        learned, threshold = read_split(data, train_split, job), job["prompt"]["threshold"] or ""
        where = f"{data} {train_split}"
        return tables | {"learned": choosing(learned, "group_id", threshold, where)}
    table = read_split(data, train_split, job)
    if job["held_out"]:
        return tables | {"learned": table, "held_out": read_split(data, job["held_out"], job)}
    if training["held_out_fraction"] == 0:
        return tables | {"learned": table}
    groups = table["group_id"].to_pandas()
    held_out = keyed_uniform(groups, HELD_OUT) < training["held_out_fraction"]
    if held_out.all() or not held_out.any():
        raise UserError(
            f"{data / train_split}.parquet: {groups.nunique()} groups are too few to hold "
            f"{training['held_out_fraction']:.0%} of them out; use more data or another "
            "held_out_fraction"
        )
    return tables | {
        "learned": table.filter(pa.array(~held_out)),
        "held_out": table.filter(pa.array(held_out)),
    }
