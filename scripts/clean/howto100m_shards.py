"""The captions of one split as files of so many videos each, with a manifest that names them.

Not a program.
"""

import json
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.common.files import sha256_of
from scripts.common.tables import CAPTIONS, table_writer


class Shards:
    """Writes the captions of one split into files of so many videos each; the manifest comes last."""

    def __init__(self, folder: Path, videos_per_shard: int, provenance: dict):
        self.folder, self.most, self.provenance = folder, videos_per_shard, provenance
        self.shards: list[dict] = []
        self.stack: ExitStack | None = None

    def write(self, captions: pa.Table) -> None:
        """Add whole videos, in order."""
        firsts = np.flatnonzero(captions["position"].to_numpy() == 0)
        done = 0
        while done < len(firsts):
            if self.stack is None:
                self.open()
            shard = self.shards[-1]
            taken = min(len(firsts) - done, self.most - shard["videos"])
            last = firsts[done + taken] if done + taken < len(firsts) else len(captions)
            part = captions.slice(firsts[done], last - firsts[done])
            self.writer.write_table(part.cast(self.writer.schema))
            shard["rows"] += len(part)
            shard["videos"] += taken
            done += taken
            if shard["videos"] == self.most:
                self.close()

    def open(self) -> None:
        """Begin the next shard."""
        file = f"part-{len(self.shards):05}.parquet"
        self.shards.append({"file": file, "sha256": None, "rows": 0, "videos": 0})
        with ExitStack() as stack:
            self.writer: pq.ParquetWriter = stack.enter_context(
                table_writer(self.folder / file, CAPTIONS, self.provenance))
            self.stack = stack.pop_all()

    def close(self) -> None:
        """End the shard that is open, if one is."""
        if self.stack is not None:
            self.stack.close()
            self.stack = None
            self.shards[-1]["sha256"] = sha256_of(self.folder / self.shards[-1]["file"])

    def finish(self) -> None:
        """End the last shard and write the manifest."""
        self.close()
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "manifest.json").write_text(json.dumps({"shards": self.shards}, indent=1) + "\n")
