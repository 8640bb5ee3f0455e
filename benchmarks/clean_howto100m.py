"""How fast HowTo100M is cleaned, and in how much memory, as its file grows; beside it what can be compared with.

Every way reads a raw_caption.json of the sample's generator and writes Parquet, each in processes of its own, by turns:
  two, one      the cleaner in two processes, in one
  parse, write  the cleaner's own parser and writer with nothing between them, in one process
  pandas        json.load, then pandas: the same texts, order and repeats dropped, and a file for each split. It holds the whole
                file in memory, so it gets the smallest one only
For each: seconds by the clock and of the processors, MB of JSON in a second, and the peak of the memory of all its processes
together (what they share counted once; on Linux).

    python -m benchmarks.clean_howto100m [--megabytes 100 400 1500]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext, suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
BYTES_PER_VIDEO = 4600  # at 112 captions
PARSE_WRITE = """
import sys
from pathlib import Path
import numpy as np, pyarrow as pa
from scripts.clean.howto100m import Shards
from scripts.clean.howto100m_videos import batches
shards = Shards(Path(sys.argv[2]), 20_000, {})
for batch in batches(Path(sys.argv[1])):
    sizes = batch["text"].value_lengths().to_numpy()
    rows = int(sizes.sum())
    shards.write(pa.table({
        "source": pa.repeat("s", rows), "split": pa.repeat("s", rows),
        "video_id": batch["video_id"].take(pa.array(np.repeat(np.arange(len(sizes)), sizes))),
        "position": pa.array(np.arange(rows) - np.repeat(np.cumsum(sizes) - sizes, sizes), pa.int32()),
        "text": batch["text"].flatten(), "start_s": batch["start"].flatten(), "end_s": batch["end"].flatten()}))
shards.finish()
"""
PANDAS = """
import json, sys
import pandas as pd
with open(sys.argv[1], encoding="utf-8") as opened:
    videos = json.load(opened)
rows = pd.DataFrame([(name, *row) for name, video in videos.items() for row in zip(video["start"], video["end"], video["text"])],
                    columns=["video_id", "start_s", "end_s", "text"])
rows = rows[[type(text) is str for text in rows["text"]]].dropna()
rows["text"] = rows["text"].str.split().str.join(" ")
rows = rows[rows["text"] != ""].sort_values(["video_id", "start_s"], kind="stable")
behind = rows.groupby("video_id")["text"].shift(-1).fillna("")
rows = rows[[there != here and not there.startswith(here + " ") for here, there in zip(rows["text"], behind)]]
rows["position"] = rows.groupby("video_id").cumcount()
is_val = pd.util.hash_array(rows["video_id"].to_numpy(dtype=object)) % 10 == 0
rows[is_val].to_parquet(sys.argv[2] + "-val.parquet", compression="zstd")
rows[~is_val].to_parquet(sys.argv[2] + "-train.parquet", compression="zstd")
"""


def sample(folder: Path, megabytes: int) -> Path:
    """A raw_caption.json of about that size."""
    videos = str(max(10, megabytes * 1_000_000 // BYTES_PER_VIDEO))
    subprocess.run([sys.executable, "-m", "scripts.fetch.samples.captions", "--format", "howto100m", "--videos", videos, "--seed", "1",
                    "--captions-per-video", "112", "--unzipped", "--output", folder], check=True, cwd=ROOT)
    return folder / "raw_caption.json"


def memory(process: int) -> float:
    """MiB of a process and all below it, what they share counted once; 0 where the system does not tell."""
    kilobytes, below = 0, [process]
    while below:
        one = below.pop()
        with suppress(OSError):
            facts = Path(f"/proc/{one}/smaps_rollup").read_text().split()
            kilobytes += int(facts[facts.index("Pss:") + 1])
            below += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
    return kilobytes / 1024


def measured(command: list, folder: Path = ROOT, said: Path | None = None) -> tuple[float, float, float]:
    """Seconds by the clock, seconds of the processors and peak memory in MiB of a command of Python in a folder, and of the processes that it
    starts; said: where what it prints goes."""
    before, begun, peak = os.times(), time.perf_counter(), 0.0
    with open(said, "w") if said else nullcontext() as text:
        running = subprocess.Popen([sys.executable, *map(str, command)], cwd=folder, stdout=text, stderr=subprocess.DEVNULL)
    while running.poll() is None:
        peak = max(peak, memory(running.pid))
        time.sleep(0.05)
    seconds, after = time.perf_counter() - begun, os.times()
    if running.returncode:
        raise SystemExit(f"{command[:2]} failed")
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system, peak


def ways(file: Path, output: Path) -> dict[str, list]:
    """The command of each way."""
    cleaner = ["-m", "scripts.clean.howto100m", "--source", "benchmark", "--fetched", file.parent, "--provenance", "{}"]
    return {"two": [*cleaner, "--output", output / "two", "--processes", 2], "one": [*cleaner, "--output", output / "one"],
            "parse, write": ["-c", PARSE_WRITE, file, output / "written"], "pandas": ["-c", PANDAS, file, output / "pandas"]}


def main(given: argparse.Namespace) -> None:
    for megabytes in sorted(given.megabytes):
        with tempfile.TemporaryDirectory(dir=given.folder) as name:
            file, found = sample(Path(name, "in"), megabytes), {}
            size = file.stat().st_size / 1e6
            Path(name, "out").mkdir()
            for way, command in ways(file, Path(name, "out")).items():
                if way == "pandas" and megabytes > min(given.megabytes):
                    continue
                found[way] = measured(command)
                clock, processors, peak = found[way]
                print(f"{size:7.0f} MB  {way:13}{clock:7.1f} s  {processors:7.1f} CPU s  {size / clock:6.1f} MB/s  {peak:6.0f} MiB",
                      flush=True)
            for what, column in (("by the clock", 0), ("of the processors", 1)):
                print(f"{size:7.0f} MB  seconds {what} against two: " + ", ".join(
                    f"{way} {values[column] / found['two'][column]:.2f}" for way, values in found.items() if way != "two"), flush=True)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--megabytes", type=int, nargs="+", default=[100, 400, 1500])
    options.add_argument("--folder", type=Path, help="where to put the samples; the system's temporary folder unless told")
    main(options.parse_args())
