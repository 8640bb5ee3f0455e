"""HowTo100M at its real size, once: what cleaning it and building from it takes, in time, memory and room.

The file is the sample generator's (10 GB of JSON, as many videos as the corpus has: 1.2 million of 112 captions would be 5.5 GB, so they get more
captions), since the corpus itself is not to be had everywhere. Every stage is the workflow's own program, in processes of its own. Prints a table
in Markdown.

    python -m benchmarks.scale_howto100m --folder /large/disk [--gigabytes 10] [--videos 1200000]
"""

import argparse
import json
import platform
import shutil
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.clean_howto100m import measured

ROOT = Path(__file__).parents[1]
BYTES_PER_CAPTION = 41
# The datasets of the paper preset (20,000 videos a split), and all videos at one stride.
BUILT = {"strides 0, 1, 2 of 20,000 videos a split": [{"stride": stride, "max_videos": 20_000} for stride in range(3)],
         "stride 1 of all videos": [{"stride": 1}]}


def size(folder: Path) -> float:
    """Gigabytes of all files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e9


def rows(folder: Path) -> int:
    """Rows of all captions or pairs of a folder; videos.parquet holds other things."""
    return sum(pq.read_metadata(file).num_rows for file in folder.rglob("*.parquet") if file.name != "videos.parquet")


def told(what: str, seconds: float, processors: float, peak: float, folder: Path) -> None:
    print(f"| {what} | {seconds / 60:.1f} | {processors / 60:.1f} | {peak:,.0f} | {size(folder):.2f} | {rows(folder):,} |", flush=True)


def main(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        fetched, cleaned = Path(name, "fetched"), Path(name, "cleaned")
        captions = round(given.gigabytes * 1e9 / given.videos / BYTES_PER_CAPTION)
        print("| what | minutes | CPU minutes | memory, MiB, at most | GB written | rows |\n| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
        told(f"generate {given.videos:,} videos of some {captions} captions", *measured(
            ["-m", "scripts.fetch.samples.captions", "--format", "howto100m", "--videos", given.videos, "--seed", 1, "--captions-per-video", captions, "--unzipped",
             "--output", fetched]), fetched)
        told("clean, two processes", *measured(
            ["-m", "scripts.clean.howto100m", "--source", "benchmark", "--fetched", fetched, "--provenance", "{}", "--output", cleaned,
             "--processes", 2]), cleaned)
        for what, datasets in BUILT.items():
            built, took = Path(name, "built"), []
            for number, options in enumerate(datasets):
                took.append(measured(["-m", "scripts.build.strided_sop", "--cleaned", cleaned, "--splits", "train", "val", "--options",
                                      json.dumps(options), "--output", built / str(number)]))
            seconds, processors, peaks = zip(*took)
            told(f"build {what}", sum(seconds), sum(processors), max(peaks), built)
            shutil.rmtree(built)
    print(f"\nPython {platform.python_version()} on {platform.machine()}; each stage in processes of its own, one after the other.")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=Path, help="where to put it all, some 15 GB; the system's temporary folder unless told")
    options.add_argument("--gigabytes", type=float, default=10.0)
    options.add_argument("--videos", type=int, default=1_200_000)
    main(options.parse_args())
