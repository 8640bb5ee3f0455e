"""JSON as a key: one text for one value. Standard library only, for programs that start often."""

import hashlib
import json
from collections.abc import Mapping


def as_json(value) -> str:
    """Return JSON that is the same for equal values, in any order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def hashes_of(files: Mapping[str, object]) -> str:
    """Return JSON of the SHA-256 of what each file says, for long values that a rule compares."""
    return as_json(
        {name: hashlib.sha256(as_json(said).encode()).hexdigest() for name, said in files.items()}
    )
