"""Keys that stand twice in a mapping of YAML: of the two YAML itself keeps the last, and says nothing."""

from pathlib import Path

import yaml

from scripts.running.program import UserError, cut


def refuse_doubled_keys(file: Path) -> None:
    """Raise UserError that names file, line and key of the first key that stands twice in one mapping. What is no YAML is left to its reader."""
    try:
        root = yaml.compose(file.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, yaml.YAMLError, ValueError, RecursionError):
        return
    waiting, seen = [root], set()  # an alias is the very node that it names
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        if isinstance(node, yaml.MappingNode):
            lines: dict[str, int] = {}
            for key, value in node.value:
                line = key.start_mark.line + 1
                if isinstance(key, yaml.ScalarNode) and key.value in lines:
                    raise UserError(f"{file}: line {line}: the key {cut(key.value)} stands in line {lines[key.value]} of the same mapping, too; "
                                    "remove one of the two, or give it another name")
                if isinstance(key, yaml.ScalarNode):
                    lines[key.value] = line
                waiting += [key, value]
