"""The YAML files of resources/, each fault told in one sentence."""

from pathlib import Path

import yaml

from scripts.running.program import UserError, cut


def read_yaml(file: Path):
    """The value of a YAML file. Raises UserError for one that cannot be read, with the line."""
    try:
        return yaml.load(file.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise UserError(f"{file}: cannot be read ({error.strerror}); put it there, or check out the project anew") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise UserError(f"{file}: is no YAML{where} ({getattr(error, 'problem', None) or type(error).__name__}); "
                        "correct it there") from None


def entries_of(file: Path) -> dict[str, dict]:
    """The entries of a file of resources/, by name. Raises UserError for a file of another form."""
    entries = read_yaml(file)
    if not isinstance(entries, dict):
        raise UserError(f"{file}: holds no names with their entries; correct it there")
    for name, entry in entries.items():
        if not isinstance(name, str) or not isinstance(entry, dict):
            raise UserError(f"{file}: {cut(str(name))} is no name with an entry of keys and values; correct it there")
    return entries
