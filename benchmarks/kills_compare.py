"""Whether two folders of results say the same, byte by byte.

Left out: how long a run took, which run.json and the page's table of runs tell (`seconds`, `tokens_per_second`, `cost`). Logs,
timings of jobs, Snakemake's records and the working folders of runs are not results.
"""

import json
import re
from pathlib import Path

NOT_RESULTS = re.compile(r"(^|/)\.|^logs/|^benchmarks/|^train/[^/]+/[^/]+/work/")  # hidden ones are bookkeeping
LEFT_OVER = re.compile(r"^\.([0-9a-f]{8}-)?\d+\.")  # the places of scripts.common.files.whole
TIMES = {"seconds", "tokens_per_second", "cost"}
RUN_TIMES = re.compile(r'<td class="n">[\d.]+</td><td class="n">[\d,]+</td>(?=<td>[^<]* threads)|<dd class="measured">[^<]*</dd>')


def left_over_files(folder: Path) -> list[str]:
    """Files that a killed program left half-written, without their process numbers."""
    return [re.sub(r"/\.([0-9a-f]{8}-)?\d+\.", "/.PID.", str(file.relative_to(folder))) for file in (folder / "results").rglob("*")
            if LEFT_OVER.search(file.name)]


def results(folder: Path) -> dict[str, Path]:
    """The files of results/ that are promised, by their place there."""
    files = {str(file.relative_to(folder / "results")): file for file in (folder / "results").rglob("*") if file.is_file()}
    return {name: file for name, file in files.items() if not NOT_RESULTS.search(name)}


def promised(file: Path) -> object:
    """What a result promises to say again: its bytes, without the times in run.json and in the page's table of runs."""
    if file.name == "run.json":
        return {key: value for key, value in json.loads(file.read_text()).items() if key not in TIMES}
    if file.name.endswith(".manifest.json"):  # of controls: it lists the run.json of each with its hash
        listed = json.loads(file.read_text())["files"]
        return {name: None if name.endswith("/run.json") else facts for name, facts in listed.items()}
    if file.name == "index.html":
        return RUN_TIMES.sub("", file.read_text())
    return file.read_bytes()


def differences(undisturbed: Path, killed: Path) -> list[str]:
    """What differs between the results of two folders, one sentence a file."""
    one, other = results(undisturbed), results(killed)
    return [*(f"is missing: {name}" for name in sorted(one.keys() - other.keys())),
            *(f"is too many: {name}" for name in sorted(other.keys() - one.keys())),
            *(f"differs: {name}" for name in sorted(one.keys() & other.keys())
              if promised(one[name]) != promised(other[name]))]
