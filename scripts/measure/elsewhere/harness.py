"""Read samples_*.jsonl, which lm-evaluation-harness wrote for a task of `snakemake harness`.

The harness writes a line for each row and filter. In it, `doc` is the row. `resps` is the
log-likelihood of the row's text, from which scores are computed as the paradigm `likelihood` does,
or the answer in words.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.data.limit import choosing
from scripts.data.tables import read_table
from scripts.data.texts import json_of, lines_in, text_of
from scripts.measure.answered import Answered
from scripts.measure.elsewhere.asked import LIKELY, answers_in_words, check_task, row_of
from scripts.measure.elsewhere.table import Elsewhere, refuse, table_of
from scripts.running.program import UserError, cut, log, shown
from scripts.text.placeholders import CANDIDATE
from scripts.train.asking.answer import Answer
from scripts.train.asking.thoughts import BEGIN
from scripts.train.threshold import best_threshold

REMEDY = "take the file as the harness wrote it"
TWICE = "the file holds two runs; give the file of one model"
LACKING = "run the task without --limit"
# the fields of results_<date>.json that a system's run.json keeps
OF_RESULTS = (
    "model_name model_source lm_eval_version transformers_version date chat_template_sha "
    "system_instruction_sha".split()
)
OF_CONFIG = "model_dtype model_revision model_sha use_cache".split()
OPENED = re.compile(rf"(?:{BEGIN.pattern})\s*\Z", re.I)


def is_sample(value: Any) -> bool:
    return isinstance(value, dict) and {"doc", "doc_hash", "resps"} <= set(value)


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


def answer_of(sample: dict, sent: Any, place: str) -> str:
    """Return the text of an answer; null is a server that gave no content. A thought may begin at
    the end of the prompt, as some templates write it.
    """
    match sample["resps"]:
        case [[str() | None as said]]:
            marks = [OPENED.search(text) for text in texts_in(sent)]
            return next((mark[0] for mark in marks if mark), "") + (said or "")
    raise UserError(f"{place}: resps is {shown(sample['resps'])}, not one text; {REMEDY}")


def likelihood_of(sample: dict, place: str) -> float:
    try:
        ((answer, _),) = sample["resps"][0]
        likelihood = float(answer)
    except (TypeError, ValueError, LookupError):
        likelihood = float("nan")
    if not -np.inf < likelihood <= 0:
        raise UserError(
            f"{place}: resps is {shown(sample['resps'])}, not one log-likelihood; {REMEDY}"
        )
    return likelihood


def sample_of(sample: Any, file: Path, number: int) -> dict:
    """Return a line's row with its answer (a text or a log-likelihood). `wrapped` is true if the
    text was sent inside other text.
    """
    place = f"{file}: line {number}"
    row = row_of(sample.get("doc") if isinstance(sample, dict) else None, place)
    written = json.dumps(sample["doc"], indent=2, ensure_ascii=False)
    if hashlib.sha256(written.encode()).hexdigest() != sample.get("doc_hash"):
        raise UserError(f"{place}: its doc does not have the hash doc_hash; {REMEDY}")
    try:
        request = sample["arguments"]["gen_args_0"]
        sent, scored = request["arg_0"], request["arg_1"]
    except (KeyError, TypeError):
        raise UserError(f"{place}: has no arguments; {REMEDY}") from None
    text = row["question"] if "question" in row else row["context"]
    # a chat template may change white space at the ends of a text
    is_there = any(text.strip() in one for one in texts_in(sent))
    if not is_there or scored != row.get("text", scored):
        raise UserError(
            f"{place}: the harness asked {shown(sent)} and {shown(scored)}, which are not in the "
            "task; run the task as it was written"
        )
    answer: str | float
    if "question" in row:
        key, answer = json.dumps([text, row["members"]]), answer_of(sample, sent, place)
    else:
        row["domain"], answer = sample["doc"].get("domain"), likelihood_of(sample, place)
        asked = ("part", "example_id", "label")
        key = json.dumps([row[name] for name in (asked if row["example_id"] else LIKELY)])
    where = {"file": str(file), "place": f"line {number}", "key": key}
    return row | where | {"answer": answer, "wrapped": sent != text}


def distinct_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the distinct rows; several filters may have written the same row."""
    columns = [name for name in ("key", "context", "text", "answer") if name in rows]
    rows = rows.drop_duplicates(columns).reset_index(drop=True)
    why = "its row is already above with another answer"
    refuse(rows, rows.duplicated("key"), why, TWICE)
    return rows


def scores_of_texts(rows: pd.DataFrame) -> pd.Series:
    """Return the score of each row's text, from its log-likelihood. If the task has domains, the
    log-likelihood after the domain is subtracted. If the task's score is `byte`, the result is
    divided by the text's bytes.
    """
    found = rows["answer"]
    if rows["domain"].notna().any():
        alone = rows[rows["example_id"] == ""].set_index(["context", "text"])["answer"]
        after = pd.MultiIndex.from_frame(rows[["domain", "text"]])
        found = found - alone.reindex(after).to_numpy()
    if rows["score"].iloc[0] == "byte":
        found = found / rows["text"].str.encode("utf-8").str.len().clip(1)
    return found


def margins(
    rows: pd.DataFrame, part: Path, answered: Answered, file: Path, threshold: str = ""
) -> tuple[pd.Series, np.ndarray]:
    """Return by example of a split how much its second label lies above the first (a label that the
    task does not ask for counts 0), and the numbers of the right labels. threshold: which examples
    of the training split choose the threshold; see choosing().
    """
    example, group, *_ = answered.columns
    table = choosing(read_table(part, [example, group, "label"]), group, threshold, str(part))
    examples = table.to_pandas().set_index(example)["label"]
    rows = rows[rows["part"] == part.stem]
    signed = rows["found"] * rows["label"].map(dict(zip(answered.labels[0], (-1, 1))))
    found = signed.groupby(rows["example_id"]).sum(min_count=rows["label"].nunique())
    found = found.reindex(examples.index)
    if len(lost := found.index[found.isna()]):
        raise UserError(
            f"{file}: {len(lost)} of {len(found)} examples of {part.stem} lack a row (or one of "
            f"their domain), {cut(lost[0])} first; {LACKING}"
        )
    return found, examples.to_numpy()


def likelihoods(
    rows: pd.DataFrame, answered: Answered, split_file: Path, file: Path
) -> pd.DataFrame:
    """Return the table of a task that asks for log-likelihoods."""
    if rows["answer"].nunique() == 1 < len(rows):
        raise UserError(
            f"{file}: every log-likelihood is {rows['answer'].iloc[0]}: the server gave none of "
            "its prompt; ask one that does, such as vLLM"
        )
    rows = rows.assign(found=scores_of_texts(rows))
    here, threshold = rows[rows["part"] == split_file.stem], rows["threshold"].iloc[0]
    if not threshold:
        refuse(here, here["found"].isna(), "the text of its domain has no row", LACKING)
        names, scores = here["label"].where(here["label"] != CANDIDATE, ""), here["found"]
        if (names != "").all():  # log-probabilities of the labels, as our loop's
            scores -= scores.groupby(here["example_id"]).transform(np.logaddexp.reduce)
        return table_of(file, here["place"], here["example_id"], names, scores)
    learned = sorted({*rows["part"]} - {"", split_file.stem})
    if len(learned) != 1:
        raise UserError(
            f"{file}: has no rows of the training split, which choose the threshold; {LACKING}"
        )
    place = split_file.with_stem(learned[0])
    known, right = margins(rows, place, answered, file, threshold)
    above, _ = margins(rows, split_file, answered, file)
    above = above - best_threshold(known.to_numpy(), right == 1)
    places = here.drop_duplicates("example_id").set_index("example_id")["place"]
    pair = -np.logaddexp(0, above), -np.logaddexp(0, -above)  # log-probabilities, as our loop's
    parts = [
        table_of(file, places.reindex(above.index), above.index, name, score)
        for name, score in zip(answered.labels[0], pair)
    ]
    return pd.concat(parts, ignore_index=True)


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


def read_samples(file: Path, answered: Answered, split_file: Path) -> Elsewhere:
    lines = lines_in(text_of(file, REMEDY, REMEDY), str(file), REMEDY)
    samples = [
        sample_of(json_of(line, f"{file}: line {number}", REMEDY), file, number)
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    if len({"question" in sample for sample in samples}) > 1:
        raise UserError(f"{file}: asks by likelihood and in words; give the samples of one task")
    rows = pd.DataFrame(samples)
    facts = check_task(rows, answered, split_file, file) | results_of(file)
    rows = distinct_rows(rows)
    if "question" in rows:
        if not rows["answer"].str.strip().any():
            raise UserError(
                f"{file}: every answer is empty; look at the server's log, and give a model that "
                "thinks more tokens (--gen_kwargs max_gen_toks=4000)"
            )
        table, shares = answers_in_words(rows, [*map(Answer, rows["answer"])], answered, file)
        return Elsewhere(table, facts=facts | shares, twice=TWICE, lacking=LACKING)
    if wrapped := int(rows["wrapped"].sum()):
        facts["wrapped_contexts"] = wrapped
        log.warning(
            "warning: %s: %d contexts were sent inside more text (a chat template, a system "
            "message); white space at their end is scored with every label",
            file,
            wrapped,
        )
    table = likelihoods(rows, answered, split_file, file)
    return Elsewhere(table, facts=facts, twice=TWICE, lacking=LACKING)
