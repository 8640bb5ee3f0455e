"""Count what a study computes: examples × tokens × epochs, and operations, of each run of its plan.

Reading a text of T tokens takes
  2·N·T              operations for the N weights that its layers multiply by
  4·layers·width·T²  operations for attention
A training step takes three times as many. Each epoch is scored on the held-out examples; the
evaluation splits are scored at most as often as there are epochs. Not counted: embeddings, the text
that a decoder of a T5 writes, padding, tokenizing, cleaning, building, evaluating.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from scripts.plan.expected import SIZES, Size, stated
from scripts.running.program import UserError
from scripts.data.tables import read_table

LOOKED_AT = 4000  # rows whose words are counted
SPECIAL = 3  # special tokens of an example
GATED = ("llama", "gemma", "qwen", "mistral", "modernbert")  # feed-forward layers of three matrices
# The share of a text's tokens that pass the head, which is as wide as the vocabulary.
ASKED = {"mlm": 0.15, "clm": 1.0}
FROM_RIGHT = ("fill", "generate", "mlm", "clm")


def built_size(
    folder: Path, splits: list[str], held_out: str | None, inputs: list[str]
) -> Size | None:
    """Return the size of a built dataset; None if it is not built."""
    if not (folder / "manifest.json").exists():
        return None
    rows = {
        split: pq.ParquetFile(folder / f"{split}.parquet").metadata.num_rows
        for split in [*splits, *([held_out] if held_out else [])]
    }
    texts = (
        read_table(folder / f"{splits[-1]}.parquet", [*inputs, "label"])
        .slice(0, LOOKED_AT)
        .to_pandas()
    )
    tokens = sum(texts[name].str.count(r"\w+|[^\w\s]") for name in inputs).mean() + SPECIAL
    learn = read_table(folder / f"{splits[0]}.parquet", ["label"])["label"].to_numpy()
    return Size(
        rows[splits[0]],
        rows.get(held_out, 0),
        sum(rows[split] for split in splits[1:]),
        tokens,
        float((learn == 1).mean()),
        True,
        "built here",
    )


def shape_of(name: str, models: dict, fetched: Path) -> dict:
    """Return the architecture of a model: from the fetched model, else from its entry, else from
    sizes.yaml.

    Raises UserError if it is in none of these places.
    """
    entry = models[name]
    for stage in ("mlm", "clm"):
        if stage in entry:
            return shape_of(entry[stage]["model"], models, fetched)
    if "without_pretraining" in entry:
        return shape_of(entry["without_pretraining"], models, fetched)
    file = fetched / name / "config.json"
    if file.exists():
        return json.loads(file.read_text(encoding="utf-8"))
    known = stated()["models"]
    if "init" not in entry and name not in known:
        raise UserError(
            f"{name}: its architecture is not known before it is fetched; fetch it, or state it in "
            f"resources/{SIZES.name}"
        )
    return entry.get("init") or known[name]


def first(config: dict, *names: str, otherwise=None):
    """Return the first of these fields that a configuration has."""
    return next((config[name] for name in names if config.get(name) is not None), otherwise)


def of_layers(config: dict) -> tuple[int, int, float]:
    """Return the number of layers, the width of their attention, and the number of weights that
    they multiply by, for an encoder or decoder.
    """
    layers, hidden = (
        first(config, "num_hidden_layers", "num_layers", "n_layer"),
        first(config, "hidden_size", "d_model", "n_embd"),
    )
    heads = first(config, "num_attention_heads", "num_heads", "n_head")
    each = first(config, "head_dim", "d_kv", otherwise=hidden // heads)
    wide = first(config, "intermediate_size", "d_ff", otherwise=4 * hidden)
    gated = str(config.get("model_type", "")).startswith(GATED) or "gated" in str(
        config.get("feed_forward_proj", "")
    )
    attention = (
        2 * hidden * heads * each
        + 2 * hidden * first(config, "num_key_value_heads", otherwise=heads) * each
    )
    return layers, heads * each, float(layers * (attention + (3 if gated else 2) * hidden * wide))


def reading(config: dict, tokens: float) -> float:
    """Return the operations of one reading of a text."""
    layers, width, weights = of_layers(config)
    return 2 * weights * tokens + 4 * layers * width * tokens**2


def esim_reading(entry: dict, models: dict, fetched: Path, tokens: float) -> tuple[float, float]:
    """Return the operations of one reading by ESIM, and those of the frozen encoder before it,
    which never learns.
    """
    hidden, frozen, dimension = entry["esim"]["hidden_size"], 0.0, 300
    if "encoder" in entry:
        shape = shape_of(entry["encoder"], models, fetched)
        frozen, dimension = reading(shape, tokens), first(shape, "hidden_size", "d_model")
    weights = 8 * hidden * (dimension + hidden) + 8 * hidden * hidden + 16 * hidden * hidden
    return 2.0 * weights * tokens, frozen


def readings(job: dict, tokens: float) -> float:
    """Return how often a run reads each example."""
    paradigm, prompt = job["paradigm"], job.get("prompt")
    if paradigm == "pseudo_log_likelihood":
        return tokens
    if prompt:
        return len(prompt["texts"]) * (2 if prompt.get("domain") else 1)
    return 2 if paradigm in ("symmetric", "objectives") else 1


@dataclass
class Counted:
    """A run: training examples over all epochs, their tokens, steps, layers of the model,
    operations of training and of scoring, the size of its dataset.
    """

    learned: float
    tokens: float
    steps: float
    layers: int
    learning: float
    scoring: float
    size: Size


def count(job: dict, size: Size, model: str, models: dict, fetched: Path) -> Counted:
    """Count a run. job: paradigm, learns, training, prompt."""
    training = job["training"]
    tokens = min(size.tokens, training["max_length"])
    if "esim" in models[model]:
        operations, frozen = esim_reading(models[model], models, fetched, tokens)
        learn, score, layers = (
            3 * operations + frozen,
            operations + frozen,
            2 + (12 if frozen else 0),
        )
    else:
        shape = shape_of(model, models, fetched)
        layers = of_layers(shape)[0]
        score = reading(shape, tokens) * readings(job, tokens)
        score += (
            2
            * first(shape, "hidden_size", "d_model")
            * shape.get("vocab_size", 30_522)
            * tokens
            * ASKED.get(job["paradigm"], 0)
        )
        learn = 3 * score
    if not job["learns"]:
        return Counted(0, 0, 0, layers, 0.0, size.scored * score, size)
    share = training.get("held_out_fraction", 0) if not size.held_out else 0
    held_out = size.held_out + size.learned * share
    learned = (
        size.learned
        * (1 - share)
        * (size.right if job["paradigm"] in FROM_RIGHT else 1)
        * training["epochs"]
    )
    measured = 0 if job["paradigm"] in ASKED else size.scored
    steps = math.ceil(learned / training["batch_size"])
    return Counted(
        learned,
        learned * tokens,
        steps,
        layers,
        learned * learn,
        training["epochs"] * (held_out + measured) * score,
        size,
    )
