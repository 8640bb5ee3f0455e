"""Code that the cleaners share: their arguments, reading entries of a known shape,
and writing all or nothing.

Counts are tuples (split, unit, action, reason, count), the rows of cleaning.csv without the source.
"""

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.data.files import Hashes, whole, whole_set
from scripts.data.manifest import has_manifest
from scripts.data.tables import CLEANING, parquet_errors, write_table
from scripts.data.texts import STRING, json_values, text_of
from scripts.running.program import UserError, add_manifest, cut, json_object, log, parser, shown

Count = tuple[str, str, str, str, int]
Shape = TypeVar("Shape")

EMPTY, NO_TURN = "text is empty", "no turn is left"


def cleaner_arguments(doc: str) -> argparse.ArgumentParser:
    """The arguments of every cleaner."""
    shared = parser(doc)
    shared.add_argument(
        "--source", required=True, help="the name of the corpus in resources/sources.yaml"
    )
    shared.add_argument(
        "--fetched", type=Path, required=True, help="the folder with the files of the corpus"
    )
    shared.add_argument("--output", type=Path, required=True, help="the folder to write to")
    shared.add_argument(
        "--provenance",
        type=json_object,
        required=True,
        metavar="JSON",
        help="an object (licence, citation, sha256, …) to store in every Parquet file",
    )
    add_manifest(shared)
    shared.set_defaults(reads=check_fetched)
    return shared


# ---- Reading


def check_fetched(given: argparse.Namespace) -> list[Path]:
    """Return the folder of a fetched corpus, whose manifest execute() checks. For a local corpus,
    raise UserError if its content is not that of the provenance.
    """
    # A local corpus may lie beside a manifest.json of another kind.
    if has_manifest(given.fetched):
        return [given.fetched]
    stated = given.provenance.get("sha256")
    for name, sha256 in (stated if isinstance(stated, dict) else {}).items():
        [place] = places_given(given.fetched, {"sha256": {name: sha256}})
        found = Hashes(Path(os.devnull)).sha256(place) if sha256 and place.exists() else sha256
        if found != sha256:
            raise UserError(
                f"{place}: is not the file whose sha256 --provenance states; if you changed it, "
                "give the command of snakemake again"
            )
    return []


def shaped(
    value: object,
    shape: type[Shape],
    where: str,
    remedy: str = "mend that entry, or fetch the file again",
) -> Shape:
    """`value` as `shape` (a msgspec type); `where` (file and video) opens the error
    when it is not.
    """
    try:
        return msgspec.convert(value, shape)
    except (msgspec.ValidationError, OverflowError) as error:
        why = str(error)
    except UnicodeEncodeError:
        why = "half of a surrogate pair in a key or a number"
    except RecursionError:
        why = "lists or objects are nested too deep"
    raise UserError(f"{where}: {why}; {remedy}")


def values_in(file: Path, behind: Callable[[str], str]) -> Any:
    """The value of a JSON file; of JSON lines and of Parquet a list."""
    if file.suffix.lower() == ".parquet":
        with parquet_errors(file):
            return pq.read_table(file).to_pylist()
    lines = file.suffix.lower() == ".jsonl"
    return json_values(text_of(file), str(file), behind=behind, lines=lines)


def entries_of(file: Path, shape: type[Shape], what: str, key: str) -> list[Shape]:
    """The entries of a JSON list of objects, of JSON lines or of Parquet, each as `shape` (a
    msgspec type).

    what: the word for one entry (dialog); key: the key that holds an entry's id. Raises UserError
    that names the file and the entry that cannot be read.
    """

    def behind(before: str) -> str:
        ids = re.findall(rf'"{key}"\s*+:\s*+({STRING}|[^\s,}}]{{1,80}})', before, re.DOTALL)
        last = cut(ids[-1].strip('"')) if ids else ""
        return f", in or just behind {what} {last}" if ids else f", before the first {what}'s id"

    def name(value: object, place: int) -> str:
        if not isinstance(value, dict) or key not in value:
            return f"the {what} at place {place}"
        return f"{what} {cut(value[key]) if isinstance(value[key], str) else shown(value[key])}"

    values = values_in(file, behind)
    if not isinstance(values, list) or not values:
        raise UserError(f"{file}: holds no list of {what}s; fetch it again")
    return [
        shaped(value, shape, f"{file}: {name(value, place)}")
        for place, value in enumerate(values, 1)
    ]


def places_given(fetched: Path, provenance: dict, *suffixes: str) -> list[Path]:
    """The files that the provenance names, of these suffixes if any are given. A name with / at its
    end is the folder `fetched` itself.
    """
    listed = provenance.get("sha256")
    places = [
        fetched if name.endswith("/") else fetched / Path(name).name
        for name in (listed if isinstance(listed, dict) else {})
    ]
    return [place for place in places if not suffixes or place.suffix.lower() in suffixes]


def file_named(fetched: Path, provenance: dict, *suffixes: str) -> Path:
    """The file that the provenance names. Raises UserError unless exactly one named file has
    one of these suffixes.
    """
    places = places_given(fetched, provenance, *suffixes)
    if len(places) != 1:
        names = " and ".join(place.name for place in places)
        found, example = names or f"no {' or '.join(suffixes)} file", suffixes[0]
        raise UserError(
            f"the source's entry names {cut(found)}, but one file is cleaned: write `local: "
            f"/data/mine{example}` there"
        )
    return places[0]


def mapped(table: pd.DataFrame, column: str, names: dict, file: Path, first_line: int) -> pd.Series:
    """A column with other names. Raises UserError with the line of a value that has no other name;
    row 0 is line `first_line`.
    """
    unknown = table[~table[column].isin(names)]
    if len(unknown):
        raise UserError(
            f"{file}: line {unknown.index[0] + first_line}: {column} is "
            f"{shown(unknown[column].iloc[0])}, not one of {', '.join(map(str, names))}; mend it, "
            "or fetch the file again"
        )
    return table[column].map(names)


def joined(texts: pd.Series) -> pd.Series:
    """Texts without white space at their ends, and with one space where there
    was other white space.
    """
    return pd.Series([" ".join(text.split()) for text in texts], index=texts.index, dtype=object)


def changed_spaces(raw: pd.Series) -> dict[str, pd.Series]:
    """Which texts `joined` changes, by the kind of change."""
    stripped = raw.str.strip()
    return {
        "white space at an end of the text: removed": raw.str.len() > stripped.str.len(),
        "line break in the text: made a space": raw.str.contains("[\n\r]"),
        "several spaces in a row in the text: made one": stripped.str.contains("  ", regex=False),
    }


# ---- Counting and writing


def counted(split: str, unit: str, **actions) -> list[Count]:
    """The counts of one unit, in the order given. Each action has a number, or {reason: a number
    or a mask of rows}.
    """
    return [
        (split, unit, action, reason, int(np.sum(found)))
        for action, found_of in actions.items()
        for reason, found in (found_of if isinstance(found_of, dict) else {"": found_of}).items()
    ]


def kept_of(split: str, unit: str, read: int, kept: int, why: str, **more) -> list[Count]:
    """The counts of a unit that loses items for one reason; more: further actions of counted()."""
    return counted(split, unit, read=read, dropped={why: read - kept}, kept=kept, **more)


def write_cleaning(source: str, counts: list[Count], file: Path) -> None:
    """Write cleaning.csv (schema cleaning): what was read, kept, changed, dropped and noted,
    in the order given.
    """
    table = pd.DataFrame([(source, *count) for count in counts], columns=CLEANING.names)
    with whole(file) as place:
        table.to_csv(place, index=False, lineterminator="\n")
    kept = (count for count in counts if count[2] == "kept")
    said = ", ".join(f"{count:,} {unit} of {split}" for split, unit, *_, count in kept)
    log.info("%s: kept %s; cleaning.csv says what was changed", source, said)


def write_corpus(
    given: argparse.Namespace,
    tables: dict[str, pd.DataFrame],
    schema: pa.Schema,
    counts: list[Count],
) -> None:
    """Write <split>.parquet of each split and cleaning.csv to given.output: all files or no
    file.
    """
    with whole_set(given.output) as folder:
        for split, table in tables.items():
            write_table(
                pa.Table.from_pandas(table, schema=schema, preserve_index=False),
                folder / f"{split}.parquet",
                schema,
                given.provenance,
            )
        write_cleaning(given.source, counts, folder / "cleaning.csv")
