"""Moves modules and rewrites every mention of them: `python -m tests.move_modules MOVES.tsv` (a
line a module: old name, tab, new name).

A name may be dotted (scripts.data.card) or, of a file that no one imports, a path. Mentions are
dotted names and paths, in every file that git tracks but those that tell of the past. What is
imported as `from package import module` is changed by hand. Code identity holds no module name, so
nothing is made again by a move (tests/running/test_identity.py).
"""

import re
import subprocess
import sys
from pathlib import Path

PAST = ("CHANGELOG.md", "docs/record/", "resources/earlier_identities.json", "tests/golden/")


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [Path(name) for name in listed if not name.startswith(PAST) and Path(name).is_file()]


def path_of(name: str) -> Path:
    return Path(name) if "/" in name else Path(f"{name.replace('.', '/')}.py")


def main(moves: dict[str, str]) -> None:
    for old, new in moves.items():
        path_of(new).parent.mkdir(parents=True, exist_ok=True)
        for folder in path_of(new).parents:
            if folder.parts[:1] == ("scripts",) and not (folder / "__init__.py").exists():
                (folder / "__init__.py").touch()
                subprocess.run(["git", "add", folder / "__init__.py"], check=True)
        subprocess.run(["git", "mv", path_of(old), path_of(new)], check=True)
    mentions = {old: new for old, new in moves.items()} | {
        str(path_of(old)): str(path_of(new)) for old, new in moves.items()
    }
    mentions |= {
        str(path_of(old).with_suffix("")): str(path_of(new).with_suffix(""))
        for old, new in moves.items()
        if "/" not in old
    }
    known = re.compile(
        r"(?<![\w./])("
        + "|".join(map(re.escape, sorted(mentions, key=len, reverse=True)))
        + r")(?!\w|/\w)"
    )
    for file in tracked():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if (changed := known.sub(lambda found: mentions[found[1]], text)) != text:
            file.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    main(
        dict(
            line.split("\t") for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
        )
    )
