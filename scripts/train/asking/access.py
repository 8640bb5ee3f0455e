"""The address of a server, its key, and the headers that carry it. Not a program."""

import os
import re
from urllib.parse import urlsplit, urlunsplit

import requests

from scripts.running.program import UserError

SHORTEST_SECRET = 8  # signs; a shorter key (`none`, `EMPTY`) is a word that answers may hold


def key_in(variable: str | None, address: str) -> str | None:
    """Return the key from the environment. Raises UserError if it is not set, or cannot be sent."""
    if not variable:
        return None
    if not (key := os.environ.get(variable, "").strip()):
        raise UserError(
            f"{address}: the environment variable {variable} is not set; put the API key there"
        )
    if not re.fullmatch("[!-~]+", key):
        raise UserError(
            f"{address}: the environment variable {variable} holds a space, a line break or a sign "
            "that is not ASCII, so no request can carry it; put the API key alone there"
        )
    return key


def address_of(api: str, path: str) -> str:
    """The address of a request: the path behind the entry's address, its query at the end."""
    parts = urlsplit(api)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path))


class KeyHeaders(requests.auth.AuthBase):
    """The key in its header, or in the headers of the entry that name it. With it, requests never
    takes a key from ~/.netrc.
    """

    def __init__(self, key: str | None, headers: dict[str, str]):
        self.headers = {
            name: text.strip().replace("{key}", key or "") for name, text in headers.items()
        }
        if broken := [name for name, text in self.headers.items() if not text.isprintable()]:
            raise UserError(f"headers: {broken[0]} holds a line break; write it on one line")
        if key and not any("{key}" in text for text in headers.values()):
            self.headers["Authorization"] = f"Bearer {key}"

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.update(self.headers)
        return request


def without_key(text: str, key: str | None) -> str:
    """A text without the key."""
    return text.replace(key, "…") if key and len(key) >= SHORTEST_SECRET else text
