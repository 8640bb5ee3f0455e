"""The programs. Imports and planning take seconds: Ctrl-C ends these, too, with one line."""

import sys
from types import TracebackType

_otherwise = sys.excepthook


def _say(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):  # Python then ends itself by the signal, as exit 130
        print("error: stopped by Ctrl-C; give the same command again", file=sys.stderr)
    else:
        _otherwise(kind, error, trace)


sys.excepthook = _say
