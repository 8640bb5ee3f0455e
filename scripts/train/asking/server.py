"""Ask a model behind an API: any server that speaks OpenAI's chat completions.

Not a program. echo.py asks how likely a model finds a text. A request that meets a busy, broken or
missing server is tried again, after the time that the server asks for. A key comes from the
environment and is never written to a file, a log or an error.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import local
from typing import Any

import requests

from scripts.running.program import UserError, cut

AT_ONCE = 8  # requests
LONGEST = 600  # seconds for one whole answer, at most
# seconds to connect, and without a byte: a server on a CPU first answers earlier requests
TIMEOUT = (10, LONGEST)
TRIES = 6
TRIES_IN_VAIN = 2  # tries that may end without a byte
BACKOFF = 1.0  # seconds; doubled with every try
LONGEST_WAIT = 300  # seconds that a busy server may ask for
MOST = 1_000_000  # bytes of an answer
BUSY = {408, 409, 429, 500, 502, 503, 504, 529}
REMEDIES = {
    400: "correct `request` of the model's entry, or ask for fewer tokens",
    401: "set the environment variable that `key` names to a valid key",
    403: "use a key that may use this model",
    404: "correct `api` (the address before /chat/completions) or `name`",
}


class Passing(Exception):
    """A try failed for a reason that may pass. wait: seconds that the server asks for. tries: how
    many tries are allowed.
    """

    def __init__(self, why: str, wait: float | None = None, tries: int = TRIES):
        super().__init__(why)
        self.wait, self.tries = wait, tries


def key_in(variable: str | None, address: str) -> str | None:
    """Return the key from the environment. Raises UserError if it is not set."""
    if not variable:
        return None
    if not (key := os.environ.get(variable, "").strip()):
        raise UserError(
            f"{address}: the environment variable {variable} is not set; put the API key there"
        )
    return key


def body_of(entry: dict, question: str, tokens: int) -> dict:
    """The request for one question: greedy, and short. The entry's `request` is laid over it; a
    null in `request` removes a key.
    """
    body = {
        "model": entry["name"],
        "messages": [{"role": "user", "content": question}],
        "temperature": 0,
        "max_tokens": tokens,
    } | entry.get("request", {})
    return {name: value for name, value in body.items() if value is not None}


def text_of(answer: object) -> str:
    """Return the text of a server's answer. Raises Passing if the answer has no text."""
    try:
        content = answer["choices"][0]["message"].get("content")  # type: ignore[index]
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Passing(f"its answer has no choices[0].message: {cut(str(answer), 200)}") from None
    if content is not None and not isinstance(content, str):
        raise Passing(f"its answer is {cut(str(content), 100)}, not a text")
    return content or ""


class Server:
    """A model behind an API that is asked in words. entry: from models.yaml (api, name, request).
    key: the environment variable that holds the key, or None. shots: turns before each question.
    """

    path, remedies = "/chat/completions", REMEDIES

    def __init__(
        self, entry: dict, key: str | None, tokens: int = 0, shots: Sequence[dict[str, str]] = ()
    ):
        self.entry, self.tokens, self.shots = entry, tokens, shots
        self.address = entry["api"].rstrip("/") + self.path
        self.key, self.threads = key_in(key, self.address), local()

    def body(self, question: str) -> dict:
        """The request for one question."""
        body = body_of(self.entry, question, self.tokens)
        return body | {"messages": [*self.shots, *body["messages"]]} if self.shots else body

    def read(self, answer: object, question: str) -> Any:
        """The value that an answer gives. Raises Passing if it gives none."""
        return text_of(answer)

    def session(self) -> requests.Session:
        """The session of this thread."""
        if not hasattr(self.threads, "session"):
            self.threads.session = requests.Session()
            if self.key:
                self.threads.session.headers["Authorization"] = f"Bearer {self.key}"
        return self.threads.session

    def bytes_of(self, answer: requests.Response, ends: float) -> bytes:
        """The bytes of an answer. Raises Passing for an answer that is too long, or too slow."""
        whole = b""
        for piece in answer.iter_content(1 << 16):
            whole += piece
            if len(whole) > MOST:
                raise UserError(
                    f"{self.address}: an answer has more than {MOST:,} bytes; this is no "
                    "server of a model, or it ignores max_tokens"
                )
            if time.monotonic() > ends:
                raise Passing(f"an answer took longer than {LONGEST} s")
        return whole

    def tried(self, question: str) -> Any:
        """The answer to a question by one try. Raises Passing, or UserError for a failure that
        another try cannot change.
        """
        ends = time.monotonic() + LONGEST
        try:
            with self.session().post(
                self.address,
                json=self.body(question),
                timeout=TIMEOUT,
                stream=True,
                allow_redirects=False,
            ) as answer:
                status, whole = answer.status_code, self.bytes_of(answer, ends)
                if status in BUSY:
                    raise Passing(f"it answers {status}", seconds_of(answer.headers))
                if status != 200:
                    said = self.hidden(whole.decode("utf-8", "replace"))
                    remedy = self.remedies.get(status, "look at the server's own log")
                    raise UserError(
                        f"{self.address}: it answers {status} for the model {self.entry['name']} "
                        f"({cut(said, 200)}); {remedy}"
                    )
                return self.read(parsed(whole), question)
        except requests.ReadTimeout:
            why = f"no byte for {TIMEOUT[1]:g} s"
            raise Passing(why, tries=TRIES_IN_VAIN) from None
        except (requests.ConnectionError, requests.Timeout) as error:
            raise Passing(f"no answer ({self.hidden(cut(str(error), 150))})") from None
        except requests.RequestException as error:
            raise Passing(self.hidden(cut(str(error), 150))) from None

    def hidden(self, text: str) -> str:
        """A text without the key."""
        return text.replace(self.key, "…") if self.key else text

    def answer(self, question: str) -> Any:
        """The answer to a question. Raises UserError after TRIES tries."""
        for number in range(TRIES):
            try:
                return self.tried(question)
            except Passing as error:
                if number + 1 >= error.tries or (error.wait or 0) > LONGEST_WAIT:
                    raise UserError(
                        f"{self.address}: no answer after {number + 1} tries ({error}); answers "
                        "until then are kept: give the same command again later"
                    ) from None
                time.sleep(error.wait if error.wait is not None else BACKOFF * 2**number)
        raise AssertionError("the last try raises")

    def answers(self, questions: list[str]) -> Iterator[tuple[int, Any]]:
        """The number and the answer of each question, as they come; AT_ONCE requests run at a
        time.
        """
        waiting: dict[Future, int] = {}
        numbers = iter(range(len(questions)))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                while True:
                    while len(waiting) < AT_ONCE and (number := next(numbers, None)) is not None:
                        waiting[pool.submit(self.answer, questions[number])] = number
                    if not waiting:
                        return
                    for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                        yield waiting.pop(done), done.result()
            finally:
                pool.shutdown(cancel_futures=True, wait=False)


def parsed(whole: bytes) -> object:
    """Return the JSON of an answer. Raises Passing if the answer is not JSON."""
    try:
        return json.loads(whole)
    except (ValueError, RecursionError):
        raise Passing("its answer is cut off, or no JSON") from None


def seconds_of(headers) -> float | None:
    """The seconds that a busy server asks to wait (Retry-After); None if it asks for none."""
    try:
        return max(0.0, float(headers.get("Retry-After", "")))
    except ValueError:
        return None
