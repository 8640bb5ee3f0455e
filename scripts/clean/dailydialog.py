"""Clean DailyDialog (Li et al. 2017): everyday dialogs of two people, one a line,
turns that end with `__eou__`.

These are repaired, and each repair is counted:
  apostrophes   a spaced one in contractions (`don ’ t`, `it ' s`) and after plurals
                (`two hours ' time`), and a curly one
  full stops    a missing space after a full stop or question mark between words (`right.But`, not
                `p.m.`, `10.30` or `www.x.com`)
  spaces        a spaced abbreviation (`5 p . m .`), a space before punctuation (`well , yes .`, not
                `well ...`), spaces in a row
  characters    full-width characters, control characters

TimeDial, which was made from this corpus, is repaired in the same way. Speakers alternate, A
begins. A dialog with the same words as an earlier one stays and is marked. The words are compared
in lower case, letters and digits only; the order is train, validation, test.

Reads  train.zip, validation.zip, test.zip (of each: <split>/dialogues_<split>.txt) from --fetched;
       unpacked in memory
Writes train.parquet, validation.parquet, test.parquet (schema dialogs; dialog_id is <split>:<line
       from 0>) and cleaning.csv

    python -m scripts.clean.dailydialog --source dailydialog --fetched results/fetch/dailydialog \\
        --output results/clean/dailydialog --provenance '{"licence": "CC BY-NC-SA 4.0"}'
"""

import argparse
import re
import unicodedata
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.clean.corpus import EMPTY, NO_TURN, Count, cleaner_arguments, counted, kept_of
from scripts.clean.corpus import write_corpus
from scripts.data.files import zip_errors
from scripts.running.program import UserError, cut, execute
from scripts.data.tables import DIALOGS
from scripts.data.texts import decoded, lines_in

SPLITS = ("train", "validation", "test")
LARGEST = 200_000_000  # bytes of one split's text; the real ones have 6 million at most
END = "__eou__"

WIDE = re.compile("[\u3000-\u303f\uff01-\uffee]")
STOPS = str.maketrans({"\u3002": ".", "\u3001": ","})  # NFKC leaves these as they are
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff]")
ADDRESS = r"(?:\S*@|www\.|\S*\.(?:com|net|org|edu|gov|cn|tw)\b)\S*"
# what may follow a full stop that ends a sentence; Ph.D has no such word there
WORD = r"(?:[A-Za-z]{2}|[AIa]\b)"
STOP = re.compile(
    rf"(?P<address>(?<!\S){ADDRESS})"
    # not L.A.Hank
    rf"|(?<=[A-Za-z'’-][A-Za-z])[.?!](?={WORD})|(?<=(?<![.\w])[A-Za-z])[.?!](?=[A-Za-z]{{2}})"
    rf"|(?<=[ap]\.m)\.(?={WORD})|(?<=\d)[.?!](?=[A-Z][a-z])"
)  # p.m.Any, 57.And; not 7.45
CONTRACTION = re.compile(
    r"(?<=\w) ['’] (?=(?:s|m|ll|ve|re|d)\b)|(?<=n) ['’] (?=t\b)|(?<=\b[o0]) ['’] (?=clock\b)"
    r"|(?<=\bma) ['’] (?=am\b)",
    re.IGNORECASE,
)
PLURAL = re.compile(r"(?<=[a-z]s) ['’](?= [a-z])")
ABBREVIATION = re.compile(r"(?:(?<=\b[A-Za-z])|(?<=\d[A-Za-z]))(?: \. ?|\. )(?=[A-Za-z] ?\.(?!\.))")
PUNCTUATED = re.compile(r"(?<=\S)[ \t]+(?=(?:[,.;:]|[?!]+)(?!\S))")
# an apostrophe between spaces may open or close a quotation
QUOTE = re.compile(r"(?<!\S)['’‘](?!\S)|['’‘]\w|‘")


def archived(file: Path, split: str) -> str:
    """The text of dialogues_<split>.txt in a split's archive, read in memory. Raises UserError for
    an archive that is broken, too large when unpacked, or without such a file.
    """
    member = f"{split}/dialogues_{split}.txt"
    if not file.exists():
        raise UserError(f"{file}: no such file; fetch the corpus again")
    with (
        zip_errors(f"{file}: not a whole zip, so no dialog can be read"),
        zipfile.ZipFile(file) as archive,
    ):
        times = archive.namelist().count(member)
        if times == 0:
            held = cut(", ".join(archive.namelist()[:5])) or "nothing"
            raise UserError(f"{file}: has no {member}, but {held}; fetch it again")
        if times > 1:
            raise UserError(
                f"{file}: has {times} members {member}, but only one is expected; fetch it again"
            )
        with archive.open(member) as opened:
            read = opened.read(LARGEST + 1)  # whatever size the archive claims
    if len(read) > LARGEST:
        raise UserError(
            f"{file}: {member} unpacks to more than {LARGEST:,} bytes, far more than DailyDialog "
            "has; fetch it again"
        )
    return decoded(read, f"{file}: {member}")


def same_words(texts: pd.Series) -> pd.Series:
    """A text's runs of letters and digits, in lower case: equal for texts with the same words."""
    return pd.Series(
        [" ".join(re.findall("[a-z0-9]+", text.lower())) for text in texts],
        index=texts.index,
        dtype=object,
    )


def narrow(text: str) -> str:
    """Full-width characters of a text as plain ones; the rest is unchanged."""
    return WIDE.sub(
        lambda found: unicodedata.normalize("NFKC", found.group().translate(STOPS)), text
    )


def stops_spaced(text: str) -> str:
    """Put a space after each full stop, question or exclamation mark between two words, except in
    addresses.
    """
    return STOP.sub(lambda found: found.group() if found["address"] else f"{found.group()} ", text)


def possessive(text: str) -> str:
    """Write `two hours ' time` as `two hours' time`. This changes only a turn with one apostrophe,
    because it cannot be a quotation mark.
    """
    return PLURAL.sub("'", text) if len(QUOTE.findall(text)) == 1 else text


# In this order: a stop with its space shows where a contraction ends.
REPAIRS = [
    ("full-width characters: made plain", narrow),
    ("control characters: removed", lambda text: CONTROL.sub("", text)),
    ("no space after a full stop between words: put in", stops_spaced),
    ("a spaced apostrophe in a contraction: closed", lambda text: CONTRACTION.sub("'", text)),
    ("a spaced apostrophe after a plural: closed", possessive),
    ("a spaced abbreviation: closed", lambda text: ABBREVIATION.sub(".", text)),
    ("a space before punctuation: closed", lambda text: PUNCTUATED.sub("", text)),
    ("a curly apostrophe: made straight", lambda text: text.replace("’", "'")),
    ("several spaces in a row: made one", lambda text: " ".join(text.split())),
]


def repaired(texts: pd.Series) -> tuple[pd.Series, dict[str, pd.Series]]:
    """Turns with their spacing repaired and no space at their ends,
    and which turns each repair changed.
    """
    texts, changed = texts.str.strip(), {}
    for reason, repair in REPAIRS:
        after = pd.Series([repair(text) for text in texts], index=texts.index, dtype=object)
        changed[reason] = after != texts
        texts = after
    return texts.str.strip(), changed


def clean_split(text: str, source: str, split: str, where: str) -> tuple[pd.DataFrame, list[Count]]:
    """One split as a table of turns (schema dialogs, duplicate_of still missing),
    and the counts of what was found and changed.
    """
    lines = pd.Series(lines_in(text, where), dtype=object)
    pieces = lines.str.split(END)
    unended = pieces.str[-1].str.strip() != ""
    # What follows the last __eou__ is a turn if it has text, and the line's end otherwise.
    pieces = pd.Series(
        [said if open_end else said[:-1] for said, open_end in zip(pieces, unended)], dtype=object
    )
    turns = pieces.explode().dropna().rename("text").rename_axis("line").reset_index()
    turns["text"], changed = repaired(turns["text"])
    kept_turns = turns[turns["text"] != ""].copy()
    kept_turns["turn"] = kept_turns.groupby("line").cumcount()
    table = pd.DataFrame(
        {
            "source": source,
            "split": split,
            "dialog_id": [f"{split}:{line}" for line in kept_turns["line"]],
            "turn": kept_turns["turn"],
            "speaker": np.where(kept_turns["turn"] % 2 == 0, "A", "B"),
            "text": kept_turns["text"],
        }
    )
    left = kept_turns["line"].nunique()
    noted = {f"the line does not end with {END}: its last text is a turn": unended}
    return table, [
        *kept_of(split, "dialogs", len(lines), left, NO_TURN, noted=noted),
        *kept_of(split, "turns", len(turns), len(kept_turns), EMPTY, changed=changed),
    ]


def marked(turns: pd.DataFrame) -> pd.DataFrame:
    """Return the turns of all splits, in order, with duplicate_of: the first earlier dialog with
    the same words, if there is one.
    """
    dialogs = turns.groupby("dialog_id", sort=False)["text"].agg(" ".join)
    words = same_words(dialogs)
    first = pd.Series(dialogs.index, index=dialogs.index).groupby(words).transform("first")
    return turns.assign(duplicate_of=turns["dialog_id"].map(first.where(first != first.index, "")))


def main(given: argparse.Namespace) -> None:
    parts, counts = [], []
    for split in SPLITS:
        file = given.fetched / f"{split}.zip"
        table, found = clean_split(
            archived(file, split), given.source, split, f"{file}: {split}/dialogues_{split}.txt"
        )
        if table.empty:
            raise UserError(
                f"{file}: {split}/dialogues_{split}.txt holds no dialog; fetch it again"
            )
        parts.append(table)
        counts += found
    turns = marked(pd.concat(parts, ignore_index=True))
    tables = {split: turns[turns["split"] == split] for split in SPLITS}
    for split, table in tables.items():
        within = table.loc[table["turn"] == 0, "duplicate_of"].str.split(":").str[0]
        counts += counted(
            split,
            "dialogs",
            noted={
                "the same words as one before in its split": within == split,
                "the same words as one of an earlier split": ~within.isin(["", split]),
            },
        )
    counts.sort(key=lambda count: SPLITS.index(count[0]))
    write_corpus(given, tables, DIALOGS, counts)


if __name__ == "__main__":
    execute(main, cleaner_arguments(__doc__).parse_args())
