"""The version of timestride, and the git commit of the project's folder if it has one. An identity
does not include them, so a new commit alone runs nothing again.
"""

import os
import subprocess
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def version() -> str:
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]["version"]


def _git(*arguments: str) -> str | None:
    """Return git's answer about the project's folder; None without git, or if git fails."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_")
    } | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            ["git", "-C", ROOT, *arguments],
            capture_output=True,
            text=True,
            timeout=30,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache  # three processes of git, and a job writes the facts of many runs
def project_version() -> dict:
    """`{"version", "commit", "modified"}`, as at the first call of this process. If the folder has
    no git repository of its own, commit is TIMESTRIDE_COMMIT (an image has no .git) or None, and
    modified is None.
    """
    top = _git("rev-parse", "--show-toplevel")
    if top and Path(top).resolve() == ROOT.resolve():
        commit = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    else:
        commit, changed = os.environ.get("TIMESTRIDE_COMMIT") or None, None
    return {
        "version": version(),
        "commit": commit,
        "modified": None if changed is None else bool(changed),
    }


def commit_date() -> int | None:
    """Return a date in seconds since 1970: SOURCE_DATE_EPOCH if it is set, else the date of the
    commit; None without a commit.
    """
    if epoch := os.environ.get("SOURCE_DATE_EPOCH", "").strip():
        return int(epoch) if epoch.isdecimal() else None
    date = (
        _git("log", "-1", "--format=%ct") if project_version()["modified"] is not None else None
    )  # not the commit of a repository around this folder
    return int(date) if date else None
