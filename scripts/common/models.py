"""What resources/models.yaml may say, and which files a model has.

The Snakefile imports this: standard library only.
"""

from pathlib import PurePosixPath

from scripts.common.program import UserError

DEFAULT_FILES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
SCRATCH_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json"]
SAFE_SUFFIXES = {".json", ".safetensors", ".txt", ".model"}
KEYS = {
    "hub": {"hub", "revision", "files", "licence", "title"},
    "folder": {"folder", "files", "licence", "title"},
    "init": {"init", "vocabulary", "licence", "title"},
}
REQUIRED = {"hub": {"hub", "revision", "licence"}, "folder": {"folder", "licence"}, "init": {"init", "vocabulary", "licence"}}


def kind_of(entry: dict) -> str:
    """`hub`, `folder` or `init`: where a model comes from. Raises UserError unless it is exactly one."""
    kinds = [kind for kind in KEYS if kind in entry]
    if len(kinds) != 1:
        there = " and ".join(kinds) or "none"
        raise UserError(f"a model has exactly one of hub, folder and init, but here is {there}")
    return kinds[0]


def wanted_hashes(entry: dict) -> dict[str, str | None]:
    """The files of a hub or folder model and what each must hash to (None: nothing is published)."""
    return entry.get("files") or dict.fromkeys(DEFAULT_FILES)


def model_files(entry: dict) -> list[str]:
    """The names of the files that results/fetch/models/<name>/ holds for an entry of resources/models.yaml.

    A model trained from scratch (`init:`) has no weights: training draws them from the run's seed.
    """
    return list(SCRATCH_FILES) if "init" in entry else list(wanted_hashes(entry))


def check_model(name: str, entry: dict) -> None:
    """Refuse, in one sentence, an entry of resources/models.yaml that cannot be fetched."""
    where = f"resources/models.yaml: {name}"
    try:
        kind = kind_of(entry)
    except UserError as error:
        raise UserError(f"{where}: {error}; see the head of the file") from None
    if missing := sorted(REQUIRED[kind] - set(entry)):
        raise UserError(f"{where}: key {missing[0]} is missing; see the head of the file")
    if unknown := sorted(set(entry) - KEYS[kind]):
        known = ", ".join(sorted(KEYS[kind]))
        raise UserError(f"{where}: unknown key {unknown[0]}; a model from {kind} may have {known}")
    if kind == "init":
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
