"""How fast HowTo100M is cleaned, against json.load of the same file, and in how much memory.

Writes a sample of --megabytes, reads it both ways (each in a process of its own), and prints the ratio of their
throughputs and both peaks of resident memory. json.load only reads: it neither cleans nor writes. The peer's file is
cut to --peer-megabytes, since it holds all of it in memory.

    python -m benchmarks.clean_howto100m [--megabytes 2000]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
BYTES_PER_VIDEO = 4600  # at 112 captions
# The peak of a child is known to its parent only as the largest of all its children, so each gets a parent of its own.
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
PEER = "import json, sys; print(len(json.load(open(sys.argv[1], encoding='utf-8'))))"


def sample(folder: Path, megabytes: int) -> Path:
    """A raw_caption.json of about that size."""
    videos = str(max(10, megabytes * 1_000_000 // BYTES_PER_VIDEO))
    subprocess.run([sys.executable, "-m", "scripts.fetch.samples.howto100m", "--videos", videos, "--seed", "1",
                    "--captions-per-video", "112", "--unzipped", "--output", folder], check=True, cwd=ROOT)
    return folder / "raw_caption.json"


def measured(size: int, *command) -> tuple[float, float]:
    """MB/s and peak memory in MiB of a command that reads `size` bytes."""
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", MEASURE, sys.executable, *map(str, command)], check=True, cwd=ROOT,
                          stdout=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - begun
    return size / seconds / 1e6, int(done.stdout.split()[-1]) / (1024 if sys.platform == "linux" else 1 << 20)


def main(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        file, small = sample(folder / "in", given.megabytes), sample(folder / "peer", given.peer_megabytes)
        ours, our_peak = measured(file.stat().st_size, "-m", "scripts.clean.howto100m", "--source", "benchmark",
                                  "--fetched", file.parent, "--output", folder / "out", "--provenance", "{}")
        peer, peer_peak = measured(small.stat().st_size, "-c", PEER, small)
        print(f"cleaned {file.stat().st_size / 1e6:.0f} MB: {ours:.1f} MB/s in {our_peak:.0f} MiB; json.load of "
              f"{small.stat().st_size / 1e6:.0f} MB: {peer:.1f} MB/s in {peer_peak:.0f} MiB; ratio {ours / peer:.2f}")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--megabytes", type=int, default=200)
    options.add_argument("--peer-megabytes", type=int, default=100)
    options.add_argument("--folder", type=Path, help="where to put the samples; the system's temporary folder unless told")
    main(options.parse_args())
