"""Prepare texts and pictures for the templates of the page."""

import base64
import hashlib
import html
import re
from pathlib import Path

import jinja2

TEMPLATES = Path(__file__).parent / "templates"
SHOWN = 45  # words of a caption that are not folded away
LONG = 200  # a table with this many words is folded away


def short(svg: bytes) -> bytes:
    """Return the same picture in fewer bytes: rounded to 0.01 point, with the font named once."""

    def rounded(place: re.Match) -> bytes:
        return re.sub(rb"-?\d+\.\d+", lambda found: b"%g" % round(float(found[0]), 2), place[0])

    fonts = re.search(rb'font-family: [^;"]*', svg)
    style = b"<style>text{%s}" % (fonts[0] if fonts else b"")
    for pattern, other in (
        (rb"(?s)<(\?xml|!DOCTYPE).*?>|<metadata>.*?</metadata>", b""),
        (rb' transform="rotate\(-0 [^"]*"|(?<=<g) id="[^"]*"|font-family: [^;"]*;? ?', b""),
        (rb' (?:d|x|y|transform)="[^"]*"', rounded),
        (rb'<style type="text/css">', style),
        (rb"\s*\n\s*", b" "),
    ):
        svg = re.sub(pattern, other, svg)
    return svg


def data_url(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(short(svg)).decode()}"


def size_of(svg: bytes) -> tuple[int, int]:
    found = re.search(rb'<svg[^>]*\bviewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    return (round(float(found[1])), round(float(found[2]))) if found else (1, 1)


def not_drawn(svg: bytes) -> str:
    """Return why a figure is not drawn (style.nothing); empty for a figure that is drawn."""
    found = re.search(r"<title>(.*?)</title>", svg.decode(), re.DOTALL)
    return html.unescape(found[1]) if found else ""


def shown_and_folded(texts: list[str]) -> dict[str, list[str]]:
    """Split a caption into its first sentences (up to SHOWN words, at least one sentence) and the
    folded rest. A short rest is not folded.
    """
    sentences = re.split(r"(?<=[.:;!?]) (?=[A-Z])", texts[0])
    words = [len(" ".join(sentences[:number]).split()) for number in range(1, len(sentences) + 1)]
    number = max(1, sum(count <= SHOWN for count in words))
    rest = " ".join(sentences[number:])
    if len(" ".join([rest, *texts[1:]]).split()) <= SHOWN // 3:  # too little to fold
        return {"shown": texts, "folded": []}
    return {
        "shown": [" ".join(sentences[:number])],
        "folded": [*([rest] if rest else []), *texts[1:]],
    }


def policy_hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows a style or a script of the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def is_long(markup: str) -> bool:
    return len(re.sub(r"<[^>]*>", " ", markup).split()) >= LONG


def templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["sha256"] = policy_hash
    environment.tests["long"] = is_long
    return environment
