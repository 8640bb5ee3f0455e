"""Which options an answer in words names, by letter or by text. Not a program; without torch."""

import re
import unicodedata
from collections.abc import Sequence
from string import ascii_uppercase as LETTERS

_SIGNS = " \t\r\n.,;:!?\"'*`“”‘’"
_DASH = r"\s+[-–—]\s|[–—]"  # not "A-level"
# "The answer is", "Answer:", `"answer": `: the letters follow such a phrase; the last phrase counts
CONCLUSION = re.compile(r"\banswers?\b[\"”*]*\s*(?:is|are|:)+", re.I)
# A letter alone, before a sign, the end, a verb or another letter: not "A week", not "5 A.M."
LETTER = re.compile(
    r"(?<![A-Za-z0-9_'’.])([A-Z])(?!\.?\s?[Mm]\b)"
    rf"(?=\s*(?:[.):,、;*\]}}/\"”&+|(]|\n|$|(?:and|or|is|are|because|since)\b)|{_DASH}|\s+[A-Z]\b)"
)
# a letter at an answer's beginning
FIRST = re.compile(rf"\W*([A-Z])(?:\s*(?:[.):*\]}}]|\n|$)|{_DASH})")
LISTED = re.compile(r"^\W*([A-Z])[.):]", re.M)  # a list of options, said again
NAMED = re.compile(r"\b(?:option|letter|choice|answer)s?\s+\(?([A-Z])\b", re.I)
RUN = re.compile(r"\W*([A-Z]{2,})\W*")  # "AC", where several are asked for
NONE = re.compile(r"\W*(?:none|neither)\b", re.I)
# a line of letters alone, after prose
ONLY_LETTERS = re.compile(r"\W*[A-Z](?:\W+(?:and\W+)?[A-Z])*\W*")
# letters that the answer excludes: "not A", "A is too long"; in a list "A: too long"
_NOT = r"(?i:not|too|wrong|incorrect|false|implausible|impossible|unlikely)\b"
EXCLUDED = re.compile(
    r"\b(?i:not|isn['’]t|nor|rather than|instead of)\s+(?i:option\s+|choice\s+)?\(?([A-Z])\b"
    rf"|\b([A-Z])\b[\"”)*\]]*\s+(?i:(?:is|are|seems?|looks?|sounds?)(?:\s+\w+ly)?)\s+{_NOT}"
    r"|\b([A-Z])\b[\"”)*\]]*\s+(?i:isn['’]t|aren['’]t|cannot|can['’]t|doesn['’]t)\b"
)
LIST_OF_VERDICTS = re.compile(rf"^\W*([A-Z])\s*[.):–—-]\s*((?:{_NOT}|(?i:no|untrue)\b).*)$", re.M)
QUOTED = re.compile(r"['’]([A-Z])['’]")
BOXED = re.compile(r"\\boxed\s*\{([^{}]*)\}")
LATEX = re.compile(r"\\(?:text\w*|math\w+|mbox|fbox|rm|bf)\s*\{([^{}]*)\}")
MATHS = re.compile(r"\$+\s*([^$\n]{1,20}?)\s*\$+|\\[(\[]\s*(.{1,20}?)\s*\\[)\]]")
TAGGED = re.compile(
    r"<(final_?answer|answer|choice|option|letter|response|result|output)>(.*?)(?:</\1>|$)",
    re.I | re.S,
)
# tokens that a server left in the text: <|im_end|>, </s>, <end_of_turn>; bytes that are no text
SPECIAL = re.compile(
    r"\ufffd|<\|[^|<>\n]{1,40}\|>|</?s>|<(?:end_of_turn|start_of_turn|eos|bos|pad)>"
)


def bare(text: str) -> str:
    """A text without case, and without signs around it."""
    return unicodedata.normalize("NFKC", text).strip(_SIGNS).lower()


def plain(text: str, several: bool) -> str:
    """An answer without LaTeX, XML, full-width signs and special tokens. Where a box or a tag holds
    the answer, only what it holds.
    """
    text = SPECIAL.sub("", unicodedata.normalize("NFKC", text))
    text = QUOTED.sub(r"\1", LATEX.sub(r"\1", text))
    for held in (BOXED.findall(text), [found[2] for found in TAGGED.finditer(text)]):
        if any(map(str.strip, held)):
            text = ", ".join(held) if several else held[-1]
    return MATHS.sub(lambda found: found[1] or found[2], text)


def begins_with(text: str, options: dict[str, int]) -> int | None:
    """The option with whose text and a sign an answer begins, if it says no other option's text."""
    text = bare(text)
    for option, place in options.items():
        if re.match(rf"{re.escape(option)}(?:[.,;:!\n]|\s+[-–—]\s|$)", text):
            rest = text[len(option) :]
            others = (other for other in options if other != option)
            if not any(re.search(rf"\b{re.escape(other)}\b", rest) for other in others):
                return place
    return None


def by_words(answer: str, said: str, options: dict[str, int], several: bool) -> set[int] | None:
    """The options that an answer without letters names by their texts."""
    if several:
        pieces = [bare(one) for one in re.split(r"\n|,|;|\band\b", answer) if bare(one)]
        known = pieces and all(one in options for one in pieces)
        return {options[one] for one in pieces} if known else None
    for text in (said, answer.strip().splitlines()[-1] if answer.strip() else ""):
        if bare(text) in options:
            return {options[bare(text)]}
    found = begins_with(answer, options)
    return None if found is None else {found}


def letters_in(said: str, several: bool, options: dict[str, int]) -> set[str] | None:
    """The letters that a text names; None if it contradicts itself."""
    excluded = {letter for found in EXCLUDED.findall(said) for letter in found if letter}
    excluded |= {
        letter
        for letter, verdict in LIST_OF_VERDICTS.findall(said)
        if options.get(bare(verdict)) != LETTERS.index(letter)
    }
    letters = {*LETTER.findall(said), *filter(str.isupper, NAMED.findall(said))}
    if several:
        if not letters and (run := RUN.fullmatch(said)):
            return set(run[1])
        return letters - excluded or (None if letters else letters)
    if (first := FIRST.match(said)) and len(set(LISTED.findall(said))) < 2:
        place, rest = LETTERS.index(first[1]), said[first.end() :]
        other = options.get(bare(rest), begins_with(rest, options))
        return {first[1]} if other in (None, place) else None
    return None if letters and letters <= excluded else letters


def named_in(answer: str, options: Sequence[str], several: bool) -> set[int] | None:
    """The options that an answer names, by letter or by their whole text; None if the answer
    cannot be read. It then names no option, a letter without an option, several options where one
    is asked for, or a letter with the text of another option.
    """
    by_text = {bare(text): place for place, text in enumerate(options) if bare(text)}
    if bare(answer) in by_text:
        return {by_text[bare(answer)]}
    answer = plain(answer, several)
    if bare(answer) in by_text:
        return {by_text[bare(answer)]}
    if len(alone := bare(answer).strip("()[]{}<>_~#| ")) == 1 and alone.isascii():
        answer = alone.upper()
    lines = [line for line in answer.splitlines() if line.strip()]
    conclusions = CONCLUSION.split(answer)
    said = conclusions[-1] if conclusions[-1].strip(" .:*") else answer
    if lines[1:] and not FIRST.match(lines[0]) and ONLY_LETTERS.fullmatch(lines[-1]):
        said = lines[-1]
    said = re.sub(r"(?<!\w)\(?([a-z])\)", lambda found: f"{found[1].upper()})", said)
    said = said.upper() if re.fullmatch(r"\W*[a-z]\W*", said) else said
    letters = letters_in(said, several, by_text)
    if letters is None:
        return None
    if not letters:
        return set() if several and NONE.match(said) else by_words(answer, said, by_text, several)
    if (len(letters) > 1 and not several) or max(letters) > LETTERS[len(options) - 1]:
        return None
    return {LETTERS.index(letter) for letter in letters}


def is_restated(answer: str, options: Sequence[str]) -> bool:
    """Whether an answer is a letter alone, or a letter and the beginning of its option's text."""
    first = FIRST.match(answer)
    if not first or first[1] > LETTERS[len(options) - 1]:
        return False
    return bare(options[LETTERS.index(first[1])]).startswith(bare(answer[first.end() :]))
