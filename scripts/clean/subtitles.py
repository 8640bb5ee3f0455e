"""Subtitles: SubRip (.srt), WebVTT (.vtt) and YouTube's .sbv.

They are read as players read them, not as their specifications say: a cue's text goes up to the
next cue's times, with blank lines in it, and a number above the times may be missing.
"""

import html
import re
from pathlib import Path

import pandas as pd

from scripts.data.texts import lines_in
from scripts.running.program import UserError, cut, shown

ARROW = "-->"
CLOCK = r"((?:\d+:)?\d{1,2}:\d{1,2}(?:[.,]\d+)?)"
ASIDE = re.compile(r"(NOTE|STYLE|REGION)(\s|$)")  # a block of WebVTT that is no caption
TAGS = re.compile(
    r"</?(?:[bcipsuv]|em|font|lang|rt|ruby|span|strong)(?:[.\s][^<>]*)?>"
    r"|<(?:\d+:)?\d+:\d+\.\d+>"  # the time of a word
    r"|\{\\[^}]*\}",  # such as {\an8}, a place on the screen
    re.IGNORECASE,
)
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def has_name(lines: list[str], times: int, is_numbered: bool, is_webvtt: bool) -> bool:
    """Return whether the line above a cue's times is its number or its name. times: their place."""
    above = lines[times - 1].strip()
    behind_blank = times > 1 and not lines[times - 2]
    return (is_numbered and above.isdigit()) or (is_webvtt and bool(above) and behind_blank)


def text_of_cue(lines: list[str], is_webvtt: bool) -> str:
    """Return the text of a cue without tags. lines: those below its times."""
    first, *blocks = re.split(r"\n\n+", "\n" + "\n".join(lines))
    spoken = [block for block in blocks if not (is_webvtt and ASIDE.match(block))]
    return html.unescape(TAGS.sub("", BREAK.sub(" ", "\n".join([first, *spoken]))))


def cues_of(text: str, file: Path) -> pd.DataFrame:
    """Return the cues of subtitles as rows: start and end, as clocks, and text. The index has the
    lines with their times. Raises UserError that names a line without two times.
    """
    is_webvtt, joint = file.suffix.lower() == ".vtt", ARROW
    if file.suffix.lower() == ".sbv":
        joint = ","
    timing = re.compile(rf"\s*{CLOCK}\s*{joint}\s*{CLOCK}(?:\s|$)")
    lines = lines_in(text.strip(), str(file))
    times = {place: found for place, line in enumerate(lines) if (found := timing.match(line))}
    odd = [place for place, line in enumerate(lines) if ARROW in line and place not in times]
    if not times and not odd and not text.startswith("WEBVTT"):
        odd = [0]
    if odd:
        raise UserError(
            f"{file}: line {odd[0] + 1} is {shown(cut(lines[odd[0]]))}, not two times; write "
            f"00:00:01.000 {joint} 00:00:02.500"
        )
    places = list(times)
    is_numbered = bool(places) and places[0] > 0 and lines[places[0] - 1].strip().isdigit()
    ends = [
        place - 1 if has_name(lines, place, is_numbered, is_webvtt) else place
        for place in places[1:]
    ]
    return pd.DataFrame(
        [
            (*times[place].groups(), text_of_cue(lines[place + 1 : end], is_webvtt))
            for place, end in zip(places, [*ends, len(lines)])
        ],
        columns=["start", "end", "text"],
        index=pd.Index([place + 1 for place in places], name="line"),
        dtype=object,
    )
