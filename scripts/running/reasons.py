"""Why a job would run again, for the terminal: the definition or the setting that changed.

Snakemake compares parameters, and names their old and new values as one text. For code the value is
`<program>@<digits>`. results/.code/<program>.json holds the hash of each definition that a program
reaches, for its latest identities.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from scripts.data.files import whole
from scripts.running.identity import file_of, identity, own_hashes

DEFINITIONS = Path("results/.code")
KEPT = 3  # identities of a program
NAMED = 2  # changes that are named; others are counted
PARAMS = re.compile(r"Params have changed since last execution: .*?before: (.*?) now: (.*)")
NAMED_CODE = re.compile(r"scripts\.([\w.]+)@([0-9a-f]{12})")
NOTHING = "<nothing exclusive>"


def keep_definitions(programs: Iterable[str]) -> None:
    """Write the definitions of programs, when jobs start."""
    for program in programs:
        file, digits = DEFINITIONS / f"{program}.json", identity(program)
        known = definitions_of(program)
        if digits not in known:
            DEFINITIONS.mkdir(parents=True, exist_ok=True)
            latest = dict(list(known.items())[1 - KEPT :]) | {digits: own_hashes(program)}
            with whole(file) as place:
                place.write_text(json.dumps(latest), encoding="utf-8")


def definitions_of(program: str) -> dict[str, dict[str, str]]:
    """Return the hash of each definition of a program, by identity; empty if none is kept."""
    with suppress(OSError, ValueError):
        return json.loads((DEFINITIONS / f"{program}.json").read_text(encoding="utf-8"))
    return {}


def changed_code(program: str, before: str | None, now: str) -> list[str]:
    """Return the definitions that changed between two identities, as `measure/tally.py: paired()`;
    only the program if they are not known.
    """
    known = definitions_of(program)
    old, new = known.get(before or ""), known.get(now) or own_hashes(program)
    if old is None:
        module = program if file_of(program) else program.rpartition(".")[0]
        return [f"code of {path_of(module)}"]
    names = sorted(name for name in old | new if old.get(name) != new.get(name))
    return [
        f"{path_of(module)}: {name}" for module, _, name in (one.rpartition(":") for one in names)
    ]


def path_of(module: str) -> str:
    return f"{module.removeprefix('scripts.').replace('.', '/')}.py"


def flat(value: object, place: str = "") -> dict[str, object]:
    """Return the values of a nested mapping, by keys such as `training.epochs`."""
    if not isinstance(value, dict):
        return {place: value}
    inner = [flat(one, f"{place}.{key}" if place else key) for key, one in value.items()]
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


def changed_settings(before: list[object], now: list[object]) -> list[str]:
    """Return the settings that changed, as `training.epochs: 3 → 4`."""
    olds, found = list(mappings(before)), []
    for new in mappings(now):
        old = max(
            olds,
            key=lambda one: (len(one.items() & new.items()), len(one.keys() & new.keys())),
            default={},
        )
        keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        found += [f"{key}: {old.get(key)} → {new.get(key)}" for key in keys]
    plain = [
        " ".join(str(one) for one in values if str(one) and not str(one).startswith(("{", "--")))
        for values in (before, now)
    ]
    return found or [" → ".join(plain)] * any(plain)


def in_words(reason: str) -> str:
    """Return Snakemake's reason, with what changed in words where it is a parameter."""
    found = PARAMS.search(reason)
    if not found:
        return reason
    codes = [dict(NAMED_CODE.findall(text)) for text in found.groups()]
    code = {
        one: None
        for name, digits in codes[1].items()
        if codes[0].get(name) != digits
        for one in changed_code(f"scripts.{name}", codes[0].get(name), digits)
    }
    settings = []
    rest = [NAMED_CODE.sub("", text.replace(NOTHING, "")).strip() for text in found.groups()]
    if any(text.strip("' ,") for text in rest):
        try:
            settings = changed_settings(*(list(ast.literal_eval(f"[{text}]")) for text in rest))
        except (ValueError, SyntaxError, TypeError):
            settings = ["settings"]
    changes = [*code, *settings]
    more = f" and {len(changes) - NAMED} more" if len(changes) > NAMED else ""
    return f"{', '.join(changes[:NAMED]) or 'settings'}{more} changed"
