"""Compare two folders of results by content, to show that a refactoring changed no result.

A table counts by its columns and values, a figure without the line that names its maker, a page by
its text. Times, hosts, hashes of code and weights do not count. Both folders must come from one
machine, since trained numbers differ between machines.

    python -m tests.content_digests BEFORE/results AFTER/results
"""

import argparse
import hashlib
import re
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

COMPARED = ("*.parquet", "*.csv", "*.svg", "*.md", "*.tex", "*.jsonl", "*.json", "*.txt")
LEFT_OUT = re.compile(
    r"(^|/)(logs|benchmarks|work|tokens|rehearse|\.records|leaderboard)/"
    r"|(run|manifest|findings)\.json$"
)
METADATA = re.compile(r"<metadata>.*?</metadata>", re.S)


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file's content, without the parts that are not compared."""
    if file.suffix == ".parquet":
        table = pq.read_table(file, memory_map=False).replace_schema_metadata(None)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table.combine_chunks())
        content = sink.getvalue().to_pybytes()
    elif file.suffix == ".svg":
        content = METADATA.sub("", file.read_text(encoding="utf-8")).encode()
    else:
        content = file.read_bytes()
    return hashlib.sha256(content).hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each compared file of a folder of results, by its path in the folder."""
    files = {file for pattern in COMPARED for file in folder.rglob(pattern) if file.is_file()}
    return {
        name: digest_of(folder / name)
        for name in sorted(str(file.relative_to(folder)) for file in files)
        if not LEFT_OUT.search(name)
    }


def main(given: argparse.Namespace) -> None:
    before, after = digests(given.before), digests(given.after)
    lines = [f"gone     {name}" for name in sorted(set(before) - set(after))]
    lines += [f"new      {name}" for name in sorted(set(after) - set(before))]
    lines += [
        f"differs  {name}"
        for name in sorted(set(before) & set(after))
        if before[name] != after[name]
    ]
    print(
        *lines,
        f"{len(before)} files before, {len(after)} after, {len(lines)} differences",
        sep="\n",
    )
    sys.exit(bool(lines))


if __name__ == "__main__":
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("before", type=Path)
    options.add_argument("after", type=Path)
    main(options.parse_args())
