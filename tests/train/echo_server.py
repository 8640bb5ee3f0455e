"""A server of completions on this machine, as vLLM is one: it echoes a prompt with the
log-probabilities that a decoder gives to its tokens.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Echo(BaseHTTPRequestHandler):
    """Answers with what `self.server.reply(body)` returns: choices[0], or (status, bytes)."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append((self.path, body))
        found = self.server.reply(body)
        if isinstance(found, dict):
            found = 200, json.dumps({"choices": [found]}).encode()
        status, content = found
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@contextmanager
def serving(reply) -> Iterator[ThreadingHTTPServer]:
    """A server that answers so; its `address` is what `api` names, `bodies` what it was asked."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as found:
        found.reply, found.bodies = reply, []
        found.address = f"http://127.0.0.1:{found.server_address[1]}/v1"
        threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield found
        finally:
            found.shutdown()  # else the thread goes on without a pause, on a closed socket


def choice_of(tokens: list[str], values: list[float | None], prompt: str) -> dict:
    """choices[0] of an answer, with the token that the server wrote as the last one."""
    starts = [sum(map(len, tokens[:number])) for number in range(len(tokens))]
    logprobs = {"tokens": tokens, "token_logprobs": values, "text_offset": starts}
    return {"text": prompt + tokens[-1], "index": 0, "logprobs": logprobs}


def written_of(choice: dict) -> dict:
    """choices[0] of an answer that does not echo: the last token alone."""
    written = {name: values[-1:] for name, values in choice["logprobs"].items()}
    return choice | {"text": "".join(written.get("tokens", [])), "logprobs": written}


def decoder_reply(folder: Path):
    """What a decoder in a folder answers: each token is decoded by itself, as vLLM does it."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    lock = threading.Lock()

    def reply(body: dict) -> dict:
        ids = tokenizer(body["prompt"])["input_ids"]
        with lock, torch.inference_mode():
            said = network(torch.tensor([ids])).logits[0].double().log_softmax(-1)
        values = said[:-1].gather(1, torch.tensor(ids)[1:, None])[:, 0].tolist()
        written = int(said[-1].argmax())
        tokens = [tokenizer.decode([one]) for one in [*ids, written]]
        choice = choice_of(tokens, [None, *values, float(said[-1].max())], body["prompt"])
        return choice if body["echo"] else written_of(choice)

    return reply
