"""Read a log of inspect_ai (.json, or .eval: a zip with header.json and samples/*.json) without the
library.

A sample answers one of three questions. Its answer in words is read as scripts/train/asking/ reads
answers (https://inspect.aisi.org.uk/eval-logs.html describes the fields).
  metadata  holds a row of a task of `snakemake harness` that asks in words (json_dataset with
            FieldSpec(input="question", metadata=[…]))
  choices   are the candidates of one question, and id is the id of its group or instance
  id        is the id of an example; choices are labels, or without choices the answer is a label
"""

import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.data.texts import decoded, json_of, text_of
from scripts.measure.answered import Answered
from scripts.measure.elsewhere.asked import WORDED, answers_in_words, check_task, row_of
from scripts.measure.elsewhere.examples import Examples, plain
from scripts.measure.elsewhere.table import Elsewhere
from scripts.running.program import UserError, cut, log, shown
from scripts.train.asking.answer import CUT, REFUSED, WHOLE, Answer

REMEDY = "give the log as inspect_ai wrote it"
TWICE = "ask it in one epoch (--epochs 1)"
LACKING = "run the task without --limit"
ENDS = {"max_tokens": CUT, "model_length": CUT, "content_filter": REFUSED}  # by stop_reason
ZIP = b"PK\3\4"  # with which a zip begins
MOST = 1 << 28  # bytes of one member of a zip
OF_LOG = ("model", "model_args", "task", "created", "packages", "revision")


def is_log(value: Any) -> bool:
    return isinstance(value, dict) and {"eval", "status"} <= set(value)


def parts_of(file: Path) -> tuple[Any, Any]:
    """Return the header and the samples of a log. Raises UserError for a damaged zip."""
    with file.open("rb") as opened:
        begins = opened.read(len(ZIP))
    if begins != ZIP:
        header = json_of(text_of(file, REMEDY, REMEDY), str(file), REMEDY)
        return header, header.get("samples") if is_log(header) else None

    def value(name: str) -> Any:
        if log_file.getinfo(name).file_size > MOST:
            raise UserError(f"{file}: {cut(name)} has more than {MOST:,} bytes; {REMEDY}")
        where = f"{file}: {cut(name)}"
        return json_of(decoded(log_file.read(name), where, REMEDY), where, REMEDY)

    try:
        with zipfile.ZipFile(file) as log_file:
            names = sorted(log_file.namelist())
            if "header.json" not in names:
                raise UserError(
                    f"{file}: has no header.json, so its run has not ended; end it first"
                )
            samples = [one for one in names if one.startswith("samples/") and one.endswith(".json")]
            return value("header.json"), [value(name) for name in samples]
    except NotImplementedError:
        raise UserError(
            f"{file}: its compression is unknown to this Python; convert it with "
            "`inspect log convert --to json`"
        ) from None
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError) as error:
        raise UserError(f"{file}: not a whole zip ({cut(str(error))}); {REMEDY}") from None


def text_in(content: Any) -> str:
    """Return the text of a message: a text, or the texts of its parts without thoughts."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(str(part.get("text", "")) for part in parts)
    return content if isinstance(content, str) else ""


def answer_of(sample: dict, place: str) -> Answer:
    """Return what the model wrote. Raises UserError for a sample that ended in an error."""
    if sample.get("error"):
        raise UserError(f"{place}: ended in an error; complete the log with `inspect eval-retry`")
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    if not choices:
        return Answer("", CUT if sample.get("limit") else REFUSED)
    try:
        content, reason = choices[0]["message"].get("content"), choices[0].get("stop_reason")
    except (TypeError, KeyError, LookupError, AttributeError):
        raise UserError(f"{place}: output is {shown(output)}; {REMEDY}") from None
    return Answer(text_in(content), ENDS.get(str(reason), WHOLE))


def question_of(sample: dict, known: Examples, place: str) -> dict:
    """Return the question, options, labels and members of a sample (asked.py)."""
    name, names = str(sample.get("id")), known.answered.labels[0]
    choices = sample.get("choices") or names
    row = {"question": name, "options": [*map(str, choices)]}
    if name not in known.ids:
        examples = known.of_question(name, choices, place)
        return row | {"labels": [], "members": [(one, at) for at, one in enumerate(examples)]}
    named = {plain(label): label for label in names}
    labels = [named.get(plain(choice)) for choice in choices]
    if None in labels or len({*labels}) < len(labels):
        raise UserError(
            f"{place}: its choices are {shown(choices)}, not {', '.join(names)}; name the labels "
            "as choices, or give a question's candidates with its id"
        )
    return row | {"labels": labels, "members": [(name, -1)]}


def read_log(file: Path, answered: Answered, split_file: Path) -> Elsewhere:
    header, samples = parts_of(file)
    if not is_log(header) or not isinstance(header["eval"], dict) or not isinstance(samples, list):
        raise UserError(
            f"{file}: is neither JSON lines nor a log of inspect_ai with samples; write an object "
            f"a line, or {REMEDY}"
        )
    if header["status"] != "success":
        log.warning("warning: %s: its run ended as %s", file, shown(header["status"]))
    known, rows, answers = Examples(answered, split_file), [], []
    for sample in samples:
        if not isinstance(sample, dict):
            raise UserError(f"{file}: a sample is {shown(sample)}; {REMEDY}")
        name = f"sample {sample.get('id')}, epoch {sample.get('epoch')}"
        place, doc = f"{file}: {cut(name)}", sample.get("metadata")
        is_task = isinstance(doc, dict) and {*WORDED} <= {*doc}
        if str(sample.get("id")) in known.elsewhere and not is_task:
            continue
        row = row_of(doc, place) if is_task else question_of(sample, known, place)
        rows.append(row | {"place": name, "is_task": is_task})
        answers.append(answer_of(sample, place))
    if not rows:
        raise UserError(f"{file}: has no sample; {LACKING}")
    table = pd.DataFrame(rows)
    if table["is_task"].nunique() > 1 or len({bool(labels) for labels in table["labels"]}) > 1:
        raise UserError(f"{file}: its samples ask in two ways; give the log of one task")
    facts = {name: header["eval"].get(name) for name in OF_LOG}
    if table["is_task"].all():
        facts |= check_task(table, answered, split_file, file)
    found, shares = answers_in_words(table, answers, answered, file)
    return Elsewhere(found, facts=facts | shares, twice=TWICE, lacking=LACKING)
