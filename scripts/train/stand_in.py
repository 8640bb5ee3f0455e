"""Replacements for files that are not fetched yet, for a rehearsal (scripts/train/rehearse.py).

The model has the right architecture and random weights. The texts are made up and as long as the
model reads. Not a program.
"""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.plan.models import CONFIG, TOKENIZER_CONFIG, UNTRAINED, WEIGHTS, kind_of
from scripts.running.program import UserError
from scripts.fetch.model import write_scratch
from scripts.train.labels import read_config
from scripts.train.work import write_json

# random numbers that are written again and again: the cost of a step does not depend on their
# values
BLOCK = 4_000_000
T5_TOKENS = 32_128  # of the models whose tokenizer is a released one of T5
CANDIDATES = 4  # for one mask
OF_INIT = ("model_type", "max_position_embeddings")  # keys of a config.json
ONLY_RIGHT = ("fill", "generate", "mlm", "clm")  # paradigms that learn from right candidates alone


# ---- the model


def write_weights(folder: Path, config: dict, masked: bool) -> None:
    """Random weights of an architecture, as safetensors; masked: with the head that fills masks,
    as an MLM stage leaves it.
    """
    import torch
    import transformers

    named = (config.get("architectures") or [None])[0]
    kinds = [
        transformers.AutoModelForSeq2SeqLM,
        transformers.AutoModelForMaskedLM,
        transformers.AutoModelForCausalLM,
        transformers.AutoModel,
    ]
    read = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
    with torch.device("meta"):
        if named and hasattr(transformers, named) and not masked:
            network = getattr(transformers, named)(read)
        else:
            network = next(kind for kind in kinds if type(read) in kind._model_mapping).from_config(
                read
            )
    header, end = {}, 0
    for name, weight in network.named_parameters():
        header[name] = {
            "dtype": "F32",
            "shape": list(weight.shape),
            "data_offsets": [end, end + 4 * weight.numel()],
        }
        end += 4 * weight.numel()
    text = json.dumps(header | {"__metadata__": {"format": "pt"}}).encode()
    text += b" " * (-len(text) % 8)
    block = (
        0.02 * np.random.default_rng(0).standard_normal(min(BLOCK, end // 4), dtype=np.float32)
    ).tobytes()
    with open(folder / WEIGHTS, "wb") as opened:
        opened.write(len(text).to_bytes(8, "little") + text)
        for _ in range(math.ceil(end / max(len(block), 1))):
            opened.write(block)
        opened.truncate(8 + len(text) + end)


def of_pretrained(
    name: str, configs: dict[str, dict], vocabulary: Path, folder: Path, masked: bool
) -> None:
    """A model of this config.json, with a small tokenizer of ours. The made-up texts consist of its
    words.
    """
    from transformers import AutoConfig

    if CONFIG not in configs:
        raise UserError(
            f"{name}: its config.json could not be fetched, so its architecture is not known; see "
            "which files are missing"
        )
    init = {key: configs[CONFIG][key] for key in OF_INIT if key in configs[CONFIG]}
    write_scratch(name, {"init": init, "vocabulary": str(vocabulary)}, name, folder, None)
    special = {key: one for key, one in read_config(folder).items() if key.endswith("_token_id")}
    config = configs[CONFIG] | special
    write_json(config, folder / CONFIG)
    of_tokenizer = json.loads((folder / TOKENIZER_CONFIG).read_text(encoding="utf-8"))
    read = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    if getattr(read, "type_vocab_size", 0) < 2:
        fields = of_tokenizer["model_input_names"]
        of_tokenizer["model_input_names"] = [one for one in fields if one != "token_type_ids"]
    if longest_text := configs.get(TOKENIZER_CONFIG, {}).get("model_max_length"):
        of_tokenizer["model_max_length"] = longest_text
    write_json(of_tokenizer, folder / TOKENIZER_CONFIG)
    write_weights(folder, config, masked)


def write_model(name: str, study: dict, folder: Path, masked: bool = False) -> None:
    """Write a model's folder as its fetch would leave it.

    study: models (entries), configs (scripts/fetch/reachable.py), vocabulary.
    """
    entry, vocabulary = study["models"][name], Path(study["vocabulary"])
    kind = kind_of(entry)
    folder.mkdir(parents=True, exist_ok=True)
    if kind in ("mlm", "clm"):
        write_model(entry[kind]["model"], study, folder, masked=kind == "mlm")
        if not (folder / WEIGHTS).exists():  # a model that starts from scratch
            write_weights(folder, read_config(folder), kind == "mlm")
    elif kind == "init":
        size = {"vocab_size": T5_TOKENS} if "tokenizer" in entry else {}
        own = {key: value for key, value in entry.items() if key != "tokenizer"}
        write_scratch(name, own | {"vocabulary": str(vocabulary)}, name, folder, None)
        write_json(read_config(folder) | size, folder / CONFIG)
    elif kind == UNTRAINED:
        write_model(entry[UNTRAINED], study, folder)
        (folder / WEIGHTS).unlink()
    elif kind == "esim":
        words = {"encoder": True} if "encoder" in entry else {"vectors": "vectors.txt"}
        write_json({"model_type": "esim"} | entry["esim"] | words, folder / CONFIG)
        if "encoder" in entry:
            write_model(entry["encoder"], study, folder / "encoder")
        else:
            numbers = " ".join(["0.01"] * 300)  # as many as in GloVe's vectors
            (folder / "vectors.txt").write_text(
                "".join(f"{word} {numbers}\n" for word in words_of(vocabulary)), encoding="utf-8"
            )
    else:
        of_pretrained(name, study["configs"].get(name, {}), vocabulary, folder, masked)


# ---- the texts


def words_of(vocabulary: Path) -> list[str]:
    """The words that every tokenizer of a rehearsal knows."""
    return [
        word
        for word in vocabulary.read_text(encoding="utf-8").split()
        if word.isalpha() and word.islower()
    ]


def table_of(method: dict, rows: int, length: int, vocabulary: Path, learns: bool) -> pa.Table:
    """`rows` examples of a study's columns, each text of `length` words. Where they are measured, a
    mask has CANDIDATES candidates.
    """
    draw, known = np.random.default_rng(0), np.array(words_of(vocabulary))
    texts = draw.choice(known, (rows, length)).tolist()
    number, cloze = np.arange(rows), "candidate" in method["inputs"]
    place = number if learns or not cloze else number // CANDIDATES
    labels = number % CANDIDATES == 0 if cloze else number % len(method["labels"])
    if cloze and learns and method["paradigm"] in ONLY_RIGHT:
        labels = np.ones(rows)
    columns = {"label": pa.array(labels.astype(np.int8))}
    for field, column in method["columns"].items():
        columns[column] = pa.array(
            [f"r{one}" for one in (place if field == "choice_id" else number)]
        )
    for name in method["inputs"]:
        written = texts
        if name == "context":
            middle = length // 2
            written = [[*words[:middle], "<MASK>", *words[middle:]] for words in texts]
        elif name == "candidate":
            written = [words[:2] for words in texts]
        columns[name] = pa.array([" ".join(words) for words in written])
    return pa.table(columns)


def write_data(
    method: dict, splits: list[str], training: dict, scored: int, vocabulary: Path, folder: Path
) -> None:
    """Write a batch for training and one for evaluation; every text is at least as long as the
    model reads.
    """
    folder.mkdir(parents=True)
    for split, rows, learns in (
        (splits[0], training.get("batch_size", 8), True),
        (splits[1], scored, False),
    ):
        pq.write_table(
            table_of(method, rows, training["max_length"], vocabulary, learns),
            folder / f"{split}.parquet",
        )
