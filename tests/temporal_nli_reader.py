"""Read the pairs of the temporal-NLI sets back: times, prepositions and label,
from the two sentences alone.

The reader shares nothing with the generator: it knows neither templates nor labels, only English
times and the rules of the paper. `read` reads one pair. `check` reads a table with the columns
text_a, text_b, label (a word) and challenge_set and returns its faults, one row a fault: row (of
the table's index), fault. Both accept the released files as well.

    faults = check(table); print(faults["fault"].value_counts())
    # the faults of each set, with an example
    python tests/temporal_nli_reader.py results/clean/temporal_nli_release/train.parquet

Faults of a sentence
  unreadable            it has not the grammar of its set
  lower_case            it starts with a small letter
  upper_case            a fronted time is followed by a capital ("In May, They left")
  doubled_preposition   "in in May"
  stray_preposition     the event ends in a preposition of its own ("start in before May", "In May,
                        it will start in")
  wrong_preposition     "at May", or a hypothesis of set I or III without before or after
  wrong_ordinal         "22th"
  out_of_range          a day beyond the 28th, a year outside 1900–2000, T1 outside 1–10
  doubled_plural        "5 minutess"
  singular, plural      "1 hours", "5 hour"
  zero_part, large_part "0 years 4 months", "1 year 12 months"
Faults of a pair
  same_sentence, different_events, different_positions (forward and fronted in set I),
  different_kinds (of time), wrong_unit, equal_times (set III: 60 minutes and 1 hour, 12 months and
  1 year), backwards (an end before its start, in a list that has no next cycle), wrong_duration (a
  claim that is none of gold, gold + 1, gold × 10), wrong_label
Faults of a table
  duplicate_pair, different_events (two clauses that elsewhere stand beside another hypothesis's
  event)
"""

import re
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf

import pandas as pd
import yaml

LABELS = ["entailment", "neutral", "contradiction"]
FULL = (
    "January February March April May June July August September October November December"
).split()
MONTHS = {spelling: number for number, name in enumerate(FULL) for spelling in (name, name[:3])}
WEEKDAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))

# Kinds of time: the longer expression first, since a date holds a month, a year and a day of the
# month.
KINDS = {
    "date_dmy": rf"(?P<day>\d\d?)(?P<suffix>st|nd|rd|th) (?P<month>{MONTH}) (?P<year>\d{{4}})",
    "date_my": rf"(?P<month>{MONTH}) (?P<year>\d{{4}})",
    "month_day": r"(?:the )?(?P<day>\d\d?)(?P<suffix>st|nd|rd|th)",
    "weekday": rf"(?P<weekday>{'|'.join(WEEKDAYS)})",
    "month": rf"(?P<month>{MONTH})",
    "hours": r"(?:(?P<hour_12>1[0-2]|[1-9]) (?P<half>[AP]M)|(?P<hour_24>[01]\d|2[0-3]):00)",
    "year": r"(?P<year>\d{4})",
}
PREPOSITION = yaml.safe_load("""
{hours: at, weekday: 'on', month_day: 'on', date_dmy: 'on', month: in, year: in, date_my: in}
""")
# Set II: the unit in which positions differ, and the length of the lists that start again.
UNIT = yaml.safe_load("""
{hours: hour, weekday: day, month_day: day, month: month, year: year, date_my: month}
""")
CYCLE = {"hours": 24, "weekday": 7, "month": 12}
SECONDS = {"minute": 60, "hour": 3600, "day": 86400, "month": 2.628e6, "year": 3.154e7}
UNITS = list(SECONDS)
# of the next higher unit; by SECONDS 12 months are not quite a year
CALENDAR = {"minute": 60, "hour": 24, "month": 12}

# Every sentence is anchored on its times, so that events may hold any words ("was sworn in", "left
# on a journey").
TIME = "|".join(re.sub(r"\?P<\w+>", "?:", pattern) for pattern in KINDS.values())
AMOUNT = rf"(?:0|[1-9]\d*) (?:{'|'.join(UNITS)})s*"
FORWARD = r"(?P<event>.+) (?P<preposition>at|on|in|before|after) (?P<time>{})\."
FRONTED = r"(?P<preposition>At|On|In|Before|After) (?P<time>{}), (?P<event>.+)\."
POINTS = {"forward": re.compile(FORWARD.format(TIME)), "fronted": re.compile(FRONTED.format(TIME))}
AMOUNTS = {
    "forward": re.compile(FORWARD.format(AMOUNT)),
    "fronted": re.compile(FRONTED.format(AMOUNT)),
}
SPANS = {
    "one_clause": re.compile(
        rf"(?P<event>.+) (?P<preposition>from) (?P<start>{TIME}) to (?P<end>{TIME})\."
    ),
    "two_clauses": re.compile(
        rf"(?P<event>.+) (?P<preposition>at|on|in) (?P<start>{TIME}) "
        rf"(?P<ending>.+?)(?: (?P<second>at|on|in))? (?P<end>{TIME})\."
    ),
}
LASTS = {
    "lasting": re.compile(
        rf"(?P<event>.+) (?P<preposition>for) (?P<less>less than )?"
        rf"(?P<time>{AMOUNT}(?: {AMOUNT})?)\."
    )
}
TIMES = [(kind, re.compile(pattern)) for kind, pattern in KINDS.items()]
PARTS = re.compile(rf"(\d+) ({'|'.join(UNITS)})(s*)")

# An event must not end in one of these: a preposition and a time follow it, or it ends its
# sentence. The rule is strict on purpose, a particle ("rolled in in May") reads no better; only
# before "from" and "for" it is fine ("went on for").
ENDS_NO_EVENT = set("at on in before after from to for until".split())
NOT_NAMES = set("The A An This That We They He She It My Our His Her Their".split())


@dataclass(frozen=True)
class Reading:
    """What a pair says. What does not apply to its set, or could not be read, is None; where it has
    no label, a fault says why.
    """

    label: str | None = None
    events: tuple[
        str, ...
    ] = ()  # of premise and hypothesis: without times and prepositions, first letter small
    prepositions: tuple[
        str | None, ...
    ] = ()  # of premise and hypothesis; set II: before start and end
    forms: tuple[
        str, ...
    ] = ()  # of premise and hypothesis, forward or fronted; set II: one_clause or two_clauses
    times: tuple[
        str, ...
    ] = ()  # as written, of premise and hypothesis; set II: start, end, duration
    same_time: bool | None = None  # of premise and hypothesis; set II: start and end
    hypothesis_type: str | None = None
    next_cycle: bool | None = None
    faults: tuple[str, ...] = ()


@lru_cache(maxsize=1 << 16)
def point_in_time(text: str) -> tuple[str, int, list]:
    """Kind, position among the times of its kind, and faults of a time as "5 PM",
    "the 3rd" or "May 1950".
    """
    kind, part = next(
        (kind, match.groupdict()) for kind, pattern in TIMES if (match := pattern.fullmatch(text))
    )
    day, year = int(part.get("day", 1)), int(part.get("year", 1900))
    faults = []
    suffix = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    if part.get("suffix", suffix) != suffix:
        faults.append("wrong_ordinal")
    if not 1 <= day <= 28 or not 1900 <= year <= 2000:
        faults.append("out_of_range")
    if kind == "hours":
        half = 12 * (part["half"] == "PM")
        return (
            kind,
            int(part["hour_24"]) if part["hour_24"] else int(part["hour_12"]) % 12 + half,
            faults,
        )
    if kind == "weekday":
        return kind, WEEKDAYS.index(text), faults
    month = MONTHS[part["month"]] if "month" in part else 0
    return (
        kind,
        {
            "year": year,
            "month_day": day,
            "month": month,
            "date_my": year * 12 + month,
            "date_dmy": (year * 12 + month) * 31 + day,
        }[kind],
        faults,
    )


@lru_cache(maxsize=1 << 16)
def amount_of_time(text: str) -> tuple[list, list]:
    """Numbers and units, and faults, of "5 hours" or "4 years 1 month"."""
    parts, faults = [(int(number), unit) for number, unit, _ in PARTS.findall(text)], []
    for number, _, plural in PARTS.findall(text):
        faults += [
            code
            for code, wrong in [
                ("doubled_plural", len(plural) > 1),
                ("zero_part", number == "0"),
                ("singular", number == "1" and plural),
                ("plural", number != "1" and not plural),
            ]
            if wrong
        ]
    if len(parts) == 2 and parts[1][0] >= 12:
        faults.append("large_part")
    return parts, faults


def sentence(text: str, forms: dict) -> tuple[str | None, dict, list]:
    """The form of a sentence, its parts and its faults; no form where it fits none,
    or more than one.
    """
    fitting = [
        (form, match.groupdict())
        for form, pattern in forms.items()
        if (match := pattern.fullmatch(text))
    ]
    if len(fitting) != 1 or text != " ".join(text.split()):
        return None, {}, ["unreadable"]
    form, part = fitting[0]
    faults = [] if text[0] == text[0].upper() else ["lower_case"]
    part["preposition"] = part["preposition"].lower()
    clauses = [(part["event"], part["preposition"] if form != "fronted" else None)]
    if form == "fronted" and part["event"].split()[0] in NOT_NAMES:
        faults.append("upper_case")
    if form == "two_clauses":
        clauses.append((part["ending"], part["second"]))
        part["event"] += " " + part["ending"]
    for clause, preposition in clauses:
        last = clause.split()[-1]
        if last == preposition:
            faults.append("doubled_preposition")
        elif last in ("on", "in") and preposition in ("from", "for"):
            continue
        elif last in ENDS_NO_EVENT and not (last == "until" and clause == part.get("ending")):
            faults.append("stray_preposition")
    part["event"] = part["event"][0].lower() + part["event"][1:]
    return form, part, faults


@lru_cache(maxsize=1 << 16)
def order_sentence(text: str) -> tuple[str | None, dict, list]:
    form, part, faults = sentence(text, POINTS)
    if form:
        part["kind"], part["position"], more = point_in_time(part["time"])
        faults += more
    return form, part, faults


@lru_cache(maxsize=1 << 16)
def unit_sentence(text: str) -> tuple[str | None, dict, list]:
    form, part, faults = sentence(text, AMOUNTS)
    if form:
        [(part["number"], part["unit"])], more = amount_of_time(part["time"])
        part["position"] = part["number"] * SECONDS[part["unit"]]
        faults += more
    return form, part, faults


@lru_cache(maxsize=1 << 16)
def span_sentence(text: str) -> tuple[str | None, dict, list]:
    form, part, faults = sentence(text, SPANS)
    if form:
        for end in ("start", "end"):
            part[f"{end}_kind"], part[f"{end}_position"], more = point_in_time(part[end])
            faults += more
    if form == "two_clauses":
        until = part["ending"].split()[-1] == "until"
        wanted = PREPOSITION[part["start_kind"]], None if until else PREPOSITION[part["end_kind"]]
        if (part["preposition"], part["second"]) != wanted:
            faults.append("wrong_preposition")
    return form, part, faults


@lru_cache(maxsize=1 << 16)
def lasting_sentence(text: str) -> tuple[str | None, dict, list]:
    form, part, faults = sentence(text, LASTS)
    if form:
        part["parts"], more = amount_of_time(part["time"])
        faults += more
    return form, part, faults


def relation(premise: str, i: float, hypothesis: str, j: float) -> str:
    """Label by temporal inclusion: before and after are open intervals,
    every other preposition is a point.
    """
    (start, end), (low, high) = (
        {"before": (-inf, at), "after": (at, inf)}.get(preposition, (at, at))
        for preposition, at in ((premise, i), (hypothesis, j))
    )
    if start == end:
        return "entailment" if low < start < high else "contradiction"
    if low <= start and end <= high:
        return "entailment"
    return "contradiction" if end <= low or high <= start else "neutral"


def two_sentences(
    premise: str, hypothesis: str, sentence_of
) -> tuple[dict | None, dict, dict, list]:
    """Both sentences of set I or III: their parts, what a reading says of both, and faults;
    no parts if unreadable.
    """
    (form, first, faults), (other_form, second, more) = (
        sentence_of(premise),
        sentence_of(hypothesis),
    )
    faults = faults + more
    if not form or not other_form:
        return None, {}, {}, faults
    told = {f"{key}s": (first[key], second[key]) for key in ("event", "preposition", "time")}
    told["forms"] = form, other_form
    if first["event"] != second["event"]:
        faults.append("different_events")
    if second["preposition"] in ("before", "after"):
        told["label"] = relation(
            first["preposition"], first["position"], second["preposition"], second["position"]
        )
    else:
        faults.append("wrong_preposition")
    return first, second, told, faults


def temp_order(premise: str, hypothesis: str) -> Reading:
    first, second, told, faults = two_sentences(premise, hypothesis, order_sentence)
    if not first:
        return Reading(faults=tuple(faults))
    if first["preposition"] not in ("before", "after", PREPOSITION[first["kind"]]):
        faults.append("wrong_preposition")
    if told["forms"][0] != told["forms"][1]:
        faults.append("different_positions")
    if first["kind"] != second["kind"]:
        faults.append("different_kinds")
        return Reading(**told | {"label": None, "faults": tuple(faults)})
    return Reading(**told, same_time=first["position"] == second["position"], faults=tuple(faults))


def cross_unit(premise: str, hypothesis: str) -> Reading:
    first, second, told, faults = two_sentences(premise, hypothesis, unit_sentence)
    if not first:
        return Reading(faults=tuple(faults))
    adjacent = UNITS.index(first["unit"]) == UNITS.index(second["unit"]) + 1
    same = adjacent and first["number"] * CALENDAR.get(second["unit"], 0) == second["number"]
    faults += [
        code
        for code, wrong in [
            ("wrong_preposition", first["preposition"] not in ("before", "after", "in")),
            ("wrong_unit", not adjacent),
            ("out_of_range", not 1 <= first["number"] <= 10),
            ("equal_times", same),
        ]
        if wrong
    ]
    return Reading(**told, same_time=same, faults=tuple(faults))


def temp_duration(premise: str, hypothesis: str) -> Reading:
    (form, span, faults), (lasting, duration, more) = (
        span_sentence(premise),
        lasting_sentence(hypothesis),
    )
    faults = faults + more
    if not form or not lasting:
        return Reading(faults=tuple(faults))
    kind, start, end = span["start_kind"], span["start_position"], span["end_position"]
    told = {
        "events": (span["event"], duration["event"]),
        "times": (span["start"], span["end"], duration["time"]),
        "forms": (form,),
        "prepositions": (span["preposition"], span.get("second", "to")),
    }

    def no_label(code: str) -> Reading:
        return Reading(**told, faults=(*faults, code))

    if form == "one_clause" and span["event"] != duration["event"]:
        faults.append("different_events")
    if kind != span["end_kind"] or kind not in UNIT:
        return no_label("different_kinds")
    told["same_time"] = start == end

    # An end that is not after the start lies in the next day, week or year; dates and years have no
    # next cycle.
    next_cycle = end <= start
    if next_cycle and kind not in CYCLE:
        return no_label("backwards")
    gold = end - start + (CYCLE[kind] if next_cycle else 0)
    told["next_cycle"] = next_cycle

    units = [unit for _, unit in duration["parts"]]
    if units not in ([[UNIT[kind]]] + [["year"], ["year", "month"]] * (kind == "date_my")):
        return no_label("wrong_unit")
    claimed = sum(number * (12 if unit != UNIT[kind] else 1) for number, unit in duration["parts"])
    less = duration["less"] is not None
    claim = {gold: "gold", gold + 1: "gold_plus_1", gold * 10: "gold_times_10"}.get(claimed)
    if not claim:
        faults.append("wrong_duration")
    return Reading(
        **told,
        label="entailment" if (gold < claimed if less else gold == claimed) else "contradiction",
        hypothesis_type=claim and ("less_than_" if less else "equal_") + claim,
        faults=tuple(faults),
    )


SETS = {"temp_order": temp_order, "temp_duration": temp_duration, "cross_unit": cross_unit}


def read(premise: str, hypothesis: str, challenge_set: str) -> Reading:
    """Read a pair; whatever is wrong with it, a reading comes back."""
    if challenge_set not in SETS or not isinstance(premise, str) or not isinstance(hypothesis, str):
        return Reading(faults=("unreadable",))
    reading = SETS[challenge_set](premise, hypothesis)
    if premise == hypothesis:
        return replace(reading, faults=(*reading.faults, "same_sentence"))
    return reading


def check(rows: pd.DataFrame) -> pd.DataFrame:
    """Every fault of a table of pairs, each once a row;
    none where each label follows from well-formed sentences.
    """
    found, seen, durations = [], set(), {}
    columns = (rows[column].tolist() for column in ("text_a", "text_b", "label", "challenge_set"))
    for row, *pair, label, challenge_set in zip(rows.index.tolist(), *columns):
        reading = read(*pair, challenge_set)
        faults = list(reading.faults)
        if label not in LABELS or (reading.label and label != reading.label):
            faults.append("wrong_label")
        if (*pair, challenge_set) in seen:
            faults.append("duplicate_pair")
        seen.add((*pair, challenge_set))
        # Two clauses name the event in other words than the hypothesis does, but in the same words
        # everywhere.
        if reading.forms == ("two_clauses",):
            clauses, event = reading.events
            if durations.setdefault(clauses, event) != event:
                faults.append("different_events")
        found += [(row, fault) for fault in dict.fromkeys(faults)]
    return pd.DataFrame(found, columns=["row", "fault"])


if __name__ == "__main__":
    pairs = pd.read_parquet(sys.argv[1])
    pairs["label"] = [LABELS[label] for label in pairs["label"]]
    found = check(pairs).assign(
        challenge_set=lambda faults: pairs.loc[faults["row"], "challenge_set"].to_numpy()
    )
    for (challenge_set, fault), rows in found.groupby(["challenge_set", "fault"]):
        first = pairs.loc[rows["row"].iloc[0]]
        print(
            f"{challenge_set:15}{fault:22}{rows['row'].nunique():6,} of "
            f"{pairs['challenge_set'].eq(challenge_set).sum():,} pairs, as: {first['text_a']} / "
            f"{first['text_b']} ({first['label']})"
        )
