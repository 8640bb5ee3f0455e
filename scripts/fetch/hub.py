"""Bring the files of a model from the hub: from the mirror first, then through huggingface_hub.

So HF_TOKEN, HF_ENDPOINT, HF_HUB_OFFLINE and the user's cache (HF_HOME, HF_HUB_CACHE) work as usual.
Files are copied from the cache, so the cache does not change. They are verified like any download.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from huggingface_hub import constants, errors, hf_hub_download, hf_hub_url
from huggingface_hub.utils import build_hf_headers, tqdm
from huggingface_hub.utils.sha import git_hash

from scripts.data.files import sha256_of
from scripts.plan.models import CONFIG, GENERATION, INDEX, TOKENIZER_CONFIG
from scripts.running.program import UserError, log
from scripts.fetch.download import SETTING, Absent, Downloads, NoFile, find, in_mirror
from scripts.fetch.web import (
    LONGEST_JSON,
    MOST,
    PATIENCE,
    SLOWEST,
    NoAnswer,
    TooLarge,
    check_room,
    copy,
    deadline,
    short,
)

HOST = "https://huggingface.co"  # the host in a mirror's paths, whatever HF_ENDPOINT is
FIRST = 15  # seconds until the hub must have answered one question
SMALL = 200_000_000  # bytes that a file beside the weights may have


def longest(file: str) -> int:
    """Return the most bytes that a file without a declared size may have."""
    if file.endswith(".safetensors"):
        return MOST
    return LONGEST_JSON if file in (CONFIG, GENERATION, INDEX, TOKENIZER_CONFIG) else SMALL


class Bar(tqdm):
    """The progress of one file. It ends the download if more than `most` bytes come."""

    most = MOST

    def update(self, n: float | None = 1) -> bool | None:
        self.n += n if self.disable else 0  # a hidden bar does not count by itself
        shown = super().update(n)
        if self.n > self.most:
            raise TooLarge(self.most)
        return shown


def endpoint() -> str:
    return (os.environ.get("HF_ENDPOINT") or HOST).rstrip("/")


def is_whole(file: Path, sha256: str | None) -> bool:
    """Return whether a file of the cache has the pinned hash. Without a pinned hash: whether it has
    the hub's own hash, which is its name in the cache (sha256 for large files, git's for others).
    """
    stored = file.resolve().name
    if sha256 or len(stored) == 64:
        return sha256_of(file) == (sha256 or stored)
    return len(stored) != 40 or git_hash(file.read_bytes()) == stored


@dataclass(frozen=True)
class Origin:
    """The origin of a model's files. Its subclasses Hub and Folder have where, place_of()
    and is_gguf (for messages), locate() and bring(). entry: from resources/models.yaml.
    """

    name: str
    entry: dict
    downloads: Downloads

    @property
    def pinned(self) -> dict[str, str | None]:
        """The files that the entry names, with their sha256; empty if it names no files."""
        return self.entry.get("files") or {}


@dataclass(frozen=True)
class Hub(Origin):
    """A model of the hub. answered: the files of which the hub said whether it has them. failed:
    the error of a request before the first answer. Then only the cache is searched, because each of
    ten names would take as long.
    """

    answered: list[str] = field(default_factory=list)
    failed: list[Exception] = field(default_factory=list)

    @property
    def where(self) -> str:
        return self.entry["hub"]

    def place_of(self, file: str) -> str:
        """Return where a file lies after `hf download`, for messages."""
        return f'"$(hf download --quiet {self.where})"/{file}'

    @property
    def is_gguf(self) -> bool:
        """By its name: a mirror cannot list files."""
        return "gguf" in self.where.lower()

    def _addresses(self, file: str) -> list[str]:
        """Return the addresses that a mirror may have for a file. The address of a branch
        (resolve/main) is used only if the file's hash is pinned.
        """
        names = [self.entry["revision"], *(["main"] if self.pinned.get(file) else [])]
        return [f"{HOST}/{self.where}/resolve/{name}/{file}" for name in dict.fromkeys(names)]

    def _load(self, file: str, seconds: float = PATIENCE, **options):
        with deadline(seconds):
            return hf_hub_download(
                self.where, file, revision=self.entry["revision"], endpoint=endpoint(), **options
            )

    def locate(self, file: str) -> tuple[str | None, int] | None:
        """Return the URL of a file's copy in the mirror or the cache (None if only the hub has the
        file), and its bytes. Return None for a missing file, or if the hub never answers. Raises
        UserError if it answered before, since then the file may be there.
        """
        if found := find(in_mirror(self.downloads.mirror, self._addresses(file))):
            return found
        try:
            seconds = PATIENCE if self.answered else FIRST
            about = self._load(file, seconds, dry_run=True, local_files_only=bool(self.failed))
        except errors.RemoteEntryNotFoundError:
            self.answered.append(file)
            return None
        except Exception as error:  # several kinds
            if self.answered:
                raise self._refusal(f"{self.name}/{file}", error) from error
            self.failed.append(error)  # bring() reports it
            return None
        if not about.is_cached:
            self.answered.append(file)
        return Path(about.local_path).as_uri() if about.is_cached else None, about.file_size or 0

    def bring(self, file: str) -> Path:
        """Return a verified file under `partial`. Raises NoFile, and Absent if the hub does not
        have the file.
        """
        return self.downloads.bring(
            f"{self.name}/{file}",
            self._addresses(file),
            self.pinned.get(file),
            most=None if file.endswith(".safetensors") else longest(file),
            otherwise=lambda part: self._write(file, part),
        )

    def address(self, file: str) -> tuple[str, dict[str, str]]:
        """Return the URL of a file on the hub, and the headers for the request."""
        revision = self.entry["revision"]
        url = hf_hub_url(self.where, file, revision=revision, endpoint=endpoint())
        return url, build_hf_headers()

    def _write(self, file: str, part: Path) -> str:
        """Copy a file from the user's cache to `part`; download it into the cache first if needed.
        Return its URL. Raises NoFile if no place has it, UserError for every other refusal of the
        hub.
        """
        called, sha256, cached = f"{self.name}/{file}", self.pinned.get(file), None
        most = longest(file)
        try:
            about = self._load(file, dry_run=True, local_files_only=bool(self.failed))
            # A cached file states its own size, and it may be damaged.
            declared = 0 if about.is_cached else about.file_size or 0
            if declared > most:
                raise TooLarge(most)
            check_room(called, {part.parent: declared})
            bar = type("Bar", (Bar,), {"most": declared or most})
            seconds = PATIENCE + (declared or most) / SLOWEST
            cached = Path(self._load(file, seconds, tqdm_class=bar))
            if about.is_cached and not is_whole(cached, sha256):
                log.info("%s: the cache holds a wrong file, %s; fetching it again", called, cached)
                cached = Path(self._load(file, seconds, tqdm_class=bar, force_download=True))
        except UserError:
            raise
        except TooLarge as error:
            raise UserError(
                f"{called}: {endpoint()} sends more than {error}, the size "
                "that it declared or the limit here: the download was stopped and removed; "
                "take another endpoint or model"
            ) from error
        except Exception as error:  # several kinds, which differ between versions
            if isinstance(error, OSError) and error.errno is not None:  # an error of the disk
                error.filename = error.filename or constants.HF_HUB_CACHE
                raise
            raise self._refusal(called, [*self.failed, error][0], cached) from error
        if sha256 is None and not is_whole(cached, None):
            raise UserError(
                f"{called}: the file from {endpoint()} does not have the hash that the hub "
                "names: try again, or take another endpoint"
            )
        commit = cached.parent.name
        if self.entry["revision"] != commit:
            log.info(
                "%s: revision %s is commit %s now: pin it in %s",
                called,
                self.entry["revision"],
                commit,
                self.downloads.pin,
            )
        copy(cached, part, called, None)
        return f"{endpoint()}/{self.where}/resolve/{commit}/{file}"

    def _refusal(self, called: str, error: Exception, damaged: Path | None = None) -> UserError:
        """Return the error for the hub's refusal or silence, with a remedy. damaged: the damaged
        file in the cache.
        """
        hub, revision, place = self.where, self.entry["revision"], endpoint()
        pin = self.downloads.pin
        if damaged:
            return UserError(
                f"{called}: the cache holds a wrong file, {damaged}, and {place} gives no "
                f"other ({type(error).__name__}): remove it from the cache, or fetch again "
                "where there is a network"
            )
        token = "give your token (`hf auth login`, or HF_TOKEN)"
        status = getattr(getattr(error.__cause__ or error, "response", None), "status_code", None)
        if isinstance(error, errors.LocalEntryNotFoundError | NoAnswer) and status is None:
            offline = (
                "is not asked, since HF_HUB_OFFLINE is set,"
                if constants.is_offline_mode()
                else "does not answer"
            )
            return NoFile(
                f"{called}: {place} {offline} and neither the mirror nor the cache "
                f"({constants.HF_HUB_CACHE}) has it: set {SETTING} to a place that has "
                "it, set HF_HUB_CACHE to a cache that has it, or fetch where there "
                "is a network"
            )
        if isinstance(error, errors.RemoteEntryNotFoundError):
            return Absent(
                f"{called}: {hub} has no such file at {revision}: name in {pin} the "
                "files that it has"
            )
        known = {
            errors.GatedRepoError: (
                f"{hub} is gated: ask for access at {place}/{hub}, then {token}, and fetch again"
            ),
            errors.RepositoryNotFoundError: (
                f"{place} shows no model {hub}: correct hub in {pin} or, if it is private, {token}"
            ),
            errors.RevisionNotFoundError: (
                f"{hub} has no revision {revision}: correct it in {pin}"
            ),
        }
        why = next((text for kind, text in known.items() if isinstance(error, kind)), None)
        if why is None and status in (401, 403):
            why = (
                f"{place} refuses {hub} (HTTP {status}): {token} that may read it, or take a "
                "wrong one away"
            )
        if why is None:
            said = f"HTTP {status}" if status else f"{type(error).__name__}: {short(error)}"
            why = (
                f"{place} does not give it ({said}): try again later, or set {SETTING} to a "
                "place that has it"
            )
        return UserError(f"{called}: {why}")


def one_file(name: str, wanted: dict, downloads: Downloads) -> Hub:
    """Return a model of which one file is fetched. wanted: {hub, revision, file, sha256}."""
    return Hub(name, wanted | {"files": {wanted["file"]: wanted["sha256"]}}, downloads)
