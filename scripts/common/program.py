"""What every program shares: its log, its errors, its exit."""

import argparse
import errno
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger("timestride")


class UserError(Exception):
    """What went wrong, where (file, row) and what to do, in one sentence for the user."""


def parser(doc: str) -> argparse.ArgumentParser:
    """An argument parser whose --help opens with the module's docstring; knows --log, and @FILE: arguments, one a line."""
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
        fromfile_prefix_chars="@",
    )
    made.add_argument("--log", type=Path, metavar="FILE", help="also write messages to this file")
    return made


def run(main: Callable[[argparse.Namespace], None], arguments: argparse.Namespace) -> None:
    """Run main(arguments): messages to stderr and --log, expected errors as one line, exit 1."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if arguments.log and os.environ.get("TIMESTRIDE_LOG_ONLY"):  # Snakemake shows the log of a program that failed
        handlers[0].addFilter(lambda record: record.levelno == logging.WARNING)
    if arguments.log:
        arguments.log.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(arguments.log, mode="w", encoding="utf-8"))
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=handlers, force=True)
    try:
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
