"""Audit a benchmark of questions with options: what answers it without the question?

    python -m scripts.audit.audit duration_mcq.csv
    python -m scripts.audit.audit mine.jsonl columns='{question: stem, options: choices}'
    python -m scripts.audit.audit test.txt train=train.txt predictions='[a.txt, b.csv]'

It needs no model and no network. FILE is .csv, .tsv, .jsonl, .json, .parquet or .txt, or a zip.
It guesses the columns and logs its guess, which you correct with KEY=VALUE: columns, answers_are,
labels, header, lines, patterns, empty, encoding, member (scripts/data/choice_columns.py). More:

    train        a file to learn from, in the same form; without it, shortcuts learn from other
                 items of the same test
    predictions  answers of models: .txt with an answer a line, in the order of the items, or a
                 .csv or .jsonl with item_id and answer. An answer is an option, or its letter
    name         of the folder and in the titles; left out: the file's name

Shortcuts are logistic regressions (scripts/audit/features.py), learnt and measured on different
folds (scripts/audit/reach.py). They show that a cue exists, not that a model uses it: a model that
is only asked never saw the labels of the test.

Writes into --output: index.html, audit.json, reaches.csv, reaches.tex, reaches.svg, cues.csv,
hard_items.csv and hard_items.parquet (the items that no shortcut gets), and predictions.csv
"""

import argparse
import json
import re
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import yaml
from scipy.stats import norm

from scripts.audit.cues import cues_of, faults_of
from scripts.audit.features import SHORTCUTS
from scripts.audit.page import write_page
from scripts.audit.reach import Reach, Benchmark, answered, estimate, reaches_of, benchmark_of
from scripts.data.choice_columns import Declaration, in_words
from scripts.data.choices import read_choices, read_records
from scripts.data.csv_files import write_csv
from scripts.data.files import whole_set
from scripts.publish.latex import latex_table
from scripts.running.program import UserError, closest, cut, execute, log, parser, shown

OTHERS = ("train", "predictions", "name")
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


def declared(words: list[str]) -> tuple[Declaration, dict]:
    """Return the declaration and the other keys of KEY=VALUE words. Raises UserError for a word
    that is none.
    """
    known, values = [*Declaration.__struct_fields__, *OTHERS], {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or key not in known:
            raise UserError(f"{cut(word)}: is no KEY=VALUE of an audit{closest(key, known)}")
        try:
            values[key] = yaml.safe_load(text)
        except (yaml.YAMLError, RecursionError):
            raise UserError(f"{cut(word)}: is no YAML; write {key}='{{…}}' in quotes") from None
    others = {key: values.pop(key) for key in OTHERS if key in values}
    try:
        return msgspec.convert(values, Declaration), others
    except msgspec.ValidationError as error:
        raise UserError(f"{cut(' '.join(words))}: {error}; correct that key") from None


def predicted(file: Path, test: Benchmark) -> np.ndarray:
    """Return (items,) how surely the answers of a file answer each item. Raises UserError for
    another number of answers, and for an answer that is no option.
    """
    records = read_records(file, Declaration())
    items = test.items[~test.items["is_train"]]
    if file.suffix == ".txt":
        names, answers = items["item_id"].tolist(), records["text"].tolist()
    elif {"item_id", "answer"} <= {*records.columns}:
        names, answers = records["item_id"].tolist(), records["answer"].tolist()
    else:
        raise UserError(f"{file}: needs the columns item_id and answer, or a .txt; correct it")
    if sorted(names) != sorted(items["item_id"]) or len(answers) != len(items):
        raise UserError(
            f"{file}: has {len(answers):,} answers for {len(items):,} items; add one for each"
        )
    options = test.options.groupby(test.items["item_id"].to_numpy()[test.options["item"]])
    texts, scores = options["option"].agg(list), np.full(len(test.options), np.nan)
    for row, (name, answer) in enumerate(zip(names, answers), 1):
        known = [text.casefold() for text in texts[name]]
        answer = answer.casefold().strip()
        letter = re.fullmatch(r"\(?([a-z])[).]?", answer)
        inside = [number for number, text in enumerate(known) if text in answer]
        if answer in known:
            chosen = known.index(answer)
        elif letter:
            chosen = ord(letter[1]) - 97
        else:  # the longest option that stands in the answer
            chosen = max(inside, key=lambda number: len(known[number]), default=len(known))
        if chosen >= len(known):
            raise UserError(
                f"{file}: row {row}: {shown(answer)} is no option of item {cut(name)}; correct it"
            )
        scores[options.indices[name]] = np.arange(len(known)) == chosen
    return answered(test, scores)


def predictions_beside(
    reaches: list[Reach], models: dict[str, np.ndarray], groups: np.ndarray
) -> pd.DataFrame:
    """Return what each model keeps where a shortcut answers the items (at least half surely) and
    where it misleads: model, shortcut, share, right, misled with intervals.
    """
    rows = []
    for name, values in models.items():
        for reach in reaches:
            if reach.name not in SHORTCUTS or reach.share.ci_low is None:
                continue
            split = {
                "share": values,
                "right": np.where(reach.best > 0.5, values, np.nan),
                "misled": np.where(reach.best < 0.5, values, np.nan),
            }
            row = {"model": name, "shortcut": reach.title}
            for column, part in split.items():
                found = estimate(part, groups)
                row |= {
                    column: found.value,
                    f"{column}_low": found.ci_low,
                    f"{column}_high": found.ci_high,
                }
            rows.append(row)
    return pd.DataFrame(rows)


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
    return best, "most" if best.shown.value - chance > (1 - chance) / 2 else "some"


def sentence_of(best: Reach, part: str, items: int, chance: float, has_context: bool) -> str:
    """Return the first sentence of the page."""
    share = f"{best.shown.value * 100:.0f} % of {items:,} questions (chance {chance * 100:.0f}"
    copies = f"{best.share_copies.value * 100:.0f} %"
    if best.shown is best.share and best.share_copies.ci_low is not None:
        share += "" if share.startswith(copies) else f"; {copies} where variants were learnt from"
    elif best.shown is not best.share:
        share += "; all questions are near copies of each other, so variants were learnt from"
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
) -> dict:
    shares: dict[str, object] = dict.fromkeys(KEYS)
    for reach in reaches:
        shares[reach.name] = reach.shown.value
        shares[f"{reach.name}_interval"] = [reach.shown.ci_low, reach.shown.ci_high]
        shares[f"{reach.name}_with_copies"] = reach.share_copies.value
    measured = test.items[~test.items["is_train"]]
    columns = ["cue", "coverage", "precision", "low", "high", "chance"]
    return {
        "items": len(measured),
        "groups": int(measured["apart"].nunique()),
        "chance": float(measured["chance"].mean()),
        "reaches": shares,
        "cues": cues[columns].to_dict("records"),
        "faults": faults.to_dict("records"),
        "verdict": verdict,
    }


def table_of(reaches: list[Reach], test: Benchmark) -> pd.DataFrame:
    """Return a row for each shortcut and category: shortcut, category, share, low, high,
    with_copies.
    """
    rows, items = [], test.items
    names = [
        name for name in items["category"].unique() if name and items["category"].nunique() > 1
    ]
    for reach in reaches:
        rows.append([reach.title, "all", *reach.shown[:3], reach.share_copies.value])
        for name in names:
            part = np.where(items["category"] == name, reach.best, np.nan)
            found = estimate(part, items["resampled"].to_numpy())
            copies = np.where(items["category"] == name, reach.copies, np.nan)
            rows.append(
                [
                    reach.title,
                    name,
                    *found[:3],
                    np.nanmean(copies) if (~np.isnan(copies)).any() else np.nan,
                ]
            )
    return pd.DataFrame(
        rows, columns=["shortcut", "category", "share", "low", "high", "with_copies"]
    )


def hard_items(test: Benchmark, reaches: list[Reach], chance: float) -> pd.DataFrame:
    """Return the items that no shortcut gets which is clearly above chance: item_id, category."""
    missed = ~test.items["is_train"].to_numpy()
    for reach in reaches:
        if reach.name in SHORTCUTS and (reach.shown.ci_low or 0) > chance:
            missed &= reach.best < 0.5
    return test.items.loc[missed, ["item_id", "category"]]


def in_latex(table: pd.DataFrame, name: str, chance: float) -> str:
    shown_rows = table[table["category"] == "all"]
    cells = pd.DataFrame(
        {
            "Shortcut": shown_rows["shortcut"],
            "Answered": (shown_rows["share"] * 100).map("{:.1f}".format),
            "95 % interval": [
                f"{low * 100:.1f} to {high * 100:.1f}"
                for low, high in zip(
                    shown_rows["low"].astype(float), shown_rows["high"].astype(float)
                )
            ],
            "With copies": (shown_rows["with_copies"] * 100).map("{:.1f}".format),
        }
    )
    caption = f"{name}: items that shortcuts answer, in per cent (chance {chance * 100:.1f})."
    return latex_table(
        cells, caption, list(cells)[1:], f"audit_{re.sub(r'[^a-z0-9]+', '_', name.lower())}"
    )


def main(given: argparse.Namespace) -> None:
    declaration, others = declared(given.words)
    options, declaration = read_choices(given.file, declaration)
    log.info("read as %s", in_words(declaration))
    train = (
        read_choices(Path(others["train"]), msgspec.structs.replace(declaration, member=None))[0]
        if "train" in others
        else None
    )
    name = str(others.get("name", given.file.stem))
    test = benchmark_of(options, train, str(given.file))
    reaches = reaches_of(test)
    chance = float(test.items["chance"][~test.items["is_train"]].mean())
    cues, faults = cues_of(test), faults_of(test)
    if declaration.encoding.lower() != "utf-8":
        faults.loc[len(faults)] = [
            f"the file is {declaration.encoding}, not UTF-8",
            int((~test.items["is_train"]).sum()),
            [],
        ]
    best, part = best_shortcut(reaches, chance)
    has_context = any(reach.name == "context" for reach in reaches)
    measured = int((~test.items["is_train"]).sum())
    verdict = {
        "shortcut": best.name,
        "part": part,
        "sentence": sentence_of(best, part, measured, chance, has_context),
    }
    files = others.get("predictions", [])
    models = {
        "/".join(Path(file).parts[-3:]): predicted(Path(file), test)
        for file in ([files] if isinstance(files, str) else files)
    }
    beside = predictions_beside(reaches, models, test.items["resampled"].to_numpy())
    table, hard = table_of(reaches, test), hard_items(test, reaches, chance)
    folder = re.sub(r"[^\w.-]+", "_", name).strip(".") or "audit"
    with whole_set(given.output or Path("results/audit", folder)) as place:
        content = as_json(test, reaches, cues, faults, verdict)
        text = json.dumps(msgspec.to_builtins(content), indent=1, ensure_ascii=False)
        (place / "audit.json").write_text(re.sub(r"\bNaN\b", "null", text) + "\n", encoding="utf-8")
        for frame, file in (
            (table, "reaches"),
            (cues.drop(columns="answered"), "cues"),
            (hard, "hard_items"),
            (beside, "predictions"),
        ):
            write_csv(frame, place / f"{file}.csv")
        hard.to_parquet(place / "hard_items.parquet", index=False)
        (place / "reaches.tex").write_text(in_latex(table, name, chance), encoding="utf-8")
        write_page(
            place,
            name,
            verdict,
            test,
            reaches,
            table,
            cues,
            faults,
            hard,
            beside,
            in_words(declaration),
        )
    log.info("%s", verdict["sentence"])


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("file", type=Path, metavar="FILE", help="the items")
    options.add_argument("words", nargs="*", metavar="KEY=VALUE", help="see above")
    options.add_argument(
        "--output", type=Path, metavar="FOLDER", help="default: results/audit/<name>"
    )
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
