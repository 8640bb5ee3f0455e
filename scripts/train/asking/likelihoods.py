"""The paradigm `likelihood` for a model behind an API: its server gives how likely the model finds
each token of a text (scripts/train/asking/echo.py).

Not a program. Texts, scored tokens, cuts, sums, domains and thresholds are those of
scripts/train/paradigms/likelihood.py. Only the server knows the tokens of a text. So a text that
turns out longer than max_length is cut at the end of a token, and asked about again.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import torch

from scripts.running.program import UserError, log
from scripts.train.asking.kept_answers import Kept, Model
from scripts.train.paradigms import likelihood
from scripts.train.paradigms.prompts import Texts, groups_of, texts_of
from scripts.train.paradigms.scored_tokens import Tokens, bytes_of, cut_to, tokens_of
from scripts.train.work import predictions_on


class Paradigm(likelihood.Paradigm):
    """The paradigm without a model of its own: it makes scores from log-likelihoods."""

    def __init__(self, job: dict, tables: dict[str, pa.Table]):
        self.read_wording(job, tables.get("learned"))


def whole(frame: pd.DataFrame) -> list[str]:
    """The texts of a frame."""
    return (frame["context"] + frame["scored"]).to_list()


class Echoes:
    """The server's tokens in place of a tokenizer's; they are numbered over all texts read."""

    unk_token_id = None

    def __init__(self, kept: Kept):
        self.kept, self.front = kept, 0
        self.values: list[float | None] = []

    def __call__(self, texts: list[str], **_) -> dict[str, list]:
        ids, spans = [], []
        for found in self.kept.answers(texts):
            self.front = max(self.front, found["front"])
            ids.append(range(len(self.values), len(self.values) + len(found["ends"])))
            spans.append(list(zip([0, *found["ends"]], found["ends"])))
            self.values += found["values"]
        return {"input_ids": ids, "offset_mapping": spans}


class Reading:
    """The texts of one split with the server's tokens.

    frame: the texts as they are asked, cut to max_length; is_cut: which texts were cut.
    """

    def __init__(self, texts: Texts, max_length: int):
        self.texts, self.max_length = texts, max_length
        self.frame, self.is_cut = texts.frame, np.zeros(len(texts.frame), bool)

    def cut(self, kept: Kept) -> list[str]:
        """Cut too long texts, equally for all texts of a context; returns those to ask again."""
        echoes = Echoes(kept)
        tokens = tokens_of(echoes, self.frame)
        room, groups = self.max_length - echoes.front, groups_of(self.frame["context"])
        context, scored = cut_to(tokens, groups, room, self.frame)
        last = tokens.context + scored
        self.is_cut = (context < tokens.context) | (last < tokens.ids.lengths)
        rows = []
        for row in np.flatnonzero(self.is_cut):
            text, border = whole(self.frame.iloc[[row]])[0], len(self.frame["context"].iloc[row])
            ends = np.append(0, tokens.ends.flat[tokens.ends.starts[row] :])
            begin, end = ends[tokens.context[row] - context[row]], ends[last[row]]
            rows.append((text[begin:border], text[border:end]))
        if rows:
            self.frame = self.frame.copy()
            self.frame.loc[self.is_cut, ["context", "scored"]] = np.array(rows, object)
        return whole(self.frame[self.is_cut])

    def scores(self, kept: Kept, score: str) -> np.ndarray:
        """(texts,) scores as the wording wants them (score: sum, token, byte)."""
        echoes = Echoes(kept)
        tokens = tokens_of(echoes, self.frame)
        lengths = tokens.ids.lengths
        values = np.array(echoes.values, float)
        place = np.arange(len(values)) - np.repeat(tokens.ids.starts, lengths)
        is_scored, is_known = place >= np.repeat(tokens.context, lengths), ~np.isnan(values)
        if (is_scored & ~is_known).any():
            log.warning(
                "warning: the server gives no log-probability of a text's first token, so this "
                "token is not scored; if the server puts no token before a text, write "
                "`start_token` into the model's entry"
            )
        is_scored &= is_known
        row = np.repeat(np.arange(len(lengths)), lengths)[is_scored]
        sums, count = (
            np.bincount(row, weights, len(lengths))
            for weights in (values[is_scored], np.ones(len(row)))
        )
        if (count == 0).any():
            text = self.frame["scored"].iloc[int((count == 0).argmax())]
            raise UserError(
                f"the server puts no token before a text, so {text[:80].strip()!r}, a text of one "
                "token, has no likelihood; write `start_token` into the model's entry"
            )
        divisors = {"sum": np.ones(len(lengths)), "token": count}
        return sums / (divisors[score] if score in divisors else self.bytes(tokens))

    def bytes(self, tokens: Tokens) -> np.ndarray:
        """The bytes of the scored parts."""
        return np.maximum(bytes_of(self.frame, tokens, tokens.ids.lengths - tokens.context), 1)

    def cut_examples(self) -> np.ndarray:
        """(examples,) whether a text of the example was cut."""
        return self.is_cut[self.texts.places].any(0)


def say_cost(run: str, kept: Kept, texts: list[str]) -> None:
    """Log how much will be asked, before it is asked."""
    left = [one for one in dict.fromkeys(texts) if kept.key(one) not in kept.found]
    log.info(
        "%s: %d texts to ask about, %d answers are kept; about %d tokens to read (4 characters "
        "each), one to write after each text",
        run,
        len(left),
        len(kept.found),
        sum(map(len, left)) // 4,
    )


def truncated(readings: dict[str, Reading], tables: dict[str, pa.Table], chooses: bool) -> dict:
    """How many examples, and how many instances of candidates, were cut, by split."""
    rows = {split: np.flatnonzero(one.cut_examples()) for split, one in readings.items()}
    found = {"truncated": {split: len(rows) for split, rows in rows.items()}}
    if chooses:
        found["truncated_instances"] = {
            split: len(np.unique(tables[split]["choice"].to_numpy()[rows]))
            for split, rows in rows.items()
        }
    return found


def measure(
    job: dict, tables: dict[str, pa.Table], model: Model, kept: Kept
) -> tuple[pa.Table, dict]:
    """The predictions of all splits, and their facts for run.json."""
    paradigm, prompt = Paradigm(job, tables), job["prompt"]
    read = [name for name in tables if name != "learned" or prompt["threshold"]]
    most = job["settings"]["training"]["max_length"]
    texts = {name: texts_of(tables[name], prompt, job["inputs"], paradigm.shots) for name in read}
    readings = {name: Reading(found, most) for name, found in texts.items()}
    every = [text for one in readings.values() for text in whole(one.frame)]
    say_cost(job["run"], kept, every)
    kept.complete(model, every)
    kept.complete(model, [text for one in readings.values() for text in one.cut(kept)])
    scores = {name: one.scores(kept, prompt["score"]) for name, one in readings.items()}
    found = paradigm.finished(
        {name: torch.from_numpy(values)[:, None] for name, values in scores.items()},
        {name: tables[name] for name in read},
    )
    splits = job["splits"][1:]
    predictions = [
        predictions_on(split, tables[split], found[split][0].numpy(), job["run"], "direct")
        for split in splits
    ]
    shots = job["settings"]["training"].get("shots", 0)
    return pa.concat_tables(predictions), {
        "labels": paradigm.score_names,
        "label_columns": [] if paradigm.chooses else list(range(len(job["labels"]))),
        "shots": shots,
        "threshold": paradigm.threshold,
        "train_examples": len(tables["learned"]) if prompt["threshold"] else shots,
        **truncated(readings, tables, paradigm.chooses),
    }
