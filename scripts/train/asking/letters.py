"""Which options an answer in words names. Not a program; without torch.

A question asks for a last line `Answer: B`. Two things are read: this line, and an answer that is
nothing but options. An option is its letter, its letter with its text, or its text. Brackets,
stars, LaTeX, tags and full-width signs do not count. Any other answer is unread.
"""

import re
import unicodedata
from collections.abc import Sequence
from string import ascii_uppercase as LETTERS

LINE = re.compile(
    r"^[>*_#•{\[(\"'“ \t-]{0,9}(?:the |my )?(?:(?:final|correct|best) )?answers?\b(?: is| are)?",
    re.I | re.M,
)
MARKUP = re.compile(r"</?[\w|][^<>\n]{0,40}>|\\[a-z]+|\\[()\[\]]")  # <b>, </s>, <|end|>, \boxed, \[
AROUND = re.compile(r"[\s()\[\]{}【】「」*_`$#\"'“”„‘’«»\u200b\ufe0f\ufffd]+")
BETWEEN = re.compile(r"[ ,;.&+、。]*(?:and)? *")  # two options
BESIDE = re.compile(r"[ .:–—-]*")  # a letter and its text
RUN = re.compile(r"[A-Z]{2,26}")  # AC
BEGIN, NONE = "Answer:", "none"  # of the line that a question asks for


def without_markup(text: str) -> str:
    return MARKUP.sub(" ", unicodedata.normalize("NFKC", text))


def bare(text: str) -> str:
    """Return a text without the signs around its words."""
    return AROUND.sub(" ", text).strip(" .,;:。")


def listed(text: str, options: Sequence[str], several: bool) -> set[int] | None:
    """Return the options of a text that is nothing but options; None for any other text. several:
    whether a question may have several right options, or none.
    """
    said, texts = bare(text), [bare(without_markup(one)).lower() for one in options]
    letters = dict(zip(LETTERS.lower(), range(len(options))))
    if any(letters.get(one, place) != place for place, one in enumerate(texts)):
        return None  # an option is the letter of another
    if several and said.lower() == NONE:
        return None if NONE in texts else set()
    if RUN.fullmatch(said) and said.lower() not in (*texts, NONE, "no"):
        said = ", ".join(said)
    said = said.lower()
    names = sorted({*letters, *texts} - {""}, key=len, reverse=True)
    parts = re.split(rf"(?<!\w)(?<!\d[.,])({'|'.join(map(re.escape, names))})(?!\w|[.,]\d)", said)
    named: list[int] = []
    are_letters = [name in letters for name in parts[1::2]]
    for place, (gap, name) in enumerate(zip(parts[::2], parts[1::2])):
        if place and are_letters[place - 1] and name == texts[named[-1]] and BESIDE.fullmatch(gap):
            continue
        if not BETWEEN.fullmatch(gap):
            return None
        if name in letters:
            named.append(letters[name])
        elif any(are_letters) or texts.count(name) > 1:
            return None
        else:
            named.append(texts.index(name))
    fits = bool(named) if several else len({*named}) == 1
    return {*named} if fits and not parts[-1] else None


def named_in(answer: str, options: Sequence[str], several: bool) -> set[int] | None:
    """Return the options that an answer names; None if it cannot be read. Lines `Answer: …` before
    the last one must not name others.
    """
    whole, *lines = LINE.split(without_markup(answer))
    if not lines:
        return listed(whole, options, several)
    *before, last = lines
    named = listed(last, options, several)
    others = (listed(line.partition("\n")[0], options, several) for line in before)
    return named if all(one in (None, named) for one in others) else None
