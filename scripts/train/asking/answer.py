"""What a model wrote to a question, how it ended, and how it is read. Not a program."""

from collections.abc import Sequence
from typing import NamedTuple

from scripts.train.asking.letters import named_in, restated
from scripts.train.asking.thoughts import without_thought

WHOLE = "whole"  # how an answer ended
UNREAD = CUT, REFUSED, TOO_LONG = "cut", "refused", "too_long"  # ends that leave it unread


class Answer(NamedTuple):
    """end: `cut` if the model had no tokens left, `refused` if the server or the model gave no
    answer to this question, `too_long` if the model cannot read the question. The text is then the
    server's reason.
    """

    text: str
    end: str = WHOLE


class Reading(NamedTuple):
    """named: the options that an answer names; None if it cannot be read. end: as in Answer; `cut`
    also for a thought that does not end.
    """

    named: set[int] | None
    end: str


def reading_of(
    answer: Answer, options: Sequence[str], several: bool, thought_end: str | None = None
) -> Reading:
    """Read an answer. An answer that was cut is not read, since more could have followed; a letter
    with the beginning of its option's text is.
    """
    text = without_thought(answer.text, thought_end)
    if text is None:
        return Reading(None, CUT)
    if answer.end != WHOLE:
        named = restated(text, options) if answer.end == CUT and not several else None
        return Reading(named, answer.end if named is None else WHOLE)
    return Reading(named_in(text, options, several), WHOLE)
