"""Fetch one model: configuration, tokenizer and weights, verified, as training reads them with the hub off.

Reads  the entry NAME of MODELS (resources/models.yaml, whose head explains the keys); a mirror is tried first
Writes OUTPUT/config.json, tokenizer.json, tokenizer_config.json, model.safetensors (not for a model that is
       trained from scratch) and whatever else the entry names, all of them or none. For ESIM: config.json, and its word
       vectors or a copy of its encoder, which must have been fetched beside it

    python -m scripts.fetch.model --model tiny_bert --output results/fetch/models/tiny_bert
"""

import argparse
import difflib
import json
import shutil
import string
from pathlib import Path

from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from scripts.common.models import DEFAULT_FILES, check_model, kind_of, wanted_hashes
from scripts.common.program import UserError, log, parser, run
from scripts.fetch.download import MIRROR_HELP, NoFile, check_mirror, download, exists, hand_over, read_entry

HUB = "https://huggingface.co"
SENTINEL = "<extra_id_0>"  # what T5 has in a mask's place
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PICKLE = "pytorch_model.bin"


def only_pickled(name: str, where: str) -> UserError:
    """What to say of a model without safetensors."""
    return UserError(f"{name}: {where} has its weights as {PICKLE} only, a pickle, which can run code when "
                     "read: convert it where you trust it (from_pretrained(…).save_pretrained(FOLDER) writes "
                     "safetensors) and write `folder: FOLDER` in its entry")


def bring(name: str, entry: dict, pin: str, partial: Path, mirror: str | None) -> dict[str, Path]:
    """The files of a hub or folder model, verified by the entry's hashes; {name: place under `partial`}."""
    if "hub" in entry:
        base = f"{HUB}/{entry['hub']}/resolve/{entry['revision']}"
    else:
        folder = Path(entry["folder"]).expanduser()
        if not folder.is_dir():
            raise UserError(f"{name}: folder {folder} is not there; correct it in {pin}")
        base, mirror = folder.resolve().as_uri(), None
    brought = {}
    for file, sha256 in wanted_hashes(entry).items():
        try:
            brought[file] = download(f"{name}/{file}", [f"{base}/{file}"], sha256, pin, partial, mirror)
        except NoFile as error:
            if file == "model.safetensors" and exists(f"{base}/{PICKLE}", mirror):
                raise only_pickled(name, entry.get("hub") or entry["folder"]) from error
            raise
    return brought


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

    place = f"{HUB}/{wanted['hub']}/resolve/{wanted['revision']}/{wanted['file']}"
    file = download(f"{name}/{wanted['file']}", [place], wanted["sha256"], pin, partial, mirror)
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
    written = {
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
    for file, value in written.items():
        (folder / file).write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return {file: folder / file for file in [*written, "tokenizer.json"]}


def write_esim(name: str, entry: dict, pin: str, folder: Path, fetched: Path, mirror: str | None) -> dict[str, Path]:
    """ESIM's configuration, and its word vectors or the files of its encoder, a model fetched before; {name: place}."""
    if "vectors" in entry:
        wanted = entry["vectors"]
        words = {"vectors": wanted["file"]}
        files = {wanted["file"]: download(f"{name}/{wanted['file']}", wanted["urls"], wanted["sha256"], pin, folder, mirror)}
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


def check_architecture(name: str, init: dict) -> bool:
    """Refuse an `init:` that transformers does not know, or a key that its configuration does not have.

    Returns whether the model also decodes.
    """
    from transformers import AutoConfig  # takes a second, and only models from scratch need it

    try:
        known = set(AutoConfig.for_model(init["model_type"]).to_dict())
        decodes = bool(AutoConfig.for_model(**init).is_encoder_decoder)
    except KeyError:
        raise UserError(f"{name}: init lacks model_type; write `model_type: bert`, or another one") from None
    except Exception as error:  # of several kinds, which differ between versions of transformers
        raise UserError(f"{name}: init is no configuration that transformers knows "
                        f"({' '.join(str(error).split())[:200]}); correct it") from error
    if unknown := sorted(set(init) - known):
        near = difflib.get_close_matches(unknown[0], known, 1)
        raise UserError(f"{name}: a {init['model_type']} configuration has no {unknown[0]}"
                        + (f"; did you mean {near[0]}?" if near else "; take it out"))
    return decodes


def check_files(name: str, files: dict[str, Path]) -> None:
    """Raise UserError unless the files are a model that loads without foreign code."""
    instead = "get the right file, or take another model"
    for file in ("config.json", "tokenizer_config.json"):
        if file in files:
            try:
                content = json.loads(files[file].read_text(encoding="utf-8"))
            except (json.JSONDecodeError, UnicodeDecodeError) as error:
                raise UserError(f"{name}: {file} is not JSON ({error}); {instead}") from error
            if not isinstance(content, dict):
                raise UserError(f"{name}: {file} is not a JSON object; {instead}")
            if "auto_map" in content:
                raise UserError(f"{name}: {file} has auto_map, so the model needs code from its own "
                                "repository, which is never run here: take a model that transformers knows")
    if "model_type" not in json.loads(files["config.json"].read_text(encoding="utf-8")):
        raise UserError(f"{name}: config.json has no model_type, so nothing tells what it is; {instead}")
    try:
        Tokenizer.from_file(str(files["tokenizer.json"]))
    except Exception as error:  # tokenizers raises nothing narrower
        raise UserError(f"{name}: tokenizer.json is no tokenizer ({error}); get the right file, or write it "
                        "with AutoTokenizer.from_pretrained(…).save_pretrained(FOLDER)") from error
    for file, place in files.items():
        if file.endswith(".safetensors"):
            try:
                with safe_open(place, framework="np") as tensors:
                    tensors.keys()
            except SafetensorError as error:
                raise UserError(f"{name}: {file} is no whole safetensors ({error}); {instead}") from error


def main(given: argparse.Namespace) -> None:
    mirror = check_mirror(given.mirror)
    entry = read_entry("model", given.model, given.models)
    check_model(given.model, entry)
    partial = given.partial / "models" / given.model
    kind, pin = kind_of(entry), f"{given.models} ({given.model})"
    if kind == "mlm":
        raise UserError(f"{given.model}: is made by an MLM stage, not fetched; `snakemake train` makes it")
    partial.mkdir(parents=True, exist_ok=True)
    if kind == "init":
        files = write_scratch(given.model, entry, pin, partial, mirror)
    elif kind == "esim":
        files = write_esim(given.model, entry, pin, partial, given.output.parent, mirror)
    else:
        files = bring(given.model, entry, pin, partial, mirror)
    try:
        if kind != "esim":
            check_files(given.model, files)
    except UserError:
        shutil.rmtree(partial)  # so that the next fetch brings the files anew
        raise
    hand_over({place: given.output / name for name, place in files.items()})
    shutil.rmtree(partial)
    size = sum((given.output / name).stat().st_size for name in files)
    log.info("%s: %s files, %s bytes, in %s", given.model, len(files), f"{size:,}", given.output)


def arguments() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--model", required=True, metavar="NAME", help="an entry of MODELS")
    made.add_argument("--models", type=Path, default=Path("resources/models.yaml"), metavar="FILE",
                      help="default: %(default)s")
    made.add_argument("--output", type=Path, required=True, help="the folder, results/fetch/models/NAME")
    made.add_argument("--mirror", default="", metavar="PLACE", help=MIRROR_HELP)
    made.add_argument("--partial", type=Path, default=Path("results/fetch/.partial"), metavar="DIR",
                      help="where unfinished downloads are kept; default: %(default)s")
    return made


if __name__ == "__main__":
    run(main, arguments().parse_args())
