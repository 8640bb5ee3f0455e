"""Infill of answers by a masked language model (Zhou et al. 2019, section 3, step 3): each word masked, one at a time.

Not a program; the only part of candidate expansion that needs torch. The model sees the sentence and the question
before the answer. A word is masked whole, and what the model may put there is a word of its vocabulary: no piece of a
word, no punctuation, nothing special, and not the word itself.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm
from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer
from transformers.utils import logging

from scripts.common.program import UserError, log

TOKENS = 2048      # of a batch, padding included
LONGEST = 256      # tokens of sentence, question and answer
DECIMALS = 6       # of a confidence: what differs by less is a tie
WORD = re.compile(r"\w[\w'’.-]*")


class MaskedModel:
    """A masked LM from a folder: its tokenizer, its weights, and which tokens are words."""

    def __init__(self, folder: Path):
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        if not (folder / "config.json").is_file():
            raise UserError(f"{folder}: has no config.json; name the folder of a masked language model")
        if not any(folder.glob("*.safetensors")):
            raise UserError(f"{folder}: has no weights in safetensors (pickled weights are not read); convert them "
                            "where you trust them: from_pretrained(…).save_pretrained(FOLDER)")
        try:
            config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
            self.tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
            network, report = AutoModelForMaskedLM.from_pretrained(
                folder, config=config, use_safetensors=True, trust_remote_code=False, local_files_only=True,
                output_loading_info=True, dtype=torch.float32)
        except (ValueError, OSError, KeyError) as error:
            said = " ".join(str(error).split())[:200]
            raise UserError(f"{folder}: cannot be read as a masked language model ({said}); name another") from error
        if lost := sorted([*report["missing_keys"], *(mismatch[0] for mismatch in report["mismatched_keys"])]):
            raise UserError(f"{folder}: {len(lost)} weights of the masked LM are missing, {lost[0]} first, so it "
                            "cannot fill in words; name a model saved with its masked-LM head, or leave --model out")
        if self.tokenizer.mask_token_id is None:
            raise UserError(f"{folder}: the tokenizer has no mask token; name a masked language model, "
                            "or leave --model out")
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network = network.to(self.device).eval()
        # The positions of RoBERTa start behind the padding token: two fewer fit.
        room = getattr(config, "max_position_embeddings", None) or LONGEST + 2
        self.longest = min(LONGEST, self.tokenizer.model_max_length, room - 2)
        self.words = self.vocabulary(config.vocab_size)

    def vocabulary(self, size: int) -> np.ndarray:
        """The word that each token writes; empty where a token is none."""
        pieces = self.tokenizer.convert_ids_to_tokens(list(range(min(size, len(self.tokenizer)))))
        special = set(self.tokenizer.all_special_tokens)
        # Where tokens mark the beginning of a word (byte-pair and unigram vocabularies), only those begin one.
        marked = {mark: sum(piece.startswith(mark) for piece in pieces if piece) for mark in "Ġ▁"}
        mark = next((mark for mark, count in marked.items() if count > len(pieces) / 10), "")
        words = [piece.removeprefix(mark) if piece and piece.startswith(mark) and piece not in special else ""
                 for piece in pieces]
        words = [word if re.fullmatch(r"[^\W_]+", word) else "" for word in words]
        return np.array(words + [""] * (size - len(words)), dtype=object)


def masked(answers: pd.DataFrame, mask: str) -> pd.DataFrame:
    """A row for each word of each answer: row, word (its number), said, and the text around it."""
    found = [(row, number, match[0], text[: match.start()], text[match.end() :])
             for row, text in enumerate(answers["answer"]) for number, match in enumerate(WORD.finditer(text))]
    table = pd.DataFrame(found, columns=["row", "word", "said", "before", "after"])
    table["text"] = table["before"] + mask + table["after"]
    table["context"] = answers["context"].to_numpy(dtype=object)[table["row"].to_numpy(int)]
    return table


def batches(lengths: np.ndarray) -> list[slice]:
    """Slices of rows in ascending order of length, each of at most TOKENS tokens with its padding."""
    cut, first = [], 0
    for last in range(len(lengths)):
        if (last + 1 - first) * lengths[last] > TOKENS and last > first:
            cut.append(slice(first, last))
            first = last
    return [*cut, slice(first, len(lengths))] if len(lengths) else []


@torch.inference_mode()
def infilled(model: MaskedModel, answers: pd.DataFrame, top: int = 3) -> pd.DataFrame:
    """The `top` replacements of each word of each answer: row, word, place (from 0), answer, confidence.

    `answers` has the columns context and answer. Batches depend on the texts alone, not on their order.
    """
    table = masked(answers, model.tokenizer.mask_token)
    columns = ["row", "word", "place", "answer", "confidence"]
    if table.empty:
        return pd.DataFrame({name: [] for name in columns})
    encoded = model.tokenizer(table["context"].tolist(), table["text"].tolist(), truncation="longest_first",
                              max_length=model.longest)
    ids = encoded["input_ids"]
    # A text longer than the model takes may lose its mask, and one that has the mask's own letters has two.
    table["length"] = [len(row_ids) for row_ids in ids]
    fit = np.array([row_ids.count(model.tokenizer.mask_token_id) == 1 for row_ids in ids])
    if not fit.all():
        log.info("infill: %d of %d masked words are left out: the text is too long for the model, or holds its mask",
                 (~fit).sum(), len(fit))
    order = table[fit].sort_values(["length", "context", "text"], kind="stable").index.to_numpy()
    allowed = torch.from_numpy(model.words != "").to(model.device)
    keep = min(top + 1, int(allowed.sum()))  # one more, should the word itself be among them
    best, sure = np.zeros((len(table), keep), int), np.zeros((len(table), keep))
    with tqdm(total=len(order), desc="infill", unit="word", disable=None) as bar:
        for part in batches(table["length"].to_numpy()[order]):
            rows = order[part]
            batch = model.tokenizer.pad({name: [values[row] for row in rows] for name, values in encoded.items()},
                                        return_tensors="pt").to(model.device)
            place = (batch["input_ids"] == model.tokenizer.mask_token_id).nonzero()
            logits = model.network(**batch).logits[place[:, 0], place[:, 1]]
            confidence = logits.float().softmax(-1)[:, : len(allowed)].masked_fill(~allowed, -1)
            values, tokens = confidence.topk(keep)
            best[rows], sure[rows] = tokens.cpu().numpy(), values.cpu().numpy()
            bar.update(len(rows))
    wide = table.index[fit].repeat(keep)
    filled = table.loc[wide].assign(filled=model.words[best[fit].ravel()], confidence=sure[fit].ravel().round(DECIMALS))
    filled = filled[filled["filled"].str.casefold() != filled["said"].str.casefold()]
    filled["place"] = filled.groupby(["row", "word"]).cumcount()
    filled["answer"] = filled["before"] + filled["filled"] + filled["after"]
    return filled.loc[filled["place"] < top, columns].reset_index(drop=True)
