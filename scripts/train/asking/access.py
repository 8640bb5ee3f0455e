"""The address of a server, its key, and the headers that carry it. Not a program."""

import os
import re
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import requests

from scripts.running.program import UserError

# a key that is a word or a few signs (`none`, `EMPTY`) is no secret, and answers may hold it
NO_SECRET = re.compile(r"[A-Za-z]{0,7}|.{0,3}")
# in a message: the query of an address, and the user before its host
IN_ADDRESS = re.compile(r"(?<=[?&])[\w.~%-]+=[^\s'\"<>)]*|(?<=://)[^\s/@]+(?=@)")


def key_in(variable: str | None) -> str | None:
    """Return the key from the environment. Raises UserError if it is not set, or cannot be sent."""
    if not variable:
        return None
    if not (key := os.environ.get(variable, "").strip()):
        raise UserError(f"the environment variable {variable} is not set; put the API key there")
    if not re.fullmatch("[!-~]+", key):
        raise UserError(
            f"the environment variable {variable} holds a space, a line break or a sign that is "
            "not ASCII, so no request can carry it; put the API key alone there"
        )
    return key


def address_of(api: str, path: str) -> str:
    """The address of a request: the path behind the entry's address, its query at the end. Raises
    UserError for an address that no request can have.
    """
    try:
        parts = urlsplit(api)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        whole = None
    if not whole:
        raise UserError(
            f"{without_query(api)}: is not an address of http or https; correct `api` of the "
            "model's entry, such as https://api.openai.com/v1"
        )
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


def pattern_of(secret: str, any_case: bool = True) -> str:
    """A pattern of a secret as it is, in capitals or small letters, or with signs escaped as JSON,
    an address or HTML does.
    """

    def forms(sign: str) -> str:
        return (
            rf"\\{{0,7}}{re.escape(sign)}|(?i:\\{{1,7}}(?:u00|x){ord(sign):02x}"
            rf"|%(?:25){{0,3}}{ord(sign):02x}|&#(?:0{{0,5}}{ord(sign)}|x0{{0,5}}{ord(sign):x});)"
        )

    signs = [dict.fromkeys([sign, *sign.swapcase()][: 1 + any_case]) for sign in secret]
    return "".join(f"(?:{'|'.join(map(forms, cases))})" for cases in signs)


class Secrets:
    """Hides a key, and the values in an address's query, in texts of a server and in messages."""

    def __init__(self, key: str | None, address: str):
        values = [value for name, value in parse_qsl(urlsplit(address).query) if value[7:]]
        self.is_secret = bool(key) and not NO_SECRET.fullmatch(key or "")
        self.key = re.compile(pattern_of(key or ""))
        short = [pattern_of(key, any_case=False)] if key and not self.is_secret else []
        inner = "|".join([*short, *map(pattern_of, values)])
        self.all = re.compile(rf"(?<!\w)(?:{inner})(?!\w)" if inner else r"(?!)")

    def out_of_answer(self, text: str) -> str:
        """What a server writes, without the key, unless the key is a word that answers hold."""
        return self.key.sub("…", text) if self.is_secret else text

    def out_of_message(self, text: str) -> str:
        """A message without the key, and without the query of an address."""
        return without_query(self.all.sub("…", self.out_of_answer(text)))


def without_query(text: str) -> str:
    """A text whose addresses have no values in their query, and no user."""
    return IN_ADDRESS.sub("…", text)
