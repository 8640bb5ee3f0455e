"""What a trained network hands on to runs that begin with it (`initial:`): its body, in the form of a model's folder, without a head.

A head belongs to the labels that it learnt, so every run has its own. What the body's configuration and tokenizer were, they stay:
`dropout` and the like are of a run, not of the model.
"""

import json
import shutil
from pathlib import Path

import transformers
from safetensors.torch import load_file, save_file

from scripts.plan.models import CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS
from scripts.train.labels import read_config

OF_LABELS = ("id2label", "label2id", "num_labels", "problem_type")


def body_prefix(config: dict) -> str:
    """What the names of a body's weights begin with, in a network whose config.json this is."""
    return f"{getattr(transformers, config['architectures'][0]).base_model_prefix}."


def write_body(kept: Path, model: Path, folder: Path) -> None:
    """Write the body of a network that was kept (whole, not as an adapter) to a folder; model: the folder that it began with."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    prefix = body_prefix(read_config(kept))
    weights = load_file(kept / WEIGHTS)
    save_file({name: values for name, values in weights.items() if name.startswith(prefix)}, folder / WEIGHTS, {"format": "pt"})
    config = {key: value for key, value in read_config(model).items() if key not in OF_LABELS}
    (folder / CONFIG).write_text(json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for name in (TOKENIZER, TOKENIZER_CONFIG):  # T5 comes without the latter
        shutil.copyfile(next(place / name for place in (model, kept) if (place / name).exists()), folder / name)
