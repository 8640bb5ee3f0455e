"""Find the temporal expressions of dialogs with a spaCy pipeline
of rules (Qin et al. 2021, sections 3 and 4).

The paper masks the expressions that SUTime finds. Here a blank English pipeline with a span ruler
finds the expressions. Its patterns, word classes and conventions about bounds are in
resources/temporal_patterns.yaml.

    kind      date (tomorrow, May 5th, two weeks ago), time (5 p.m., tonight, ten minutes later),
              duration (two weeks, "just a second", a three-day trip), set (every day, twice a week,
              weekends), age (five years old)
    numeral   whether it contains a digit, a number word (two, half, a dozen, thousands of) or an
              ordinal; "a" does not count
    value     its meaning, the same for "two weeks" and "14 days"
              (scripts/text/span_values.py)

--spacy-model is optional. It adds the DATE and TIME entities of an installed statistical pipeline
that overlap no expression of the rules.

Reads  <cleaned>/<split>.parquet: schema dialogs or challenge; in a challenge the dialog is read
       with its original option in the mask's place (its lines are the turns, counted from 0,
       without the speaker)
Writes <output>/<split>.parquet (schema spans), in the order of the data; spans never overlap

    python -m scripts.text.temporal_spans --cleaned results/clean/dailydialog \\
        --splits train validation test --processes 2 \\
        --output results/build/temporal_spans/dailydialog
"""

import argparse
import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scripts.text.spacy_alone import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from scripts.text.restored_dialogs import restored_turns
from scripts.text.span_values import has_numeral, values_of
from scripts.text.temporal_words import RULES, Piece, Rules, pieces, rules_of
from scripts.data.files import whole_set
from scripts.running.owner import end_forks_with_this
from scripts.running.program import UserError, add_manifest, execute, log, parser, whole_number
from scripts.data.tables import CHALLENGE, DIALOGS, SPANS, check_columns, check_complete
from scripts.data.tables import parquet_errors, provenance_of, read_complete, read_table, schema_of
from scripts.data.tables import table_writer

KINDS = ["date", "time", "duration", "set", "age"]
TURNS = ["source", "split", "dialog_id", "turn", "text"]
SENTENCE_ENDS = (".", "!", "?", "\n")  # "\n" marks the end of the text
ENTITIES = {"DATE": "date", "TIME": "time"}
# turns that a process takes at once; chunks in work at once, each of which needs memory
CHUNK, WINDOW = (1000, 32)


class Found(NamedTuple):
    """A temporal expression: its first piece (or character), the piece after its last one, its kind
    and its sort.
    """

    start: int
    end: int
    kind: str
    sort: str


# ---- The pipeline.


def token_patterns(written: str, groups: dict[str, list[str]]) -> list[list[dict]]:
    """Return spaCy's token patterns for one pattern of the rules. There are several patterns if a
    piece may be a class or a word.
    """
    choices = []
    for piece in written.split():
        first = {"SENT_START": 1} if len(piece) > 1 and piece.startswith("^") else {}
        optional = {"OP": "?"} if len(piece) > 1 and piece.endswith("?") else {}
        names = (
            piece.removeprefix("^" if first else "")
            .removesuffix("?" if optional else "")
            .split("|")
        )
        names = [name for group in names for name in groups.get(group, [group])]
        words = [name[1:-1] for name in names if len(name) > 2 and name[0] == name[-1] == "'"]
        classes = [name for name in names if name[1:-1] not in words]
        choices.append(
            [
                {attribute: values[0] if len(values) == 1 else {"IN": values}, **optional, **first}
                for attribute, values in (("TAG", classes), ("LOWER", words))
                if values
            ]
        )
    return [list(chosen) for chosen in product(*choices)]


def ruler_patterns(rules: Rules) -> list[dict]:
    """The patterns of spaCy's span ruler, with their contexts; id is a rule's place in the file."""
    with_contexts = [
        " ".join([rule.get("before", ""), rule["pattern"], rule.get("after", "")])
        for rule in rules.patterns
    ]
    return [
        {"label": rule["kind"], "id": str(place), "pattern": pattern}
        for place, (rule, written) in enumerate(zip(rules.patterns, with_contexts))
        for pattern in token_patterns(written, rules.groups)
    ]


def doc_of(read: list[Piece], vocab: Vocab) -> Doc:
    """Pieces as a Doc, tagged with their classes; their bounds are in user_data["bounds"]."""
    doc = Doc(
        vocab,
        words=[piece.text for piece in read],
        tags=[piece.word_class for piece in read],
        sent_starts=[place == 0 for place in range(len(read))],
    )
    doc.user_data["bounds"] = [(piece.start, piece.end) for piece in read]
    return doc


def telling_sentences(text: str, vocab: Vocab, rules: Rules) -> Iterator[Doc]:
    """Yield the sentences of a text that may contain an expression. Each starts with the mark that
    ends the sentence before it.

    The other sentences, which are most, have only words that are too common to start a pattern. No
    pattern continues past a mark that ends a sentence.
    """
    read, start = [*pieces(text, rules), Piece(len(text), len(text), "end", "\n")], 0
    for place, piece in enumerate(read):
        if piece.text in SENTENCE_ENDS:
            classes = {
                one.word_class for one in read[start : place + 1] if one.word_class[0].isalpha()
            }
            if not rules.common.issuperset(classes):
                yield doc_of(read[max(start - 1, 0) : place + 1], vocab)
            start = place + 1


def rule_pipeline(rules: Rules) -> Language:
    """A blank English pipeline for Docs of pieces, whose span ruler holds the rules' patterns."""
    nlp = spacy.blank("en")
    nlp.add_pipe("span_ruler", config={"spans_filter": None}).add_patterns(ruler_patterns(rules))
    return nlp


def statistical_pipeline(name: str | None) -> Language | None:
    """Load an installed pipeline (a package or a folder) that finds entities. Raises UserError if
    it is not installed or finds no entities.
    """
    if not name:
        return None
    try:
        nlp = spacy.load(
            name, exclude=["tagger", "parser", "attribute_ruler", "lemmatizer", "morphologizer"]
        )
    except OSError:
        raise UserError(
            f"--spacy-model {name}: not installed; install it (`python -m spacy download {name}`), "
            "or leave the option out: the rules work without it"
        ) from None
    if not any("doc.ents" in nlp.get_pipe_meta(pipe).assigns for pipe in nlp.pipe_names):
        raise UserError(
            f"--spacy-model {name}: it finds no entities (its parts: "
            f"{', '.join(nlp.pipe_names) or 'none'}); name a pipeline with an entity recognizer, "
            "or leave the option out"
        )
    return nlp


def settled(doc: Doc, rules: Rules) -> list[Found]:
    """Return the ruler's matches without their contexts, in order. If matches overlap, keep the one
    that is longest with its contexts.
    """
    matches = [
        (span.start - span.end, int(span.id_), span.start, span.end) for span in doc.spans["ruler"]
    ]
    taken, chosen = [False] * len(doc), []
    for _, place, start, end in sorted(matches):
        rule = rules.patterns[place]
        if rule["kind"] != "none":
            start += len(rule.get("before", "").split())
            end -= len(rule.get("after", "").split())
        if not any(taken[start:end]):
            taken[start:end] = [True] * (end - start)
            chosen.append(Found(start, end, rule["kind"], rule.get("sort", "")))
    return sorted(chosen)


def joined(found: list[Found], doc: Doc, rules: Rules) -> list[Found]:
    """Join neighbours that are one expression, until nothing changes. Then drop each match that is
    an expression only together with a neighbour.
    """
    place = 0
    while place + 1 < len(found):
        first, second = found[place : place + 2]
        between = (
            doc[first.end : second.start].text.strip() if second.start - first.end <= 1 else None
        )
        rule = next(
            (
                join
                for join in rules.joins
                if first.sort in join["first"].split("|")
                and second.sort in join["second"].split("|")
                and between in join["between"]
            ),
            None,
        )
        if rule:
            found[place : place + 2] = [Found(first.start, second.end, rule["kind"], rule["sort"])]
            place = max(place - 1, 0)
        else:
            place += 1
    return [one for one in found if one.kind in KINDS]


def expressions(
    texts: list[str], nlp: Language, rules: Rules, statistical: Language | None = None
) -> list[list[Found]]:
    """Return the temporal expressions of each text, in order, with bounds in characters. They never
    overlap.
    """
    of_texts = []
    for text in texts:
        found = []
        for doc in telling_sentences(text, nlp.vocab, rules):
            bounds = doc.user_data["bounds"]
            found += [
                Found(bounds[one.start][0], bounds[one.end - 1][1], one.kind, one.sort)
                for one in joined(settled(nlp(doc), rules), doc, rules)
            ]
        of_texts.append(found)
    if statistical is not None:
        for found, doc in zip(of_texts, statistical.pipe(texts)):
            ruled = list(found)
            found += [
                Found(entity.start_char, entity.end_char, ENTITIES[entity.label_], "entity")
                for entity in doc.ents
                if entity.label_ in ENTITIES
                and not any(
                    one.start < entity.end_char and entity.start_char < one.end for one in ruled
                )
            ]
            found.sort()
    return of_texts


# ---- Tables.


def span_table(
    turns: pd.DataFrame, nlp: Language, rules: Rules, statistical: Language | None = None
) -> pa.Table:
    """The spans (schema spans) of a table of turns: source, split, dialog_id, turn, text."""
    texts = turns["text"].tolist()
    rows = [
        (row, one.start, one.end, texts[row][one.start : one.end], one.kind)
        for row, found in enumerate(expressions(texts, nlp, rules, statistical))
        for one in found
    ]
    spans = pd.DataFrame(rows, columns=["row", "start", "end", "text", "kind"])
    unique = spans[["text", "kind"]].drop_duplicates(ignore_index=True)
    unique["value"] = values_of(unique["text"], unique["kind"], rules)
    unique["has_numeral"] = [
        has_numeral(text, kind, rules) for text, kind in zip(unique["text"], unique["kind"])
    ]
    spans = spans.merge(unique, on=["text", "kind"], how="left")
    of = (
        turns[["source", "split", "dialog_id", "turn"]]
        .iloc[spans.pop("row")]
        .reset_index(drop=True)
    )
    return pa.Table.from_pandas(pd.concat([of, spans], axis=1), schema=SPANS, preserve_index=False)


def turns_in(file: Path) -> Iterator[pd.DataFrame]:
    """The turns of a cleaned table in chunks. Raises UserError when it holds neither dialogs nor a
    challenge.
    """
    present = set(schema_of(file).names)
    if set(CHALLENGE.names) <= present:
        turns = restored_turns(read_complete(file, CHALLENGE, ["rule"]).to_pandas(), str(file))
        yield from (turns[start : start + CHUNK] for start in range(0, len(turns), CHUNK))
    elif set(DIALOGS.names) <= present:
        with parquet_errors(file), pq.ParquetFile(file, page_checksum_verification=True) as opened:
            check_columns(file, opened.schema_arrow, TURNS, DIALOGS)
            for batch in opened.iter_batches(CHUNK, columns=TURNS):
                batch.validate(full=True)
                check_complete(file, batch, TURNS)
                yield batch.replace_schema_metadata().to_pandas()
    else:
        raise UserError(
            f"{file}: neither dialogs (one row a turn) nor a challenge (one row an option): no "
            f"column {', '.join(name for name in TURNS if name not in present)}; clean the source "
            "again"
        )


PROCESS: dict = {}  # of a worker: its pipelines, made once


def prepare(rules: Path, model: str | None) -> None:
    """Make a worker's pipelines."""
    held = rules_of(rules)
    PROCESS.update(nlp=rule_pipeline(held), rules=held, statistical=statistical_pipeline(model))


def in_process(turns: pd.DataFrame) -> pa.Table:
    """span_table() with the pipelines of this process."""
    return span_table(turns, **PROCESS)


def span_tables(
    chunks: Iterable[pd.DataFrame], processes: int, model: str | None = None, rules: Path = RULES
) -> Iterator[tuple[int, pa.Table]]:
    """Yield for each window of chunks, in order, the number of turns and their spans. Memory does
    not grow with the data.
    """
    chunks = iter(chunks)
    pool = None
    if processes > 1:
        pool = ProcessPoolExecutor(processes, initializer=prepare, initargs=(rules, model))
    else:
        prepare(rules, model)
    try:
        while window := list(islice(chunks, WINDOW)):
            yield (
                sum(map(len, window)),
                pa.concat_tables((pool.map if pool else map)(in_process, window)),
            )
    finally:
        if pool:
            pool.shutdown(cancel_futures=True)


def find_spans(given: argparse.Namespace, versions: dict, folder: Path) -> None:
    """Write the spans of every split to a folder; versions: of the software that found them."""
    for split in given.splits:
        file, begun = given.cleaned / f"{split}.parquet", time.perf_counter()
        turns, kinds = 0, Counter()
        read_table(file, [])  # raises the error of a damaged file
        provenance = provenance_of(file) | {"split": split} | versions
        found = span_tables(turns_in(file), given.processes, given.spacy_model, given.rules)
        with table_writer(folder / f"{split}.parquet", SPANS, provenance) as writer:
            for count, table in found:
                writer.write_table(table)
                turns += count
                kinds.update(table["kind"].to_pylist())
        log.info(
            "%s %s: %d temporal expressions in %d turns (%s), %.0f turns/s",
            given.output,
            split,
            kinds.total(),
            turns,
            ", ".join(f"{kind} {kinds[kind]}" for kind in KINDS),
            turns / (time.perf_counter() - begun),
        )


def main(given: argparse.Namespace) -> None:
    end_forks_with_this()
    # before any process starts, so that a missing pipeline is reported only one time
    statistical_pipeline(given.spacy_model)
    versions = {
        "rules": hashlib.sha256(given.rules.read_bytes()).hexdigest(),
        "spacy": spacy.__version__,
        "spacy_model": given.spacy_model,
    }
    with whole_set(given.output) as folder:
        find_spans(given, versions, folder)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "--cleaned", type=Path, required=True, help="the folder of one cleaned source"
    )
    options.add_argument("--splits", nargs="+", required=True, help="the splits of the source")
    options.add_argument(
        "--processes",
        type=whole_number(1, 1024),
        default=1,
        help="the number of processes that work at the same time; default: %(default)s",
    )
    options.add_argument(
        "--spacy-model",
        metavar="NAME",
        help="an installed spaCy pipeline whose DATE and TIME entities are added",
    )
    options.add_argument(
        "--rules",
        type=Path,
        default=RULES,
        help="the file of rules; default: resources/temporal_patterns.yaml",
    )
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    add_manifest(options)
    options.set_defaults(reads=lambda given: [given.cleaned])
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
