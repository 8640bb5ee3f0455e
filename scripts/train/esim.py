"""ESIM, a classifier of pairs of texts without a transformer (Chen et al. 2017, the sequential model).

As in AllenNLP's SNLI setting, which MC-TACO took: a BiLSTM over each text, soft alignment by dot products, a BiLSTM
over what the alignment adds, average and maximum over the words, one hidden layer. Its words are one of two kinds, by
config.json of the model's folder:

    {"model_type": "esim", "hidden_size": 300, "vectors": "glove.840B.300d.zip"}    word vectors, trained along
    {"model_type": "esim", "hidden_size": 300, "encoder": true}    a frozen transformer in encoder/, ELMo's role

With vectors a text is lower-cased as there (`"lower_case": false` keeps its case). With an encoder, a word is a piece
of the encoder's own tokenizer, and the encoder reads premise and hypothesis apart, as ELMo did.

Reads  <model>/config.json and <model>/<vectors>, or <model>/encoder/ (config.json, tokenizer.json, model.safetensors)
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast
from transformers.modeling_outputs import SequenceClassifierOutput

from scripts.common.keyed import keyed_uniform
from scripts.common.program import UserError, log
from scripts.train import classify, labels
from scripts.train.labels import Head
from scripts.train.paradigm import loading, read_tokenizer
from scripts.train.vectors import read_vectors

KEYS = {"model_type", "hidden_size", "vectors", "lower_case", "encoder"}
PAD, UNKNOWN = "[PAD]", "[UNK]"
DROPOUT = 0.5
# Tokens as GloVe's corpora have them: abbreviations (a.m.), the number of a clock time (5 pm), other numbers (2.5,
# 10:30) and contractions (do n't, it 's) in the Penn Treebank's way, then words, and every other sign alone.
TOKENS = (r"(?i)(?:[a-z]\.){2,}|\d+(?:[.,:]\d+)*(?=[ap]\.?m\b)|\d+(?:[.,:]\d+)+"
          r"|\w+?(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b|\w+|[^\w\s]")


# ---- words

def word_level(vocabulary: dict[str, int], lower_case: bool) -> Tokenizer:
    """A tokenizer of whole words; control signs and soft hyphens go, every kind of space is one."""
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(handle_chinese_chars=False, strip_accents=False,
                                                      lowercase=lower_case)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(TOKENS), behavior="removed", invert=True)
    return tokenizer


def build_tokenizer(words: Iterable[str], lower_case: bool = True) -> PreTrainedTokenizerFast:
    """The tokenizer of these words: [PAD], [UNK], then the words in their order by alphabet.

    A pair is its premise, of type 0, and its hypothesis, of type 1, with nothing between: the types divide them.
    """
    vocabulary = {word: number for number, word in enumerate([PAD, UNKNOWN, *sorted(set(words) - {PAD, UNKNOWN})])}
    tokenizer = word_level(vocabulary, lower_case)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair="$A $B:1", special_tokens=[])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=PAD, unk_token=UNKNOWN, padding_side="right",
                                   model_input_names=["input_ids", "token_type_ids", "attention_mask"])


def words_of(model: Path, texts: Iterable[str]) -> set[str] | None:
    """The words of texts as the model's tokenizer splits them; None for a model over an encoder, which needs none."""
    config = read_config(model)
    if "vectors" not in config:
        return None
    counter = word_level({UNKNOWN: 0}, config["lower_case"])
    everything = trainers.WordLevelTrainer(vocab_size=2**31, min_frequency=0, show_progress=False)
    counter.train_from_iterator(texts, everything)
    return set(counter.get_vocab())


def initial_vectors(tokens: list[str], known: list[str], vectors: np.ndarray) -> np.ndarray:
    """(tokens, dimension) float32: the vector of each token, zeros for the first, which pads.

    A token without one draws each number from the normal distribution with mean and standard deviation of the known
    ones, as in AllenNLP, but by a hash of the token: the same draws in every run, whatever the other tokens.
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
    matrix[unknown] = vectors.mean(dtype=np.float64) + vectors.std(dtype=np.float64) * drawn.reshape(-1, dimension)
    matrix[0] = 0
    return matrix


class WordVectors(torch.nn.Module):
    """Vectors of words by their numbers; they are trained along."""

    def __init__(self, vectors: np.ndarray):
        super().__init__()
        self.dimension = vectors.shape[1]
        self.table = torch.nn.Embedding.from_pretrained(torch.from_numpy(vectors), freeze=False, padding_idx=0)

    def forward(self, input_ids: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows, width) numbers → (rows, width, dimension) vectors, and the lengths as they are."""
        return self.table(input_ids), lengths


# ---- a frozen encoder

def apart(tokenizer: PreTrainedTokenizerFast) -> tuple[int, int]:
    """Make the tokenizer write a pair as two texts alone, the second of type 1, e.g. [CLS] a [SEP] [CLS] b [SEP].

    Returns how many special tokens stand before and after a text.
    """
    inside, whole = tokenizer("a", add_special_tokens=False)["input_ids"], tokenizer("a")["input_ids"]
    before = next((place for place in range(len(whole)) if whole[place : place + len(inside)] == inside), None)
    if before is None:
        raise UserError(f"{tokenizer.name_or_path}: the tokenizer writes a text otherwise between its special tokens "
                        "than alone; choose another encoder")
    first, last = (tokenizer.convert_ids_to_tokens(side) for side in (whole[:before], whole[before + len(inside) :]))
    texts = [[*(f"{token}:{kind}" for token in first), f"${name}:{kind}", *(f"{token}:{kind}" for token in last)]
             for kind, name in enumerate("AB")]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=texts[0], pair=[*texts[0], *texts[1]],
        special_tokens=[(token, tokenizer.convert_tokens_to_ids(token)) for token in {*first, *last}])
    tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    return len(first), len(last)


class FrozenEncoder(torch.nn.Module):
    """The last hidden states of a transformer that does not learn, for texts alone, without its special tokens."""

    def __init__(self, encoder: torch.nn.Module, padding: int, before: int, after: int):
        super().__init__()
        self.encoder = encoder.requires_grad_(False).eval()
        self.padding, self.before, self.after = padding, before, after
        self.dimension = encoder.config.hidden_size

    def train(self, mode: bool = True) -> "FrozenEncoder":
        """Nothing changes: no dropout in what does not learn."""
        return self

    def forward(self, input_ids: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows, width) pieces → (rows, width without special tokens, dimension) states, and their lengths."""
        input_ids = torch.nn.functional.pad(input_ids, (0, max(0, self.before + 1 - input_ids.shape[1])))
        inside = positions(input_ids.shape[1], lengths.clamp(min=1))  # an encoder must have something to look at
        with torch.no_grad():
            states = self.encoder(input_ids=input_ids.masked_fill(~inside, self.padding),
                                  attention_mask=inside.long()).last_hidden_state.float()
        lengths = (lengths - self.before - self.after).clamp(min=0)
        return states[:, self.before : self.before + max(1, int(lengths.max()))], lengths


# ---- the network

def positions(width: int, lengths: torch.Tensor) -> torch.Tensor:
    """(rows, width): whether a position is before the end of its row."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]


def gathered(input_ids: torch.Tensor, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The chosen tokens of each row moved to its start, (rows, longest), and how many they are; the rest is no text."""
    lengths = chosen.sum(1)
    order = torch.argsort((~chosen).long(), dim=1, stable=True)[:, : max(1, int(lengths.max()))]
    return input_ids.gather(1, order), lengths


class Esim(torch.nn.Module):
    """Logits for pairs of texts. A text without words stands as zeros. Padding changes nothing.

    words: WordVectors or FrozenEncoder. All but an encoder computes in fp32, under autocast as well.
    """

    def __init__(self, words: WordVectors | FrozenEncoder, labels: int, hidden: int = 300, dropout: float = DROPOUT):
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
                if name.startswith("bias_hh"):  # the second of four gates: at first nothing is forgotten
                    weight.data[hidden : 2 * hidden] = 1
        for linear in (self.projection, self.hidden, self.output):
            torch.nn.init.xavier_uniform_(linear.weight)
            torch.nn.init.zeros_(linear.bias)

    def forward(self, input_ids: torch.Tensor, token_type_ids: torch.Tensor | None = None,
                attention_mask: torch.Tensor | None = None) -> SequenceClassifierOutput:
        """Scores of (rows, width) tokens: type 0 is the premise, 1 the hypothesis; .logits is (rows, labels)."""
        real = torch.ones_like(input_ids).bool() if attention_mask is None else attention_mask.bool()
        second = torch.zeros_like(real) if token_type_ids is None else token_type_ids.bool()
        if input_ids.shape[1] == 0:  # no row has a word
            input_ids, real, second = (torch.nn.functional.pad(field, (0, 1)) for field in (input_ids, real, second))
        texts = [self.words(*gathered(input_ids, real & part)) for part in (~second, second)]
        with torch.autocast(input_ids.device.type, enabled=False):
            return SequenceClassifierOutput(logits=self.classify(*texts))

    def classify(self, premise: tuple[torch.Tensor, torch.Tensor], hypothesis: tuple[torch.Tensor, torch.Tensor]):
        """(rows, labels) logits from the words of both texts, each (rows, longest, dimension) with its lengths."""
        (a, a_lengths), (b, b_lengths) = premise, hypothesis
        a_real, b_real = positions(a.shape[1], a_lengths), positions(b.shape[1], b_lengths)
        a, b = self.encode(self.input, a, a_lengths), self.encode(self.input, b, b_lengths)
        alike = a @ b.transpose(1, 2)
        a_aligned = attention(alike, b_real) @ b
        b_aligned = attention(alike.transpose(1, 2), a_real) @ a
        pooled = [average_and_maximum(self.encode(self.inference, self.enhance(text, aligned), lengths), lengths)
                  for text, aligned, lengths in ((a, a_aligned, a_lengths), (b, b_aligned, b_lengths))]
        pooled = torch.nn.functional.dropout(torch.cat(pooled, 1), self.dropout, self.training)
        hidden = torch.nn.functional.dropout(self.hidden(pooled).relu(), self.dropout, self.training)
        return self.output(hidden)

    def encode(self, lstm: torch.nn.LSTM, values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Both directions over each row's real positions, zeros elsewhere; one dropout mask for all words of a row."""
        mask = torch.nn.functional.dropout(torch.ones_like(values[:, :1]), self.dropout, self.training)
        packed = pack_padded_sequence(values * mask, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
        read, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True, total_length=values.shape[1])
        return read * (lengths > 0)[:, None, None]

    def enhance(self, text: torch.Tensor, aligned: torch.Tensor) -> torch.Tensor:
        """What a text is, what the other says of it, how they differ and agree, in fewer numbers."""
        return self.projection(torch.cat([text, aligned, text - aligned, text * aligned], -1)).relu()


def attention(alike: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """Each row's weights over the other text's real positions: they sum to 1, or to 0 where it has none."""
    weights = torch.softmax(alike.masked_fill(~real[:, None], torch.finfo(alike.dtype).min), -1)
    return weights * real[:, None]


def average_and_maximum(values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """(rows, 2 × dimension) from (rows, width, dimension), over the real positions; zeros where there are none."""
    real = positions(values.shape[1], lengths)[..., None]
    average = (values * real).sum(1) / lengths.clamp(min=1)[:, None]
    maximum = values.masked_fill(~real, torch.finfo(values.dtype).min).amax(1)
    return torch.cat([average, maximum * (lengths > 0)[:, None]], 1)


# ---- from files

def read_config(model: Path) -> dict:
    """config.json of an ESIM model, with lower_case. Raises UserError for what it may not say."""
    file = model / "config.json"
    config = labels.read_config(model)
    if unknown := sorted(set(config) - KEYS):
        raise UserError(f"{file}: unknown key {unknown[0]}; an ESIM model has {', '.join(sorted(KEYS))}")
    hidden = config.get("hidden_size")
    if not isinstance(hidden, int) or isinstance(hidden, bool) or hidden < 1:
        raise UserError(f"{file}: hidden_size is {hidden!r}; write a whole number above 0, as the published 300")
    if ("vectors" in config) == bool(config.get("encoder")):
        raise UserError(f"{file}: an ESIM model has either vectors (a file in its folder) or \"encoder\": true; "
                        "write one of them")
    return {"lower_case": True} | config


def load(model: Path, head: Head, training: dict, words: set[str] | None):
    """The tokenizer and the network with a fresh head; training's dropout, or 0.5. The caller seeds torch.

    words: those of all texts that will be read (words_of); None for a model over an encoder. Raises UserError for a
    wrong configuration, for vectors of none of the words, for an encoder without weights, and where max_length is too
    long for it.
    """
    config = read_config(model)
    dropout = DROPOUT if training.get("dropout") is None else training["dropout"]
    if "vectors" in config:
        known, vectors = read_vectors(model / config["vectors"], words)
        if not known:
            raise UserError(f"{model / config['vectors']}: has none of the {len(words)} words of the texts; name "
                            "vectors of their language, and see whether lower_case in config.json fits them")
        tokenizer = build_tokenizer(words, config["lower_case"])
        tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        embedded = WordVectors(initial_vectors(tokens, known, vectors))
    else:
        tokenizer, embedded = load_encoder(model / "encoder", training["max_length"])
    return tokenizer, Esim(embedded, len(head.labels), config["hidden_size"], dropout)


def load_encoder(folder: Path, max_length: int) -> tuple[PreTrainedTokenizerFast, FrozenEncoder]:
    """A frozen encoder and its tokenizer, which writes a pair as two texts alone."""
    if not (folder / "model.safetensors").is_file():
        raise UserError(f"{folder}: has no model.safetensors, but an encoder that stays frozen needs trained weights; "
                        "name a model that has them")
    tokenizer = read_tokenizer(folder)
    with loading(folder, "config.json"):
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    if config.is_encoder_decoder:
        raise UserError(f"{folder}: a {config.model_type} model also decodes; choose one that is an encoder alone")
    longest = min(tokenizer.model_max_length, getattr(config, "max_position_embeddings", max_length))
    if max_length > longest:
        raise UserError(f"{folder}: takes {longest} tokens at most, but max_length is {max_length}; "
                        f"write `training: {{max_length: {longest}}}`")
    with loading(folder, "config.json and model.safetensors"):
        encoder, report = AutoModel.from_pretrained(folder, config=config, use_safetensors=True, trust_remote_code=False,
                                                    output_loading_info=True, dtype=torch.float32)
    if lost := sorted(key for key in report["missing_keys"] if "pooler" not in key):
        raise UserError(f"{folder}/model.safetensors: {len(lost)} weights of the encoder are missing, {lost[0]} first; "
                        "fetch the model again or choose another")
    before, after = apart(tokenizer)
    log.info("%s: frozen, %.1f M weights, %d numbers a piece", folder, encoder.num_parameters() / 1e6,
             config.hidden_size)
    return tokenizer, FrozenEncoder(encoder, tokenizer.pad_token_id, before, after)


class Paradigm(classify.Paradigm):
    """Classification by ESIM: the words come from the texts of the run."""

    def load(self, model: Path, training: dict, tables: dict[str, pa.Table]):
        """Tokenizer and network."""
        texts = (text for table in tables.values() for name in self.inputs for text in table[name].to_pylist())
        return load(model, self.head, training, words_of(model, texts))
