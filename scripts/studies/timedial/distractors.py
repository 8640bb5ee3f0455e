"""Wrong options for masked temporal expressions by the three rules of Qin et al. 2021 (section
3.2), as proposals for people.

Not a program. The paper's raters chose by these rules what stands in a dialog, and judged it; here
they only say what is offered:
  phrase      another expression of the dialog, of the same kind (rule 1, phrase matching)
  numeral     the masked expression with another numeral of the dialog in the place of its first
              (rule 2, numeral matching)
  open_ended  the raters' own judgment in the paper (rule 3); here its numbers, units and temporal
              words changed at random, as MC-TACO's candidates are
              (scripts/people/candidates_perturbation.py)
None means what the masked expression or an earlier proposal means ("two weeks", "14 days").
"""

import re

import numpy as np
import pandas as pd

from scripts.data.keyed import keyed_hash
from scripts.people.candidates_perturbation import perturbed
from scripts.people.candidates_rules import Terms, mentions
from scripts.studies.timedial.pool import said_beside, words_as_written
from scripts.text.number_words import WORD, number
from scripts.text.span_values import values_of
from scripts.text.temporal_words import Rules

IN_ORDER = ["phrase", "numeral", "open_ended"]
# Not of a price, a decimal, minutes or a phone number; the hour of a time it is.
NUMERALS = re.compile(
    rf"(?<![\w.,/:$])(?<!\d-)(?:\d+(?:st|nd|rd|th)?|{WORD})(?!\w|[.,/]\d|-\d|%)", re.IGNORECASE
)
COUNTING = (
    rf"(?i)(?:\d|{WORD})[\s-]+(?:second|minute|hour|day|night|week|month|year|decade|centur|time)"
)
YEARS = (1000, 2100)
ATTEMPTS = 4  # perturbations for each that is wanted: enough to meet nearly every one of few
# by kind, of a numeral that is no year
MOST = {"time": 12, "date": 31, "age": 99, "duration": 99, "set": 99}


def phrases(masks: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """Rule 1: mask (its row), candidate.

    masks and spans: of one split, with dialog, kind, value, text and initial.
    """
    said = spans.assign(candidate=spans["text"].str.lower().map(words_as_written(spans)))[
        ["dialog", "kind", "value", "candidate"]
    ]
    return said_beside(
        masks[["dialog", "kind", "value"]].assign(mask=np.arange(len(masks))), said, "value"
    )[["mask", "candidate"]]


def read_numerals(texts: pd.Series) -> pd.DataFrame:
    """The numerals in texts: row (of the text), numeral (lower case), sort (year, digits,
    ordinal or word) and size.
    """
    found = [
        (row, match.group().lower())
        for row, text in enumerate(texts)
        for match in NUMERALS.finditer(text)
    ]
    table = pd.DataFrame(found, columns=["row", "numeral"]).astype({"numeral": object})
    digits = table["numeral"].str.extract(r"^(\d{1,15})(?!\d)", expand=False)
    words = table["numeral"].map(
        {text: number(text) for text in table.loc[digits.isna(), "numeral"].unique()}
    )
    table["size"] = digits.astype(float).fillna(words.astype(float))
    year = (digits.str.len() == 4) & table["size"].between(*YEARS)
    table["sort"] = np.select(
        [digits.isna(), digits != table["numeral"], year], ["word", "ordinal", "year"], "digits"
    )
    return table[(table["size"] > 0) & ~table["numeral"].str.startswith("0")]


def numerals(masks: pd.DataFrame, turns: pd.DataFrame) -> pd.DataFrame:
    """Rule 2: mask, candidate. turns: dialog and text of all turns.

    A numeral takes the place of one of its sort (a year, digits, an ordinal, a word) that it may
    stand for: up to 12 in a time, 31 in a date, else 99, and one for many only where nothing is
    counted.
    """
    dialog_turns = turns[turns["dialog"].isin(masks["dialog"])].reset_index(drop=True)
    said, mask_numerals = (
        read_numerals(table["text"]).join(table["dialog"], on="row")
        for table in (dialog_turns, masks)
    )
    mask_numerals = mask_numerals.drop_duplicates("row").rename(columns={"row": "mask"})
    pairs = mask_numerals.merge(
        said.drop_duplicates(["dialog", "numeral"]), on=["dialog", "sort"], suffixes=("", "_said")
    )
    of = masks.iloc[pairs["mask"]].reset_index(drop=True)
    fits = (pairs["sort"] == "year") | (pairs["size_said"] <= of["kind"].map(MOST).fillna(99))
    fits &= pairs["size"] != pairs["size_said"]
    fits &= ~(
        of["text"].str.contains(COUNTING) & ((pairs["size"] == 1) != (pairs["size_said"] == 1))
    )
    candidates = [
        NUMERALS.sub(numeral, text, count=1)
        for text, numeral in zip(of["text"], pairs["numeral_said"])
    ]
    return pairs.assign(candidate=pd.Series(candidates, dtype=object)).loc[
        fits, ["mask", "candidate"]
    ]


def open_ended(masks: pd.DataFrame, terms: Terms, attempts: int, seed: int) -> pd.DataFrame:
    """Rule 3: mask, candidate, order."""
    texts = masks["text"].tolist()
    changed = perturbed(
        terms,
        masks["instance_id"],
        texts,
        [mentions(terms, text) for text in texts],
        attempts,
        seed,
    )
    return changed.rename(columns={"row": "mask", "answer": "candidate", "attempt": "order"})


def distractors(
    masks: pd.DataFrame,
    spans: pd.DataFrame,
    turns: pd.DataFrame,
    terms: Terms,
    rules: Rules,
    per_rule: int,
    seed: int,
) -> pd.DataFrame:
    """At most per_rule options of each rule for each mask: mask (its row), candidate, rule; by
    mask, rules in the paper's order.

    masks, spans: instance_id (masks alone), dialog, kind, value, text, initial (whether it begins a
    sentence). turns: dialog, text.
    """
    by_rule = [
        table.assign(
            order=keyed_hash(
                masks["instance_id"].iloc[table["mask"]].set_axis(table.index)
                + "\0"
                + table["candidate"],
                seed,
            )
        )
        for table in (phrases(masks, spans), numerals(masks, turns))
    ]
    by_rule.append(open_ended(masks, terms, ATTEMPTS * per_rule, seed))
    rows = pd.concat(
        [table.assign(place=place, rule=IN_ORDER[place]) for place, table in enumerate(by_rule)]
    )
    rows = rows.sort_values(["mask", "place", "order", "candidate"]).join(
        masks[["kind", "value", "text"]], on="mask"
    )
    unique = rows[["candidate", "kind"]].drop_duplicates()
    rows = rows.merge(
        unique.assign(meant=values_of(unique["candidate"], unique["kind"], rules)), how="left"
    )
    rows["folded"] = rows["candidate"].str.lower()
    rows = rows[(rows["meant"] != rows["value"]) & (rows["folded"] != rows["text"].str.lower())]
    rows = rows.drop_duplicates(["mask", "meant"]).drop_duplicates(["mask", "folded"])
    return rows.loc[
        rows.groupby(["mask", "place"]).cumcount() < per_rule, ["mask", "candidate", "rule"]
    ].reset_index(drop=True)
