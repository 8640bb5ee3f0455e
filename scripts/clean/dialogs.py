"""Clean dialogs of your own, a corpus of any size, to train on instead of the paper's Meena data.

The source's entry names the file, and --provenance has its name ({"sha256": {"<file>": …}}). The
file's suffix decides how it is read:

  .jsonl    one dialog a line: {"dialog": ["first turn", "second turn", …]}, and an optional
            "dialog_id" (without it the dialog is called line:<number, from 1>). Chats (messages,
            conversations) and MultiWOZ's log are read, too: dialog_lines.py lists the keys
  .json     a list of such dialogs, read into memory
  .parquet  one turn a row, the rows of a dialog together: columns dialog_id, turn (a number to sort
            by), text, and an optional speaker; or a dialog a row with a list of turns
  .csv .tsv the same columns, one turn a row
  .txt      a dialog a line, each turn before __eou__ (DailyDialog's own form); or ParlAI's lines

A tenth of the dialogs, by hash of the dialog_id, is validation. The first speaker is A, the next
B; where no speaker is given they alternate. Turns lose white space at their ends and repeated white
space. Empty turns are dropped and counted. A dialog with the same words as an earlier one (train,
then validation) stays and is marked. The file is read twice, in pieces: memory holds the ids of all
dialogs, not their texts.

Reads  the file in --fetched
Writes train.parquet, validation.parquet (schema dialogs), in the order of the file, and
       cleaning.csv

    python -m scripts.clean.dialogs --source my_dialogs --fetched /data \\
        --output results/clean/my_dialogs \\
        --provenance '{"licence": "CC BY 4.0", "sha256": {"dialogs.jsonl": null}}'
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.clean.corpus import EMPTY, NO_TURN, Count, cleaner_arguments, counted, entries_of
from scripts.clean.corpus import file_named, joined, kept_of, shaped, write_cleaning
from scripts.clean.dailydialog import same_words
from scripts.clean.dialog_lines import EXAMPLE, LISTS, Dialog, Line, dialog_of, dialogs_of_text
from scripts.data.files import whole_set
from scripts.data.keyed import keyed_hash, keyed_uniform
from scripts.running.program import UserError, cut, execute
from scripts.data.tables import DIALOGS, check_columns, parquet_errors, table_writer
from scripts.data.texts import csv_rows, decoded, json_of, lines_in, text_of

SPLITS = ("train", "validation")
VALIDATION_SHARE = 0.1
CHUNK = 1 << 23  # bytes of JSONL read at a time
ROWS = 1 << 16  # rows of Parquet read at a time
# The columns of a Parquet file, the types that they are read as, and the types that they may have.
NEEDED = {"dialog_id": pa.string(), "turn": pa.int64(), "text": pa.string()}
MAY_BE = {
    "dialog_id": "text or whole numbers",
    "turn": "numbers",
    "text": "text",
    "speaker": "text or whole numbers",
}
ACCEPTED = (".jsonl", ".json", ".parquet", ".csv", ".tsv", ".txt")


def line_of(line: bytes, where: str) -> Dialog:
    """One line of a JSONL file. Raises UserError for a line of another shape, and for a repeated
    key.
    """
    remedy = f"write one dialog a line, as {EXAMPLE}"
    read = shaped(json_of(decoded(line, where, remedy), where, remedy), Line, where, remedy)
    return dialog_of(read, where)


def chunks_of(file: Path) -> Iterator[list[tuple[int, Dialog]]]:
    """Dialogs with their numbers, from 1: lines of JSON piece by piece; all of a JSON list, of a
    text, or of Parquet with a list of turns in each row.
    """
    suffix = file.suffix.lower()
    if suffix == ".txt":
        yield dialogs_of_text(lines_in(text_of(file), str(file)), str(file))
    elif suffix != ".jsonl":
        entries = entries_of(file, Line, "dialog", "dialog_id")
        what = "row" if suffix == ".parquet" else "dialog"
        yield [
            (number, dialog_of(entry, f"{file}: {what} {number}"))
            for number, entry in enumerate(entries, 1)
        ]
    else:
        yield from lines_of(file)


def lines_of(file: Path) -> Iterator[list[tuple[int, Dialog]]]:
    """Dialogs of JSON lines with their numbers, from 1, piece by piece."""
    before = 0
    with open(file, "rb") as opened:
        while lines := opened.readlines(CHUNK):
            numbered = [pair for pair in enumerate(lines, before + 1) if pair[1].strip()]
            yield [(number, line_of(line, f"{file}: line {number}")) for number, line in numbered]
            before += len(lines)


def from_lists(file: Path) -> Iterator[pd.DataFrame]:
    """Turns of whole dialogs: dialog_id, text, speaker, dialog and place (both the line, or the
    place in the list, from 1); empty lines are passed over.
    """
    for chunk in chunks_of(file):
        ids = [f"line:{number}" if one.name is None else one.name for number, one in chunk]
        sizes = [len(one.texts) for _, one in chunk]
        place = np.repeat(np.array([number for number, _ in chunk], int), sizes)
        if chunk:
            yield pd.DataFrame(
                {
                    "dialog_id": np.repeat(np.array(ids, object), sizes),
                    "dialog": place,
                    "place": place,
                    "text": [text for _, one in chunk for text in one.texts],
                    "speaker": [name for _, one in chunk for name in one.speakers],
                }
            )


def from_csv(file: Path) -> Iterator[pd.DataFrame]:
    """Turns of whole dialogs as from_parquet() gives them, from a table with its columns. Raises
    UserError for a missing column, and for a turn that is no number.
    """
    delimiter = "\t" if file.suffix.lower() == ".tsv" else ","
    read = csv_rows(text_of(file), str(file), "write it anew", delimiter)
    if missing := [name for name in NEEDED if name not in read]:
        raise UserError(
            f"{file}: no column {', '.join(missing)}; it has {cut(', '.join(read.columns), 400)}"
        )
    number = pd.to_numeric(read["turn"], errors="coerce")
    unfit = number.isna() | (read["dialog_id"] == "")
    if unfit.any():
        raise UserError(
            f"{file}: row {int(unfit.idxmax()) + 2} has no dialog_id, or its turn is no number; "
            "fill it in"
        )
    read = read.assign(turn=number.astype(np.int64), place=np.arange(2, len(read) + 2))
    columns = [*NEEDED, "place", *(["speaker"] if "speaker" in read else [])]
    if len(read):
        yield sorted_by_turn(read[columns], file)


def fits(kind: pa.DataType, wanted: str) -> bool:
    """Whether a column's type is one of those that MAY_BE names. A number may be read as text, and
    an all-null column as any type.
    """
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    text = [pa.types.is_null, pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view]
    others = {
        "text": [],
        "text or whole numbers": [pa.types.is_integer],
        "numbers": [pa.types.is_integer, pa.types.is_floating],
    }
    return any(check(kind) for check in text + others[wanted])


def columns_of(schema: pa.Schema, file: Path) -> dict[str, pa.DataType]:
    """The columns to read, and the type to read each one as. Raises UserError for a column that is
    missing, doubled or of another type.
    """
    columns = NEEDED | ({"speaker": pa.string()} if "speaker" in schema.names else {})
    check_columns(file, schema, list(columns))
    for name in columns:
        if not fits(schema.field(name).type, MAY_BE[name]):
            raise UserError(
                f"{file}: column {name} cannot be read: it holds "
                f"{cut(str(schema.field(name).type))}, not {MAY_BE[name]}; convert it"
            )
    return columns


def from_parquet(file: Path) -> Iterator[pd.DataFrame]:
    """Turns of whole dialogs, in order: dialog_id, speaker (where given), text, place (the row,
    from 1), dialog (the row of the dialog's first turn).
    """
    with (
        parquet_errors(file, "write it anew"),
        pq.ParquetFile(file, page_checksum_verification=True) as opened,
    ):
        columns = columns_of(opened.schema_arrow, file)
        held, rows = None, 0
        for batch in opened.iter_batches(ROWS, columns=list(columns)):
            batch.validate(full=True)
            table = pa.Table.from_batches([batch])
            for name, kind in columns.items():
                try:
                    table = table.set_column(
                        table.schema.get_field_index(name), name, table[name].cast(kind)
                    )
                except pa.ArrowException as error:
                    raise UserError(
                        f"{file}: column {name} cannot be read as {kind} behind row {rows}: "
                        f"{cut(str(error))}; convert it"
                    ) from None
            read = (
                table.replace_schema_metadata()
                .to_pandas()
                .assign(place=np.arange(rows + 1, rows + len(table) + 1))
            )
            rows += len(table)
            for name in ("dialog_id", "turn"):
                if read[name].isna().any():
                    raise UserError(
                        f"{file}: row {read.loc[read[name].isna(), 'place'].iloc[0]} has no "
                        f"{name}; fill it in"
                    )
            read["turn"] = read["turn"].astype(np.int64)
            read = read if held is None else pd.concat([held, read], ignore_index=True)
            # The last dialog may go on in the next batch.
            others = (read["dialog_id"] != read["dialog_id"].iloc[-1]).to_numpy().nonzero()[0]
            behind = int(others.max(initial=-1)) + 1
            held = read.iloc[behind:]
            if behind:
                yield sorted_by_turn(read.iloc[:behind], file)
        if held is not None:
            yield sorted_by_turn(held, file)


def sorted_by_turn(read: pd.DataFrame, file: Path) -> pd.DataFrame:
    """Turns in the order of their numbers; refuses a dialog that has one number twice.

    Dialogs keep the order of the file.
    """
    begins = read["place"].where(read["dialog_id"] != read["dialog_id"].shift()).ffill()
    read = read.assign(dialog=begins.astype(np.int64))
    if (twice := read.duplicated(["dialog", "turn"])).any():
        wrong = read[twice].iloc[0]
        raise UserError(
            f"{file}: row {wrong['place']}: dialog {cut(wrong['dialog_id'])} has turn "
            f"{wrong['turn']} a second time; number the turns of a dialog without repeats, and "
            "give each dialog an id of its own"
        )
    return read.sort_values(["dialog", "turn"], kind="stable").drop(columns="turn")


def reader_of(file: Path) -> Callable[[Path], Iterator[pd.DataFrame]]:
    """Return the function that reads a file."""
    suffix = file.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return from_csv
    if suffix != ".parquet":
        return from_lists
    with parquet_errors(file, "write it anew"):
        schema = pq.read_schema(file)
    kinds = [schema.field(name).type for name in LISTS if name in schema.names]
    return from_lists if any(map(pa.types.is_list, kinds)) else from_parquet


def turns_of(file: Path) -> Iterator[pd.DataFrame]:
    """All turns of the file, piece by piece, each dialog whole. Raises UserError for a file without
    any turn.
    """
    try:
        empty = True
        for read in reader_of(file)(file):
            empty = False
            if "speaker" not in read:
                read["speaker"] = None
            yield read.assign(said=joined(read["text"].fillna("")))
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; correct `local:` in the source's entry") from None
    if empty:
        raise UserError(
            f"{file}: holds no dialog; write some, one a line as {EXAMPLE} (.jsonl) or one turn a "
            "row (.parquet)"
        )


def listed(file: Path) -> pd.DataFrame:
    """One row a dialog, in the order of the file: dialog_id, place, split, words (a hash of the
    dialog's words; 0 for a dialog without words). Raises UserError for an id that comes again.
    """
    parts = []
    for read in turns_of(file):
        dialogs = read.groupby("dialog", sort=False).agg(
            dialog_id=("dialog_id", "first"), said=("said", " ".join)
        )
        dialogs = dialogs.rename_axis("place").reset_index()
        words = same_words(dialogs["said"])
        parts.append(
            dialogs[["dialog_id", "place"]].assign(
                words=np.where(words == "", np.uint64(0), keyed_hash(words))
            )
        )
    found = pd.concat(parts, ignore_index=True)
    if (twice := found["dialog_id"].duplicated()).any():
        wrong = found[twice].iloc[0]
        row = "row" if file.suffix.lower() == ".parquet" else "line"
        raise UserError(
            f"{file}: {row} {wrong['place']}: dialog_id {cut(wrong['dialog_id'])} was there "
            "before; give each dialog an id of its own, and keep its turns together"
        )
    draw = keyed_uniform(found["dialog_id"])
    return found.assign(split=np.where(draw < VALIDATION_SHARE, "validation", "train"))


def duplicates(dialogs: pd.DataFrame) -> pd.Series:
    """Return the dialogs that repeat an earlier one: {dialog_id: the first dialog with the same
    words, train before validation}.
    """
    said = dialogs[dialogs["words"] != 0].sort_values(
        "split", key=lambda split: split == "validation", kind="stable"
    )
    first = said.groupby("words")["dialog_id"].transform("first")
    return first.set_axis(said["dialog_id"])[(first != said["dialog_id"]).to_numpy()]


def speakers(turns: pd.DataFrame) -> tuple[np.ndarray, int]:
    """Return A or B for each turn: A speaks first. Speakers alternate if none is given. Also return
    the number of dialogs with more than two speakers.
    """
    alternate = turns["turn"].to_numpy()
    if turns["speaker"].isna().all():
        return np.where(alternate % 2 == 0, "A", "B"), 0
    first = turns.drop_duplicates(["dialog_id", "speaker"])
    first = first.assign(number=first.groupby("dialog_id").cumcount())
    number = (
        turns[["dialog_id", "speaker"]]
        .merge(first[["dialog_id", "speaker", "number"]], how="left")["number"]
        .to_numpy()
    )
    # If a turn of a dialog has no speaker, all turns of the dialog alternate.
    has_speakers = ~turns["speaker"].isna().groupby(turns["dialog_id"]).transform("any").to_numpy()
    return (
        np.where(np.where(has_speakers, number, alternate) % 2 == 0, "A", "B"),
        turns.loc[has_speakers & (number > 1), "dialog_id"].nunique(),
    )


def cleaned(read: pd.DataFrame, first_of: pd.Series, source: str) -> tuple[pd.DataFrame, Counter]:
    """Return turns of one split as rows of the schema dialogs, and what is counted of them.
    first_of: from duplicates().
    """
    rows = read[read["said"] != ""].copy()
    rows["turn"] = rows.groupby("dialog_id").cumcount()
    rows["speaker"], crowded = speakers(rows)
    duplicate_of = rows["dialog_id"].map(first_of).fillna("")
    found = Counter(
        dialogs=read["dialog_id"].nunique(),
        dialogs_left=rows["dialog_id"].nunique(),
        crowded=crowded,
        turns=len(read),
        turns_left=len(rows),
        spaced=(rows["text"] != rows["said"]).sum(),
        repeated=rows.loc[duplicate_of != "", "dialog_id"].nunique(),
    )
    return rows.assign(source=source, text=rows["said"], duplicate_of=duplicate_of), found


def counts_of(split: str, found: Counter) -> list[Count]:
    crowded = {"more than two speakers: every other one is A": found["crowded"]}
    spaced = {"white space at an end or in a row: one space or none": found["spaced"]}
    dialogs, turns = ((found[unit], found[f"{unit}_left"]) for unit in ("dialogs", "turns"))
    return [
        *kept_of(split, "dialogs", *dialogs, NO_TURN, noted=crowded),
        *kept_of(split, "turns", *turns, EMPTY, changed=spaced),
        *counted(split, "dialogs", noted={"the same words as one before": found["repeated"]}),
    ]


def main(given: argparse.Namespace) -> None:
    file = file_named(given.fetched, given.provenance, *ACCEPTED)
    dialogs = listed(file)
    sizes = dialogs["split"].value_counts()
    if missing := [split for split in SPLITS if not sizes.get(split)]:
        raise UserError(
            f"{file}: none of its {len(dialogs)} dialogs falls to {missing[0]} (a tenth is "
            "validation, by hash of the id); give some fifty dialogs or more"
        )
    split_of = dialogs.set_index("dialog_id")["split"]
    first_of = duplicates(dialogs)
    found = {split: Counter() for split in SPLITS}
    with (
        whole_set(given.output) as folder,
        table_writer(folder / "train.parquet", DIALOGS, given.provenance) as train,
        table_writer(folder / "validation.parquet", DIALOGS, given.provenance) as validation,
    ):
        for read in turns_of(file):
            read["split"] = read["dialog_id"].map(split_of)
            for split, writer in zip(SPLITS, (train, validation)):
                rows, of_piece = cleaned(read[read["split"] == split], first_of, given.source)
                found[split] += of_piece
                writer.write_table(pa.Table.from_pandas(rows, schema=DIALOGS, preserve_index=False))
        counts = [count for split in SPLITS for count in counts_of(split, found[split])]
        write_cleaning(given.source, counts, folder / "cleaning.csv")


if __name__ == "__main__":
    execute(main, cleaner_arguments(__doc__).parse_args())
