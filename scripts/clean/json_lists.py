"""Reading a corpus that is one JSON list of objects, each with an id: a fault is told with the entry that it lies in. Not a program."""

import re
from pathlib import Path

from scripts.clean.captions import Shape, shaped
from scripts.running.program import UserError, cut, shown
from scripts.data.texts import STRING, json_of, text_of


def entries_of(file: Path, shape: type[Shape], what: str, key: str) -> list[Shape]:
    """The entries of a list, each as `shape` (a msgspec type). what: the word for one (dialog); key: of its id.

    Raises UserError that names the file and the entry of what cannot be read.
    """
    def behind(before: str) -> str:
        ids = re.findall(rf'"{key}"\s*+:\s*+({STRING}|[^\s,}}]{{1,80}})', before, re.DOTALL)
        last = cut(ids[-1].strip('"')) if ids else ""
        return f", in or just behind {what} {last}" if ids else f", before the first {what}'s id"

    values = json_of(text_of(file), str(file), behind=behind)
    if not isinstance(values, list) or not values:
        raise UserError(f"{file}: holds no list of {what}s; fetch it again")
    return [shaped(value, shape, f"{file}: {_name(value, what, key, place)}") for place, value in enumerate(values, 1)]


def _name(value: object, what: str, key: str, place: int) -> str:
    """What an entry is called: by its id or, without one, by its place."""
    if not isinstance(value, dict) or key not in value:
        return f"the {what} at place {place}"
    return f"{what} {cut(value[key]) if isinstance(value[key], str) else shown(value[key])}"
