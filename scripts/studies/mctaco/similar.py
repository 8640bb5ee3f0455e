"""Answers of MC-TACO beside other answers: of the same question, and of similar questions.

alike             how near two answers of a question are. It couples their decisions
                  (scripts/controls/together.py)
similar_questions a kernel ridge regression: an answer is likely if near answers to similar
                  questions of the same category were. Near means in size, in hour and in letters.
                  Similar means that the questions share words
"""

import numpy as np
import pandas as pd
from scipy.linalg import solve
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from scripts.controls.search import WORD
from scripts.controls.together import pairs_within
from scripts.controls.view import Numbers
from scripts.data.keyed import keyed_hash
from scripts.studies.mctaco.answers import read
from scripts.text.rows_of_texts import RowsOfTexts

QUESTION = r"([^.!?\"]*\?)\W*$"  # the last sentence of the first text
NEAR = {"seconds": 1.4, "hour": 2.5}  # how far two near answers are: log seconds, hours
RIDGE = 2.0  # the penalty
NUMBERS, TEXTS = 1.5, 0.7  # weights of the kernels
MOST, DRAW = 6_000, 41  # answers that are kept; the time grows with the cube of them


def alike(table: pd.DataFrame, some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n, 3) from 0 to 1: how near the sizes, the hours and the words of two answers are.
    some, others: (n,) the rows of the answers.
    """
    known = read(table["second"])
    sizes = [(known[name].to_numpy(), far) for name, far in NEAR.items()]
    near = [np.exp(-np.abs(size[some] - size[others]) / far) for size, far in sizes]
    counter = CountVectorizer(binary=True, token_pattern=WORD)
    words = counter.fit_transform([*table["second"], "none"])[:-1]
    length = np.asarray(words.sum(1)).ravel()
    both = np.asarray(words[some].multiply(words[others]).sum(1)).ravel()
    shared = (both / np.maximum(length[some] + length[others] - both, 1)) ** 3
    return np.nan_to_num(np.column_stack([*near, shared]))


def among_others(table: pd.DataFrame) -> np.ndarray:
    """(n, k) an answer among those of its question: the mean and the highest likeness to another
    answer, and its log seconds less the mean, lowest and highest of them (0 if not a duration).
    """
    row, other = pairs_within(table["group_id"])
    like = pd.DataFrame(alike(table, row, other)).groupby(row)
    found = [
        statistic.reindex(range(len(table)), fill_value=0.0)
        for statistic in (like.mean(), like.max())
    ]
    size = read(table["second"])["seconds"]
    of_group = size.groupby(table["group_id"].to_numpy())
    less = [size - of_group.transform(name) for name in ("mean", "min", "max")]
    return np.nan_to_num(np.column_stack([*found, *less]))


Answers = tuple[np.ndarray, pd.DataFrame, csr_matrix, csr_matrix]


class Kernel:
    """The kernel of the answers of some questions with those of others; it reads no label."""

    def __init__(self, kept: pd.DataFrame, numbers: Numbers) -> None:
        self.numbers = numbers
        self.scale = StandardScaler()
        scaled = self.scale.fit_transform(self.all_numbers(kept))
        letters = TfidfVectorizer(sublinear_tf=True, analyzer="char_wb", ngram_range=(2, 4))
        words = TfidfVectorizer(sublinear_tf=True, token_pattern=WORD, ngram_range=(1, 2))
        self.letters = RowsOfTexts(letters.fit([*kept["second"], "none"]).transform)
        self.words = RowsOfTexts(words.fit([*question(kept), "none"]).transform)
        self.kept = self.read(kept, scaled)

    def all_numbers(self, table: pd.DataFrame) -> np.ndarray:
        """(n, k) the numbers of an answer, and those that compare it with the others."""
        return np.column_stack([self.numbers(table), among_others(table)])

    def read(self, table: pd.DataFrame, scaled: np.ndarray) -> Answers:
        """The numbers, sizes and category, letters and words of answers."""
        sizes = read(table["second"])[[*NEAR]].assign(category=table["category"])
        letters = self.letters(table["second"]).astype(np.float32)
        words = self.words(question(table)).astype(np.float32)
        return np.clip(scaled, -4, 4).astype(np.float32), sizes, letters, words

    def rows_of_table(self, table: pd.DataFrame) -> np.ndarray:
        """(n, m) the kernel of the answers of a table with the answers that are kept."""
        return self.rows(self.read(table, self.scale.transform(self.all_numbers(table))))

    def rows(self, answers: Answers) -> np.ndarray:
        """(n, m) the kernel of answers that are read with the answers that are kept."""
        (numbers, sizes, letters, words), of_kept = answers, self.kept
        found = rbf_kernel(numbers, of_kept[0], 0.25 / numbers.shape[1])
        found *= NUMBERS
        groups = of_kept[1].groupby("category").indices
        for category, rows in sizes.groupby("category").indices.items():
            if category not in groups:
                continue
            there = groups[category]
            like = np.ones((len(rows), len(there)), np.float32)
            for name, far in NEAR.items():
                like *= nearness(sizes[name].iloc[rows], of_kept[1][name].iloc[there], far)
            like += (letters[rows] @ of_kept[2][there].T).toarray()
            like *= 1 + (words[rows] @ of_kept[3][there].T).toarray()
            found[np.ix_(rows, there)] += TEXTS * like
        return found


def nearness(sizes: pd.Series, kept: pd.Series, far: float) -> np.ndarray:
    """(n, m) from 0 to 1: how near two sizes are: 1 if both are missing, 0 if one is."""
    missing = 1e6 * far  # as far from every size as from nothing
    given, known = (one.fillna(missing).to_numpy(np.float32) for one in (sizes, kept))
    return np.exp(-(((given[:, None] - known) / far) ** 2) / 2)


def question(table: pd.DataFrame) -> pd.Series:
    """The question at the end of the first text; the whole text where no question mark ends it."""
    return table["first"].str.extract(QUESTION)[0].fillna(table["first"])


def similar_questions(train: pd.DataFrame, numbers: Numbers) -> Numbers:
    """A function from a table to (n,) how likely an answer is, by near answers to similar
    questions of the training split. numbers: of an answer.
    """
    drawn = np.argsort(keyed_hash(train["example_id"], DRAW))[:MOST]
    kept = train.iloc[np.sort(drawn)] if len(train) > MOST else train
    kernel, sign = Kernel(kept, numbers), 2.0 * kept["label"].to_numpy() - 1
    inner = kernel.rows(kernel.kept) + RIDGE * np.eye(len(kept), dtype=np.float32)
    weight = solve(inner, (sign - sign.mean()).astype(np.float32), assume_a="pos")

    def scores(table: pd.DataFrame) -> np.ndarray:
        return kernel.rows_of_table(table) @ weight + sign.mean()

    return scores
