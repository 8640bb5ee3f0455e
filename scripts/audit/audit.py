"""Audit a benchmark of questions with options: what answers it without the question?

    python -m scripts.audit.audit duration_mcq.csv
    python -m scripts.audit.audit mine.jsonl columns='{question: stem, options: choices}'
    python -m scripts.audit.audit test.txt train=train.txt predictions='[a.txt, b.csv]'

It needs no model and no network. FILE is .csv, .tsv, .jsonl, .json, .parquet or .txt, or a zip.
It guesses the columns and logs its guess, which you correct with KEY=VALUE: columns, answers_are,
labels, header, lines, patterns, empty, encoding, member (scripts/data/choice_columns.py). More:

    files        of a folder or a zip: {test: …, train: …}. Without train, shortcuts learn from
                 other items of the same test
    predictions  answers of models: .txt with an answer a line, in the order of the items, or a
                 .csv or .jsonl with item_id and answer. An answer is an option, its letter or its
                 number, or several of them
    name         in the titles; left out: the file's name

Shortcuts are logistic regressions (scripts/audit/features.py), learnt and measured on different
folds (scripts/audit/reach.py). They show that a cue exists, not that a model uses it: a model that
is only asked never saw the labels of the test.

Writes into --output (left out: a folder of results/audit): index.html, audit.json, reaches.csv,
reaches.tex, reaches.svg, cues.csv, hard_items.csv and hard_items.parquet (the items that no
shortcut gets), and predictions.csv
"""

import argparse
import re
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import yaml
from scipy.stats import norm

from scripts.audit.cues import CUE, cues_of, faults_of
from scripts.audit.features import SHORTCUTS
from scripts.audit.page import write_page
from scripts.audit.predictions import kept_by_models, predicted
from scripts.audit.reach import Benchmark, Reach, benchmark_of, estimate, reaches_of
from scripts.data.choice_columns import Declaration, in_words
from scripts.data.choices import read_splits
from scripts.data.csv_files import write_csv
from scripts.data.files import name_of_place, whole_set
from scripts.publish.latex import latex_table
from scripts.running.program import UserError, closest, cut, execute, log, parser

SUBJECTS = {  # the beginning of the page's sentence
    "position": "The position alone answers",
    "answer": "The most frequent answers get",
    "category": "The category alone answers",
    "one_option": "Single options, not compared, answer",
    "options": "Options alone answer",
    "question": "The question alone answers",
    "context": "The context alone answers",
}
KEYS = ("position", "one_option", "options", "question", "context", "words")  # of audit.json


class Given(Declaration, frozen=True, omit_defaults=True):
    """The KEY=VALUE words of an audit."""

    files: dict[str, str] = {}
    predictions: list[str] | str = []
    name: str | None = None


def given_by(words: list[str]) -> Given:
    """Return KEY=VALUE words as keys. Raises UserError for a word that is none."""
    known, values = Given.__struct_fields__, {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or key not in known:
            raise UserError(f"{cut(word)}: is no KEY=VALUE of an audit{closest(key, known)}")
        try:
            values[key] = yaml.safe_load(text)
        except (yaml.YAMLError, RecursionError):
            raise UserError(f"{cut(word)}: is no YAML; write {key}='{{…}}' in quotes") from None
    try:
        return msgspec.convert(values, Given)
    except msgspec.ValidationError as error:
        raise UserError(f"{cut(' '.join(words))}: {error}; correct that key") from None


def best_shortcut(reaches: list[Reach], chance: float) -> tuple[Reach, str]:
    """Return the shortcut that reaches farthest, and how much of the test it answers: most (more
    than half of what chance leaves), some (clearly above chance) or none. The best of several
    shortcuts is above chance by luck more often, so its interval is widened (Bonferroni).
    """
    shortcuts = [reach for reach in reaches if reach.name in SHORTCUTS]
    best = max(shortcuts, key=lambda reach: reach.shown.value)
    widened = norm.isf(0.025 / len(shortcuts)) / norm.isf(0.025)
    value, low = best.shown.value, best.shown.ci_low
    if low is None or value - widened * (value - low) <= chance:
        return best, "none"
    return best, "most" if value - chance > (1 - chance) / 2 else "some"


def sentence_of(best: Reach, part: str, test: Benchmark, has_context: bool) -> str:
    """Return the first sentence of the page."""
    items, value, chance = test.is_measured.sum(), best.shown.value, test.chance
    share = f"{100 * value:.0f} % of {items:,} questions (chance {100 * chance:.0f}"
    copies = f"{100 * best.share_copies.value:.0f} %"
    if not best.is_apart:
        share += "; all questions are near copies of each other, so variants were learnt from"
    elif best.share_copies.ci_low is not None and not share.startswith(copies):
        share += f"; {copies} where variants were learnt from"
    unread = "question is"
    if has_context and best.name in ("question", "category"):
        unread = "context is"
    elif best.name == "question":
        unread = "options are"
    says = {
        "none": "No shortcut is clearly above chance.",
        "some": f"The {unread} not needed for a part of this test.",
        "most": f"The {unread} not needed for most of this test.",
    }
    return f"{SUBJECTS[best.name]} {share}). {says[part]}"


def as_json(
    test: Benchmark, reaches: list[Reach], cues: pd.DataFrame, faults: pd.DataFrame, verdict: dict
) -> bytes:
    shares: dict[str, object] = dict.fromkeys(KEYS)
    for reach in reaches:
        shares[reach.name] = reach.shown.value
        shares[f"{reach.name}_interval"] = [reach.shown.ci_low, reach.shown.ci_high]
        shares[f"{reach.name}_with_copies"] = reach.share_copies.value
    content = {
        "items": int(test.is_measured.sum()),
        "groups": int(test.items["apart"][test.is_measured].nunique()),
        "chance": test.chance,
        "reaches": shares,
        "cues": cues[CUE].to_dict("records"),
        "faults": faults.to_dict("records"),
        "verdict": verdict,
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"


def table_of(reaches: list[Reach], test: Benchmark) -> pd.DataFrame:
    """Return a row for each shortcut and category: shortcut, category, share, low, high,
    with_copies.
    """
    category, rows = test.items["category"], []
    names = [name for name in category.unique() if name and category.nunique() > 1]
    for reach in reaches:
        rows.append([reach.title, "all", *reach.shown[:3], reach.share_copies.value])
        for name in names:
            is_of = category == name
            found = estimate(np.where(is_of, reach.best, np.nan), test.groups)
            copies = estimate(np.where(is_of, reach.copies, np.nan), test.groups)
            rows.append([reach.title, name, *found[:3], copies.value])
    columns = ["shortcut", "category", "share", "low", "high", "with_copies"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[2:], float))


def hard_items(test: Benchmark, reaches: list[Reach]) -> pd.DataFrame:
    """Return the items that no shortcut gets which is clearly above chance: item_id, category."""
    missed = test.is_measured
    for reach in reaches:
        if reach.name in SHORTCUTS and (reach.shown.ci_low or 0) > test.chance:
            missed = missed & (reach.best < 0.5)
    return test.items.loc[missed, ["item_id", "category"]]


def in_latex(table: pd.DataFrame, name: str, chance: float) -> str:
    cells = table[table["category"] == "all"].drop(columns="category")
    for column in cells.columns[1:]:
        cells[column] = (cells[column] * 100).map("{:.1f}".format).replace("nan", "")
    cells = cells.rename(columns=lambda column: column.replace("_", " ").capitalize())
    caption = f"{name}: items that shortcuts answer, in per cent (chance {chance * 100:.1f})."
    label = f"audit_{re.sub(r'[^a-z0-9]+', '_', name.lower())}"
    return latex_table(cells, caption, list(cells)[1:], label)


def main(arguments: argparse.Namespace) -> None:
    given, file = given_by(arguments.words), arguments.file
    parts, declaration = read_splits(file, given.files, given)
    said = in_words(declaration)
    log.info("read as %s", said)
    if "test" not in parts:
        raise UserError(f"{file}: files: names no test; write files='{{test: …, train: …}}'")
    test = benchmark_of(parts["test"], parts.get("train"), str(file))
    files = [given.predictions] if isinstance(given.predictions, str) else given.predictions
    models = {
        "/".join(Path(each).parts[-3:]): predicted(Path(each), test, declaration) for each in files
    }
    reaches, cues = reaches_of(test), cues_of(test)
    faults = faults_of(test, declaration.encoding)
    best, part = best_shortcut(reaches, test.chance)
    has_context = any(reach.name == "context" for reach in reaches)
    sentence = sentence_of(best, part, test, has_context)
    verdict = {"shortcut": best.name, "part": part, "sentence": sentence}
    tables = {
        "reaches": table_of(reaches, test),
        "cues": cues,
        "hard_items": hard_items(test, reaches),
        "predictions": kept_by_models(reaches, models, test.groups),
        "faults": faults,
    }
    name = given.name or file.stem
    output = arguments.output or Path("results/audit", name_of_place(file))
    with whole_set(output) as place:
        (place / "audit.json").write_bytes(as_json(test, reaches, cues, faults, verdict))
        for table, rows in tables.items():
            if table != "faults":
                write_csv(rows.drop(columns="answered", errors="ignore"), place / f"{table}.csv")
        tables["hard_items"].to_parquet(place / "hard_items.parquet", index=False)
        latex = in_latex(tables["reaches"], name, test.chance)
        (place / "reaches.tex").write_text(latex, encoding="utf-8")
        write_page(place, name, verdict, test, reaches, tables, said)
    log.info("%s %s/index.html", sentence, output)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("file", type=Path, metavar="FILE", help="the items")
    options.add_argument("words", nargs="*", metavar="KEY=VALUE", help="see above")
    options.add_argument(
        "--output", type=Path, metavar="FOLDER", help="default: a folder of results/audit"
    )
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
