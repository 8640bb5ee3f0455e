"""Tell what a model is before it is fetched: its kind, what it can do, its parameters, the bytes of its weights.

Of its files only config.json, the names of the others and the headers of the weights are read: where it was fetched, in its
folder, in the mirror or in the cache, else from the hub, a few kilobytes by range requests.

Reads  the entry NAME of MODELS (resources/models.yaml)
Writes OUTPUT: {kind: encoder | encoder_decoder | decoder, abilities, model_type, parameters, bytes, weights (file names), identity}

    python -m scripts.fetch.facts --model minilm --output results/fetch/facts/minilm.json
"""

import argparse
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import requests

from scripts.common.files import whole
from scripts.common.kinds import kind_of
from scripts.common.model_facts import identity
from scripts.common.models import INDEX, WEIGHTS
from scripts.common.program import UserError, cut, execute, log, parser
from scripts.common.schemas import check_entry
from scripts.fetch.download import MIRROR_HELP, check_mirror, in_mirror, local_path, read_entry
from scripts.fetch.hub import HOST, PICKLE, headers_from_hub, hub_file
from scripts.fetch.model_files import own_config, read_object
from scripts.fetch.pretrained import OLDER_TOKENIZERS, only_pickled
from scripts.fetch.web import TIMEOUT, NoAnswer, session

SPAN_WRITERS = ("t5", "mt5", "umt5", "longt5", "switch_transformers")  # trained with sentinels, by which they are asked
LONGEST_HEADER = 100_000_000  # bytes, as safetensors itself has it
INSTEAD = "take another model, or write a folder with save_pretrained() of its model and its tokenizer, and name that"


@dataclass
class Parts:
    """What is read of a model. shapes: of each tensor, by name; size: bytes of the weights; None where it has none yet."""

    config: dict
    shapes: dict[str, list[int]] | None
    size: int | None
    weights: list[str]


def header_of(called: str, read: Callable[[int, int], bytes]) -> tuple[dict[str, list[int]], int]:
    """The shapes of a safetensors file and the bytes of its tensors. read: its bytes from one place to before another."""
    try:
        length = int.from_bytes(read(0, 8), "little")
        if not 2 <= length <= LONGEST_HEADER:
            raise ValueError(f"a header of {length:,} bytes")
        header = json.loads(read(8, 8 + length))
        header.pop("__metadata__", None)
        return {name: tensor["shape"] for name, tensor in header.items()}, max((tensor["data_offsets"][1] for tensor in header.values()), default=0)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{called} is no whole safetensors ({cut(str(error))}); get the right file, or take another model") from None


def _bytes_of_file(file: Path) -> Callable[[int, int], bytes]:
    def read(begin: int, end: int) -> bytes:
        with open(file, "rb") as opened:
            opened.seek(begin)
            return opened.read(end - begin)

    return read


def _bytes_of_url(url: str) -> Callable[[int, int], bytes]:
    """By range requests; a server without ranges is read up to the place that is asked for."""
    def read(begin: int, end: int) -> bytes:
        with session() as web, web.get(url, headers={"Range": f"bytes={begin}-{end - 1}"}, stream=True, timeout=TIMEOUT) as answer:
            answer.raise_for_status()
            skipped = begin if answer.status_code == 200 else 0
            return answer.raw.read(end - begin + skipped)[skipped:]

    return read


def parts_of(called: str, listed: set[str], read: Callable[[str], Callable[[int, int], bytes]], load: Callable[[str], dict]) -> Parts:
    """A model of files by name. listed: the names there; read: the bytes of one; load: the JSON object of one."""
    check_listed(called, listed)
    files = [WEIGHTS] if WEIGHTS in listed else sorted({str(file) for file in load(INDEX).get("weight_map", {}).values()})
    if not files or any(file not in listed for file in files):
        raise UserError(f"{called}: {INDEX} names weights that are not there; get the right files, or take another model")
    headers = [header_of(f"{called}/{file}", read(file)) for file in files]
    shapes = {name: shape for found, _ in headers for name, shape in found.items()}
    return Parts(load("config.json"), shapes, sum(size for _, size in headers), files)


def check_listed(called: str, listed: set[str]) -> None:
    """Raises UserError where a model lacks what training needs, by the names of its files."""
    if "config.json" not in listed:
        raise UserError(f"{called} has no config.json, so nothing tells what it is; {INSTEAD}")
    if "tokenizer.json" not in listed and not any(listed.issuperset(names) for names in OLDER_TOKENIZERS):
        only = "; it has a chat template only" if any(file.startswith("chat_template") for file in listed) else ""
        raise UserError(f"{called} has no tokenizer.json, by which texts become tokens{only}; {INSTEAD}")
    if not {WEIGHTS, INDEX} & listed:
        raise only_pickled(called, called) if PICKLE in listed else UserError(f"{called} has no weights ({WEIGHTS}); {INSTEAD}")


def of_folder(called: str, folder: Path) -> Parts:
    """A model whose files lie in a folder."""
    listed = {file.name for file in folder.iterdir() if file.is_file()}
    return parts_of(called, listed, lambda file: _bytes_of_file(folder / file), lambda file: read_object(called, file, folder / file))


def of_address(called: str, base: str) -> Parts | None:
    """A model in a mirror that is a URL; None where it is not there."""
    tokenizers = [file for names in OLDER_TOKENIZERS for file in names]
    names = ("config.json", "tokenizer.json", *tokenizers, "chat_template.jinja", WEIGHTS, INDEX, PICKLE)

    def load(file: str) -> dict:
        with session() as web:
            answer = web.get(f"{base}/{file}", timeout=TIMEOUT)
            answer.raise_for_status()
            return answer.json()

    try:
        with session() as web:
            listed = {file for file in names if web.head(f"{base}/{file}", allow_redirects=True, timeout=TIMEOUT).status_code == 200}
        if "config.json" not in listed:
            return None
        if INDEX in listed:
            listed |= {str(file) for file in load(INDEX).get("weight_map", {}).values()}
        return parts_of(called, listed, lambda file: _bytes_of_url(f"{base}/{file}"), load)
    except (requests.RequestException, NoAnswer, ValueError, AttributeError) as error:
        raise UserError(f"{called}: the mirror does not give {base} ({cut(str(error), 200)}): start the mirror, or take it away") from error


def mirrored(called: str, hub: str, revisions: list[str], mirror: str | None) -> Parts | None:
    """A hub model as the mirror has it; None where it does not."""
    for place in in_mirror(mirror, [f"{HOST}/{hub}/resolve/{revision}/config.json" for revision in revisions]):
        base = place.rpartition("/")[0]
        if urlsplit(base).scheme == "file":
            found = of_folder(called, local_path(base)) if local_path(place).is_file() else None
        else:
            found = of_address(called, base)
        if found:
            return found
    return None


def cached(called: str, hub: str, revision: str) -> Parts | None:
    """A hub model as the user's cache has it, if it has all that is asked."""
    from huggingface_hub import try_to_load_from_cache

    places = [try_to_load_from_cache(hub, file, revision=revision) for file in ("config.json", "tokenizer.json", WEIGHTS)]
    return of_folder(called, Path(places[0]).parent) if all(isinstance(place, str) for place in places) else None


def of_hub(name: str, entry: dict, place: str, partial: Path, mirror: str | None) -> Parts:
    """A hub model: from the mirror, the cache or the hub."""
    hub, revision, files = entry["hub"], entry["revision"], entry.get("files") or {}
    revisions = list(dict.fromkeys([revision, *(["main"] if files else [])]))
    if found := mirrored(hub, hub, revisions, mirror) or cached(hub, hub, revision):
        return found
    config = hub_file(name, "config.json", hub, revision, files.get("config.json"), place, partial, mirror)
    headers = headers_from_hub(name, hub, revision, place, lambda names: check_listed(hub, names)).files_metadata
    shapes = {tensor: info.shape for file in headers.values() for tensor, info in file.tensors.items()}
    size = sum(max((info.data_offsets[1] for info in file.tensors.values()), default=0) for file in headers.values())
    return Parts(read_object(name, "config.json", config), shapes, size, sorted(headers))


def fills_masks(config, names: set[str]) -> bool:
    """Whether weights of these names hold the head by which an encoder fills masks: all of it that no other weight stands for."""
    import torch
    from transformers import AutoModelForMaskedLM

    with torch.device("meta"):
        network = AutoModelForMaskedLM.from_config(config)
    renamed = {name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias") for name in names}
    shared = set(network.all_tied_weights_keys) if hasattr(network, "all_tied_weights_keys") else set(network._tied_weights_keys or ())
    head = {name for name in network.state_dict() if not name.startswith(f"{network.base_model_prefix}.")} - shared
    return bool(head) and head <= renamed


def facts_of(name: str, parts: Parts) -> dict:
    """What is told of a model. Raises UserError for code of its own and for a kind that no method can ask."""
    config = own_config(name, parts.config)
    kind = kind_of(config)
    if kind is None:
        raise UserError(f"{name}: a {config.model_type} model is neither an encoder that fills masks, an encoder-decoder nor a decoder of "
                        "text, so no method can ask it; take another model")
    masks = kind == "encoder" and parts.shapes is not None and fills_masks(config, set(parts.shapes))
    more = ["mask_filler"] if masks else ["span_writer"] if config.model_type in SPAN_WRITERS else []
    return {"kind": kind, "abilities": [kind, *more], "model_type": config.model_type,
            "parameters": parts.shapes and sum(math.prod(shape) for shape in parts.shapes.values()),
            "bytes": parts.size, "weights": parts.weights}


def read_parts(given: argparse.Namespace, entry: dict, mirror: str | None) -> Parts:
    """What is read of the model: where it was fetched, else where its entry says."""
    fetched = given.fetched / given.model
    if "init" in entry:
        return Parts(entry["init"] | {"vocab_size": 1000}, None, None, [])  # its words are counted when it is written
    if (fetched / "manifest.json").exists():
        return of_folder(given.model, fetched)
    if "folder" in entry:
        folder = given.root / os.path.expanduser(entry["folder"])
        if not folder.is_dir():
            raise UserError(f"{given.model}: folder {cut(str(folder), 200)} is not there; correct it in {given.place or given.models}")
        return of_folder(cut(str(folder), 200), folder)
    if "hub" in entry:
        return of_hub(given.model, entry, given.place or str(given.models), given.partial / given.model, mirror)
    raise UserError(f"{given.model}: only a model of the hub, of a folder or from init has a kind that can be read; name another one")


def main(given: argparse.Namespace) -> None:
    mirror = check_mirror(given.mirror)
    entry = read_entry("model", given.model, given.models)
    check_entry("models", given.model, {given.model: entry})
    facts = facts_of(given.model, read_parts(given, entry, mirror))
    with whole(given.output) as beside:
        beside.write_text(json.dumps(facts | {"identity": identity(entry, given.root)}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    log.info("%s: %s", given.model, ", ".join(facts["abilities"]))


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    program.add_argument("--model", required=True, metavar="NAME", help="an entry of MODELS")
    program.add_argument("--models", type=Path, default=Path("resources/models.yaml"), metavar="FILE", help="default: %(default)s")
    program.add_argument("--place", metavar="TEXT", help="what to call the place of the entry in messages; default: FILE")
    program.add_argument("--mirror", default="", metavar="PLACE", help=MIRROR_HELP)
    program.add_argument("--root", type=Path, default=Path(), metavar="DIR", help="where paths of the entry begin; default: %(default)s")
    program.add_argument("--fetched", type=Path, default=Path("results/fetch/models"), metavar="DIR",
                         help="where models are that were fetched; default: %(default)s")
    program.add_argument("--partial", type=Path, default=Path("results/fetch/.partial/models"), metavar="DIR",
                         help="where unfinished downloads are kept; default: %(default)s")
    program.add_argument("--output", type=Path, required=True, metavar="FILE", help="results/fetch/facts/NAME.json")
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
