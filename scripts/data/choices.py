"""Read a benchmark of questions with options, in the forms in which people have them, as one table.

A file is .csv, .tsv, .jsonl, .json, .parquet or .txt, alone, as .bz2 or .gz, or inside a zip. A
JSON file is a list of items, or an object with one list. scripts/data/choice_columns.py has the
declaration, and guesses what it leaves out.

The table has a row for each option, items in the order of the file:

    item_id   the declared id, else the number of the item's row in the file
    group_id  the declared group; left out: items with the same context are a group, and an item
              without context is one
    context, question, category   texts, empty if the file has none
    option    its text
    place     from 0, as in the file. Columns that show which options are right (correct1,
              incorrect1) have no order: there the places are drawn by a hash of the texts
    right     1 or 0. An item may have several right options; of marks it may have none
"""

import re
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.data.choice_columns import LETTER, LIST, MARKS, Declaration, as_list, as_text
from scripts.data.choice_columns import completed, guessed_patterns, lists_in
from scripts.data.files import zip_errors
from scripts.data.keyed import keyed_uniform
from scripts.data.tables import parquet_errors
from scripts.data.texts import csv_rows, decoded, json_values, lines_in
from scripts.running.program import UserError, cut, plural, shown

PACKED = (".bz2", ".gz")
MOST_BYTES = 2**29  # of a file, unpacked: it is read as a whole
COLUMNS = ["item_id", "group_id", "context", "question", "option", "place", "right", "category"]
MEND = "correct it in the file, or correct `columns` and `answers_are`"
MEND_ROW, AGAIN = "mend it", "write the file again"


# ---- The file


def bytes_of(stream: IO[bytes], file: Path) -> bytes:
    """Return what a stream holds. Raises UserError if that is too much, or if it is broken."""
    try:
        content = stream.read(MOST_BYTES + 1)
    except (OSError, EOFError) as error:
        raise UserError(f"{file}: cannot be unpacked ({cut(str(error))}); fetch it again") from None
    if len(content) > MOST_BYTES:
        raise UserError(f"{file}: has more than {MOST_BYTES >> 20} MiB; split it")
    return content


def content_of(file: Path, member: str | None) -> tuple[str, bytes]:
    """Return the name of the file of items, and its bytes. Raises UserError for a missing file, a
    folder, and a broken or too large archive.
    """
    if not file.is_file():
        kind = "is a folder, not a file" if file.is_dir() else "no such file"
        raise UserError(f"{file}: {kind}; name a file ({', '.join(SUFFIXES)}, or a zip of one)")
    if file.suffix.lower() != ".zip":
        if member and Path(member).name != file.name:
            raise UserError(f"{file}: holds no {cut(member)}, since it is no zip; correct the name")
        packed = file.suffix.lower() in PACKED
        with pa.input_stream(str(file), compression="detect" if packed else None) as stream:
            return file.stem if packed else file.name, bytes_of(stream, file)
    with zip_errors(f"{file}: not a zip"), zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if "__MACOSX" not in name]
        names = [name for name in names if Path(name).suffix.lower() in SUFFIXES]
        chosen = [name for name in names if member in (None, name)]
        if len(chosen) == 1:
            with archive.open(chosen[0]) as stream:
                return chosen[0], bytes_of(stream, file)
    known = ", ".join(map(cut, names[:20])) or "none"
    raise UserError(f"{file}: name one of its files, member=NAME; it has {known}")


def text_in(content: bytes, where: str, encoding: str) -> str:
    try:
        if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
            return content.decode(encoding)
    except (ValueError, LookupError) as error:
        raise UserError(f"{where}: is not {cut(encoding)} ({error}); correct `encoding`") from None
    return decoded(content, where, "give its encoding, such as encoding=cp1252")


def rows_in_csv(text: str, where: str, declared: Declaration, tabs: bool = False) -> pd.DataFrame:
    first = text.split("\n", 1)[0]
    delimiter = "\t" if tabs else max(",;\t", key=first.count)
    if declared.header:
        text = delimiter.join(declared.header) + "\n" + text
    return csv_rows(text, where, AGAIN, delimiter, quotes=not tabs)


def rows_in_json(text: str, where: str, declared: Declaration, lines: bool = False) -> pd.DataFrame:
    rows = json_values(text, where, AGAIN, lines=lines)
    if isinstance(rows, dict):
        lists = [each for each in rows.values() if isinstance(each, list)]
        rows = lists[0] if len(lists) == 1 else None
    if not isinstance(rows, list):
        raise UserError(
            f"{where}: must be a list of items, or an object with one list; write a list of objects"
        )
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise UserError(f"{where}: item {number} is {shown(row)}, not an object; {MEND_ROW}")
    return pd.json_normalize(rows, max_level=1)


def rows_in_lines(text: str, where: str, declared: Declaration) -> pd.DataFrame:
    lines, count = lines_in(text, where, AGAIN), declared.lines
    if len(lines) % count:
        raise UserError(f"{where}: has {len(lines):,} lines, but an item has {count}; {MEND_ROW}")
    starts = range(0, len(lines), count)
    return pd.DataFrame({"text": ["\n".join(lines[start : start + count]) for start in starts]})


READERS: dict[str, Callable[..., pd.DataFrame]] = {
    ".csv": rows_in_csv,
    ".tsv": partial(rows_in_csv, tabs=True),
    ".jsonl": partial(rows_in_json, lines=True),
    ".json": rows_in_json,
    ".txt": rows_in_lines,
}
SUFFIXES = (*READERS, ".parquet")


def as_cell(cell: object) -> str | list[str]:
    """Return a cell as text, or a list as a list of texts."""
    return [as_text(each) for each in cell] if isinstance(cell, LIST) else as_text(cell)


def read_records(file: Path, declared: Declaration) -> pd.DataFrame:
    """Return the rows of a file, indexed by their numbers in it, the cells as texts or lists of
    texts. Raises UserError for a file that cannot be read.
    """
    name, content = content_of(file, declared.member)
    where, kind = str(file), Path(name).suffix.lower()
    if kind not in SUFFIXES:
        raise UserError(f"{file}: cannot be read: needs {', '.join(SUFFIXES)}, or a zip of one")
    if kind == ".parquet":
        with parquet_errors(file, "fetch it again"):
            values = pq.read_table(pa.BufferReader(content)).to_pylist()
        rows = pd.json_normalize(values, max_level=1)
    else:
        rows = READERS[kind](text_in(content, where, declared.encoding), where, declared)
    if rows.empty:
        raise UserError(f"{where}: has no rows; name a file with items")
    if rows.columns.duplicated().any():
        twice = rows.columns[rows.columns.duplicated()][0]
        raise UserError(f"{where}: column {cut(str(twice))} occurs twice; rename one of the two")
    has_header = kind in (".csv", ".tsv") and not declared.header
    first = 2 if has_header else 1
    rows.index = pd.RangeIndex(first, first + len(rows), name="row")
    return rows.map(as_cell).replace(dict.fromkeys(declared.empty, ""))


def with_parts(records: pd.DataFrame, patterns: dict[str, str], where: str) -> pd.DataFrame:
    """Return the rows with a column for each named group of the patterns. Raises UserError for a
    row that a pattern does not match.
    """
    for column, pattern in patterns.items():
        if column not in records:
            raise UserError(f"{where}: has no column {cut(column)}; correct `patterns`")
        try:
            parts = records[column].astype(str).str.extract(pattern)
        except (re.error, ValueError) as error:
            raise UserError(
                f"{where}: the pattern of {cut(column)} is wrong ({error}); correct `patterns`"
            ) from None
        wrong = parts.isna().all(axis=1)
        if wrong.any():
            row = wrong.idxmax()
            raise UserError(
                f"{where}: row {row}: {cut(column)} is {shown(records.at[row, column])}, which the "
                "pattern does not match; mend it, or correct `patterns`"
            )
        records = records.drop(columns=column)
        if {*parts} & {*records}:
            raise UserError(
                f"{where}: {cut(column)} has parts with the names of other columns; rename the "
                "groups in `patterns`"
            )
        records = records.join(parts.fillna("").map(str.strip))
    return records


# ---- Options and answers


def several(answers: list[str]) -> list[str]:
    """Return the answers of texts that may name several: "A, C", "0 and 2"."""
    return [part for text in answers for part in re.split(r"\s*[,;/&]\s*|\s+and\s+", text)]


def by_letter(answers: list[str], options: list[str]) -> list[int]:
    letters = [LETTER.fullmatch(part) for part in several(answers)]
    if not all(letters):
        raise ValueError("is no letter")
    return [ord(letter[1].upper()) - ord("A") for letter in letters if letter]


def by_number(first: int, answers: list[str], options: list[str]) -> list[int]:
    if not all(part.isdecimal() and len(part) < 9 for part in several(answers)):
        raise ValueError("is no whole number")
    return [int(part) - first for part in several(answers)]


def by_text(answers: list[str], options: list[str]) -> list[int]:
    if not all(answer in options for answer in answers):
        raise ValueError("is none of the options")
    return [place for place, option in enumerate(options) if option in answers]


def by_mark(answers: list[str], options: list[str]) -> list[int]:
    if len(answers) != len(options):
        raise ValueError(f"has {plural(len(answers), 'mark')} for {plural(len(options), 'option')}")
    marks = [MARKS.get(answer.lower()) for answer in answers]
    if None in marks:
        raise ValueError("is neither yes nor no")
    return [place for place, mark in enumerate(marks) if mark]


PLACES: dict[str, Callable[[list[str], list[str]], list[int]]] = {
    "letters": by_letter,
    "numbers0": partial(by_number, 0),
    "numbers1": partial(by_number, 1),
    "texts": by_text,
    "marks": by_mark,
    "labels": by_text,
}


def right_places(kind: str, answers: list[str], options: list[str]) -> list[int]:
    """Return the places of the right options. Raises ValueError, the end of a sentence about the
    answer, if the answer fits no option.
    """
    if sum(map(bool, options)) < (1 if kind == "marks" else 2):
        raise ValueError("stands beside fewer than two options")
    places = PLACES[kind](answers if kind == "marks" else [*filter(None, answers)], options)
    if not places and kind != "marks":
        raise ValueError("is empty")
    if not {*places} <= {*range(len(options))}:
        raise ValueError(f"names no option: there are {len(options)}")
    if not all(options[place] for place in places):
        raise ValueError("names an empty option")
    return places


def joined(records: pd.DataFrame, declaration: Declaration) -> pd.DataFrame:
    """Return rows with a candidate each as one row an item, with lists of options and answers."""
    columns = declaration.columns
    key = columns.names("id") or columns.names("context") + columns.names("question")
    number = records.groupby(key, sort=False).ngroup()
    names = columns.names("options") + columns.names("answer")
    items = records[~number.duplicated()]
    lists = records[names].groupby(number).agg(list).set_axis(items.index)
    return items.drop(columns=names).join(lists)


def has_candidate_a_row(records: pd.DataFrame, declaration: Declaration) -> bool:
    names = declaration.columns.names("options")
    is_text = declaration.answers_are == "marks" and len(names) == 1
    return is_text and not records[names[0]].map(lambda cell: len(as_list(cell)) > 1).any()


def texts_in(records: pd.DataFrame, name: str | None) -> pd.Series:
    """Return the texts of a column, the parts of a list a line each; empty without a column."""
    if name is None:
        return pd.Series("", records.index)
    return records[name].map(lambda cell: "\n".join(cell) if isinstance(cell, list) else cell)


def in_order_of_labels(records: pd.DataFrame, options: list[str]) -> pd.DataFrame:
    """Return the records with a list of options in the order of its labels, where a column of this
    name has them (`choices.text` beside `choices.label`, as ARC is published).
    """
    label = re.sub(r"(^|[._])text$", r"\1label", options[0]) if len(options) == 1 else ""
    if label == "" or label == options[0] or label not in records:
        return records
    pairs = zip(records[options[0]].map(as_list), records[label].map(as_list))
    ordered = [
        [text for _, text in sorted(zip(labels, texts))] if len(labels) == len(texts) else texts
        for texts, labels in pairs
    ]
    return records.assign(**{options[0]: pd.Series(ordered, records.index)})


def to_options(records: pd.DataFrame, declaration: Declaration, where: str) -> pd.DataFrame:
    """Return a row for each option (head of this file). Raises UserError, with the row, for an
    answer that fits no option, for fewer than two options, and for a repeated id.
    """
    columns, kind = declaration.columns, declaration.answers_are or ""
    records = in_order_of_labels(records, columns.names("options"))
    if has_candidate_a_row(records, declaration):
        records = joined(records, declaration)
    options = lists_in(records, columns.names("options"))
    if kind == "labels":
        options = [declaration.labels] * len(records)
    right = []
    for row, answer, texts in zip(
        records.index, lists_in(records, columns.names("answer")), options
    ):
        try:
            places = right_places(kind, answer, texts)
        except ValueError as error:
            raise UserError(
                f"{where}: row {row}: column {cut(', '.join(columns.names('answer')))}: "
                f"{shown(', '.join(answer))} {error}; {MEND}"
            ) from None
        right.append([int(place in places) for place in range(len(texts))])
    ids = texts_in(records, columns.id) if columns.id else records.index.astype(str).to_series()
    ids = ids.set_axis(records.index)
    for row in records.index[ids.duplicated()]:
        raise UserError(f"{where}: row {row}: the id {cut(ids[row])} repeats; {MEND}")
    context = texts_in(records, columns.context)
    group = texts_in(records, columns.group) if columns.group else context
    items = pd.DataFrame(
        {
            "item_id": ids,
            "group_id": group.where(group != "", ids),
            "context": context,
            "question": texts_in(records, columns.question),
            "option": options,
            "place": [range(len(texts)) for texts in options],
            "right": right,
            "category": texts_in(records, columns.category),
        }
    ).reset_index(drop=True)
    table = items.explode(["option", "place", "right"])
    if columns.are_unordered():
        table["place"] = keyed_uniform(table["item_id"] + "\n" + table["option"])
        table = table.rename_axis("item").sort_values(["item", "place"])
        table["place"] = table.groupby("item_id", sort=False).cumcount()
    table = table[table["option"] != ""].reset_index(drop=True)
    return table.astype({"place": "int16", "right": "int8"})


def read_choices(file: Path, declared: Declaration) -> tuple[pd.DataFrame, Declaration]:
    """Return the options of a file (head of this file), and the declaration with which it was read.
    Raises UserError, in one sentence with file, row, column and remedy, for a file that cannot be
    read so.
    """
    where = str(file)
    records = read_records(file, declared)
    if not declared.patterns:
        declared = msgspec.structs.replace(declared, patterns=guessed_patterns(records))
    records = with_parts(records, declared.patterns, where)
    declaration = completed(records, declared, where)
    return to_options(records, declaration, where), declaration


def read_splits(
    place: Path, files: dict[str, str], declared: Declaration
) -> tuple[dict[str, pd.DataFrame], Declaration]:
    """Return the options of each split, as read_choices() does. place: a file, or the zip or the
    folder of the files. files: the file of each split; empty: the one file is the split test. What
    the first file is guessed to be, the others are.
    """
    tables = {}
    for split, name in (files or {"test": ""}).items():
        file, member = place, name or declared.member
        if place.is_dir():
            known = [each for each in place.iterdir() if each.name != "manifest.json"]
            if not name and len(known) != 1:
                raise UserError(
                    f"{place}: has {len(known)} files; name one of them: `files: {{test: …}}`"
                )
            near = [place / name, place / Path(name).name] if name else known
            file, member = next((each for each in near if each.exists()), near[0]), None
        here = msgspec.structs.replace(declared, member=member)
        tables[split], declared = read_choices(file, here)
    return tables, declared
