"""A model's files, checked as a whole: what could fail in training only fails here, in one sentence.

Weights are judged by the header of their file, which tells names, types and shapes; none is read.
"""

import difflib
import json
import re
import shutil
from pathlib import Path

from scripts.common.program import UserError
from scripts.common.special_tokens import give_padding, token_beyond

INSTEAD = "get the right file, or take another model"
LAYER = re.compile(r"^(.*?)\.(?:layer|layers|h|block)\.(\d+)\.")  # in a tensor's name: the stack and the number of its layer
NUMBERS = ("vocab_size", "hidden_size", "num_hidden_layers")  # which every model of text has
MORE_NUMBERS = ("num_attention_heads", "intermediate_size")  # which many have
WIDTHS = ("hidden_size", "embedding_size", "word_embed_proj_dim")  # of the table of tokens, by architecture
HIGHEST = 100_000_000  # of any of them
PROBE = "A man washes a pan, then it's dried: 1 → 2 \u2603 \u4e16\u754c \U0001f9ff"  # rare characters too


def short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def read_object(name: str, file: str, place: Path) -> dict:
    """A JSON object, whose keys stand once each. Raises UserError for anything else."""

    def once(pairs: list[tuple]) -> dict:
        keys = [key for key, _ in pairs]
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise ValueError(f"{twice[0][:100]} stands there twice")
        return dict(pairs)

    try:
        content = json.loads(place.read_text(encoding="utf-8"), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name}: {file} is not JSON ({short(error)}); {INSTEAD}") from error
    if not isinstance(content, dict):
        raise UserError(f"{name}: {file} is not a JSON object; {INSTEAD}")
    return content


def refuse_code(name: str, file: str, content) -> None:
    """Raise UserError where a configuration, or one inside it, asks for code of its own repository."""
    inner = content.values() if isinstance(content, dict) else content if isinstance(content, list) else []
    if isinstance(content, dict) and "auto_map" in content:
        raise UserError(f"{name}: {file} has auto_map, so the model needs code from its own repository, which is never "
                        "run here: take a model that transformers knows")
    for value in inner:
        refuse_code(name, file, value)


def check_architecture(name: str, init: dict) -> bool:
    """Refuse an `init:` that transformers does not know, or a key that its configuration does not have.

    Returns whether the model also decodes.
    """
    config = read_config(name, "init", init)
    known = set(type(config)().to_dict())
    if unknown := sorted(set(init) - known):
        near = difflib.get_close_matches(unknown[0], known, 1)
        raise UserError(f"{name}: a {init['model_type']} configuration has no {unknown[0]}"
                        + (f"; did you mean {near[0]}?" if near else "; take it out"))
    return bool(config.is_encoder_decoder)


def number_of(config, key: str) -> int | None:
    """A number of a transformers configuration; None where it has none, or one for each layer."""
    try:
        return getattr(config, key, None)
    except Exception:  # of several kinds, which differ between versions of transformers
        return None


def read_config(name: str, where: str, content: dict):
    """The transformers configuration that a JSON object is, with what it leaves out. Raises UserError for no such one."""
    from transformers import AutoConfig  # takes a second, and corpora do not need it
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    if "model_type" not in content:
        raise UserError(f"{name}: {where} lacks model_type, so nothing tells what it is; write `model_type: bert`, or "
                        "another one")
    kind = content["model_type"]
    if not isinstance(kind, str) or kind not in CONFIG_MAPPING_NAMES:
        near = difflib.get_close_matches(str(kind), CONFIG_MAPPING_NAMES, 1)
        raise UserError(f"{name}: {where} has model_type {str(kind)[:100]}, which is no configuration that transformers "
                        "knows" + (f"; did you mean {near[0]}?" if near else "; take another model"))
    try:
        config = AutoConfig.for_model(**content)
    except Exception as error:  # of several kinds, which differ between versions of transformers
        raise UserError(f"{name}: {where} is no configuration that transformers knows ({short(error)}); correct it") from error
    for key in (*NUMBERS, *MORE_NUMBERS):
        value = number_of(config, key)
        if not (1 <= value <= HIGHEST if type(value) is int else key in MORE_NUMBERS):
            raise UserError(f"{name}: {where} has {key} {str(value)[:100]}, so it is no model of text, or none that can be "
                            "built; take another model")
    return config


def read_header(name: str, file: str, place: Path) -> dict[str, list[int]]:
    """The shape of each tensor of a safetensors file, by name. Raises UserError for one that is not whole."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(place, framework="np") as tensors:
            return {key: tensors.get_slice(key).get_shape() for key in tensors.keys()}
    except (SafetensorError, OSError) as error:  # header too short or long, types and sizes that do not add up to the file
        raise UserError(f"{name}: {file} is no whole safetensors ({short(error)}); {INSTEAD}") from error


def check_weights(name: str, file: str, shapes: dict[str, list[int]], config) -> None:
    """Raise UserError unless there are the embeddings and the layers that the configuration promises."""
    tables = [shape for shape in shapes.values() if len(shape) == 2]
    widths = {getattr(config, key, None) for key in WIDTHS}
    if not any(rows == config.vocab_size and width in widths for rows, width in tables):
        most = max((rows for rows, width in tables if width in widths), default=0)
        raise UserError(f"{name}: config.json promises {config.vocab_size:,} tokens of {config.hidden_size} numbers, but "
                        f"{file} has no table of them (its longest of that width has {most:,} rows); {INSTEAD}")
    stacks: dict[str, set[int]] = {}
    for match in filter(None, map(LAYER.match, shapes)):
        stacks.setdefault(match[1], set()).add(int(match[2]))
    for stack, there in stacks.items():
        decodes = config.is_encoder_decoder and "decoder" in stack
        promised = next((value for key in ("num_decoder_layers", "decoder_layers") if decodes
                         and isinstance(value := getattr(config, key, None), int)), config.num_hidden_layers)
        if missing := sorted(set(range(promised)) - there):
            raise UserError(f"{name}: config.json promises {promised} layers, but {file} has no weights of layer "
                            f"{missing[0]} of {stack[:100]}; {INSTEAD}")


def check_tokenizer(name: str, files: dict[str, Path], folder: Path, config) -> None:
    """Raise UserError unless the tokenizer loads as in training, pads where it must, and makes the model's tokens only."""
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer

    try:
        Tokenizer.from_file(str(files["tokenizer.json"]))
    except Exception as error:  # tokenizers raises nothing narrower
        raise UserError(f"{name}: tokenizer.json is no tokenizer ({short(error)}); get the right file, or write it "
                        "with AutoTokenizer.from_pretrained(…).save_pretrained(FOLDER)") from error
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file, place in files.items():
        if not file.endswith(".safetensors"):
            shutil.copyfile(place, folder / file)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        tokenizer(PROBE, PROBE)
    except Exception as error:  # of several kinds, a tokenizer without an unknown token among them
        raise UserError(f"{name}: its tokenizer (tokenizer.json, tokenizer_config.json) cannot read every text ({short(error)}); {INSTEAD}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if tokenizer.pad_token_id is None and not give_padding(tokenizer, config.model_type):
        raise UserError(f"{name}: its tokenizer has no padding token (pad_token in tokenizer_config.json); {INSTEAD}")
    if beyond := token_beyond(tokenizer, config.vocab_size, config.model_type):
        token, number = beyond
        raise UserError(f"{name}: its tokenizer makes token {number:,} ({token[:50]}), but the model has "
                        f"{config.vocab_size:,} (vocab_size in config.json, counted from 0): {INSTEAD}")


def check_files(name: str, files: dict[str, Path], folder: Path) -> None:
    """Raise UserError unless the files are a model that training can load, without foreign code.

    files: {name: place}; folder: one that may be written to, and is gone afterwards.
    """
    for file in ("config.json", "tokenizer_config.json"):
        if file in files:
            refuse_code(name, file, read_object(name, file, files[file]))
    config = read_config(name, "config.json", read_object(name, "config.json", files["config.json"]))
    for file, place in files.items():
        if file.endswith(".safetensors"):
            shapes = read_header(name, file, place)
            if file == "model.safetensors":
                check_weights(name, file, shapes, config)
    check_tokenizer(name, files, folder, config)
