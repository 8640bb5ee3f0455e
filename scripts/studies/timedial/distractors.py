"""Wrong options for masked temporal expressions by the three rules of Qin et al. 2021 (section 3.2), as proposals for people.

Not a program. The paper's raters chose by these rules what stands in a dialog, and judged it; here they only say what is offered:
  phrase      another expression of the dialog, of the same kind (rule 1, phrase matching)
  numeral     the masked expression with another numeral of the dialog in the place of its first (rule 2, numeral matching)
  open_ended  the raters' own judgment in the paper (rule 3); here its numbers, units and temporal words changed at random, as MC-TACO's
              candidates are (scripts/people/candidates_perturbation.py)
None means what the masked expression or an earlier proposal means ("two weeks", "14 days").
"""

import re

import numpy as np
import pandas as pd

from scripts.people.candidates_perturbation import perturbed
from scripts.people.candidates_rules import Terms, mentions
from scripts.text.span_values import values_of
from scripts.text.temporal_words import Rules
from scripts.studies.timedial.pool import words_as_written
from scripts.data.keyed import keyed_hash
from scripts.text.number_words import WORD, number

PHRASE, NUMERAL, OPEN_ENDED = "phrase", "numeral", "open_ended"
IN_ORDER = [PHRASE, NUMERAL, OPEN_ENDED]
# Not of a price, a decimal, minutes or a phone number; the hour of a time it is.
NUMERALS = re.compile(rf"(?<![\w.,/:$])(?<!\d-)(?:\d+(?:st|nd|rd|th)?|{WORD})(?!\w|[.,/]\d|-\d|%)", re.IGNORECASE)
COUNTING = rf"(?i)(?:\d|{WORD})[\s-]+(?:second|minute|hour|day|night|week|month|year|decade|centur|time)"
YEARS = (1000, 2100)
ATTEMPTS = 4    # perturbations for each that is wanted: enough to meet nearly every one of few
MOST = {"time": 12, "date": 31, "age": 99, "duration": 99, "set": 99}  # by kind, of a numeral that is no year


def phrases(masks: pd.DataFrame, spans: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Rule 1: mask (its row), option, order. masks and spans: of one split, with dialog, kind, value, text and initial."""
    forms = words_as_written(spans, spans["text"].str.lower())
    said = spans.assign(option=spans["text"].str.lower().map(forms))[["dialog", "kind", "value", "option"]]
    said = said.drop_duplicates(["dialog", "kind", "value"])
    pairs = masks.assign(mask=np.arange(len(masks)))[["mask", "dialog", "kind", "value", "instance_id"]]
    pairs = pairs.merge(said, on=["dialog", "kind"], suffixes=("", "_said")).query("value != value_said")
    return pairs.assign(order=keyed_hash(pairs["instance_id"] + "\0" + pairs["option"], seed))[["mask", "option", "order"]]


def read_numerals(texts: pd.Series) -> pd.DataFrame:
    """The numerals in texts: row (of the text), numeral (lower case), sort (year, digits, ordinal or word) and size."""
    found = [(row, match.group().lower()) for row, text in enumerate(texts) for match in NUMERALS.finditer(text)]
    table = pd.DataFrame(found, columns=["row", "numeral"]).astype({"numeral": object})
    digits = table["numeral"].str.extract(r"^(\d{1,15})(?!\d)", expand=False)
    words = table["numeral"].map({text: number(text) for text in table.loc[digits.isna(), "numeral"].unique()})
    table["size"] = digits.astype(float).fillna(words.astype(float))
    year = (digits.str.len() == 4) & table["size"].between(*YEARS)
    table["sort"] = np.select([digits.isna(), digits != table["numeral"], year], ["word", "ordinal", "year"], "digits")
    return table[(table["size"] > 0) & ~table["numeral"].str.startswith("0")]


def numerals(masks: pd.DataFrame, turns: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Rule 2: mask, option, order. turns: dialog and text of all turns.

    A numeral takes the place of one of its sort (a year, digits, an ordinal, a word) that it may stand for: up to 12 in a time, 31 in a date,
    else 99, and one for many only where nothing is counted.
    """
    asked = turns[turns["dialog"].isin(masks["dialog"].unique())].reset_index(drop=True)
    said = read_numerals(asked["text"])
    said["dialog"] = asked["dialog"].to_numpy()[said["row"]]
    said = said.drop_duplicates(["dialog", "numeral"]).drop(columns="row")
    own = read_numerals(masks["text"]).drop_duplicates("row").rename(columns={"row": "mask"})
    own["dialog"] = masks["dialog"].to_numpy()[own["mask"]]
    pairs = own.merge(said, on=["dialog", "sort"], suffixes=("", "_said"))
    kind = masks["kind"].to_numpy()[pairs["mask"]]
    counted = masks["text"].str.contains(COUNTING).to_numpy(bool)[pairs["mask"]]
    fits = (pairs["sort"] == "year") | (pairs["size_said"] <= pd.Series(kind, pairs.index).map(MOST).fillna(99))
    fits &= (pairs["size"] != pairs["size_said"]) & ~(counted & ((pairs["size"] == 1) != (pairs["size_said"] == 1)))
    pairs = pairs[fits]
    texts, ids = masks["text"].to_numpy(object)[pairs["mask"]], masks["instance_id"].iloc[pairs["mask"]].reset_index(drop=True)
    option = [NUMERALS.sub(numeral, text, count=1) for text, numeral in zip(texts, pairs["numeral_said"])]
    pairs = pairs.reset_index(drop=True).assign(option=pd.Series(option, dtype=object))
    return pairs.assign(order=keyed_hash(ids + "\0" + pairs["option"], seed))[["mask", "option", "order"]]


def open_ended(masks: pd.DataFrame, terms: Terms, attempts: int, seed: int) -> pd.DataFrame:
    """Rule 3: mask, option, order."""
    texts = masks["text"].tolist()
    changed = perturbed(terms, masks["instance_id"].reset_index(drop=True), texts, [mentions(terms, text) for text in texts], attempts, seed)
    return changed.rename(columns={"row": "mask", "answer": "option", "attempt": "order"})[["mask", "option", "order"]]


def distractors(masks: pd.DataFrame, spans: pd.DataFrame, turns: pd.DataFrame, terms: Terms, rules: Rules, per_rule: int,
                seed: int) -> pd.DataFrame:
    """At most per_rule options of each rule for each mask: mask (its row), option, rule; by mask, rules in the paper's order.

    masks, spans: instance_id (masks alone), dialog, kind, value, text, initial (whether it begins a sentence). turns: dialog, text.
    """
    by_rule = [phrases(masks, spans, seed), numerals(masks, turns, seed), open_ended(masks, terms, ATTEMPTS * per_rule, seed)]
    rows = pd.concat([table.assign(place=place) for place, table in enumerate(by_rule)], ignore_index=True)
    rows = rows.sort_values(["mask", "place", "order", "option"], ignore_index=True)
    rows["kind"] = masks["kind"].to_numpy()[rows["mask"]]
    told = rows[["option", "kind"]].drop_duplicates(ignore_index=True)
    told["value"] = values_of(told["option"], told["kind"], rules)
    rows = rows.merge(told, on=["option", "kind"], how="left").assign(folded=lambda table: table["option"].str.lower())
    own = masks.reset_index(drop=True).loc[rows["mask"], ["value", "text"]]
    rows = rows[(rows["value"] != own["value"].to_numpy()) & (rows["folded"] != own["text"].str.lower().to_numpy())]
    rows = rows.drop_duplicates(["mask", "value"]).drop_duplicates(["mask", "folded"])
    rows = rows[rows.groupby(["mask", "place"]).cumcount() < per_rule]
    return rows.assign(rule=np.array(IN_ORDER, dtype=object)[rows["place"]])[["mask", "option", "rule"]].reset_index(drop=True)
