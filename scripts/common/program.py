"""What every program shares: its log, its errors, its exit."""

import argparse
import errno
import logging
import sys
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger("timestride")


class UserError(Exception):
    """What went wrong, where (file, row) and what to do, in one sentence for the user."""


def parser(doc: str) -> argparse.ArgumentParser:
    """An argument parser whose --help opens with the module's docstring; knows --log."""
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    made.add_argument("--log", type=Path, metavar="FILE", help="also write messages to this file")
    return made


def log_to(file: Path, mode: str = "w") -> None:
    """Write messages to a file from here on, too."""
    file.parent.mkdir(parents=True, exist_ok=True)
    logging.getLogger().addHandler(logging.FileHandler(file, mode=mode, encoding="utf-8"))


def run(main: Callable[[argparse.Namespace], None], arguments: argparse.Namespace, opens_log: bool = False) -> None:
    """Run main(arguments): messages to stderr and --log, expected errors as one line, exit 1.

    opens_log: main itself calls log_to.
    """
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[logging.StreamHandler(sys.stderr)], force=True)
    try:
        if arguments.log and not opens_log:
            log_to(arguments.log)
        main(arguments)
    except UserError as error:
        log.error("error: %s", error)
        sys.exit(1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            log.exception("unexpected error")
            sys.exit(1)
        log.error(
            "error: no space left on the device%s: free some, then give the same command again; "
            "finished work is kept",
            f" while writing {error.filename}" if error.filename else "",
        )
        sys.exit(1)
    except Exception:
        log.exception("unexpected error")
        sys.exit(1)
