"""Check all files of a model together. This finds an error before training does, and reports it in
one sentence. Weights are checked by the headers of their files; no weight is read.
"""

import difflib
import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.plan.kinds import reads_text
from scripts.plan.models import CONFIG, ELSEWHERE, INDEX, TOKENIZER, TOKENIZER_CONFIG
from scripts.running.program import UserError, cut
from scripts.text.special_tokens import give_padding, token_beyond
from scripts.fetch.web import LONGEST_JSON, short

INSTEAD = "get the right file, or take another model"
NUMBERS = ("vocab_size", "hidden_size", "num_hidden_layers")  # every model of text has these
MORE_NUMBERS = ("num_attention_heads", "intermediate_size")  # many models have these
# types of weights and of fixed tables; others are quantised
WHOLE = ("F64", "F32", "F16", "BF16", "I64", "BOOL")
HIGHEST = 100_000_000  # the limit of each of these numbers
# limits of numbers, by the last part of their name; above them, even an empty network takes hours
MOST = {"layer": 1_000, "layers": 1_000, "blocks": 1_000, "experts": 10_000, "labels": 100_000}
DEEPEST = 40  # levels of a JSON object
# what torch.compile, DataParallel, FSDP and peft's network write into the names of weights
WRAPPERS = "_orig_mod|module|_fsdp_wrapped_module|_checkpoint_wrapped_module|default"
UNWRAP = (
    'python -c "import re, sys; from safetensors.torch import load, save_file; '
    f"[save_file({{re.sub(r'\\b({WRAPPERS})[.]', '', k): v for k, v in "
    "load(open(f, 'rb').read()).items()}, f, {'format': 'pt'}) for f in sys.argv[1:]]\""
)
# a text that also has rare characters
PROBE = "A man washes a pan, then it's dried: 1 → 2 \u2603 \u4e16\u754c \U0001f9ff"


class WrongFiles(UserError):
    """The files are no model that training can load."""


@contextmanager
def refused(said: str, remedy: str = INSTEAD) -> Iterator[None]:
    """Turn every error that a library raises about a model's files into WrongFiles:
    `said (why); remedy`. This covers a panic in a Rust library, which is not an Exception.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # of several kinds, which differ between versions
        raise WrongFiles(f"{said} ({short(error)}); {remedy}") from error


def _inside(value) -> Iterable:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def read_object(name: str, file: str, place: Path) -> dict:
    """Read a JSON object. Raises WrongFiles if it repeats a key, is too long or is nested too
    deeply.
    """
    if place.stat().st_size > LONGEST_JSON:
        raise WrongFiles(f"{name}: {file} has more than {LONGEST_JSON:,} bytes; {INSTEAD}")

    def unique(pairs: list[tuple]) -> dict:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key is repeated")
        return dict(pairs)

    too_deep = WrongFiles(f"{name}: {file} is nested deeper than {DEEPEST} levels; {INSTEAD}")
    try:
        content = json.loads(place.read_text(encoding="utf-8"), object_pairs_hook=unique)
    except RecursionError:
        raise too_deep from None
    except ValueError as error:
        raise WrongFiles(f"{name}: {file} is not JSON ({short(error)}); {INSTEAD}") from error
    if not isinstance(content, dict):
        raise WrongFiles(f"{name}: {file} is not a JSON object; {INSTEAD}")
    level = [content]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
    if level:
        raise too_deep
    return content


def check_architecture(name: str, init: dict) -> bool:
    """Raise WrongFiles for an `init:` that transformers does not know, or for a key that its
    configuration does not have. Return whether the model is an encoder-decoder.
    """
    config = read_config(name, "init", init)
    known = set(type(config)().to_dict())
    if unknown := sorted(set(init) - known):
        near = difflib.get_close_matches(unknown[0], known, 1)
        raise WrongFiles(
            f"{name}: a {init['model_type']} configuration has no {unknown[0]}"
            + (f"; did you mean {near[0]}?" if near else "; take it out")
        )
    return bool(config.is_encoder_decoder)


def number_of(config, key: str) -> int | None:
    """Return a number of a transformers configuration; None if it has no such number, or one for
    each layer.
    """
    try:
        return getattr(config, key, None)
    except Exception:  # of several kinds, which differ between versions of transformers
        return None


def check_bounds(name: str, where: str, content: dict) -> None:
    """Raise WrongFiles for more layers, experts or labels than any model has."""
    for key, value in content.items():
        most = MOST.get(key.rsplit("_", 1)[-1])
        if most and isinstance(value, (int, float)) and value > most:
            raise WrongFiles(
                f"{name}: {where} has {cut(key)} {cut(str(value))}, more than {most:,}, so no "
                "network can be made of it; take another model"
            )


def needs_code(name: str, file: str, why: str) -> WrongFiles:
    """Return the error for a model that only its own code reads."""
    return WrongFiles(
        f"{name}: transformers {why}, and {file} has auto_map: the model needs code from its own "
        "repository, which is never run here; take a model that transformers knows"
    )


def read_config(name: str, where: str, content: dict):
    """Return the transformers configuration of a JSON object; missing keys get their defaults.
    Raises WrongFiles if it is not a configuration of a text model.
    """
    from transformers import AutoConfig  # takes a second, and corpora do not need it
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    if "model_type" not in content:
        raise WrongFiles(
            f"{name}: {where} lacks model_type, so its architecture is unknown; write "
            "`model_type: bert`, or another one"
        )
    kind = content["model_type"]
    if not isinstance(kind, str) or kind not in CONFIG_MAPPING_NAMES:
        if "auto_map" in content:
            raise needs_code(name, where, f"knows no model_type {cut(str(kind))}")
        near = difflib.get_close_matches(str(kind), CONFIG_MAPPING_NAMES, 1)
        remedy = f"did you mean {near[0]}?" if near else "take another model"
        raise WrongFiles(
            f"{name}: {where} has model_type {cut(str(kind), 100)}, which transformers does "
            f"not know; {remedy}"
        )
    check_bounds(name, where, content)
    with refused(f"{name}: {where} is not a configuration that transformers knows", "correct it"):
        config = AutoConfig.for_model(**content)
    for key in (*NUMBERS, *MORE_NUMBERS):
        value = number_of(config, key)
        if not (1 <= value <= HIGHEST if type(value) is int else key in MORE_NUMBERS):
            raise WrongFiles(
                f"{name}: {where} has {key} {cut(str(value), 100)}, so it is not a model of "
                "text, or cannot be built; take another model"
            )
    return config


def quantiser_of(name: str, content: dict) -> str | None:
    """Return the method by which config.json says that the weights are quantised; None for other
    weights. Raises WrongFiles for a method that transformers does not read.
    """
    found = content.get("quantization_config") or content.get("quantization")
    if not found:
        return None
    from transformers.quantizers.auto import AUTO_QUANTIZER_MAPPING  # takes two seconds

    method = found.get("quant_method") if isinstance(found, dict) else None
    if method not in ("bitsandbytes", *AUTO_QUANTIZER_MAPPING):
        raise WrongFiles(
            f"{name}: {CONFIG} says that its weights are quantised ({cut(str(found))}), in a form "
            "that transformers does not read: take the model from which they were made "
            f"(`base_model` on its page), or {ELSEWHERE}"
        )
    return str(method)


def transformers_config(name: str, content: dict):
    """Return the transformers configuration of a model's config.json. Raises WrongFiles for weights
    or a kind of model that this project cannot read.
    """
    quantiser_of(name, content)
    config = read_config(name, CONFIG, content)
    if not reads_text(config.model_type):
        raise no_language_model(name, config)
    return config


def no_language_model(name: str, config) -> WrongFiles:
    return WrongFiles(
        f"{name}: a {config.model_type} model is neither an encoder that fills "
        "masks, an encoder-decoder nor a decoder of text, so no method can evaluate it; "
        "take another model"
    )


def read_headers(
    name: str, files: dict[str, Path], kinds: tuple[str, ...] = WHOLE
) -> dict[str, list[int]]:
    """Return the shape of each tensor of safetensors files. Raises WrongFiles for an incomplete
    file, for weights of another type than `kinds`, and for the names of a wrapped network.
    """
    from safetensors import SafetensorError, safe_open

    shapes = {}
    for file, place in files.items():
        try:
            with safe_open(place, framework="np") as tensors:
                for key in tensors.keys():
                    tensor = tensors.get_slice(key)
                    shapes[key] = tensor.get_shape()
                    if len(shapes[key]) > 1 and not (kind := str(tensor.get_dtype())).startswith(
                        kinds
                    ):
                        raise WrongFiles(
                            f"{name}: {cut(key, 100)} in {file} is of type {cut(kind, 20)}, "
                            f"so the weights are quantised, but {CONFIG} does not say how "
                            "(quantization_config): take the model from which they were made "
                            "(`base_model` on its page)"
                        )
        except (
            SafetensorError,
            OSError,
        ) as error:  # a header of a wrong length, or tensor sizes that do not fit the file
            raise WrongFiles(
                f"{name}: {file} is not a complete safetensors file ({short(error)}); {INSTEAD}"
            ) from error
    if found := next(filter(None, (re.search(rf"\b({WRAPPERS})[.]", key) for key in shapes)), None):
        index = f" && sed -i -E 's/\\b({WRAPPERS})\\.//g' {INDEX}" if len(files) > 1 else ""
        raise WrongFiles(
            f"{name}: its weights have `{found[0]}` in their names ({cut(found.string, 100)}), as "
            "torch.compile, DataParallel, FSDP or peft's own network write them; remove it in the "
            "model's folder: "
            f"{UNWRAP} {' '.join(files)}{index}"
        )
    return shapes


def check_index(name: str, files: dict[str, Path], shapes: dict[str, list[int]]) -> None:
    """Raise WrongFiles if the index of shards names a tensor that the shards do not have."""
    if INDEX in files:
        named = read_object(name, INDEX, files[INDEX])["weight_map"]
        if lost := sorted(set(named) - set(shapes)):
            raise WrongFiles(
                f"{name}: {INDEX} names {cut(lost[0], 100)} in {cut(str(named[lost[0]]))}, but "
                f"this file has no such tensor; {INSTEAD}"
            )


def network_of(name: str, config):
    """Return the transformers class that a configuration describes. Raises WrongFiles for a class
    that reads no text.
    """
    import transformers

    try:
        kinds = transformers.MODEL_MAPPING[type(config)]
    except KeyError:
        raise WrongFiles(
            f"{name}: transformers has no network of model_type {config.model_type}; "
            "take another model"
        ) from None
    kind = kinds[0] if isinstance(kinds, tuple) else kinds
    if kind.main_input_name != "input_ids":
        raise WrongFiles(
            f"{name}: is a {config.model_type}, which reads {kind.main_input_name}, "
            "not text; take a model of text"
        )
    return kind


def check_tensors(name: str, files: dict[str, Path], config, network) -> None:
    """Raise WrongFiles unless the weights have the names and shapes of the network that the
    configuration describes. files: {name: place}, safetensors and their index; network: its class.
    The network is loaded as in training, but without any numbers.
    """
    shards = {file: place for file, place in files.items() if file.endswith(".safetensors")}
    is_quantised = getattr(config, "quantization_config", None) is not None
    shapes = read_headers(name, shards, ("",) if is_quantised else WHOLE)
    check_index(name, files, shapes)
    if is_quantised:
        return  # the quantizer makes the network, and it needs a GPU
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    empty = {key: torch.empty(shape, device="meta") for key, shape in shapes.items()}
    with refused(
        f"{name}: transformers cannot build a network from {CONFIG} and the names of the weights"
    ):
        _, report = network.from_pretrained(
            None,
            config=config,
            state_dict=empty,
            device_map={"": "meta"},
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
        )
    for key, there, promised in sorted(report["mismatched_keys"]):
        raise WrongFiles(
            f"{name}: {cut(key, 100)} has the shape {list(there)} in the weights, but "
            f"{list(promised)} by {CONFIG}; {INSTEAD}"
        )
        # a missing pooler is allowed, because a new head has its own
    if lost := sorted(key for key in report["missing_keys"] if "pooler" not in key):
        raise WrongFiles(
            f"{name}: {len(lost)} weights that {CONFIG} names are missing, "
            f"{cut(lost[0], 100)} first; {INSTEAD}"
        )


def copy_files(files: dict[str, Path], folder: Path) -> None:
    """Copy files to a folder of their own, under their names; older contents are removed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file, place in files.items():
        shutil.copyfile(place, folder / file)


def ended_by(act: Callable[[], object]) -> str | None:
    """Return the signal that ends a copy of this process when it does `act`, within a minute; None
    if none does. A Rust library may end its process, and no error can then be caught.
    """
    child = os.fork()
    if not child:
        signal.alarm(60)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what fails is said when it is done again
        try:
            act()
        finally:
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else None


def loaded_tokenizer(name: str, files: dict[str, Path], folder: Path):
    """Return the tokenizer of a model as training loads it. folder: a place for copies of its
    files, which are removed. Raises WrongFiles for one that does not load, or cannot read a text.
    """
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer

    said = f"{name}: tokenizer.json is not a tokenizer"
    remedy = (
        "get the right file, or write it with "
        "AutoTokenizer.from_pretrained(…).save_pretrained(FOLDER)"
    )
    place = str(files[TOKENIZER])

    def read() -> None:
        tokenizer = Tokenizer.from_file(place)
        tokenizer.no_padding()
        tokenizer.encode(PROBE)

    if end := ended_by(read):
        raise WrongFiles(f"{said} ({end} ended the process that read it); {remedy}")
    with refused(said, remedy):
        Tokenizer.from_file(place)
    copy_files(files, folder)
    try:
        # for example, a tokenizer without an unknown token cannot
        with refused(
            f"{name}: its tokenizer (tokenizer.json, tokenizer_config.json) cannot read every text"
        ):
            tokenizer = AutoTokenizer.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
            made = tokenizer(PROBE, PROBE)
            names = set(map(str, tokenizer.model_input_names))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if lacking := {"input_ids"} - names | names - set(made):
        raise WrongFiles(
            f"{name}: its tokenizer makes no {cut(min(lacking))} (model_input_names in "
            f"tokenizer_config.json); {INSTEAD}"
        )
    return tokenizer


def check_tokenizer(name: str, files: dict[str, Path], folder: Path, config) -> dict[str, Path]:
    """Raise WrongFiles unless the tokenizer loads as in training, can pad, and makes only tokens
    that the model has. Return {} or, if the padding token has no row in the model's table,
    {tokenizer_config.json: a file in `folder` that names another token}.
    """
    given = {}
    if TOKENIZER_CONFIG in files:
        given = read_object(name, TOKENIZER_CONFIG, files[TOKENIZER_CONFIG])
    tokenizer = loaded_tokenizer(name, files, folder)
    pads_beyond = (tokenizer.pad_token_id or 0) >= config.vocab_size
    if (tokenizer.pad_token_id is None or pads_beyond) and not give_padding(
        tokenizer, config.model_type
    ):
        raise WrongFiles(
            f"{name}: its tokenizer has no padding token with a row in the model (pad_token in "
            f"tokenizer_config.json); {INSTEAD}"
        )
    if beyond := token_beyond(tokenizer, config.vocab_size, config.model_type):
        token, number = beyond
        raise WrongFiles(
            f"{name}: its tokenizer makes token {number:,} ({cut(token, 50)}), but the "
            f"model has {config.vocab_size:,} (vocab_size in config.json, counted "
            f"from 0): {INSTEAD}"
        )
    if not pads_beyond:
        return {}
    folder.mkdir(parents=True)
    mended = folder / TOKENIZER_CONFIG
    mended.write_text(json.dumps(given | {"pad_token": tokenizer.pad_token}), encoding="utf-8")
    return {TOKENIZER_CONFIG: mended}
