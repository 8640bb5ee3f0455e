"""ESIM, a classifier of pairs of texts without a transformer (Chen et al. 2017, the sequential
model).

The settings are those of AllenNLP's SNLI model, which MC-TACO took. Its layers are:
  1. a BiLSTM over each text
  2. a soft alignment by dot products
  3. a BiLSTM over the aligned texts
  4. average and maximum over the words
  5. one hidden layer

config.json of the model's folder names one of two kinds of words:

    {"model_type": "esim", "hidden_size": 300, "vectors": "glove.840B.300d.zip"}    word vectors,
        which are trained with the model
    {"model_type": "esim", "hidden_size": 300, "encoder": true}    a frozen transformer in encoder/,
        in the role of ELMo

With vectors a text is lower-cased as there (`"lower_case": false` keeps its case). With an encoder,
a word is a piece of the encoder's own tokenizer. The encoder reads premise and hypothesis
separately, as ELMo did.

Reads  <model>/config.json and <model>/<vectors>, or <model>/encoder/ (config.json, tokenizer.json,
       model.safetensors)
"""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pyarrow as pa
import torch
from tokenizers import trainers
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers.modeling_outputs import SequenceClassifierOutput

from scripts.running.program import UserError
from scripts.train import labels
from scripts.train.paradigms import classify
from scripts.train.paradigms.esim_words import (
    UNKNOWN,
    FrozenEncoder,
    WordVectors,
    build_tokenizer,
    initial_vectors,
    load_encoder,
    positions,
    word_level,
)
from scripts.train.labels import Head
from scripts.train.paradigms.vectors import read_vectors

KEYS = {"model_type", "hidden_size", "vectors", "lower_case", "encoder"}
DROPOUT = 0.5


# ---- the network


def gathered(input_ids: torch.Tensor, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The chosen tokens of each row moved to its start, (rows, longest), and how many they are;
    the remaining places hold no text.
    """
    lengths = chosen.sum(1)
    order = torch.argsort((~chosen).long(), dim=1, stable=True)[:, : max(1, int(lengths.max()))]
    return input_ids.gather(1, order), lengths


class Esim(torch.nn.Module):
    """Logits for pairs of texts. A text without words is all zeros. Padding changes nothing.

    words: WordVectors or FrozenEncoder. All parts except an encoder compute in fp32, even under
    autocast.
    """

    def __init__(
        self,
        words: WordVectors | FrozenEncoder,
        labels: int,
        hidden: int = 300,
        dropout: float = DROPOUT,
    ):
        super().__init__()
        self.words, self.dropout = words, dropout
        self.input = torch.nn.LSTM(words.dimension, hidden, batch_first=True, bidirectional=True)
        self.projection = torch.nn.Linear(8 * hidden, hidden)
        self.inference = torch.nn.LSTM(hidden, hidden, batch_first=True, bidirectional=True)
        self.hidden = torch.nn.Linear(8 * hidden, hidden)
        self.output = torch.nn.Linear(hidden, labels)
        for lstm in (self.input, self.inference):
            for name, weight in lstm.named_parameters():
                if name.startswith("weight_ih"):
                    torch.nn.init.xavier_uniform_(weight)
                elif name.startswith("weight_hh"):
                    torch.nn.init.orthogonal_(weight)
                else:
                    torch.nn.init.zeros_(weight)
                # the second of four gates: at first the network forgets nothing
                if name.startswith("bias_hh"):
                    weight.data[hidden : 2 * hidden] = 1
        for linear in (self.projection, self.hidden, self.output):
            torch.nn.init.xavier_uniform_(linear.weight)
            torch.nn.init.zeros_(linear.bias)

    def forward(
        self,
        input_ids: torch.Tensor,
        token_type_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
    ) -> SequenceClassifierOutput:
        """Scores of (rows, width) tokens: type 0 is the premise, 1 the hypothesis;
        .logits is (rows, labels).
        """
        real = (
            torch.ones_like(input_ids).bool() if attention_mask is None else attention_mask.bool()
        )
        second = torch.zeros_like(real) if token_type_ids is None else token_type_ids.bool()
        if input_ids.shape[1] == 0:  # no row has a word
            input_ids, real, second = (
                torch.nn.functional.pad(field, (0, 1)) for field in (input_ids, real, second)
            )
        texts = [self.words(*gathered(input_ids, real & part)) for part in (~second, second)]
        with torch.autocast(input_ids.device.type, enabled=False):
            return SequenceClassifierOutput(logits=self.classify(*texts))

    def classify(
        self,
        premise: tuple[torch.Tensor, torch.Tensor],
        hypothesis: tuple[torch.Tensor, torch.Tensor],
    ):
        """(rows, labels) logits from the words of both texts,
        each (rows, longest, dimension) with its lengths.
        """
        (a, a_lengths), (b, b_lengths) = premise, hypothesis
        a_real, b_real = positions(a.shape[1], a_lengths), positions(b.shape[1], b_lengths)
        a, b = self.encode(self.input, a, a_lengths), self.encode(self.input, b, b_lengths)
        alike = a @ b.transpose(1, 2)
        a_aligned = attention(alike, b_real) @ b
        b_aligned = attention(alike.transpose(1, 2), a_real) @ a
        pooled = [
            average_and_maximum(
                self.encode(self.inference, self.enhance(text, aligned), lengths), lengths
            )
            for text, aligned, lengths in ((a, a_aligned, a_lengths), (b, b_aligned, b_lengths))
        ]
        pooled = torch.nn.functional.dropout(torch.cat(pooled, 1), self.dropout, self.training)
        hidden = torch.nn.functional.dropout(
            self.hidden(pooled).relu(), self.dropout, self.training
        )
        return self.output(hidden)

    def encode(
        self, lstm: torch.nn.LSTM, values: torch.Tensor, lengths: torch.Tensor
    ) -> torch.Tensor:
        """Both directions over each row's real positions, zeros elsewhere;
        one dropout mask for all words of a row.
        """
        mask = torch.nn.functional.dropout(
            torch.ones_like(values[:, :1]), self.dropout, self.training
        )
        packed = pack_padded_sequence(
            values * mask, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        read, _ = pad_packed_sequence(
            lstm(packed)[0], batch_first=True, total_length=values.shape[1]
        )
        return read * (lengths > 0)[:, None, None]

    def enhance(self, text: torch.Tensor, aligned: torch.Tensor) -> torch.Tensor:
        """A text, the other text aligned to it, their difference and their product, in fewer
        numbers.
        """
        return self.projection(
            torch.cat([text, aligned, text - aligned, text * aligned], -1)
        ).relu()


def attention(alike: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Each row's weights over the other text's real positions: they sum to 1,
    or to 0 where it has none.
    """
    weights = torch.softmax(alike.masked_fill(~real[:, None], torch.finfo(alike.dtype).min), -1)
    return weights * real[:, None]


def average_and_maximum(values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """(rows, 2 × dimension) from (rows, width, dimension), over the real positions;
    zeros where there are none.
    """
    real = positions(values.shape[1], lengths)[..., None]
    average = (values * real).sum(1) / lengths.clamp(min=1)[:, None]
    maximum = values.masked_fill(~real, torch.finfo(values.dtype).min).amax(1)
    return torch.cat([average, maximum * (lengths > 0)[:, None]], 1)


# ---- from files


def read_config(model: Path) -> dict:
    """config.json of an ESIM model, with lower_case. Raises UserError for a wrong value."""
    file = model / "config.json"
    config = labels.read_config(model)
    if unknown := sorted(set(config) - KEYS):
        raise UserError(
            f"{file}: unknown key {unknown[0]}; an ESIM model has {', '.join(sorted(KEYS))}"
        )
    hidden = config.get("hidden_size")
    if not isinstance(hidden, int) or isinstance(hidden, bool) or hidden < 1:
        raise UserError(
            f"{file}: hidden_size is {hidden!r}; write a whole number above 0, as the published 300"
        )
    if ("vectors" in config) == bool(config.get("encoder")):
        raise UserError(
            f'{file}: an ESIM model has either vectors (a file in its folder) or "encoder": true; '
            "write one of them"
        )
    return {"lower_case": True} | config


def words_of(model: Path, texts: Iterable[str]) -> set[str] | None:
    """Return the words of texts as the model's tokenizer splits them; None for a model over an
    encoder, which does not need a list of words.
    """
    config = read_config(model)
    if "vectors" not in config:
        return None
    counter = word_level({UNKNOWN: 0}, config["lower_case"])
    everything = trainers.WordLevelTrainer(vocab_size=2**31, min_frequency=0, show_progress=False)
    counter.train_from_iterator(texts, everything)
    return set(counter.get_vocab())


def load(model: Path, head: Head, training: dict, words: set[str], learned: set[str]):
    """The tokenizer and the network with a fresh head; training's dropout, or 0.5.

    The caller seeds torch.

    words: all words of the texts that will be read (words_of); learned: those of the texts to
    learn from. Both are not used for a model over an encoder. Raises UserError for a wrong
    configuration, and for vectors that know none of the learned words. Raises UserError for an
    encoder without weights, or with a too long max_length.
    """
    config = read_config(model)
    dropout = DROPOUT if training.get("dropout") is None else training["dropout"]
    if "vectors" in config:
        known, vectors = read_vectors(model / config["vectors"], words)
        if learned.isdisjoint(known):
            raise UserError(
                f"{model / config['vectors']}: has none of the {len(learned)} words of the texts "
                "to learn from; name vectors of their language, and see whether lower_case in "
                "config.json fits them"
            )
        tokenizer = build_tokenizer(words, config["lower_case"])
        tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        embedded = WordVectors(initial_vectors(tokens, known, vectors, learned))
    else:
        tokenizer, embedded = load_encoder(model / "encoder", training["max_length"])
    return tokenizer, Esim(embedded, len(head.labels), config["hidden_size"], dropout)


class Paradigm(classify.Paradigm):
    """Classification by ESIM: the words come from the texts of the run."""

    def load(self, model: Path, training: dict, tables: dict[str, pa.Table]):
        """Tokenizer and network."""

        def words(*of: pa.Table) -> set[str] | None:
            columns = (table[name].to_pylist() for table in of for name in self.inputs)
            return words_of(model, chain.from_iterable(columns))

        every, learned = words(*tables.values()), words(tables["learned"])
        return load(model, self.head, training, every, learned)  # type: ignore[arg-type]  # None is not used
