"""What a model wrote to a question, how it ended, and how it is read. Not a program."""

from collections.abc import Sequence
from typing import NamedTuple

from scripts.train.asking.letters import LETTERS, named_in
from scripts.train.asking.thoughts import without_thought

WHOLE = "whole"  # how an answer ended
UNREAD = CUT, REFUSED, TOO_LONG = "cut", "refused", "too_long"  # ends that leave it unread
LIKELIEST = "likeliest"  # an answer that cannot be read, of a model whose likeliest letter counts
SHARES = ("unread", LIKELIEST, *UNREAD)  # shares of answers in run.json


class Answer(NamedTuple):
    """end: `cut` if the model had no tokens left, `refused` if the server or the model gave no
    answer to this question, `too_long` if the model cannot read the question. For the last two the
    text is the server's reason. letters: the letters A to Z, the likeliest first; empty for a model
    behind an API. usage: the server's counts of tokens, as JSON.
    """

    text: str
    end: str = WHOLE
    letters: str = ""
    usage: str = ""


class Reading(NamedTuple):
    """named: the options that an answer names; None if it cannot be read. end: as in Answer; `cut`
    also for a thought that does not end. ranked: if the answer cannot be read and the letters are
    ranked, the options by their letters; the first then is `named`.
    """

    named: set[int] | None
    end: str
    ranked: tuple[int, ...] = ()


def reading_of(
    answer: Answer, options: Sequence[str], several: bool, thought_end: str | None = None
) -> Reading:
    """Read an answer. An answer that was cut is not read, since more could have followed."""
    text, end = without_thought(answer.text, thought_end), answer.end
    if text is None:
        end = CUT
    elif end == WHOLE and (named := named_in(text, options, several)) is not None:
        return Reading(named, end)
    places = map(LETTERS.index, answer.letters)
    ranked = tuple(place for place in places if place < len(options))
    return Reading({*ranked[:1]} or None, end, ranked)
