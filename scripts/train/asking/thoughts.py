"""Take the thought out of what a model wrote: only the text after it is the answer.

Not a program. A model of `thought_end` in models.yaml has a mark of its own; otherwise the marks of
the common families count: tags (DeepSeek-R1, Qwen, Seed), brackets (Magistral), channels (gpt-oss,
Gemma), and the signs of MedGemma, Kimi, Cohere, Apertus and Sky-T1. A server may write < as &lt;,
and may leave out the special tokens of gpt-oss.
"""

import re
import unicodedata

_OPEN, _CLOSE = r"(?:<|&lt;)[\s|\\_]{0,3}", r"[\s|\\_]{0,3}(?:>|&gt;)"
_WORDS = r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|scratchpad|reflection)"
END = re.compile(
    rf"{_OPEN}(?:/\s?(?:\w+[:_])?|end_?(?:of_?)?){_WORDS}{_CLOSE}|\[/(?:think|reasoning)\]|◁/think▷|<unused95>"
    r"|<\|inner_suffix\|>|<\|channel\|>final(?:[^<\n]{0,80})<\|message\|>|<channel\|>|(?-i:assistantfinal)",
    re.I,
)
BEGIN = re.compile(
    rf"{_OPEN}(?:\w+[:_]|beginof|startof)?{_WORDS}(?:\s[^<>\n]{{0,80}})?{_CLOSE}|\[(?:think|reasoning)\]|◁think▷|<unused94>"
    r"|<\|inner_prefix\|>|<\|channel\|>(?:analysis|commentary)|<\|channel>|\A\s*(?-i:(?:analysis|commentary)(?![a-z]))",
    re.I,
)
SHORT = 30  # signs; a line of so many, without `thought_end`, is an answer without a thought


def without_thought(text: str, thought_end: str | None = None) -> str | None:
    """Return the text after the last mark that ends a thought; None if a thought does not end.

    A model of `thought_end` may have been cut before the mark. What it wrote without a mark is an
    answer only if it is one short line.
    """
    if thought_end and thought_end in text:
        return text.rpartition(thought_end)[2]
    text = unicodedata.normalize("NFKC", text).replace("▁", "_")
    thought, *answers = END.split(text)
    answer = answers[-1] if answers else thought
    is_short = len(text.strip()) <= SHORT and "\n" not in text.strip()
    if BEGIN.search(answer) or (thought_end and not answers and not is_short):
        return None
    return answer
