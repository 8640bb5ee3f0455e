"""Numbers in digits and words: patterns that find them in a text, and their values
(scripts/text/unit_normalization.py has a list).
"""

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

ONES = dict(zip("one two three four five six seven eight nine".split(), range(1, 10)))
TEENS = dict(
    zip(
        "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),
        range(10, 20),
    )
)
TENS = dict(
    zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10))
)
SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
CARDINALS = ONES | TEENS | TENS
VAGUE = {
    "couple": 2,
    "other": 2,
    "few": 3,
    "some": 3,
    "several": 4,
    "many": 10,
    "tens": 10,
    "zero": 0,
}
GLYPHS = {"½": 0.5, "¼": 0.25, "¾": 0.75}


def any_of(words: Iterable[str]) -> str:
    """Return a pattern for one of these words; it tries longer words first."""
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


HYPHEN = "[-‐‑‒–—]"
A, OF = r"(?:an?\s+)?", r"(?:\s+of)?"
ONE_TO_NINE, TEEN, TEN, SCALE = (any_of(words) + r"\b" for words in (ONES, TEENS, TENS, SCALES))
DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d{1,2} \. \d{1,2}(?!\d)|\d+(?:\.\d+)?|\.\d+)"
WORD = rf"(?:{TEN}(?:(?:\s*{HYPHEN}\s*|\s+){ONE_TO_NINE})?|{TEEN}|{ONE_TO_NINE}|{SCALE}|zero\b)"
# "one hundred and five" is a number, "two and five" are two.
AND = "(?:" + "|".join(rf"(?<={word})\s+and\s+" for word in SCALES) + r"|\s+)"
CARDINAL = rf"{WORD}(?:{AND}{WORD}){{0,15}}"
SCALED = rf"(?:\s+{SCALE}){{0,5}}"
NUMBER = (
    "(?:"
    + "|".join(
        [
            r"\d*[½¼¾]",
            r"(?:\d+\s+)?[1-9]/[2-9](?![\d/])",
            DIGITS + SCALED,
            rf"(?:(?:an?|one)[\s-]+)?half{OF}(?:[\s-]+(?:an?|one)\b)?{SCALED}",
            r"(?:an?|one|three)[\s-]+quarters?(?:\s+of\s+(?:an?|one))?\b",
            rf"{A}(?:couple|few){OF}{SCALED}{OF}\b",
            rf"(?:several|many)\b{SCALED}",
            r"(?:some|other)\b",
            (
                r"(?:(?:several|many)\s+)?(?:tens"
                rf"|(?:{'|'.join(SCALES)})s)(?:\s+of\s+(?:{'|'.join(SCALES)})s)*{OF}\b"
            ),
            rf"(?:an?\s+(?={SCALE}))?" + CARDINAL,
            r"an?\b",
        ]
    )
    + r")(?:\s+and\s+(?:(?:an?|one)\s+)?(?:half|quarter)\b"
    + SCALED
    + ")?"
)


def number(text: str) -> float:
    """Return the value of a number in digits or words; NaN if the words are not one number."""
    text = re.sub(r"(?<=\d) \. (?=\d)", ".", text.lower().replace(",", ""))
    text = re.sub(r"\s+and\s+(?:(?:an?|one)\s+)?(?=(?:half|quarter)\b)", " +", text)
    words = [
        word for word in re.sub(HYPHEN, " ", text).split() if word not in ("a", "an", "of", "and")
    ]
    if re.search(r"(?<!\+)(?:half|quarter)", text):  # "one half", "three quarters"
        quarters = "0.75" if "three" in words else "0.25"
        part = "0.5" if "half" in words else quarters
        words = [part] + [word for word in words if word in SCALES]
    total, current = 0.0, 0.0
    for word in words or ["one"]:
        word = word.removesuffix("s") if word[:-1] in SCALES else word
        if word in SCALES and SCALES[word] < 1000:
            current = (current or 1) * SCALES[word]
        elif word in SCALES:
            below = total and not current and total < SCALES[word]  # "hundred thousand million"
            total = total * SCALES[word] if below else total + (current or 1) * SCALES[word]
            current = 0.0
        elif word in CARDINALS:
            # "twenty five" is one number; "two five" and "fifteen two" are two numbers each.
            follows = current % 100 == 0 or (
                current % 100 >= 20 and current % 10 == 0 and CARDINALS[word] < 10
            )
            current = current + CARDINALS[word] if follows else np.nan
        elif word in VAGUE:
            current = float(VAGUE[word])
        elif word[-1] in GLYPHS:
            current = float(word[:-1] or 0) + GLYPHS[word[-1]]
        elif "/" in word:
            current += float(word.split("/")[0]) / float(word.split("/")[1])
        elif word in ("+half", "+quarter"):
            current += 0.5 if word == "+half" else 0.25
        else:
            current = float(word)
    return total + current


def values(texts: pd.Series) -> pd.Series:
    """Return number() of each text, computed once for each different text; NaN if missing."""
    return texts.map({text: number(text) for text in texts.dropna().unique()}).astype(float)
