"""Which files a model of resources/models.yaml has."""

from pathlib import Path

CONFIG, TOKENIZER, TOKENIZER_CONFIG = "config.json", "tokenizer.json", "tokenizer_config.json"
TEMPLATE = "chat_template.jinja"  # of newer models; of others it stands in tokenizer_config.json
# whole, or what names their shards
WEIGHTS, INDEX = ("model.safetensors", "model.safetensors.index.json")
DEFAULT_FILES = [CONFIG, WEIGHTS, TOKENIZER, TOKENIZER_CONFIG]
SCRATCH_FILES = [CONFIG, TOKENIZER, TOKENIZER_CONFIG]
MADE_MODEL = [f"model/{file}" for file in DEFAULT_FILES]  # in the folder of the run that made it
# that make a model of another one: the key of its entry, and the method of the run
STAGES = ("mlm", "clm")
# what decides the numbers of a model that is asked in words
ASKED = (
    "scripts.train.asking.ask.measure",
    "scripts.train.asking.local_model.LocalModel",
    "scripts.train.asking.server.body_of",
    "scripts.train.asking.shots.shots_of",
)
# the paradigm of likelihoods through an API, and what decides its numbers
ECHO = "echo"
ECHOED = (
    "scripts.train.asking.likelihoods.measure",
    "scripts.train.asking.echo.echo_body",
    "scripts.train.asking.echo.echo_of",
)
KINDS = ("hub", "folder", "init", "esim", *STAGES, "control", "api")


def paradigm_of_control(control: dict, study: str) -> str:
    """`control`, or `search/<study>`, whose code is also the study's."""
    return f"search/{study}" if "search" in control else "control"


def kind_of(entry: dict) -> str:
    """Where a model of a checked entry comes from: one of KINDS."""
    return next(kind for kind in KINDS if kind in entry)


def has_weights(folder: Path) -> bool:
    """Whether a model's folder holds weights, whole or in shards."""
    return any((folder / file).is_file() for file in (WEIGHTS, INDEX))


def stage_of(entry: dict) -> tuple[str, dict[str, str]] | None:
    """The stage that makes a model (one of STAGES), with the model that it begins with and its
    experiment; None for a model that is fetched.
    """
    return next(((stage, entry[stage]) for stage in STAGES if stage in entry), None)
