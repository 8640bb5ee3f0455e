"""Models and sources of the configuration, and the models that `model:` names.

A probed model is named by an entry, by its id on the hub, or by its folder. An id or a folder
becomes an entry like those of resources/models.yaml.
"""

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.plan.models import ELSEWHERE, GGUF, UNTRAINED
from scripts.running.program import UserError, closest, cut, shown
from scripts.plan.schemas import check, check_entries, checked, schema

if TYPE_CHECKING:  # a new key of the configuration changes no program that fetches
    from scripts.plan.settings import Configuration

HUB_ID = re.compile(
    r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([A-Za-z0-9][A-Za-z0-9._/-]*))?", re.A
)
LONGEST_NAME = 80  # characters of a name made here: it becomes a part of file names
# the keys of an entry that name a file or folder
PATHS = {"models": ("folder", "vocabulary"), "sources": ("local",)}
# the splits of cleaners that no source of the project has
SPLITS = {"captions_table": {"train", "test"}, "dialogs": {"train", "validation"}}
# the keys that name another entry
STANDS_ON = {"models": ("encoder", "vectors_of", UNTRAINED), "sources": ("measured_on",)}


def from_command_line(config: dict) -> dict:
    """Return the configuration with the texts of `--config` read as values: `recorded=true` is a
    boolean.
    """
    words = {"true": True, "false": False, "null": None}
    plain = {
        key: words.get(value.lower(), value) if isinstance(value, str) and key != "name" else value
        for key, value in config.items()
    }
    limit = plain.get("limit")
    if isinstance(limit, str) and re.fullmatch("[0-9]{1,18}", limit):
        plain["limit"] = int(limit)
    return plain


def with_probes(config: "Configuration", studies: dict) -> "Configuration":
    """Return the configuration of a probe with an experiment for each study that declares
    `probe: data`, unless an experiment is of that study. Return another configuration as it is.
    """
    from scripts.plan.settings import ExperimentEntry

    entries = config.experiments
    if "probed" not in [entries[name].models for name in config.run if name in entries]:
        return config
    known = {entry.study for entry in entries.values()}
    added = {
        f"probe_{name}": checked(
            ExperimentEntry,
            {"study": name, "title": study["title"], "models": "probed", "methods": "fitting"}
            | {"data": study["probe"]["data"], "training": study["probe"].get("training", {})},
        )
        for name, study in studies.items()
        if "data" in study.get("probe", {}) and name not in known
    }
    update = {"run": [*config.run, *added], "experiments": entries | added}
    return config.model_copy(update=update)


def of_study(config: "Configuration") -> "Configuration":
    """Return the configuration with the experiments under `run` that are of the studies under
    `study`. Raises UserError for a study that none of them is of.
    """
    if config.study is None:
        return config
    wanted = [config.study] if isinstance(config.study, str) else config.study
    studies = {
        name: config.experiments[name].study for name in config.run if name in config.experiments
    }
    known = sorted(set(studies.values()))
    for study in wanted:
        if study not in known:
            raise UserError(
                f"configuration: study: no experiment that runs is of {shown(study)}"
                f"{closest(study, known)}"
            )
    run = [name for name, study in studies.items() if study in wanted]
    return config.model_copy(update={"run": run})


def _entry_path(path: str, root: Path, working: Path) -> str:
    """Return a path of the configuration as entries write it. A path is looked up in the working
    directory first. If it exists there, and the working directory is not the project's, it becomes
    absolute.
    """
    plain = Path(os.path.expanduser(path))
    return (
        str(working / plain)
        if working != root and not plain.is_absolute() and os.path.exists(working / plain)
        else path
    )


def _splits_of(source: dict) -> set[str]:
    named = {source["train"]} if "train" in source else set()
    return named.union(source.get("evaluate", []), source.get("splits", []))


def _check_splits(configured: dict, tracked: dict, where: str) -> None:
    """Raise UserError for a split that the cleaner of a source does not write. A cleaner of one's
    own may write any.
    """
    known = {cleaner: set(splits) for cleaner, splits in SPLITS.items()}
    for entry in tracked.values():
        if "answers_are" not in entry:
            known.setdefault(entry.get("cleaner", ""), set()).update(_splits_of(entry))
    for name, entry in configured.items():
        written = known.get(cleaner := entry.get("cleaner", ""))
        if written and (others := sorted(_splits_of(entry) - written)):
            raise UserError(
                f"{where}.{name}: the cleaner {cleaner} writes no split {others[0]}"
                f"{closest(others[0], written)}"
            )


def merge_entries(
    kind: str, given: dict, tracked: dict, root: Path, working: Path
) -> tuple[dict, list[str]]:
    """Return the entries of resources/ (kind: models, sources) with the entries of the
    configuration (given) laid over them, and notes. An entry is replaced as a whole. Raises
    UserError for a broken entry, or an entry that refers to a missing one.
    """
    where, file = f"configuration: {kind}", f"resources/{kind}.yaml"
    configured = {
        name: entry
        | {key: _entry_path(entry[key], root, working) for key in PATHS[kind] if key in entry}
        for name, entry in check_entries(kind, given, where).items()
    }
    tracked = check_entries(kind, tracked, file)
    if kind == "sources":
        _check_splits(configured, tracked, where)
    merged = tracked | configured
    for name, entry in merged.items():
        for key in STANDS_ON[kind]:
            at, other = f"{where if name in configured else file}.{name}.{key}", entry.get(key)
            if other and other not in merged:
                raise UserError(f"{at}: no {kind[:-1]} {other}{closest(other, merged)}")
            if key == "vectors_of" and other and "vectors" not in merged[other]:
                having = [model for model in merged if "vectors" in merged[model]]
                raise UserError(f"{at}: {other} has no vectors; name {' or '.join(having)}")
            if key == UNTRAINED and other and not {"hub", "folder"} & set(merged[other]):
                raise UserError(
                    f"{at}: {other} has no weights; name a model of the hub or a folder"
                )
    return merged, [
        f"{kind}: {name} of the configuration stands in place of the one of {file}"
        for name in configured
        if name in tracked
    ]


def _name(text: str, taken: dict) -> str:
    """Return a free name for an entry: lower case, with the characters that a name may have."""
    name = re.sub("[^a-z0-9_.-]+", "-", text.lower()).strip("-._") or "model"
    if len(name) > LONGEST_NAME or name in taken:
        name = f"{name[:LONGEST_NAME]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return name


def _of_folder(path: str, taken: dict, root: Path, working: Path) -> tuple[str, dict] | None:
    """Return the name and entry of a folder in the working directory or the project's folder; None
    if there is no such folder.
    """
    plain = Path(os.path.expanduser(path))
    for base in dict.fromkeys((working, root)):
        if os.path.isdir(base / plain):  # isdir() never raises
            folder = path if base == root else str(base / plain)
            last = Path(os.path.abspath(base / plain)).name  # as typed: a link keeps its name
            name = _name(last, {})
            if name in taken:  # the name of another folder
                name = _name(
                    f"{last}-{hashlib.sha256(str(base / plain).encode()).hexdigest()[:8]}", taken
                )
            return name, {
                "folder": folder,
                "licence": "see the folder's own",
                "title": cut(last, 100),
            }
    return None


def _of_hub(model_id: str, models: dict) -> tuple[str, dict] | None:
    """Return the name and entry of ORG/NAME[@revision], a known entry if there is one; None if the
    text is not such an id.
    """
    found = HUB_ID.fullmatch(model_id)
    if not found:
        return None
    hub, revision = found.groups()
    for name, entry in models.items():
        if entry.get("hub") == hub and revision in (None, entry["revision"]):
            return name, entry
    at = f"--{revision[:12]}" if revision and revision != "main" else ""
    entry = {
        "hub": hub,
        "revision": revision or "main",
        "licence": f"see https://huggingface.co/{hub}",
        "title": model_id,
    }
    return _name(f"{hub.replace('/', '--')}{at}", models), entry


def probed_models(
    wanted: str | list[str] | None, models: dict, root: Path, working: Path
) -> tuple[list[str], dict, list[str]]:
    """Return the names of the models that `model:` asks for, the models with their entries, and
    notes. Raises UserError for a text that is not an entry's name, a folder or an id on the hub.
    """
    names, notes = [], []
    for one in [wanted] if isinstance(wanted, str) else wanted or []:
        if one in models:
            names.append(one)
            continue
        if one.lower().endswith(GGUF):
            raise UserError(
                f"configuration: model {cut(one, 200)} is a GGUF file, quantised weights that "
                f"transformers does not read as they are: {ELSEWHERE}"
            )
        looks_like_path = "/" in one or one[:1] in (".", "~")
        found = (looks_like_path and _of_folder(one, models, root, working)) or _of_hub(one, models)
        if not found and looks_like_path:
            raise UserError(
                f"configuration: model {cut(one, 200)} is neither an existing folder nor "
                "ORG/NAME[@revision] of the hub; correct it"
            )
        if not found:
            controls = [name for name, entry in models.items() if "control" in entry]
            raise UserError(
                f"configuration: model: no model {cut(one)}{closest(one, models, controls)}; one "
                "of the hub is ORG/NAME, a folder ./NAME"
            )
        name, entry = found
        if name in models:
            notes.append(
                f"model: {one} is {name} of the known models, revision {entry['revision']}"
            )
        models = models | check({name: entry}, schema("models"), "configuration: model")
        names.append(name)
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"configuration: model names {twice[0]} twice; name each model once")
    return names, models, notes
