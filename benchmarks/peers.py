"""What the benchmarks of training share: models from configuration, texts of a corpus's lengths, our loop and a plain one.

The plain loop is the recipe of transformers' run_glue example: batches in random order, each padded to its longest text by a
collator in a DataLoader, fused AdamW with a linear schedule, gradients clipped, autocast; no deterministic mode. It scores in the
order of the file. Ours is scripts/train/{step,scoring}.py as the stage uses them.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import transformers
from accelerate import Accelerator
from torch.utils.data import DataLoader

from scripts.common.tables import read_table
from scripts.train import classify, generate
from scripts.train.batches import IGNORED, Examples, Ragged, epoch_batches, joined, repeated, tokenize
from scripts.train.hardware import Hardware
from scripts.train.labels import Head
from scripts.train.scoring import Scorer
from scripts.train.step import Learner, learning_rate, parameter_groups, tokens_that_fit
from scripts.train.stop import Stop

TRAINING = {"learning_rate": 2e-5, "warmup_ratio": 0.1, "weight_decay": 0.01, "gradient_clip": 1.0}
SEED = 1
STEPS = 1_000_000  # of the schedule: the rate is as good as constant
LARGE = {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096}
PADDING = {"input_ids": 0, "token_type_ids": 0, "decoder_input_ids": 0, "targets": IGNORED}
TINY = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 2, "intermediate_size": 128, "vocab_size": 1000}
TINY_T5 = {"num_layers": 2, "d_model": 64, "d_kv": 32, "num_heads": 2, "d_ff": 128, "vocab_size": 1000}


@dataclass(frozen=True)
class Model:
    """A model from configuration, with the batch size and the longest text of the paper that it stands for."""

    kind: str  # of configuration, in transformers
    options: dict
    batch_size: int
    max_length: int
    folder: Path | None = None  # of a model with weights and tokenizer, instead

    @property
    def generates(self) -> bool:
        return self.kind == "T5Config"


MODELS = {
    "bert-base": Model("BertConfig", {}, 64, 128),  # Jain et al. 2020
    "bert-large": Model("BertConfig", LARGE, 64, 128),  # tried there
    "roberta-large": Model("RobertaConfig", LARGE | {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},
                           16, 128),  # Thukral et al. 2021
    "t5-base": Model("T5Config", {"d_model": 768, "d_kv": 64, "d_ff": 3072, "num_layers": 12, "num_heads": 12}, 32, 512),  # Qin et al. 2021
    "tiny-bert": Model("BertConfig", TINY, 8, 64),
    "tiny-t5": Model("T5Config", TINY_T5, 8, 64),
}


def network_of(model: Model):
    """The network, untrained: the cost of a step does not depend on the weights."""
    torch.manual_seed(SEED)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    if model.folder:
        return transformers.AutoModelForSequenceClassification.from_pretrained(model.folder, num_labels=2, use_safetensors=True,
                                                                               trust_remote_code=False, dtype=torch.float32)
    config = getattr(transformers, model.kind)(**model.options, **({"decoder_start_token_id": 0} if model.generates else {"num_labels": 2}))
    kind = transformers.AutoModelForSeq2SeqLM if model.generates else transformers.AutoModelForSequenceClassification
    return kind.from_config(config)


def words_of(file: Path | None, n: int, generates: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """Words and signs of the first and of the second text of n examples, and where the numbers are from.

    file: a Parquet file with text_a and text_b, or context and candidate; n rows are drawn. Without one they are drawn as those of
    pairs of ActivityNet's captions are (log-normal, median 14, standard deviation 0.40 of the logarithm), and for a model that
    generates from dialogs (median 110, 0.45) with answers of 1 to 4 words.
    """
    draw = np.random.default_rng(0)
    if file:
        names = read_table(file).schema.names
        pair = ["text_a", "text_b"] if "text_a" in names else ["context", "candidate"]
        table = read_table(file, pair).to_pandas().sample(n, replace=True, random_state=0)
        first, second = (table[name].str.count(r"\w+|[^\w\s]").to_numpy() for name in pair)
        return first, second, f"words and signs of {file.name}"
    lengths = [np.exp(draw.normal(np.log(median), spread, n)).round().astype(int).clip(1)
               for median, spread in ((14, 0.40), (14, 0.40), (110, 0.45))]
    if generates:
        return lengths[2], draw.integers(1, 5, n), "drawn, as words of dialogs"
    return lengths[0], lengths[1], "drawn, as words of ActivityNet's pairs"


def examples_of(model: Model, file: Path | None, n: int) -> tuple[Examples, str]:
    """n examples of random tokens: a word or sign is a token, special ones come to them; and where the lengths are from.

    A model of a folder reads the texts themselves.
    """
    if model.folder:
        texts = read_table(file, ["text_a", "text_b"]).to_pandas().sample(n, replace=True, random_state=0)
        tokenizer = transformers.AutoTokenizer.from_pretrained(model.folder, trust_remote_code=False)
        pair = [texts["text_a"].tolist(), texts["text_b"].tolist()]
        return tokenize(tokenizer, pair, np.arange(n) % 2, model.max_length), f"texts of {file.name}"
    first, second, source = words_of(file, n, model.generates)
    draw, vocabulary = np.random.default_rng(1), network_vocabulary(model)

    def tokens(lengths: np.ndarray) -> Ragged:
        return Ragged.of(draw.integers(5, vocabulary, lengths.sum()), lengths)

    labels, choices = draw.integers(0, 2, n), np.arange(n)
    if not model.generates:
        return Examples({"input_ids": tokens((first + second + 3).clip(max=model.max_length))}, labels, choices, 0), source
    answer = tokens(second.clip(1, 16))
    fields = {"input_ids": tokens((first + 2).clip(max=model.max_length)),
              "decoder_input_ids": joined(repeated([0, 4], n), answer.cut(np.zeros_like(answer.lengths), answer.lengths - 1)),
              "targets": joined(repeated([IGNORED], n), answer)}
    return Examples(fields, np.ones(n, np.int64), choices, 0), source


def network_vocabulary(model: Model) -> int:
    """How many tokens the model knows."""
    return getattr(transformers, model.kind)(**model.options).vocab_size


class Classifies(classify.Paradigm):
    """The paradigm classify over a given network and given tokens."""

    def __init__(self, network):
        self.network, self.width, self.head, self.padding = network, 2, Head(["a", "b"], [0, 1], None), PADDING


class Generates(generate.Paradigm):
    """The paradigm generate over a given network and given tokens."""

    def __init__(self, network):
        self.network, self.width, self.padding = network, 1, PADDING


def paradigm_of(model: Model, network):
    return (Generates if model.generates else Classifies)(network)


def hardware_of(accelerator: Accelerator, precision: str) -> Hardware:
    """Hardware as scripts/train/hardware.py has it, for a run that has the device to itself."""
    cuda = accelerator.device.type == "cuda"
    memory = torch.cuda.get_device_properties(accelerator.device).total_memory if cuda else 0
    return Hardware("", 1, torch.get_num_threads(), precision, True, cuda, memory)


class Ours:
    """Our loop, step by step: call it for one step of learning; returns how many examples it learnt from."""

    def __init__(self, model: Model, examples: Examples, precision: str, accelerator: Accelerator, compiled: bool = False,
                 micro_batch_tokens: int | None = None, paradigm=None):
        self.examples, self.size, self.taken = examples, model.batch_size, 0
        self.paradigm, hardware = paradigm or paradigm_of(model, network_of(model)), hardware_of(accelerator, precision)
        training, network = TRAINING | {"compile": compiled, "max_length": model.max_length}, self.paradigm.network
        hardware.prepare(network, training)
        optimizer = torch.optim.AdamW(parameter_groups(network, training["weight_decay"]), lr=1e-5, fused=True)
        self.network, optimizer = accelerator.prepare(network, optimizer)
        self.learner = Learner(accelerator, self.paradigm, optimizer, self.network.train(), training, SEED, STEPS, precision,
                               micro_batch_tokens or tokens_that_fit(network, hardware, model.max_length))
        self.scorer = Scorer(accelerator, self.network, self.paradigm, Stop(None))

    @property
    def steps(self) -> int:
        """Of an epoch."""
        return -(-len(self.examples) // self.size)

    def __call__(self) -> int:
        """One step of learning."""
        set_modes(deterministic=True)
        epoch, step = divmod(self.taken, self.steps)
        if step == 0:
            self.batches = epoch_batches(self.examples.lengths, self.size, SEED, epoch)
        rows = self.batches[step]
        self.sums = self.learner.step(self.examples, rows, epoch, step, self.taken)
        self.taken += 1
        return len(rows)

    def score(self) -> torch.Tensor:
        """The scores of all examples."""
        set_modes(deterministic=True)
        return self.scorer.scores(self.examples)


class Plain:
    """The plain loop, step by step, over the same examples."""

    def __init__(self, model: Model, examples: Examples, precision: str, accelerator: Accelerator):
        self.device, self.precision, self.taken = accelerator.device, precision, 0
        self.network = network_of(model).to(self.device).train()
        self.optimizer = torch.optim.AdamW(parameter_groups(self.network, TRAINING["weight_decay"]), lr=1e-5, fused=True)
        # As a tokenized dataset gives them: lists of numbers by name.
        rows = {name: [field.flat[start : start + length].tolist() for start, length in zip(field.starts, field.lengths)]
                for name, field in examples.fields.items()}
        self.rows = [dict(zip([*rows, "label"], values)) for values in zip(*rows.values(), examples.labels.tolist())]
        options = {"batch_size": model.batch_size, "collate_fn": self.collate, "pin_memory": self.device.type == "cuda"}
        self.shuffled, self.in_order = DataLoader(self.rows, shuffle=True, **options), DataLoader(self.rows, **options)
        self.batches = iter(())

    def collate(self, rows: list[dict]) -> dict[str, torch.Tensor]:
        """Rows padded to the longest of them."""
        width = {name: max(len(row[name]) for row in rows) for name in rows[0] if name != "label"}
        padded = {name: torch.tensor([row[name] + [PADDING[name]] * (longest - len(row[name])) for row in rows])
                  for name, longest in width.items()}
        lengths = torch.tensor([len(row["input_ids"]) for row in rows])
        padded["attention_mask"] = (torch.arange(width["input_ids"]) < lengths[:, None]).long()
        padded["labels"] = padded.pop("targets") if "targets" in padded else torch.tensor([row["label"] for row in rows])
        return padded

    def forward(self, batch: dict[str, torch.Tensor]):
        batch = {name: values.to(self.device, non_blocking=True) for name, values in batch.items()}
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            return self.network(**batch)

    def __call__(self) -> int:
        set_modes(deterministic=False)
        batch = next(self.batches, None)
        if batch is None:
            self.batches = iter(self.shuffled)
            batch = next(self.batches)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.taken, STEPS, TRAINING)
        self.forward(batch).loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), TRAINING["gradient_clip"])
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.taken += 1
        return len(batch["input_ids"])

    def score(self) -> None:
        """Read all examples and keep the logits on the CPU."""
        set_modes(deterministic=False)
        self.network.eval()
        with torch.inference_mode():
            for batch in self.in_order:
                logits = self.forward(batch).logits.float()
                if batch["labels"].dim() == 2:  # of a sequence: its likelihood
                    wanted = batch["labels"].to(self.device)
                    logits = torch.nn.functional.cross_entropy(logits.transpose(1, 2), wanted, reduction="none").sum(1)
                logits.cpu()
        self.network.train()


def set_modes(deterministic: bool) -> None:
    """The modes of scripts/train/hardware.py, or torch's own."""
    torch.use_deterministic_algorithms(deterministic)
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cuda.enable_cudnn_sdp(not deterministic)


def seconds(device: torch.device) -> float:
    """The clock: CPU seconds of this process on a CPU, of which other work takes none; wall time once the GPU is done."""
    if device.type == "cuda":
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def rates(contenders: dict, steps: int, warm: int, device: torch.device) -> dict[str, float]:
    """Examples a second of contenders that take steps in turn; each calls warm steps before, which do not count."""
    for contender in contenders.values():
        for _ in range(warm):
            contender()
    spent, learnt = dict.fromkeys(contenders, 0.0), dict.fromkeys(contenders, 0)
    for _ in range(steps):
        for name, contender in contenders.items():
            begun = seconds(device)
            learnt[name] += contender()
            spent[name] += seconds(device) - begun
    return {name: learnt[name] / spent[name] for name in contenders}


def rate_of(read, examples: int, device: torch.device) -> float:
    """Examples a second of a call that reads them all, the second time."""
    read()
    begun = seconds(device)
    read()
    return examples / (seconds(device) - begun)
