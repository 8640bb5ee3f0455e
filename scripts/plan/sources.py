"""Which files of this machine the sources of resources/sources.yaml name (`local`), and what they hash to."""

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from scripts.data.files import Hashes
from scripts.running.program import UserError


def local_hashes(sources: dict, used: Iterable[str], root: Path, memory: Hashes, own: Collection[str] = ()) -> dict[str, str]:
    """The sha256 of the local file of each source that has one, by source. Of an unused source it may be missing.

    own: the sources that stand in the configuration, for messages. Raises UserError for a used file that is not there.
    """
    hashes = {}
    for name, entry in sources.items():
        if "local" not in entry:
            continue
        file = root / os.path.expanduser(entry["local"])
        try:
            hashes[name] = memory.sha256(file)
        except OSError as error:
            if name not in used:
                continue
            where = "configuration: sources" if name in own else "resources/sources.yaml"
            raise UserError(f"{where}: {name}.local: {entry['local']} cannot be read ({error.strerror}); "
                            "put the file there, or correct the entry") from None
    return hashes
