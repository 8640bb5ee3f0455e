"""Write an answer so that its options are single signs. Not a program; without torch.

Markup, LaTeX and XML go; ticks and crosses become words; an option's text is one sign, its letter
another.
"""

import re
import unicodedata
from os.path import commonprefix
from string import ascii_uppercase as LETTERS

# while an answer is read, an option's text is one sign, and a letter of an option is another
TEXT, LETTER = 0xE000, 0xE100
T, L, GAP = "[\ue000-\ue0ff]", "[\ue100-\ue119]", "[^\\w\n\ue000-\ue119]{0,9}"
TAG = r"(?:final_?answer|answer|choice|option|letter|response|result|output)"
MOMENT, HAPPENS = r"(?:the moment of )?sentence [12]\b", "(?:comes|happens|occurs)"
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
        # "A?, B", "A > B"; ☒ is a tick to some, and a cross to others
        (r"\?(?=[,)])|(?<=\w )[<>≤≥](?= \w)|[☒⚠]", " Unclear "),
        (r"!=|≠", " not "),
        (r"\[x\]|[✓✔✅☑√👍]", " correct "),
        (r"\[ \]|[✗✘❌✖☐❎×⛔🚫👎]|~~(?=\w)", " wrong "),
        (r"\bcan['’]t\b|\bcannot\b", "can not"),
        (r"n['’]t\b", " not"),
        (r"\b(I|it|answer|choice)(?: would|['’]d)\b", r"\1"),
        (r"['’](?:s|m|re)\b", " is"),
        (r"\bnot (?:only|just|merely)\b", " "),
        (r"\b(?:rather than|instead of)\b", ", not "),
        (r"\bgo(?:ing)? (?:with|for)\b", "choose"),
        (r"\bgo(?:es)? on\b", "continues"),
        (r"\bif I (?:had|have|must|were) (?:to )?(?:choose|pick|guess)(?: one)?\b", ""),
        (r"\b((?:all|any\w*|every\w*|no\w*)(?: \w+){0,3}) but\b", r"\1 except"),
        (
            r"\b(?:there (?:is|are) )?no (?:(?:plausible|possible|valid|suitable|good|correct) )?"
            r"(?:answer|option|choice|candidate|letter)s?\b|\bnot any\b|\bnone of them\b",
            "none of these",
        ),
        # "A, said the student" holds for the student alone
        (r", (?=(?:said|says?|claim|argue|wrote|think|thought)(?:s|d|ed)?\b)", " "),
        (
            r", (?=according to (?!th(?:e|is) (?:text|passage|sentence|context|premise|dialog)))",
            " ",
        ),
        (r"\bas well as\b|(?<=\w )[+&](?= \w)", "and"),
        (r"\bfirst sentence\b", "sentence 1"),
        (r"\bsecond sentence\b", "sentence 2"),
        (rf"\b(?:come|{HAPPENS}) first\b", "is best"),
        (rf"({MOMENT}) {HAPPENS} before {MOMENT}", r"\1 is best"),
        (rf"{MOMENT} {HAPPENS} after ({MOMENT})", r"\1 is best"),
        (r"\b(not( \w+)?) or\b", r"\1 and"),
        (r"(?<=\w )nor (?=[A-Z]\b)", "and "),
        (r"\bnot (?:un(?:likely|usual|common|re\w+)|imp\w+ble)\b", "somewhat"),
        (r"\bwithout (?:(?:the|more|any|further|seeing|this) )+(?:text|context|information),?", ""),
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
        ("正解は", " answer is "),
        ("です|(?:^|(?<=\n))[→⇒] ", " "),
        ("合理的?", " plausible "),
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
SMALL = re.compile(r"(?<![\w'])\(?([a-z])\)|(?<=: )([a-z])(?=\W{0,9}$)", re.M)
RUN = re.compile(  # "AC", "A. C.", "a, c"
    r"^\W{0,9}(?:[Aa]nswers?: ?)?([A-Z](?:[ .,;&+()]*(?:and )?[A-Z])+"
    r"|[a-z](?:[ .,;&+()]+(?:and )?[a-z])+)\W{0,9}$",
    re.M,
)
ANY = re.compile(r"(?<=[a-z] )no(?= (?!because|since|as|is|but|and|for|given|it)[a-z])")
MOST_OF_LABEL = 6  # words of a label
MARKED = re.compile(rf"(?:^({GAP})({L}) ?[.):–—-]|(?<=[,;]( ))({L}) ?[=:–—-])[):–—\- ]*", re.M)
OWN = re.compile(rf"({L})(:?)[^\w\n?!\ue000-\ue119]{{0,9}}({T})\)?")


def plain(text: str) -> str:
    """A text without markup, LaTeX and XML; ticks and some phrases are a word."""
    text = unicodedata.normalize("NFKC", text)
    for pattern, words in FORMS:
        text = pattern.sub(words, text)
    return text


def bare(text: str) -> str:
    """A text without case, markup, and signs around it."""
    return " ".join(plain(text).split()).strip(" .,;:!?'()").lower()


def tails(texts: list[str]) -> dict[str, str]:
    """The signs of the options by their last words, "sentence 2" of "The moment of sentence 2", if
    all begin with the same three words.
    """
    words = [one.split() for one in texts]
    alike = len(commonprefix(words))
    ends = (" ".join(one[alike - 1 :]) for one in words)
    return {end: chr(TEXT + at) for at, end in enumerate(ends)} if alike > 2 else {}


def halves(texts: list[str], first: bool) -> dict[str, str]:
    """The signs of labels by the words before their comma, "yes", or by those after it without
    "it", "must be true". A half that another label holds, too, stands for none.
    """
    found = {}
    for at, text in enumerate(texts):
        head, comma, tail = text.rpartition(", ")
        half = head if first else tail.removeprefix("it ")
        others = "\n".join(texts[:at] + texts[at + 1 :])
        long = first or len(half.split()) > 2
        if half and long and len(text.split()) <= MOST_OF_LABEL and half not in others:
            found[half] = chr(TEXT + at)
    return found


def without_list(text: str, count: int) -> str:
    """A text in signs in which the options are not said again, all in their order."""
    letters = [chr(LETTER + at) for at in range(count)]
    text = re.sub("\n".join(f"{GAP}{one}{GAP}" for one in letters), "", text)
    every = rf"{GAP}(?:(?:and|or){GAP})?".join(letters)
    before = r"\b(?:(?:out )?of|among|between|considering|comparing|given|from)"
    options = "(?:options|choices|candidates)"
    return re.sub(
        rf"(?:{before}|(?:^|\b(?:the|four|have|given) ){options}(?: are|:)+) {every}"
        rf"|{every} are (?:given|listed|(?:the |our |all )*{options})(?=[.,;:\n])",
        "",
        text,
        flags=re.I | re.M,
    )


def others_named(text: str, texts: list[str]) -> str:
    """A text in signs in which "all" is every letter, and "all except B" the other letters. An
    option without a text denies the others.
    """

    def left(found: re.Match) -> str:
        letters = {chr(LETTER + at) for at in range(len(texts))} - {*found[2]}
        return " and ".join(sorted(letters)) + found[1]

    every = r"(?<!not )\b(?:all|every(?:thing|one)?)\b(?: of)?(?: the)?(?: \w+)?"
    but = rf" (?:except|excluding)(?: for)? ({L}(?:(?:,|,? and) {L})*)"
    text = re.sub(rf"\b(?:none|nothing) except (?={L})", "only ", text)
    text = re.sub(rf"{every}((?: [\w ]{{1,40}})?){but}", left, text, flags=re.I)
    if all(texts):
        every = r"^All(?: of)?(?: the| them| these)*(?: four| options| answers)*"
        text = re.sub(rf"{every}( (?:are|fit|work)\b)()", left, text, flags=re.M)
    return text


def with_ends(text: str, ends: dict[str, str]) -> str:
    """A text in signs in which a part of an option is its sign: beside a letter, at the beginning
    (if no "not" follows) or before "is best".
    """

    def end(found: re.Match) -> str:
        before, said = (one for one in found.groups() if one is not None)
        return before + ends[said.lower()]

    said = "|".join(map(re.escape, sorted(ends, key=len, reverse=True)))
    beside = (
        rf"({L}{GAP}(?:the )?)({said})\b"
        rf"|(\A{GAP}(?:the )?)({said})(?=[.,;:!](?:\s(?!(?s:.*)\bnot\b)|$)|{GAP}\Z)"
        rf"|()\b({said})(?= is best)"
    )
    return re.sub(beside, end, text, flags=re.I) if ends else text


def signed(answer: str, texts: list[str], several: bool) -> str:
    """An answer with signs for texts and letters of options. A letter and its own text are one. The
    options said again are left out.
    """
    signs = {text: chr(TEXT + at) for at, text in reversed([*enumerate(texts)])}
    signs |= {} if several else halves(texts, first=False)

    def sign(found: re.Match) -> str:
        said = found[0].lower()
        return signs.get(said) or signs.get(said.removeprefix("it "), found[0])

    def own(found: re.Match) -> str:
        same = texts[ord(found[1]) - LETTER :][:1] == [texts[ord(found[3]) - TEXT]]
        return found[1] + found[2] if same else found[0]

    def run(found: re.Match) -> str:
        said = re.sub(r"and|\W", "", found[1]).upper()
        fits = len({*said}) == len(said) and max(said) <= LETTERS[len(texts) - 1]
        return " and ".join(said) if fits and "?" not in found[0] else found[0]

    text = plain(answer)
    text = text if several else ANY.sub("not any", text)
    spelled = {re.escape(one) for one in signs if one[1:] or one.isdigit()}
    spelled |= {f"it {re.escape(one)}" for one in signs if one not in texts}
    if known := sorted(spelled, key=len, reverse=True):
        words = rf"(?<![\w–-])(?<!\d[.,:])(?:{'|'.join(known)})(?!-?\w)"
        text = re.sub(words, sign, text, flags=re.I)
    text = SMALL.sub(lambda found: f"({(found[1] or found[2]).upper()})", RUN.sub(run, text))
    text = NAMED.sub(lambda found: chr(LETTER + LETTERS.index(found[1])), text)
    text = re.sub(rf"\(({L})\)", r"\1", re.sub(rf"({T}) ?\(({L})\)", r"\2 \1", text))
    text = with_ends(text, tails(texts) | ({} if several else halves(texts, first=True)))
    text = MARKED.sub(r"\1\3\2\4: ", OWN.sub(own, MARKED.sub(r"\1\3\2\4: ", text)))
    text = text if several else re.sub(rf"({L}:)[\s.]*[–—-]+ ", r"\1 ", text)
    text = re.sub(
        rf"((?:^|[.,;:!])[\w ]*(?<!\bthey )(?<!\byou )(?<!\bmost ))\bwould (?=[\w ]{{0,40}}{L})",
        r"\1",
        text,
        flags=re.I,
    )
    return without_list(re.sub(r"\b(?:far |way |much )?too [a-z]+", "wrong", text), len(texts))
