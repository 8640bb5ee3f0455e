"""Ask a model behind an API how likely it finds a text: /completions, with the prompt echoed.

Not a program. The server gives its tokens as texts. The characters of each token follow from these
texts, since servers count `text_offset` in several ways. A decoder may leave out the space before a
token. A token that is a part of a character has no text of its own. Some servers (hidden) leave
such a part out of every token's text.
"""

import math
from collections.abc import Iterator

from scripts.running.program import UserError, cut, shown
from scripts.train.asking.said import choice_in
from scripts.train.asking.server import REMEDIES, REQUEST, Server

FRONT = 2  # tokens before a text: the server's own, and `start_token`
CHECKED = 3  # texts that are tried, to see which tokens' log-probabilities a server gives
NEAR = 0.5  # between two values that should be equal; a server that counts in 16 bits is nearer
LEAVE_OUT = "take `logprobs` out of the model's entry"


def echo_body(entry: dict, text: str) -> dict:
    """The request for one text: the entry's `request`, with the fields of an echo over it."""
    asked = {"prompt": entry.get("start_token", "") + text, "echo": True, "logprobs": 1}
    body = {"model": entry["name"], "temperature": 0} | entry.get("request", {})
    # many servers take 0 for no limit
    body |= asked | {"max_tokens": 1}
    return {name: value for name, value in body.items() if value is not None}


def with_part(places: set[int], text: str) -> set[int]:
    """The places, and those after a character of which the token may be a part."""
    return places | {at + 1 for at in places if text[at : at + 1] > "\x7f"}


def ends_from(token: str, text: str, starts: set[int], hidden: bool) -> set[int]:
    """Where a token may end that begins at one of these places."""
    for number, written in enumerate(token.split("\ufffd")):
        starts = with_part(starts, text) if number else starts
        starts = {at + len(written) for at in starts if text.startswith(written, at)}
    return with_part(starts, text) if hidden else starts


def ends_of(tokens: list[str], text: str, hidden: bool) -> list[int] | None:
    """The character after each token of a text; None if the tokens are of another text.

    hidden: whether a part of a character may be left out after any token.
    """
    starts, reached = set(range(len(text) - len(text.lstrip(" ")) + 1)), []
    for number, token in enumerate(tokens):
        if token.startswith("bytes:"):
            token = "\ufffd"
        elif number == 0:
            token = token.lstrip(" ")
        found: dict[int, int] = {}  # by end: the last place where the token may begin
        for start in sorted(starts):
            skips = number and text[start : start + 1] == " " and token[:1] not in ("", "\ufffd")
            places = {start, start + 1} if skips else {start}
            found |= dict.fromkeys(ends_from(token, text, places, hidden), start)
        reached.append(found)
        starts = set(found)
    if len(text) not in starts:
        return None
    ends = [len(text)]
    for found in reached[:0:-1]:
        ends.insert(0, found[ends[0]])
    return ends


def lists_in(answer: object) -> tuple[list[str], list] | None:
    """The tokens of an answer and their log-probabilities; None if it gives none."""
    found = (choice_in(answer) or {}).get("logprobs")
    if not isinstance(found, dict):
        return None
    tokens, values = found.get("tokens"), found.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    return (tokens, values) if tokens and all(isinstance(one, str) for one in tokens) else None


def echo_of(answer: object, text: str) -> dict:
    """Read an answer for a text: the number of tokens before the text (`front`), the end of each
    token of the text, and its log-probability. A first token without a token before it has None.
    Raises UserError for an answer without log-probabilities.
    """
    lists = lists_in(answer)
    if lists is None:
        raise UserError(f"it gives no log-probabilities of its prompt; {LEAVE_OUT}")
    tokens, values = lists
    for hidden, front, last in readings(tokens, values):
        if ends := ends_of(tokens[front:last], text, hidden):
            check_values(values[front:last])
            return {"front": front, "ends": ends, "values": values[front:last]}
    raise UserError(
        f"it does not echo its prompt: the tokens {cut(shown(tokens))} are not those of "
        f"{cut(shown(text))}; {LEAVE_OUT}"
    )


def readings(tokens: list[str], values: list) -> Iterator[tuple[bool, int, int]]:
    """The ways to read an answer: whether parts are hidden, and which tokens are of the text."""
    start = int(tokens[0] == "" and values[0] is None)  # a token of the server's own, unnamed
    for hidden in (False, True):
        for last in (len(tokens) - 1, len(tokens)):  # it may have written a token, or none
            for front in range(start, min(FRONT + 1, last)):
                yield hidden, front, last


def check_values(values: list) -> None:
    """Raise UserError if a value is no log-probability; the first value may be missing."""
    known = values[1:] if values[0] is None else values
    for value in known:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not -math.inf < value <= 1e-4:  # rounding
            raise UserError(f"{shown(value)} is not a log-probability of its prompt; {LEAVE_OUT}")
    if len(known) > 2 and len(set(known)) == 1:
        raise UserError(
            f"every log-probability of its prompt is {known[0]}, so none is real; {LEAVE_OUT}"
        )


class Completions(Server):
    """A model behind an API that continues a text."""

    path, may_refuse = "/completions", False
    remedies = REMEDIES | {
        **dict.fromkeys((400, 422), f"{REQUEST}, shorten the texts, or {LEAVE_OUT}"),
        **dict.fromkeys(
            (200, 404, 405),
            f"correct `api` (the address before /completions) or `name`, or {LEAVE_OUT}",
        ),
    }


class Writer(Completions):
    """The model writes one token."""

    def body(self, question: str) -> dict:
        return echo_body(self.entry, question) | {"echo": False}

    def read(self, answer: object, question: str) -> tuple[str, float]:
        """The token and its log-probability; "" and 0 where the server gives none."""
        lists = lists_in(answer)
        text = (choice_in(answer) or {}).get("text")
        value = lists[1][0] if lists else None
        if isinstance(text, str) and isinstance(value, float) and math.isfinite(value):
            return text, value
        return "", 0.0


class EchoServer(Completions):
    """The model says how likely it finds its prompt."""

    def __init__(self, entry: dict, key: str | None):
        super().__init__(entry, key)
        self.writer = Writer(entry, key)

    def answers(self, questions: list[str]) -> Iterator[tuple[int, dict]]:
        self.check_places(questions[:CHECKED])
        yield from super().answers(questions)

    def check_places(self, texts: list[str]) -> None:
        """Raise UserError if a token in a prompt has another log-probability than the server
        gave when it wrote that token. The check uses the first text that allows it.
        """
        for text in texts:
            token, value = self.writer.answer(text)
            far = []
            for more in (token, f" {token}") if token and value < -1e-6 else ():
                found = self.answer(text + more)
                if found["ends"][:-1][-1:] == [len(text)]:
                    if abs(found["values"][-1] - value) < NEAR:
                        return
                    far.append(found["values"][-1])
            if far:
                raise UserError(
                    f"{self.place}: {shown(token)} has the log-probability {value:.2f} when the "
                    f"model writes it and {far[0]:.2f} when the prompt holds it, so its "
                    "log-probabilities belong to other tokens; give llama-cpp-python the model's "
                    f"BOS as `start_token`, or {LEAVE_OUT}"
                )

    def body(self, question: str) -> dict:
        return echo_body(self.entry, question)

    def read(self, answer: object, question: str) -> dict:
        return echo_of(answer, question)
