"""stub"""

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from scripts.build.temporal_words import RULES, Rules, pieces, rules_of

KINDS = ["date", "time", "duration", "set", "age"]


class Found(NamedTuple):
    """A temporal expression in a text: its pieces (first, one after the last), its kind and its sort."""

    first: int
    last: int
    kind: str
    sort: str


def token_patterns(written: str, groups: dict[str, list[str]]) -> list[list[dict]]:
    """spaCy's token patterns of a pattern as the rules write it: two where a piece is a class or a word."""
    choices = []
    for piece in written.split():
        first = {"SENT_START": 1} if len(piece) > 1 and piece.startswith("^") else {}
        piece = piece[len(first):]
        optional = {"OP": "?"} if len(piece) > 1 and piece.endswith("?") else {}
        names = (piece[:-1] if optional else piece).split("|")
        names = [name for group in names for name in groups.get(group, [group])]
        words = [name[1:-1] for name in names if len(name) > 2 and name[0] == name[-1] == "'"]
        classes = [name for name in names if name[1:-1] not in words]
        choices.append([{attribute: values[0] if len(values) == 1 else {"IN": values}, **optional, **first}
                        for attribute, values in (("TAG", classes), ("LOWER", words)) if values])
    return [list(chosen) for chosen in product(*choices)]


def ruler_patterns(rules: Rules) -> list[dict]:
    """The patterns of spaCy's span ruler; id is a rule's place in the file."""
    return [{"label": rule["kind"], "id": str(place), "pattern": pattern} for place, rule in enumerate(rules.patterns)
            for pattern in token_patterns(" ".join([rule.get("before", ""), rule["pattern"], rule.get("after", "")]), rules.groups)]


class Reader:
    """The tokenizer: a text as a Doc of pieces, tagged with their classes; their bounds are in user_data["bounds"]."""

    def __init__(self, vocab: Vocab, rules: Rules) -> None:
        self.vocab, self.rules = vocab, rules

    def __call__(self, text: str) -> Doc:
        read = pieces(text, self.rules)
        doc = Doc(self.vocab, words=[piece.text for piece in read], tags=[piece.word_class for piece in read],
                  sent_starts=[place == 0 for place in range(len(read))])
        doc.user_data["classes"] = {piece.word_class for piece in read if piece.word_class[0].isalpha()}
        doc.user_data["bounds"] = [(piece.start, piece.end) for piece in read]
        return doc


def settled(doc: Doc, rules: Rules) -> list[Found]:
    """The ruler's matches without their contexts: the longest first, none that overlap."""
    made = []
    for span in doc.spans["ruler"]:
        rule = rules.patterns[int(span.id_)]
        made.append((span.start - span.end, int(span.id_), span.start, span.end, rule))
    taken, kept = [False] * len(doc), []
    for _, _, start, end, rule in sorted(made, key=lambda match: match[:4]):
        if rule["kind"] != "none":
            start, end = start + len(rule.get("before", "").split()), end - len(rule.get("after", "").split())
        if not any(taken[start:end]):
            taken[start:end] = [True] * (end - start)
            kept.append(Found(start, end, rule["kind"], rule.get("sort", "")))
    return sorted(kept)


def joined(found: list[Found], doc: Doc, rules: Rules) -> list[Found]:
    """Neighbours that are one expression, joined, over and over; what lives in joins only is dropped."""
    place = 0
    while place + 1 < len(found):
        first, second = found[place : place + 2]
        between = doc[first.last : second.first].text.strip() if second.first - first.last <= 1 else None
        rule = next((join for join in rules.joins if first.sort in join["first"].split("|")
                     and second.sort in join["second"].split("|") and between in join["between"]), None)
        if rule:
            found[place : place + 2] = [Found(first.first, second.last, rule["kind"], rule["sort"])]
            place = max(place - 1, 0)
        else:
            place += 1
    return [one for one in found if one.kind in KINDS]


def rule_pipeline(path: Path = RULES) -> Language:
    """A blank English pipeline whose tokenizer reads pieces and whose span ruler holds the rules' patterns."""
    rules = rules_of(path)
    nlp = spacy.blank("en")
    nlp.tokenizer = Reader(nlp.vocab, rules)
    nlp.add_pipe("span_ruler", config={"spans_filter": None}).add_patterns(ruler_patterns(rules))
    return nlp


def found_in(text, nlp,rules):
    doc=nlp.make_doc(text)
    if rules.common.issuperset(doc.user_data["classes"]): return []
    doc=nlp(doc)
    b=doc.user_data["bounds"]
    return [(b[f.first][0], b[f.last-1][1], f.kind, f.sort) for f in joined(settled(doc, rules), doc, rules)]
