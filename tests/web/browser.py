"""Chromium, without a network."""

import shutil
import subprocess

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
