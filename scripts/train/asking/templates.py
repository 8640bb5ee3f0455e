"""A chat as the text that a model reads, by the chat template that comes with the model. Not a
program.

A template is code of a stranger: it runs in a sandbox, and its time, memory and text are bounded.
"""

import json
import random
import re
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path

from scripts.fetch.web import NoAnswer, deadline
from scripts.running.program import UserError, cut

MEND = "mend it in tokenizer_config.json, or write `training: {chat_template: none}`"
# what a chat template may take for one chat
TEMPLATE_SECONDS, TEMPLATE_BYTES, TEMPLATE_SIGNS = 10, 1 << 30, 100_000
PART = re.compile(r"""["']type["']\s*:\s*["']text["']""")
SAID = "The second option, certainly."  # a turn of the assistant
# Some templates write today's date. Here today is always the day that Llama 3 has without a clock.
TODAY = date(2024, 7, 26)
CLOCK = re.compile(r"""strftime_now\s*\(\s*(?:format\s*=\s*)?(["'])([^"'\\\n]*)\1\s*,?\s*\)""")


@contextmanager
def bounded(model: Path) -> Iterator[None]:
    """Bound what a chat template, which comes with the model, takes of time and memory, and draw
    its random choices equally each time. Main thread only. Raises UserError for a template that
    fails.
    """
    drawn = random.getstate()
    random.seed(0)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = used + TEMPLATE_BYTES
    allowed = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    try:
        resource.setrlimit(resource.RLIMIT_AS, (min([most, *allowed]), hard))
        with deadline(TEMPLATE_SECONDS):
            yield
    except (UserError, KeyboardInterrupt):
        raise
    except NoAnswer:
        why = f"it takes longer than {TEMPLATE_SECONDS} s"
    except MemoryError:
        why = f"it takes more than {TEMPLATE_BYTES >> 20:,} MB"
    except Exception as error:  # whatever the template's code raises
        why = cut(str(error) or type(error).__name__, 200)
    else:
        return
    finally:
        random.setstate(drawn)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    raise UserError(f"{model}: its chat template fails ({why}); {MEND}") from None


def as_parts(turns: Sequence[dict[str, str]]) -> list[dict]:
    """The turns with their contents as lists of parts, as templates of some models walk through."""
    return [one | {"content": [{"type": "text", "text": one["content"]}]} for one in turns]


def dated(template: str) -> str:
    """A chat template with TODAY in place of the clock, so that a prompt is the same on any day.
    Raises ValueError if the template reads the clock in another way.
    """
    fixed = CLOCK.sub(lambda call: json.dumps(TODAY.strftime(call[2])), template)
    said = re.sub(r"\{#.*?#\}|strftime_now is (not )?defined", "", fixed, flags=re.DOTALL)
    if "strftime_now" in said:
        raise ValueError("it calls strftime_now with a format that it does not spell out")
    return fixed


def templated(
    tokenizer, turns: list[dict[str, str]], model: Path, given: dict | None = None
) -> str:
    """The turns of a chat as one text. given: the template's own variables. Raises UserError for a
    template that fails, or that leaves out what a turn says.
    """

    def written(turns: list[dict]) -> str:
        with bounded(model):
            text = tokenizer.apply_chat_template(
                turns,
                chat_template=dated(tokenizer.get_chat_template(tools=(given or {}).get("tools"))),
                tokenize=False,
                add_generation_prompt=turns[-1]["role"] == "user",
                **(given or {}),
            )
            room = TEMPLATE_SIGNS + sum(len(one["content"]) for one in turns)
            if not isinstance(text, str) or len(text) > room:
                raise ValueError(f"it writes more than {TEMPLATE_SIGNS:,} characters")
        return text

    def lost(text: str) -> list[dict[str, str]]:
        """The turns that a text does not hold."""
        squeezed = "".join(text.split())
        return [one for one in turns if "".join(one["content"].split()) not in squeezed]

    def shows_parts(text: str) -> bool:
        """Whether a text shows a part itself instead of its text: {'type': 'text', …}."""
        others = [plain, *(one["content"] for one in turns)]
        return len(PART.findall(text)) > sum(len(PART.findall(one)) for one in others)

    text = plain = written(turns)
    if lost(plain):
        with suppress(UserError):
            in_parts = written(as_parts(turns))
            text = plain if shows_parts(in_parts) else in_parts
    if missing := lost(text):
        raise UserError(
            f"{model}: its chat template leaves out the turn of the {missing[0]['role']} "
            f"({cut(missing[0]['content'])}); {MEND}"
        )
    return text


def turn_end(tokenizer, model: Path, given: dict | None = None) -> set[int]:
    """The token that a chat template writes after a turn of the assistant, at once or before the
    next turn; empty if it writes only text there, or no such turn.
    """
    user, said = {"role": "user", "content": "Which?"}, {"role": "assistant", "content": SAID}
    for chat in ([user, said], [user, said, user]):
        with suppress(UserError):  # a template may allow a turn of the user alone
            after = templated(tokenizer, chat, model, given).rpartition(SAID)[2].lstrip()
            first = tokenizer(after, add_special_tokens=False)["input_ids"][:1]
            added = set(tokenizer.added_tokens_decoder) - {tokenizer.unk_token_id}
            if found := set(first) & added:
                return found
    return set()
