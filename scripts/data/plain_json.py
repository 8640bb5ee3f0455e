"""JSON as a key: one text for one value. Standard library only, for programs that start often."""

import json


def as_json(value) -> str:
    """Return JSON that is the same for equal values, in any order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
