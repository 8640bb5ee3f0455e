"""How a file of questions with options is laid out: a declaration, and a guess of it.

A declaration completes itself from the names of the columns and from their cells. `in_words` writes
it as the arguments of `./timestride audit`.
"""

import ast
import json
import math
import re
import shlex
from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Literal

import msgspec
import numpy as np
import pandas as pd
import yaml

from scripts.running.program import UserError, cut

AnswersAre = Literal["letters", "numbers0", "numbers1", "texts", "marks", "labels"]
MARKS = {"yes": 1, "no": 0, "true": 1, "false": 0, "1": 1, "0": 0, "right": 1, "wrong": 0}
LETTER = re.compile(r"\(?([A-Za-z])[).:]?")
# options inside a text, a line each: "(A) two hours"
LETTERED = re.compile(r"^\(([A-Z])\)[ \t]*(.*)$", re.MULTILINE)
OPTIONS_IN_TEXT = r"(?s)^(?P<question>.*?)\s*(?:\n\s*Options:\s*)?\n(?P<options>\(A\).*)$"
LIST = (list, tuple, np.ndarray)
MOST_LABELS = 10  # more different answers without options are free answers
# the names of columns in the benchmarks of the field, the likeliest first
NAMES = {
    "question": "question query stem hypothesis input event prompt instruction",
    "context": "context premise passage story dialog dialogue conversation ctx paragraph sentence "
    "text article activity_label",
    "answer": "answer_key answerkey answer_index answer_idx correct_answer correct_option correct "
    "gold_label gold target label labels answer answers answer_letter solution mc1_targets_labels",
    "category": "category type task subject subtask question_type domain source",
    "group": "group group_id template video_id story_id",
    "id": "id qid question_id example_id item_id idx index ind uid guid",
}
LISTS = "options choices candidates endings answers mc1_targets_choices choices_text"
NUMBERED = (
    r"(?:options?|choices?|candidates?|endings?|answers?|opt|sol|alternative|response)[._]?"
    r"(?:[a-h]|\d\d?)"
)
RIGHT = r"(?:correct|right)(?:_?answer)?_?\d*"
WRONG = r"(?:incorrect|wrong|distractor)(?:_?answer)?_?\d*"


class Columns(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """The names of the columns. options: a column each, or one column with a list of them, or one
    with a candidate a row. answer: usually one column. `options` and `answer` may share columns
    (correct1, correct2): then the texts in the answer's columns are the right options.
    """

    question: str | None = None
    context: str | None = None
    options: list[str] | str = []
    answer: list[str] | str = []
    category: str | None = None
    group: str | None = None
    id: str | None = None

    def names(self, role: str) -> list[str]:
        """Return the columns of a role, none, one or several."""
        value = getattr(self, role)
        return list(value) if isinstance(value, list) else [value] * bool(value)

    def are_unordered(self) -> bool:
        """Return whether the columns show which options are right, so their order says nothing."""
        return bool({*self.names("options")} & {*self.names("answer")})


class Declaration(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """Where the items of a file stand.

    answers_are  letters: A or (A). numbers0, numbers1: the place of the right option, from 0 or 1.
                 texts: the right option itself. marks: yes or no for each option. labels: one of
                 the words that are the options of every item
    labels       for labels: these words; left out: the words that occur
    header       the columns of a table that has no header
    lines        for .txt: the lines of an item
    patterns     by column (`text` in a .txt): a regular expression whose named groups are columns
    empty        cells that stand for a missing text
    member       for a zip: the file inside
    """

    columns: Columns = Columns()
    answers_are: AnswersAre | None = None
    labels: list[str] = []
    header: list[str] = []
    lines: Annotated[int, msgspec.Meta(ge=1)] = 1
    patterns: dict[str, str] = {}
    empty: list[str] = []
    encoding: str = "utf-8"
    member: str | None = None


def as_yaml(value: object) -> str:
    """Return a value as YAML in one line."""
    dumped = yaml.safe_dump(value, default_flow_style=True, width=10**9, sort_keys=False)
    return dumped.removesuffix("...\n").strip()


def in_words(declaration: Declaration) -> str:
    """Return a declaration as arguments: columns='{question: Question, …}' answers_are=letters."""
    default = Declaration()
    return " ".join(
        shlex.quote(f"{key}={as_yaml(msgspec.to_builtins(value))}")
        for key in Declaration.__struct_fields__
        if (value := getattr(declaration, key)) != getattr(default, key)
    )


def plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", str(name).lower()).strip("_")


def named(records: pd.DataFrame, names: Iterable[str], but: Iterable[str] = ()) -> str | None:
    """Return the first column with one of these names, in the order of the names; in JSON, also by
    the last part of its name (question.stem).
    """
    columns = [column for column in reversed(records.columns) if column not in but]
    by_name = {plain(str(column).split(".")[-1]): column for column in columns}
    by_name |= {plain(column): column for column in columns}
    return next((by_name[name] for name in names if name in by_name), None)


def matching(records: pd.DataFrame, pattern: str) -> list[str]:
    return [column for column in records if re.fullmatch(pattern, plain(column))]


def are_lists(cells: pd.Series) -> bool:
    return bool(cells.map(lambda cell: isinstance(cell, list) or is_written_list(cell)).all())


def is_written_list(cell: object) -> bool:
    """Return whether a text is a list as JSON or Python writes it, or lines with letters."""
    return isinstance(cell, str) and bool(
        re.fullmatch(r"\s*\[.*\]\s*", cell, re.DOTALL) or len(LETTERED.findall(cell)) > 1
    )


def as_text(cell: object) -> str:
    """Return a cell as text, without white space at its ends; empty for a missing cell. An object
    is its text, and a list inside a list the texts in it.
    """
    if isinstance(cell, LIST):
        return " ".join(map(as_text, cell))
    if isinstance(cell, dict):
        return as_text(cell.get("text", json.dumps(cell, ensure_ascii=False, default=str)))
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def as_list(cell: str | list[str]) -> list[str]:
    """Return a list of texts, which may be written as one text; another text is a list of one."""
    if isinstance(cell, list) or not is_written_list(cell):
        return cell if isinstance(cell, list) else [cell]
    if lettered := LETTERED.findall(cell):
        return [text.strip() for _, text in lettered]
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return [as_text(each) for each in read(cell)]
    return [cell]


def lists_in(records: pd.DataFrame, names: list[str]) -> list[list[str]]:
    """Return for each row the texts of these columns, lists taken apart."""
    rows = records[names].to_numpy().tolist()
    return [[text for cell in row for text in as_list(cell)] for row in rows]


def guessed_patterns(records: pd.DataFrame) -> dict[str, str]:
    """Return the pattern of a column that holds question and options in one text."""
    for column in records:
        if all(re.match(OPTIONS_IN_TEXT, cell) for cell in records[column].astype(str)):
            return {column: OPTIONS_IN_TEXT}
    return {}


def guessed_options(records: pd.DataFrame) -> list[str] | str:
    """Return the columns of options, or none."""
    listed = named(records, LISTS.split())
    if listed is not None and are_lists(records[listed]):
        return listed
    numbered = matching(records, NUMBERED)
    if len(numbered) > 1:
        return numbered
    letters = [column for column in records if re.fullmatch("[a-h]", plain(column))]
    if len(letters) > 1:
        return letters
    right, wrong = matching(records, RIGHT), matching(records, WRONG)
    return [*right, *wrong] if right and wrong else []


def are_marks(cells: pd.Series) -> bool:
    return bool(cells.explode().astype(str).str.strip().str.lower().isin(list(MARKS)).all())


def guessed_columns(records: pd.DataFrame, declared: Columns) -> Columns:
    """Return the declared columns, with a guess for those that are not declared."""
    options = declared.options or guessed_options(records)
    chosen = options if isinstance(options, list) else [options]
    answer = declared.answer or [name for name in chosen if re.fullmatch(RIGHT, plain(name))]
    if not answer:
        answer = named(records, NAMES["answer"].split(), chosen) or []
    if not options and answer and are_marks(records[answer]):  # a candidate a row
        options = named(records, ["candidate", "answer", "option", "choice"], [answer]) or []
    taken = [*chosen, *(answer if isinstance(answer, list) else [answer])]
    other = {}
    for role in ("question", "context", "category", "group", "id"):
        other[role] = getattr(declared, role) or named(records, NAMES[role].split(), taken)
        taken.append(other[role])
    if declared.id is None and other["id"] and records[other["id"]].duplicated().any():
        other["id"] = None
    return Columns(**other, options=options, answer=answer)


def guessed_kind(records: pd.DataFrame, columns: Columns, where: str) -> AnswersAre:
    """Return what the cells of the answer are. Raises UserError for free answers, and if the cells
    fit no kind.
    """
    options, answer = columns.names("options"), columns.names("answer")
    cells = records[answer[0]].explode().astype(str).str.strip()
    cells = cells[cells != ""]
    if not options:
        if cells.nunique() <= MOST_LABELS:
            return "labels"
        raise UserError(
            f"{where}: has {cells.nunique():,} different answers in column {cut(answer[0])} and no "
            "options. Free answers (dates, numbers, names) have no audit; if the file has options, "
            "give columns='{options: […]}'"
        )
    is_list = are_lists(records[answer[0]])
    lists_of_options = len(options) == 1 and are_lists(records[options[0]])
    if columns.are_unordered():
        return "texts"
    of_each = is_list or len(answer) == len(options) > 1
    if are_marks(records[answer[0]]) and (of_each or (len(options) == 1 and not lists_of_options)):
        return "marks"
    right = lists_in(records, answer)
    if all({*one} <= {*texts} for one, texts in zip(right, lists_in(records, options))):
        return "texts"  # also where options are letters or numbers
    if cells.str.fullmatch(LETTER).all():
        return "letters"
    if cells.str.fullmatch(r"\d+(?:\.0)?").all():
        return "numbers0" if (cells.astype(float) == 0).any() else "numbers1"
    return "texts"


def completed(records: pd.DataFrame, declared: Declaration, where: str) -> Declaration:
    """Return the declaration with a guess for everything that it leaves out. records: the columns
    of the file, cells as texts or lists of texts. Raises UserError for a declared column that is
    not there, and if no answer is found.
    """
    columns = guessed_columns(records, declared.columns)
    known = f"its columns are {', '.join(cut(str(name)) for name in records.columns)}"
    for role in Columns.__struct_fields__:
        for name in columns.names(role):
            if name not in records:
                raise UserError(
                    f"{where}: has no column {cut(name)} ({role}); {known}; correct `columns`"
                )
    for roles in (["answer"], ["question", "context"]):
        if not any(columns.names(role) for role in roles):
            raise UserError(
                f"{where}: no column is known as the {' or the '.join(roles)}; {known}; name one: "
                f"columns='{{{roles[0]}: NAME}}'"
            )
    kind = declared.answers_are or guessed_kind(records, columns, where)
    if kind != "labels" and not columns.options:
        raise UserError(
            f"{where}: answers_are is {kind}, but no column has options; {known}; name them: "
            "columns='{options: [NAME, …]}'"
        )
    labels = declared.labels
    if kind == "labels" and not labels:
        labels = sorted(set(records[columns.names("answer")[0]]) - {""})
    return msgspec.structs.replace(declared, columns=columns, answers_are=kind, labels=labels)
