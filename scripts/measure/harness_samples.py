"""Read samples_*.jsonl, which lm-evaluation-harness wrote for a task of `snakemake harness`
(scripts/publish/harness_tasks.py), as scores of the examples of a split.

The harness writes a line for each row and filter. In it, `doc` is the row, and `resps` is the
log-likelihood of the row's text. This module computes scores from them as the paradigm `likelihood`
does. harness_answers.py reads answers in words.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.data.limit import choosing
from scripts.data.runs import is_name
from scripts.data.tables import read_table
from scripts.data.texts import json_of, lines_in, text_of
from scripts.measure.answered import Answered
from scripts.running.program import UserError, cut, log, shown
from scripts.text.placeholders import CANDIDATE
from scripts.train.threshold import best_threshold

REMEDY = "take the file as the harness wrote it"
# fields with the same value in all rows
TASK = ["study", "dataset", "split", "method", "wording", "score", "threshold"]
# part: the row's split: the task's split, or the split that chooses a threshold; data: its digest
ROW = ["part", "data", "example_id", "label", "context", "text"]
# the fields of results_<date>.json that a system's run.json keeps
OF_RESULTS = (
    "model_name model_source lm_eval_version transformers_version date chat_template_sha "
    "system_instruction_sha".split()
)
OF_CONFIG = "model_dtype model_revision model_sha use_cache".split()


def kind_of_samples(file: Path) -> str | None:
    """Return `likelihoods` or `answers` for a file that the harness wrote, by its first line; None
    for any other file.
    """
    try:
        with file.open("rb") as opened:
            line = json.loads(opened.readline())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or not {"doc", "doc_hash", "resps"} <= set(line):
        return None
    doc = line["doc"]
    return "answers" if isinstance(doc, dict) and "members" in doc else "likelihoods"


def refuse_other_doc(doc: dict, known: str, where: str) -> None:
    written = json.dumps(doc, indent=2, ensure_ascii=False)
    if hashlib.sha256(written.encode()).hexdigest() != known:
        raise UserError(f"{where}: its doc does not have the hash doc_hash; {REMEDY}")


def texts_in(sent: Any) -> Iterator[str]:
    """Yield the texts of a request as the harness writes it: a text, messages, or JSON of messages,
    whose contents may be parts.
    """
    if isinstance(sent, str):
        yield sent
        if sent[:1] in ("[", "{"):
            with suppress(ValueError, RecursionError):
                yield from texts_in(json.loads(sent))
    elif isinstance(sent, dict | list):
        for part in sent.values() if isinstance(sent, dict) else sent:
            yield from texts_in(part)


def holds(sent: Any, text: str) -> bool:
    """Return whether a request holds a text; a chat template may change white space at its ends."""
    return any(text.strip() in one for one in texts_in(sent))


def row_of(sample: Any, where: str) -> dict:
    """Return a line's row with its likelihood. `wrapped` is true if the context was sent inside
    other text.
    """
    try:
        doc, sent = sample["doc"], sample["arguments"]["gen_args_0"]
        row = {name: doc[name] for name in [*TASK, *ROW]} | {"domain": doc["domain"]}
        context, text, known = sent["arg_0"], sent["arg_1"], sample["doc_hash"]
    except (KeyError, TypeError):
        row = {"study": None}
    if not all(isinstance(value, str) for name, value in row.items() if value or name != "domain"):
        raise UserError(
            f"{where}: is not a row of a task of `snakemake harness`; name the samples of such a "
            "task"
        )
    refuse_other_doc(doc, known, where)
    if text != row["text"] or not holds(context, row["context"]):
        raise UserError(
            f"{where}: the harness asked {shown(context)} and {shown(text)}, which are not in "
            "the task; run the task as it was written"
        )
    try:
        ((answer, _),) = sample["resps"][0]
        likelihood = float(answer)
    except (TypeError, ValueError, LookupError):
        likelihood = float("nan")
    if not -np.inf < likelihood <= 0:
        raise UserError(
            f"{where}: resps is {shown(sample.get('resps'))}, not one log-likelihood; {REMEDY}"
        )
    return row | {"likelihood": likelihood, "wrapped": context != row["context"], "place": where}


def rows_in(file: Path, row_of: Callable[[Any, str], dict], alike: list[str]) -> pd.DataFrame:
    """Return the rows of a file. Raises UserError if a column of `alike` has several values."""
    lines = lines_in(text_of(file, REMEDY, REMEDY), str(file), REMEDY)
    places = {f"{file}: line {number}": line for number, line in enumerate(lines, 1)}
    rows = pd.DataFrame(
        [
            row_of(json_of(line, place, REMEDY), place)
            for place, line in places.items()
            if line.strip()
        ]
    )
    if mixed := [name for name in alike if rows[name].nunique() > 1]:
        raise UserError(
            f"{file}: its rows have {rows[mixed[0]].nunique()} values of {mixed[0]}; give the "
            "samples of one task"
        )
    return rows


def sampled_rows(file: Path) -> pd.DataFrame:
    """Return the distinct rows of a file; several filters may have written the same row. Raises
    UserError for rows of two tasks or two models.
    """
    rows = rows_in(file, row_of, TASK)
    of_domain, example = rows["example_id"] == "", ["part", "example_id", "label"]
    rows = rows.drop_duplicates([*example, "context", "text", "likelihood"])
    twice = rows.duplicated(example) & ~of_domain | rows.duplicated(["context", "text"]) & of_domain
    if twice.any():
        at = rows[twice].iloc[0]
        raise UserError(
            f"{at['place']}: its row is already above with another log-likelihood, so the file "
            "holds two runs; give the file of one model"
        )
    if rows["likelihood"].nunique() == 1 < len(rows):
        raise UserError(
            f"{file}: every log-likelihood is {rows['likelihood'].iloc[0]}: the server gave none "
            "of its prompt; ask one that does, such as vLLM"
        )
    return rows.reset_index(drop=True)


def facts_of(rows: pd.DataFrame, answered: Answered, split_file: Path, file: Path) -> dict:
    """Return the facts about the task and the run. Raises UserError for rows of another study,
    dataset, split or build.
    """
    dataset = f"{split_file.parent.parent.name}/{split_file.parent.name}"
    found = rows.iloc[0]
    for name, wanted, remedy in (
        ("study", answered.study, f"measure it with scripts.studies.{found['study']}.evaluate"),
        ("dataset", dataset, f"give --dataset results/build/{answered.study}/{found['dataset']}"),
        ("split", split_file.stem, f"give --split {found['split']}"),
    ):
        if found[name] != wanted:
            raise UserError(f"{file}: has the {name} {cut(found[name])}, not {wanted}; {remedy}")
    builds = rows.loc[rows["part"] != "", ["part", "data"]].drop_duplicates()
    for part, data in builds.itertuples(index=False):
        if not is_name(part):
            raise UserError(f"{file}: part {shown(part)} is not the name of a split; {REMEDY}")
        place = split_file.with_name(f"{part}.parquet")
        if answered.digest(place) != data:
            raise UserError(
                f"{file}: {place} has changed since these rows; write the tasks and run the "
                "harness again"
            )
    return found[TASK].to_dict() | results_of(file)


def likelihoods_of(rows: pd.DataFrame) -> pd.Series:
    """Return the score of each row's text, from its log-likelihood. If the task has domains, the
    log-likelihood after the domain is subtracted. If the task's score is `byte`, the result is
    divided by the text's bytes.
    """
    found = rows["likelihood"]
    if rows["domain"].notna().any():
        alone = rows[rows["example_id"] == ""].set_index(["context", "text"])["likelihood"]
        after = pd.MultiIndex.from_frame(rows[["domain", "text"]])
        found = found - alone.reindex(after).to_numpy()
    if rows["score"].iloc[0] == "byte":
        found = found / rows["text"].str.encode("utf-8").str.len().clip(1)
    return found


def table_of(
    rows: pd.DataFrame, place: Path, answered: Answered, file: Path, threshold: str = ""
) -> pd.DataFrame:
    """Return the score of each label of the task for each example of a split, in the split's order.
    Column "" holds the number of the right label. Raises UserError if a score is missing. place:
    the split's file. threshold: for the training split, which of its examples choose the threshold;
    see choosing().
    """
    example, group, *_ = answered.columns
    table = choosing(read_table(place, [example, group, "label"]), group, threshold, str(place))
    examples = table.to_pandas().set_index(example)["label"]
    found = rows[rows["part"] == place.stem].pivot(
        index="example_id", columns="label", values="found"
    )
    table = found.reindex(examples.index, columns=sorted({*rows["label"]} - {""}))
    if (lost := table.isna().to_numpy()).any():
        row, column = np.argwhere(lost)[0]
        raise UserError(
            f"{file}: {lost.sum()} of {lost.size} rows of {place.stem} (or of their domain) are "
            f"missing: the first is {table.columns[column]} of {cut(table.index[row])}; run the "
            "task without --limit"
        )
    return table.assign(**{"": examples})


def scores_of(rows: pd.DataFrame, answered: Answered, split_file: Path, file: Path) -> pd.DataFrame:
    """Return the scores of a split's examples: example_id, and the log-probability of each label,
    or the score of a candidate.
    """
    rows = rows.assign(found=likelihoods_of(rows))
    labels = answered.labels[0]
    threshold, written = rows["threshold"].iloc[0], {*rows["label"]} - {""}
    if written != {CANDIDATE} and written != {*labels} and not (threshold and written < {*labels}):
        raise UserError(f"{file}: its labels are {cut(', '.join(sorted(written)))}; {REMEDY}")
    table = table_of(rows, split_file, answered, file)
    if CANDIDATE in table:
        return pd.DataFrame({"example_id": table.index, "score": table[CANDIDATE].to_numpy()})

    def margin(table: pd.DataFrame) -> np.ndarray:
        signed = [sign * table[label] for label, sign in zip(labels, (-1, 1)) if label in table]
        return np.sum(signed, axis=0)

    if threshold:
        learned = {*rows["part"]} - {"", split_file.stem}
        if len(learned) != 1:
            raise UserError(
                f"{file}: has no rows of the training split, which choose the threshold; run the "
                "task without --limit"
            )
        place = split_file.with_stem(learned.pop())
        known = table_of(rows, place, answered, file, threshold)
        best = best_threshold(margin(known), known[""].to_numpy() == 1)
        above = margin(table) - best
        scores = -np.logaddexp(0, np.stack([above, -above], 1))
    else:
        scores = table[labels].to_numpy()
        scores = scores - np.logaddexp.reduce(scores, 1, keepdims=True)
    return pd.DataFrame(scores, columns=labels).assign(example_id=table.index)


def results_of(file: Path) -> dict:
    """Return the harness's facts about the run that wrote a file, from results_<date>.json beside
    it. Raises UserError if there are several such files, but none with the file's date.
    """
    date = re.search(r"_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl$", file.name)
    named = file.with_name(f"results_{date[1]}.json") if date else file
    found = [named] if date and named.exists() else sorted(file.parent.glob("results_*.json"))
    if not found:
        log.warning("warning: %s: the model is unknown without a results_*.json beside it", file)
        return {}
    if len(found) > 1:
        raise UserError(
            f"{file}: {len(found)} files results_*.json are beside it, but none has its date, so "
            "its model is not known; keep only the file of its run"
        )
    of_harness = json_of(text_of(found[0], REMEDY, REMEDY), str(found[0]), REMEDY)
    config = of_harness.get("config") if isinstance(of_harness, dict) else None
    if not isinstance(config, dict):
        raise UserError(f"{found[0]}: does not describe a run; {REMEDY}")
    if config.get("use_cache"):
        log.warning(
            "warning: %s: was run with --use_cache, which can report one model's answers as "
            "another's",
            file,
        )
    return {name: of_harness.get(name) for name in OF_RESULTS} | {
        name: config.get(name) for name in OF_CONFIG
    }


def read_samples(file: Path, answered: Answered, split_file: Path) -> tuple[pd.DataFrame, dict]:
    """Return the answers of a split (example_id; a score for each label, or `score`), and the facts
    about the task and the run.
    """
    rows = sampled_rows(file)
    facts = facts_of(rows, answered, split_file, file)
    if wrapped := int(rows["wrapped"].sum()):
        facts["wrapped_contexts"] = wrapped
        log.warning(
            "warning: %s: %d contexts were sent inside more text (a chat template, a system "
            "message); white space at their end is scored with every label",
            file,
            wrapped,
        )
    return scores_of(rows, answered, split_file, file), facts
