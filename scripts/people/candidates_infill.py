"""Infill of answers by a masked language model (Zhou et al. 2019, section 3, step 3): each word
masked, one at a time. It needs torch.

The model sees the sentence and the question before the answer. A word is masked whole, and what the
model may put there is another word of its vocabulary: no piece of a word, no punctuation, nothing
special.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm
from transformers import AutoModelForMaskedLM, AutoTokenizer
from transformers.utils import logging

from scripts.running.program import UserError, log
from scripts.train.paradigms.paradigm import loading, mask_token

TOKENS = 2048  # of a batch, padding included
LONGEST = 256  # tokens of sentence, question and answer
DECIMALS = 6  # of a confidence: what differs by less is a tie
WORD = re.compile(r"\w[\w'’.-]*")


class MaskedModel:
    """A masked LM from a folder: its tokenizer, its weights, and which tokens are words."""

    def __init__(self, folder: Path):
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        if not (
            folder / "config.json"
        ).is_file():  # transformers would look for a model of that name
            raise UserError(
                f"{folder}: has no config.json; name the folder of a masked language model"
            )
        options = {"trust_remote_code": False, "local_files_only": True}
        with loading(
            folder, "a masked language model (config.json, a tokenizer, weights in safetensors)"
        ):
            self.tokenizer = AutoTokenizer.from_pretrained(folder, **options)
            network, report = AutoModelForMaskedLM.from_pretrained(
                folder,
                use_safetensors=True,
                output_loading_info=True,
                dtype=torch.float32,
                **options,
            )
        if lost := sorted(report["missing_keys"]):
            raise UserError(
                f"{folder}: {len(lost)} weights of the masked LM are missing, {lost[0]} first, so "
                "it cannot fill in words; name a model saved with its masked-LM head, or leave "
                "--model out"
            )
        self.mask = mask_token(self.tokenizer, folder)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network = network.to(self.device).eval()
        # The positions of RoBERTa start behind the padding token: two fewer fit.
        room = getattr(network.config, "max_position_embeddings", None) or LONGEST + 2
        self.longest = min(LONGEST, self.tokenizer.model_max_length, room - 2)
        self.words = self.vocabulary(network.config.vocab_size)

    def vocabulary(self, size: int) -> np.ndarray:
        """The word that each token writes; empty where a token is none."""
        numbers = list(range(min(size, len(self.tokenizer))))
        pieces = pd.Series(self.tokenizer.convert_ids_to_tokens(numbers), dtype=object).fillna("")
        # Where tokens mark the beginning of a word (byte-pair and unigram vocabularies), only those
        # begin one.
        mark = next((mark for mark in "Ġ▁" if pieces.str.startswith(mark).mean() > 0.1), "")
        begins = pieces.str.startswith(mark) & ~pieces.isin(self.tokenizer.all_special_tokens)
        words = pieces.str.removeprefix(mark)
        return (
            words.where(begins & words.str.fullmatch(r"[^\W_]+"), "")
            .reindex(range(size), fill_value="")
            .to_numpy(object)
        )


def masked(answers: pd.DataFrame, mask: str) -> pd.DataFrame:
    """A row for each word of each answer: row, word (from 0), said, before, after, text,
    context.
    """
    found = [
        (row, number, match[0], text[: match.start()], text[match.end() :])
        for row, text in enumerate(answers["answer"])
        for number, match in enumerate(WORD.finditer(text))
    ]
    table = pd.DataFrame(found, columns=["row", "word", "said", "before", "after"])
    return table.assign(
        text=table["before"] + mask + table["after"],
        context=answers["context"].to_numpy(dtype=object)[table["row"].to_numpy(int)],
    )


def batches(lengths: np.ndarray) -> list[slice]:
    """Slices of rows in ascending order of length, each of at most TOKENS tokens with its
    padding.
    """
    starts = [0]
    for row, length in enumerate(lengths):
        if (row + 1 - starts[-1]) * length > TOKENS and row > starts[-1]:
            starts.append(row)
    return [
        slice(start, end) for start, end in zip(starts, [*starts[1:], len(lengths)]) if start < end
    ]


@torch.inference_mode()
def infilled(model: MaskedModel, answers: pd.DataFrame, top: int = 3) -> pd.DataFrame:
    """The `top` replacements of each word of each answer (columns context, answer): row, word,
    place (from 0), answer, confidence. Batches depend on the texts alone, not on their order.
    """
    table, tokenizer = masked(answers, model.tokenizer.mask_token), model.tokenizer
    columns = ["row", "word", "place", "answer", "confidence"]
    if table.empty:
        return pd.DataFrame({name: [] for name in columns})
    encoded = tokenizer(
        table["context"].tolist(),
        table["text"].tolist(),
        truncation="longest_first",
        max_length=model.longest,
    )
    table["length"] = [len(ids) for ids in encoded["input_ids"]]
    # A text longer than the model takes may lose its mask, and one that has the mask's own letters
    # has two.
    fit = np.array([ids.count(model.mask) == 1 for ids in encoded["input_ids"]])
    if not fit.all():
        log.info(
            "infill: %d of %d masked words are left out: the text is too long for the model, or "
            "holds its mask",
            (~fit).sum(),
            len(fit),
        )
    order = table[fit].sort_values(["length", "context", "text"], kind="stable")["length"]
    allowed = torch.from_numpy(model.words != "").to(model.device)
    most = min(top + 1, int(allowed.sum()))  # one more, should the word itself be among them
    best, sure = np.zeros((len(table), most), int), np.zeros((len(table), most))
    for part in tqdm(batches(order.to_numpy()), desc="infill", unit="batch", disable=None):
        rows = order.index[part]
        batch = tokenizer.pad(
            {name: [values[row] for row in rows] for name, values in encoded.items()},
            return_tensors="pt",
        ).to(model.device)
        logits = model.network(**batch).logits[batch["input_ids"] == model.mask]
        values, tokens = (
            logits.float().softmax(-1)[:, : len(allowed)].masked_fill(~allowed, -1).topk(most)
        )
        best[rows], sure[rows] = tokens.cpu().numpy(), values.cpu().numpy()
    wide = table[fit].loc[table.index[fit].repeat(most)]
    wide = wide.assign(
        filled=model.words[best[fit].ravel()], confidence=sure[fit].ravel().round(DECIMALS)
    )
    wide = wide[wide["filled"].str.casefold() != wide["said"].str.casefold()]
    wide = wide.assign(
        place=wide.groupby(["row", "word"]).cumcount(),
        answer=wide["before"] + wide["filled"] + wide["after"],
    )
    return wide.loc[wide["place"] < top, columns].reset_index(drop=True)
