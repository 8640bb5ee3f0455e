"""Model servers on this machine: chat servers, and completion servers like vLLM, which echo a
prompt with the log-probabilities that a decoder gives to its tokens.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tests.peer import Peer, Quiet


class Api(Quiet):
    """Send the result of `self.server.answer(body)`: choices[0], or (status, headers, bytes)."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.paths.add(self.path)
        self.server.keys.add(self.headers.get("Authorization"))
        self.server.headers = dict(self.headers)
        found = self.server.answer(body)
        if isinstance(found, dict):
            found = 200, {}, json.dumps({"choices": [found]}).encode()
        status, headers, content = found
        fixed = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        self.begin(status, **headers | fixed)
        self.wfile.write(content)


@contextmanager
def serving(answer) -> Iterator[Peer]:
    """Run a server with these answers. A model's `api` is its `address`; it keeps the bodies, paths
    and keys of the requests.
    """
    found = Peer(Api)
    found.answer, found.bodies, found.paths, found.keys = answer, [], set(), set()
    found.address = f"{found.url}/v1"
    with found.running():
        yield found


@contextmanager
def teaching() -> Iterator[Peer]:
    """Run a chat server whose answers are `reply(question, how often it was asked)`: a text,
    choices[0], or (status, headers, bytes). A test sets `reply`; `asked` counts the questions.
    """

    def answer(body: dict):
        question = body["messages"][-1]["content"]
        found.asked[question] += 1
        said = found.reply(question, found.asked[question])
        is_text = isinstance(said, str)
        return {"message": {"role": "assistant", "content": said}} if is_text else said

    with serving(answer) as found:
        found.asked = Counter()
        yield found


def choice_of(tokens: list[str], values: list[float | None], prompt: str) -> dict:
    """Return choices[0] of an answer; the last token is the one that the server wrote."""
    starts = [sum(map(len, tokens[:number])) for number in range(len(tokens))]
    logprobs = {"tokens": tokens, "token_logprobs": values, "text_offset": starts}
    return {"text": prompt + tokens[-1], "index": 0, "logprobs": logprobs}


def written_of(choice: dict) -> dict:
    """Return choices[0] of an answer that does not echo: only the last token."""
    written = {name: values[-1:] for name, values in choice["logprobs"].items()}
    return choice | {"text": "".join(written.get("tokens", [])), "logprobs": written}


def pieces_of(prompt: str) -> list[str]:
    """Split a prompt into words, each with the space before it, and line ends."""
    return re.findall(r"\n| ?[^ \n]+", prompt)


def value_of(token: str) -> float:
    return -(sum(token.strip().encode()) % 97) / 10 - 0.1


def as_vllm(prompt: str) -> dict:
    """Answer like vLLM: with BOS, and with a token that the server wrote."""
    tokens = [*pieces_of(prompt), " so"]
    return choice_of(["<s>", *tokens], [None, *map(value_of, tokens)], prompt)
