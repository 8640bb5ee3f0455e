"""The words that the reader of answers understands, by a code for their kind. Not a program."""

import re
from functools import cache

from scripts.train.asking.spelling import LETTER, TEXT

# The codes, which the rules of letters.py read one after the other:
#   L  the letter of an option      n  not                    f  fits: an affirming word
#   T  the text of an option        0  none of the options    w  wrong: a denying word
#   A  a noun for the answer        e  all except             m  a doubt, "or", a joke
#   x  a noun for an option         p  other answers          k  a word that changes nothing
#   i  is, are                      o  grounds follow         u  every other word
#   c  a colon                      s  a place follows, for which the answer holds
#   a  and                          g  a noun for the question, which is such a place
WORDS = {
    "a": "and und et y e и 和",
    "x": "both option choice letter response pair",
    "c": ": =",
    "i": "is are was be with lautet è ist sind est sont es son",
    "A": "answer conclusion continuation ending outcome event step next thing way match label "
    "antwort antworten réponse respuesta risposta opciones ответ",
    "o": "based given considering looking from",  # grounds of any kind follow
    "s": "in for according",  # what an answer holds for follows: only these are this question
    "g": "text passage sentence context premise hypothesis information question case dialog "
    "dialogue conversation story reason scenario scene opinion summary short general gap blank",
    "n": "not no never nor nein nicht kein pas non nie hardly barely scarcely nope",
    "0": "none neither keine keiner aucune ninguna",
    "e": "except excluding without unlike",
    "p": "proposed proposée candidate phrase other",
    "w": "nothing wrong false bad least less worst worse fail lack contradict eliminate exclude "
    "reject discard out doubt nonsense absurd ridiculous strange falsch faux fausse 错误",
    "m": "or maybe perhaps possibly might may could if unless either unclear unsure "
    "uncertain depends mistake mistaken kidding joking strike back retract ignore disregard "
    "oder ou o или 或",
    "f": "yes true correct right plausible possible likely probable reasonable valid fit "
    "work good fine sense typical acceptable appropriate suitable realistic sensible logical "
    "proper feasible consistent coherent natural obvious follow continue complete fill "
    "relevant related ja oui richtig richtige korrekt passt passen bonne correcte correcta "
    "corretta plausibel 正确",
    "k": "the a an this that these it i my our me we you they only all one two so hence "
    "therefore thus also too well just really totally take choose pick select what happen "
    "said say think believe lean towards guess clear definite certain here into high very quite "
    "among at has have decide confident fair "
    "sure overall final best better most more of to do does did can must should remain leave "
    "left single which choisis seem sound look make am above rule listed "
    "la le les las die der das el ne n besten 我",
}
CODE = {word: code for code, words in WORDS.items() for word in words.split()}
CODE |= {chr(sign): "T" if sign < LETTER else "L" for sign in range(TEXT, LETTER + 26)}
ENDINGS = ("s", "es", "ly", "y", "d", "ed", "ing", "ting")
OPPOSITE = re.compile("(?:un|in|im|il|ir|non|mis)(.+)")


@cache
def code_of(word: str) -> str:
    """The code of a word, of its stem, or of its opposite. "Naturally" affirms nothing."""
    if word in CODE:
        return CODE[word]
    if (opposite := OPPOSITE.fullmatch(word)) and code_of(opposite[1]) == "f":
        return "w"
    stems = [word.removesuffix(one) for one in ENDINGS if word.endswith(one)]
    for stem in (one + end for one in stems if len(one) > 2 for end in ("", "e")):
        if stem in CODE:
            return "k" if CODE[stem] == "f" and word.endswith("ly") else CODE[stem]
    return "u"
