"""What fetching, cleaning and building samples of growing size takes, in time, memory and room.

Each size is a study of its own, in a checkout in a temporary folder; the workflow measures its
jobs. Captions are HowTo100M's, built into pairs at three strides; dialogs are DailyDialog's and
TimeDial's, built into masked expressions. Prints a table in Markdown. Its last column is the CPU
time of a row beside that at the first size: 1.00 where the time grows as the rows do.

    python -m benchmarks.scale --videos 2000 8000 --dialogs 1200 4800
    python -m benchmarks.scale --videos 1200000 --captions 200 --dialogs --folder /large/disk
"""

import argparse
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import yaml

from benchmarks.cost_measured import benchmark_of
from benchmarks.measure import checkout, options_of, table, workflow

STAGES = ["fetch", "clean", "build"]
HEAD = ["job", "size", "rows", "seconds", "CPU seconds", "MiB", "CPU time of a row"]
STUDIES = {
    "videos": {"sample_sop": {"data": {"source": ["sample_howto100m"], "stride": [0, 1, 2]}}},
    "dialogs": {"sample_dialogs_classify": {"data": {"max_dialogs": None}}},
}


def build(folder: Path, what: str, sample: dict) -> None:
    """Run the workflow in a new folder to the datasets of a study over samples of a size."""
    checkout(folder)
    file, experiments = folder / "resources/sources.yaml", STUDIES[what]
    sources = yaml.safe_load(file.read_text(encoding="utf-8"))
    for entry in sources.values():
        if what in entry.get("sample", {}):
            entry["sample"] |= sample
    file.write_text(yaml.safe_dump(sources), encoding="utf-8")
    overlay = {"name": "scale", "run": list(experiments), "experiments": experiments}
    workflow(folder, overlay, "build")


def jobs_of(results: Path) -> dict[str, dict]:
    """By name what each job took and wrote."""
    found = {}
    for stage in STAGES:
        for file in sorted((results / "benchmarks" / stage).rglob("*.jsonl")):
            name = str(file.relative_to(results / "benchmarks").with_suffix(""))
            tables = (results / name).rglob("*.parquet")
            rows = sum(pq.read_metadata(one).num_rows for one in tables if one.stem != "videos")
            if job := benchmark_of(file):
                found[name] = job | {"rows": rows}
    return found


def lines_of(what: str, sizes: dict[int, dict[str, dict]]) -> list[list]:
    """The lines of the table; sizes: by size what jobs_of() found."""
    lines, first = [], next(iter(sizes.values()))
    for name in first:
        for size, jobs in sizes.items():
            job = jobs[name]
            each, at_first = (one["cpu"] / (one["rows"] or 1) for one in (job, first[name]))
            grown = each / (at_first or 1)
            lines.append(
                [
                    name,
                    f"{size:,} {what}",
                    f"{job['rows']:,}",
                    f"{job['seconds']:.1f}",
                    f"{job['cpu']:.1f}",
                    f"{job['memory'] / 2**20:,.0f}",
                    f"{grown:.2f}",
                ]
            )
    return lines


def main(given: argparse.Namespace) -> None:
    lines = []
    for what, sizes in {"videos": given.videos, "dialogs": given.dialogs}.items():
        found = {}
        for size in sorted(sizes):
            sample = {what: size}
            if what == "videos":
                sample["captions-per-video"] = given.captions
            with tempfile.TemporaryDirectory(dir=given.folder) as name:
                build(Path(name), what, sample)
                found[size] = jobs_of(Path(name, "results"))
        lines += lines_of(what, found) if found else []
    print(table(HEAD, lines))


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument("--videos", type=int, nargs="*", default=[2000, 8000], metavar="N")
    options.add_argument("--captions", type=int, default=112, help="of a video; %(default)s")
    options.add_argument("--dialogs", type=int, nargs="*", default=[1200, 4800], metavar="N")
    options.add_argument("--folder", type=Path, help="for the temporary folders")
    main(options.parse_args())
