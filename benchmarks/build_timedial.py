"""How much faster the vectorised builder of masked datasets is than a loop over dialogs and spans, in one run.

    python -m benchmarks.build_timedial [--dialogs 20000]

The loop is a plain one with sets and dictionaries, no slower in kind: it also looks up turns instead of comparing all pairs.
"""

import argparse
import random
import time
from collections import Counter, defaultdict

import numpy as np
import pandas as pd

from scripts.build.dialog_leakage import LONG, MASK, challenge_turns
from scripts.build.timedial import build_split
from scripts.build.timedial_instances import ordered, placed
from scripts.build.word_overlap import filled_in

OPTIONS = {"context_scope": "full", "negatives": 3, "negatives_from": "pool", "negatives_of": "any_kind", "negatives_by": "text", "negative_seed": 0,
           "max_dialogs": None}
TURNS = 8  # a dialog, as DailyDialog has on average
INSTANCES = 1446


def corpus(dialogs: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Dialogs of which a twentieth are sources of the challenge, three spans in every second one, and the challenge."""
    name = np.repeat([f"train:{number}" for number in range(dialogs)], TURNS)
    turn = np.tile(np.arange(TURNS), dialogs)
    number = np.repeat(np.arange(dialogs), TURNS)
    days = number * 7 % 1999 + turn
    text = [f"I said so in turn {here} of dialog {one} , some {day} days ago ." for here, one, day in zip(turn, number, days)]
    table = pd.DataFrame({"source": "b", "split": "train", "dialog_id": name, "turn": turn,
                          "speaker": np.where(turn % 2, "B", "A"), "text": text, "duplicate_of": ""})
    timed = table[(turn < 3) & (number % 2 == 0)]
    spans = timed[["source", "split", "dialog_id", "turn"]].assign(
        text=[f"{day} days" for day in days[timed.index]], kind="duration", has_numeral=True,
        value=[f"P{day}D" for day in days[timed.index]])
    spans["start"] = [text.index(span) for text, span in zip(timed["text"], spans["text"])]
    spans["end"] = spans["start"] + spans["text"].str.len()
    asked = table[number % 20 == 0].head(INSTANCES * TURNS)
    masked = asked["text"].where(asked["turn"] != 1, asked["text"].str.replace(r"\d+ days", MASK, regex=True))
    dialog = (asked["speaker"] + ": " + masked).groupby(asked["dialog_id"]).agg("\n".join)
    return table, spans, pd.DataFrame({"instance_id": dialog.index, "dialog": dialog.to_numpy(), "option": "some time",
                                        "label": 1})


def words(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def loop(turns: list[dict], spans: list[dict], challenge: list[dict]) -> int:
    """The same dataset by plain loops; returns how many candidates it has."""
    asked, said_in = {}, defaultdict(set)
    for instance in challenge:
        lines = [line[3:] for line in instance["dialog"].split("\n")]
        place = next(number for number, line in enumerate(lines) if MASK in line)
        keys = [words(line) for line in lines]
        key = len(lines), place, tuple(keys[:place] + keys[place + 1 :])
        asked[key] = [words(part) for part in lines[place].split(MASK)]
        for number, key in enumerate(keys):
            if number != place and len(key) >= LONG:
                said_in[key].add(instance["instance_id"])
    long_asked = Counter(name for names in said_in.values() for name in names)
    dialogs, located = defaultdict(list), defaultdict(list)
    for turn in turns:
        dialogs[turn["dialog_id"]].append(turn)
    for span in spans:
        located[span["dialog_id"]].append(span)
    kept = {}
    for name, lines in dialogs.items():
        keys = [words(line["text"]) for line in lines]
        around = [(asked.get((len(keys), place, tuple(keys[:place] + keys[place + 1 :]))), key)
                  for place, key in enumerate(keys)]
        if any(parts and key.startswith(parts[0]) and key.endswith(parts[1]) for parts, key in around):
            continue
        long = {key for key in keys if len(key) >= LONG}
        shared = Counter(instance for key in long for instance in said_in.get(key, ()))
        if not any(2 * count >= min(len(long), long_asked[instance]) for instance, count in shared.items()):
            kept[name] = lines
    pool = sorted({(span["text"], span["value"]) for name in kept for span in located[name]})
    draw, rows = random.Random(0), []
    for name, lines in kept.items():
        for span in located[name]:
            shown = [f"{line['speaker']}: {line['text']}" for line in lines]
            text = lines[span["turn"]]["text"]
            shown[span["turn"]] = f"{lines[span['turn']]['speaker']}: {text[: span['start']]}{MASK}{text[span['end'] :]}"
            candidates, values = [span["text"]], {span["value"]}
            while len(candidates) < 4:
                other, value = draw.choice(pool)
                if value not in values:
                    candidates.append(other)
                    values.add(value)
            for number, candidate in enumerate(candidates):
                rows.append((f"{name}:{span['turn']}:{span['start']}:{number}", "\n".join(shown), candidate, number == 0))
    return len(rows)


def vectorised(turns: pd.DataFrame, spans: pd.DataFrame, challenge: pd.DataFrame) -> int:
    """The dataset by the builder; returns how many candidates it has."""
    dialogs = ordered(turns, "turns")
    asked = challenge_turns(challenge, "challenge")
    filled = filled_in(challenge, asked)
    return len(build_split(dialogs, placed(spans, dialogs, "spans"), asked, filled, OPTIONS, None, "spans")[0])


def seconds(call) -> tuple[float, int]:
    begun = time.perf_counter()
    count = call()
    return time.perf_counter() - begun, count


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--dialogs", type=int, default=20000)
    tables = corpus(options.parse_args().dialogs)
    records = [table.to_dict("records") for table in tables]
    fast, slow = [], []
    for _ in range(3):
        ours, ours_count = seconds(lambda: vectorised(*tables))
        theirs, theirs_count = seconds(lambda: loop(*records))
        assert ours_count == theirs_count, (ours_count, theirs_count)
        fast.append(ours)
        slow.append(theirs)
    print(f"{ours_count} candidates: vectorised {min(fast):.2f} s, loop {min(slow):.2f} s (rows already in memory as "
          f"dictionaries), ratio {min(slow) / min(fast):.1f}")
