"""An adapter (LoRA or the like) and the model that it changes: peft puts it onto its base and
merges it in fp32. The result is a model like any other.
"""

import json
import os
import re
import warnings
from pathlib import Path
from typing import NamedTuple

from scripts.fetch.hub import Hub, Origin
from scripts.fetch.model_files import INSTEAD, WrongFiles, read_headers, read_object, refused
from scripts.fetch.text_half import BEGINNING, text_names
from scripts.plan.kinds import kind_of
from scripts.plan.models import ADAPTER_CONFIG, CONFIG, base_folder
from scripts.plan.user_entries import HUB_ID
from scripts.running.program import UserError, cut, log

WEIGHTS = "adapter_model.safetensors"
CLASSES = {  # by the adapter's task, or by the kind of its base
    "CAUSAL_LM": "AutoModelForCausalLM",
    "SEQ_2_SEQ_LM": "AutoModelForSeq2SeqLM",
    "SEQ_CLS": "AutoModelForSequenceClassification",
    "decoder": "AutoModelForCausalLM",
    "encoder_decoder": "AutoModelForSeq2SeqLM",
    "encoder": "AutoModelForMaskedLM",
}
WRAPPED = "base_model.model."  # how peft begins the names of weights
# where peft keeps a table of embeddings beside what it learnt of it
KEPT = ("", "base_layer.", "modules_to_save.", "original_module.")
# the beginning of the names of weights that are not of a model's text half
OF_OTHER_PARTS = re.compile(r"(?:model\.)?(?:visual|vision|audio|image|multi_modal)")
CHOICES = ("exclude_modules", "layers_to_transform", "layers_pattern")  # beside target_modules
HEADS = ("score.weight", "classifier.weight", "classifier.out_proj.weight")


class Adapter(NamedTuple):
    """base: the origin of the model that the adapter changes; task: peft's word, or None."""

    base: Origin
    task: str | None


def adapter_of(origin: Origin) -> Adapter | None:
    """Return what an adapter changes; None for a whole model. Raises UserError if its base is
    neither a folder nor a model of the hub.
    """
    if origin.locate(CONFIG) or not origin.locate(ADAPTER_CONFIG):
        return None
    name, downloads = origin.name, origin.downloads
    given = read_object(name, ADAPTER_CONFIG, origin.bring(ADAPTER_CONFIG))
    base, revision = str(given.get("base_model_name_or_path")), given.get("revision")
    within = downloads._replace(partial=downloads.partial / "base")
    if not isinstance(origin, Hub) and (folder := base_folder(Path(origin.where), base)):
        found: Origin = type(origin)(name, {"folder": str(folder)}, within)
    elif HUB_ID.fullmatch(base):
        entry = {"hub": base, "revision": str(revision or "main")}
        found = Hub(f"{name}: its base {base}", entry, within)
    else:
        raise UserError(
            f"{name}: {origin.where} is an adapter of the model {cut(base, 200)}, which is neither "
            "a folder here nor ORG/NAME of the hub; correct base_model_name_or_path in its "
            f"{ADAPTER_CONFIG}"
        )
    if not found.locate(CONFIG) and found.locate(ADAPTER_CONFIG):
        raise UserError(
            f"{name}: {origin.where} is an adapter of {found.where}, which is an adapter too; "
            "merge that one first (merge_and_unload() of peft, then save_pretrained(FOLDER))"
        )
    return Adapter(found, given.get("task_type"))


def bring_adapter(origin: Origin) -> dict[str, Path]:
    """Bring the adapter's own files; {name: place}. Raises UserError for a pickle."""
    if not origin.locate(WEIGHTS) and origin.locate("adapter_model.bin"):
        raise UserError(
            f"{origin.name}: {origin.where} has its adapter as adapter_model.bin, a pickle, which "
            "can run code when read: write it as safetensors (save_pretrained(FOLDER) of peft)"
        )
    return {file: origin.bring(file) for file in (ADAPTER_CONFIG, WEIGHTS)}


def for_text_half(name: str, own: dict[str, Path], folder: Path) -> dict[str, Path]:
    """Return an adapter's files. If it changes a model that also sees, they are written as an
    adapter of the model's text half. Raises WrongFiles if it changes nothing of that half.
    """
    from safetensors.torch import load_file, save_file

    keys = [key.removeprefix(WRAPPED) for key in read_headers(name, {WEIGHTS: own[WEIGHTS]})]
    if not any(BEGINNING.match(key) or OF_OTHER_PARTS.match(key) for key in keys):
        return own
    names = text_names([key for key in keys if not OF_OTHER_PARTS.match(key)])
    if not names:
        raise WrongFiles(
            f"{name}: the adapter changes only what the model sees or hears, and nothing of its "
            "text model; take the base itself"
        )
    weights = load_file(own[WEIGHTS])
    given = read_object(name, ADAPTER_CONFIG, own[ADAPTER_CONFIG])
    for pattern in ("rank_pattern", "alpha_pattern"):
        parts = given.get(pattern) or {}
        given[pattern] = {text_names([part]).get(part, part): parts[part] for part in parts}
    if targets := sorted({new.split(".lora_")[0] for new in names.values() if ".lora_" in new}):
        given |= {"target_modules": targets} | dict.fromkeys(CHOICES)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(
        {WRAPPED + new: weights[WRAPPED + old] for old, new in names.items()}, folder / WEIGHTS
    )
    (folder / ADAPTER_CONFIG).write_text(json.dumps(given), encoding="utf-8")
    return {file: folder / file for file in own}


def _linked(files: dict[str, Path], folder: Path) -> Path:
    """Return a folder with these files under their names."""
    folder.mkdir(parents=True)
    for file, place in files.items():
        os.symlink(place.resolve(), folder / file)
    return folder


def fit_tables(network, shapes: dict[str, list[int]]) -> None:
    """Fit a network's tables of embeddings to an adapter with these weights. Tokens may have been
    added. A table that input and output share becomes two where the adapter changes one: peft would
    merge the change into both.
    """
    import torch

    table, head = network.get_input_embeddings(), network.get_output_embeddings()
    names = [name for name, module in network.named_modules() if module in (table, head)]
    sizes = [shapes.get(f"{WRAPPED}{name}.{kept}weight") for name in names for kept in KEPT]
    tokens = next((size[0] for size in sizes if size), len(table.weight))
    if tokens != len(table.weight):
        network.resize_token_embeddings(tokens, mean_resizing=False)
    changed = tuple(f"{WRAPPED}{name}.lora_" for name in names)
    if head is not None and any(key.startswith(changed) for key in shapes):
        table, head = network.get_input_embeddings(), network.get_output_embeddings()
        if head.weight is table.weight:
            head.weight = torch.nn.Parameter(table.weight.detach().clone())
            network.config.tie_word_embeddings = False


def merge(
    name: str, adapter: Adapter, own: dict[str, Path], base: dict[str, Path], config, folder: Path
) -> dict[str, Path]:
    """Write the merged model; {name: place}. own, base: the files of the adapter and of its base;
    config: that of the base. Raises WrongFiles for an adapter that does not fit, or that has no
    form as weights.
    """
    import torch
    import transformers
    from peft import PeftModel, get_peft_model_state_dict

    if getattr(config, "quantization_config", None):
        raise WrongFiles(
            f"{name}: the adapter's base {adapter.base.where} is quantised, so nothing can be "
            "merged into it; name the model from which the base was made (base_model_name_or_path "
            f"in {ADAPTER_CONFIG})"
        )
    shapes = read_headers(name, {WEIGHTS: own[WEIGHTS]})
    heads = [shape[0] for key, shape in shapes.items() if key.endswith(HEADS)]
    kind = getattr(transformers, CLASSES.get(adapter.task or "", CLASSES[str(kind_of(config))]))
    labels = {"num_labels": heads[0]} if heads and adapter.task == "SEQ_CLS" else {}
    place = _linked(base, folder / "base")
    with (
        refused(f"{name}: peft cannot put the adapter onto {adapter.base.where}"),
        warnings.catch_warnings(action="ignore"),  # the names of all weights are compared below
    ):
        network = kind.from_pretrained(
            place, dtype=torch.float32, use_safetensors=True, trust_remote_code=False, **labels
        )
        fit_tables(network, shapes)
        names = set(network.state_dict())
        adapted = PeftModel.from_pretrained(network, _linked(own, folder / "adapter"))
        known = set(get_peft_model_state_dict(adapted, save_embedding_layers=False))
    # weights of the base that may stand beside, under their own names or those that peft gives them
    whole = {key.replace(".default", "") for key in adapted.state_dict()}
    whole |= {f"{WRAPPED}{weight}" for weight in names}
    if wrong := sorted((known - set(shapes)) | (set(shapes) - known - whole)):
        raise WrongFiles(
            f"{name}: the adapter's weights do not fit {adapter.base.where} ({cut(wrong[0])} is "
            f"only on one side); correct base_model_name_or_path in its {ADAPTER_CONFIG}"
        )
    if adapted.active_peft_config.is_prompt_learning:
        raise WrongFiles(
            f"{name}: an adapter of the kind {adapted.active_peft_config.peft_type.value} learns a "
            f"prompt and no weights, so it cannot be merged; {INSTEAD}"
        )
    with refused(f"{name}: peft cannot merge the adapter into {adapter.base.where}"):
        adapted.merge_and_unload(safe_merge=True).save_pretrained(folder / "merged")
    log.info("%s: an adapter, merged into %s in fp32", name, adapter.base.where)
    return {file.name: file for file in sorted((folder / "merged").iterdir())}
