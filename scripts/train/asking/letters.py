"""Which options an answer in words names, by letter or by text. Not a program; without torch.

spelling.py writes the options as signs. Each word of a clause is one code (words.py); RULES says
what a clause of these codes says. It names an option only if it affirms it: its words are known,
none denies or hedges, and nothing but a reason follows. "The answer is B" outweighs a letter alone,
and a letter alone outweighs a verdict ("B fits").
Clauses that contradict each other leave an answer unread, unless the later corrects the earlier.
"""

import re
from collections.abc import Iterator, Sequence
from string import ascii_uppercase as LETTERS
from typing import NamedTuple

from scripts.train.asking.spelling import (
    GAP,
    LETTER,
    MOST_OF_LABEL,
    TEXT,
    L,
    T,
    bare,
    others_named,
    signed,
)
from scripts.train.asking.words import code_of

CLAUSE = re.compile(
    rf",(?! ?(?:and )?{L})|(?<!{L}),|\band (?=not\b)|\s[-–—]\s|[–—]|\s\("
    r"|\b(?:which|but|while|whereas|although|though|however|mais|sondern|aber|sino|pero)\b",
    re.I,
)
ENDS = re.compile(r"([.;!?])(?=\s|$)|。|, ?(?=(?:so|hence|thus|therefore)\b)")  # of a sentence
REASON = re.compile(
    r"\b(?:because|since|given that|weil|denn|car"
    r"|as (?:it|this|that|the[ry]\w*|he|she|an?|most)|followed by)\b|因为|, as\b",
    re.I,
)
CONDITION = re.compile(
    r"\b(?:if|unless|provided (?:that|he|she|it|they|the)|in that case|assuming|suppose|otherwise"
    r"|wenn|falls)\b|如果",
    re.I,
)
CORRECTION = re.compile(
    rf"(?:^|[.!?,;:\n–—-]) ?(?:(?:but|oh|no|{T}),? ){{0,2}}(?:wait|hold on|actually|correction"
    r"|sorry|scratch that|then again|on (?:second thoughts?|reflection)|let me re\w+|I mean"
    r"|I was wrong|my mistake|oops|moment|warte|attends)\b",
    re.I | re.M,
)
# words of an answer that asks for a text, or lacks one: its "Yes" is no label
REQUEST = re.compile(
    r"\b(?:please (?:provide|give|share|send|paste|tell)|I understand|of course"
    r"|(?:enough|more|sufficient) (?:information|context|details?)|what is (?:the|your) \w+\?)",
    re.I,
)
# "so A and D": what stands before it is weighed; "B fits at first" and "A is better" are, too
CONCLUSION = re.compile(r"\b(?:so|hence|thus|therefore|in conclusion|overall)\b", re.I)
WEIGHED = re.compile(
    r"\b(?:better|best|(?:most|more) \w+|at first|first (?:glance|sight)|initially)\b", re.I
)
# an answer that ends where more has to follow
BROKEN = re.compile(r"(?:[\w*)] ?[,(/&+=≠–—-]|\w [<>]|\b(?:and|or))$")
TOKEN = re.compile(rf"{T}|{L}|\w+|!(?=[\w\ue000-\ue119])|[^\s.,;!?()'…–—☀-➿🌀-🫿-]")

DENY = set("nwe0")
PASSED = DENY | set("?~p")  # with one of these a clause that is not understood is passed over
SET = "[LT](?:(?:ca)?[ax]*[LT])*"  # "A", "A and option C", "A. two hours and C. a day"
TAIL = "[akxcifA]*(?:s[kxg]*)?(?:[oc](?!i?u$)[^nwe0mLT]*)?"  # what may follow an answer
FOREIGN = re.compile("[ak]*s[kxgaAfo]*[^kxgaAfo].*")  # "according to some", "in the last question"
# "the answer is", "the two options that fit the gap are", "the best ending to this scene is"
HEAD = (
    "(?:[akxcifAsg]*|o.*[akxcif])A[ic]|[akxifAsg]*f[akxifAsg]*[ic]"
    "|[akxAg]*f[akxfAg]*[Ax][akxfAgu]*[ic]"
)
UNKNOWN = re.compile("i?u")  # "which is absurd": a verdict that is not understood
# "it is not plausible", and not "the right answer is B"
VERDICT = re.compile(f"(?:{SET}c+(?=k))?(?![ic])[akxciAp]*(n?)[akx]*([fw])(?!x|c$|A[ic]|.*[LT])")
# a verdict that names no option: "the proposed answer does not fit into the gap", "nope"
SAYS = re.compile("[akxciAp]*(n?)[akxi]*(f[cf]?|w)[akxi]*(?:(?<=k)g+)?|(n)")
# what a clause says, by its codes (? after a question, ~ of a reason or a condition): its weight,
# and + affirms, - denies, ? doubts, 0 none of the options. The first rule that fits counts.
RULES = [
    (re.compile(pattern), weight, says)
    for pattern, weight, says in (
        # a letter with the text of another option; "A, B no"
        (".*L.*T.*|.*T.*L.*|.*[LT][LT][nwe0f].*", 1, "?"),
        (r"m.*[LT].*\?", 1, "?"),  # "or C?"
        (r".*[?~]|.*[nwe0].*[nwe0].*|.*[LT].*p.*|.*p.*[LT].*", 1, ""),
        (f"(?:{HEAD})[akxcifA]*(?:{SET})?{TAIL}", 3, "+"),
        (f"[ac]*{SET}c*", 2, "+"),
        ("[^umLT]*0[^umLT]*", 3, "0"),
        ("[^usog]*m[^usog]*", 1, "?"),
        (f"[^usogmLTnwe0]*(?:{SET}[^usogmLTnwe0]*|f[^umLTnwe0]*)", 1, "+"),
        ("[ak]*gT[ak]*", 1, "+"),  # "the hypothesis must be true"
        (f"(?=.*[nwe0])[^uLT]*(?:{SET})?[^uLT]*", 1, "-"),
        (f"[akxcifA]*{SET}[akxciA]*f[^nwe0mLT]*", 1, "+"),
        (f"[akxciA]*{SET}[akxciA]*(?:[we][^mLT]*|n[^mLT]*)", 1, "-"),
        (".*", 1, ""),
    )
]
FITS = (
    "(?:plausible|possible|likely|probable|natural|logical|coherent|reasonable|sensible|suitable"
    "|fitting|appropriate|acceptable|realistic)"
)
# in a question that asks for one option: "B is more likely", "the best is B"
BEST = re.compile(
    rf"({L}|{T}) (?:is|fits|seems|sounds) (?:the )?(?:best|better|(?:most|more) {FITS})"
    r"(?: (?:answer|option|choice|continuation|ending|match|fit))?\b(?! \w)"
    rf"|\bthe best (?:option |choice |one )?is ({L})"
)
# of a proposed answer that says no, which is an option, too: "No is a plausible answer"
PROPOSED = re.compile(
    rf"({T}) (?:(?:is|seems|sounds) (?:(the|more|most) |an? |quite |very )*{FITS}"
    r"|(?:fits|works|makes sense)(?! best| better| more))\b"
)
SUBJECT = re.compile(
    r"(?:(?:and|next|so|then),? )?(?:(?:the|an?|his|her|one) (?:\w{2,} )?|(?:he|she|they|it) )"
)
QUOTED = re.compile(r"[\"“]([^\"“”\n]{1,80})[\"”]")
# before other words than verbs, "A" at the beginning of a clause is an article
ARTICLE = re.compile("(^\\W*|: )\ue100 ([a-z]+) ?([a-z]*)")
VERB = re.compile(r"\w+(?:s|ed|ly)|even|but|because|since|over|though|although|while|than|as|then")
LONGEST = 100  # words of a clause that is understood
DENIALS = {"no", "none", "nothing", "neither"}  # may be options, and may deny the others


class Clause(NamedTuple):
    """named: the options that it names. weight, says: of RULES. codes: of its words. stops: whether
    its sentence ends with a full stop.
    """

    named: frozenset[int]
    weight: int
    says: str
    codes: str
    stops: bool = False


NOTHING = Clause(frozenset(), 1, "", "")


def clauses_of(text: str) -> list[Clause]:
    """The clauses of an answer. Questions, conditions and reasons affirm nothing."""
    rows: list[Clause] = []
    for sentence in ENDS.sub("\\1\n", text).splitlines():
        first, *reasons = REASON.split(sentence)
        if reasons and not first.strip(" ,"):  # "Since it is late, B"
            before, comma, rest = reasons.pop(0).partition(",")
            first, reasons = rest, [before, *reasons]
        for number, part in enumerate([first, *reasons]):
            doubt = "~" if number or CONDITION.search(part) else ""
            doubt = "?" if sentence.endswith("?") else doubt
            last = NOTHING
            for clause in filter(str.strip, CLAUSE.split(part)):
                foreign = FOREIGN.fullmatch(last.codes) or re.search(r"\bwould\b", clause, re.I)
                one = judged(clause, "~" if foreign else doubt)
                # "A and C, though C is a stretch", "A, which is absurd"
                again = not one.says and one.named & last.named and not {*one.codes} & PASSED
                if last.named and last.says == "+" and (again or UNKNOWN.fullmatch(one.codes)):
                    one = one._replace(says="?")
                if one.says == "-" and not one.named and last.named and not last.says:
                    rows[-1] = last._replace(says="-")  # "A is a year, which does not fit"
                last = one._replace(stops=sentence.endswith("."))
                rows.append(last)
    return rows


def without_article(found: re.Match) -> str:
    """The words behind an "A" that is an article, and else the letter and the words."""
    codes = code_of(found[2]) + code_of(found[3])
    is_article = (codes[0] in "ug" and not VERB.fullmatch(found[2])) or codes in ("fA", "fx")
    return found[1] + found[2] + " " + found[3] if is_article else found[0]


def judged(clause: str, doubt: str) -> Clause:
    clause = ARTICLE.sub(without_article, clause)
    tokens = TOKEN.findall(clause.lower())
    signs = [ord(one) for one in tokens if TEXT <= ord(one[0]) < LETTER + 26]
    codes = "".join(map(code_of, tokens)) + doubt
    codes = codes if len(codes) <= LONGEST else "uL"
    named = frozenset((one - TEXT) % (LETTER - TEXT) for one in signs)
    weight, says = next(rule[1:] for rule in RULES if rule[0].fullmatch(codes))
    return Clause(named, weight, says, codes)


def joined(clauses: list[Clause], negative: set[int]) -> Iterator[Clause]:
    """Letters alone in neighbouring clauses, as one. After a colon they are what it announces. A
    clause that denies without a name denies what the one before names, if that is not `negative`.
    """
    rows: list[Clause] = []
    for one in clauses:
        if rows and one.weight == rows[-1].weight == 2 and one.codes[:1] == rows[-1].codes[:1]:
            one = one._replace(named=rows.pop().named | one.named)
        rows.append(one)
    last = NOTHING
    asked = False  # whether a question names an option, as in "Is A right? No."
    for before, one in zip([NOTHING, *rows], rows):
        # a heading such as "Answer:", "Wrong" or "Not plausible"
        heads = last.codes.endswith("c") and (last.says or set(last.codes) & DENY)
        announces = heads or (last.says == "-" and "i" not in last.codes)
        if one.weight == 2 and announces and not last.named and not (negative and last.stops):
            one = one._replace(weight=last.weight, says=last.says)
        elif one.says == "-" and not one.named and not re.search("c$|p", one.codes):
            one = one._replace(named=before.named - negative)
        elif one.codes == "T" and asked:
            one = one._replace(says="")
        asked, last = asked or ("?" in one.codes and bool(one.named)), one
        yield one


def decided(rows: list[Clause], count: int, several: bool) -> set[int] | None:
    """The options that clauses name together; None if they contradict each other, or name none."""
    affirmed = [one for one in rows if one.says == "+" and one.named]
    denied = {option for one in rows if one.says == "-" for option in one.named}
    if not affirmed:
        none = any(one.says == "0" for one in rows) or len(denied) == count
        other = any("e" in one.codes or (one.named and one.says != "-") for one in rows)
        return set() if several and none and not other else None
    weight = max(one.weight for one in affirmed)
    best = [one for one in affirmed if one.weight == weight]
    named = {option for one in best for option in one.named}
    begins = rows.index(best[0])
    for at, one in enumerate(rows):
        if weight == 3 and one.weight == 1 and at < begins:
            continue  # what is weighed before a conclusion is no contradiction
        doubts = several and not one.says and "L" in one.codes
        if (
            one.says == "?"
            or (one.says == "0" and several)
            or (at > begins and not one.says and not set(one.codes) & PASSED and one.named - named)
            or (one.says == "+" and not one.named <= named)
            or (one.says == "-" and one.named & named)
            or (doubts and (weight == 1 or (weight == 2 and set(one.codes) <= set("acL?~"))))
        ):
            return None
    alike = all(one.named == named for one in best) or (several and weight == 1)
    by_letter = {option for one in affirmed if "L" in one.codes for option in one.named}
    mixed = several and by_letter and not named <= by_letter
    fits = max(named) < count and (several or len(named) == 1)
    return named if alike and fits and not mixed else None


def denials_as_letters(answer: str, texts: list[str]) -> str:
    """An answer in which an option that is a word of denial ("no", "none") is its letter if it is
    quoted or beside its letter. "E: no" may be a verdict. Elsewhere the word denies.
    """
    for letter, text in zip(LETTERS, texts):
        if text in DENIALS:
            word, ends = f"(?i:{text})", r"(?=\s*(?:[^\w\s]|$))"
            answer = re.sub(rf"(?m)\b{letter}(?:[.)]| \()\W{{0,5}}{word}{ends}", letter, answer)
            answer = re.sub(
                rf"(?m)\b{letter}\W{{0,5}}[:=–—-]\W{{0,5}}{word}{ends}", f"{letter} unclear", answer
            )
            answer = re.sub(rf"\b{word} \({letter}\)", letter, answer)
            answer = re.sub(rf"[\"“„«]{word}[.,]?[\"“”»]", f" option {letter} ", answer)
    return answer


def compared(text: str, count: int, negative: set[int]) -> str:
    """An answer in which the option that is named best is the answer, and so is the label that a
    proposed "no" stands for. negative: the labels that say no.
    """

    def proposed(found: re.Match) -> str:
        at = ord(found[1]) - TEXT
        if at not in negative:
            return found[0]
        return " unclear " if found[2] or count > 2 else chr(TEXT + 1 - at) + found[0][1:]

    text = re.sub(rf"({L}) (\w+) less ({FITS}) than ({L})", r"\4 \2 more \3 than \1", text)
    text = re.sub(r"\b(more|better)\b([^.,;\n]{0,40}) than\b", r"\1\2, not", text)
    text = PROPOSED.sub(proposed, text)
    return BEST.sub(lambda found: f"the answer is {found[1] or found[2]}", text)


def of_verdict(clauses: list[Clause], negative: set[int]) -> set[int] | None:
    """Of two labels, the one that a verdict without a name says: "It does not fit."."""
    if not clauses or any(one.named or one.says in ("?", "0") for one in clauses):
        return None
    clauses = clauses[clauses[0].codes == "k" :]  # "Sure, it fits"
    said = [SAYS.fullmatch(one.codes) for one in clauses]
    if not said or not said[0] or (clauses[0].codes == "f" and said[1:2] == [None]):  # "Right, …"
        return None
    if any(one and one[1] and one[2] == "w" for one in said):  # "it can not be ruled out"
        return None
    denies = {bool(one[1] or one[3]) != (one[2] == "w") for one in said if one}
    others = "".join(one.codes for one in clauses[1:] if "~" not in one.codes)
    if len(denies) > 1 or (denies == {False} and {*others} & {*DENY, "m"}):
        return None
    return negative if True in denies else {0, 1} - negative


def whole_option(whole: str, texts: list[str], hedged: set[int]) -> set[int]:
    """The options that a whole answer is: "The man opens the door" for an option that lacks its
    subject, "false" for the label that alone holds the word, and "maybe" for the one that hedges.
    """
    ends = {at for at, one in enumerate(texts) if whole.endswith(f" {one}")}
    if len(ends) == 1 and SUBJECT.fullmatch(whole.removesuffix(texts[min(ends)])):
        return ends
    labels = [words_of(one) for one in texts]
    if code_of(whole) == "m" and all(labels):
        return hedged
    holds = {at for at, one in enumerate(labels) if whole in one} - hedged
    return holds if whole[1:] or whole.isdigit() else set()


def words_of(label: str) -> list[str]:
    """The words of a label. A longer text is no label: the "out" of an ending denies nothing."""
    words = re.findall(r"\w+", label)
    return words if len(words) <= MOST_OF_LABEL else []


def named_in(answer: str, options: Sequence[str], several: bool) -> set[int] | None:
    """The options that an answer names; None if it cannot be read."""
    texts, whole = [bare(one) for one in options], bare(answer)
    own = dict(zip(LETTERS.lower(), texts))
    if whole.isalnum() and "?" in answer:
        return None
    if BROKEN.search(answer.rstrip()) or any(one in own and own[one] != one for one in texts):
        return None
    if whole and whole in texts:
        return {texts.index(whole)}
    if several:
        return of_several(answer, texts)
    codes = [{*map(code_of, words_of(one))} for one in texts]
    denying = {at for at, one in enumerate(codes) if one & DENY}
    hedged = {at for at, one in enumerate(codes) if "m" in one}
    if len(alone := whole_option(whole, texts, hedged)) == 1:
        return alone
    if len(texts) == 2 and denying - hedged:  # a quoted text is the proposed answer
        answer = QUOTED.sub(lambda one: one[0] if bare(one[1]) in [*texts, *own] else "it", answer)
    return of_one(answer.upper() if len(whole) == 1 else answer, texts, denying, denying - hedged)


def of_several(answer: str, texts: list[str]) -> set[int] | None:
    """The options that an answer names to a question that may have several."""
    answer = denials_as_letters(answer, texts)
    texts = ["" if one in DENIALS else one for one in texts]
    *before, text = CORRECTION.split(others_named(signed(answer, texts, True), texts))
    clauses = clauses_of(text)
    named = decided([*joined(clauses, set())], len(texts), True)
    verdicts = {one.named for one in clauses if one.says == "+" and one.named}
    last = decided([*joined(clauses_of(CONCLUSION.split(text)[-1]), set())], len(texts), True)
    if len(verdicts) > 1 and (WEIGHED.search(text) or (last and last != named)):
        return None  # "B seems fine at first, but the bus leaves soon, so A and D"
    if not any(map(str.strip, before)):
        return named
    # one option may add to what stands before it
    is_list = any(one.says == "+" and one.weight > 1 for one in clauses)
    again = {at for at in named or () if chr(LETTER + at) in "".join(before)}
    return named if named and again and len(named) > 1 and is_list else None


def of_one(answer: str, texts: list[str], denying: set[int], negative: set[int]) -> set[int] | None:
    """The option that an answer names to a question that has one. denying: the labels that deny.
    negative: those of them that say no.
    """
    text = compared(signed(answer, texts, False), len(texts), negative)
    if REQUEST.search(text) and not re.search(L, text):
        return None
    text = CORRECTION.split(text)[-1]
    clauses = clauses_of(text)
    if clauses:
        heads = set(re.findall(rf"^{GAP}({L}):", text, re.M))
        # a first letter with a reason; a reason that denies needs an option that does, too
        reason = "Lc(?!i?u$)[^LT?~]*" if clauses[0].named <= denying else "Lc(?!i?u$)[^LTnwe0?~]*"
        if len(heads) == 1 and clauses[0].says != "?" and re.fullmatch(reason, clauses[0].codes):
            clauses[0] = clauses[0]._replace(says="+", weight=2)
    named = decided([*joined(clauses, denying)], len(texts), False)
    if named is None and len(negative) == 1 and len(texts) == 2:
        named = of_verdict(clauses, negative)
    if negative and named:  # "No, it is plausible" says two things
        about = [one.codes for one in clauses if one.named <= named]
        verdicts = {one[1] + one[2] in ("f", "nw") for one in map(VERDICT.match, about) if one}
        if verdicts == {named <= negative}:
            return None
    return named


def restated(answer: str, options: Sequence[str]) -> set[int] | None:
    """The option whose letter and beginning of its text are an answer, or its first paragraph if
    the text is whole and no other option follows; None for another answer.
    """
    first, _, rest = answer.strip().partition("\n\n")
    found = re.fullmatch(r"\W*([A-Z])(?![A-Za-z0-9'’])\W*(.+)", first, re.S)
    if not found or found[1] > LETTERS[len(options) - 1]:
        return None
    said, option = bare(found[2]), LETTERS.index(found[1])
    text = bare(options[option])
    fits = text == said if rest else said[1:] and text.startswith(said)
    follows = re.search(f"{T}|{L}", signed(rest, [*map(bare, options)], False))
    return {option} if fits and not follows and not CORRECTION.search(rest) else None
