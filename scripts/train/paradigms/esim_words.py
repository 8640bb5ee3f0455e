"""The words that ESIM reads (scripts/train/paradigms/esim.py): vectors that are trained with it, or
the states of a frozen encoder.

Both take (rows, width) numbers of tokens with the length of each row. Both return (rows, width,
dimension) with the lengths of the rows.

Reads  <model>/encoder/ (config.json, tokenizer.json, model.safetensors); vectors are read by
       scripts/train/paradigms/vectors.py
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, PreTrainedTokenizerFast

from scripts.data.keyed import keyed_uniform
from scripts.running.program import UserError, log
from scripts.train.paradigms.paradigm import (
    check_whole,
    frame_of,
    read_config,
    read_network,
    read_tokenizer,
)

PAD, UNKNOWN = "[PAD]", "[UNK]"
# Tokens as in GloVe's corpora, in the Penn Treebank's way. These are tried in order: abbreviations
# (a.m.), the number of a clock time (5 pm), other numbers (2.5, 10:30). Then follow contractions
# (do n't, it 's), words, and every other sign alone.
TOKENS = (
    r"(?i)(?:[a-z]\.){2,}|\d+(?:[.,:]\d+)*(?=[ap]\.?m\b)|\d+(?:[.,:]\d+)+"
    r"|\w+?(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b|\w+|[^\w\s]"
)


def positions(width: int, lengths: torch.Tensor) -> torch.Tensor:
    """(rows, width): whether a position is before the end of its row."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]


# ---- word vectors


def word_level(vocabulary: dict[str, int], lower_case: bool) -> Tokenizer:
    """A tokenizer of whole words. It drops control signs and soft hyphens, and every kind of space
    becomes one space.
    """
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(
        handle_chinese_chars=False, strip_accents=False, lowercase=lower_case
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(TOKENS), behavior="removed", invert=True)
    return tokenizer


def build_tokenizer(words: Iterable[str], lower_case: bool = True) -> PreTrainedTokenizerFast:
    """The tokenizer of these words: [PAD], [UNK], then the words in their order by alphabet.

    A pair is its premise, of type 0, and its hypothesis, of type 1. There is no token between the
    two, because the types separate them.
    """
    vocabulary = {
        word: number
        for number, word in enumerate([PAD, UNKNOWN, *sorted(set(words) - {PAD, UNKNOWN})])
    }
    tokenizer = word_level(vocabulary, lower_case)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", pair="$A $B:1", special_tokens=[]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        unk_token=UNKNOWN,
        padding_side="right",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def initial_vectors(
    tokens: list[str], known: list[str], vectors: np.ndarray, learned: set[str]
) -> np.ndarray:
    """(tokens, dimension) float32: the vector of each token, zeros for the first, which pads.

    A token without a known vector draws each number from a normal distribution. Its mean and
    standard deviation are those of the known vectors, as in AllenNLP. Here only words of the
    training split count for these, and a hash of the token decides the draws.
    """
    dimension = vectors.shape[1]
    places = {token: place for place, token in enumerate(tokens)}
    matrix = np.empty((len(tokens), dimension), np.float32)
    unknown = np.ones(len(tokens), bool)
    rows = np.array([places[word] for word in known])
    matrix[rows], unknown[rows] = vectors, False
    names = pd.Series(np.array(tokens, dtype=object)[unknown])
    shares = keyed_uniform(names.repeat(dimension), np.tile(np.arange(dimension), len(names)))
    drawn = torch.special.ndtri(torch.from_numpy(shares.clip(1e-12, 1 - 1e-12))).numpy()
    seen = vectors[[word in learned for word in known]].astype(np.float64)
    matrix[unknown] = seen.mean() + seen.std() * drawn.reshape(-1, dimension)
    matrix[0] = 0
    return matrix


class WordVectors(torch.nn.Module):
    """Vectors of words by their numbers; they are trained with the model."""

    def __init__(self, vectors: np.ndarray):
        super().__init__()
        self.dimension = vectors.shape[1]
        self.table = torch.nn.Embedding.from_pretrained(
            torch.from_numpy(vectors), freeze=False, padding_idx=0
        )

    def forward(
        self, input_ids: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows, width) numbers → (rows, width, dimension) vectors, and the same lengths."""
        return self.table(input_ids), lengths


# ---- a frozen encoder


def write_apart(tokenizer: PreTrainedTokenizerFast) -> tuple[int, int]:
    """Make the tokenizer write a pair as two separate texts, the second of type 1,
    e.g. [CLS] a [SEP] [CLS] b [SEP].

    Return the number of special tokens before and after a text.
    """
    first, last = (
        tokenizer.convert_ids_to_tokens(side)
        for side in frame_of(tokenizer, tokenizer.name_or_path)
    )
    texts = [
        [
            *(f"{token}:{kind}" for token in first),
            f"${name}:{kind}",
            *(f"{token}:{kind}" for token in last),
        ]
        for kind, name in enumerate("AB")
    ]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=texts[0],
        pair=[*texts[0], *texts[1]],
        special_tokens=[
            (token, tokenizer.convert_tokens_to_ids(token)) for token in {*first, *last}
        ],
    )
    tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    return len(first), len(last)


class FrozenEncoder(torch.nn.Module):
    """The last hidden states of a transformer that does not learn, for texts alone, without special
    tokens.
    """

    def __init__(self, encoder: torch.nn.Module, padding: int, before: int, after: int):
        super().__init__()
        self.encoder = encoder.requires_grad_(False).eval()
        self.padding, self.before, self.after = padding, before, after
        self.dimension = encoder.config.hidden_size

    def train(self, mode: bool = True) -> "FrozenEncoder":
        """Change nothing: a frozen encoder has no dropout."""
        return self

    def forward(
        self, input_ids: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows, width) pieces → (rows, width without special tokens, dimension) states,
        and their lengths.
        """
        input_ids = torch.nn.functional.pad(
            input_ids, (0, max(0, self.before + 1 - input_ids.shape[1]))
        )
        # an encoder must read at least one token
        inside = positions(input_ids.shape[1], lengths.clamp(min=1))
        with torch.no_grad():
            states = self.encoder(
                input_ids=input_ids.masked_fill(~inside, self.padding), attention_mask=inside.long()
            ).last_hidden_state.float()
        lengths = (lengths - self.before - self.after).clamp(min=0)
        return states[:, self.before : self.before + max(1, int(lengths.max()))], lengths


def load_encoder(folder: Path, max_length: int) -> tuple[PreTrainedTokenizerFast, FrozenEncoder]:
    """A frozen encoder and its tokenizer, which writes a pair as two texts alone."""
    if not (folder / "model.safetensors").is_file():
        raise UserError(
            f"{folder}: has no model.safetensors, but an encoder that stays frozen needs trained "
            "weights; name a model that has them"
        )
    tokenizer = read_tokenizer(folder)
    config = read_config(folder, tokenizer, {"max_length": max_length})
    if config.is_encoder_decoder:
        raise UserError(
            f"{folder}: a {config.model_type} model also has a decoder; choose an encoder without "
            "one"
        )
    encoder, missing = read_network(AutoModel, folder, config)
    check_whole(folder, [key for key in missing if "pooler" not in key], "the encoder")
    before, after = write_apart(tokenizer)
    log.info(
        "%s: frozen, %.1f M weights, %d numbers a piece",
        folder,
        encoder.num_parameters() / 1e6,
        config.hidden_size,
    )
    return tokenizer, FrozenEncoder(encoder, tokenizer.pad_token_id, before, after)
