"""The `likelihood` paradigm: a language model scores how likely the texts of a wording are;
it does not learn.

Each kind of language model has its way to score a text:
  decoder   reads the text (causal.py)
  T5        reads the context and writes the scored part (infilling.py)
  encoder   fills each scored token's mask (masking.py)

A decoder's text begins with the tokenizer's bos, else its eos. A tokenizer may have neither. Then
the first token of a text has no token before it, and is not scored. Chat templates are not used:
only the wording is written (prompts.yaml of the study).

A text's score is the sum of the log-likelihoods of its scored tokens. The wording may change it:
  score: token   the sum is divided by the number of scored tokens
  score: byte    the sum is divided by the number of bytes of the scored part
  domain         the score of the same part after the domain's text is subtracted
  masks: word    the later tokens of a masked token's word are masked as well (no effect on a model
                 that reads from left to right)

Scores are computed in fp32 from weights in fp32; `precision: bf16` loads the weights in bf16.
"""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

from scripts.plan.kinds import kind_of
from scripts.running.program import UserError, log
from scripts.text.placeholders import CANDIDATE
from scripts.train.paradigms import causal, infilling, masking
from scripts.train.batches import Batch, Examples, Ragged, joined, repeated
from scripts.train.paradigms.causal import trees_of
from scripts.train.paradigms.paradigm import (
    Choosing,
    check_trained,
    check_whole,
    frame_of,
    loaded,
    mask_token,
    measure_labels,
    read_config,
    read_network,
    read_tokenizer,
)
from scripts.train.paradigms.prompts import groups_of, shots_of, texts_of
from scripts.train.threshold import best_threshold
from scripts.train.paradigms.scored_tokens import (
    bytes_of,
    cut_to,
    of_group,
    shared_of,
    tokens_of,
    words_of,
)

NETWORKS = {
    "decoder": AutoModelForCausalLM,
    "encoder_decoder": AutoModelForSeq2SeqLM,
    "encoder": AutoModelForMaskedLM,
}


def known_kind(config, model: Path) -> str:
    """The kind of a model. Raises UserError for a model that neither writes nor fills text."""
    kind = kind_of(config)
    if kind is None:
        raise UserError(
            f"{model}: a {config.model_type} model (model_type in config.json) cannot score a "
            "text; choose a decoder, a T5 or an encoder with a head that fills masks"
        )
    return kind


def load(model: Path, training: dict):
    """Tokenizer, network and kind of a model, the sums of the batches that it has read, and
    whether it reads trees of texts, by max_length (nothing yet).

    Raises UserError for
      * a model of another kind, without weights, or with weights that lack a part
      * an encoder without a mask among its tokens
      * a model that writes and has no sentinel
    """
    tokenizer = read_tokenizer(model)
    if not tokenizer.is_fast:
        raise UserError(
            f"{model}: its tokenizer does not give the characters of a token; choose a model with "
            "a tokenizer.json"
        )
    config = read_config(model, tokenizer, training)
    kind = known_kind(config, model)
    check_trained(model, learns=False)
    network, missing = read_network(
        NETWORKS[kind],
        model,
        config,
        torch.bfloat16 if training["precision"] == "bf16" else torch.float32,
    )
    lost = [key for key in missing if "pooler" not in key]
    of_head = kind == "encoder" and lost and not lost[0].startswith(f"{network.base_model_prefix}.")
    check_whole(
        model,
        lost,
        "the head that fills masks" if of_head else "the model",
        "name a model that has kept them",
    )
    if kind == "encoder":
        mask_token(tokenizer, model)
    if kind == "encoder_decoder" and infilling.SENTINEL not in tokenizer.get_vocab():
        raise UserError(
            f"{model}: its tokenizer has no {infilling.SENTINEL}, which T5 has; choose an "
            "encoder-decoder like T5"
        )
    return tokenizer, network, kind, {}, {}


def frame_for(kind: str, tokenizer, model: Path) -> tuple[list[int], list[int]]:
    """The special tokens before and after a text."""
    if kind != "decoder":
        return frame_of(tokenizer, model)
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    return [] if start is None else [start], []


def numbers(values: np.ndarray) -> Ragged:
    """One number for each text."""
    return Ragged.of(values, np.ones(len(values), np.int64))


class Paradigm:
    """Each label gets a log-probability, or each candidate a score (a paradigm: paradigm.py)."""

    width = 1  # of a text; finished() makes an example's scores from these

    def __init__(self, model: Path, job: dict, tables: dict[str, pa.Table]):
        training = job["settings"]["training"]
        self.model = model
        self.read_wording(job, tables.get("learned"))
        scoring = {key: value for key, value in training.items() if key != "shots"}
        self.tokenizer, self.network, self.kind, self.sums_by_batch, self.in_trees = loaded(
            load, model, scoring
        )
        self.max_length = training["max_length"]
        self.before, self.after = frame_for(self.kind, self.tokenizer, model)
        # This also holds for an encoder-decoder: its two parts together then have as many tokens,
        # since its sentinel (twice) and its start count.
        self.room = (
            self.max_length
            - len(self.before + self.after)
            - (3 if self.kind == "encoder_decoder" else 0)
        )
        fields = "input_ids", "scored_from", "scored_to", "divisor"
        self.padding = dict.fromkeys(fields, 0) | {
            "input_ids": self.tokenizer.pad_token_id or 0,
            "words": -1,
        }

    def read_wording(self, job: dict, learned: pa.Table | None) -> None:
        """Keep what the wording says, and the training examples that stand before a text."""
        self.prompt, self.labels, self.inputs = job["prompt"], job["labels"], job["inputs"]
        self.chooses = CANDIDATE in self.prompt["texts"]
        self.score_names = ["log_likelihood"] if self.chooses else self.labels
        count, seed = job["settings"]["training"].get("shots", 0), job["settings"]["seed"]
        self.shots = shots_of(learned, self.prompt, self.labels, self.inputs, count, seed)
        self.threshold: float | None = None

    def encode(self, table: pa.Table) -> Examples:
        """The distinct texts of a table, one after the other. Those with one number in `choices`
        are read together.
        """
        texts = texts_of(table, self.prompt, self.inputs, self.shots)
        frame, n = texts.frame, len(texts.frame)
        try:
            tokens = tokens_of(self.tokenizer, frame)
        except UserError as error:
            raise UserError(f"{self.model}: {error}") from None
        groups = groups_of(frame["context"])
        context, scored = cut_to(tokens, groups, self.room, frame)
        start = len(self.before) + context
        ids = joined(
            repeated(self.before, n),
            tokens.ids.cut(tokens.context - context, context + scored),
            repeated([] if self.kind == "encoder_decoder" else self.after, n),
        )
        first = np.maximum(start, 1) if self.kind == "decoder" else start
        if (start + scored == first).any():
            text = frame.iloc[int((start + scored == first).argmax())]
            raise UserError(
                f"{self.model}: its tokenizer puts no token before a text, so "
                f"{text['scored'][:80].strip()!r}, a text of one token, has no likelihood; begin "
                "the wording with a word before its |, or leave this method out"
            )
        divisors = {"sum": np.ones(n, np.int64), "token": start + scored - first}
        divisor = divisors.get(self.prompt["score"])
        divisor = np.maximum(bytes_of(frame, tokens, scored) if divisor is None else divisor, 1)
        fields = {"scored_from": first, "scored_to": start + scored, "divisor": divisor}
        words = self.words(frame, tokens.context - context, context + scored)
        is_cut = (context + scored < tokens.ids.lengths)[texts.places].any(0)
        choices = len(np.unique(table["choice"].to_numpy()[is_cut])) if self.chooses else None
        return Examples(
            {"input_ids": ids} | words | {name: numbers(values) for name, values in fields.items()},
            np.zeros(n, np.int64),
            self.read_together(ids, groups, first),
            int(is_cut.sum()),
            choices,
        )

    def words(
        self, frame: pd.DataFrame, starts: np.ndarray, lengths: np.ndarray
    ) -> dict[str, Ragged]:
        """Where masks are by word: the number of each token's word, -1 for special tokens."""
        if self.kind != "encoder" or "masks" not in self.prompt:
            return {}
        special = [repeated([-1] * len(tokens), len(frame)) for tokens in (self.before, self.after)]
        words = words_of(self.tokenizer, frame).cut(starts, lengths)
        return {"words": joined(special[0], words, special[1])}

    def read_together(self, ids: Ragged, groups: np.ndarray, first: np.ndarray) -> np.ndarray:
        """A number for each text, equal for texts that are read together.

        A decoder reads trees of texts with common beginnings. An encoder-decoder reads a context
        once if all texts of the group have the same tokens in it; else each text is a group.
        """
        if self.kind == "decoder":
            return trees_of(ids)
        if self.kind == "encoder":
            return groups
        one = (of_group(first, groups, "min") == of_group(first, groups, "max")) & (
            shared_of(ids, groups) >= first
        )
        return np.where(one, groups, groups.max() + 1 + np.arange(len(groups)))

    def scores(self, network: torch.nn.Module, batch: Batch) -> torch.Tensor:
        """(texts, 1) scores. Methods that differ only in their divisor read a batch once."""
        read = hashlib.sha256()
        for name in sorted(batch.keys() - {"divisor"}):
            read.update(batch[name].cpu().numpy().tobytes())
        if read.digest() not in self.sums_by_batch:
            self.sums_by_batch[read.digest()] = self.sums(network, batch)
        return (self.sums_by_batch[read.digest()] / batch["divisor"][:, 0])[:, None]

    def plain_scores(self, network: torch.nn.Module, batch: Batch) -> torch.Tensor:
        """(1, 1) what scores() returns for one text (scripts/train/plain.py)."""
        if self.kind == "decoder":
            plain = causal.plain_likelihoods(network, batch)
        else:
            scoring = infilling if self.kind == "encoder_decoder" else masking
            plain = scoring.scored_likelihoods(network, batch, self.tokenizer, self.after, True)
        return (plain / batch["divisor"][:, 0])[:, None]

    def sums(self, network: torch.nn.Module, batch: Batch) -> torch.Tensor:
        """(texts,) sums of log-likelihoods."""
        if self.kind != "decoder":
            scoring = infilling if self.kind == "encoder_decoder" else masking
            return scoring.scored_likelihoods(network, batch, self.tokenizer, self.after)
        if self.max_length not in self.in_trees:
            self.in_trees[self.max_length] = causal.reads_trees(network, self.max_length)
            if not self.in_trees[self.max_length]:
                log.info(
                    "%s: cannot read texts as trees, so equal beginnings are read again", self.model
                )
        return causal.scored_likelihoods(network, batch, self.in_trees[self.max_length])

    def finished(
        self, scores: dict[str, torch.Tensor], tables: dict[str, pa.Table]
    ) -> dict[str, tuple[torch.Tensor, Examples]]:
        """By split, from the (texts, 1) scores: (n, labels) log-probabilities or (n, 1) scores, and
        the n examples.

        Log-probabilities over labels are the normalized scores, so their differences are log-odds.
        The training split (`learned`) may choose a threshold. Then the log-probabilities are those
        of a logistic curve around it.
        """
        each = {
            split: self.of_examples(found[:, 0].double(), tables[split])
            for split, found in scores.items()
        }
        if self.prompt["threshold"]:
            self.threshold = best_threshold(
                self.margin(each["learned"]).numpy(), tables["learned"]["label"].to_numpy() == 1
            )
        finished = {}
        for split, found in each.items():
            if self.threshold is not None:
                above = self.margin(found) - self.threshold
                found = torch.nn.functional.logsigmoid(torch.stack([-above, above], 1))
            elif not self.chooses:
                found = torch.log_softmax(found, 1)
            labels = tables[split]["label"].to_numpy().astype(np.int64)
            choices = tables[split]["choice"].to_numpy() if self.chooses else np.arange(len(labels))
            finished[split] = found.float(), Examples({}, labels, choices, 0)
        return finished

    def of_examples(self, found: torch.Tensor, table: pa.Table) -> torch.Tensor:
        """(n, written texts) scores of a table's examples, in the order of the labels, from the
        scores of its distinct texts.
        """
        places = torch.tensor(texts_of(table, self.prompt, self.inputs, self.shots).places)
        count = len(self.prompt["texts"])
        has_domain = self.prompt["domain"] is not None
        each = found[places[:count]] - (found[places[count:]] if has_domain else 0)
        if not self.chooses:
            each = each[np.argsort([self.labels.index(label) for label in self.prompt["texts"]])]
        return each.T

    def margin(self, each: torch.Tensor) -> torch.Tensor:
        """(n,) how much an example's texts favour the second label: the difference of two texts, or
        the score of one text.
        """
        if each.shape[1] == 2:
            return each[:, 1] - each[:, 0]
        return each[:, 0] if next(iter(self.prompt["texts"])) == self.labels[1] else -each[:, 0]

    def measure(self, scores: torch.Tensor, examples: Examples) -> tuple[float, float, int]:
        """Mean loss, accuracy and count. For labels the loss is the cross-entropy (n examples); for
        candidates see Choosing.
        """
        if self.chooses:
            return Choosing.measure(self, scores, examples)
        return measure_labels(scores, examples)
