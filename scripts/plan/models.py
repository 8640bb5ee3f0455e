"""The files of a model of resources/models.yaml."""

import os
from pathlib import Path

CONFIG, TOKENIZER, TOKENIZER_CONFIG = "config.json", "tokenizer.json", "tokenizer_config.json"
TEMPLATE = "chat_template.jinja"  # newer models; other models have it in tokenizer_config.json
GENERATION = "generation_config.json"  # of a model that writes: the tokens that end its answers
# the whole weights, or the index of their shards
WEIGHTS, INDEX = ("model.safetensors", "model.safetensors.index.json")
DEFAULT_FILES = [CONFIG, WEIGHTS, TOKENIZER, TOKENIZER_CONFIG]
MADE_MODEL = [f"model/{file}" for file in DEFAULT_FILES]  # in the folder of the run that made it
ADAPTER_CONFIG = "adapter_config.json"  # of an adapter, which peft puts onto its base
# how to measure weights that are not read here
ELSEWHERE = (
    "serve it with llama.cpp, Ollama or vLLM and measure it through an API (docs/ask.md), or "
    "through lm-evaluation-harness (docs/harness.md)"
)
GGUF = ".gguf"  # files of llama.cpp
# stages that make a model from another one: the key of its entry, and the method of the run
STAGES = ("mlm", "clm")
ECHO = "echo"  # the paradigm of likelihoods through an API
# the key of an entry that names the pretrained model whose weights are left out
UNTRAINED = "without_pretraining"
KINDS = ("hub", "folder", "init", UNTRAINED, "esim", *STAGES, "control", "api")


def paradigm_of_control(control: dict, study: str) -> str:
    """Return `control`, `left_out`, or `search/<study>`, which includes the study's code."""
    if "search" in control:
        return f"search/{study}"
    return "left_out" if "left_out" in control else "control"


def files_of_run(makes_model: bool, hands_on: bool) -> list[str]:
    """Return the files that a run writes to its folder: its predictions, the model that it made, or
    both where other runs start from its weights; its history and its facts.
    """
    predictions = [] if makes_model else ["predictions.parquet"]
    made = MADE_MODEL if makes_model or hands_on else []
    return [*predictions, *made, "history.parquet", "run.json"]


def kind_of(entry: dict) -> str:
    """Return the origin of a model of a checked entry: one of KINDS."""
    return next(kind for kind in KINDS if kind in entry)


def has_weights(folder: Path) -> bool:
    """Return whether a model's folder holds weights, whole or in shards."""
    return any((folder / file).is_file() for file in (WEIGHTS, INDEX))


def base_folder(adapter: Path, base: str) -> Path | None:
    """Return the folder of a model that an adapter in a folder names as its base: relative to the
    working directory, to its own folder or to the folder above; None if there is none.
    """
    plain = Path(os.path.expanduser(base))
    places = (Path.cwd() / plain, adapter / plain, adapter.parent / plain)
    files = (CONFIG, ADAPTER_CONFIG)
    return next(
        (
            place.resolve()
            for place in places
            if any(os.path.isfile(place / file) for file in files)
        ),
        None,
    )


def stage_of(entry: dict) -> tuple[str, dict[str, str]] | None:
    """Return the stage that makes a model (one of STAGES), with the model it starts from and its
    experiment; None for a model that no stage makes.
    """
    return next(((stage, entry[stage]) for stage in STAGES if stage in entry), None)
