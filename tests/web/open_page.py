"""A browser in which a test follows links like a reader: Chromium by its DevTools protocol, over a
pipe.
"""

import json
import os
import subprocess
from pathlib import Path

from tests.web.browser import CHROMIUM, OPTIONS


class OpenPage:
    """An open page in a browser; `value` evaluates an expression."""

    def __init__(self, page: Path, folder: Path):
        (told_to, self.to), (self.back, told_by) = os.pipe(), os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        command = [
            "bash",
            "-c",
            f'exec "$@" 3<&{told_to} 4>&{told_by}',
            "bash",
            CHROMIUM,
            *OPTIONS,
            "--remote-debugging-pipe",
            f"--user-data-dir={folder / 'opened'}",
            "about:blank",
        ]
        self.process = subprocess.Popen(
            command, pass_fds=(told_to, told_by), stderr=subprocess.DEVNULL
        )
        os.close(told_to)
        os.close(told_by)
        self.number, self.rest, self.session = 0, b"", None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Page.navigate", url=f"file://{page}")
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def message(self) -> dict:
        """Return the next message of the browser."""
        while b"\0" not in self.rest:
            read = os.read(self.back, 65536)
            assert read, "the browser has ended"
            self.rest += read
        first, self.rest = self.rest.split(b"\0", 1)
        return json.loads(first)

    def ask(self, method: str, **options) -> dict:
        """Send a command and wait for its result."""
        self.number += 1
        whole = {"id": self.number, "method": method, "params": options} | (
            {"sessionId": self.session} if self.session else {}
        )
        os.write(self.to, json.dumps(whole).encode() + b"\0")
        while (answer := self.message()).get("id") != self.number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def value(self, expression: str):
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)[
            "result"
        ].get("value")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        os.close(self.to)
        os.close(self.back)
