"""Which cue gives an answer away, as named rules; and what is wrong with the file. Not a program.

A rule points to some options of an item. It covers an item if it points to some and not to all. Its
precision is the share of covered items that it answers, ties broken at random. Each rule is also
turned round ("not the longest").
"""

import numpy as np
import pandas as pd
from scipy.stats import chisquare

from scripts.audit.features import are_labels, distances, numbers_of, ranks_in_item, shared_words
from scripts.audit.reach import Benchmark, answered, estimate, has_choice
from scripts.text.text_features import in_context, shared_numbers
from scripts.text.time_units import NAMES

CUE = ["cue", "coverage", "precision", "low", "high", "chance"]
LEAST = 0.02  # of the items: a rule that covers fewer is no cue
UNIT = rf"\b({'|'.join(NAMES.values())}|times?|daily|weekly|monthly|yearly)\b"
EXTREMES = {
    "the longest": "highest letters",
    "the shortest": "lowest letters",
    "the largest": "highest size",
    "the smallest": "lowest size",
    "the middle in size": "middle size",
    "the largest number": "highest first number",
    "the smallest number": "lowest first number",
    "the middle number": "middle first number",
    "most words of other options": "highest shared",
    "the odd one out: fewest words of other options": "lowest shared",
}
BROKEN = r"\ufffd|Ã[\x80-\xbf]|â€|[\x00-\x08\x0b\x0c\x0e-\x1f]"
UNEVEN = 1e-3  # p-value below which positions are not even
LONG = 20  # letters of an answer that is looked for in other items


def rules_of(options: pd.DataFrame) -> dict[str, pd.Series]:
    """Return which options each rule points to, (n,) True or False."""
    item, text = options["item"].to_numpy(), options["option"]
    ranks = ranks_in_item(pd.concat([numbers_of(options), shared_words(options)], axis=1), item)
    rules = {title: ranks[name] for title, name in EXTREMES.items()}
    distance = distances(options)
    nearest = distance.groupby(item).transform("min")
    unit = text.str.lower().str.extract(UNIT)[0].str.rstrip("s")
    number = text.str.extract(r"(\d+)")[0].fillna("1").str.slice(-9).astype(int)
    rules |= {
        "the nearest two in size": (distance == nearest) & (distance < 29),
        "a unit that only one option has": unit.notna()
        & (unit.groupby([item, unit]).transform("size") == 1),
        "a round number": (number % 10 == 0),
        "a list of all, or none": text.str.contains(r"(?i)\b(?:all|none|both) of\b"),
    }
    for name in ("question", "context"):
        table = options.rename(columns={name: "first", "option": "second"})
        rules[f"stands in the {name}"] = pd.Series(in_context(table) > 0)
        rules[f"repeats a number of the {name}"] = pd.Series(shared_numbers(table) > 0)
    first = options["place"] == options.groupby("item")["place"].transform("min")
    return rules | {"the first option": first}


def cues_of(test: Benchmark) -> pd.DataFrame:
    """Return the rules that are clearly better than chance, the most useful first: cue, coverage,
    precision, its interval, chance, answered (a column of arrays, by item); no rules for labels.
    """
    options, items, rows = test.options, test.items, []
    rules = {} if are_labels(options) else rules_of(options)
    rules |= {f"not {title}": ~mask.astype(bool) for title, mask in rules.items()}
    seen: set[bytes] = set()  # of two options, "not the shortest" is the longest
    for title, pointed in rules.items():
        mask = pointed.to_numpy(bool)
        is_covered = has_choice(pd.Series(mask).groupby(options["item"]).mean()) & test.is_measured
        right = np.where(is_covered, answered(test, mask.astype(float)), np.nan)
        coverage = is_covered.sum() / test.is_measured.sum()
        if coverage < LEAST or (title.startswith("not ") and mask.tobytes() in seen):
            continue
        seen.add(mask.tobytes())
        precision, chance = estimate(right, test.groups), items["chance"][is_covered].mean()
        if precision.ci_low is not None and precision.ci_low > chance:
            rows.append([title, coverage, *precision[:3], chance, right])
    found = pd.DataFrame(rows, columns=[*CUE, "answered"])
    gain = found["coverage"] * (found["precision"] - found["chance"])
    return found.loc[gain.sort_values(ascending=False).index]


def faults_of(test: Benchmark, encoding: str) -> pd.DataFrame:
    """Return the faults of the file: fault, items (their number), examples (their ids)."""
    options, items, shares = test.options, test.items, test.shares
    item, grouped = options["item"], options.groupby("item")
    folded = options["option"].str.casefold().str.split().str.join(" ")
    in_order = folded.sort_values()
    whole = items["context"] + "\n" + items["question"] + "\n"
    whole += in_order.groupby(item).agg("\n".join)
    right = in_order[options["right"] == 1].groupby(item).agg("\n".join)
    answers = right.groupby(whole).transform("nunique").where(whole.duplicated(keep=False), 0)
    known = (items["context"] + " " + items["question"]).str.casefold()
    everywhere = "\n".join(known.unique())
    elsewhere = [
        len(text) >= LONG and text not in own and text in everywhere
        for text, own in zip(right, known)
    ]
    texts = options["context"] + options["question"] + options["option"]
    both = items.groupby("apart")["is_train"].transform("nunique") > 1
    faults = {
        "repeats another item": answers == 1,
        "contradicts another item with the same question and options": answers > 1,
        "is a near copy of an item to learn from": both & ~items["is_train"],
        "its right answer stands in another item": elsewhere,
        "has two equal options": folded.groupby(item).nunique() < grouped.size(),
        "has an empty option": grouped["place"].max() + 1 > grouped.size(),
        "has broken characters": texts.str.contains(BROKEN).groupby(item).any(),
    }
    rows = [
        [fault, list(items["item_id"][np.asarray(mask, bool)])] for fault, mask in faults.items()
    ]
    for kind, share in (("right", 0), ("wrong", 1)):
        ids = list(shares.index[shares == share])
        rows.append([f"has no {kind} option, so it is left out", ids])
    found = pd.DataFrame(rows, columns=["fault", "examples"])
    found.insert(1, "items", found["examples"].str.len())
    found["examples"] = found["examples"].str[:10]
    right_at = options.groupby("place")["right"].sum()
    meant = grouped["right"].transform("mean").groupby(options["place"]).sum()
    if not are_labels(options) and chisquare(right_at, meant).pvalue < UNEVEN:
        place = (right_at - meant).idxmax()
        fault = f"has its right option at place {place + 1}, which is too frequent"
        found.loc[len(found)] = [fault, int(right_at[place]), []]
    if encoding.lower() != "utf-8":
        found.loc[len(found)] = [f"the file is {encoding}, not UTF-8", len(shares), []]
    return found[found["items"] > 0]
