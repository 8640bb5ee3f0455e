"""Bring the files of a pretrained model, of the hub or of a folder: what it is, then its tokenizer, then its weights.

An entry that names no files gets what the model has: weights whole or in shards, and a tokenizer, written as tokenizer.json
where it comes as something older. Whatever can be refused is refused before the weights come, which may be 30 GB.
"""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scripts.common.models import CONFIG, INDEX, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS
from scripts.common.program import UserError, cut, log
from scripts.fetch.download import Absent, NoFile, download
from scripts.fetch.hub import PICKLE, hub_file, hub_has, hub_room
from scripts.fetch.model_files import INSTEAD, WrongFiles, check_tensors, check_tokenizer, placed, network_of, own_config, read_object, short
from scripts.fetch.room import check_weights_room

# What a tokenizer may come as in place of tokenizer.json, in the order in which it is looked for.
OLDER_TOKENIZERS = (["spm.model"], ["spiece.model"], ["sentencepiece.bpe.model"], ["tokenizer.model"], ["vocab.json", "merges.txt"],
                    ["vocab.txt"])
SPECIAL_FILES = ("special_tokens_map.json", "added_tokens.json")  # what it may have beside that
PLAIN = "a man washes a pan, then he dries it for 20 minutes"  # lower case, which every tokenizer leaves as it is
SHARD = re.compile(r"(?!\.)[^/\\\x00-\x1f]{1,200}\.safetensors")


@dataclass(frozen=True)
class Origin:
    """Where the files of a model come from.

    name: the model's; where: its id or folder, for messages; pin: where hashes are written down; bring: (file, sha256) → its
    place, verified (raises NoFile, and Absent where it is known not to be there); has: whether there is a file of this name;
    room: {file: sha256} → the bytes that they need, {folder: bytes}.
    """

    name: str
    where: str
    pin: str
    bring: Callable[[str, str | None], Path]
    has: Callable[[str], bool]
    room: Callable[[dict[str, str | None]], dict[Path, int]]


def origin_on_hub(name: str, entry: dict, pin: str, partial: Path, mirror: str | None) -> Origin:
    """A model of the hub, the mirror and the user's cache."""
    hub, revision = entry["hub"], entry["revision"]
    return Origin(name, hub, pin, lambda file, sha256: hub_file(name, file, hub, revision, sha256, pin, partial, mirror),
                  lambda file: hub_has(hub, revision, file, mirror),
                  lambda files: hub_room(files, hub, revision, partial, mirror))


def origin_in_folder(name: str, entry: dict, pin: str, partial: Path) -> Origin:
    """A model of a local folder."""
    folder = Path(entry["folder"]).expanduser()
    try:
        if not folder.is_dir():
            raise UserError(f"{name}: folder {cut(str(folder), 200)} is not there; correct it in {pin}")
    except (OSError, ValueError) as error:  # a name that is too long, or none
        raise UserError(f"{name}: folder {cut(str(folder), 200)} cannot be one ({cut(str(error))}); correct it in {pin}") from None
    folder = folder.resolve()

    def bring(file: str, sha256: str | None) -> Path:
        try:
            return download(f"{name}/{file}", [f"{folder.as_uri()}/{file}"], sha256, pin, partial, None)
        except NoFile as error:
            raise error if (folder / file).exists() else Absent(str(error)) from None

    def room(files: dict[str, str | None]) -> dict[Path, int]:
        return {partial: sum((folder / file).stat().st_size for file in files if (folder / file).is_file())}

    return Origin(name, entry["folder"], pin, bring, lambda file: (folder / file).is_file(), room)


def only_pickled(name: str, where: str) -> UserError:
    """What to say of a model whose weights are a pickle."""
    return UserError(f"{name}: {where} has its weights as {PICKLE} only, a pickle, which can run code when read: convert it where you "
                     "trust it (from_pretrained(…).save_pretrained(FOLDER) writes safetensors) and write `folder: FOLDER` in its entry")


def no_weights(origin: Origin, error: NoFile) -> UserError:
    """What to say of a model without safetensors."""
    pickled = any(origin.has(pickle) for pickle in (PICKLE, f"{PICKLE}.index.json"))
    return only_pickled(origin.name, origin.where) if pickled else error


def shards_of(name: str, index: Path) -> list[str]:
    """The files that an index of weights names. Raises UserError for one that is none."""
    table = read_object(name, INDEX, index).get("weight_map")
    if not isinstance(table, dict) or not table or not all(isinstance(file, str) and SHARD.fullmatch(file) for file in table.values()):
        raise WrongFiles(f"{name}: {INDEX} does not name a .safetensors file beside it for each tensor (weight_map); {INSTEAD}")
    return sorted(set(table.values()))


def bring_weights(origin: Origin, pinned: dict[str, str | None] | None, partial: Path, kept: int) -> dict[str, Path]:
    """The weights, whole or as the shards that their index names; {name: place}. Raises UserError where the disk is too small.

    kept: the bytes of them that an earlier fetch left in `partial`.
    """
    files, wanted = {}, {file: sha256 for file, sha256 in (pinned or {}).items() if file.endswith(".safetensors")}
    if INDEX in pinned if pinned else not origin.has(WEIGHTS):
        try:
            files[INDEX] = origin.bring(INDEX, (pinned or {}).get(INDEX))
        except NoFile:
            if pinned:
                raise
    if files:
        wanted = {file: wanted.get(file) for file in shards_of(origin.name, files[INDEX])}
    wanted = wanted or {WEIGHTS: None}
    check_weights_room(origin.name, origin.room(wanted), partial, kept)
    try:
        return files | {file: origin.bring(file, sha256) for file, sha256 in wanted.items()}
    except NoFile as error:
        raise no_weights(origin, error) from error


def bring_optional(origin: Origin, names: tuple[str, ...]) -> dict[str, Path]:
    """Those of the files that are there."""
    files = {}
    for file in names:
        try:
            files[file] = origin.bring(file, None)
        except Absent:
            log.info("%s: has no %s", origin.name, file)
    return files


def bring_tokenizer(origin: Origin, pinned: dict[str, str | None] | None) -> dict[str, Path]:
    """The files of the tokenizer, as they are there; {name: place}. Raises UserError for a model without one."""
    if pinned:
        return {file: origin.bring(file, sha256) for file, sha256 in pinned.items()
                if file not in (CONFIG, INDEX) and not file.endswith(".safetensors")}
    files = bring_optional(origin, (TOKENIZER_CONFIG,))
    try:
        return files | {TOKENIZER: origin.bring(TOKENIZER, None)}
    except NoFile as error:
        missing = error
    for names in OLDER_TOKENIZERS:
        if all(map(origin.has, names)):
            return files | {file: origin.bring(file, None) for file in names} | bring_optional(origin, SPECIAL_FILES)
    if not isinstance(missing, Absent):  # nobody could be asked
        raise missing
    template = TOKENIZER_CONFIG in files and "chat_template" in read_object(origin.name, TOKENIZER_CONFIG, files[TOKENIZER_CONFIG])
    raise UserError(f"{origin.name}: {origin.where} has {'a chat template but ' if template else ''}no tokenizer ({TOKENIZER}, or "
                    f"{', '.join(' with '.join(names) for names in OLDER_TOKENIZERS)}): take a model that has one, or put the files "
                    "into a folder with the tokenizer that it was trained with and write `folder: FOLDER` in its entry")


def written_anew(origin: Origin, files: dict[str, Path], config, folder: Path) -> dict[str, Path]:
    """A tokenizer that comes as something older, as transformers writes it: tokenizer.json and tokenizer_config.json.

    files: {name: place}, config.json among them; config: what that says. Raises UserError where it cannot be read.
    """
    from sentencepiece import SentencePieceProcessor
    from transformers import AutoTokenizer

    older = [file for file in files if file not in (CONFIG, TOKENIZER_CONFIG, *SPECIAL_FILES)]
    named = " and ".join(older) or "no file of its own"
    given, anew = folder / "given", folder / "anew"
    shutil.rmtree(folder, ignore_errors=True)
    placed(files, given)
    try:
        tokenizer = AutoTokenizer.from_pretrained(given, trust_remote_code=False, local_files_only=True)
        tokenizer.save_pretrained(anew)
        json.loads((anew / TOKENIZER).read_text(encoding="utf-8"))
        cut_otherwise = [file for file in older if file.endswith(".model") and tokenizer.tokenize(PLAIN)
                         != SentencePieceProcessor(model_file=str(given / file)).encode(PLAIN, out_type=str)]
    except Exception as error:  # of several kinds, which differ between versions of transformers
        raise WrongFiles(f"{origin.name}: has no {TOKENIZER}, and its tokenizer ({named}) cannot be read ({short(error)}): write one "
                        "(AutoTokenizer.from_pretrained(…).save_pretrained(FOLDER)), put the weights beside it and write "
                        "`folder: FOLDER` in its entry") from error
    if cut_otherwise:
        raise WrongFiles(f"{origin.name}: has no {TOKENIZER}, and what transformers makes of {cut_otherwise[0]} cuts words otherwise than "
                         f"SentencePiece does: write a {TOKENIZER} that does not, put the weights beside it and write `folder: FOLDER` "
                         "in its entry")
    if 2 * len(tokenizer) < config.vocab_size:  # transformers makes an empty tokenizer of files that it does not know
        raise WrongFiles(f"{origin.name}: has no {TOKENIZER}, and of its tokenizer ({named}) transformers reads {len(tokenizer):,} tokens, "
                        f"but the model has {config.vocab_size:,}; {INSTEAD}")
    log.info("%s: has no %s: written from %s", origin.name, TOKENIZER, named)
    return {file: anew / file for file in (TOKENIZER, TOKENIZER_CONFIG)}


def bring_pretrained(name: str, entry: dict, pin: str, partial: Path, mirror: str | None) -> dict[str, Path]:
    """The files of a model of the hub or of a folder, verified by the entry's hashes and checked; {name: place under `partial`}.

    Raises UserError for what is no model that training can load, for one that the disk has no room for, and NoFile for a
    file that no place has.
    """
    origin = origin_on_hub(name, entry, pin, partial, mirror) if "hub" in entry else origin_in_folder(name, entry, pin, partial)
    pinned = entry.get("files")
    kept = sum(file.stat().st_size for file in partial.glob("*") if file.is_file())
    try:
        about = {CONFIG: origin.bring(CONFIG, (pinned or {}).get(CONFIG))}
    except Absent:
        if origin.has("adapter_config.json"):
            raise UserError(f"{name}: {origin.where} is an adapter (LoRA or the like) without the model that it changes: merge the two "
                            "(merge_and_unload() of peft, then save_pretrained(FOLDER)) and write `folder: FOLDER` in an entry") from None
        raise
    config = own_config(name, read_object(name, CONFIG, about[CONFIG]))
    network = network_of(name, config)
    tokenizer = bring_tokenizer(origin, pinned)
    if TOKENIZER not in tokenizer:
        tokenizer = written_anew(origin, about | tokenizer, config, partial / "tokenizer")
    check_tokenizer(name, about | tokenizer, partial / "check", config)
    weights = bring_weights(origin, pinned, partial, kept)
    check_tensors(name, weights, config, network)
    return about | tokenizer | weights
