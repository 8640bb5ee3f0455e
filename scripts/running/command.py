"""Run a study, probe a model, or compare two systems; Snakemake does the work.

    ./timestride run                           the default study, to its page
    ./timestride run small                     presets/small.yaml, or a file of your own
    ./timestride run small evaluate -n         a target, and options of Snakemake
    ./timestride run base recorded=true        keys of the configuration
    ./timestride probe ORG/NAME                a model on all four studies (presets/probe.yaml)
    ./timestride probe ORG/NAME quick=true     a first look at it, in minutes
    ./timestride compare A B …                 two systems (scripts/measure/compare.py)
    ./timestride audit FILE columns=…          a benchmark without a model (scripts/audit/audit.py)

The presets are checked first, so an error names its file and line. The first word that begins with
`-`, and all words after it, go to Snakemake. `--configfile` and `--config` there add to the words
before. The call of Snakemake is printed, so you can use it directly.
"""

import os
import runpy
import shlex
import signal
import sys
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from scripts.data.yaml_files import read_yaml
from scripts.running.program import UserError, closest, sentence_of

ROOT = Path(__file__).resolve().parents[2]
TARGETS = (
    "all fetch clean build train evaluate publish rehearse record harness audit".split()
)  # the rules that a user can name
FILES, VALUES = ("--configfile", "--configfiles"), ("--config", "-C")
CORES = ("-c", "--cores", "-j", "--jobs", "--profile", "--help", "-h", "--version", "-v")


def preset_of(word: str) -> Path | None:
    """The file of a preset, by its name or path; None for another word. Raises UserError for a file
    that is missing or broken.
    """
    named = ROOT / f"presets/{word}.yaml"
    if named.is_file():
        file = Path(os.path.relpath(named)) if named.is_relative_to(Path.cwd()) else named
    elif word.endswith((".yaml", ".yml")):
        file = Path(word)
    else:
        return None
    return checked(file)


def checked(file: Path) -> Path:
    """The file of a preset. Raises UserError if it is missing or broken."""
    if not isinstance(read_yaml(file), dict):
        raise UserError(f"{file}: must be a mapping of keys to values; correct it there")
    return file


def taken_out(options: list[str], names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The values of an option of Snakemake by its names, and all other words. Snakemake takes only
    the last of an option that is given twice.
    """
    values, others, is_value = [], [], False
    for word in options:
        name, _, value = word.partition("=")
        if is_option := word.startswith("-"):
            is_value = name in names
        if not is_value:
            others.append(word)
        elif value or not is_option:
            values.append(value if is_option else word)
    return values, others


def snakemake(words: list[str], presets: Iterable[Path] = ()) -> list[str]:
    """The call of Snakemake for these words: presets, targets and KEY=VALUE, then its own options.
    Raises UserError for any other word.
    """
    first = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    files, targets, values = list(presets), [], []
    known = [*TARGETS, *(file.stem for file in (ROOT / "presets").glob("*.yaml"))]
    for word in words[:first]:
        if "=" in word:
            values.append(word)
        elif word in TARGETS or ("/" in word and not word.endswith((".yaml", ".yml"))):
            targets.append(word)
        elif file := preset_of(word):
            files.append(file)
        else:
            raise UserError(f"{word}: is no preset, target or KEY=VALUE{closest(word, known)}")
    more_files, options = taken_out(words[first:], FILES)
    more_values, options = taken_out(options, VALUES)
    files += [checked(Path(file)) for file in more_files]
    values += more_values
    counted = any(word.split("=")[0] in CORES or word.startswith("-c") for word in options)
    return [
        "snakemake",
        *([] if ROOT == Path.cwd() else ["-s", str(ROOT / "Snakefile")]),
        *([] if counted else ["--cores", "all"]),
        *targets,
        *(["--configfile", *map(str, files)] if files else []),
        *(["--config", *values] if values else []),
        *options,
    ]


def call_of(words: list[str]) -> list[str]:
    match words:
        case ["run", *rest]:
            return snakemake(rest)
        case ["probe", model, *rest] if not model.startswith("-"):
            probe = preset_of("probe")
            return snakemake([f"model={model}", *rest], [probe] if probe else [])
        case ["probe", *_]:
            raise UserError("probe: names no model; give ORG/NAME of the hub, or a folder")
        case ["compare", *rest]:
            return ["scripts.measure.compare", *rest]
        case ["audit", *rest]:
            return ["scripts.audit.audit", *rest]
        case [word, *_]:
            known = ["run", "probe", "compare", "audit"]
            raise UserError(f"{word}: is no command{closest(word, known)}")
    raise UserError("no command; `timestride --help` lists them")


def help_of(words: list[str]) -> str | None:
    """Return the help that the words request; for `probe`, the comment at the top of its preset."""
    match words:
        case [] | ["-h" | "--help", *_]:
            return __doc__
        case ["probe", "-h" | "--help", *_]:
            lines = (ROOT / "presets/probe.yaml").read_text(encoding="utf-8").splitlines()[1:]
            head = takewhile(lambda line: line.startswith("#"), lines)
            return "\n".join(line.removeprefix("#").removeprefix(" ") for line in head)
    return None


def main(words: list[str]) -> None:
    if text := help_of(words):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `| head` causes no error
        print(text)
        sys.exit()
    try:
        module, *arguments = call_of(words)
    except UserError as error:
        sys.exit(f"error: {sentence_of(error)}")
    if module == "snakemake":
        print(shlex.join([module, *arguments]), file=sys.stderr, flush=True)
    sys.argv[1:] = arguments
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
