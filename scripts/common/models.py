"""Which files a model of resources/models.yaml has."""

from scripts.common.schemas import check_entry

DEFAULT_FILES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
SCRATCH_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json"]
MADE_MODEL = [f"model/{file}" for file in DEFAULT_FILES]  # in the folder of the run that made it
STAGES = ("mlm", "clm")  # that make a model of another one: the key of its entry, and the method of the run
KINDS = ("hub", "folder", "init", "esim", *STAGES, "control")


def kind_of(entry: dict) -> str:
    """`hub`, `folder`, `init`, `esim`, `mlm`, `clm` or `control`: where a model of a checked entry comes from."""
    return next(kind for kind in KINDS if kind in entry)


def stage_of(entry: dict) -> tuple[str, dict[str, str]] | None:
    """The stage that makes a model, `mlm` or `clm`, with the model that it begins with and its experiment; None for a
    model that is fetched."""
    return next(((stage, entry[stage]) for stage in STAGES if stage in entry), None)


def wanted_hashes(entry: dict) -> dict[str, str | None]:
    """The files of a hub or folder model and what each must hash to (None: nothing is published)."""
    return entry.get("files") or dict.fromkeys(DEFAULT_FILES)


def model_files(entry: dict) -> list[str]:
    """The names of the files that results/fetch/models/<name>/ holds for an entry of resources/models.yaml.

    A model trained from scratch (`init:`) has no weights: training draws them from the run's seed. A model of a stage (`mlm:`,
    `clm:`) is no fetched one: the run that makes it holds its files. A control has none.
    """
    kind = kind_of(entry)
    if kind == "control":
        return []
    if kind == "init":
        return list(SCRATCH_FILES)
    if kind == "esim":
        inside = [entry["vectors"]["file"]] if "vectors" in entry else [f"encoder/{file}" for file in DEFAULT_FILES]
        return ["config.json", *inside]
    return list(wanted_hashes(entry))


def check_model(name: str, entry: dict) -> None:
    """Refuse, in one sentence, an entry of resources/models.yaml that cannot be fetched (resources/schemas/)."""
    check_entry("models", name, {name: entry})
