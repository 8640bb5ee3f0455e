"""Why a job would run again, for the terminal: the file or the setting that changed.

Snakemake compares parameters, and names their old and new values as one text. For code the value is
`<program>@<version>` for each program (scripts/running/code_lock.py). A new run is compared with
the finished run that is nearest to it.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from scripts.running.code_lock import edited

NAMED = 2  # changes that are named; others are counted
LONG = 60  # characters of a value that is not shown
PARAMS = re.compile(r"Params have changed since last execution: .*?before: (.*?) now: (.*)")
IDENTITY = re.compile(r"([\w./]+)@(\d+(?:\+[0-9a-f]{12})?|[0-9a-f]{12})(?![\w.])")
NOTHING = "<nothing exclusive>"


def other_version(program: str, before: str | None, now: str) -> str:
    """Return how a program whose files are the lock's differs from that of the results. before: the
    version of the results; None if they are older than the lock.
    """
    if before and before.partition("+")[0] == now:
        return f"{program} is again as released"
    return f"version {now} of {program} (results: {before or 'an earlier release'})"


def flat(value: object, place: str = "") -> dict[str, object]:
    """Return the values of nested mappings, by keys such as `training.epochs`. Entries of a list
    have their names. A text that is JSON is read; the name of its file is left out.
    """
    if isinstance(value, str) and value[:1] in ("{", "["):
        with suppress(ValueError):
            value, place = json.loads(value), "" if place.endswith((".yaml", ".csv")) else place
    if isinstance(value, list) and all(isinstance(one, dict) and "name" in one for one in value):
        value = {one["name"]: one for one in value}
    if not isinstance(value, dict):
        return {place: str(value) if isinstance(value, list) else value}
    inner = [flat(one, f"{place}.{key}" if place else str(key)) for key, one in value.items()]
    return {key: one for part in inner for key, one in part.items()}


def mappings(values: Iterable[object]) -> Iterator[dict[str, object]]:
    """Yield the JSON mappings among values, flat, and the options of programs (--name=value)
    together as one.
    """
    options = {}
    for line in (line for value in values for line in str(value).splitlines()):
        name, _, text = line.partition("=")
        try:
            found = json.loads(text or line)
        except ValueError:
            found = text
        if isinstance(found, dict):
            yield flat(found)
        elif name.startswith("--") and text:
            options[name.removeprefix("--")] = found
    if options:
        yield options


def change(key: str, old: object, new: object) -> str:
    """Return a change as `training.epochs: 3 → 4`; only the key of a long value or of a hash."""
    texts = str(old), str(new)
    if any(len(text) > LONG for text in texts):
        return key
    return f"{key}: {' → '.join(texts)}"


def changed_settings(before: list[object], now: list[object]) -> list[str]:
    """Return the settings that changed, as `training.epochs: 3 → 4`."""
    olds, found = list(mappings(before)), []
    for new in mappings(now):
        old = max(
            olds,
            key=lambda one: (
                one.get("name") == new.get("name"),
                len(one.items() & new.items()),
                len(one.keys() & new.keys()),
            ),
            default={},
        )
        keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        found += [change(key, old.get(key), new.get(key)) for key in keys]
    texts = [
        " ".join(str(one) for one in values if str(one) and not str(one).startswith(("{", "--")))
        for values in (before, now)
    ]
    return found or ([" → ".join(texts)] if any(texts) else [])


def finished_runs(folder: Path) -> list[dict[str, object]]:
    """Return the settings of the finished runs of a study, flat."""
    found = []
    for file in folder.glob("*/run.json"):
        with suppress(OSError, ValueError):
            facts = json.loads(file.read_text(encoding="utf-8"))
            found.append(flat(facts | {"data": facts.get("data_options")}))
    return found


def gone(old: dict[str, object], new: dict[str, object]) -> dict[str, object]:
    """Return the options of a finished run that a new run no longer has."""
    return {
        key: value
        for key, value in old.items()
        if key not in new and key.startswith(("data.", "training."))
    }


def new_runs(runs: list[dict], folder: Path) -> str:
    """Return why the runs of a job are new: the settings that no finished run has, beside the
    finished run that is nearest to each. runs: their settings; folder: that of their study.
    """
    finished, found = finished_runs(folder), []
    if not finished:
        return "no run of the study is finished"
    for run in runs:
        new = {key: value for key, value in flat(run).items() if key != "dataset"}
        changes = [
            [key for key in {**gone(old, new), **new} if old.get(key) != new.get(key)]
            for old in finished
        ]
        keys, old = min(zip(changes, finished, strict=True), key=lambda one: len(one[0]))
        found += [change(key, old.get(key), new.get(key)) for key in keys]
    return f"{named(found)} beside the nearest finished run" if found else ""


def named(changes: list[str]) -> str:
    """Return some changes by name, and the number of the others."""
    changes = list(dict.fromkeys(changes))
    more = f" and {len(changes) - NAMED} more" if len(changes) > NAMED else ""
    return f"{', '.join(changes[:NAMED])}{more}"


def in_words(reason: str) -> str:
    """Return Snakemake's reason, with what changed in words where it is a parameter."""
    found = PARAMS.search(reason)
    if not found:
        return reason
    before, now = (dict(IDENTITY.findall(text)) for text in found.groups())
    others = {name: version for name, version in now.items() if before.get(name) != version}
    files = {
        file: None for name, version in others.items() if "+" in version for file in edited(name)
    }
    versions = [
        other_version(name, before.get(name), version)
        for name, version in others.items()
        if "+" not in version
    ]
    settings = []
    rest = [IDENTITY.sub("", text.replace(NOTHING, "")).strip() for text in found.groups()]
    if any(text.strip("' ,") for text in rest):
        try:
            settings = changed_settings(*(list(ast.literal_eval(f"[{text}]")) for text in rest))
        except (ValueError, SyntaxError, TypeError):
            settings = ["settings"]
    changed = [*files, *settings]
    said = [f"{named(changed)} changed"] if changed else []
    return ", ".join([*versions[:NAMED], *said]) or "settings changed"
