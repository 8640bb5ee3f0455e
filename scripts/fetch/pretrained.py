"""Bring the files of a pretrained model, from the hub or from a folder: first its configuration,
then its tokenizer, then its weights.

If an entry names no files, the program finds the weights (whole or in shards) and a tokenizer. An
older form of tokenizer is written as tokenizer.json. Almost all checks come before the weights,
which may have 30 GB.
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import constants

from scripts.plan.kinds import kind_of
from scripts.plan.models import CONFIG, ELSEWHERE, GENERATION, GGUF, INDEX, TEMPLATE, TOKENIZER
from scripts.plan.models import TOKENIZER_CONFIG, WEIGHTS
from scripts.running.program import UserError, cut, log
from scripts.fetch.adapter_merge import Adapter, adapter_of, bring_adapter, for_text_half, merge
from scripts.fetch.download import Absent, Downloads, find
from scripts.fetch.hub import Hub, Origin
from scripts.fetch.model_files import INSTEAD, WrongFiles, check_tensors, check_tokenizer
from scripts.fetch.model_files import copy_files, network_of, refused, transformers_config
from scripts.fetch.model_files import read_object
from scripts.fetch.text_half import text_config, write_text_weights
from scripts.fetch.web import check_room

# Older forms of a tokenizer, used if tokenizer.json is missing, in the order of the search.
OLDER_TOKENIZERS = (
    ["spm.model"],
    ["spiece.model"],
    ["sentencepiece.bpe.model"],
    ["tokenizer.model"],
    ["vocab.json", "merges.txt"],
    ["vocab.txt"],
)
SPECIAL_FILES = ("special_tokens_map.json", "added_tokens.json")  # further files of a tokenizer
# all files of a model but its weights
MODEL_FILES = (
    *(CONFIG, TOKENIZER, TOKENIZER_CONFIG, TEMPLATE, *SPECIAL_FILES),
    *(file for names in OLDER_TOKENIZERS for file in names),
)
PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")
# in lower case, so every tokenizer leaves it unchanged
PLAIN = "a man washes a pan, then he dries it for 20 minutes"
# kernels of attention that need no package and no GPU, and the keys that ask for one
KERNELS = ("eager", "sdpa", "flex_attention")
KERNEL_KEYS = ("attn_implementation", "_attn_implementation", "_attn_implementation_internal")
SHARDS = 2_000  # at most; 600 billion weights come in 163
SHARD = re.compile(r"(?!\.)[^/\\\x00-\x1f]{1,200}\.safetensors")


class Folder(Origin):
    """A model in an existing local folder."""

    @property
    def where(self) -> str:
        return self.entry["folder"]

    def place_of(self, file: str) -> str:
        return shlex.quote(str(Path(self.where, file)))

    @property
    def is_gguf(self) -> bool:
        return any(file.suffix.lower() == GGUF for file in Path(self.where).iterdir())

    def locate(self, file: str) -> tuple[str, int] | None:
        """The URL of a file and its bytes; None for a missing file."""
        return find([Path(self.where, file).as_uri()])

    def bring(self, file: str) -> Path:
        """Return a verified copy under `partial`. Raises Absent if the folder has no such file."""
        if not self.locate(file):
            inner = [place.parent for place in Path(self.where).glob(f"*/{file}")]
            models = [folder for folder in inner if any(folder.glob("*.safetensors"))]
            last = max(models, key=lambda folder: folder.stat().st_mtime, default=None)
            remedy = f"its folder {cut(last.name)} has one: name that" if last else ""
            raise Absent(
                f"{self.name}/{file} could not be fetched: {cut(self.where, 200)} has no such "
                f"file; {remedy or 'put it there'}"
            )
        url = Path(self.where, file).as_uri()
        # a copy that a failed fetch left may be of an older file
        self.downloads.place_of(url, "whole").unlink(missing_ok=True)
        return self.downloads.bring(f"{self.name}/{file}", [url], self.pinned.get(file))


def origin_of(name: str, entry: dict, downloads: Downloads, root: Path = Path()) -> Hub | Folder:
    """Return the origin of a model's files. root: the folder to which the entry's folder is
    relative. Raises UserError for a missing folder.
    """
    if "hub" in entry:
        return Hub(name, entry, downloads)
    folder = root / os.path.expanduser(entry["folder"])
    try:
        if not folder.is_dir():
            raise UserError(
                f"{name}: folder {cut(str(folder), 200)} is not there; correct it in "
                f"{downloads.pin}"
            )
        found = entry | {"folder": str(folder.resolve())}
        return Folder(name, found, downloads)
    except (OSError, ValueError) as error:  # a name that is too long, or no name
        raise UserError(
            f"{name}: folder {cut(str(folder), 200)} is not a valid path "
            f"({cut(str(error))}); correct it in {downloads.pin}"
        ) from None


# ---- The files that exist


class Architecture(NamedTuple):
    """place: the config.json for training; config: its content, as transformers reads it; is_half:
    whether it is the text half of a model that also sees or hears.
    """

    place: Path
    config: Any
    is_half: bool


def read_architecture(origin: Origin) -> Architecture:
    """Read a model's config.json. Raises UserError for a model that this project cannot read."""
    try:
        place = origin.bring(CONFIG)
    except Absent:
        if origin.is_gguf:
            raise UserError(
                f"{origin.name}: {origin.where} has no {CONFIG}, but GGUF files, quantised weights "
                f"that transformers does not read as they are: {ELSEWHERE}"
            ) from None
        raise
    content = read_object(origin.name, CONFIG, place)
    half = text_config(origin.name, content)
    about = half or content
    kernels = {key: about[key] for key in KERNEL_KEYS if about.get(key) not in (None, *KERNELS)}
    for kernel in set(map(str, kernels.values())):
        log.info(
            "%s: %s asks for %s; attention is computed without it", origin.name, CONFIG, cut(kernel)
        )
    about = {key: value for key, value in about.items() if key not in kernels}
    if half or kernels:
        place = origin.downloads.partial / "text" / CONFIG
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(about, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return Architecture(place, transformers_config(origin.name, about), bool(half))


def find_tokenizer(origin: Origin) -> list[str]:
    """Return the names of the tokenizer's files. Raises UserError for a model without a tokenizer,
    and NoFile if no place answers.
    """
    for names in ([TOKENIZER], *OLDER_TOKENIZERS):
        if all(map(origin.locate, names)):
            return names
    try:
        origin.bring(TOKENIZER)
        return [TOKENIZER]
    except Absent:
        raise UserError(
            f"{origin.name}: {origin.where} has no tokenizer ({TOKENIZER}, or "
            f"{', '.join(' with '.join(names) for names in OLDER_TOKENIZERS)}; a chat "
            "template is not enough): take a model that has one, or put the files into a "
            "folder with the tokenizer that it was trained with and write `folder: "
            "FOLDER` in its entry"
        ) from None


def has_template(origin: Origin) -> bool:
    place = origin.bring(TOKENIZER_CONFIG) if origin.locate(TOKENIZER_CONFIG) else None
    tokenizer_config = read_object(origin.name, TOKENIZER_CONFIG, place) if place else {}
    return bool(tokenizer_config.get("chat_template") or origin.locate(TEMPLATE))


def find_weights(origin: Origin) -> tuple[list[str], dict[str, Path]]:
    """Return the names of the weight files and, for shards, their index as {name: place}. Raises
    UserError for a model without safetensors, and for a wrong index.
    """
    pinned = [file for file in origin.pinned if file.endswith(".safetensors")]
    whole = pinned or origin.locate(WEIGHTS)
    if INDEX in origin.pinned or (not whole and origin.locate(INDEX)):
        index = origin.bring(INDEX)
        table = read_object(origin.name, INDEX, index).get("weight_map")
        files = set(map(str, table.values())) if isinstance(table, dict) else set()
        if not files or not all(map(SHARD.fullmatch, files)):
            raise WrongFiles(
                f"{origin.name}: {INDEX} does not name a .safetensors file beside it "
                f"for each tensor (weight_map); {INSTEAD}"
            )
        if len(files) > SHARDS:
            raise WrongFiles(
                f"{origin.name}: {INDEX} names {len(files):,} files, more than {SHARDS:,}; "
                f"{INSTEAD}"
            )
        return sorted(files), {INDEX: index}
    pickles = [] if whole else [file for file in PICKLES if origin.locate(file)]
    if pickles:
        raise UserError(
            f"{origin.name}: {origin.where} has its weights as {pickles[0]} only, a pickle, which "
            "can run code when read: write it as safetensors (`python -m "
            f"scripts.fetch.convert_weights {origin.place_of(pickles[0])} --output FOLDER`), then "
            "take FOLDER as the model"
        )
    return pinned or [WEIGHTS], {}


# ---- The files that are brought


def bring_optional(origin: Origin, names: Iterable[str]) -> dict[str, Path]:
    files = {}
    for file in names:
        try:
            files[file] = origin.bring(file)
        except Absent:
            log.info("%s: has no %s", origin.name, file)
    return files


def bring_ends(origin: Origin, writes: bool) -> dict[str, Path]:
    """Bring the file that names the tokens which end an answer, if the model writes text; {name:
    place}.
    """
    named = GENERATION in origin.pinned
    if not (named or (writes and not origin.pinned and origin.locate(GENERATION))):
        return {}
    place = origin.bring(GENERATION)
    read_object(origin.name, GENERATION, place)
    return {GENERATION: place}


def bring_tokenizer(origin: Origin, writes: bool) -> dict[str, Path]:
    """Bring the files of the tokenizer and, if the model writes text, its chat template; {name:
    place}. Raises UserError for a model without a tokenizer.
    """
    if origin.pinned:
        return {
            file: origin.bring(file)
            for file in origin.pinned
            if file not in (CONFIG, INDEX, GENERATION) and not file.endswith(".safetensors")
        }
    files = bring_optional(origin, [TOKENIZER_CONFIG])
    if writes and origin.locate(TEMPLATE):
        files[TEMPLATE] = origin.bring(TEMPLATE)
    names = find_tokenizer(origin)
    files |= {file: origin.bring(file) for file in names}
    return files if TOKENIZER in files else files | bring_optional(origin, SPECIAL_FILES)


def write_tokenizer(
    origin: Origin, files: dict[str, Path], config, folder: Path
) -> dict[str, Path]:
    """Write an older form of tokenizer as tokenizer.json and tokenizer_config.json. files: {name:
    place}, with config.json; config: its content. Raises UserError if the tokenizer cannot be read.
    """
    from sentencepiece import SentencePieceProcessor
    from transformers import AutoTokenizer

    older = [
        file for file in files if file not in (CONFIG, TOKENIZER_CONFIG, TEMPLATE, *SPECIAL_FILES)
    ]
    named = " and ".join(older) or "no file of its own"
    given, anew = folder / "given", folder / "anew"
    shutil.rmtree(folder, ignore_errors=True)
    copy_files(files, given)
    with refused(
        f"{origin.name}: has no {TOKENIZER}, and its tokenizer ({named}) cannot be read",
        "write one (AutoTokenizer.from_pretrained(…).save_pretrained(FOLDER)), put the weights "
        "beside it and write `folder: FOLDER` in its entry",
    ):
        tokenizer = AutoTokenizer.from_pretrained(
            given, trust_remote_code=False, local_files_only=True
        )
        tokenizer.save_pretrained(anew)
        json.loads((anew / TOKENIZER).read_text(encoding="utf-8"))
        pieces = {
            file: SentencePieceProcessor(model_file=str(given / file))
            for file in older
            if file.endswith(".model")
        }
        different = [
            file
            for file, model in pieces.items()
            if model.encode(PLAIN, out_type=str) != tokenizer.tokenize(PLAIN)
        ]
    if different:
        raise WrongFiles(
            f"{origin.name}: has no {TOKENIZER}, and the one that transformers makes from "
            f"{different[0]} cuts words otherwise than SentencePiece: write a {TOKENIZER} "
            "that cuts them as SentencePiece does, put the weights beside it and write "
            "`folder: FOLDER` in its entry"
        )
    # transformers makes an empty tokenizer from files that it does not know
    if 2 * len(tokenizer) < config.vocab_size:
        raise WrongFiles(
            f"{origin.name}: has no {TOKENIZER}. transformers reads {len(tokenizer):,} "
            f"tokens from its tokenizer ({named}), but the model has "
            f"{config.vocab_size:,}; {INSTEAD}"
        )
    log.info("%s: has no %s: written from %s", origin.name, TOKENIZER, named)
    written = (TOKENIZER, TOKENIZER_CONFIG, TEMPLATE)
    return {file: anew / file for file in written if (anew / file).exists()}


def bring_adapted(origin: Origin, adapter: Adapter) -> dict[str, Path]:
    """Bring an adapter and its base, and merge them; {name: place}. The adapter's own tokenizer
    counts, if it has one.
    """
    own, base = bring_adapter(origin), bring_pretrained(adapter.base)
    partial, about = origin.downloads.partial, read_object(origin.name, CONFIG, base[CONFIG])
    config = transformers_config(origin.name, about)
    for left in ("base", "adapter", "merged"):
        shutil.rmtree(partial / "adapted" / left, ignore_errors=True)
    own = for_text_half(origin.name, own, partial / "half")
    merged = merge(origin.name, adapter, own, base, config, partial / "adapted")
    config = transformers_config(origin.name, read_object(origin.name, CONFIG, merged[CONFIG]))
    tokenizer = (
        bring_tokenizer(origin, kind_of(config) != "encoder")
        if origin.locate(TOKENIZER)
        else {file: base[file] for file in (TOKENIZER, TOKENIZER_CONFIG, TEMPLATE) if file in base}
    )
    check = partial / "check"
    tokenizer |= check_tokenizer(origin.name, {CONFIG: merged[CONFIG]} | tokenizer, check, config)
    return merged | tokenizer


def bring_pretrained(origin: Origin) -> dict[str, Path]:
    """Bring the files of a model from the hub or a folder, and check them. The entry's hashes
    verify them. An adapter is merged into its base. Return {name: place under `partial`}. Raises
    UserError for files that training cannot load and for a model that is too large for the disk,
    NoFile for a file that no place has.
    """
    if adapter := adapter_of(origin):
        return bring_adapted(origin, adapter)
    partial = origin.downloads.partial
    # The files of an earlier fetch are not downloaded again.
    left = sum(file.stat().st_size for file in partial.glob("*") if file.is_file())
    place, config, is_half = read_architecture(origin)
    about = {CONFIG: place}
    network = network_of(origin.name, config)
    writes = kind_of(config) != "encoder"
    tokenizer, ends = bring_tokenizer(origin, writes), bring_ends(origin, writes)
    if TOKENIZER not in tokenizer:
        tokenizer = write_tokenizer(origin, about | tokenizer, config, partial / "tokenizer")
    tokenizer |= check_tokenizer(origin.name, about | tokenizer, partial / "check", config)
    names, weights = find_weights(origin)
    found = [place for file in names if (place := origin.locate(file))]
    check_room(
        f"{origin.name} (its weights)",
        {  # files of the hub also come to its cache
            partial: sum(size for _, size in found) - left,
            Path(constants.HF_HUB_CACHE): sum(size for place, size in found if place is None),
        },
    )
    weights |= {file: origin.bring(file) for file in names}
    if is_half:
        weights = write_text_weights(weights, partial / "text")
    check_tensors(origin.name, weights, config, network)
    return about | tokenizer | ends | weights
