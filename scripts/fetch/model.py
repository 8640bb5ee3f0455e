"""Fetch one model: configuration, tokenizer and weights, verified, as training reads them with the hub off.

Reads  the entry NAME of MODELS (resources/models.yaml, whose head explains the keys); a mirror is tried first
Writes OUTPUT/config.json, tokenizer.json, tokenizer_config.json, model.safetensors (not for a model that is
       trained from scratch) and whatever else the entry names, all of them or none. For ESIM: config.json, and its word
       vectors or a copy of its encoder, which must have been fetched beside it

    python -m scripts.fetch.model --model tiny_bert --output results/fetch/models/tiny_bert
"""

import argparse
import json
import shutil
import string
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from scripts.common.models import DEFAULT_FILES, check_model, kind_of, wanted_hashes
from scripts.common.program import UserError, cut, execute, log, parser
from scripts.fetch.download import (
    MIRROR_HELP,
    NoFile,
    check_mirror,
    download,
    exists,
    hand_over,
    read_entry,
)
from scripts.fetch.hub import PICKLE, has_pickle, hub_file
from scripts.fetch.model_files import check_architecture, check_files

SENTINEL = "<extra_id_0>"  # what T5 has in a mask's place
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def only_pickled(name: str, where: str) -> UserError:
    """What to say of a model without safetensors."""
    return UserError(f"{name}: {where} has its weights as {PICKLE} only, a pickle, which can run code when "
                     "read: convert it where you trust it (from_pretrained(…).save_pretrained(FOLDER) writes "
                     "safetensors) and write `folder: FOLDER` in its entry")


def bring_from_hub(name: str, entry: dict, pin: str, partial: Path, mirror: str | None) -> dict[str, Path]:
    """The files of a hub model, verified by the entry's hashes; {name: place under `partial`}."""
    hub, revision, files = entry["hub"], entry["revision"], {}
    for file, sha256 in wanted_hashes(entry).items():
        try:
            files[file] = hub_file(name, file, hub, revision, sha256, pin, partial, mirror)
        except NoFile as error:
            if file == "model.safetensors" and has_pickle(hub, revision, mirror):
                raise only_pickled(name, hub) from error
            raise
    return files


def bring_from_folder(name: str, entry: dict, pin: str, partial: Path) -> dict[str, Path]:
    """The files of a folder model, verified by the entry's hashes; {name: place under `partial`}."""
    folder = Path(entry["folder"]).expanduser()
    try:
        if not folder.is_dir():
            raise UserError(f"{name}: folder {cut(str(folder), 200)} is not there; correct it in {pin}")
    except (OSError, ValueError) as error:  # a name that is too long, or none
        raise UserError(f"{name}: folder {cut(str(folder), 200)} cannot be one ({cut(str(error))}); correct it in {pin}") from None
    base, files = folder.resolve().as_uri(), {}
    for file, sha256 in wanted_hashes(entry).items():
        try:
            files[file] = download(f"{name}/{file}", [f"{base}/{file}"], sha256, pin, partial, None)
        except NoFile as error:
            if file == "model.safetensors" and exists([f"{base}/{PICKLE}"]):
                raise only_pickled(name, entry["folder"]) from error
            raise
    return files


def vocabulary(words: Path) -> list[str]:
    """Pieces: special tokens, each printable ASCII character alone and inside a word, and the words of a file.

    Capitals are left out, since the tokenizer lower-cases.
    """
    try:
        listed = words.read_text(encoding="utf-8").split()
    except FileNotFoundError:
        raise UserError(f"{words}: no such file; the entry's vocabulary names a list of words, one a line") from None
    characters = [character for character in string.printable if character.isprintable() and character != " "
                  and not character.isupper()]
    inside = [f"##{character}" for character in characters]
    return list(dict.fromkeys([*SPECIAL, *characters, *inside, *listed]))


def word_pieces(words: Path, sentinel: bool) -> Tokenizer:
    """A WordPiece tokenizer that splits and lower-cases as BERT's does: [CLS] a [SEP], [CLS] a [SEP] b [SEP] for a pair."""
    special = [*SPECIAL, SENTINEL] if sentinel else SPECIAL
    pieces = {piece: number for number, piece in enumerate(dict.fromkeys([*vocabulary(words), *special]))}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]", continuing_subword_prefix="##"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", pieces["[CLS]"]), ("[SEP]", pieces["[SEP]"])],
    )
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.add_special_tokens(special)
    return tokenizer


def released_pieces(name: str, wanted: dict, pin: str, partial: Path, mirror: str | None) -> Tokenizer:
    """The tokenizer of a released SentencePiece model of T5."""
    from transformers import T5Tokenizer  # takes a second, and only these models need it

    file = hub_file(name, wanted["file"], wanted["hub"], wanted["revision"], wanted["sha256"], pin, partial, mirror)
    named = partial / "spiece" / "spiece.model"  # the name by which it is known
    named.parent.mkdir(exist_ok=True)
    shutil.copyfile(file, named)
    try:
        return T5Tokenizer.from_pretrained(named.parent).backend_tokenizer
    except Exception as error:  # of several kinds, which differ between versions of transformers
        raise UserError(f"{name}: {wanted['file']} is no SentencePiece model of T5 ({' '.join(str(error).split())[:200]}); get "
                        "the right file") from error


def write_scratch(name: str, entry: dict, pin: str, folder: Path, mirror: str | None) -> dict[str, Path]:
    """Write configuration and tokenizer of a model that is trained from scratch; {name: place}."""
    init, decodes = entry["init"], check_architecture(name, entry["init"])
    if "vocabulary" in entry:
        tokenizer = word_pieces(Path(entry["vocabulary"]), sentinel=decodes)
        special = {f"{token[1:-1].lower()}_token": token for token in SPECIAL}
        end = "[SEP]"
    else:
        tokenizer = released_pieces(name, entry["tokenizer"], pin, folder, mirror)
        special = {"pad_token": "<pad>", "unk_token": "<unk>", "eos_token": "</s>"}
        end = "</s>"
    tokenizer.save(str(folder / "tokenizer.json"))
    pad = tokenizer.token_to_id(special["pad_token"])
    contents = {
        # Not through a transformers class, of which a new version would change bytes, and so train anew.
        "config.json": init | {"vocab_size": tokenizer.get_vocab_size(), "pad_token_id": pad} | (
            {"eos_token_id": tokenizer.token_to_id(end), "decoder_start_token_id": pad} if decodes else {}),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_input_names": ["input_ids", *([] if decodes else ["token_type_ids"]), "attention_mask"],
            **({"do_lower_case": True} if "vocabulary" in entry else {}),
            **({"model_max_length": init["max_position_embeddings"]} if "max_position_embeddings" in init else {}),
            **special,
        },
    }
    for file, value in contents.items():
        (folder / file).write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return {file: folder / file for file in [*contents, "tokenizer.json"]}


def write_esim(name: str, entry: dict, pin: str, folder: Path, fetched: Path, mirror: str | None) -> dict[str, Path]:
    """ESIM's configuration, and its word vectors or the files of its encoder, a model fetched before; {name: place}."""
    if "vectors" in entry:
        wanted = entry["vectors"]
        words = {"vectors": wanted["file"]}
        files = {wanted["file"]: download(f"{name}/{wanted['file']}", wanted["urls"], wanted["sha256"], pin, folder, mirror,
                                          wanted.get("bytes"))}
    else:
        words, files = {"encoder": True}, {}
        for file in DEFAULT_FILES:
            place, from_where = folder / "encoder" / file, fetched / entry["encoder"] / file
            if not from_where.exists():
                raise UserError(f"{name}: {from_where} is not there; fetch the model {entry['encoder']} first")
            place.parent.mkdir(exist_ok=True)
            shutil.copyfile(from_where, place)
            files[f"encoder/{file}"] = place
    config = folder / "config.json"
    config.write_text(json.dumps({"model_type": "esim"} | entry["esim"] | words, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return {"config.json": config} | files


def main(given: argparse.Namespace) -> None:
    mirror = check_mirror(given.mirror)
    entry = read_entry("model", given.model, given.models)
    check_model(given.model, entry)
    partial = given.partial / "models" / given.model
    kind, pin = kind_of(entry), given.place or f"{given.models} ({given.model})"
    if kind == "mlm":
        raise UserError(f"{given.model}: is made by an MLM stage, not fetched; `snakemake train` makes it")
    partial.mkdir(parents=True, exist_ok=True)
    if kind == "init":
        files = write_scratch(given.model, entry, pin, partial, mirror)
    elif kind == "esim":
        files = write_esim(given.model, entry, pin, partial, given.output.parent, mirror)
    elif kind == "hub":
        files = bring_from_hub(given.model, entry, pin, partial, mirror)
    else:
        files = bring_from_folder(given.model, entry, pin, partial)
    try:
        if kind != "esim":
            check_files(given.model, files, partial / "check")
    except UserError:
        shutil.rmtree(partial, ignore_errors=True)  # so that the next fetch brings the files anew
        raise
    hand_over({place: given.output / name for name, place in files.items()})
    size = sum((given.output / name).stat().st_size for name in files)
    shutil.rmtree(partial, ignore_errors=True)
    log.info("%s: %s files, %s bytes, in %s", given.model, len(files), f"{size:,}", given.output)


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    program.add_argument("--model", required=True, metavar="NAME", help="an entry of MODELS")
    program.add_argument("--models", type=Path, default=Path("resources/models.yaml"), metavar="FILE",
                         help="default: %(default)s")
    program.add_argument("--place", metavar="TEXT", help="what to call the place of the entry in messages; default: MODELS (NAME)")
    program.add_argument("--output", type=Path, required=True, help="the folder, results/fetch/models/NAME")
    program.add_argument("--mirror", default="", metavar="PLACE", help=MIRROR_HELP)
    program.add_argument("--partial", type=Path, default=Path("results/fetch/.partial"), metavar="DIR",
                         help="where unfinished downloads are kept; default: %(default)s")
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
