"""The tables of a record (scripts/publish/record.py): every number of a study and the facts of its
runs as CSV, read back as they were.

metrics.csv.gz  a line a row of metrics.parquet, with all its columns but `draws`: numbers in full,
                texts in quotes, what is missing empty
draws.parquet   row (a line of metrics.csv.gz, from 0), draws: of the rows whose figures compare by
                them (compared()); not there without any
runs.csv        a line a run: the fields of its run.json; a field of a field is named with a point,
                as training.epochs
history.csv     loss and accuracy of each run by epoch (schema history)

Not a program.
"""

import csv
import importlib
import io
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from scripts.data.csv_files import as_written, write_csv
from scripts.data.files import whole
from scripts.running.program import UserError, cut, shown
from scripts.data.runs import is_name
from scripts.data.tables import HISTORY, provenance_of, read_table, write_table
from scripts.data.texts import csv_of, json_of, text_of

METRICS, DRAWS, RUNS, HISTORIES, FACTS = (
    "metrics.csv.gz",
    "draws.parquet",
    "runs.csv",
    "history.csv",
    "record.json",
)
AGAIN = "take it from git again"
OF_RECORD = {
    "name": str,
    "command": str,
    "recorded": str,
    "columns": list,
    "figures": dict,
    "tables": dict,
    "runs": dict,
    "programs": dict,
    "timestride": dict,
    "spent": dict,
}  # what record.json holds, among others
# A text that a spreadsheet takes for a formula gets an apostrophe in front, and loses it when read.
HARMLESS, AS_WRITTEN = (r"^('*[=+\-@\t\r])", r"'\1"), (r"^'('*[=+\-@\t\r])", r"\1")
FIGURE = ("title", "study", "program", "reads", "runs")  # what record.json says of a figure


# ---- record.json


def read_record(folder: Path) -> dict:
    """record.json of a folder. Raises UserError where there is none, or a broken one."""
    file = folder / FACTS
    record = json_of(
        text_of(file, AGAIN, "name the folder of a record, docs/record/<study>"), str(file), AGAIN
    )
    for name, kind in OF_RECORD.items():
        if not isinstance(record, dict) or not isinstance(record.get(name), kind):
            raise UserError(f"{file}: has no {name} as records have; {AGAIN}")
    return record


# ---- metrics


def compared(metrics: pa.Table, drawn: list[str], transfers: bool) -> pa.ChunkedArray:
    """Which rows figures compare by their draws: those of the studies `drawn` and, for the figure
    of transfers, whole splits over all replicates. Elsewhere draws decide the words of the page
    alone, and take megabytes.
    """
    in_study = pc.is_in(metrics["study"], pa.array(drawn, pa.string()))
    if transfers:
        over_all = pc.and_(
            pc.and_(pc.is_null(metrics["seed"]), pc.is_null(metrics["wording"])),
            pc.equal(metrics["slice"], "all"),
        )
        in_study = pc.or_(in_study, over_all)
    return pc.and_(pc.is_valid(metrics["draws"]), in_study)


def with_texts(table: pa.Table, pattern: str, replacement: str) -> pa.Table:
    """The table with each text where the pattern stands replaced."""
    for number, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = pc.replace_substring_regex(table[number], pattern, replacement)
            table = table.set_column(number, field, texts)
    return table


def write_metrics(
    metrics: pa.Table, folder: Path, drawn: list[str], transfers: bool = False
) -> list[list[str]]:
    """Write metrics.csv.gz and draws.parquet; returns the name and the type of each column
    of the metrics.

    drawn, transfers: see compared().
    """
    # tens of megabytes of slices else
    with whole(folder / METRICS) as place, pa.CompressedOutputStream(str(place), "gzip") as file:
        arrow_csv.write_csv(with_texts(metrics.drop_columns("draws"), *HARMLESS), file)
    rows = pa.table({"row": pa.array(range(len(metrics)), pa.int32()), "draws": metrics["draws"]})
    rows = rows.filter(compared(metrics, drawn, transfers))
    if len(rows):
        with whole(folder / DRAWS) as place:
            # The bytes of the same place of each number together: half the size.
            pq.write_table(
                rows,
                place,
                compression="zstd",
                use_dictionary=False,
                use_byte_stream_split=["draws.list.element"],
                write_page_checksum=True,
            )
    return [[field.name, str(field.type)] for field in metrics.schema]


def type_of(name: str) -> pa.DataType:
    """The type that its name stands for: of a column of metrics.parquet.

    Raises UserError for no type.
    """
    try:
        return pa.list_(pa.float32()) if name.startswith("list<") else pa.type_for_alias(name)
    except (AttributeError, TypeError, ValueError):
        raise UserError(
            f"{FACTS}: a column is of the type {shown(name)}, which is none; {AGAIN}"
        ) from None


def read_typed(file: Path, schema: pa.Schema) -> pa.Table:
    """The columns of a schema of a CSV file of a record, texts as they were.

    Raises UserError for a file that is broken.
    """
    options = arrow_csv.ConvertOptions(
        column_types=schema,
        include_columns=schema.names,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parsing = arrow_csv.ParseOptions(newlines_in_values=True)
    try:
        table = arrow_csv.read_csv(file, parse_options=parsing, convert_options=options)
    except (pa.ArrowInvalid, KeyError, OSError) as error:
        raise UserError(f"{file}: cannot be read ({cut(str(error))}); {AGAIN}") from None
    return with_texts(table, *AS_WRITTEN)


def read_metrics(folder: Path, types: list[list[str]]) -> pa.Table:
    """The table that write_metrics() was given, with the draws that it kept.

    Raises UserError for a file that is broken.
    """
    schema = pa.schema([(name, type_of(kind)) for name, kind in types])
    table = read_typed(
        folder / METRICS, pa.schema([field for field in schema if field.name != "draws"])
    )
    draws = {}
    if (folder / DRAWS).exists():
        draws = dict(zip(*read_table(folder / DRAWS, ["row", "draws"]).to_pydict().values()))
    column = pa.array([draws.get(row) for row in range(len(table))], pa.list_(pa.float32()))
    return table.append_column("draws", column).select(schema.names)


# ---- runs


def _cell(value: object) -> str:
    """A value of run.json as a cell: a text as it is where no JSON reads like it,
    all else as JSON.
    """
    if isinstance(value, str) and value:
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, sort_keys=True)


def _value(cell: str) -> object:
    """What _cell() was given."""
    try:
        return json.loads(cell)
    except ValueError:
        return cell


def runs_table(facts: list[dict]) -> pd.DataFrame:
    """A row a run of the fields of its run.json, all text; empty where a run has no such field."""
    rows = []
    for fact in facts:
        row = {}
        for key, value in fact.items():
            inside = value if isinstance(value, dict) and value else None
            row |= (
                {f"{key}.{name}": _cell(part) for name, part in inside.items()}
                if inside
                else {key: _cell(value)}
            )
        rows.append(row)
    first = ["run", "study", "source", "dataset", "model", "method", "seed"]
    columns = dict.fromkeys([*first, *sorted({name for row in rows for name in row})])
    return pd.DataFrame(rows, columns=list(columns), dtype=object).fillna("")


def facts_of_runs(runs: pd.DataFrame) -> list[dict]:
    """What runs_table() was given."""
    found = []
    for row in runs.to_dict("records"):
        fact: dict = {}
        for name, cell in row.items():
            key, point, inside = name.partition(".")
            if cell != "" and point:
                fact.setdefault(key, {})[inside] = _value(cell)
            elif cell != "":
                fact[key] = _value(cell)
        found.append(fact)
    return found


def read_runs(folder: Path) -> list[dict]:
    """The facts of the runs of a record.

    Raises UserError for a file that is broken, and for a run or study whose name leads elsewhere.
    """
    file, needed = folder / RUNS, ["run", "study"]
    header = next(csv.reader(io.StringIO(text_of(file, AGAIN, AGAIN))), [])
    cells = csv_of(file, list(dict.fromkeys([*needed, *header])), AGAIN, AGAIN)
    for name in needed:
        if not (named := cells[name].map(is_name)).all():
            raise UserError(
                f"{file}: row {named.argmin() + 2}: {name} is "
                f"{shown(cells[name].iloc[named.argmin()])}, which is no name; {AGAIN}"
            )
    return facts_of_runs(cells.apply(as_written))


# ---- the layout that the figures' programs read


def write_results(folder: Path, types: list[list[str]], place: Path) -> None:
    """Write a record's numbers as the programs of scripts/publish/ read them:
    <place>/metrics.parquet, and for each run <place>/train/<study>/<run>/run.json and
    history.parquet.
    """
    table = read_metrics(folder, types)
    for study in table["study"].unique().to_pylist():  # columns that came after the record
        for field in importlib.import_module(f"scripts.studies.{study}.evaluate").SCHEMA:
            if field.name not in table.column_names:
                table = table.append_column(field, pa.nulls(len(table), field.type))
    write_table(table, place / "metrics.parquet", table.schema, {})
    history = read_typed(folder / HISTORIES, HISTORY)
    for fact in read_runs(folder):
        run = place / "train" / fact["study"] / fact["run"]
        run.mkdir(parents=True)
        (run / "run.json").write_text(json.dumps(fact), encoding="utf-8")
        settings = {
            key: fact.get(key)
            for key in (
                "study",
                "source",
                "dataset",
                "model",
                "method",
                "seed",
                "training",
                "made_by",
            )
        }
        write_table(
            history.filter(pc.equal(history["run"], fact["run"])),
            run / "history.parquet",
            HISTORY,
            {"run": fact["run"], "settings": settings | {"data": fact.get("data_options", {})}},
        )


def write_runs(facts: list[dict], histories: list[Path], folder: Path) -> None:
    """Write runs.csv and history.csv."""
    # run.json does not tell by which run its weights were made
    told = [provenance_of(file).get("settings", {}) for file in histories]
    facts = [
        fact | ({"made_by": settings["made_by"]} if "made_by" in settings else {})
        for fact, settings in zip(facts, told)
    ]
    write_csv(runs_table(facts), folder / RUNS)
    read = [read_table(file, HISTORY.names, HISTORY) for file in histories]
    write_csv(
        (pa.concat_tables(read) if read else HISTORY.empty_table()).to_pandas(), folder / HISTORIES
    )
