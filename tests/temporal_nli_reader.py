"""The faults of temporal-NLI pairs, as scripts/studies/temporal_nli/reader.py reads them back.

`check` takes a table with the columns text_a, text_b, label (a word) and challenge_set and returns
its faults, one row for each fault: row (of the table's index), fault. It accepts the released
files, too.

    faults = check(table); print(faults["fault"].value_counts())
    # the faults of each set, with an example
    python -m tests.temporal_nli_reader results/clean/temporal_nli_release/train.parquet

Faults of a sentence
  unreadable            it does not fit the grammar of its set
  lower_case            it starts with a small letter
  upper_case            a fronted time is followed by a capital ("In May, They left")
  doubled_preposition   the event ends in a preposition, and another one follows ("in in May",
                        "start in before May")
  stray_preposition     the event ends in a preposition, and nothing follows ("In May, it will start
                        in")
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
  claim other than gold, gold + 1 and gold × 10), wrong_label
Faults of a table
  duplicate_pair, different_events (two clauses that have another event in the hypothesis of
  another pair)
"""

import re
import sys

import pandas as pd

from scripts.studies.temporal_nli.reader import (
    CYCLE,
    GRAMMARS,
    LABELS,
    PARTS,
    SECONDS,
    UNIT,
    Parts,
    claimed_duration,
    gold_duration,
    read,
)

PREPOSITION = dict.fromkeys(["weekday", "month_day", "date_dmy"], "on") | {
    "hours": "at",
    **dict.fromkeys(["month", "year", "date_my"], "in"),
}
UNITS = list(SECONDS)
# Units in the next higher unit. By SECONDS, 12 months are not quite a year.
CALENDAR = {"minute": 60, "hour": 24, "month": 12}
# An event must not end in one of these words: a preposition and a time follow the event, or it ends
# its sentence. The rule is strict on purpose, since a particle ("rolled in in May") reads no
# better. Only before "from" and "for" it is fine ("went on for").
ENDS_NO_EVENT = set("at on in before after from to for until".split())
NOT_NAMES = set("The A An This That We They He She It My Our His Her Their".split())
CLAIMS = {"gold": (1, 0), "gold_plus_1": (1, 1), "gold_times_10": (10, 0)}


def where(**faults: bool) -> list[str]:
    """Return the names of the faults that are true."""
    return [name for name, there in faults.items() if there]


def time_faults(text: str) -> list[str]:
    """Return the faults of a time like "22th" or "3rd May 2001"."""
    ordinal, year = re.search(r"(\d+)(st|nd|rd|th)", text), re.search(r"\d{4}", text)
    day = int(ordinal[1]) if ordinal else 1
    suffix = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return where(
        wrong_ordinal=bool(ordinal) and ordinal[2] != suffix,
        out_of_range=not 1 <= day <= 28 or bool(year) and not 1900 <= int(year[0]) <= 2000,
    )


def amount_faults(text: str) -> list[str]:
    """Return the faults of an amount of time like "5 minutess" or "4 years 12 months"."""
    parts, faults = PARTS.findall(text), []
    for number, _, plural in parts:
        faults += where(
            doubled_plural=len(plural) > 1,
            zero_part=number == "0",
            singular=number == "1" and bool(plural),
            plural=number != "1" and not plural,
        )
    return faults + where(large_part=len(parts) == 2 and int(parts[1][0]) >= 12)


def sentence_faults(text: str, part: Parts) -> list[str]:
    """Return the faults of a sentence that was read; part: its parts."""
    form, times = part["form"], [part[name] for name in ("time", "start", "end") if name in part]
    faults = where(
        lower_case=text[0] != text[0].upper(),
        upper_case=form == "fronted" and part["event"].split()[0] in NOT_NAMES,
    )
    clauses = [(part["event"], part["preposition"] if form != "fronted" else None)]
    clauses += [(part["ending"], part["second"])] if form == "two_clauses" else []
    for clause, preposition in clauses:
        last = clause.split()[-1]
        if last in ("on", "in") and preposition in ("from", "for"):
            continue
        if last in ENDS_NO_EVENT and not (last == "until" and clause == part.get("ending")):
            faults.append("doubled_preposition" if preposition else "stray_preposition")
    if form == "two_clauses":
        until = part["ending"].split()[-1] == "until"
        wanted = PREPOSITION[part["start_kind"]], None if until else PREPOSITION[part["end_kind"]]
        faults += where(wrong_preposition=(part["preposition"], part["second"]) != wanted)
    for time in times:
        faults += amount_faults(time) if PARTS.match(time) else time_faults(time)
    return faults


def event_of(part: Parts) -> str:
    """Return the event of a sentence, without times and prepositions; its first letter is small."""
    event = " ".join(filter(None, [part["event"], part.get("ending")]))
    return event[0].lower() + event[1:]


def order_faults(first: Parts, second: Parts) -> list[str]:
    """Return the faults of a pair of set I."""
    return where(
        different_events=event_of(first) != event_of(second),
        wrong_preposition=second["preposition"] not in ("before", "after")
        or first["preposition"] not in ("before", "after", PREPOSITION[first["kind"]]),
        different_positions=first["form"] != second["form"],
        different_kinds=first["kind"] != second["kind"],
    )


def unit_faults(first: Parts, second: Parts) -> list[str]:
    """Return the faults of a pair of set III."""
    adjacent = UNITS.index(first["unit"]) == UNITS.index(second["unit"]) + 1
    same = first["number"] * CALENDAR.get(second["unit"], 0) == second["number"]
    return where(
        different_events=event_of(first) != event_of(second),
        wrong_preposition=second["preposition"] not in ("before", "after")
        or first["preposition"] not in ("before", "after", "in"),
        wrong_unit=not adjacent,
        out_of_range=not 1 <= first["number"] <= 10,
        equal_times=adjacent and same,
    )


def hypothesis_type(first: Parts, second: Parts) -> str | None:
    """Return the type of a pair of set II, like `less_than_gold_plus_1`; None for any other
    claim.
    """
    gold, claimed = gold_duration(first), claimed_duration(second, first["start_kind"])
    found = [name for name, (times, plus) in CLAIMS.items() if gold * times + plus == claimed]
    return ("less_than_" if second["less"] else "equal_") + found[0] if found else None


def next_cycle(span: Parts) -> bool:
    """Return whether a premise of set II ends in the next day, week or year."""
    return span["end_position"] <= span["start_position"]


def duration_faults(span: Parts, lasting: Parts) -> list[str]:
    """Return the faults of a pair of set II."""
    one_clause, kind = span["form"] == "one_clause", span["start_kind"]
    faults = where(different_events=one_clause and event_of(span) != event_of(lasting))
    if kind != span["end_kind"] or kind not in UNIT:
        return [*faults, "different_kinds"]
    if next_cycle(span) and kind not in CYCLE:
        return [*faults, "backwards"]
    if claimed_duration(lasting, kind) is None:
        return [*faults, "wrong_unit"]
    return faults + where(wrong_duration=hypothesis_type(span, lasting) is None)


PAIR = {"temp_order": order_faults, "temp_duration": duration_faults, "cross_unit": unit_faults}


def faults_of(premise: str, hypothesis: str, challenge_set: str) -> list[str]:
    """Return the faults of a pair that do not depend on its label."""
    texts = premise, hypothesis
    if challenge_set not in GRAMMARS or not all(isinstance(text, str) for text in texts):
        return ["unreadable"]
    reading, faults = read(*texts, challenge_set), []
    parts = reading.premise, reading.hypothesis
    for text, part in zip(texts, parts):
        faults += sentence_faults(text, part) if part else ["unreadable"]
    if all(parts):
        faults += PAIR[challenge_set](*parts)
    return faults + where(same_sentence=premise == hypothesis)


def check(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every fault of a table of pairs, each fault once a row. The table is empty if all
    sentences are well-formed and each label follows from them.
    """
    found, seen, durations = [], set(), {}
    columns = (rows[column].tolist() for column in ("text_a", "text_b", "label", "challenge_set"))
    for row, *pair, label, challenge_set in zip(rows.index.tolist(), *columns):
        faults = faults_of(*pair, challenge_set)
        reading = None if "unreadable" in faults else read(*pair, challenge_set)
        if label not in LABELS or (reading and reading.label not in (None, label)):
            faults.append("wrong_label")
        if (*pair, challenge_set) in seen:
            faults.append("duplicate_pair")
        seen.add((*pair, challenge_set))
        # Two clauses name the event in other words than the hypothesis, but in the same words
        # everywhere.
        if reading and reading.premise["form"] == "two_clauses":
            clauses, event = event_of(reading.premise), event_of(reading.hypothesis)
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
