"""Texts as tokens: which tokens are scored, which are cut if a text is too long, and how many first
tokens the texts of a group share.

A text is tokenized whole, as the model knows texts. A token is scored if it holds a character of
the scored part, or of the spaces before that part. Tokenizers write a space into the token of a
word, but often as a separate token before a digit. This rule makes "5" and "five" comparable.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd

from scripts.running.program import UserError
from scripts.train.batches import Ragged

CHUNK = 10_000  # texts at once


@dataclass
class Tokens:
    """n texts as tokens without special ones: how many stand in the context, how many of the scored
    ones must stay, where each token ends.
    """

    ids: Ragged
    context: np.ndarray  # (n,)
    must_stay: np.ndarray  # (n,)
    ends: Ragged  # the character after each token


def count_true(marks: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """How many of each text's tokens are marked."""
    return np.bincount(np.repeat(np.arange(len(lengths)), lengths), marks, len(lengths)).astype(
        np.int64
    )


def tokens_of(tokenizer, frame: pd.DataFrame) -> Tokens:
    """The tokens of texts (columns context, scored, must_stay: characters of `scored` that must
    stay). Raises UserError for a scored part, or a part that must stay, without any token or with
    unknown tokens only.
    """
    parts = []
    for start in range(0, len(frame), CHUNK):
        texts = frame.iloc[start : start + CHUNK]
        encoded = tokenizer(
            (texts["context"] + texts["scored"]).to_list(),
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        lengths = np.fromiter(map(len, encoded["input_ids"]), np.int64, len(texts))
        ids = np.fromiter(
            (token for row in encoded["input_ids"] for token in row), np.int32, lengths.sum()
        )
        spans = np.fromiter(
            (place for row in encoded["offset_mapping"] for span in row for place in span),
            np.int32,
            2 * lengths.sum(),
        )
        border = texts["context"].str.len().to_numpy()
        written = texts["context"].str.rstrip(" ").str.len().to_numpy()
        last_to_stay = np.where(texts["must_stay"] > 0, border + texts["must_stay"], 0)
        context = count_true(spans[1::2] <= np.repeat(written, lengths), lengths)
        must_stay = np.maximum(
            count_true(spans[::2] < np.repeat(last_to_stay, lengths), lengths) - context, 0
        )
        lost = np.flatnonzero((lengths == context) | (texts["must_stay"] > 0) & (must_stay == 0))
        if tokenizer.unk_token_id is not None:
            place = np.arange(lengths.sum()) - np.repeat(
                np.cumsum(lengths) - lengths + context, lengths
            )
            unknown = (
                (ids == tokenizer.unk_token_id)
                & (place >= 0)
                & (place < np.repeat(must_stay, lengths))
            )
            lost = np.append(lost, np.flatnonzero(count_true(unknown, lengths)))
        if len(lost):
            text = texts.iloc[lost[0]]
            raise UserError(
                "its tokenizer cannot represent "
                f"{text['scored'][: text['must_stay'] or 80].strip()!r}; take it out of the data, "
                "or choose another model"
            )
        parts.append((ids, lengths, context, must_stay, spans[1::2]))
    ids, lengths, context, must_stay, ends = (np.concatenate(part) for part in zip(*parts))
    return Tokens(Ragged.of(ids, lengths), context, must_stay, Ragged.of(ends, lengths))


def words_of(tokenizer, frame: pd.DataFrame) -> Ragged:
    """The number of each token's word in its text. A word is a piece of text that the tokenizer
    separates before it makes tokens. Raises UserError for a tokenizer that takes a text of several
    words for one word.
    """
    texts = (frame["context"] + frame["scored"]).to_list()
    numbers = []
    for start in range(0, len(texts), CHUNK):
        encoded = tokenizer(texts[start : start + CHUNK], add_special_tokens=False, verbose=False)
        numbers += [encoding.word_ids for encoding in encoded.encodings]
    lengths = np.fromiter(map(len, numbers), np.int64, len(numbers))
    words = np.fromiter(chain.from_iterable(numbers), np.int32, lengths.sum())
    if not words.any() and any(len(text.split()) > 1 for text in texts):
        raise UserError(
            f"{tokenizer.name_or_path}: its tokenizer does not split a text into words, but "
            "`masks: word` masks by word; leave the method out"
        )
    return Ragged.of(words, lengths)


def of_group(values: np.ndarray, groups: np.ndarray, how: str) -> np.ndarray:
    """For each text the largest (`max`) or least (`min`) value of its group."""
    return pd.Series(values).groupby(groups).transform(how).to_numpy()


def cut_to(
    tokens: Tokens, groups: np.ndarray, room: int, frame: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray]:
    """How many context tokens, from its end, and how many scored tokens, from their beginning,
    fit into `room` together.

    The context is cut first, then the end of the scored part, equally in all texts of a group. So
    no candidate gets likelier because less is read after it. Raises UserError if the part that
    must stay is longer than the room.
    """
    needed = of_group(tokens.must_stay, groups, "max")
    if (needed > room).any():
        text = frame.iloc[int((tokens.must_stay > room).argmax())]
        raise UserError(
            f"{text['scored'][: text['must_stay']].strip()!r} leaves no room for its context; "
            "raise max_length"
        )
    scored = tokens.must_stay + np.minimum(
        tokens.ids.lengths - tokens.context - tokens.must_stay, room - needed
    )
    return np.minimum(tokens.context, room - of_group(scored, groups, "max")), scored


def bytes_of(frame: pd.DataFrame, tokens: Tokens, scored: np.ndarray) -> np.ndarray:
    """The UTF-8 bytes of the scored part of each text,
    without those of tokens that were cut off.
    """
    size = frame["scored"].str.encode("utf-8").str.len().to_numpy(np.int64, copy=True)
    last = tokens.context + scored - 1
    for row in np.flatnonzero(last + 1 < tokens.ids.lengths):  # only a few rows
        text, context = frame["scored"].iloc[row], len(frame["context"].iloc[row])
        size[row] = len(
            text[: tokens.ends.flat[tokens.ends.starts[row] + last[row]] - context].encode()
        )
    return size


def alike_with_next(ids: Ragged, order: np.ndarray) -> np.ndarray:
    """How many first tokens each text, in this order, has in common with the next text (the last
    one: 0).
    """
    alike = np.zeros(len(order), np.int64)
    for start in range(0, len(order) - 1, CHUNK):
        rows = order[start : start + CHUNK + 1]
        padded = ids.take(rows).padded(int(ids.lengths[rows].max()), -1)
        same = (padded[:-1] == padded[1:]) & (padded[1:] >= 0)
        alike[start : start + len(rows) - 1] = np.logical_and.accumulate(same, 1).sum(1)
    return alike


def shared_of(ids: Ragged, groups: np.ndarray) -> np.ndarray:
    """Count the first tokens that all texts of each text's group share; 0 for a group of one."""
    order = np.argsort(groups, kind="stable")
    with_next = np.append(groups[order][1:] == groups[order][:-1], False)
    alike = np.zeros(len(order), np.int64)
    # the last text of a group: its next text is of another group, so it sets no limit
    alike[order] = np.where(with_next, alike_with_next(ids, order), np.iinfo(np.int64).max)
    least = of_group(alike, groups, "min")
    return np.where(least == np.iinfo(np.int64).max, 0, least)
