"""A model of the hub: its files come from the mirror first, then through huggingface_hub.

So HF_TOKEN, HF_ENDPOINT, HF_HUB_OFFLINE and the user's cache (HF_HOME, HF_HUB_CACHE) count as everywhere else. What comes is
copied out of the cache, which stays the user's, and verified like any download. huggingface_hub is imported where it is
needed, since that takes a moment.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from scripts.common.files import sha256_of
from scripts.common.program import UserError, log
from scripts.fetch.download import SETTING, Absent, NoFile, download, find, in_mirror
from scripts.fetch.web import MOST, TooLarge, check_room, copy, short

HOST = "https://huggingface.co"  # what a mirror has its files under, whatever HF_ENDPOINT is
SMALL = 200_000_000  # bytes that a file beside the weights may have


class Bar(tqdm):
    """The progress of one file, which ends the download where more than `most` bytes come."""

    most = MOST

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options | {"disable": None})
        self.came = options.get("initial") or 0

    def update(self, n: float | None = 1) -> bool | None:
        self.came += n or 0
        if self.came > self.most:
            raise TooLarge(self.most)
        return super().update(n)


def endpoint() -> str:
    """Where the hub is: HF_ENDPOINT, else huggingface.co."""
    return (os.environ.get("HF_ENDPOINT") or HOST).rstrip("/")


def is_whole(file: Path, sha256: str | None) -> bool:
    """Whether a file of the cache is the one wanted or, where none is pinned, the one that it was stored as.

    The cache stores a file under the hub's own hash of it: sha256 for large files, git's for the others.
    """
    from huggingface_hub.utils.sha import git_hash

    stored = file.resolve().name
    if sha256 or len(stored) == 64:
        return sha256_of(file) == (sha256 or stored)
    return len(stored) != 40 or git_hash(file.read_bytes()) == stored


@dataclass(frozen=True)
class Hub:
    """A model of the hub. pin: where its hashes are written down, for messages; pinned: {file: sha256}."""

    name: str
    where: str
    revision: str
    pinned: dict[str, str | None]
    pin: str
    partial: Path
    mirror: str | None

    def _addresses(self, file: str) -> list[str]:
        """Where a mirror may have a file: a branch's (resolve/main) stands for the commit's only where the hash is pinned."""
        revisions = dict.fromkeys([self.revision, *(["main"] if self.pinned.get(file) else [])])
        return [f"{HOST}/{self.where}/resolve/{revision}/{file}" for revision in revisions]

    def _mirrored(self, file: str) -> tuple[str, int] | None:
        return find(in_mirror(self.mirror, self._addresses(file)))

    def _load(self, file: str, **options):
        from huggingface_hub import hf_hub_download

        return hf_hub_download(self.where, file, revision=self.revision, endpoint=endpoint(), **options)

    def _about(self, file: str):
        """What huggingface_hub says of a file without bringing it (file_size, is_cached); None where it cannot say."""
        try:
            return self._load(file, dry_run=True)
        except Exception:  # of several kinds; who brings the file says why
            return None

    def has(self, file: str) -> bool:
        """Whether the mirror, the cache or the hub has a file."""
        return bool(self._mirrored(file) or self._about(file))

    def room(self, files: Iterable[str]) -> dict[Path, int]:
        """The bytes that files need: in the user's cache where they are not there yet, and here; {folder: bytes}.

        A file of unknown size counts as nothing.
        """
        from huggingface_hub import constants

        here = cache = 0
        for file in files:
            if found := self._mirrored(file):
                here += found[1]
            elif about := self._about(file):
                here += about.file_size or 0
                cache += 0 if about.is_cached else about.file_size or 0
        return {self.partial: here, Path(constants.HF_HUB_CACHE): cache}

    def bring(self, file: str) -> Path:
        """A verified file; returns its place under `partial`. Raises NoFile, and Absent where the hub has none."""
        return download(f"{self.name}/{file}", self._addresses(file), self.pinned.get(file), self.pin, self.partial, self.mirror,
                        most=None if file.endswith(".safetensors") else SMALL, otherwise=lambda part: self._write(file, part))

    def place_of(self, file: str) -> str | None:
        """The URL of a copy of a file in the mirror or the cache; None where only the hub has it."""
        if found := self._mirrored(file):
            return found[0]
        about = self._about(file)
        return Path(about.local_path).as_uri() if about and about.is_cached else None

    def metadata(self, file: str):
        """The header of a safetensors file on the hub, by a range request. Raises UserError for whatever the hub refuses."""
        from huggingface_hub import HfApi

        try:
            return HfApi(endpoint=endpoint()).parse_safetensors_file_metadata(self.where, file, revision=self.revision)
        except Exception as error:  # of several kinds, which differ between versions of huggingface_hub
            raise self._refusal(f"{self.name}/{file}", error) from error

    def _write(self, file: str, part: Path) -> str:
        """Write a file out of the user's cache, or through it, to `part`; returns from where it came.

        Raises NoFile where there is none, UserError for everything else that the hub refuses.
        """
        from huggingface_hub import constants

        called, sha256, cached = f"{self.name}/{file}", self.pinned.get(file), None
        most = MOST if file.endswith(".safetensors") else SMALL
        try:
            about = self._load(file, dry_run=True)
            declared = 0 if about.is_cached else about.file_size or 0  # of a cached file its own, which may be damaged
            if declared > most:
                raise TooLarge(most)
            check_room(called, {part.parent: declared})
            bar = type("Bar", (Bar,), {"most": declared or most})
            cached = Path(self._load(file, tqdm_class=bar))
            if about.is_cached and not is_whole(cached, sha256):
                log.info("%s: %s, in the cache, is not the file that it must be; fetching it anew", called, cached)
                cached = Path(self._load(file, tqdm_class=bar, force_download=True))
        except UserError:
            raise
        except TooLarge as error:
            raise UserError(f"{called}: {endpoint()} sends more than the {int(str(error)):,} bytes that it declared or that are "
                            "taken here: it was stopped and removed; take another endpoint or model") from error
        except Exception as error:  # of several kinds, which differ between versions of huggingface_hub
            if isinstance(error, OSError) and error.errno is not None:  # the device's, not the hub's
                error.filename = error.filename or constants.HF_HUB_CACHE
                raise
            raise self._refusal(called, error, cached) from error
        if sha256 is None and not is_whole(cached, None):
            raise UserError(f"{called}: what {endpoint()} sends is not what the hub names by its hash: try again, or take "
                            "another endpoint")
        commit = cached.parent.name
        if self.revision != commit:
            log.info("%s: revision %s is commit %s now: pin it in %s", called, self.revision, commit, self.pin)
        copy(cached, part, called, None)
        return f"{endpoint()}/{self.where}/resolve/{commit}/{file}"

    def _refusal(self, called: str, error: Exception, damaged: Path | None = None) -> UserError:
        """What the hub's refusal or silence means, in one sentence with its remedy. damaged: what the cache has in its place."""
        from huggingface_hub import constants, errors

        hub, place = self.where, endpoint()
        if damaged:
            return UserError(f"{called}: {damaged}, in the cache, is not the file that it must be, and {place} gives no other "
                             f"({type(error).__name__}): remove it there, or fetch again where there is a network")
        token = "give your token (`hf auth login`, or HF_TOKEN)"
        status = getattr(getattr(error.__cause__ or error, "response", None), "status_code", None)
        if isinstance(error, errors.LocalEntryNotFoundError) and status is None:
            offline = "is not asked, since HF_HUB_OFFLINE is set," if constants.is_offline_mode() else "does not answer"
            return NoFile(f"{called}: {place} {offline} and neither the mirror nor the cache ({constants.HF_HUB_CACHE}) has it: set "
                          f"{SETTING} to a place that has it, name with HF_HUB_CACHE a cache that has it, or fetch where "
                          "there is a network")
        if isinstance(error, errors.RemoteEntryNotFoundError):
            return Absent(f"{called}: {hub} has no such file at {self.revision}: name in {self.pin} the files that it has")
        known = {
            errors.GatedRepoError: f"{hub} is gated: ask for access at {place}/{hub}, then {token}, and fetch again",
            errors.RepositoryNotFoundError: f"{place} shows no model {hub}: correct hub in {self.pin} or, if it is private, {token}",
            errors.RevisionNotFoundError: f"{hub} has no revision {self.revision}: correct it in {self.pin}",
        }
        why = next((text for kind, text in known.items() if isinstance(error, kind)), None)
        if why is None and status in (401, 403):
            why = f"{place} refuses {hub} (HTTP {status}): {token} that may read it, or take a wrong one away"
        if why is None:
            said = f"HTTP {status}" if status else f"{type(error).__name__}: {short(error)}"
            why = f"{place} does not give it ({said}): try again later, or set {SETTING} to a place that has it"
        return UserError(f"{called}: {why}")


def hub_model(name: str, entry: dict, pin: str, partial: Path, mirror: str | None) -> Hub:
    """The model that an entry names; in {hub, revision, file, sha256} it is one file."""
    pinned = {entry["file"]: entry["sha256"]} if "file" in entry else entry.get("files") or {}
    return Hub(name, entry["hub"], entry["revision"], pinned, pin, partial, mirror)
