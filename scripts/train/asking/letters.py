"""Which options an answer in words names, by letter or by text. Not a program; without torch.

A clause names an option only if it affirms it: its words are known, and none denies or hedges.
"The answer is B" outweighs a letter alone, and a letter alone outweighs a verdict ("B fits").
Clauses that contradict each other leave an answer unread, unless the later corrects the earlier.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from string import ascii_uppercase as LETTERS
from typing import NamedTuple

# while an answer is read, an option's text is one sign, and a letter of an option is another
TEXT, LETTER = 0xE000, 0xE100
T, L, GAP = "[\ue000-\ue0ff]", "[\ue100-\ue119]", "[^\\w\n\ue000-\ue119]{0,9}"
TAG = r"(?:final_?answer|answer|choice|option|letter|response|result|output)"
FORMS = [  # forms of an answer, as words
    (re.compile(pattern, re.I), words)
    for pattern, words in (
        # signs of our own, bytes that are no text, tokens that a server left in the text
        ("[\ue000-\uf8ff\ufffd\ufe0f\u200b]|</?s>|</?(?:(?:end|start)_of_turn|eos|bos|pad)>", ""),
        (r"<\|[^|<>\n]{1,40}\|>", ""),
        # two boxes or two tags in a row are one list
        (r"\}[\s$,;&]{0,9}(?:and\s)?[\s$]{0,9}\\boxed\s{0,9}\{", ", "),
        (rf"</{TAG}>[\s,;&]{{0,9}}(?:and\s)?\s{{0,9}}<{TAG}>", ", "),
        (rf"<{TAG}>\s*|\\boxed", " answer: "),
        (rf"</{TAG}>|\\(?:text\w{{0,9}}|math\w{{1,9}}|[mf]box|rm|bf)\b|\\[()\[\]]", " "),
        (r"\[x\]|[✓✔✅☑]", " correct "),
        (r"\[ \]|[✗✘❌✖☐]|~~(?=\w)", " wrong "),
        ("☒", " unclear "),  # a tick to some, a cross to others
        (r"\bcan['’]t\b|\bcannot\b", "can not"),
        (r"n['’]t\b", " not"),
        (r"\b(I|it|answer|choice)(?: would|['’]d)\b", r"\1"),
        (r"['’](?:s|m|re)\b", " is"),
        (r"\bnot (?:only|just|merely)\b", " "),
        (r"\b(?:rather than|instead of)\b", ", not "),
        (r"\b(all|any\w*|every\w*|no\w*) but\b", r"\1 except"),
        (r"\bas well as\b", "and"),
        (r"\b(?:comes|happens) first\b", "fits"),
        (
            r"\bI (?:can|could|will|do|am (?:un)?able to)(?: not)? "
            r"(?:answer|help|assist|know|tell|say|determine|decide)\b",
            ". unclear. ",
        ),
        (r"(?m)^[ \t]*\||\|[ \t]*$", ""),
        (r"(?m)^[ \t>#*-]*\d{1,2}[.)] ", ""),
        (r"\|", ": "),
        ("、", ", "),
        ("正确答案|答案", " answer "),
        ("而是", ", "),
        ("不是", " not "),
        ("是", " is "),
        ("选择?", " choose "),
        (r"(?<!\w)['’]|['’](?!\w)|[\"“”„«»‘*`${}\[\]<>#_\\]", " "),
        (r"[^\S\n]+", " "),
        (r" ([,.:;)])", r"\1"),
    )
]
WORD = "A-Za-z0-9À-ɏЀ-ӿ'&"  # a letter may stand beside a Chinese sign
NAMED = re.compile(
    rf"(?<![{WORD}.-])(?:(?<=[Oo]ption )|(?!I['’ ]))([A-Z])(?![{WORD}]|-\w|\.[A-Za-z])"
)
# before other words than these, "A" may be an article
ARTICLE = re.compile(
    r"(?<!option )\bA (?!(?:and|or|is|are|but|because|since|if|fits?|works?|seems?|makes?|would|can"
    r"|could|may|might|must|does|not|too|yes|no|correct|right|wrong|und|et|y|ist|est|es)\b)(?=[a-z])",
    re.M,
)
SMALL = re.compile(r"(?<![\w'])\(?([a-z])\)|(?<=: )([a-z])(?=\W{0,9}$)", re.M)
RUN = re.compile(r"^\W{0,9}(?:[Aa]nswers?: ?)?([A-Z]{2,26})\W{0,9}$", re.M)  # "AC"
MARKED = re.compile(rf"(?:^({GAP})({L}) ?[.):–—-]|(?<=[,;]( ))({L}) ?[=:–—-])[):–—\- ]*", re.M)
OWN = re.compile(rf"({L})(:?)[^\w\n?!\ue000-\ue119]{{0,9}}({T})\)?")
CLAUSE = re.compile(
    rf",(?! ?(?:and )?{L})|(?<!{L}),|\s[-–—]\s|[–—]|\s\("
    r"|\b(?:but|while|whereas|although|though|however|mais|sondern|aber|sino|pero)\b",
    re.I,
)
REASON = re.compile(r"\b(?:because|since|given that|weil|denn|car)\b|因为|, as\b", re.I)
CONDITION = re.compile(r"\b(?:if|unless|would|assuming|suppose|otherwise|wenn|falls)\b|如果", re.I)
CORRECTION = re.compile(
    rf"(?:^|[.!?,;:\n–—-]) ?(?:(?:but|oh|no|{T}),? ){{0,2}}(?:wait|hold on|actually|correction"
    r"|sorry|scratch that|on (?:second thoughts?|reflection)|let me re\w+|I mean"
    r"|I was wrong|my mistake|oops|moment|warte|attends)\b",
    re.I | re.M,
)
TOKEN = re.compile(rf"{T}|{L}|[:=]|\w+")

# the words that are understood, by a code for their kind; L is a letter, T a text, u any other word
WORDS = {
    "a": "and und et y e и 和",
    "x": "both option choice letter letters response",
    "c": ": =",
    "i": "is are was be ist sind est sont es son",
    "A": "answer answers options choices conclusion antwort antworten réponse réponses respuesta",
    "o": "based given considering according from looking in after for with",
    "n": "not no never nor nicht kein pas non nie",  # they deny the word behind them
    "0": "none neither keine keiner aucune ninguna",
    "e": "except excluding without unlike",
    "p": "proposed candidate other others",
    "w": "nothing wrong incorrect false untrue implausible impossible unlikely improbable bad "
    "illogical unreasonable unrealistic invalid eliminate eliminated exclude excluded reject "
    "rejected discard out doubt falsch faux fausse incorrecta 错误",
    "m": "or maybe perhaps possibly might may could if unless either unclear unsure "
    "uncertain depends oder ou o или 或",
    "f": "yes true correct right plausible possible likely reasonable valid fit fits fitting work "
    "works good fine sense acceptable appropriate suitable realistic sensible logical consistent "
    "richtig richtige korrekt passt passen bonne correcte correcta 正确",
    "k": "the a an this that these it i my our me we you they only all one ones two so hence "
    "therefore thus also too well go going with choose choosing pick select selected say think "
    "believe lean leaning towards guess probably clearly definitely certainly sure overall final "
    "best most more of to for do does did can must should remains leaving leaves left here "
    "single following which choisis seem seems sound sounds look looks make makes am above given "
    "rule ruled listed la le les die der das el ne n besten am 我",
}
CODE = {word: code for code, words in WORDS.items() for word in words.split()}
CODE |= {chr(sign): "T" if sign < LETTER else "L" for sign in range(TEXT, LETTER + 26)}
DENY = set("nwe0")
PASSED = DENY | set("?p")  # a clause that is not understood and has one of these may be passed over
SET = "[LT](?:[ax]*[LT])*"  # "A", "A and option C"
# what a clause says, by its codes (? after a question or a condition): its weight, and + affirms, -
# denies, ? doubts, 0 none of the options. The first rule that fits counts.
RULES = [
    (re.compile(pattern), weight, says)
    for pattern, weight, says in (
        # a letter with the text of another option; "A, B no"
        (".*L.*T.*|.*T.*L.*|.*[LT][LT][nwe0f].*", 1, "?"),
        (r".*\?|.*[nwe0].*[nwe0].*|.*[LT].*p.*|.*p.*[LT].*", 1, ""),
        (f"(?:[akxcifA]*|o.*[akxcif])A[ic][akxcifA]*(?:{SET})?[^nwe0mLT]*", 3, "+"),
        (f"[ac]*{SET}[ac]*", 2, "+"),
        ("[^umLT]*0[^umLT]*", 3, "0"),
        ("[^u]*m[^u]*", 1, "?"),
        (f"[^uLTnwe0]*(?:{SET}[^uLTnwe0]*|f[^uLTnwe0]*)", 1, "+"),
        (f"(?=.*[nwe0])[^uLT]*(?:{SET})?[^uLT]*", 1, "-"),
        (f"[akxcifA]*{SET}[akxciA]*f[^nwe0mLT]*", 1, "+"),
        (f"[akxciA]*{SET}[akxciA]*(?:[we]|n[akxciA]*(?:f|$))[^mLT]*", 1, "-"),
        (".*", 1, ""),
    )
]
LONGEST = 100  # words of a clause that is understood


class Clause(NamedTuple):
    """named: the options that it names. weight, says: of RULES. codes: of its words."""

    named: frozenset[int]
    weight: int
    says: str
    codes: str


NOTHING = Clause(frozenset(), 1, "", "")


def plain(text: str) -> str:
    """A text without markup, LaTeX and XML; ticks and some phrases are a word."""
    text = unicodedata.normalize("NFKC", text)
    for pattern, words in FORMS:
        text = pattern.sub(words, text)
    return text


def bare(text: str) -> str:
    """A text without case, markup, and signs around it."""
    return " ".join(plain(text).split()).strip(" .,;:!?'()").lower()


def signed(answer: str, texts: list[str]) -> str:
    """An answer with signs for texts and letters of options. A letter and its own text are one. The
    options said again, all in their order, are left out.
    """

    def sign(found: re.Match) -> str:
        said = found[0].lower()
        return chr(TEXT + texts.index(said)) if said in texts else found[0]

    def own(found: re.Match) -> str:
        same = texts[ord(found[1]) - LETTER :][:1] == [texts[ord(found[3]) - TEXT]]
        return found[1] + found[2] if same else found[0]

    def run(found: re.Match) -> str:
        fits = len({*found[1]}) == len(found[1]) and max(found[1]) <= LETTERS[len(texts) - 1]
        return " and ".join(found[1]) if fits else found[0]

    text = plain(answer)
    if known := sorted({re.escape(one) for one in texts if one[1:]}, key=len, reverse=True):
        text = re.sub(rf"(?<!\w)(?:{'|'.join(known)})(?!\w)", sign, text, flags=re.I)
    text = SMALL.sub(lambda found: f"({(found[1] or found[2]).upper()})", RUN.sub(run, text))
    text = ARTICLE.sub("u A ", text)
    text = NAMED.sub(lambda found: chr(LETTER + LETTERS.index(found[1])), text)
    text = re.sub(rf"\(({L})\)", r"\1", re.sub(rf"({T}) ?\(({L})\)", r"\2 \1", text))
    text = MARKED.sub(r"\1\3\2\4: ", OWN.sub(own, MARKED.sub(r"\1\3\2\4: ", text)))
    again = "\n".join(f"{GAP}{chr(LETTER + at)}{GAP}" for at in range(len(texts)))
    return re.sub(again, "", re.sub(r"\btoo [a-z]+", "wrong", text))


def clauses_of(text: str) -> Iterator[Clause]:
    """The clauses of an answer. Questions, conditions and reasons affirm nothing."""
    for sentence in re.sub(r"([.;!?])(?=\s|$)|。", "\\1\n", text).splitlines():
        for number, part in enumerate(REASON.split(sentence)):
            doubtful = number or sentence.endswith("?") or CONDITION.search(part)
            for clause in filter(str.strip, CLAUSE.split(part)):
                yield judged(clause, "?" * bool(doubtful))


def judged(clause: str, doubt: str) -> Clause:
    tokens = TOKEN.findall(clause.lower())
    signs = [ord(one) for one in tokens if TEXT <= ord(one[0]) < LETTER + 26]
    codes = "".join(CODE.get(one, "u") for one in tokens) + doubt
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
        announces = last.says == "-" or (last.says == "+" and last.codes.endswith("c"))
        if one.weight == 2 and announces and not last.named:
            one = one._replace(weight=last.weight, says=last.says)
        elif one.says == "-" and not one.named and not one.codes.endswith("c"):
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
            or (doubts and (weight == 1 or (weight == 2 and set(one.codes) <= set("acL?"))))
        ):
            return None
    alike = all(one.named == named for one in best) or (several and weight == 1)
    by_letter = {option for one in affirmed if "L" in one.codes for option in one.named}
    mixed = several and by_letter and not named <= by_letter
    fits = max(named) < count and (several or len(named) == 1)
    return named if alike and fits and not mixed else None


def named_in(answer: str, options: Sequence[str], several: bool) -> set[int] | None:
    """The options that an answer names; None if it cannot be read."""
    texts, whole = [bare(one) for one in options], bare(answer)
    if whole and whole in texts:
        return {texts.index(whole)}
    text = signed(whole.upper() if len(whole) == 1 else answer, texts)
    *before, text = CORRECTION.split(text)
    if several and any(map(str.strip, before)):
        return None  # it may add to what stands before it
    clauses, negative = [*clauses_of(text)], set[int]()
    if not several and clauses:
        words = [{CODE.get(word) for word in one.split()} for one in texts]
        negative = {at for at, codes in enumerate(words) if codes & DENY}
        heads = set(re.findall(rf"^{GAP}({L}):", text, re.M))
        # a first letter with a reason; a reason that denies needs an option that does, too
        reason = "Lc[^LT?]*" if clauses[0].named <= negative else "Lc[^LTnwe0?]*"
        if len(heads) == 1 and re.fullmatch(reason, clauses[0].codes):
            clauses[0] = clauses[0]._replace(says="+", weight=2)
    named = decided([*joined(clauses, negative)], len(texts), several)
    if negative and named and not any(one.weight == 3 and one.named for one in clauses):
        # "No, it is plausible" says two things
        against = "+" if named <= negative else "-"
        if any(one.says == against and not one.named and "f" in one.codes for one in clauses):
            return None
    return named


def is_restated(answer: str, options: Sequence[str]) -> bool:
    """Whether an answer is a letter alone, or a letter and the beginning of its option's text."""
    found = re.fullmatch(r"\W*([A-Z])(?![A-Za-z0-9'’])\W*(.*)", answer, re.S)
    if not found or found[1] > LETTERS[len(options) - 1]:
        return False
    return bare(options[LETTERS.index(found[1])]).startswith(bare(found[2]))
