"""Likelihoods through an API: which of a server's tokens are scored, and which answers are
refused.
"""

import numpy as np
import pytest

from scripts.data.runs import facts_of
from scripts.data.tables import read_table
from scripts.running.program import UserError
from scripts.train.asking import ask, server
from tests.rows import each_row
from tests.train.api_server import as_vllm, choice_of, pieces_of, serving, value_of, written_of
from tests.train.test_asking import ONE, arguments, examples
from tests.training import done_here

# {text_a} is "Question 3.", and so on
PROMPT = {
    "score": "sum",
    "threshold": None,
    "domain": None,
    "texts": {
        "likely": "Naïve: {text_a}\nIs it {text_b} ?| yes it is",
        "unlikely": "Naïve: {text_a}\nIs it {text_b} ? |no",
    },
}
METHOD = ONE | {"merged_labels": None, "held_out": None, "prompt": PROMPT}


def without_start(prompt: str) -> dict:
    tokens = [*pieces_of(prompt), "\n"]
    return choice_of(tokens, [None, *map(value_of, tokens[1:])], prompt)


def of_the_next_token(prompt: str) -> dict:
    """Answer like llama-cpp-python for a model without BOS: values belong to the next token."""
    choice = without_start(prompt)
    values = choice["logprobs"]["token_logprobs"]
    return choice | {"logprobs": choice["logprobs"] | {"token_logprobs": [None, *values[2:], -9.0]}}


def without_spaces(prompt: str) -> dict:
    """Answer like a decoder that drops the space before a token, and without a written token."""
    tokens = pieces_of(prompt)
    values = [None, *map(value_of, tokens)]
    return choice_of(["", *(one.removeprefix(" ") for one in tokens)], values, prompt)


def with_space_in_front(prompt: str) -> dict:
    tokens = [*pieces_of(prompt), "."]
    return choice_of([f" {tokens[0]}", *tokens[1:]], [*map(value_of, tokens)], prompt)


def in_parts(start: str, *parts: str):
    """Answer with one sign of two bytes as several tokens, which have no text of their own."""

    def reply(prompt: str) -> dict:
        tokens = [*pieces_of(prompt)[1:], "!"]
        values = [None, -3.0, *[-0.5] * (len(parts) + 1), *map(value_of, tokens)]
        return choice_of([start, "Na", *parts, "ve:", *tokens], values, prompt)

    return reply


def asked(folder, reply, prompt: dict = PROMPT, training=None, **entry):
    settings = {
        **{"study": "mctaco", "source": "s", "dataset": "d", "data": {}, "model": "m"},
        **{"method": "likelihood", "seed": 0, "wording": "plain"},
        "training": {"max_length": 100, "precision": "auto", "shots": 0} | (training or {}),
    }

    def answer(body: dict):
        choice = reply(body["prompt"])
        writes = not body["echo"] and isinstance(choice, dict) and choice.get("logprobs")
        return written_of(choice) if writes else choice

    with serving(answer) as found:
        api = {"api": found.address, "name": "far"} | entry
        method = METHOD | {"prompt": prompt}
        of_run = {"api": api, "settings": settings}
        done_here(ask.ask, arguments(folder, method, of_run=of_run))
    return folder / "run-1", found


def scores_in(output) -> np.ndarray:
    table = read_table(output / "predictions.parquet", ["example_id", "score"])
    assert table["example_id"].to_pylist() == list(examples()["example_id"])
    return np.array(table["score"].to_pylist())


def expected() -> list[float]:
    sums = np.array([value_of("no"), sum(map(value_of, ["yes", "it", "is"]))])
    return (sums - np.logaddexp.reduce(sums)).tolist()


@each_row(
    "reply",
    [
        as_vllm,
        without_start,
        without_spaces,
        with_space_in_front,
        in_parts("<s>", "bytes:\\xc3", "bytes:\\xaf"),
        in_parts("", "", ""),
    ],
)
@pytest.mark.slow
def test_the_tokens_of_the_scored_part_are_summed(tmp_path, reply):
    output, found = asked(tmp_path, reply)
    assert scores_in(output) == pytest.approx(np.tile(expected(), (len(examples()), 1)), abs=1e-6)
    sent = found.bodies
    assert found.paths == {"/v1/completions"}
    assert all(body["logprobs"] == 1 and body["max_tokens"] == 1 for body in sent)
    prompts = [body["prompt"] for body in sent if body["prompt"].endswith((" it is", "no"))]
    checked = [body["prompt"] for body in sent if not body["echo"]]
    assert len(set(prompts)) == 2 * len(examples()) == len(prompts) - len(checked)
    facts = facts_of(output / "run.json")
    assert facts["kind"] == "api" and "unread" not in facts


def test_a_request_and_a_start_token_are_sent(tmp_path):
    entry = {"start_token": "<s>", "request": {"temperature": None, "seed": 7, "echo": False}}

    def reply(prompt: str) -> dict:
        choice = as_vllm(prompt.removeprefix("<s>"))
        return choice if prompt.startswith("<s>") else {}

    output, found = asked(tmp_path, reply, **entry)
    assert scores_in(output)[0] == pytest.approx(expected(), abs=1e-6)
    body = found.bodies[-1]
    assert body["seed"] == 7 and body["echo"] is True and "temperature" not in body


def test_what_is_too_long_is_cut_and_asked_again(tmp_path):
    """The server reads only the end of a long context. A long scored part loses its end, if the end
    need not stay.
    """
    output, found = asked(tmp_path, as_vllm, training={"max_length": 8})
    prompts = {body["prompt"] for body in found.bodies if body["prompt"][-3:] != " so"}
    assert {" it two hours ? yes it is", "\nIs it two hours ? no"} < prompts
    texts = examples()["text_b"].nunique()  # contexts differ only here after the cut
    assert len(prompts) == 2 * len(examples()) + 2 * texts
    assert scores_in(output)[0] == pytest.approx(expected(), abs=1e-6)
    assert facts_of(output / "run.json")["truncated"] == {"test": len(examples())}


def replaced(**changed):
    """Answer like vLLM with other lists. changed: functions of the right lists, or of None."""

    def reply(prompt: str) -> dict:
        choice = as_vllm(prompt)
        logprobs = choice["logprobs"]
        found = {name: make(logprobs[name]) for name, make in changed.items()}
        return choice | {"logprobs": logprobs | found}

    return reply


@each_row(
    "reply, said",
    [
        (lambda prompt: {"text": "A"}, "it gives no log-probabilities of its prompt; take"),
        (lambda prompt: {"logprobs": None}, "it gives no log-probabilities"),
        (replaced(token_logprobs=lambda old: [0.0] * len(old)), "prompt is 0.0, so none is real"),
        (replaced(token_logprobs=lambda old: [*old[:4], 0.7, *old[5:]]), "0.7 is not a log-prob"),
        (replaced(tokens=lambda old: [one.upper() for one in old]), "it does not echo its prompt"),
        (lambda prompt: (400, {}, b"no echo"), "answers 400 .*no echo.*take `logprobs` out"),
    ],
)
def test_a_server_without_log_probabilities_ends_in_one_sentence(
    tmp_path, monkeypatch, reply, said
):
    monkeypatch.setattr(server, "BACKOFF", 0.01)
    with pytest.raises(UserError, match=said) as error:
        asked(tmp_path, reply)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run-1/predictions.parquet").exists()


def test_log_probabilities_of_other_tokens_are_refused(tmp_path):
    with pytest.raises(UserError, match="has .* -9.00 when the model writes it and -0.10 when"):
        asked(tmp_path, of_the_next_token)


def test_a_token_that_nothing_stands_before_is_refused(tmp_path):
    prompt = PROMPT | {"texts": {"likely": "|Yes", "unlikely": "|No"}}
    with pytest.raises(
        UserError, match="'Yes', a text of one token, has no likelihood; write `start_token`"
    ):
        asked(tmp_path, without_start, prompt)
