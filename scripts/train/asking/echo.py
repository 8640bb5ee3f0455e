"""Ask a model behind an API how likely it finds a text: /completions, with the prompt echoed.

Not a program. The server names its tokens as texts. Of which characters each one stands is read off
these, since servers count `text_offset` in several ways. A decoder may leave out the space before a
token. A token that is a part of a character has no text of its own.
"""

import math
import re

from scripts.running.program import UserError, cut, shown
from scripts.train.asking.server import REMEDIES, Passing, Server

FRONT = 2  # tokens before a text: the server's own, and `start_token`
# of a character; no pattern goes back (?+), so that time grows with the length alone
PART = "[^\x00-\x7f]?+"
LEAVE_OUT = "take `logprobs` out of the model's entry"


def echo_body(entry: dict, text: str) -> dict:
    """The request for one text. The entry's `request` is laid under what makes an echo."""
    asked = {"prompt": entry.get("start_token", "") + text, "echo": True, "logprobs": 1}
    body = {"model": entry["name"], "temperature": 0} | entry.get("request", {})
    # many servers take 0 for no limit
    body |= asked | {"max_tokens": 1}
    return {name: value for name, value in body.items() if value is not None}


def pattern_of(token: str) -> str:
    """What a token matches in the text that it is of."""
    if token.startswith("bytes:"):
        return PART
    found = "".join(PART if sign == "\ufffd" else re.escape(sign) for sign in token)
    return found if token[:1] in ("", " ", "\ufffd") else " ?+" + found


def ends_of(tokens: list[str], text: str) -> list[int] | None:
    """The character after each token of a text; None where they are of another text."""
    first = " *+" + pattern_of(tokens[0].lstrip(" ")) if tokens else ""
    pattern = "".join(f"({part})" for part in [first, *map(pattern_of, tokens[1:])])
    found = re.fullmatch(pattern, text)
    return [found.end(number + 1) for number in range(len(tokens))] if found else None


def lists_in(answer: object) -> tuple[list[str], list] | None:
    """The tokens of an answer and their log-probabilities; None where it gives none.

    Raises Passing for an answer that is no completion.
    """
    try:
        found = answer["choices"][0].get("logprobs")  # type: ignore[index]
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Passing(f"its answer has no choices[0]: {cut(str(answer), 200)}") from None
    if not isinstance(found, dict):
        return None
    tokens, values = found.get("tokens"), found.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    return (tokens, values) if tokens and all(isinstance(one, str) for one in tokens) else None


def echo_of(answer: object, text: str) -> dict:
    """What an answer says of a text: how many tokens stand before it (`front`), where each of its
    own ends, and its log-probability (None of a first one that nothing stands before).

    Raises UserError for an answer that says no such thing, and Passing for no answer.
    """
    lists = lists_in(answer)
    if lists is None:
        raise UserError(f"it gives no log-probabilities of its prompt; {LEAVE_OUT}")
    tokens, values = lists
    for last in (len(tokens) - 1, len(tokens)):  # it may have written a token, or none
        for front in range(min(FRONT, last) + 1):
            if ends := ends_of(tokens[front:last], text):
                check_values(values[front:last])
                return {"front": front, "ends": ends, "values": values[front:last]}
    raise UserError(
        f"it does not echo its prompt: the tokens {cut(shown(tokens))} are not those of "
        f"{cut(shown(text))}; {LEAVE_OUT}"
    )


def check_values(values: list) -> None:
    """Raises UserError for what are no log-probabilities; the first may lack."""
    known = values[1:] if values[0] is None else values
    for value in known:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not -math.inf < value <= 1e-4:  # rounding
            raise UserError(f"{shown(value)} is no log-probability of its prompt; {LEAVE_OUT}")
    if len(known) > 2 and len(set(known)) == 1:
        raise UserError(
            f"every log-probability of its prompt is {known[0]}, so it gives none; {LEAVE_OUT}"
        )


class EchoServer(Server):
    """A model behind an API that tells how likely it finds its prompt."""

    path = "/completions"
    remedies = REMEDIES | {
        400: f"correct `request` of the model's entry, shorten the texts, or {LEAVE_OUT}",
        404: f"correct `api` (the address before /completions) or `name`, or {LEAVE_OUT}",
    }

    def body(self, question: str) -> dict:
        return echo_body(self.entry, question)

    def read(self, answer: object, question: str) -> dict:
        try:
            return echo_of(answer, question)
        except UserError as error:
            raise UserError(f"{self.address}: {error}") from None
