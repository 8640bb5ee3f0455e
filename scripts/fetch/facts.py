"""Read the facts of a model before it is fetched: kind, abilities, parameters, bytes of weights.

The program reads only config.json, the names of the other files and the headers of the weights. It
looks in the entry's folder, in the fetched model, in the mirror and in the cache. If these have no
file, it gets a few kilobytes from the hub by range requests.

Reads  the entry NAME of MODELS (resources/models.yaml)
Writes OUTPUT: {kind: encoder | encoder_decoder | decoder, abilities, model_type, parameters, bytes,
       weights (file names), quantised (the method, or null), identity}

    python -m scripts.fetch.facts --model minilm --output results/fetch/facts/minilm.json
"""

import argparse
import json
import math
import tempfile
from pathlib import Path

import requests
import urllib3

from scripts.data.files import whole
from scripts.plan.kinds import kind_of
from scripts.plan.model_facts import identity
from scripts.plan.models import CONFIG, TOKENIZER
from scripts.running.program import UserError, cut, execute, log
from scripts.plan.schemas import check, schema
from scripts.fetch.download import SETTING, Downloads, check_mirror, fetch_parser, local_path
from scripts.fetch.download import read_entry
from scripts.fetch.adapter_merge import adapter_of
from scripts.fetch.hub import Origin
from scripts.fetch.model_files import no_language_model, quantiser_of, refused, transformers_config
from scripts.fetch.pretrained import find_tokenizer, find_weights, has_template, origin_of
from scripts.fetch.pretrained import read_architecture
from scripts.fetch.text_half import text_names
from scripts.fetch.web import PATIENCE, TIMEOUT, NoAnswer, deadline, session

# kinds of models that are trained with sentinels; their prompts use sentinels, too
SPAN_WRITERS = ("t5", "mt5", "umt5", "longt5", "switch_transformers")
LONGEST_HEADER = 100_000_000  # bytes, the limit of safetensors itself
FIRST = 100_000  # bytes, which hold most headers
DIMENSIONS = 64  # of a tensor


def header_end(begun: bytes) -> int:
    """Return the end of a safetensors file's header, read from the file's first bytes."""
    length = int.from_bytes(begun[:8], "little")
    if not 2 <= length <= LONGEST_HEADER:
        raise ValueError(f"a header of {length:,} bytes")
    return 8 + length


def parse_header(begun: bytes) -> dict[str, tuple[list[int], int]]:
    """Return the shape and the end of each tensor of a safetensors file, from its first bytes."""
    header = json.loads(begun[8 : header_end(begun)])
    header.pop("__metadata__", None)
    tensors = {
        name: (tensor["shape"], tensor["data_offsets"][1]) for name, tensor in header.items()
    }
    for name, (shape, end) in tensors.items():
        numbers = [*shape, end]
        if len(shape) > DIMENSIONS or not all(
            type(number) is int and 0 <= number < 2**63 for number in numbers
        ):
            raise ValueError(f"{cut(name)} has an invalid shape or place")
    return tensors


def ask(place: str, headers: dict[str, str], count: int) -> bytes:
    """Return the first bytes of a file on a server, within a bounded time."""
    ranged = headers | {"Range": f"bytes=0-{count - 1}"}
    with (
        session(place) as web,
        deadline(PATIENCE),
        web.get(place, headers=ranged, stream=True, timeout=TIMEOUT) as answer,
    ):
        answer.raise_for_status()
        return answer.raw.read(count)


def read_header(origin: Origin, file: str) -> dict[str, tuple[list[int], int]]:
    """Return the shape and the end of each tensor of a weight file. Only the header is read."""
    called = f"{origin.name}/{file}"
    # If no place has the file, bring() raises the error.
    place, _ = origin.locate(file) or (origin.bring(file).as_uri(), 0)
    whose = "the mirror" if place else "the hub"
    place, headers = (place, {}) if place else origin.address(file)
    try:
        if place.startswith("file://"):
            with open(local_path(place), "rb") as opened:
                begun = opened.read(8)
                return parse_header(begun + opened.read(header_end(begun) - 8))
        begun = ask(place, headers, FIRST)
        if header_end(begun) > FIRST:
            begun = ask(place, headers, header_end(begun))
        return parse_header(begun)
    except (requests.RequestException, urllib3.exceptions.HTTPError, NoAnswer) as error:
        raise UserError(
            f"{called}: {whose} does not give {place} ({cut(str(error), 200)}): try again later, "
            f"or set {SETTING} to a place that has it"
        ) from error
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise UserError(
            f"{called} is not a complete safetensors file ({cut(str(error))}); get the "
            "right file, or take another model"
        ) from None


def empty_network(name: str, config, kind):
    """Return a network of a class of transformers, without its numbers."""
    import torch

    said = f"{name}: transformers cannot build a network from {CONFIG}"
    with refused(said), torch.device("meta"):
        return kind.from_config(config)


def fills_masks(name: str, config, names: set[str]) -> bool:
    """Return whether weights with these names include the head that fills an encoder's masks."""
    from transformers import AutoModelForMaskedLM

    if type(config) not in AutoModelForMaskedLM._model_mapping:
        return False
    network = empty_network(name, config, AutoModelForMaskedLM)
    for old, new in (("gamma", "weight"), ("beta", "bias")):
        names = {key.replace(f"LayerNorm.{old}", f"LayerNorm.{new}") for key in names}
    body = f"{network.base_model_prefix}."
    head = {key for key in network.state_dict() if not key.startswith(body)}
    head -= set(network.all_tied_weights_keys)
    return bool(head) and head <= names


def drawn_weights(name: str, config) -> int:
    """Return how many weights a network without pretraining has."""
    from transformers import AutoModel

    return sum(one.numel() for one in empty_network(name, config, AutoModel).parameters())


def facts_of(
    name: str, config, weights: list[str], shapes: dict[str, list[int]], size: int
) -> dict:
    """Return the facts of a model. shapes: {tensor: shape}; size: bytes. Raises UserError for a
    kind of model that no method can use.
    """
    kind = kind_of(config)
    if kind is None:
        raise no_language_model(name, config)
    abilities = [kind]
    if kind == "encoder" and weights and fills_masks(name, config, set(shapes)):
        abilities.append("mask_filler")
    elif config.model_type in SPAN_WRITERS:
        abilities.append("span_writer")
    quantised = quantiser_of(name, config.to_dict())
    parameters = sum(math.prod(shape) for shape in shapes.values()) or drawn_weights(name, config)
    return {
        "kind": kind,
        "abilities": abilities,
        "model_type": config.model_type,
        "weights": weights,
        "parameters": None if quantised else parameters,  # packed, if quantised
        "bytes": size if weights else None,
        "quantised": quantised,
    }


def read_facts(given: argparse.Namespace, entry: dict, partial: Path) -> dict:
    """Return the facts of a model, from the place in its entry, or from the fetched model of the
    hub.
    """
    name, fetched, mirror = given.model, given.fetched / given.model, check_mirror(given.mirror)
    if "init" in entry:
        config = entry["init"] | {"vocab_size": 1000}  # its words are counted when it is written
        return facts_of(name, transformers_config(name, config), [], {}, 0)
    if not {"hub", "folder"} & set(entry):
        raise UserError(
            f"{name}: only a model of the hub, of a folder or from init has a kind "
            "that can be read; name another one"
        )
    if "hub" in entry and (fetched / "manifest.json").exists():  # a folder may have changed
        entry = {"folder": str(fetched.resolve())}
    downloads = Downloads(given.place or str(given.models), partial, mirror)
    origin = origin_of(name, entry, downloads, given.root)
    adapter = adapter_of(origin)
    whole = adapter.base if adapter else origin
    _, config, is_half = read_architecture(whole)
    written = origin if origin.locate(TOKENIZER) else whole
    find_tokenizer(written)
    files, _ = find_weights(whole)
    headers = [read_header(whole, file) for file in files]
    shapes = {tensor: shape for header in headers for tensor, (shape, _) in header.items()}
    if is_half:
        shapes = {new: shapes[name] for name, new in text_names(list(shapes)).items()}
    size = sum(max((end for _, end in header.values()), default=0) for header in headers)
    facts = facts_of(name, config, files, shapes, size)
    if facts["kind"] != "encoder" and has_template(written):
        facts["abilities"].append("chat")
    if adapter and adapter.task == "SEQ_CLS":  # its head takes the place of the one for masks
        facts["abilities"] = [one for one in facts["abilities"] if one != "mask_filler"]
    return facts


def main(given: argparse.Namespace) -> None:
    entry = read_entry(given.model, given.models, given.entry)
    check({given.model: entry}, schema("models"), str(given.models))
    with tempfile.TemporaryDirectory() as partial:
        facts = read_facts(given, entry, Path(partial))
    with whole(given.output) as beside:
        beside.write_text(
            json.dumps(facts | {"identity": identity(entry, given.root)}, indent=1, sort_keys=True)
            + "\n",
            encoding="utf-8",
        )
    log.info("%s: %s", given.model, ", ".join(facts["abilities"]))


def arguments() -> argparse.ArgumentParser:
    output = "the file to write, results/fetch/facts/NAME.json"
    program = fetch_parser(__doc__, "model", output, partial=False)
    program.add_argument(
        "--root",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the folder to which paths in the entry are relative; default: %(default)s",
    )
    program.add_argument(
        "--fetched",
        type=Path,
        default=Path("results/fetch/models"),
        metavar="DIR",
        help="the folder of the models that were fetched; default: %(default)s",
    )
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
