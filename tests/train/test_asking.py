"""Models that are asked in words, on a server or on this machine: how their answers are read."""

import json
import os
import re
import signal
import time
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.data.runs import facts_of
from scripts.data.tables import read_table
from scripts.measure.experiment import Run, read_scores
from scripts.running.program import UserError
from scripts.train.asking import ask, server
from tests.fetch.fetch_sources import Server
from tests.rows import each_row, rows_of, texts_of
from tests.train.api_server import teaching
from tests.training import done_here

KEY = "sk-secret-of-the-tests"
ONE = {
    "columns": {"example_id": "example_id", "group_id": "group_id"},
    "labels": ["unlikely", "likely"],
    "inputs": ["text_a", "text_b"],
    "prompt": {
        "question": "{text_a} Is it {text_b}?\n{options}",
        "answers": {"likely": "Yes", "unlikely": "No"},
    },
}
ALL = ONE | {"prompt": {"question": "{text_a}\n{options}\nWhich?", "answers": None}}


@pytest.fixture
def teacher(monkeypatch):
    monkeypatch.setenv("KEY_OF_TESTS", KEY)
    monkeypatch.setattr(server, "BACKOFF", 0.002)
    with teaching() as found:
        yield found


def examples(questions: int = 8) -> pd.DataFrame:
    """Make questions about three durations each; one or two of the durations are likely."""
    rows = [
        {
            "example_id": f"q{number}:{place}",
            "group_id": f"q{number}",
            "text_a": f"Question {number}.",
            "text_b": text,
            "label": int(place == number % 3 or place == 2),
        }
        for number in range(questions)
        for place, text in enumerate(["two hours", "ten years", "a day"])
    ]
    return pd.DataFrame(rows)


def arguments(
    folder, method: dict, shots=0, seed=0, train=None, more=None, of_run=(), **options
) -> list[str]:
    """Return the arguments of a job of run-1. more: settings of training; of_run: keys of the run,
    as its model; options: of the job.
    """
    (folder / "data").mkdir(exist_ok=True)
    for split, table in (("train", train), ("test", None)):
        rows = (examples() if table is None else table).to_dict("records")
        pq.write_table(pa.Table.from_pylist(rows), folder / f"data/{split}.parquet")
    settings = {
        "study": "mctaco",
        "source": "s",
        "dataset": "d",
        "data": {},
        "model": "m",
        "method": "answer",
        "seed": seed,
        "wording": "letters",
        "training": {"answer_tokens": 8, "chat_template": "auto", "precision": "auto"}
        | ({"shots": shots} if shots else {})
        | (more or {}),
    }
    run = {"run": "run-1", "settings": settings, "method": method, "data": f"{folder}/data"}
    run |= {"splits": ["train", "test"]} | dict(of_run)
    given = {"folder": folder, "output": folder / "job.manifest.json"} | options
    return [*(f"--{name}={value}" for name, value in given.items()), "<<<", json.dumps(run)]


def asked(folder, teacher, method: dict = ONE, shots=0, seed=0, train=None, settings=None, **entry):
    """Ask the server; return the run's folder. settings: more settings of training."""
    api = {"name": "teacher"} | ({"api": teacher.address} if teacher else {}) | entry
    of_run = {"api": api}
    given = arguments(folder, method, shots, seed, train, settings, of_run, key="KEY_OF_TESTS")
    done_here(ask.ask, given)
    return folder / "run-1"


def accuracy(output) -> float:
    table = examples()
    run = Run(output, facts_of(output / "run.json"))
    scores, _ = read_scores(run, "test", table["example_id"], "examples")
    return float((scores.argmax(1) == table["label"]).mean())


def is_likely(question: str, text: str) -> bool:
    number = int(question.split(".")[0].split()[-1])
    return text == "a day" or text == ["two hours", "ten years", "a day"][number % 3]


def right_one(question: str, count: int) -> str:
    """Return the letter of the right answer, yes or no."""
    text = question.split("Is it ")[1].split("?")[0]
    lines = dict(line.split(". ")[::-1] for line in question.splitlines()[1:])
    letter = lines["Yes" if is_likely(question, text) else "No"]
    return letter if letter == "A" else f"The answer is ({letter})."


def right_all(question: str, count: int) -> str:
    lines = [line.split(". ", 1) for line in question.splitlines()[1:-1]]
    return ", ".join(letter for letter, text in lines if is_likely(question, text))


def test_right_answers_are_right_wrong_ones_wrong_and_unreadable_ones_wrong(tmp_path, teacher):
    for number, (reply, method, reached, unread) in enumerate(
        [
            (right_one, ONE, 1.0, 0.0),
            (right_all, ALL, 1.0, 0.0),
            (lambda question, count: "B" if right_one(question, 1) == "A" else "A", ONE, 0.0, 0.0),
            (lambda question, count: "Well, it depends.", ONE, 0.0, 1.0),
            (lambda question, count: "Well, it depends.", ALL, 0.0, 1.0),
            (lambda question, count: "none", ALL, float((examples()["label"] == 0).mean()), 0.0),
        ]
    ):
        teacher.reply = reply
        folder = tmp_path / str(number)
        folder.mkdir()
        output = asked(folder, teacher, method)
        assert accuracy(output) == pytest.approx(reached)
        assert facts_of(output / "run.json")["unread"]["test"] == unread
        scores = pq.read_table(output / "predictions.parquet")["score"].to_pylist()
        assert np.isnan(scores).all() == bool(unread)


@each_row("method, right", [(ONE, right_one), (ALL, right_all)])
@pytest.mark.slow
def test_solved_examples_stand_before_each_question(tmp_path, teacher, method, right):
    def asked_with(shots: int, seed: int = 0) -> list:
        before = len(teacher.bodies)
        asked(tmp_path, teacher, method, shots=shots, seed=seed)
        return [body["messages"] for body in teacher.bodies[before:]]

    teacher.reply = right
    (turns,) = {json.dumps(body[:-1]) for body in asked_with(4)}
    turns = json.loads(turns)
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 4
    questions = [turn["content"] for turn in turns[::2]]
    assert len(set(questions)) == 4 and set(questions) <= set(teacher.asked)
    letters = [turn["content"].removeprefix("Answer: ") for turn in turns[1::2]]
    solved = [right(question, 1).removeprefix("The answer is (") for question in questions]
    assert letters == (solved if method is ALL else [letter[0] for letter in solved])
    assert accuracy(tmp_path / "run-1") == 1
    assert not asked_with(4), "it is finished"
    assert asked_with(4, seed=1)[0][:-1] not in (turns, []), "other examples are other questions"
    with pytest.raises(UserError, match="shots: 99 needs .* but there are .*; lower shots"):
        asked_with(99)


def fresh(folder):
    """Return a new folder; the rows of a table share theirs."""
    (new := folder / str(len([*folder.iterdir()]))).mkdir()
    return new


ANSWERS = r"""
{message: {content: The answer is A. But wait}, finish_reason: length} | {cut: 1}
{message: {content: "<think>\nA. Yes"}, finish_reason: stop} | {cut: 1}
{message: {content: null, reasoning_content: So A.}, finish_reason: length} | {cut: 1}
{message: {content: "<\x7Cinner_prefix\x7C>The answer is A"}, finish_reason: stop} | {cut: 1}
{message: {content: A, reasoning_content: Maybe B.}} | {}
{message: {content: A}, finish_reason: {x: []}} | {}
{message: {content: null, refusal: I will not.}} | {refused: 1}
{message: {content: null}, finish_reason: 'content_filter: PROHIBITED_CONTENT'} | {refused: 1}
{message: {content: [{type: refusal, refusal: No.}]}} | {refused: 1}
[400, {error: {message: no, code: content_filter}}] | {refused: 1}
[200, {error: {code: 400, message: flagged by our content policy}}] | {refused: 1}
[200, {error: {message: 'blocked: prohibited content'}}] | {refused: 1}
[200, {choices: null, prompt_filter_results: [{content_filter_results: {hate: {filtered: true}}}]}] | {refused: 1}
[200, {object: chat.completion, promptFeedback: {blockReason: PROHIBITED_CONTENT}}] | {refused: 1}
[200, {choices: [], finish_reason: length}] | {cut: 1}
{message: null, native_finish_reason: SAFETY, finish_reason: null} | {refused: 1}
{finish_reason: MAX_TOKENS} | {cut: 1}
{message: {content: A}, finish_reason: eos_token} | {}
{message: null, finish_reason: error, error: {code: 403, metadata: {reasons: [violence]}, message: Input was flagged}} | {refused: 1}
[400, {type: error, error: {type: invalid_request_error, message: Output blocked by content filtering policy}}] | {refused: 1}
[403, {code: no permission, error: 'Content violates usage guidelines. Failed check'}] | {refused: 1}
[403, {error: {message: Provider returned error, code: 403, metadata: {raw: The prompt is unsafe}}}] | {refused: 1}
[200, {choices: [{index: 1, message: {content: '?'}}, {message: {content: A}}]}] | {}
[400, {message: "This model's maximum context length is 512 tokens. You requested 900."}] | {too_long: 1}
[400, {message: 'prompt is too long: 900 tokens > 512 maximum'}] | {too_long: 1}
[400, {message: The input token count (900) exceeds the maximum number of tokens allowed (512).}] | {too_long: 1}
[422, {message: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 512.'}] | {too_long: 1}
[500, {message: the request exceeds the available context size (512 tokens)}] | {too_long: 1}
[429, {message: 'Request too large for x on tokens per min (TPM): Limit 512, Requested 900.'}] | {too_long: 1}
"""


KINDS = ("cut", "refused", "too_long")


def as_reply(answer) -> dict | tuple:
    """Return choices[0], or a whole answer: its status and body."""
    if isinstance(answer, dict):
        return {"finish_reason": "stop"} | answer
    status, body = answer
    return status, {}, json.dumps(body).encode()


@each_row(
    "reply, shares",
    [
        *((as_reply(answer), shares) for answer, shares in rows_of(ANSWERS)),
        ({"message": {"content": "\ud83d Well\0\x1b[2J\u202e"}}, {"unread": 1}),
        ((200, {}, b'{"choices": [{"message": {"content": "A \xff"}}]}'), {}),
    ],
)
def test_cut_refused_and_too_long_answers_are_unread_and_counted(
    tmp_path, teacher, caplog, reply, shares
):
    """One question of eight is answered so."""
    teacher.reply = lambda question, count: (
        reply if "Question 3" in question else right_one(question, count)
    )
    teacher.asked.clear()
    caplog.clear()
    tmp_path = fresh(tmp_path)
    facts = facts_of(asked(tmp_path, teacher) / "run.json")
    unread = max(shares.values(), default=0)
    found = {name: facts.get(name, {}).get("test", 0) * 8 for name in ("unread", *KINDS)}
    assert found == {"unread": unread} | dict.fromkeys(KINDS, 0) | shares
    assert ("raise `answer_tokens`" in caplog.text) == bool(shares.get("cut"))
    assert ("too long for the model" in caplog.text) == bool(shares.get("too_long"))
    of_causes = [line for line in caplog.messages if "as U+FFFD" not in line]
    assert len(of_causes) == bool(unread), "one sentence for one cause"
    assert sum(teacher.asked.values()) == len(teacher.asked), "each question is asked once"
    asked(tmp_path, teacher)
    assert sum(teacher.asked.values()) == len(teacher.asked), "kept answers can be read again"


@each_row(
    "choice, usage, said",
    [
        ({"content": "Well"}, [30, 8, 38], "cut after 8 tokens and count as wrong; raise `answer"),
        ({"content": "Well"}, [30, 2, 32], "cut before 8 tokens by a limit of the server"),
        ({"content": None, "reasoning": "So </think> A"}, [30, 8, 38], "only a thought.*So   A"),
        ({"content": [{"type": "thinking", "thinking": "So"}]}, None, "only a thought.*So"),
        ({"content": ""}, [30, 0, 38], "only a thought.*8 tokens that the server does not show"),
    ],
)
def test_a_cut_answer_is_explained(tmp_path, teacher, caplog, choice, usage, said):
    caplog.clear()
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    counts = dict(zip(names, usage)) if usage else None
    body = {"choices": [{"message": choice, "finish_reason": "length"}], "usage": counts}
    teacher.reply = lambda question, count: as_reply([200, body])
    output = asked(fresh(tmp_path), teacher)
    facts = facts_of(output / "run.json")
    assert facts["cut"]["test"] == 1 and re.search(said, caplog.text), caplog.text
    assert caplog.text.count("warning") == 1
    sums = {name: len(examples()) * count for name, count in (counts or {}).items()}
    assert facts.get("usage") == ({"test": sums} if usage else None)


def test_an_address_headers_and_turns_of_an_entry_are_sent(tmp_path, teacher, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password netrc-secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    teacher.reply = right_one
    where = {"api": f"{teacher.address}/deployments/x/?api-version=1"}
    asked(tmp_path, teacher, headers={"api-key": "{key}", "X-Org": "me"}, **where)
    assert teacher.paths == {"/v1/deployments/x/chat/completions?api-version=1"}
    assert teacher.keys == {None} and teacher.headers["api-key"] == KEY
    assert teacher.headers["X-Org"] == "me"
    settings = {"system": "Be brief.", "chat_template_kwargs": {"enable_thinking": False}}
    output = asked(tmp_path, teacher, settings=settings)
    assert teacher.keys == {None, f"Bearer {KEY}"}, "and never one of ~/.netrc"
    body = teacher.bodies[-1]
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert body["chat_template_kwargs"] == settings["chat_template_kwargs"]
    assert facts_of(output / "run.json")["training"].items() >= settings.items()


@each_row("key", ["two\nlines-of-a-file", "пароль-secret", "with a space"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(tmp_path, teacher, monkeypatch, key):
    monkeypatch.setenv("KEY_OF_TESTS", key)
    with pytest.raises(UserError, match="KEY_OF_TESTS holds a space, a line break or") as error:
        asked(tmp_path, teacher)
    assert key not in str(error.value)


def test_the_key_is_sent_and_written_nowhere(tmp_path, teacher, caplog):
    # the key stands where a long message is cut
    teacher.reply = lambda question, count: (400, {}, f"{'bad ' * 73}key {KEY}".encode())
    with pytest.raises(UserError) as error:
        asked(tmp_path, teacher)
    assert "answers 400" in str(error.value) and KEY[:4] not in str(error.value)
    teacher.reply = lambda question, count: f"Your key is {KEY}."
    asked(tmp_path, teacher)
    teacher.reply = right_one
    asked(tmp_path, teacher, request={"max_tokens": None, "max_completion_tokens": 99})
    assert teacher.keys == {f"Bearer {KEY}"}
    assert teacher.bodies[-1]["max_completion_tokens"] == 99
    assert "max_tokens" not in teacher.bodies[-1]
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files and not any(KEY.encode() in file.read_bytes() for file in files)
    assert KEY not in caplog.text


@each_row(
    "key, said",
    [
        ("sk-a/b+secret", r"sk-a\/b\u002bsecret"),
        ("sk-a/b+secret", "http://proxy/?key=sk-a%2Fb%2Bsecret"),
        ("sk-a/b+secret", "&#0115;k-a/b+secret"),
        ("sk-a/b+secret", r"\u0053K-A/B+SECRET"),
        ("p4ss", "p4ss"),
    ],
)
def test_an_escaped_or_short_key_is_hidden(tmp_path, teacher, monkeypatch, caplog, key, said):
    monkeypatch.setenv("KEY_OF_TESTS", key)
    body = f'{{"error": {{"message": "{"bad " * 72}{said}"}}}}'
    for status, reply in ((400, body), (400, said), (429, body), (200, body[:-3])):
        found = status, {}, reply.encode()
        teacher.reply = lambda question, count, found=found: found
        with pytest.raises(UserError) as error:
            asked(tmp_path, teacher)
        message = str(error.value).lower()
        assert not any(part.lower() in message for part in (key, said, "secret"))
    answer = f'{{"choices": [{{"message": {{"content": "{said}"}}}}]}}'
    teacher.reply = lambda question, count: (200, {}, answer.encode())
    output = asked(fresh(tmp_path), teacher)
    assert {row["answer"] for row in read_table(output / "answers.parquet", ["answer"]).to_pylist()}
    written = b"".join(one.read_bytes() for one in output.rglob("*") if one.is_file())
    assert key.encode().lower() not in written.lower()
    assert key.lower() not in caplog.text.lower()


@each_row(
    "api, said",
    [
        ("http://127.0.0.1:9/v1?sig=S3cretValue&v=1", "no answer after 6 tries"),
        ("http://me:S3cretValue@127.0.0.1:9/v1", "no answer after 6 tries"),
        ("ftp://me:S3cretValue@models.example/v1", "is not an address of http"),
        ("http://.models.example/v1", "correct `api` of the model's entry"),
    ],
)
def test_a_wrong_address_is_one_sentence_without_secrets(tmp_path, teacher, caplog, api, said):
    with pytest.raises(UserError, match=said) as error:
        asked(tmp_path, teacher, api=api)
    assert "S3cret" not in str(error.value) + caplog.text


def test_only_answers_that_are_kept_unchanged_are_not_asked_again(tmp_path, teacher, caplog):
    """A changed answer was once taken, and gave another accuracy."""
    teacher.reply = lambda question, count: (
        right_one(question, count) if len(teacher.asked) <= 10 else (403, {}, b"no credit left")
    )
    with pytest.raises(UserError, match="answers 403.*no credit left"):
        asked(tmp_path, teacher)
    file = tmp_path / "run-1/work/answers.jsonl"
    kept = [json.loads(line) for line in file.read_text().strip().splitlines()]
    kept.sort(key=lambda line: line["answer"])  # first an A, last a B: requests end in any order
    assert kept[0]["answer"] != kept[-1]["answer"]
    kept[0]["answer"], kept[-1]["answer"] = kept[-1]["answer"], kept[0]["answer"]
    kept[1]["answer"][0] = "neither"
    del kept[2]["sha256"]
    lines = "".join(json.dumps(line) + "\n" for line in kept)
    file.write_text(lines + '{"key": "a line that a kill has cu')
    before = Counter(teacher.asked)
    teacher.reply = right_one
    assert accuracy(asked(tmp_path, teacher)) == 1
    again = teacher.asked - before
    assert len(again) == len(examples()) - len(kept) + 4
    assert "answers that have changed since they were kept: 3" in caplog.text
    asked(tmp_path, teacher)
    assert teacher.asked - before == again, "the run is finished"


@each_row(
    "status, headers, body",
    [
        (429, {"Retry-After": "0.05"}, b"slow down"),
        (429, {"Retry-After": "Wed, 21 Oct 99999 07:28:00 GMT"}, b""),
        (503, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, b""),
        (200, {}, b'{"error": {"message": "oops"}, "choices": [{"message": {"content": "B"}}]}'),
        (200, {}, b'{"choices": [{"mess'),
        (200, {}, b"[" * 99_999),
        (200, {"Content-Encoding": "gzip"}, b"no gzip"),
    ],
)
def test_a_server_that_fails_for_a_while_is_asked_again(tmp_path, teacher, status, headers, body):
    teacher.reply = lambda question, count: (
        right_one(question, count) if count > 2 else (status, headers, body)
    )
    assert accuracy(asked(fresh(tmp_path), teacher)) == 1


WAITS = """
{retry-after-ms: '300'} | slow down
{x-ratelimit-reset-requests: 300ms, x-ratelimit-reset-tokens: 1ms} | slow down
{x-ratelimit-reset-requests: 24h, x-ratelimit-reset-tokens: 0m0.3s} | slow down
{} | Please try again in 0.3s. Visit the page
{} | Please retry after 0.3 seconds
{} | {error: {message: over, details: [{'@type': google.rpc.RetryInfo, retryDelay: 0.3s}]}}
{} | {error: {message: over, metadata: {headers: {Retry-After: '0.3'}}}}
"""


@each_row("headers, said", WAITS)
def test_a_server_is_asked_again_after_the_time_that_it_names(tmp_path, teacher, headers, said):
    times = {}

    def reply(question, count):
        times.setdefault(question, []).append(time.monotonic())
        again = "Question 3" not in question or count > 1
        return right_one(question, count) if again else (429, headers, json.dumps(said).encode())

    teacher.reply = reply
    teacher.asked.clear()
    assert accuracy(asked(fresh(tmp_path), teacher)) == 1
    waited = [stamps[1] - stamps[0] for stamps in times.values() if len(stamps) > 1]
    assert len(waited) == 3 and min(waited) > 0.29, waited


@each_row(
    "headers, said",
    [
        ({"Retry-After": "90"}, ""),
        ({"Retry-After": "{date}"}, ""),
        ({"x-ratelimit-reset": "{seconds}"}, ""),
        ({"x-ratelimit-requests-reset": "2199-10-21T07:28:00Z"}, ""),
        ({}, "Please retry in 1m3.2s."),
        ({}, "Quota resets in 1 hour."),
    ],
)
def test_a_wait_that_is_too_long_ends_the_run_at_once(
    tmp_path, teacher, monkeypatch, headers, said
):
    monkeypatch.setattr(server, "LONGEST_WAIT", 60)
    later = int(time.time()) + 999
    date = time.strftime("%a, %d %b %Y %X GMT", time.gmtime(later))
    sent = {name: value.format(date=date, seconds=later) for name, value in headers.items()}
    teacher.reply = lambda question, count: (429, sent, said.encode())
    teacher.asked.clear()
    with pytest.raises(UserError, match="answers 429.*asks to wait"):
        asked(fresh(tmp_path), teacher)
    assert max(teacher.asked.values()) == 1


@each_row("said", [b"slow down", b"Please try again in 1 ms"])
def test_a_quota_by_the_minute_ends_no_run(tmp_path, teacher, monkeypatch, said):
    """Here a minute has 0.4 s and four answers, and the first minute none."""
    monkeypatch.setattr(server, "BACKOFF", 0.004)
    admitted = Counter()
    began = time.monotonic()

    def reply(question, count):
        minute = int((time.monotonic() - began) / 0.4)
        admitted[minute] += 1
        is_open = minute and admitted[minute] <= 4
        return right_one(question, count) if is_open else (429, {}, said)

    teacher.reply = reply
    assert accuracy(asked(fresh(tmp_path), teacher)) == 1
    assert max(teacher.asked.values()) > server.TRIES


@each_row(
    "status, body, said",
    [
        *texts_of(r"""
            401 | who are you | answers 401 .*`key` names
            429 | slow down | no answer after 6 tries .it answers 429: slow down.; answers until then
            200 | { | no answer after 6 tries .its answer is cut off
            429 | {"error": {"message": "no credit", "code": "insufficient_quota"}} | answers 429 .*no credit
            400 | Your credit balance is too low | answers 400 .*; add credit to your account
            400 | The maximum context length is 9 tokens | ; ask for fewer tokens .*fewer `shots`
            200 | {"error": {"message": "no", "type": "invalid_request_error"}} | answers 400 .*no
            403 | organization was flagged for usage policy | answers 403 .*was flagged.*account
            400 | request: extra field safety is not permitted | answers 400 .*extra field
            200 | {"choices": [{"message": null}]} | 6 tries .*no choices.*message
            200 | <html><body>Welcome</body> | answers 200 .*<html><body>Welcome.*correct `api`
            200 | {"error": "Unexpected endpoint or method. (POST /x)"} | answers 200 .*Unexpected endp.*correct `api`
            200 | data: {"choices": [{"delta": {}}]} | answers 200 .*data: .*correct `api`.*`stream`
            405 | {"detail": "Method Not Allowed"} | answers 405 .*\(Method Not Allowed\).*correct `api`
            400 | {"error": {"message": "API key not valid.", "status": "INVALID_ARGUMENT"}} | answers 400 .*`key`
            400 | {"error": {"message": "Only the default (1) value is supported.", "param": "temperature"}} | .*`request: {temperature: null}`
            400 | {"error": {"message": "Unsupported: 'max_tokens'. Use 'max_completion_tokens' instead."}} | `request: {max_tokens: null, max_completion_tokens: 8}`
        """),
        (200, " " * 10_000_000, "has more than 1,000,000 bytes"),
    ],
)
def test_a_server_that_gives_no_answer_ends_in_one_sentence(tmp_path, teacher, status, body, said):
    teacher.reply = lambda question, count: (int(status), {}, body.encode())
    teacher.asked.clear()
    with pytest.raises(UserError, match=said):
        asked(tmp_path, teacher)
    assert not (tmp_path / "run-1/predictions.parquet").exists()
    assert "tries" in said or max(teacher.asked.values()) == 1, "an error that stays is final"


@each_row("ends", ["an error", "Ctrl-C"])
def test_answers_under_way_are_kept_at_the_end(tmp_path, teacher, monkeypatch, ends):
    """One question ends the run while seven wait: three for an answer that comes, four to be asked
    again in five minutes, which holds nothing up.
    """
    monkeypatch.setattr(server, "AT_THE_END", 2)
    tmp_path = fresh(tmp_path)
    teacher.asked.clear()
    # a shell lets what it starts in the background ignore Ctrl-C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def reply(question, count):
        number = len(teacher.asked)
        if number == 8:
            time.sleep(0.3)
            if ends == "an error":
                return 403, {}, b"no"
            os.kill(os.getpid(), signal.SIGINT)
        elif number > 4:
            return 429, {"Retry-After": "299"}, b""
        time.sleep(1.3)
        return "A"

    teacher.reply, began = reply, time.monotonic()
    try:
        with pytest.raises(UserError if ends == "an error" else KeyboardInterrupt):
            asked(tmp_path, teacher)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 60
    kept = (tmp_path / "run-1/work/answers.jsonl").read_text()
    assert kept.count("key") == (4 if ends == "an error" else 5)


def test_a_server_that_drips_is_bounded(tmp_path, teacher, monkeypatch):
    """It sends a byte now and then: in its headers, where no time-out of a socket ends it."""
    monkeypatch.setattr(server, "LONGEST", 0.5)
    monkeypatch.setattr(server, "TRIES", 2)
    peer, began = Server(), time.monotonic()
    peer.script = ["drip headers"] * 99
    with (
        peer.running(),
        pytest.raises(UserError, match="no answer after 2 tries .an answer took longer"),
    ):
        asked(tmp_path, None, api=f"{peer.url}/v1")
    assert time.monotonic() - began < 60


def test_a_server_that_hangs_and_none_at_all_end_in_one_sentence(tmp_path, teacher, monkeypatch):
    monkeypatch.setattr(server, "TIMEOUT", (0.2, 0.2))
    teacher.reply = lambda question, count: time.sleep(1) or "A"
    with pytest.raises(UserError, match="no answer after 2 tries .no byte for 0.2 s"):
        asked(tmp_path, teacher)
    with pytest.raises(UserError, match="no answer after 6 tries"):
        asked(tmp_path, teacher, api="http://127.0.0.1:9/v1")
    monkeypatch.delenv("KEY_OF_TESTS")
    with pytest.raises(UserError, match="the environment variable KEY_OF_TESTS is not set"):
        asked(tmp_path, teacher)
