"""Contrast pairs of temporal NLI: each pair has a counterpart that differs in one thing.

preposition  before and after exchanged in the hypothesis (sets I and III); "less than" added to the
             hypothesis, or removed (set II)
times        the two times exchanged between premise and hypothesis (sets I and III)

A rule computes a counterpart's label from the original's label. The reader (reader.py) then reads
the new sentences. A pair is dropped if the reader's label differs from the rule's label.
"""

import numpy as np
import pandas as pd

from scripts.data.counterparts import COUNTERPART
from scripts.running.program import UserError, log
from scripts.studies.temporal_nli.reader import Parts, read, read_labels

PREPOSITION, TIMES = "preposition", "times"
OTHER = {"before": "after", "after": "before", "lower": "higher", "higher": "lower"}
SUMS = {"fixed": 2, "same_way": 1, "other_way": 3}  # sum of the two labels that a premise allows
ENTAILMENT_AND_CONTRADICTION = 2  # the sum of both labels: less one label, it is the other label


def check_contrast(challenge_set: str, contrast: str) -> None:
    """Raise UserError for a contrast that a set does not have."""
    if (challenge_set, contrast) == ("temp_duration", TIMES):
        raise UserError(
            "contrast: times needs a time in both sentences, and hypotheses of temp_duration have "
            "a duration; write contrast: preposition"
        )


def rewritten(text: str, part: Parts, said: str) -> str:
    """Return the sentence with another time expression. part: the parts that the reader found."""
    length = len(f"{part['preposition']} {part.get('less') or ''}{part['time']}")
    if part["form"] == "fronted":
        return said[0].upper() + said[1:] + text[length:]
    return f"{text[: -length - 1]}{said}."


def counterpart_texts(
    premise: str, hypothesis: str, challenge_set: str, contrast: str
) -> tuple[str, str]:
    """Return both sentences of the counterpart; unchanged if the reader cannot read them."""
    first, second, label = read(premise, hypothesis, challenge_set)
    if not first or not second or not label:
        return premise, hypothesis
    preposition, time = second["preposition"], second["time"]
    if contrast == TIMES:
        return (
            rewritten(premise, first, f"{first['preposition']} {time}"),
            rewritten(hypothesis, second, f"{preposition} {first['time']}"),
        )
    if challenge_set == "temp_duration":
        return premise, rewritten(
            hypothesis, second, f"for {'' if second['less'] else 'less than '}{time}"
        )
    return premise, rewritten(hypothesis, second, f"{OTHER[preposition]} {time}")


def counterpart_labels(rows: pd.DataFrame, contrast: str) -> np.ndarray:
    """Return (n,) the labels of counterparts, computed by rule from the label and columns of the
    originals.

    A premise at a fixed time entails or contradicts the hypothesis. An interval that opens the same
    way as the hypothesis entails it or is neutral. An interval that opens the other way is neutral
    or contradicts it.
    """
    label, same = rows["label"].to_numpy(int), (rows["distance"] == "same").to_numpy()
    fixed = (rows["premise_type"] == "fixed").to_numpy()
    if contrast == PREPOSITION:
        return np.where(same & fixed, label, ENTAILMENT_AND_CONTRADICTION - label)
    same_way = rows["premise_preposition"] == rows["hypothesis_preposition"]
    kind = np.select([fixed, same_way], ["fixed", "same_way"], "other_way")
    return np.where(same, label, pd.Series(kind).map(SUMS).to_numpy() - label)


def varied(rows: pd.DataFrame, contrast: str) -> pd.DataFrame:
    """Return the rows with the columns that change in the counterpart."""
    if contrast == TIMES:
        return rows.assign(
            direction=rows["direction"].map(OTHER),
            difference=rows["difference"].where(rows["direction"].isna(), -rows["difference"]),
            hypothesis_size=None,
        )
    kind = rows["hypothesis_type"].astype("string")
    less = kind.str.replace("less_than_", "equal_").where(
        kind.str.startswith("less_than_"), kind.str.replace("equal_", "less_than_")
    )
    return rows.assign(
        hypothesis_preposition=rows["hypothesis_preposition"].map(OTHER),
        hypothesis_type=less.astype(object).where(less.notna(), None),
    )


def with_counterparts(rows: pd.DataFrame, contrast: str, where: str) -> pd.DataFrame:
    """Return the pairs (schema nli) that have a counterpart, then the counterparts. Two pairs that
    are each other's counterparts occur only once.

    where: the name of the pairs in the log.
    """
    originals = list(zip(rows["text_a"], rows["text_b"]))
    texts = [
        counterpart_texts(*pair, challenge_set, contrast)
        for pair, challenge_set in zip(originals, rows["challenge_set"])
    ]
    found = varied(rows, contrast).assign(
        example_id=rows["example_id"] + COUNTERPART,
        text_a=[premise for premise, _ in texts],
        text_b=[hypothesis for _, hypothesis in texts],
        label=counterpart_labels(rows, contrast),
    )
    changed = (found["text_a"] != rows["text_a"]) | (found["text_b"] != rows["text_b"])
    agreed = read_labels(found) == found["label"]
    both = pd.Series([frozenset(pair) for pair in zip(originals, texts)], rows.index)
    kept = changed & agreed & ~both.duplicated()
    log.info(
        "%s: %d contrast pairs of %d pairs; left: %d without a counterpart, %d whose labels by "
        "rule and by reading differ, %d repeated",
        *(where, kept.sum(), len(rows), (~changed).sum(), (changed & ~agreed).sum()),
        (changed & agreed & ~kept).sum(),
    )
    if not kept.any():
        raise UserError(f"{where}: contrast: {contrast} leaves no pair; ask for more templates")
    return pd.concat([rows[kept], found[kept]])
