"""Chromium without a network."""

import json
import re
import shutil
import subprocess
from urllib.parse import unquote

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --enable-logging=stderr --v=0"
).split() + ["--host-resolver-rules=MAP * ~NOTFOUND"]


def browse(page, folder, width: int, *options: str) -> subprocess.CompletedProcess:
    """Open a page in a window of the given width."""
    command = [
        CHROMIUM,
        *OPTIONS,
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={width},900",
        *options,
        f"file://{page}",
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def found_on(page, folder, script: str, width: int = 1280, *options: str):
    """Return the value of `found` after a script, which runs when the page has loaded. The page is
    a copy, since the original's policy allows no other script.
    """
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    copy = page.with_name("found.html")
    copy.write_text(
        html.replace(
            "</body>",
            f"""<script>addEventListener("load", () => {{ let found = null; {script}
      document.title = "FOUND" + encodeURIComponent(JSON.stringify(found)) + "END"; }});</script></body>""",
        )
    )
    done = browse(copy, folder, width, "--dump-dom", *options)
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    return json.loads(unquote(re.search(r"FOUND(.*?)END", done.stdout)[1]))
