"""Grow the seed answers of questions about time to many candidates (Zhou et al. 2019, section 3,
step 3).

Three techniques, in the paper's order, each used for a question as long as it has fewer than
--candidates answers:
1. rule       numbers, units and temporal words change at random within their sets
              (resources/temporal_terms.yaml)
2. infill     each word is masked, one at a time, and a masked language model fills it in: the top
              three of each
3. retrieval  the most similar event phrases of a pool, by TF-IDF
How the paper is read: it applies "the above three techniques on non-'event' candidates
sequentially", and events are perturbed by retrieval, since changing words makes invalid phrases of
them. So a seed that is no event gets 1, 2 and at last 3, a seed that is an event gets 3 alone. (The
released data agree: some questions of duration have a phrase of another story.) An event is a
phrase that looks as if it had a verb, without temporal term or quantity: is_event in
scripts/people/candidates_rules.py. Only seeds are changed, never what came of them. Variations of
several seeds take turns; infills go by confidence.

Reads  --questions (.tsv with a header line, .jsonl or .parquet; columns sentence, question, answer;
       a row a seed)
       --model (a folder: config.json, tokenizer, weights in safetensors; without it there is no
       infill)
       --events (one event phrase a line; without it, the pool is the event answers of all
       questions)
Writes --output, a Parquet file: sentence, question, answer, origin (seed, rule, infill, retrieval),
       seed_answer (what it was made from), rank (from 1 within the question, seeds first). They are
       unlabelled: likely and unlikely ones.

Answers that differ in case or white space only count as one. Draws depend on the question, the seed
answer and --seed alone, not on the order of questions; the same input gives the same bytes.

    python -m scripts.people.candidates --questions questions.tsv \\
        --model models/bert-base-uncased --output /tmp/candidates.parquet
"""

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.feature_extraction.text import TfidfVectorizer
from tqdm import tqdm

from scripts.people.candidates_perturbation import perturbed
from scripts.people.candidates_rules import Terms, drawing, is_event, load_terms, mentions
from scripts.data.files import sha256_of
from scripts.running.program import UserError, execute, log, shown, whole_number
from scripts.data.tables import read_table, write_table
from scripts.data.texts import json_of, lines_in, text_of

COLUMNS = ["sentence", "question", "answer"]
CANDIDATES = pa.schema(
    [
        ("sentence", pa.string()),
        ("question", pa.string()),
        ("answer", pa.string()),
        ("origin", pa.string()),
        ("seed_answer", pa.string()),
        ("rank", pa.int32()),
    ]
)
Infill = Callable[[pd.DataFrame], pd.DataFrame]
TOP = 3  # infills of a word
ATTEMPTS = (
    4  # perturbations of a seed for each candidate wanted: enough to meet nearly every one of few
)
QUESTIONS = 500  # at a time
TERM = r"[\w'’]+"  # of a phrase
CELLS = 4_000_000  # answers times phrases held at a time
DECIMALS = 9  # of a similarity: what differs by less is a tie, which the order of the pool breaks


def read_lines(file: Path) -> dict[int, str]:
    return dict(
        enumerate(
            lines_in(
                text_of(file, "save it again", "name one that is there"), str(file), "save it again"
            ),
            1,
        )
    )


def read_rows(file: Path, columns: list[str]) -> dict[str, object]:
    """The rows of a file (.tsv with a header line, .jsonl or .parquet) by place (`line 3`)."""
    if file.suffix == ".parquet":
        return {
            f"row {number}": row
            for number, row in enumerate(read_table(file, columns).to_pylist(), 1)
        }
    if file.suffix not in (".tsv", ".jsonl"):
        raise UserError(
            f"{file}: its name does not end in .tsv, .jsonl or .parquet; rename or convert it"
        )
    lines = {f"line {number}": line for number, line in read_lines(file).items()}
    if file.suffix == ".jsonl":
        return {
            place: json_of(line, f"{file}: {place}", "mend it")
            for place, line in lines.items()
            if line.strip()
        }
    header = lines.pop("line 1", "").split("\t")
    if wrong := [name for name in columns if header.count(name) != 1]:
        raise UserError(
            f"{file}: no column {wrong[0]}, or several; its header line must name "
            f"{', '.join(columns)}, with tabs between them"
        )
    rows = {place: line.split("\t") for place, line in lines.items()}
    for place, cells in rows.items():
        if len(cells) != len(header):
            raise UserError(
                f"{file}: {place} has {len(cells)} columns, not {len(header)} as the header; mend "
                "it"
            )
    return {place: dict(zip(header, cells)) for place, cells in rows.items()}


def read_questions(file: Path, columns: list[str] = COLUMNS) -> pd.DataFrame:
    """These columns, all text. Raises UserError that names the row of what is wrong."""
    rows = read_rows(file, columns)
    if not rows:
        raise UserError(f"{file}: has no rows; give at least one question with an answer")
    for place, row in rows.items():
        if not isinstance(row, dict):
            raise UserError(
                f"{file}: {place} is not a JSON object; write one with {', '.join(columns)}"
            )
        for name in columns:
            value = row.get(name)
            if not isinstance(value, str) or not value.strip():
                raise UserError(
                    f"{file}: {place}: {name} is {'missing' if value is None else shown(value)}; "
                    "give a text, or take the row out"
                )
    return pd.DataFrame(rows.values(), columns=columns, dtype=object)


def read_events(file: Path) -> pd.Series:
    lines = pd.Series(read_lines(file), dtype=object).str.strip()
    if not lines.str.contains(r"\w").any():
        raise UserError(f"{file}: has no event phrase; write one a line, or leave --events out")
    return lines[lines != ""]


def folded(texts: pd.Series) -> pd.Series:
    """Texts without what does not count: case and white space."""
    return texts.str.split().str.join(" ").str.casefold()


def pool_of(phrases: pd.Series) -> pd.Series:
    """Distinct phrases in alphabetical order, so that their order in a file decides nothing."""
    phrases = phrases.str.split().str.join(" ").sort_values(ignore_index=True)
    return phrases[~folded(phrases).duplicated()].reset_index(drop=True)


def distinct(rows: pd.DataFrame, limit: int) -> pd.DataFrame:
    return (
        rows[~rows.assign(answer=folded(rows["answer"])).duplicated(["number", "answer"])]
        .groupby("number")
        .head(limit)
    )


def unfilled(seeds: pd.DataFrame, held: pd.DataFrame, limit: int) -> pd.DataFrame:
    """The seeds of the questions that have fewer than `limit` answers, with `turn`: their order in
    the question.
    """
    open_seeds = seeds[seeds["number"].map(held["number"].value_counts()) < limit]
    return open_seeds.assign(turn=open_seeds.groupby("number").cumcount())


def offer(
    seeds: pd.DataFrame, produced: pd.DataFrame, origin: str, order: list[str]
) -> pd.DataFrame:
    """What was made of seeds (`row` points into them) as rows like theirs, sorted by `order` within
    each question.
    """
    of_seed = (
        seeds.drop(columns=["answer", "origin"])
        .iloc[produced["row"].to_numpy(int)]
        .reset_index(drop=True)
    )
    return (
        of_seed.join(produced).assign(origin=origin).sort_values(["number", *order], kind="stable")
    )


def by_rules(seeds: pd.DataFrame, terms: Terms, limit: int, seed: int) -> pd.DataFrame:
    """Perturbations of the seeds, those of one attempt before those of the next."""
    produced = perturbed(
        terms,
        seeds["key"],
        seeds["answer"].tolist(),
        seeds["mentions"].tolist(),
        ATTEMPTS * limit,
        seed,
    )
    return offer(seeds, produced, "rule", ["attempt", "turn"])


def masked_model(folder: Path) -> Infill:
    """What fills in answers (columns context, answer) with a masked language model."""
    try:
        # late: all else runs without torch
        infill = importlib.import_module("scripts.people.candidates_infill")
    except ModuleNotFoundError as error:
        raise UserError(
            f"--model needs {error.name}, which is not installed; use the environment of "
            "envs/train.yaml, or leave --model out"
        ) from None
    model = infill.MaskedModel(folder)
    return lambda answers: infill.infilled(model, answers, TOP)


def by_infill(seeds: pd.DataFrame, infill: Infill) -> pd.DataFrame:
    produced = infill(seeds[["context", "answer"]].reset_index(drop=True))
    return offer(
        seeds,
        produced.assign(unsure=-produced["confidence"]),
        "infill",
        ["unsure", "turn", "word", "place"],
    )


def most_similar(answers: pd.Series, pool: pd.Series, wanted: int) -> pd.DataFrame:
    """The `wanted` phrases of the pool most similar to each answer, by the cosine of TF-IDF
    vectors: columns row, place (from 0), answer, similarity. A term is a run of letters, digits and
    apostrophes, case folded. Phrases that share no term are left out. The pool must hold a term.
    """
    vectorizer = TfidfVectorizer(preprocessor=str.casefold, token_pattern=TERM)
    phrases = vectorizer.fit_transform(pool).T.tocsr()
    vectors = vectorizer.transform(answers)
    step, parts = max(1, CELLS // len(pool)), []
    for first in tqdm(range(0, len(answers), step), desc="retrieval", unit="chunk", disable=None):
        scores = (vectors[first : first + step] @ phrases).toarray().round(DECIMALS)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :wanted]
        row, place = np.indices(best.shape).reshape(2, -1)
        found = pd.DataFrame(
            {
                "row": row + first,
                "place": place,
                "answer": pool.to_numpy(object)[best.ravel()],
                "similarity": scores[row, best.ravel()],
            }
        )
        parts.append(found[found["similarity"] > 0])
    return pd.concat(parts, ignore_index=True)


def by_retrieval(seeds: pd.DataFrame, pool: pd.Series, limit: int) -> pd.DataFrame:
    """The phrases most like each seed, the first of each seed before the second ones."""
    answers = pd.Index(seeds["answer"].unique())
    # as many more as the question may hold already
    found = most_similar(answers.to_series(), pool, 2 * limit).rename(columns={"row": "of"})
    rows = pd.DataFrame({"row": np.arange(len(seeds)), "of": answers.get_indexer(seeds["answer"])})
    return offer(seeds, rows.merge(found, on="of"), "retrieval", ["place", "turn"])


def expanded(
    questions: pd.DataFrame,
    terms: Terms,
    limit: int,
    seed: int,
    infill: Infill | None = None,
    events: pd.Series | None = None,
) -> pd.DataFrame:
    """The candidates of all questions (columns of CANDIDATES), questions and seeds in the order of
    the table.
    """
    key = questions["sentence"] + "\0" + questions["question"]
    found = {text: mentions(terms, text) for text in questions["answer"].unique()}
    seeds = (
        questions[COLUMNS]
        .assign(
            number=pd.factorize(key)[0],
            origin="seed",
            seed_answer=questions["answer"],
            key=key + "\0" + questions["answer"],
            context=questions["sentence"] + " " + questions["question"],
            mentions=questions["answer"].map(found.get),
            event=[is_event(terms, text, found[text]) for text in questions["answer"]],
        )
        .sort_values("number", kind="stable")
    )
    all_seeds = distinct(seeds, len(seeds))
    seeds = held = distinct(seeds, limit)
    if left_out := len(all_seeds) - len(seeds):
        log.info("%d seed answers are left out: their questions have more than %d", left_out, limit)
    pool = pool_of(seeds.loc[seeds["event"], "answer"] if events is None else events)

    others = unfilled(seeds[~seeds["event"]], held, limit)
    chunks = tqdm(
        others.groupby(others["number"] // QUESTIONS), desc="rules", unit="chunk", disable=None
    )
    held = distinct(
        pd.concat([held, *(by_rules(part, terms, limit, seed) for _, part in chunks)]), limit
    )
    others = unfilled(seeds[~seeds["event"]], held, limit)
    if infill is None:
        log.info("no infill: --model is not given")
    elif len(others):
        held = distinct(pd.concat([held, by_infill(others, infill)]), limit)
    others = unfilled(seeds, held, limit)
    if pool.empty:
        log.info("no retrieval: no answer is an event phrase, and --events is not given")
    elif len(others):
        held = distinct(pd.concat([held, by_retrieval(others, pool, limit)]), limit)
    held = held.sort_values("number", kind="stable", ignore_index=True)
    return held.assign(rank=held.groupby("number").cumcount() + 1)[CANDIDATES.names]


def grown(given: argparse.Namespace, questions: pd.DataFrame) -> tuple[pd.DataFrame, dict]:
    events = read_events(given.events) if given.events else None
    infill = masked_model(given.model) if given.model else None
    table = expanded(
        questions, load_terms(given.terms), given.candidates, given.seed, infill, events
    )
    read = {
        "questions": [given.questions],
        "terms": [given.terms],
        "events": [given.events],
        "model": sorted(given.model.glob("*.safetensors")) if given.model else [],
    }
    sizes = table.groupby(["sentence", "question"], sort=False).size()
    log.info(
        "%s: %d candidates of %d questions, %d questions have %d; %s",
        given.output,
        len(table),
        len(sizes),
        (sizes == given.candidates).sum(),
        given.candidates,
        ", ".join(f"{origin} {count}" for origin, count in table["origin"].value_counts().items()),
    )
    return table, {
        "sha256": {
            name: [sha256_of(file) for file in files if file] for name, files in read.items()
        },
        "candidates": given.candidates,
        "seed": given.seed,
    }


def main(given: argparse.Namespace) -> None:
    table, provenance = grown(given, read_questions(given.questions))
    write_table(
        pa.Table.from_pandas(table, preserve_index=False), given.output, CANDIDATES, provenance
    )


def growing(doc: str, columns: list[str] = COLUMNS) -> argparse.ArgumentParser:
    """The arguments that say what grows to candidates, and how; not where they go."""
    options = drawing(doc)
    options.add_argument(
        "--questions",
        type=Path,
        required=True,
        metavar="FILE",
        help=f"{', '.join(columns)}: .tsv, .jsonl or .parquet",
    )
    options.add_argument(
        "--model", type=Path, metavar="FOLDER", help="a masked language model (default: no infill)"
    )
    options.add_argument(
        "--events",
        type=Path,
        metavar="FILE",
        help="one event phrase a line (default: the events given)",
    )
    options.add_argument(
        "--candidates",
        type=whole_number(1, 1000),
        default=20,
        metavar="N",
        help="at most, a question (default: 20)",
    )
    return options


def arguments() -> argparse.ArgumentParser:
    options = growing(__doc__)
    options.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="the Parquet file to write"
    )
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
