"""What resources/models.yaml may say, and which files a model has.

The Snakefile imports this: standard library only.
"""

from pathlib import PurePosixPath

from scripts.common.program import UserError

DEFAULT_FILES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
SCRATCH_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json"]
SAFE_SUFFIXES = {".json", ".safetensors", ".txt", ".model"}
MADE_MODEL = [f"model/{file}" for file in DEFAULT_FILES]  # in the folder of the run that made it
# By kind: the keys that an entry must have, and those that it may have.
REQUIRED = {"hub": {"hub", "revision"}, "folder": {"folder"}, "init": {"init"}, "esim": {"esim"}, "mlm": {"mlm"}}
OPTIONAL = {"hub": {"files"}, "folder": {"files"}, "init": {"vocabulary", "tokenizer"}, "esim": {"vectors", "encoder"},
            "mlm": set()}
ONE_OF = {"init": ("vocabulary", "tokenizer"), "esim": ("vectors", "encoder")}


def kind_of(entry: dict) -> str:
    """`hub`, `folder`, `init`, `esim` or `mlm`: where a model comes from. Raises UserError unless it is exactly one."""
    kinds = [kind for kind in REQUIRED if kind in entry]
    if len(kinds) != 1:
        there = " and ".join(kinds) or "none"
        raise UserError(f"a model has exactly one of {', '.join(REQUIRED)}, but here is {there}")
    return kinds[0]


def wanted_hashes(entry: dict) -> dict[str, str | None]:
    """The files of a hub or folder model and what each must hash to (None: nothing is published)."""
    return entry.get("files") or dict.fromkeys(DEFAULT_FILES)


def model_files(entry: dict) -> list[str]:
    """The names of the files that results/fetch/models/<name>/ holds for an entry of resources/models.yaml.

    A model trained from scratch (`init:`) has no weights: training draws them from the run's seed. A model of an MLM stage
    (`mlm:`) is no fetched one: the run that makes it holds its files.
    """
    kind = kind_of(entry)
    if kind == "init":
        return list(SCRATCH_FILES)
    if kind == "esim":
        inside = [entry["vectors"]["file"]] if "vectors" in entry else [f"encoder/{file}" for file in DEFAULT_FILES]
        return ["config.json", *inside]
    return list(wanted_hashes(entry))


def check_model(name: str, entry: dict) -> None:
    """Refuse, in one sentence, an entry of resources/models.yaml that cannot be fetched."""
    where = f"resources/models.yaml: {name}"
    try:
        kind = kind_of(entry)
    except UserError as error:
        raise UserError(f"{where}: {error}; see the head of the file") from None
    if missing := sorted((REQUIRED[kind] | {"licence"}) - set(entry)):
        raise UserError(f"{where}: key {missing[0]} is missing; see the head of the file")
    allowed = REQUIRED[kind] | OPTIONAL[kind] | {"licence", "title"}
    if unknown := sorted(set(entry) - allowed):
        known = ", ".join(sorted(allowed))
        raise UserError(f"{where}: unknown key {unknown[0]}; a model from {kind} may have {known}")
    if kind in ONE_OF and len(set(ONE_OF[kind]) & set(entry)) != 1:
        raise UserError(f"{where}: a model from {kind} has one of {' and '.join(ONE_OF[kind])}; see the head of the file")
    for key, keys in (("tokenizer", {"hub", "revision", "file", "sha256"}), ("vectors", {"urls", "file", "sha256"}),
                      ("mlm", {"model", "experiment"})):
        if key in entry and set(entry[key]) - ({"bytes"} if key == "vectors" else set()) != keys:
            raise UserError(f"{where}: {key} must have {', '.join(sorted(keys))}; see the head of the file")
    if kind not in ("hub", "folder"):
        return
    files = wanted_hashes(entry)
    for file in files:
        if PurePosixPath(file).name != file or file in ("", ".", ".."):
            raise UserError(f"{where}: file {file} has a folder in its name; name files of the top folder")
        if PurePosixPath(file).suffix not in SAFE_SUFFIXES:
            raise UserError(f"{where}: file {file} is refused: weights come as safetensors only (a pickle "
                            "can run code), and no code is taken; convert the model with save_pretrained() "
                            "and name model.safetensors")
    for needed in DEFAULT_FILES[:3]:
        if needed not in files:
            raise UserError(f"{where}: files lacks {needed}, which training needs; add it")
