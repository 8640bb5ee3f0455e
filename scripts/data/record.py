"""The record: the results of runs that took hours, kept with the project. docs/record/<study>/
holds

runs.jsonl       a line for each run: run (its run.json), preset, command, recorded (the date),
                 paradigm (that of the training code, or `control`, `search/<study>`), version (of
                 this code, scripts/running/code_lock.py), versions (of the programs that cleaned
                 and built its data), programs (hashes of their code, in runs from before these
                 versions), given (sha256 of its settings, method and splits), made_from (what the
                 entry says of a model whose files it makes; missing for other models)
scores/          <preset>_<paradigm>.parquet: a row for each run, epoch and evaluation split: run,
                 split, selections (schema predictions), epoch, log_odds, score (the scores of the
                 examples in the order of the dataset, one after the other). If log_odds is true,
                 the scores were log-probabilities, and `score` has the log-odds of each label but
                 the first
history.parquet  loss and accuracy by epoch (schema history)
metrics.parquet  the numbers of the study (schema metrics) without draws, with the column preset
comparisons.parquet  models beside controls (scripts/measure/comparisons.py), with the column preset
manifest.json    the bytes and the sha256 of each of these files, which every reader checks

Runs of controls without a search are left out, since they are quick to measure again. Scores are
kept in the fewest bits that leave every rank unchanged. They are kept in full if a metric of the
study adds them up (study.yaml: sums_scores). Numbers are kept to a millionth. A record holds no
text of a corpus.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy.special import logsumexp
from scipy.stats import rankdata

from scripts.data.files import sha256_of, whole
from scripts.data.manifest import files_in, write_manifest
from scripts.data.plain_json import as_json
from scripts.data.tables import PREDICTIONS, read_table
from scripts.running.program import UserError

RUNS, SCORES, HISTORIES = "runs.jsonl", "scores", "history.parquet"
METRICS, COMPARISONS = "metrics.parquet", "comparisons.parquet"
MANIFEST = "manifest.json"
AGAIN = "restore it with git"
# Parquet calls the elements of a list `element`. With that name, a file that is read and written
# again keeps its bytes.
SCORE_SCHEMA = pa.schema(
    [
        ("run", pa.string()),
        ("split", pa.string()),
        ("selections", pa.list_(pa.field("element", pa.string()))),
        ("epoch", pa.int32()),
        ("log_odds", pa.bool_()),
        ("score", pa.list_(pa.field("element", pa.float32()))),
    ]
)
MILLIONTH = 20  # numbers are kept to this many bits after the point
FRACTION = 23  # bits of the fraction of a float32
KEPT = (9, 12, 15, 18)  # bits to keep: the smallest number that changes no rank is used


def digest_of_given(settings: dict, method: dict, splits: list[str]) -> str:
    """Return the sha256 of a run's settings, method and splits."""
    given = {"settings": settings, "method": method, "splits": splits}
    return hashlib.sha256(as_json(given).encode()).hexdigest()


# ---- Files


def write_hashes(folder: Path) -> None:
    """Write the manifest of a record's files."""
    kept = (folder / name for name in (RUNS, HISTORIES, METRICS, COMPARISONS))
    files = [*filter(Path.exists, kept), *(folder / SCORES).iterdir()]
    write_manifest(folder, [str(file.relative_to(folder)) for file in files], folder / MANIFEST)


def unchanged_files(folder: Path, name: str) -> list[Path]:
    """Return a file of a record, or the files in a folder of it. Raises UserError if one is not as
    it was recorded.
    """
    manifest = folder / MANIFEST
    try:
        hashes = {folder / file: facts["sha256"] for file, facts in files_in(manifest).items()}
    except (FileNotFoundError, IsADirectoryError, UserError):
        raise UserError(f"{manifest}: is missing or damaged; {AGAIN}") from None
    recorded = {file for file in hashes if folder / name in (file, file.parent)}
    present = (folder / name).glob("*.parquet") if name == SCORES else [folder / name]
    for file in sorted({*recorded, *present}):
        if not file.is_file() or sha256_of(file) != hashes.get(file):
            raise UserError(
                f"{file}: is not as it was recorded (its sha256 is not the one in {manifest}); "
                f"{AGAIN}"
            )
    return sorted(recorded)


# ---- Runs


def read_runs(folder: Path) -> dict[str, dict]:
    """Return the lines of runs.jsonl, by the name of the run; empty without a record. Raises
    UserError if the file is not as it was recorded.
    """
    if not (folder / RUNS).exists() and not (folder / MANIFEST).exists():
        return {}
    [file] = unchanged_files(folder, RUNS)
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {line["run"]["run"]: line for line in lines}


def write_runs(runs: dict[str, dict], folder: Path) -> None:
    lines = [json.dumps(runs[name], sort_keys=True) + "\n" for name in sorted(runs)]
    (folder / RUNS).write_text("".join(lines), encoding="utf-8")


# ---- Scores


def rounded(scores: np.ndarray, bits: int) -> np.ndarray:
    """Return scores (float32) rounded to `bits` bits of their fraction; infinite scores and NaN
    stay.
    """
    left = FRACTION - bits
    whole_bits = scores.view(np.uint32)
    kept = (whole_bits + np.uint32(1 << (left - 1))) & np.uint32(-(1 << left) & 0xFFFFFFFF)
    return np.where(np.isfinite(scores), kept.view(np.float32), scores)


def ranks(scores: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """Return (n, 2 × labels) with two ranks: of each score among the labels of its example, and of
    each label's score among the examples of a choice.
    """
    among = pd.DataFrame(scores).groupby(choices).rank("dense").to_numpy()
    return np.hstack([rankdata(scores, "dense", axis=1, nan_policy="omit"), among])


def shortened(scores: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """Return the (n, labels) scores in the fewest bits that leave each rank unchanged. choices: (n)
    the group within which an example is compared.
    """
    wanted = ranks(scores, choices)
    for bits in KEPT:
        found = rounded(scores, bits)
        if np.array_equal(ranks(found, choices), wanted, equal_nan=True):
            return found
    return scores


def as_log_odds(scores: np.ndarray) -> np.ndarray | None:
    """Return (n, labels - 1), the log-odds of each label but the first; None if the scores are not
    log-probabilities.
    """
    with np.errstate(invalid="ignore"):  # an unreadable answer has no scores
        if scores.shape[1] < 2 or not np.allclose(logsumexp(scores, 1), 0, atol=1e-5):
            return None
        return scores[:, 1:] - scores[:, :1]


def as_log_probabilities(log_odds: np.ndarray) -> np.ndarray:
    """Return (n, labels) log-probabilities from the log-odds of each label but the first. Two
    labels that differ by the smallest step of 32 bits still differ in the result.
    """
    below = np.hstack([np.zeros_like(log_odds[:, :1]), log_odds])
    below = below - below.max(1, keepdims=True)
    return below - np.log(np.exp(below).sum(1, keepdims=True))


def kept_scores(scores: np.ndarray, choices: np.ndarray, whole_scores: bool) -> dict:
    """Return the columns log_odds and score of a row of scores."""
    odds = as_log_odds(scores)
    if odds is not None:
        from_first = np.hstack([np.zeros_like(odds[:, :1]), odds])
        odds = (from_first if whole_scores else shortened(from_first, choices))[:, 1:]
        if np.array_equal(ranks(as_log_probabilities(odds), choices), ranks(scores, choices)):
            return {"log_odds": True, "score": odds.ravel()}
    short = scores if whole_scores else shortened(scores, choices)
    return {"log_odds": False, "score": short.ravel()}


def scored_rows(
    predictions: pa.Table, data: Path, columns: dict[str, str], whole_scores: bool = False
) -> list[dict]:
    """Return the rows of scores of one run; data: the folder of its dataset; columns: the
    columns of its study. Raises UserError if the predictions are not in the dataset's order.
    """
    found: dict[tuple, dict] = {}
    keys = ["run", "split", "selection", "epoch"]
    frame = predictions.select([*keys, "example_id"]).to_pandas()
    for (run, split, selection, epoch), part in frame.groupby(keys):
        if (split, epoch) in found:
            found[split, epoch]["selections"].append(selection)
            continue
        wanted = [columns[name] for name in ("example_id", "choice_id") if name in columns]
        examples = read_table(data / f"{split}.parquet", wanted).to_pandas()
        if list(examples[wanted[0]]) != list(part["example_id"]):
            raise UserError(
                f"{run}: its predictions on {split} belong to other examples than those in {data}; "
                "run it again"
            )
        flat = pc.list_flatten(predictions["score"].take(pa.array(part.index))).to_numpy()
        scores = flat.reshape(len(part), -1)
        choices = examples[wanted[1]].to_numpy() if len(wanted) > 1 else np.arange(len(part))
        found[split, epoch] = {
            "run": run,
            "split": split,
            "selections": [selection],
            "epoch": epoch,
            **kept_scores(scores, choices, whole_scores),
        }
    return list(found.values())


def predictions_of(rows: list[dict], data: Path, columns: dict[str, str]) -> pa.Table:
    """Return the predictions from which scored_rows() made these rows."""
    parts = []
    named = [(selection, row) for row in rows for selection in row["selections"]]
    for selection, row in sorted(named, key=lambda one: one[0]):
        names = [columns["example_id"], columns["group_id"], "label"]
        table = read_table(data / f"{row['split']}.parquet", names)
        scores = np.asarray(row["score"], np.float32)
        width = len(scores) // max(len(table), 1)
        if not width or width * len(table) != len(scores):
            raise UserError(
                f"{row['run']}: the record has {len(scores)} scores of {row['split']}, but this "
                f"split has {len(table)} examples; {AGAIN}"
            )
        if row["log_odds"]:
            scores, width = as_log_probabilities(scores.reshape(-1, width)).ravel(), width + 1
        same = {"run": row["run"], "split": row["split"], "selection": selection}
        columns_of_scores = {key: [value] * len(table) for key, value in same.items()} | {
            "epoch": np.full(len(table), row["epoch"]),
            "example_id": table[names[0]],
            "group_id": table[names[1]],
            "label": table["label"],
            "score": pa.FixedSizeListArray.from_arrays(scores, width),
        }
        parts.append(pa.table(columns_of_scores).select(PREDICTIONS.names).cast(PREDICTIONS))
    return pa.concat_tables(parts)


def read_kept(folder: Path, name: str) -> pa.Table:
    """Read a table of a record, or a folder of tables. Raises UserError if it is not as it was
    recorded.
    """
    return pa.concat_tables(map(pq.read_table, unchanged_files(folder, name)))


def write_scores(scores: pa.Table, files: Mapping[str, str], folder: Path) -> None:
    """Write the scores of runs to several files. files: the name of each run's file, by run."""
    folder.mkdir()
    names = [files[run] for run in scores["run"].to_pylist()]
    for name in sorted(set(names)):
        of_file = scores.filter(pa.array([other == name for other in names]))
        write_compact(of_file.sort_by("run"), folder / name)


def to_a_millionth(metrics: pa.Table) -> pa.Table:
    """Return the table with its 64-bit numbers as multiples of 2**-20, which take a third of the
    bytes.
    """
    for place, field in enumerate(metrics.schema):
        if pa.types.is_float64(field.type):
            numbers = np.round(np.ldexp(metrics[field.name].to_numpy(), MILLIONTH))
            column = pa.array(np.ldexp(numbers, -MILLIONTH), from_pandas=True)
            metrics = metrics.set_column(place, field, column)
    return metrics


def write_compact(table: pa.Table, file: Path) -> None:
    """Write a table of a record. Byte-stream splitting stores the same byte of all numbers
    together, which compresses well.
    """
    numbers = [
        "score.list.element" if field.name == "score" else field.name
        for field in table.schema
        if field.name == "score" or pa.types.is_floating(field.type)
    ]
    texts = [
        field.name
        for field in table.schema
        if pa.types.is_string(field.type) or pa.types.is_boolean(field.type)
    ]
    with whole(file) as beside:
        pq.write_table(
            table,
            beside,
            compression="zstd",
            compression_level=19,
            use_dictionary=texts,
            use_byte_stream_split=numbers,
            write_page_checksum=True,
        )
