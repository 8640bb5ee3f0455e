"""Reading YAML: for each fault, one sentence names the place.

A repeated key is a fault; YAML itself would keep the last one.
"""

import itertools
import math
import re
from pathlib import Path

import yaml

from scripts.running.program import UserError, cut

MOST = 500_000  # values
DEEPEST = 500  # levels of brackets
DASHES = re.compile(rb"(?:- ?){500}")  # levels of lists in one line


def refuse_doubled_keys(root: yaml.Node | None, file: Path) -> None:
    """Raise UserError that names the file, line and key of the first repeated key of a mapping."""
    waiting, seen = [root], {id(None)}  # an alias is the same object as its node
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            lines: dict[str, int] = {}
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    line = key.start_mark.line + 1
                    if key.value in lines:
                        raise UserError(
                            f"{file}: line {line}: the key {cut(key.value)} is already in line "
                            f"{lines[key.value]} of the same mapping; remove one of the two, "
                            "or give it another name"
                        )
                    lines[key.value] = line
                waiting += [key, value]


def count_values(node: yaml.Node, counts: dict[int, float]) -> float:
    """Return the number of values in a node. An alias is counted wherever it occurs; a cycle is
    infinite.
    """
    if id(node) not in counts:
        counts[id(node)] = math.inf
        inner = [] if isinstance(node, yaml.ScalarNode) else node.value
        parts = itertools.chain(*inner) if isinstance(node, yaml.MappingNode) else inner
        counts[id(node)] = 1 + sum(count_values(part, counts) for part in parts)
    return counts[id(node)]


def read_yaml(file: Path):
    """Return the value of a YAML file. Raises UserError, with the line, for a file that cannot be
    read, has a repeated key or holds too many values through its aliases.
    """
    try:
        content = file.read_bytes()
        content.decode()  # YAML reads other encodings, but Snakemake does not
        # libyaml calls itself for each level, until the process has no stack
        steps = (1 if sign in b"[{" else -1 for sign in re.findall(rb"[\[\]{}]", content))
        if max(itertools.accumulate(steps), default=0) > DEEPEST or DASHES.search(content):
            raise RecursionError(f"more than {DEEPEST} levels")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(content)
        root = loader.get_single_node()
        refuse_doubled_keys(root, file)
        if root and count_values(root, {}) > MOST:
            raise UserError(
                f"{file}: refers to itself, or has more than {MOST:,} values with each alias "
                "(*name) written out; remove the aliases"
            )
        return None if root is None else loader.construct_document(root)
    except OSError as error:
        raise UserError(
            f"{file}: cannot be read ({error.strerror}); put it there, or check out the project "
            "anew"
        ) from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{file}: line {line}: is not UTF-8; save it as UTF-8") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or error
        raise UserError(f"{file}: is not valid YAML{where} ({what}); correct it there") from None


def entries_of(file: Path) -> dict[str, dict]:
    """Return the entries of a file of resources/, by name. Raises UserError for other content."""
    entries = read_yaml(file)
    if not isinstance(entries, dict):
        raise UserError(f"{file}: must be a mapping of names to entries; correct it there")
    for name, entry in entries.items():
        if not isinstance(name, str) or not isinstance(entry, dict):
            raise UserError(
                f"{file}: {cut(str(name))} must be a name, and its entry a mapping of keys to "
                "values; correct it there"
            )
    return entries
