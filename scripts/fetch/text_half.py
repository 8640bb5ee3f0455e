"""The text half of a model that also sees or hears: its configuration, and its weights under the
names of transformers' own class for text. The parts for images and sounds are left out, so the half
is asked and trained like any decoder.
"""

import json
import re
from pathlib import Path

from scripts.fetch.model_files import WrongFiles, refused
from scripts.plan.kinds import is_decoder
from scripts.plan.models import CONFIG, ELSEWHERE, INDEX
from scripts.running.program import cut, log

# keys of config.json in a model that reads more than text
OF_OTHER_MEDIA = ("text_config", "vision_config", "audio_config")
# Text models without a class of their own, and the class that computes the same for text alone:
# there the three positions of a token (time, height, width) are one.
TWINS = {"qwen2_vl_text": "qwen2", "qwen2_5_vl_text": "qwen2", "qwen3_vl_text": "qwen3"}
OF_SEEING = ("mrope_section", "mrope_interleaved")  # keys of their rope_parameters
TOKENS = ("bos_token_id", "eos_token_id", "pad_token_id")
# the beginning of a text weight's name in the whole model
BEGINNING = re.compile(r"(?:model\.)?(?:language_model|text_model|llm)\.(?:model\.)?(lm_head\.)?")


def text_config(name: str, content: dict) -> dict | None:
    """Return the configuration of the text half; None for a model of text alone. Raises WrongFiles
    if transformers has no class for the text half alone.
    """
    from transformers import AutoConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    kind = str(content.get("model_type"))
    if kind not in CONFIG_MAPPING_NAMES or not set(OF_OTHER_MEDIA) & set(content):
        return None
    with refused(f"{name}: {CONFIG} is not a configuration that transformers knows"):
        whole = AutoConfig.for_model(**content)
        half = whole.get_text_config(decoder=True)
        found = half.to_dict()
        found["model_type"] = TWINS.get(half.model_type, half.model_type)
        known = AutoConfig.for_model(found["model_type"]).to_dict()
    if half is whole or not is_decoder(found["model_type"]):
        raise WrongFiles(
            f"{name}: is a {cut(kind)} model, of images or sounds beside text, and "
            f"transformers has no decoder class for its text model alone: {ELSEWHERE}"
        )
    if half.model_type in TWINS:
        found = {key: value for key, value in found.items() if key in known}
        rope = found["rope_parameters"]
        found["rope_parameters"] = {key: rope[key] for key in rope if key not in OF_SEEING}
    log.info("%s: a %s model; its text model, a %s, is taken", name, kind, found["model_type"])
    kept = ("quantization_config", *TOKENS)
    return (
        found
        | {key: content[key] for key in kept if content.get(key) is not None}
        | {"tie_word_embeddings": bool(getattr(whole, "tie_word_embeddings", False))}
    )


def text_names(names: list[str]) -> dict[str, str]:
    """Return the names of the text half's weights, by their names in the whole model."""
    begun = {name: found for name in names if (found := BEGINNING.match(name))}
    if not begun:  # the names of Qwen2-VL: model.layers, visual.blocks
        return {name: name for name in names if name.startswith(("model.", "lm_head."))}
    heads = {name: name for name in names if name.startswith("lm_head.")}
    return heads | {
        name: (found[1] or "model.") + name[found.end() :] for name, found in begun.items()
    }


def write_text_weights(weights: dict[str, Path], folder: Path) -> dict[str, Path]:
    """Write the weights of the text half, file by file. weights: {name: place}, safetensors and
    their index. Return the same for the new files.
    """
    from safetensors import safe_open
    from safetensors.torch import save_file

    files = {file: place for file, place in weights.items() if file != INDEX}
    every = []
    for place in files.values():
        with safe_open(place, framework="pt") as opened:
            every += opened.keys()
    names, written, table = text_names(every), {}, {}
    folder.mkdir(parents=True, exist_ok=True)
    for file, place in files.items():
        with safe_open(place, framework="pt") as opened:
            taken = {names[key]: opened.get_tensor(key) for key in opened.keys() if key in names}
            if taken:
                written[file] = folder / file
                save_file(taken, written[file], {"format": "pt"})
                table |= dict.fromkeys(taken, file)
    if INDEX in weights:
        written[INDEX] = folder / INDEX
        index = {"metadata": {}, "weight_map": table}
        written[INDEX].write_text(json.dumps(index, indent=1), encoding="utf-8")
    return written
