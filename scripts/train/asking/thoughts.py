"""Take the thought out of what a model wrote: only the text after it is the answer.

Not a program. A model of `thought_end` in models.yaml has a mark of its own; otherwise the marks of
the common families count: tags (DeepSeek-R1, Qwen, Seed), brackets (Magistral), channels (gpt-oss,
Gemma), and Kimi's, Cohere's and Sky-T1's signs.
"""

import re

_WORDS = r"(?:\w+[:_])?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|scratchpad|reflection)"
END = re.compile(
    rf"</{_WORDS}\s*>|\[/(?:think|reasoning)\]|◁/think▷|<\|(?:/think|end_of_thought|end_thinking)\|>"
    r"|<\|channel\|>final(?:[^<\n]{0,80})<\|message\|>|<channel\|>",
    re.I,
)
BEGIN = re.compile(
    rf"<{_WORDS}\s*>|\[(?:think|reasoning)\]|◁think▷|<\|(?:think|begin_of_thought|start_thinking)\|>"
    r"|<\|channel\|>(?:analysis|commentary)|<\|channel>",
    re.I,
)
# gpt-oss where a server leaves its special tokens out
BARE_CHANNEL = re.compile(r"\s*analysis.*?assistantfinal(.*)", re.S)


def without_thought(text: str, thought_end: str | None = None) -> str | None:
    """Return the text after the last mark that ends a thought; None if a thought does not end."""
    if thought_end and thought_end in text:
        return text.rpartition(thought_end)[2]
    if found := BARE_CHANNEL.fullmatch(text):
        return found[1]
    answer = END.split(text)[-1]
    return None if BEGIN.search(answer) else answer
