"""Controls of strided sentence order: they see each of two captions by itself, or pairs of words.

A caption often shows its place in its video: "he begins by", "the man", "the end". `place` learns
this place from the training captions, one at a time. The difference of two places orders a pair,
though the control reads only one caption at a time.

`pairs` also has a weight for each word of one caption with each word of the other, so it learns
which action follows which; and for how a caption names what the other one names (`mentions`): "a
man" before "the man", a noun before a pronoun, "another". The rules declare the same without
learning, and whether the start of one caption repeats the end of the other, as in captions that
roll.

`corpus` learns such words and pairs, without letters, from all captions of the corpus that lie as
far apart or nearer. The dataset leaves out short videos and the ends of each video, so there are
four times as many at stride 0.
"""

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge

from scripts.running.program import UserError
from scripts.text.repeated_ends import start_repeats_end
from scripts.text.rows_of_texts import RowsOfTexts
from scripts.controls.search import exchanged, has_words
from scripts.controls.view import View

PENALTY = 10.0  # the penalty of the ridge regression on word vectors of unit length
# Words that refer to a thing named before, and words that name a thing first.
LOOKS = [
    r"^(?:a|an|two|three|several|some|people)\b",
    r"^(?:the|this|that|these)\b",
    r"^(?:he|she|it|they)\b",
    r"\b(?:a|an)\b",
    r"\bthe\b",
    r"\b(?:he|she|they|him|her|them|his|their|it|its)\b",
    r"\b(?:and|then|again|still|another|other|more)\b",
    r"\b(?:is|are)\b",
    r"\d",
]


@lru_cache(maxsize=200_000)
def up_to_three_words(text: str) -> tuple[str, ...]:
    """Return the words of a text, and each two and three in a row."""
    words = re.findall(r"\w+", text.lower())
    return tuple(
        " ".join(words[at : at + n]) for n in (1, 2, 3) for at in range(len(words) - n + 1)
    )


def place(train: pd.DataFrame) -> Callable[[pd.DataFrame], np.ndarray]:
    """Return a function from a table to (n,): the place of the second text in its video, 0 to 1,
    predicted from its words. It learns from the positions of the training captions.
    """
    if "sentences" not in train:  # the label is not the order, so the places are unknown
        return lambda table: np.zeros(len(table))
    last = np.maximum(train["sentences"].to_numpy() - 1, 1)
    early, late = (train[f"{side}_position"].to_numpy() / last for side in ("first", "second"))
    in_order = train["label"].to_numpy() == 1
    known = pd.concat(
        [
            pd.DataFrame({"video": train["group_id"], "text": train[text], "place": place})
            for text, place in (
                ("first", np.where(in_order, early, late)),
                ("second", np.where(in_order, late, early)),
            )
        ]
    ).drop_duplicates()
    counter = TfidfVectorizer(analyzer=up_to_three_words, min_df=2, sublinear_tf=True)
    if not has_words(counter, known["text"]):
        return lambda table: np.zeros(len(table))
    model, rows_of = Ridge(alpha=PENALTY, solver="lsqr"), RowsOfTexts(counter.transform)
    model.fit(rows_of(known["text"]), known["place"])
    return lambda table: model.predict(rows_of(table["second"]))


def looks(table: pd.DataFrame) -> np.ndarray:
    """Return (n, k) counts of words in the second text that name a thing first or refer to a thing
    named before, and the text's length.
    """
    text = table["second"].str.lower()
    return np.column_stack(
        [
            *(text.str.count(look) for look in LOOKS),
            np.log1p(text.str.len()),
            np.log1p(text.str.split().str.len()),
        ]
    ).astype(float)


BOTH_TEXTS = View(
    sees="each of the two captions by itself: words, letters, its likely place in a video; and "
    "whether the start of one repeats the end of the other",
    words=lambda table: table["second"],
    numbers=looks,
    learnt={"place": place},
    rules={"start_repeats_end": start_repeats_end},
    each=True,
)
TOKEN = re.compile(r"[a-z']+")
ENDINGS = re.compile(r"(?<=[a-z]{3})(?:ing|ed|es|s|ly|e)$")
PRONOUNS = frozenset("he she it they him her them his their its".split())
INDEFINITE = frozenset("a an two three several some people one".split())
DEFINITE = frozenset("the this that these those".split())
AGAIN = frozenset("another again then still more other continues finally finishes ends".split())
NEAR = 3  # words after an article that may be its noun


@lru_cache(maxsize=200_000)
def stems(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, without common endings."""
    return tuple(ENDINGS.sub("", word) for word in TOKEN.findall(text.lower()))


def word_pairs(table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return the stems of both texts, for a weight for each pair, such as open, then pour."""
    first, second = (table[side].map(stems).str.join(" ") for side in ("first", "second"))
    return first, second


@lru_cache(maxsize=200_000)
def named(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that stand soon after an indefinite article or number, and after a definite
    one.
    """
    words = stems(text)
    found: tuple[set[str], set[str]] = set(), set()
    for place, word in enumerate(TOKEN.findall(text.lower())):
        for articles, kept in zip((INDEFINITE, DEFINITE), found):
            if word in articles:
                kept.update(words[place + 1 : place + 1 + NEAR])
    return frozenset(found[0]), frozenset(found[1])


@lru_cache(maxsize=200_000)
def counts(text: str) -> tuple[int, int, int, int]:
    """Return how many indefinite and definite articles, pronouns, and words for more a text has."""
    words = TOKEN.findall(text.lower())
    return tuple(  # type: ignore[return-value]
        sum(word in kind for word in words) for kind in (INDEFINITE, DEFINITE, PRONOUNS, AGAIN)
    )


def mentions(table: pd.DataFrame) -> np.ndarray:
    """Return (n, k): how many words are indefinite in the first text and definite in the second;
    nouns of the first that a pronoun of the second may stand for; words for more in the second;
    first words that repeat, and ends that repeat.
    """
    rows = []
    for first, second in zip(table["first"], table["second"]):
        (new, _), (_, known) = named(first), named(second)
        one, other, before, after = counts(first), counts(second), stems(first), stems(second)
        shared = set(before) & set(after)
        rows.append(
            (
                len(new & known),
                min(one[0], 2) if other[2] > 0 and one[2] == 0 else 0,
                other[3] - one[3],
                other[1] - one[1],
                other[2] - one[2],
                one[0] - other[0],
                bool(new and after and after[0] in PRONOUNS),
                bool(before and after) and before[-1] in after[:-1],
                bool(before and after) and after[0] in before[1:],
                len(shared) * (len(after) - len(before)) / 10,
            )
        )
    return np.array(rows, float).reshape(len(table), -1)


def places(table: pd.DataFrame) -> pd.Series:
    """Return tokens of the first three and the last two stems of the second text, of the first
    words of both, and of the numbers of mentions().
    """
    rows = []
    for first, second, numbers in zip(table["first"], table["second"], mentions(table)):
        one, other = stems(first), stems(second)
        tokens = [f"start:{'_'.join(other[:k])}" for k in (1, 2, 3)]
        tokens += [f"end:{'_'.join(other[-k:])}" for k in (1, 2)]
        tokens += [f"starts:{'_'.join(one[:k])}>{'_'.join(other[:k])}" for k in (1, 2)]
        tokens += [f"mention{at}:{number:.0f}" for at, number in enumerate(numbers)]
        rows.append(" ".join(tokens))
    return pd.Series(rows, table.index, dtype=object)


def words_and_places(table: pd.DataFrame) -> pd.Series:
    """Return the stems of the second text, each two in a row, and the tokens of places()."""
    words = table["second"].map(stems)
    in_a_row = words.map(lambda of: " ".join(map("_".join, zip(of, of[1:]))))
    return words.str.join(" ") + " " + in_a_row + " " + places(table)


def pairs_of_corpus(captions: pd.DataFrame, train: pd.DataFrame) -> pd.DataFrame:
    """Return all pairs of captions of a video that lie at most as far apart as those of the
    training split, without these. Every other pair is swapped. Raises UserError for pairs of other
    texts.
    """
    refusal = UserError(
        "search_captions: the training pairs are no pairs of captions of the corpus that it reads "
        "(windows, another label or another corpus); leave it out"
    )
    if "sentences" not in train:  # the label is not the order
        raise refusal
    known = captions.rename(columns={"video_id": "group_id", "position": "first_position"})
    key = ["group_id", "first_position", "second_position"]
    texts, in_order = [train["first"], train["second"]], train["label"] == 1
    early, late = (one.where(in_order, other) for one, other in (texts, texts[::-1]))
    drawn = train[key].assign(text=early, later=late)
    parts = []
    for gap in range(1, (train["second_position"] - train["first_position"]).max() + 1):
        later = captions.set_axis(["group_id", "second_position", "later"], axis=1)
        earlier = known.assign(second_position=known["first_position"] + gap)
        parts.append(earlier.merge(later, on=["group_id", "second_position"]))
    pairs = pd.concat(parts, ignore_index=True)
    pairs = pairs[pairs["text"] != pairs["later"]]
    of_train, of_corpus = (pd.MultiIndex.from_frame(table[[*drawn]]) for table in (drawn, pairs))
    if not of_train.isin(of_corpus).all():
        raise refusal
    pairs = pairs[~of_corpus.isin(of_train)]
    label = np.arange(len(pairs)) % 2
    texts = [pairs["text"].to_numpy(), pairs["later"].to_numpy()]
    first, second = (np.where(label, *both) for both in (texts, texts[::-1]))
    return pairs[key].assign(first=first, second=second, label=label)


def turned(score: Callable[[pd.DataFrame], np.ndarray]) -> Callable[[pd.DataFrame], np.ndarray]:
    """Return a rule: the score of a table less that of the exchanged texts."""
    return lambda table: score(table) - score(exchanged(table))


PAIRS = View(
    sees="words of both captions and pairs of these, articles, pronouns, first and last words",
    words=lambda table: table["second"],
    pairs=word_pairs,
    cues=places,
)
WORDS = {"both_texts": BOTH_TEXTS, "pairs": PAIRS}
AVERAGED = View(sees="the mean word vector of each caption", averaged=lambda table: table["second"])
VIEWS = {
    "both_texts": BOTH_TEXTS,
    "rules": View(
        sees="articles and pronouns of both captions",
        rules={
            "a before the": turned(lambda table: mentions(table)[:, 0]),
            "more the than a": turned(lambda table: mentions(table)[:, 3:6].sum(1)),
            "another comes later": turned(lambda table: mentions(table)[:, 2]),
            "start repeats end": start_repeats_end,
            "all": turned(lambda table: mentions(table)[:, :6].sum(1)),
        },
    ),
    "words": View(sees="words of both captions, alone and in pairs", parts=WORDS),
    "corpus": View(
        sees="words of both captions, alone and in pairs, in all captions of the corpus",
        pairs=word_pairs,
        cues=words_and_places,
        penalties=(0.03, 0.1, 0.3),
        more=pairs_of_corpus,
    ),
    "texts": View(
        sees="words of both captions, alone and in pairs, and word vectors",
        parts=WORDS | {"word_vectors": AVERAGED},
    ),
}
