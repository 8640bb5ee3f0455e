"""What a server says: its answers, its errors and its refusals. Not a program."""

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from typing import Any

from scripts.running.program import UserError, cut
from scripts.train.asking.answer import CUT, REFUSED, TOO_LONG, WHOLE, Answer

BUSY = {408, 409, 425, 429, *range(500, 600)} - {501, 505}
# codes of a 429 that no waiting changes
FINAL = {"insufficient_quota", "billing_not_active", "billing_hard_limit_reached"}
# codes of an error that is sent as a success, and that another try cannot change
WRONG = {"invalid_request_error", "authentication_error", "permission_error", "invalid_api_key"}
# codes of a refused question
REFUSALS = {
    "content_filter",
    "content_policy_violation",
    "ResponsibleAIPolicyViolation",
    "data_inspection_failed",
    "moderation_blocked",
}
# what servers without such a code say of one; of an account they may say the same
FLAGGED = re.compile(
    r"\b(?:prompt|input|output|question|response|request|message|completion|content|blocked|flagged)s?\b"
    r"[^.\n]{0,80}\b(?:flagged|filter(?:ed|ing|s)?|inappropriate|exists risk|safety|moderation"
    r"|(?:content|usage|management|filtering) polic(?:y|ies))\b",
    re.I,
)
BLOCKED = re.compile(r"\W*(?:blocked|refused)\b", re.I)  # all that an error sent as a success says
# what an error of the account, or of the request's settings, says beside these words
ACCOUNT = re.compile(
    r"\b(?:organi[sz]ation|account|project|team|workspace|api.?key|subscription|suspended|banned"
    r"|deactivated|billing|your access|administrator|tier|parameters?|fields?|not permitted"
    r"|(?:not |un)supported|unknown)\b",
    re.I,
)
# what servers say of a question with more tokens than the model reads
LONG = re.compile(
    r"context[ _](?:length|window|size)|(?:prompt|input)s? (?:is|are) too long|input token count"
    r"|inputs` tokens|exceeds? the (?:model's )?max\w* (?:number of |input )?tokens",
    re.I,
)
MAY_BE_LONG = {*range(400, 600)} - {401, 402, 403, 404, 429}  # statuses
MOST_READ = 2000  # signs of an error in which a refusal is looked for
MAY_REFUSE = {400, 403, 422, 451}  # statuses
TEXTS = ("text", "output_text")  # the types of parts that are no thought
FILTERED = {
    *("content_filter", "safety", "prohibited_content", "refusal", "sensitive"),
    *("recitation", "blocklist"),
}
UNFINISHED = {
    *("length", "max_tokens", "max_output_tokens", "model_length"),
    *("error", "abort", "cancelled", "incomplete", "timeout", "token_limit", "max-tokens"),
}


class Passing(Exception):
    """A try failed for a reason that may pass. wait: seconds that the server asks for. tries: how
    many tries are allowed; None: as many as usual.
    """

    def __init__(self, why: str, wait: float | None = None, tries: int | None = None):
        super().__init__(why)
        self.wait, self.tries = wait, tries


class Final(UserError):
    """An error of the server that another try cannot change; the text is the server's reason."""

    def __init__(self, reason: str, status: int):
        super().__init__(reason)
        self.status = status


def parsed(whole: str) -> object:
    """Return the JSON of an answer. Raises Passing if the answer is not JSON."""
    try:
        return json.loads(whole)
    except (ValueError, RecursionError):
        raise Passing("its answer is cut off, or no JSON") from None


def whole_signs(text: str) -> str:
    """A text in which half of a surrogate pair is U+FFFD: what a server writes can be kept."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def error_in(found: object) -> dict:
    """The error of an answer, in the form of OpenAI, FastAPI or plain text; empty for none."""
    found = found[0] if isinstance(found, list) and found else found
    if not isinstance(found, dict):
        return {}
    error = found.get("error") or (not found.get("choices") and found.get("detail")) or {}
    if isinstance(error, list):
        error = error[0] if error else {}
    return error if isinstance(error, dict) else {"message": str(error)}


def seconds_of(headers: Mapping[str, str]) -> float | None:
    """The seconds that a busy server asks to wait (Retry-After, a number or a date); None if it
    asks for none.
    """
    asked = headers.get("Retry-After", "")
    try:
        return max(0.0, float(asked))
    except ValueError:
        date = email.utils.parsedate_tz(asked)
    try:
        return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())
    except (ValueError, OverflowError):
        return math.inf


def is_refusal(status: int, codes: set[str], reason: str) -> bool:
    """Whether an error refuses this question alone, and not the account that asks."""
    if codes & REFUSALS:
        return True
    says = FLAGGED.search(reason) or (status < 300 and BLOCKED.match(reason))
    return bool((status < 300 or status in MAY_REFUSE) and says and not ACCOUNT.search(reason))


def check(status: int, headers: Mapping[str, str], whole: str, may_refuse: bool) -> Answer | None:
    """The end of a question that the server's filter refuses, or that is too long for the model;
    None for an answer. Raises Passing or Final for another error, also for one that is sent as a
    success.
    """
    try:
        found = error_in(json.loads(whole))
    except (ValueError, RecursionError):
        found = {}
    if status < 300 and not found:
        return None
    said = found.get("message") or found.get("msg") or whole
    reason, inner = whole_signs(str(said)), found.get("innererror")
    codes = {str(found.get(key)) for key in ("code", "type")}
    codes |= {str(inner.get("code"))} if isinstance(inner, dict) else set()
    if may_refuse and is_refusal(status, codes, reason[:MOST_READ]):
        return Answer("", REFUSED)
    if status < 300:
        code = re.fullmatch("[45][0-9]{2}", "400" if codes & WRONG else str(found.get("code")))
        status = int(code[0]) if code else 500
    reason = cut(reason, 300)
    if may_refuse and status in MAY_BE_LONG and LONG.search(reason):
        return Answer(reason, TOO_LONG)
    if status in BUSY and not codes & FINAL:
        said = f"it answers {status}: {reason}" if reason else f"it answers {status}"
        raise Passing(said, seconds_of(headers))
    raise Final(reason, status)


def text_of(content: object) -> str:
    """The text of a turn: a text, or the texts of its parts without thoughts.

    Raises Passing for anything else.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        texts = [part.get("text") for part in content if part.get("type", "text") in TEXTS]
        return "".join(text for text in texts if isinstance(text, str))
    raise Passing(f"its answer is {cut(str(content), 100)}, not a text")


def first_choice(answer: Any) -> dict:
    """The first choice of a server's answer, by its index; of a question that Gemini blocks, a
    refusal. Raises Passing if there is none, or if it holds an error.
    """
    if isinstance(answer, dict) and not answer.get("choices"):
        feedback = answer.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            return {"message": {}, "finish_reason": "content_filter"}
    try:
        choice = min(answer["choices"], key=lambda one: one.get("index") or 0)
        error = choice.get("error")
    except (KeyError, ValueError, TypeError, AttributeError):
        raise Passing(f"its answer has no choices[0]: {cut(str(answer), 200)}") from None
    if error:
        raise Passing(f"its answer holds an error: {cut(str(error), 200)}")
    return choice


def answer_of(answer: object) -> tuple[str, str]:
    """The text of a server's answer, and how it ended. `reasoning_content` is a thought, no answer.

    Raises Passing if the answer has no text.
    """
    choice = first_choice(answer)
    message, ended = choice.get("message"), str(choice.get("finish_reason")).lower()
    ended = ended.partition(":")[0]  # content_filter: PROHIBITED_CONTENT
    if not isinstance(message, dict):
        raise Passing(f"its answer has no choices[0].message: {cut(str(answer), 200)}")
    content = message.get("content")
    text, parts = whole_signs(text_of(content)), content if isinstance(content, list) else []
    refuses = message.get("refusal") or any(part.get("type") == "refusal" for part in parts)
    if (refuses and not text) or ended in FILTERED:
        return text, REFUSED
    return text, CUT if ended in UNFINISHED else WHOLE
