"""The schema of every kind of table, and Parquet files that carry their provenance.

captions      a row for each sentence: source, split, video_id, position (from 0, in start order),
              text, start_s, end_s (seconds)
cleaning      the counts of a cleaner: source, split, unit (videos, sentences, …), action (read,
              kept, changed, dropped, noted), reason, count
templates     a row for each event: source, split, template, past and future forms (fronted: after
              "In May, …"), their units, duration_units, and the forms for a duration; empty text
              where an event has no such form
questions     a row for each candidate answer: source, split, question_id, sentence, question,
              answer, label (1 likely, 0 unlikely), category (duration, ordering, typical_time,
              frequency, stationarity)
dialogs       a row for each turn: source, split, dialog_id, turn (from 0), speaker (A or B), text,
              duplicate_of (the first dialog with the same words, in this split or an earlier one;
              empty for a dialog without duplicates before it)
challenge     a row for each option: source, split (test: two right options of four; extras: one
              right), instance_id, dialog (a line `A: text` for each turn, with one <MASK>), option,
              label (1 right), rule (phrase, numeral, open_ended: how a wrong option was made; empty
              for right ones), is_original (the option of the original dialog)
spans         a row for each temporal expression: source, split, dialog_id (in a challenge: the
              instance, its dialog with the original option in place), turn, start, end (characters
              of the turn's text), text, kind (date, time, duration, set, age), has_numeral, value
              (its normalised meaning: equal for "two weeks" and "14 days"; the words in lower case
              if no quantity is recognised)
choices       a row for each option: source, split, item_id, group_id (items that belong together;
              missing where that is not known), category, context, question, option, place (from 0,
              within its item), label (1 right); empty text where a file has no such thing
predictions   run, split, selection (held_out: the epoch best on the held-out groups; last: the last
              epoch, if nothing is held out; peak: the epoch best on this very split; direct: a
              model without training), epoch, example_id, group_id, label, score (a list of the
              log-probabilities of the labels, in label order; for scored candidates a list with one
              score: the mean log-likelihood of the candidate's tokens)
history       run, epoch (from 1), split (train, held_out, or an evaluation split), loss, accuracy,
              n
metrics       resources/columns.yaml and the columns.yaml of the study describe its columns
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scripts.data.files import whole
from scripts.data.items import ENSEMBLE
from scripts.data.keyed import keyed_uniform
from scripts.running.program import MORE_MEMORY, UserError, cut, is_of_machine

if TYPE_CHECKING:
    import pandas as pd

TEXTS, SCORES = pa.list_(pa.string()), pa.list_(pa.float32())


def table_schema(names: str, **types: str | pa.DataType) -> pa.Schema:
    """Return the schema of these columns. types: of the columns that are no texts."""
    return pa.schema({name: types.get(name, "string") for name in names.split()})


CAPTIONS = table_schema(
    "source split video_id position text start_s end_s",
    position="int32",
    start_s="float64",
    end_s="float64",
)
CLEANING = table_schema("source split unit action reason count", count="int64")
TEMPLATES = table_schema(
    "source split template past past_fronted past_units future future_fronted future_units "
    "duration_units span_start span_end duration",
    **dict.fromkeys(("past_units", "future_units", "duration_units"), TEXTS),
)
QUESTIONS = table_schema(
    "source split question_id sentence question answer label category", label="int8"
)
DIALOGS = table_schema("source split dialog_id turn speaker text duplicate_of", turn="int32")
CHALLENGE = table_schema(
    "source split instance_id dialog option label rule is_original",
    label="int8",
    is_original="bool",
)
SPANS = table_schema(
    "source split dialog_id turn start end text kind has_numeral value",
    **dict.fromkeys(("turn", "start", "end"), "int32"),
    has_numeral="bool",
)
CHOICES = table_schema(
    "source split item_id group_id category context question option place label",
    place="int16",
    label="int8",
)
PREDICTIONS = table_schema(
    "run split selection epoch example_id group_id label score",
    epoch="int32",
    label="int8",
    score=SCORES,
)
HISTORY = table_schema(
    "run epoch split loss accuracy n", epoch="int32", loss="float64", accuracy="float64", n="int64"
)
METRICS = table_schema(  # of every study; each study adds its own columns
    "experiment study model source dataset limit seed wording split slice metric value sd ci_low "
    "ci_high n sample",
    **dict.fromkeys(("limit", "seed", "n"), "int64"),
    **dict.fromkeys(("value", "sd", "ci_low", "ci_high"), "float64"),
    sample="bool",
)


@contextmanager
def table_writer(path: Path, schema: pa.Schema, provenance: dict) -> Iterator[pq.ParquetWriter]:
    """Yield a Parquet writer (zstd, page checksums) for tables of `schema`. The file appears when
    the block ends without an error. `provenance` is stored as JSON, metadata key `timestride`.
    """
    schema = schema.with_metadata({"timestride": json.dumps(provenance, sort_keys=True)})
    with (
        whole(path) as beside,
        pq.ParquetWriter(beside, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        yield writer


def write_table(table: pa.Table, path: Path, schema: pa.Schema, provenance: dict) -> None:
    """Write one table of `schema` to a Parquet file, with its provenance."""
    with table_writer(path, schema, provenance) as writer:
        writer.write_table(table.select(schema.names).cast(schema))


@contextmanager
def parquet_errors(path: Path, remedy: str = "remove it and run again") -> Iterator[None]:
    """Turn every error of pyarrow about a missing or broken Parquet file into a UserError."""
    if path.is_dir():
        raise UserError(f"{path}: is a folder, not a file; name a Parquet file")
    try:
        yield
    except FileNotFoundError:
        raise UserError(
            f"{path}: no such file; make it with `snakemake {path}`, or correct the name"
        ) from None
    except (MemoryError, pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        if is_of_machine(error):
            raise UserError(f"{path}: needs more memory than there is; {MORE_MEMORY}") from None
        raise UserError(
            f"{path}: not a Parquet file, or a damaged one ({cut(str(error), 200)}); {remedy}"
        ) from None


def schema_of(path: Path) -> pa.Schema:
    """Return the schema of a Parquet file."""
    with parquet_errors(path), pq.ParquetFile(path) as opened:
        return opened.schema_arrow


def provenance_of(path: Path) -> dict:
    """Return the provenance that a Parquet file carries."""
    try:
        provenance = json.loads((schema_of(path).metadata or {}).get(b"timestride", b"{}"))
    except (ValueError, RecursionError):
        provenance = None
    if not isinstance(provenance, dict):
        raise UserError(
            f"{path}: its metadata about its origin is not a JSON object; remove the file and run "
            "again"
        )
    return provenance


def read_metrics(
    path: Path,
    schema: pa.Schema = METRICS,
    draws: bool = False,
    others: bool = False,
    ensembles: bool = False,
) -> pa.Table:
    """Read a table of metrics. schema: the columns that the table must have. draws: with the draws,
    which only comparisons need. others: with the results that others released. These have a table
    of their own. ensembles: with the ensembles of seeds, which stand in the table of comparisons.
    """
    found = schema_of(path)
    check_columns(path, found, schema.names, schema)
    table = read_table(path, [name for name in found.names if draws or name != "draws"])
    check_complete(
        path, table, set(METRICS.names) - {"limit", "seed", "wording", "sd", "ci_low", "ci_high"}
    )
    if "method" not in table.column_names:
        return table
    if not ensembles:
        is_ensemble = pc.ends_with(table["method"], ENSEMBLE)
        table = table.filter(pc.invert(pc.fill_null(is_ensemble, False)))
    if others:
        return table
    of_others = pc.and_(
        pc.equal(table["method"], "released"), pc.not_equal(table["dataset"], "released")
    )
    return table.filter(pc.invert(pc.fill_null(of_others, False)))


def check_columns(
    path: Path, found: pa.Schema, wanted: list[str], schema: pa.Schema | None = None
) -> None:
    """Raise UserError if a wanted column is missing from a file, occurs twice, or has another type
    than in `schema`.
    """
    present = found.names
    if missing := [name for name in wanted if name not in present]:
        raise UserError(
            f"{path}: no column {', '.join(missing)}; it has {cut(', '.join(present), 400)}"
        )
    if twice := [name for name in wanted if present.count(name) > 1]:
        raise UserError(
            f"{path}: the column {cut(twice[0])} occurs {present.count(twice[0])} times; keep one "
            "of them"
        )
    for name in wanted:
        if schema and name in schema.names and found.field(name).type != schema.field(name).type:
            raise UserError(
                f"{path}: column {name} holds {cut(str(found.field(name).type))}, not "
                f"{schema.field(name).type}; make the file again"
            )


def check_complete(path: Path, table: pa.Table | pa.RecordBatch, columns: Iterable[str]) -> None:
    """Raise UserError if a value is missing in one of the columns."""
    for name in columns:
        if table[name].null_count:
            raise UserError(
                f"{path}: column {name} has {table[name].null_count} missing values; make the file "
                "again"
            )


def read_table(
    path: Path, columns: Iterable[str] | None = None, schema: pa.Schema | None = None
) -> pa.Table:
    """Read a Parquet file, or some of its columns. Raises UserError if a column is missing, or if a
    byte has changed. schema: the types of the columns that it names.
    """
    with parquet_errors(path), pq.ParquetFile(path, page_checksum_verification=True) as opened:
        present = opened.schema_arrow.names
        wanted = list(columns) if columns is not None else present
        check_columns(path, opened.schema_arrow, wanted, schema)
        # pandas would obey what others wrote into the metadata, damaged or not
        table = opened.read(wanted).select(wanted).replace_schema_metadata()
        table.validate(full=True)
        return table


def read_sample(path: Path, columns: list[str], key: str, most: int, draw: int) -> pa.Table:
    """Return some columns of about `most` rows of a Parquet file, drawn by hash of the column
    `key`. The file is streamed.
    """
    with parquet_errors(path), pq.ParquetFile(path, page_checksum_verification=True) as opened:
        check_columns(path, opened.schema_arrow, columns)
        share, parts = most / max(opened.metadata.num_rows, 1), []
        for batch in opened.iter_batches(65_536, columns=columns):
            rows = pa.Table.from_batches([batch]).select(columns).replace_schema_metadata()
            if share < 1:
                rows = rows.filter(pa.array(keyed_uniform(rows[key].to_pandas(), draw) < share))
            parts.append(rows)
        return (
            pa.concat_tables(parts) if parts else opened.schema_arrow.empty_table().select(columns)
        )


def write_rows(
    rows: "pd.DataFrame", file: Path, schema: pa.Schema, source: Path, facts: dict
) -> None:
    """Write rows to a Parquet file. source: the file that they were made of, with its provenance;
    facts: further provenance.
    """
    table = pa.Table.from_pandas(rows, schema, preserve_index=False)
    write_table(table, file, schema, provenance_of(source) | facts)


def read_complete(path: Path, schema: pa.Schema, missing: Iterable[str] = ()) -> pa.Table:
    """Return read_table() of the columns of a schema. Raises UserError for a missing value, except
    in the columns of `missing`.
    """
    table = read_table(path, schema.names, schema)
    check_complete(path, table, set(schema.names) - set(missing))
    return table


def digest_of(table: pa.Table, columns: list[str], where: str = "the table") -> str:
    """Return the sha256 of the values of some columns. The row order changes it, chunks and
    metadata do not. Text, integers and floats only. Raises UserError for a missing value, naming
    `where`.
    """
    digest = hashlib.sha256()
    for name in columns:
        column = (
            pa.concat_arrays(table[name].chunks)
            if len(table)
            else pa.array([], table.schema.field(name).type)
        )
        if column.null_count:
            raise UserError(f"{where}: column {name} has {column.null_count} missing values")
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if not is_text and not pa.types.is_primitive(column.type):
            raise UserError(
                f"{where}: column {name} holds {cut(str(column.type))}, not text or numbers; make "
                "the file again"
            )
        digest.update(f"{name} {column.type} {len(column)}\n".encode())
        if is_text:
            column = column.cast(pa.large_string())
            _, offsets, characters = column.buffers()
            ends = np.frombuffer(offsets, "<i8")[column.offset : column.offset + len(column) + 1]
            digest.update((ends - ends[0]).tobytes())
            digest.update(memoryview(characters)[ends[0] : ends[-1]] if characters else b"")
        else:
            digest.update(column.to_numpy(zero_copy_only=False).tobytes())
    return digest.hexdigest()


def content_digest(path: Path, columns: list[str]) -> str:
    """Return digest_of() some columns of a Parquet file. The file's encoding and writer do not
    change it.
    """
    return digest_of(read_table(path, columns), columns, str(path))
