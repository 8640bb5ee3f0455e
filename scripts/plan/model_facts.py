"""The facts of a model before it is fetched: results/fetch/facts/<model>.json, which
scripts/fetch/facts.py writes. Later starts and the jobs of a cluster read this file only. Standard
library only.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from scripts.plan.models import ADAPTER_CONFIG, base_folder
from scripts.plan.plan import OF_ENTRY
from scripts.running.program import UserError, cut

PLACE = Path("results/fetch/facts")
# the kinds of files that a model's folder gives
READ = (".json", ".safetensors", ".jinja", ".model", ".txt")
LONGEST = 600  # the maximum time to read the facts, in seconds


def folder_files(entry: dict, root: Path) -> dict[str, Path]:
    """Return the files of a model's folder, and of the folder of an adapter's base, that a fetch
    may read, by name; empty for an entry without a folder.
    """
    if "folder" not in entry:
        return {}
    folder = root / os.path.expanduser(entry["folder"])
    places = {"": folder}
    with suppress(OSError, ValueError, KeyError, TypeError):  # the fetch says what is wrong
        adapter = json.loads((folder / ADAPTER_CONFIG).read_text(encoding="utf-8"))
        if base := base_folder(folder, adapter["base_model_name_or_path"]):
            places["base/"] = base
    return {
        f"{name}{file.name}": file
        for name, place in places.items()
        for file in sorted(place.glob("*.*"))
        if file.suffix in READ and file.is_file()
    }


def identity(entry: dict, root: Path) -> str:
    """Return a digest of the values that decide an entry's facts: all keys except those about its
    name, licence and questions; for a folder, also the lengths and times of its files.
    """
    others = ("licence", "title", *OF_ENTRY)
    deciding_fields = {key: value for key, value in entry.items() if key not in others}
    stats = [
        (name, file.stat().st_size, file.stat().st_mtime_ns)
        for name, file in folder_files(entry, root).items()
    ]
    return hashlib.sha256(json.dumps([deciding_fields, stats], sort_keys=True).encode()).hexdigest()


def cached_facts(name: str, entry: dict, root: Path) -> dict | None:
    """Return the facts of a model that were read before; None if there are none, or if the entry
    has changed.
    """
    try:
        facts = json.loads((PLACE / f"{name}.json").read_text(encoding="utf-8"))
        return facts if facts["identity"] == identity(entry, root) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def facts_reader(root: Path, mirror: str, place_of: Callable[[str], str]) -> Callable:
    """Return a function that gives the facts of a model, by its name, its entry and whether they
    are needed. It takes kept facts, and reads missing facts only if they are needed. place_of:
    gives the place of an entry, for messages.
    """

    def facts_of(name: str, entry: dict, needed: bool) -> dict | None:
        facts = cached_facts(name, entry, root)
        if facts or not needed:
            return facts
        limit = "; a hub that does not answer ends this in half a minute" if "hub" in entry else ""
        print(f"Reading the kind of the model {name}{limit}.", file=sys.stderr)
        options: dict = {"model": name, "entry": json.dumps(entry), "place": place_of(name)}
        options |= {"mirror": mirror, "root": root, "output": f"{PLACE / name}.json"}
        command = [sys.executable, "-m", "scripts.fetch.facts"]
        command += [f"--{key}={value}" for key, value in options.items()]
        try:
            called = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            raise UserError(
                f"{name}: its kind could not be read in {LONGEST} s; set TIMESTRIDE_MIRROR to a "
                "place that is quicker, or take another model"
            ) from None
        if called.returncode:
            last = (called.stderr.strip().splitlines() or ["it ended without an error message"])[-1]
            raise UserError(
                last.removeprefix("error: ")
                if last.startswith("error: ")
                else (
                    f"{name}: its kind could not be read ({cut(last, 300)}); install "
                    "envs/requirements.txt where Snakemake runs"
                )
            )
        return cached_facts(name, entry, root)

    return facts_of
