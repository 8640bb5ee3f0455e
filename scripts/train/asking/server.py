"""Ask a model behind an API: any server that speaks OpenAI's chat completions.

Not a program. echo.py asks how likely a model finds a text; said.py reads what a server says. A
request that meets a busy, broken or missing server is tried again, after the time that the server
asks for. A key comes from the environment and is never written to a file, a log or an error.

At most AT_ONCE questions are open. Each try runs in a thread of its own, and only the main thread
waits, so no server and no pause holds up an end: answers under way are kept if they come soon.
"""

import re
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NoReturn

import requests
import urllib3

from scripts.running.program import UserError, cut, log
from scripts.train.asking.access import KeyHeaders, Secrets, address_of, key_in
from scripts.train.asking.answer import Answer
from scripts.train.asking.said import LONG, LONGEST_WAIT, SPENT, Final, Passing, answer_of, heard

AT_ONCE = 8  # open questions
LONGEST = 600  # seconds for one whole answer, its headers included
# seconds to connect, and without a byte: a server on a CPU first answers earlier requests
TIMEOUT = (10, LONGEST)
TRIES = 6
BACKOFF = 1.0  # seconds; doubled with every try
PATIENCE = 5  # times as long for a busy server: its quota may be by the minute
AT_THE_END = 20  # seconds that an end waits for answers under way
MOST = 1_000_000  # bytes of an answer
FEWER = "ask for fewer tokens (`answer_tokens`, `request`), or give fewer `shots`"
REQUEST = "correct `request` of the model's entry"
REMEDIES = {
    200: "correct `api` (the address before /chat/completions), or take `stream` out of `request`",
    400: f"{REQUEST}, or ask for fewer tokens",
    401: "set the environment variable that `key` names to a valid key",
    403: "let `key` name a key that may use this model, or look at your account there",
    404: "correct `api` (the address before /chat/completions) or `name`",
}
REMEDIES |= {422: REMEDIES[400]} | dict.fromkeys((301, 302, 307, 308, 405), REMEDIES[404])
# what an error itself names; it outweighs the status
REASONS = {
    SPENT: "add credit to your account there",
    LONG: FEWER,
    re.compile("max_tokens.{0,200}max_completion_tokens"): (
        f"{REQUEST}: `request: {{max_tokens: null, max_completion_tokens: TOKENS}}`"
    ),
    re.compile("temperature"): f"{REQUEST}: `request: {{temperature: null}}`",
    re.compile(r"api[ _-]?key|auth\w*[ _](?:error|fail|cred)|unauthenticated", re.I): (
        REMEDIES[401]
    ),
}


def body_of(entry: dict, question: str, training: dict) -> dict:
    """The request for one question: greedy, and short. The entry's `request` is laid over it; a
    null in `request` removes a key.
    """
    template = {key: training[key] for key in ("chat_template_kwargs",) if key in training}
    body = {
        "model": entry["name"],
        "messages": [{"role": "user", "content": question}],
        "temperature": 0,
        "max_tokens": training["answer_tokens"],
        **template,
    } | entry.get("request", {})
    return {name: value for name, value in body.items() if value is not None}


@contextmanager
def stopping() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, so that answers under way are kept."""

    def stop(*_) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass
class Open:
    """An open question: its try, from 1; when this try begins or, if it flies, is overdue; the
    tries that count, and when the first of them was planned.
    """

    since: float
    due: float
    tries: int = 1
    counted: int = 1
    flies: bool = False


class Server:
    """A model behind an API that is asked in words. entry: from models.yaml (api, name, request,
    headers). key: the environment variable that holds the key, or None. training: the run's
    settings. shots: turns before each question.
    """

    path, remedies = "/chat/completions", REMEDIES
    may_refuse = True  # whether a question that is refused or too long has an answer

    def __init__(
        self,
        entry: dict,
        key: str | None,
        training: dict | None = None,
        shots: Sequence[dict[str, str]] = (),
    ):
        self.entry, self.training, self.shots = entry, training or {}, shots
        self.address = address_of(entry["api"], self.path)
        given = key_in(key)
        self.secrets = Secrets(given, self.address)
        self.place = self.secrets.out_of_message(self.address)  # as messages show it
        self.headers = KeyHeaders(given, entry.get("headers", {}))
        self.sessions: list[requests.Session] = []  # those that no try uses

    def body(self, question: str) -> dict:
        """The request for one question."""
        body = body_of(self.entry, question, self.training)
        return body | {"messages": [*self.shots, *body["messages"]]} if self.shots else body

    def read(self, found: dict, question: str) -> Any:
        """The value that an answer gives. Raises Passing if it gives none."""
        answer = answer_of(found)
        return answer._replace(text=self.secrets.out_of_answer(answer.text))

    def bytes_of(self, answer: requests.Response, ends: float) -> bytes:
        """The bytes of an answer. Raises Passing for an answer that is too slow."""
        whole = b""
        while piece := answer.raw.read1(1 << 16, decode_content=True):
            whole += piece
            if len(whole) > MOST:
                raise UserError(
                    f"an answer has more than {MOST:,} bytes; this is no server of a model, or it "
                    "ignores max_tokens"
                )
            if time.monotonic() > ends:
                raise Passing(f"an answer took longer than {LONGEST} s", tries=2)
        return whole

    def tried(self, question: str) -> Any:
        """The answer to a question by one try. Raises Passing, or UserError for a failure that
        another try cannot change.
        """
        ends = time.monotonic() + LONGEST
        try:
            session = self.sessions.pop()
        except IndexError:  # all are in use
            session = requests.Session()
        try:
            with session.post(
                self.address,
                json=self.body(question),
                auth=self.headers,
                timeout=TIMEOUT,
                stream=True,
                allow_redirects=False,
            ) as answer:
                # without the key before anything is cut: half a key is one, too
                text = self.bytes_of(answer, ends).decode("utf-8-sig", "replace")
                whole = self.secrets.out_of_answer(text)
            found = heard(answer.status_code, answer.headers, whole, self.may_refuse)
            if isinstance(found, Answer):
                return found._replace(text=self.secrets.out_of_message(found.text))
            return self.read(found, question)
        except (requests.ReadTimeout, urllib3.exceptions.ReadTimeoutError):
            raise Passing(f"no byte for {TIMEOUT[1]:g} s", tries=2) from None
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema) as error:
            raise UserError(f"{error}; correct `api` of the model's entry") from None
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            why = self.secrets.out_of_message(str(error))
            raise Passing(f"no answer ({cut(why, 150)})") from None
        finally:
            self.sessions.append(session)

    def sentence(self, error: Exception, tries: int = 1) -> UserError:
        """An error of a try as one for the user. The key is in no text that leaves this class."""
        what = self.secrets.out_of_message(str(error))
        if isinstance(error, Passing):
            return UserError(
                f"{self.place}: no answer after {tries} tries ({what}); answers until then are "
                "kept: give the same command again later"
            )
        if not isinstance(error, Final):
            return UserError(f"{self.place}: {what}")
        status, about = error.status, error.about
        remedy = self.remedies.get(status, "look at the server's own log, or at your account there")
        if status not in (200, 403):
            remedy = next((known for said, known in REASONS.items() if said.search(about)), remedy)
        return UserError(
            f"{self.place}: it answers {status} for the model {self.entry['name']} ({what}); "
            f"{remedy.replace('TOKENS', str(self.training.get('answer_tokens')))}"
        )

    def answer(self, question: str) -> Any:
        """The answer to one question alone."""
        return next(Server.answers(self, [question]))[1]

    def answers(self, questions: list[str]) -> Iterator[tuple[int, Any]]:
        """The number and the answer of each question, as they come. Raises UserError for a final
        error. At an error or Ctrl-C, answers that come soon still come.
        """
        asking = Asking(self, questions)
        try:
            yield from asking.answers()
        except (UserError, KeyboardInterrupt):
            yield from asking.under_way()
            raise


class Asking:
    """The open questions of one call of Server.answers()."""

    def __init__(self, server: Server, questions: list[str]):
        self.server, self.questions = server, questions
        self.unasked = iter(range(len(questions)))
        self.open: dict[int, Open] = {}
        self.answered = 0.0  # when the last answer came
        # number of the question, number of the try, answer or error
        self.ended: SimpleQueue[tuple[int, int, Any]] = SimpleQueue()

    def fly(self, number: int) -> None:
        """Start a try of a question."""
        one = self.open[number]
        tries = one.tries

        def run() -> None:
            found: Any
            try:
                found = self.server.tried(self.questions[number])
            except Exception as error:  # the main thread raises what is no failure of a try
                found = error
            self.ended.put((number, tries, found))

        one.due, one.flies = time.monotonic() + LONGEST, True
        Thread(target=run, daemon=True).start()

    def next_end(self, until: float) -> tuple[int, int, Any] | None:
        """The next try that ends; None if none ends until then. It waits a second at a time: a
        signal that arrives just before a wait begins is noticed only when this wait ends.
        """
        while True:
            left = until - time.monotonic()
            try:
                return self.ended.get(timeout=min(max(left, 0.0), 1.0))
            except Empty:
                if left <= 1:
                    return None

    def answers(self) -> Iterator[tuple[int, Any]]:
        while True:
            while len(self.open) < AT_ONCE and (number := next(self.unasked, None)) is not None:
                self.open[number] = Open(now := time.monotonic(), now)
            if not self.open:
                return
            for number, one in list(self.open.items()):
                if not one.flies and one.due <= time.monotonic():
                    self.fly(number)
            if ended := self.next_end(min(one.due for one in self.open.values())):
                yield from self.take(*ended)
            for number, one in list(self.open.items()):
                if one.flies and one.due <= time.monotonic():
                    self.again(number, Passing(f"an answer took longer than {LONGEST} s", tries=2))

    def take(self, number: int, tries: int, found: Any) -> Iterator[tuple[int, Any]]:
        """Yield an answer, or plan another try. An answer of a try that was given up counts."""
        if number not in self.open:
            return
        if not isinstance(found, Exception):
            self.answered = time.monotonic()
            del self.open[number]
            yield number, found
        elif tries == self.open[number].tries:
            self.open[number].flies = False
            if not isinstance(found, Passing):
                raise self.server.sentence(found) if isinstance(found, UserError) else found
            self.again(number, found)

    def again(self, number: int, error: Passing) -> None:
        """Plan the next try of a question. Raises UserError if there is none. While a busy
        server answers other questions, no try counts.
        """
        one, now = self.open[number], time.monotonic()
        one.flies = False
        if error.is_busy and self.answered > one.since:
            one.counted, one.since = 1, now
        if one.counted >= min(error.tries or TRIES, TRIES) or (error.wait or 0) > LONGEST_WAIT:
            raise self.server.sentence(error, one.tries)
        wait = (PATIENCE if error.is_busy else 1) * BACKOFF * 2 ** (one.counted - 1)
        if error.wait and (one.counted == 1 or error.wait > wait):
            wait = error.wait
        one.due = now + wait
        one.tries, one.counted = one.tries + 1, one.counted + 1

    def under_way(self) -> Iterator[tuple[int, Any]]:
        """Yield the answers that come within AT_THE_END seconds; a second Ctrl-C ends the wait."""
        flying = {number for number, one in self.open.items() if one.flies}
        for seconds in (1, AT_THE_END):  # a wait that is felt is said
            until = time.monotonic() + seconds
            while flying and (ended := self.next_end(until)):
                number, _, found = ended
                if number in flying and not isinstance(found, Exception):
                    yield number, found
                flying.discard(number)
            if flying and seconds < AT_THE_END:
                log.warning(
                    "warning: waiting at most %d s for %d answers under way; Ctrl-C drops them",
                    AT_THE_END,
                    len(flying),
                )
