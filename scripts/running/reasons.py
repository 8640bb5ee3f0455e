"""Why a job would run again, for the terminal: the definition or the setting that changed.

Snakemake compares parameters, and names their old and new values as one text. For code the value is
`<program>@<digits>`. results/.code/<program>.json holds the hash of each definition that a program
reaches, for its latest identities. results/.code/files.json holds the same for parameters that are
hashes of files. A new run is compared with the finished run that is nearest to it.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from scripts.data.files import whole
from scripts.data.plain_json import as_json
from scripts.running.code_as_text import sha256
from scripts.running.identity import file_of, identity, own_hashes

DEFINITIONS = Path("results/.code")
KEPT, KEPT_HASHES = 3, 60  # identities of a program, hashes of files
NAMED = 2  # changes that are named; others are counted
LONG = 60  # characters of a value that is not shown
PARAMS = re.compile(r"Params have changed since last execution: .*?before: (.*?) now: (.*)")
NAMED_CODE = re.compile(r"scripts\.([\w.]+)@([0-9a-f]{12})")
NOTHING = "<nothing exclusive>"
HASH = re.compile("[0-9a-f]{64}")
hashed: dict[str, dict[str, str]] = {}  # by a parameter that is a hash: its files, and their hashes


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


def hash_of(value: object, files: dict[str, object]) -> str:
    """Return the hash of a parameter. files: the files from which it comes, with what they say."""
    digest = sha256(as_json(value))
    hashed[digest] = {name: sha256(as_json(said)) for name, said in files.items()}
    return digest


def keep_hashes() -> None:
    """Write the files of parameters that are hashes, when jobs start."""
    known = definitions_of("files")
    if new := {digest: files for digest, files in hashed.items() if digest not in known}:
        DEFINITIONS.mkdir(parents=True, exist_ok=True)
        latest = dict(list((known | new).items())[-KEPT_HASHES:])
        with whole(DEFINITIONS / "files.json") as place:
            place.write_text(json.dumps(latest), encoding="utf-8")


def changed_files(before: object, now: object) -> list[str]:
    """Return the files of a parameter that is a hash, which changed."""
    old, new = definitions_of("files").get(str(before), {}), hashed.get(str(now), {})
    changed = [name for name in old | new if old.get(name) != new.get(name)]
    return changed if old and new else [" or ".join(old | new) or "a file"]


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
    """Return the settings that changed, as `training.epochs: 3 → 4`, and the files."""
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
    plain = [
        [str(one) for one in values if str(one) and not str(one).startswith(("{", "--"))]
        for values in (before, now)
    ]
    hashes = [[one for one in values if HASH.fullmatch(one)] for values in plain]
    if all(len(one) == 1 for one in hashes):
        found += changed_files(hashes[0][0], hashes[1][0])
    texts = [" ".join(one for one in values if not HASH.fullmatch(one)) for values in plain]
    return found or [" → ".join(texts)] * any(texts)


def finished_runs(folder: Path) -> list[dict[str, object]]:
    """Return the settings of the finished runs of a study, flat."""
    found = []
    for file in folder.glob("*/run.json"):
        with suppress(OSError, ValueError):
            facts = json.loads(file.read_text(encoding="utf-8"))
            found.append(flat(facts | {"data": facts.get("data_options")}))
    return found


def new_runs(runs: list[dict], folder: Path) -> str:
    """Return why the runs of a job are new: the settings that no finished run has, beside the
    finished run that is nearest to each. runs: their settings; folder: that of their study.
    """
    finished, found = finished_runs(folder), []
    if not finished:
        return "no run of the study is finished"
    for run in runs:
        new = {key: value for key, value in flat(run).items() if key != "dataset"}
        changes = [[key for key in new if old.get(key) != new[key]] for old in finished]
        keys, old = min(zip(changes, finished, strict=True), key=lambda one: len(one[0]))
        found += [change(key, old.get(key), new[key]) for key in keys]
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
    return f"{named([*code, *settings]) or 'settings'} changed"
