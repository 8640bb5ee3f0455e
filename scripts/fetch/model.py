"""Fetch one model: configuration, tokenizer and weights, verified. Training
reads them with the hub off.

Reads  the entry NAME of MODELS (resources/models.yaml, whose head explains the keys); a mirror is
       tried first
Writes OUTPUT/config.json, tokenizer.json, tokenizer_config.json, model.safetensors, or its index
       and shards (not for a model that is trained from scratch), and all other files that the entry
       names: all files or no file. Without pretraining: the files of the pretrained model, which
       must be in the folder beside OUTPUT, except its weights. For ESIM: config.json, and its word
       vectors or a copy of its encoder, which must be in the folder beside OUTPUT.

    python -m scripts.fetch.model --model tiny_bert --output results/fetch/models/tiny_bert
"""

import argparse
import json
import shutil
import string
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers import processors

from scripts.plan.kinds import is_decoder
from scripts.data.manifest import files_in
from scripts.plan.models import DEFAULT_FILES, INDEX, STAGES, UNTRAINED, WEIGHTS, kind_of
from scripts.running.program import UserError, execute
from scripts.plan.schemas import check, schema
from scripts.fetch.download import Downloads, alone, check_mirror, fetch_parser, finish, read_entry
from scripts.fetch.hub import one_file
from scripts.fetch.model_files import WrongFiles, check_architecture, check_tokenizer, copy_files
from scripts.fetch.model_files import transformers_config, read_object
from scripts.fetch.pretrained import bring_pretrained, origin_of
from scripts.fetch.web import short

SENTINEL = "<extra_id_0>"  # T5's token in a mask's place
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SPECIAL_OF_DECODERS = ["[PAD]", "[UNK]", "[BOS]"]


def vocabulary(words: Path, special: list[str] = SPECIAL) -> list[str]:
    """Return the pieces of a vocabulary: special tokens, each printable ASCII character alone and
    inside a word, and the words of a file. It has no capital letters, because the tokenizer
    lower-cases.
    """
    try:
        listed = words.read_text(encoding="utf-8").split()
    except FileNotFoundError:
        raise UserError(
            f"{words}: no such file; the entry's vocabulary names a list of words, one a line"
        ) from None
    except UnicodeDecodeError as error:
        raise UserError(
            f"{words}: is not UTF-8 at byte {error.start}; the entry's vocabulary names a list of "
            "words, one a line"
        ) from None
    characters = [
        character
        for character in string.printable
        if character.isprintable() and character != " " and not character.isupper()
    ]
    inside = [f"##{character}" for character in characters]
    return list(dict.fromkeys([*special, *characters, *inside, *listed]))


def word_pieces(words: Path, sentinel: bool = False, decoder: bool = False) -> Tokenizer:
    """Return a WordPiece tokenizer that splits and lower-cases like BERT's: [CLS] a [SEP], [CLS] a
    [SEP] b [SEP]. A decoder's tokenizer writes [BOS] a, and keeps newlines. sentinel: whether it
    also has T5's token for a mask.
    """
    special, first = SPECIAL, SPECIAL
    if decoder:
        special, first = SPECIAL_OF_DECODERS, [*SPECIAL_OF_DECODERS, "\n"]
    elif sentinel:
        special = [*SPECIAL, SENTINEL]
    pieces = {
        piece: number
        for number, piece in enumerate(dict.fromkeys([*vocabulary(words, first), *special]))
    }
    tokenizer = Tokenizer(
        models.WordPiece(pieces, unk_token="[UNK]", continuing_subword_prefix="##")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    single, pair = (
        ("[BOS] $A", "[BOS] $A $B")
        if decoder
        else ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single,
        pair=pair,
        special_tokens=[(token, pieces[token]) for token in special if token in pair],
    )
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.add_special_tokens(special)
    if decoder:
        tokenizer.add_tokens([AddedToken("\n", normalized=False)])
    return tokenizer


def released_pieces(name: str, wanted: dict, downloads: Downloads) -> Tokenizer:
    """The tokenizer of a released SentencePiece model of T5."""
    from transformers import T5Tokenizer  # takes a second, and only these models need it

    file = one_file(name, wanted, downloads).bring(wanted["file"])
    named = downloads.partial / "spiece" / "spiece.model"  # the name by which transformers finds it
    named.parent.mkdir(exist_ok=True)
    shutil.copyfile(file, named)
    try:
        return T5Tokenizer.from_pretrained(named.parent).backend_tokenizer
    except Exception as error:  # of several kinds, which differ between versions of transformers
        raise UserError(
            f"{name}: {wanted['file']} is not a SentencePiece model of T5 "
            f"({short(error)}); get the right file"
        ) from error


def write_scratch(
    name: str, entry: dict, pin: str, folder: Path, mirror: str | None
) -> dict[str, Path]:
    """Write configuration and tokenizer of a model that is trained from scratch; {name: place}."""
    init, decodes = entry["init"], check_architecture(name, entry["init"])
    decoder = is_decoder(init["model_type"])
    if "vocabulary" in entry:
        tokenizer = word_pieces(Path(entry["vocabulary"]), sentinel=decodes, decoder=decoder)
        kept = SPECIAL_OF_DECODERS if decoder else SPECIAL
        special = {f"{token[1:-1].lower()}_token": token for token in kept}
        end = "[SEP]"
    else:
        tokenizer = released_pieces(name, entry["tokenizer"], Downloads(pin, folder, mirror))
        special = {"pad_token": "<pad>", "unk_token": "<unk>", "eos_token": "</s>"}
        end = "</s>"
    tokenizer.save(str(folder / "tokenizer.json"))
    pad = tokenizer.token_to_id(special["pad_token"])
    # Not written by a transformers class: a new version of the class would change the bytes, and so
    # cause new training.
    config = init | {"vocab_size": tokenizer.get_vocab_size(), "pad_token_id": pad}
    if decodes:
        config |= {"eos_token_id": tokenizer.token_to_id(end), "decoder_start_token_id": pad}
    if decoder:
        config |= {"bos_token_id": tokenizer.token_to_id("[BOS]"), "eos_token_id": None}
    types = [] if decodes or decoder else ["token_type_ids"]
    about = special | {"tokenizer_class": "PreTrainedTokenizerFast"}
    about["model_input_names"] = ["input_ids", *types, "attention_mask"]
    if "vocabulary" in entry:
        about["do_lower_case"] = True
    if "max_position_embeddings" in init:
        about["model_max_length"] = init["max_position_embeddings"]
    contents = {"config.json": config, "tokenizer_config.json": about}
    for file, value in contents.items():
        (folder / file).write_text(
            json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8"
        )
    return {file: folder / file for file in [*contents, "tokenizer.json"]}


def write_esim(name: str, entry: dict, downloads: Downloads, fetched: Path) -> dict[str, Path]:
    """ESIM's configuration, and its word vectors or the files of its encoder; {name: place}."""
    folder = downloads.partial
    if "vectors" in entry:
        wanted = entry["vectors"]
        words = {"vectors": wanted["file"]}
        files = {
            wanted["file"]: downloads.bring(
                f"{name}/{wanted['file']}", wanted["urls"], wanted["sha256"], wanted.get("bytes")
            )
        }
    else:
        words, encoder = {"encoder": True}, fetched / entry["encoder"]
        if lost := [file for file in DEFAULT_FILES if not (encoder / file).exists()]:
            raise UserError(
                f"{name}: {encoder / lost[0]} is not there; fetch the model "
                f"{entry['encoder']} first"
            )
        copy_files({file: encoder / file for file in DEFAULT_FILES}, folder / "encoder")
        files = {f"encoder/{file}": folder / "encoder" / file for file in DEFAULT_FILES}
    config = folder / "config.json"
    config.write_text(
        json.dumps({"model_type": "esim"} | entry["esim"] | words, indent=2, sort_keys=True) + "\n",
        encoding="utf-8",
    )
    return {"config.json": config} | files


def without_weights(name: str, base: Path) -> dict[str, Path]:
    """Return the files of a fetched model except its weights; {name: place}. base: its folder."""
    manifest = base / "manifest.json"
    if not manifest.exists():
        raise UserError(f"{name}: {manifest} is not there; fetch the model {base.name} first")
    files = [file for file in files_in(manifest) if Path(file).suffix != Path(WEIGHTS).suffix]
    return {file: base / file for file in files if file != INDEX}


def bring(name: str, entry: dict, downloads: Downloads, fetched: Path) -> dict[str, Path]:
    """Bring or write the files of a model; {name: place}. fetched: the folder of fetched models."""
    kind = kind_of(entry)
    if kind == "esim":
        return write_esim(name, entry, downloads, fetched)
    if kind == UNTRAINED:
        return without_weights(name, fetched / entry[UNTRAINED])
    if kind != "init":
        return bring_pretrained(origin_of(name, entry, downloads))
    files = write_scratch(name, entry, downloads.pin, downloads.partial, downloads.mirror)
    config = transformers_config(name, read_object(name, "config.json", files["config.json"]))
    check_tokenizer(name, files, downloads.partial / "check", config)
    return files


def main(given: argparse.Namespace) -> None:
    mirror, name = check_mirror(given.mirror), given.model
    entry = read_entry(name, given.models, given.entry)
    check({name: entry}, schema("models"), str(given.models))
    kind, partial = kind_of(entry), given.partial / "models" / name
    downloads = Downloads(given.place or f"{given.models} ({name})", partial, mirror)
    if kind in STAGES:
        raise UserError(
            f"{name}: is made by {'an' if kind == 'mlm' else 'a'} {kind.upper()} "
            "stage, not fetched; `snakemake train` makes it"
        )
    with alone(partial):
        partial.mkdir(exist_ok=True)
        try:
            files = bring(name, entry, downloads, given.output.parent)
        except WrongFiles:
            shutil.rmtree(partial, ignore_errors=True)  # so the next fetch brings the files anew
            raise
        finish(name, files, given.output, partial)


def encoder_of(given: argparse.Namespace) -> list[Path]:
    """Return the folder of the encoder whose files the model needs, if it needs one."""
    encoder = (given.entry or {}).get("encoder")
    return [given.output.parent / encoder] if encoder else []


def arguments() -> argparse.ArgumentParser:
    program = fetch_parser(__doc__, "model", "the folder to write to, results/fetch/models/NAME")
    program.set_defaults(reads=encoder_of)
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
