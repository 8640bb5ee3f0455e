"""How many turns a second the rules read, with one process and with two, and against trying every pattern on every turn.

    python -m benchmarks.build_temporal_spans [--turns 20000]
"""

import argparse
import time

import numpy as np
import pandas as pd

from scripts.build.temporal_spans import CHUNK, rule_pipeline, span_tables
from scripts.build.temporal_words import rules_of

# As in DailyDialog: about one turn in seven has a temporal expression.
PLAIN = ["Sure , I would be glad to .", "What kind of food do you like best ? I could eat a horse right away !",
         "You know , she told me that the manager of the shop on the corner had been looking for someone like you .",
         "No , thanks .", "I'm sorry to hear that . Is there anything that I can do to help you with the house ?",
         "It's 20 dollars , but you may have it for 15 if you take both of them ."]
TIMED = ["Could you come back in two weeks ? The doctor will be here at half past three in the afternoon on May 5th ."]


def turns(count: int) -> list[pd.DataFrame]:
    """Chunks of turns, as the program reads them."""
    texts = np.random.default_rng(0).choice(PLAIN + TIMED, count)
    table = pd.DataFrame({"source": "b", "split": "train", "dialog_id": "train:0", "turn": np.arange(count), "text": texts})
    return [table[start : start + CHUNK] for start in range(0, count, CHUNK)]


def seconds(call) -> tuple[float, int]:
    begun = time.perf_counter()
    count = call()
    return time.perf_counter() - begun, count


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--turns", type=int, default=20000)
    count = options.parse_args().turns
    chunks, nlp = turns(count), rule_pipeline(rules_of())
    ones, twos, alls = [], [], []
    for _ in range(3):
        one, found = seconds(lambda: sum(len(table) for _, table in span_tables(chunks, 1)))
        two, same = seconds(lambda: sum(len(table) for _, table in span_tables(chunks, 2)))
        assert found == same
        every, _ = seconds(lambda: sum(len(doc.spans["ruler"]) for chunk in chunks[:5] for doc in nlp.pipe(chunk["text"])))
        ones.append(one)
        twos.append(two)
        alls.append(every * len(chunks) / min(5, len(chunks)))
    print(f"{count} turns, {found} expressions: one process {count / min(ones):.0f} turns/s, two "
          f"{count / min(twos):.0f} turns/s (ratio {min(ones) / min(twos):.2f}); "
          f"every pattern on every turn {count / min(alls):.0f} turns/s "
          f"(ratio {min(alls) / min(ones):.2f})")
