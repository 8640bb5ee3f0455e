"""Bring the files of a model from the hub: from the mirror first, then through huggingface_hub.

So HF_TOKEN, HF_ENDPOINT, HF_HUB_OFFLINE and the user's cache (HF_HOME, HF_HUB_CACHE) work as usual.
Files of the cache are verified like any download, and copied, so the cache does not change.
"""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from huggingface_hub import HfApi, constants, errors, hf_hub_download, hf_hub_url
from huggingface_hub import try_to_load_from_cache
from huggingface_hub.file_download import REGEX_COMMIT_HASH
from huggingface_hub.utils import build_hf_headers, tqdm
from huggingface_hub.utils.sha import git_hash

from scripts.data.files import sha256_of
from scripts.running.program import UserError, log
from scripts.fetch.download import SETTING, Absent, Downloads, NoFile, find, in_mirror, verify
from scripts.fetch.web import MOST, PATIENCE, SLOWEST, NoAnswer, TooLarge, deadline, short

HOST = "https://huggingface.co"  # the host in a mirror's paths, whatever HF_ENDPOINT is
FIRST = 15  # seconds until the hub must have listed a model's files
SMALL = 200_000_000  # bytes that a file beside the weights may have
# errors of a list of files that the hub sent
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
TOKEN = "give your token (`hf auth login`, or HF_TOKEN)"
REMEDIES = {  # of what the hub refuses
    errors.RemoteEntryNotFoundError: (
        "{hub} has no such file at {revision}: name in {pin} the files that it has"
    ),
    errors.GatedRepoError: (
        f"{{hub}} is gated: ask for access at {{place}}/{{hub}}, then {TOKEN}, and fetch again"
    ),
    errors.RepositoryNotFoundError: (
        f"{{place}} shows no model {{hub}}: correct hub in {{pin}} or, if it is private, {TOKEN}"
    ),
    errors.RevisionNotFoundError: "{hub} has no revision {revision}: correct it in {pin}",
}


def longest(file: str) -> int:
    """Return the most bytes that a file without a declared size may have."""
    return MOST if file.endswith(".safetensors") else SMALL


class Bar(tqdm):
    """The progress of one file. It ends the download if more than `most` bytes come."""

    most = MOST
    came = 0  # a hidden bar does not count by itself

    def update(self, n: float | None = 1) -> bool | None:
        self.came += n or 0
        if self.came > self.most:
            raise TooLarge(self.most)
        return super().update(n)


def endpoint() -> str:
    return (os.environ.get("HF_ENDPOINT") or HOST).rstrip("/")


def status_of(error: Exception) -> int | None:
    """Return the status of the hub's answer; None if it did not answer."""
    return getattr(getattr(error.__cause__ or error, "response", None), "status_code", None)


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
    """A model of the hub."""

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

    @cached_property
    def listing(self) -> tuple[str, dict[str, int]]:
        """The commit and the bytes of each file (0: unknown), as the hub lists them. The hub is
        asked once. If it is silent: the entry's revision, and no files.
        """
        revision = self.entry["revision"]
        try:
            with deadline(FIRST):
                api = HfApi(endpoint())
                about = api.model_info(self.where, revision=revision, files_metadata=True)
            sizes = {file.rfilename: int(file.size or 0) for file in about.siblings or ()}
            commit = about.sha or ""
            if not REGEX_COMMIT_HASH.fullmatch(commit):
                raise ValueError("it names no commit")
        except Exception as error:  # several kinds, which differ between versions
            if status_of(error) or isinstance(error, UNREADABLE):
                raise self._refusal(self.name, error) from error
            return revision, {}
        if commit != revision:
            log.info(
                "%s: revision %s is commit %s now: pin it in %s",
                *(self.name, revision, commit, self.downloads.pin),
            )
        return commit, sizes

    @property
    def commit(self) -> str:
        """The commit of the entry's revision; the revision itself if the hub is silent."""
        revision = self.entry["revision"]
        return revision if REGEX_COMMIT_HASH.fullmatch(revision) else self.listing[0]

    def _addresses(self, file: str) -> list[str]:
        """Return the addresses that a mirror may have for a file. The address of a branch
        (resolve/main) is used only if the file's hash is pinned.
        """
        names = [self.entry["revision"], *(["main"] if self.pinned.get(file) else [])]
        return [f"{HOST}/{self.where}/resolve/{name}/{file}" for name in dict.fromkeys(names)]

    def _cached(self, file: str) -> Path | None:
        """Return a file of the user's cache."""
        place = try_to_load_from_cache(
            self.where, file, constants.HF_HUB_CACHE, revision=self.commit
        )
        return Path(place) if isinstance(place, str) else None

    def locate(self, file: str) -> tuple[str | None, int] | None:
        """Return the URL of a file's copy in the mirror or the cache (None if only the hub has the
        file), and its bytes. Return None for a missing file, or if the hub is silent.
        """
        if copied := find(in_mirror(self.downloads.mirror, self._addresses(file))):
            return copied
        if cached := self._cached(file):
            return cached.as_uri(), cached.stat().st_size
        _, sizes = self.listing
        return (None, sizes[file]) if file in sizes else None

    def bring(self, file: str) -> Path:
        """Return the place of a verified file: a copy of the mirror's, or the file in the user's
        cache. Raises NoFile if no place has it, and Absent if the hub does not have it.
        """
        called, sha256, pin = f"{self.name}/{file}", self.pinned.get(file), self.downloads.pin
        try:
            addresses, most = self._addresses(file), longest(file)
            return self.downloads.bring(called, addresses, sha256, most=most, only_mirror=True)
        except NoFile:
            place = damaged = self._cached(file)
        if place is None or not is_whole(place, sha256):
            place = self._download(file, damaged)
        url = f"{endpoint()}/{self.where}/resolve/{place.parent.name}/{file}"
        if sha256 is None and not is_whole(place, None):
            raise UserError(
                f"{called} from {url} does not have the hash that the hub names: try again, or "
                "take another endpoint"
            )
        verify(place, f"{called} from {url}", pin, sha256, None)
        log.info("%s: %s bytes from %s", called, f"{place.stat().st_size:,}", url)
        return place

    def address(self, file: str) -> tuple[str, dict[str, str]]:
        """Return the URL of a file on the hub, and the headers for the request."""
        url = hf_hub_url(self.where, file, revision=self.commit, endpoint=endpoint())
        return url, build_hf_headers()

    def _download(self, file: str, damaged: Path | None) -> Path:
        """Bring a file into the user's cache, in place of a damaged one."""
        called = f"{self.name}/{file}"
        if damaged:
            log.info("%s: the cache holds a wrong file, %s; fetching it again", called, damaged)
        most, limit = self.listing[1].get(file) or longest(file), longest(file)
        try:
            if most > limit:
                raise TooLarge(limit)
            with deadline(PATIENCE + most / SLOWEST):
                place = hf_hub_download(
                    self.where,
                    file,
                    revision=self.commit,
                    endpoint=endpoint(),
                    tqdm_class=type("Bar", (Bar,), {"most": most}),
                    force_download=bool(damaged),
                )
                return Path(place)
        except TooLarge as error:
            raise UserError(
                f"{called}: {endpoint()} sends more than {error}, the size that it declared or "
                "the limit here: the download was stopped and removed; take another endpoint or "
                "model"
            ) from error
        except Exception as error:  # several kinds, which differ between versions
            if isinstance(error, OSError) and error.errno is not None:  # an error of the disk
                error.filename = error.filename or constants.HF_HUB_CACHE
                raise
            raise self._refusal(called, error, damaged) from error

    def _refusal(self, called: str, error: Exception, damaged: Path | None = None) -> UserError:
        """Return the error for the hub's refusal or silence, with a remedy. damaged: the damaged
        file in the cache.
        """
        hub, place = self.where, endpoint()
        if damaged:
            return UserError(
                f"{called}: the cache holds a wrong file, {damaged}, and {place} gives no "
                f"other ({type(error).__name__}): remove it from the cache, or fetch again "
                "where there is a network"
            )
        for kind, remedy in REMEDIES.items():
            if isinstance(error, kind):
                refusal = Absent if kind is errors.RemoteEntryNotFoundError else UserError
                facts = {"revision": self.entry["revision"], "pin": self.downloads.pin}
                return refusal(f"{called}: {remedy.format(hub=hub, place=place, **facts)}")
        status = status_of(error)
        if status in (401, 403):
            return UserError(
                f"{called}: {place} refuses {hub} (HTTP {status}): {TOKEN} that may read it, or "
                "take a wrong one away"
            )
        if isinstance(error, errors.LocalEntryNotFoundError | NoAnswer) and status is None:
            offline = "is not asked, since HF_HUB_OFFLINE is set,"
            silent = offline if constants.is_offline_mode() else "does not answer"
            return NoFile(
                f"{called}: {place} {silent} and neither the mirror nor the cache "
                f"({constants.HF_HUB_CACHE}) has it: set {SETTING} to a place that has "
                "it, set HF_HUB_CACHE to a cache that has it, or fetch where there "
                "is a network"
            )
        reason = f"HTTP {status}" if status else f"{type(error).__name__}: {short(error)}"
        return UserError(
            f"{called}: {place} does not give it ({reason}): try again later, or set {SETTING} to "
            "a place that has it"
        )


def one_file(name: str, wanted: dict, downloads: Downloads) -> Hub:
    """Return a model of which one file is fetched. wanted: {hub, revision, file, sha256}."""
    return Hub(name, wanted | {"files": {wanted["file"]: wanted["sha256"]}}, downloads)
