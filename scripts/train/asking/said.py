"""What a server says: its answers, errors, refusals, limits and waiting times. Not a program.

Servers write one thing in many forms. So the words of an error, its codes and its waiting time are
read by the names of their fields, wherever these stand.
"""

import json
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from scripts.data.plain_json import as_json
from scripts.running.program import UserError, cut
from scripts.train.asking.answer import CUT, REFUSED, TOO_LONG, WHOLE, Answer
from scripts.train.asking.thoughts import END

LONGEST_WAIT = 300  # seconds that a busy server may ask for
BUSY = {408, 409, 425, 429, *range(500, 600)} - {501, 505}  # statuses
MAY_REFUSE = {400, 403, 422, 451}  # statuses
NEVER_LONG = {401, 402, 403, 404, 429}  # statuses
MOST_READ = 2000  # signs of an error that are read
# fields, in small letters: an error's words, its codes, how an answer ended, when to ask again
WORDS = re.compile(r"message|msg|detail|description|title|raw|errors?$|^loc$")
CODES = re.compile(r"(?:code|type|status|reasons?)$")
ENDS = re.compile(r"(?:finish|stop|block)_?reason$")
RETRY = re.compile(r"retry[-_]?(?:after|delay|in)")
RESET = re.compile(r"limit.*reset")
THOUGHT = re.compile(r"reason|think|thought")
TEXTS = ("text", "output_text")  # the types of parts that are no thought
# codes and ends, in small letters without other signs
FILTERED = re.compile(
    r"filter|safety|prohibit|refus|sensitive|recitation|blocklist|blocked|flagged|contentpolicy"
    r"|policyviolation|inspection|moderation|guardrail|highrisk"
)
UNFINISHED = re.compile(
    r"length|max\w*token|limit|context|incomplete|error|abort|cancel|timeout|insufficient"
)
WRONG = re.compile(r"invalid|authentication|permission|badrequest|unsupported")
# what servers without such a code say of a refused question; of an account they may say the same
FLAGGED = re.compile(
    r"\b(?:prompt|input|output|question|response|request|message|completion|content|blocked|flagged)s?\b"
    r"[^.\n]{0,80}\b(?:flagged|filter(?:ed|ing|s)?|inappropriate|(?:exists|high) risk|safety|unsafe"
    r"|sensitive|harmful|moderation|(?:content|usage|use|management|filtering) (?:polic(?:y|ies)"
    r"|guidelines?))\b|敏感|不安全",
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
    r"|inputs` tokens|exceeds? the (?:model's )?max\w* (?:number of |input )?tokens|too many tokens"
    r"|reduce the length",
    re.I,
)
LARGER = re.compile(r"request (?:entity )?too large", re.I)  # than a quota, or than any request
# an account without credit, which no waiting changes
SPENT = re.compile(
    r"insufficient[ _](?:credit|balance|fund|quota)|credit balance|available credits|spending limit"
    r"|billing_|exceeded_current_quota|余额",
    re.I,
)
NO_ENDPOINT = re.compile(
    r"(?:unexpected|unknown|invalid|no such) (?:endpoint|route|path|url)", re.I
)
AMOUNT = re.compile(
    r"(\d+(?:\.\d+)?)\s?"
    r"(ms|milliseconds?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)(?![a-z])",
    re.I,
)
AMOUNTS = rf"(?i:(?:{AMOUNT.pattern}[\s,]*(?:and\s)?)+)"
AGAIN = re.compile(rf"\b(?:again|retry\w*|wait|resets?)\b[^\n.;]{{0,30}}?({AMOUNTS})", re.I)
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}  # by the first letter of a unit


class Passing(Exception):
    """A try failed for a reason that may pass. wait: seconds that the server asks for. tries: how
    many tries are allowed; None: as many as usual. is_busy: whether the server cannot answer all
    questions at this time.
    """

    def __init__(
        self, why: str, wait: float | None = None, tries: int | None = None, is_busy: bool = False
    ):
        super().__init__(why)
        self.wait, self.tries, self.is_busy = wait, tries, is_busy


class Final(UserError):
    """An error of the server that another try cannot change; the text is the server's reason.
    about: all texts of the error.
    """

    def __init__(self, reason: str, status: int, about: str):
        super().__init__(cut(reason, 300))
        self.status, self.about = status, about


def whole_signs(text: str) -> str:
    """A text in which half of a surrogate pair is U+FFFD: what a server writes can be kept."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def leaves(found: object) -> list[tuple[str, Any]]:
    """The values in a JSON, each with the name of its field in small letters."""
    opened, values = [("", found)], []
    while opened:
        name, one = opened.pop()
        if isinstance(one, dict):
            opened += [(str(key).lower(), inner) for key, inner in reversed(one.items())]
        elif isinstance(one, list):
            opened += [(name, inner) for inner in reversed(one)]
        elif one is not None:
            values.append((name, one))
    return values


def canonical(code: object) -> str:
    return re.sub("[^a-z]", "", str(code).lower())


# ---- when to ask again


def spoken(text: str) -> float:
    """The seconds of a time such as 1m3.2s or 2 minutes."""
    return sum(
        float(number) * (0.001 if unit.lower()[:3] in ("ms", "mil") else SECONDS[unit[0].lower()])
        for number, unit in AMOUNT.findall(text)
    )


def seconds_in(text: str) -> float:
    """The seconds until the time that a text is: a number, 1m3.2s, a date, or seconds or
    milliseconds since 1970. 0 for any other text.
    """
    if re.fullmatch(AMOUNTS, text):
        return spoken(text)
    with suppress(ValueError):
        number = float(text)
        since = number / 1000 if number > 1e11 else number
        return since - time.time() if since > 1e9 else number
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, TypeError, OverflowError, IndexError, OSError):
            return read(text).timestamp() - time.time()
    return 0


def wait_of(status: int, fields: list[tuple[str, object]], reason: str) -> float | None:
    """The seconds that a busy server asks to wait, in a header or field, or else in its words; None
    if it asks for none. When several quotas begin anew: the longest wait that is not too long.
    """

    def named(pattern: re.Pattern) -> list[float]:
        found = [
            seconds_in(f"{value}ms" if name.endswith("ms") else str(value).strip())
            for name, value in fields
            if pattern.search(name)
        ]
        return [one for one in found if one > 0]

    if asked := named(RETRY):
        return max(asked)
    if words := AGAIN.search(reason):
        return spoken(words[1])
    resets = named(RESET) if status == 429 else []
    short = [one for one in resets if one <= LONGEST_WAIT]
    return max(short, default=min(resets, default=None))


# ---- errors


def choice_in(found: Any) -> dict | None:
    """The first choice of a server's answer, by its index; None if it has none."""
    try:
        return min(found["choices"], key=lambda one: one.get("index") or 0)
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def refuses(status: int, codes: set[str], reason: str) -> bool:
    """Whether a server refuses this question alone, and not the account that asks."""
    may = status < 300 or status in MAY_REFUSE
    if may and any(map(FILTERED.search, codes)):
        return True
    says = FLAGGED.search(reason) or (status < 300 and BLOCKED.match(reason))
    return bool(may and says and not ACCOUNT.search(reason))


def error_status(found: Any, whole: str, codes: list[str], fails: bool, about: str) -> int:
    """The status of an error that is sent as a success. Raises Passing or Final for what is neither
    an error nor an answer.
    """
    if NO_ENDPOINT.search(about):
        raise Final(whole, 200, about)
    if numbers := [code for code in codes if re.fullmatch("[45][0-9]{2}", code)]:
        return int(numbers[0])
    if fails:
        return 400 if any(WRONG.search(canonical(code)) for code in codes) else 500
    if found is None and whole.strip()[:1] in ("", "{", "["):
        raise Passing("its answer is cut off, or no JSON")
    is_empty = isinstance(found, dict) and not {"text", "delta"} & set(choice_in(found) or {})
    if is_empty and ("choices" in found or "completion" in str(found.get("object"))):
        raise Passing(f"its answer has no choices[0] with a message: {cut(whole, 200)}")
    raise Final(whole, 200, about)


def heard(status: int, headers: Mapping[str, str], whole: str, may_refuse: bool) -> dict | Answer:
    """The JSON of a server's answer, or the end of a question that its filter refuses, that is too
    long for the model or that has no answer. Raises Passing or Final for an error, also for one
    that is sent as a success.
    """
    try:
        found = json.loads(whole)
    except (ValueError, RecursionError):
        found = None
    choice, error = choice_in(found), None
    if isinstance(found, dict):
        error = found.get("error") or "error" in (found.get("object"), found.get("type"))
    fails = bool(error or (choice or {}).get("error"))
    is_answer = choice is not None and (isinstance(choice.get("message"), dict) or not may_refuse)
    if status < 300 and is_answer and not fails:
        return found
    fields = leaves(found)
    texts = [value for name, value in fields if isinstance(value, str) and WORDS.search(name)]
    reason = whole_signs("; ".join(dict.fromkeys(texts)) or whole)[:MOST_READ]
    about = " ".join([reason, *(value for _, value in fields if isinstance(value, str))])
    about = whole_signs(about)[:MOST_READ]
    codes = [str(value) for name, value in fields if CODES.search(name)]
    if may_refuse and refuses(status, {*map(canonical, codes), *flags_in(fields)}, reason):
        return Answer(cut(reason, 300), REFUSED)
    if may_refuse and status < 300 and not fails and any(map(UNFINISHED.search, ends_in(fields))):
        return Answer("", CUT)
    if status < 300:
        status = error_status(found, whole, codes, fails, about)
    is_long = LARGER.search(about) or (LONG.search(about) and status not in NEVER_LONG)
    if may_refuse and status >= 400 and is_long:
        return Answer(cut(reason, 300), TOO_LONG)
    if status not in BUSY or SPENT.search(about):
        raise Final(reason, status, about)
    named = [(name.lower(), value) for name, value in headers.items()]
    wait = wait_of(status, [*named, *fields], reason)
    said = f"it answers {status}" + (f": {cut(reason, 300)}" if reason else "")
    asks = f"; it asks to wait {wait:,.0f} s" if wait else ""
    raise Passing(said + asks, wait, is_busy=status in (429, 503, 529))


# ---- answers


def ends_in(fields: Iterable[tuple[str, object]]) -> list[str]:
    """The canonical reasons why an answer ended."""
    return [canonical(value) for name, value in fields if ENDS.search(name)]


def flags_in(fields: Iterable[tuple[str, object]]) -> list[str]:
    """The canonical names of fields that are true, such as those of a filter."""
    return [canonical(name) for name, value in fields if value is True]


def text_of(content: object) -> str:
    """The text of a turn: a text, or the texts of its parts without thoughts. Raises Passing for
    anything else.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        texts = [part.get("text") for part in content if part.get("type", "text") in TEXTS]
        return "".join(text for text in texts if isinstance(text, str))
    raise Passing(f"its answer is {cut(str(content), 100)}, not a text")


def written(usage: dict[str, int]) -> int:
    """The tokens that a model wrote, also where a server counts those of its thought elsewhere."""
    beyond = usage.get("total_tokens", 0) - usage.get("prompt_tokens", 0)
    return max(usage.get("completion_tokens", 0), beyond)


def thought_in(message: dict, parts: list[dict], usage: dict[str, int]) -> str:
    """The thought of a message, without marks of its end; empty if it has none."""
    kept = [value for name, value in message.items() if THOUGHT.search(name.lower())]
    kept += [part for part in parts if part.get("type", "text") not in TEXTS]
    texts = [value for name, value in leaves(kept) if isinstance(value, str) and name != "type"]
    hidden = usage.get("reasoning_tokens") or written(usage) - usage.get("completion_tokens", 0)
    if not texts and hidden > 0:
        return f"({hidden} tokens that the server does not show)"
    return END.sub(" ", " ".join(texts))


def answer_of(found: dict) -> Answer:
    """A server's answer. Where only a thought came, the text is a thought without an end. Raises
    Passing if the answer is no text.
    """
    choice = choice_in(found) or {}
    message = choice["message"]
    content = message.get("content")
    text, parts = whole_signs(text_of(content)), content if isinstance(content, list) else []
    fields = leaves({name: value for name, value in choice.items() if name != "message"})
    usage = {name: one for name, one in leaves(found.get("usage")) if type(one) is int}
    counts, ends = as_json(usage) if usage else "", ends_in(fields)
    refusals = [one["refusal"] for one in (message, *parts) if one.get("refusal")]
    flags = [] if text else [*flags_in(fields), *("refusal" for _ in refusals)]
    if any(map(FILTERED.search, [*ends, *flags])):
        return Answer(text or whole_signs(cut(str(*refusals[:1]), 300)), REFUSED, usage=counts)
    if not text and (thought := thought_in(message, parts, usage)):
        text = f"<think>{whole_signs(thought)}"
    return Answer(text, CUT if any(map(UNFINISHED.search, ends)) else WHOLE, usage=counts)
