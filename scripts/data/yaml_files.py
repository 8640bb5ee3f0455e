"""Reading YAML plainly: each fault in one sentence.

A key that stands twice is a fault; YAML itself would keep the last one.
"""

from pathlib import Path

import yaml

from scripts.running.program import UserError, cut


def refuse_doubled_keys(root: yaml.Node | None, file: Path) -> None:
    """Raise UserError that names file, line and key of the first key that stands twice
    in one mapping.
    """
    waiting, seen = [root], {id(None)}  # an alias is the very node that it names
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
                            f"{file}: line {line}: the key {cut(key.value)} stands in line "
                            f"{lines[key.value]} of the same mapping, too; remove one of the two, "
                            "or give it another name"
                        )
                    lines[key.value] = line
                waiting += [key, value]


def read_yaml(file: Path):
    """The value of a YAML file.

    Raises UserError, with the line, for one that cannot be read or has a key twice in one mapping.
    """
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(file.read_bytes())
        root = loader.get_single_node()
        refuse_doubled_keys(root, file)
        return None if root is None else loader.construct_document(root)
    except OSError as error:
        raise UserError(
            f"{file}: cannot be read ({error.strerror}); put it there, or check out the project "
            "anew"
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise UserError(
            f"{file}: is no YAML{where} "
            f"({getattr(error, 'problem', None) or type(error).__name__}); correct it there"
        ) from None


def entries_of(file: Path) -> dict[str, dict]:
    """The entries of a file of resources/, by name. Raises UserError for a file of another form."""
    entries = read_yaml(file)
    if not isinstance(entries, dict):
        raise UserError(f"{file}: holds no names with their entries; correct it there")
    for name, entry in entries.items():
        if not isinstance(name, str) or not isinstance(entry, dict):
            raise UserError(
                f"{file}: {cut(str(name))} is no name with an entry of keys and values; correct it "
                "there"
            )
    return entries
