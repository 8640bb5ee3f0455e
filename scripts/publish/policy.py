"""What lets a page run its own styles and script and nothing else. Not a program."""

import base64
import hashlib


def policy_hash(text: str) -> str:
    """The hash by which a Content-Security-Policy lets a style or a script in the page run."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
