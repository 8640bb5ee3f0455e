"""Bring a file of a hub model: from the mirror first, then through huggingface_hub.

So HF_TOKEN, HF_ENDPOINT, HF_HUB_OFFLINE and the user's cache (HF_HOME, HF_HUB_CACHE) count as everywhere else. What comes is
copied out of the cache, which stays the user's, and verified like any download.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from scripts.common.files import sha256_of
from scripts.common.program import UserError, log
from scripts.fetch.download import SETTING, Absent, NoFile, download, in_mirror, size_at
from scripts.fetch.web import MOST, TooLarge, check_room, named

HOST = "https://huggingface.co"  # what a mirror has its files under, whatever HF_ENDPOINT is
SMALL = 200_000_000  # bytes that a file beside the weights may have
PICKLE = "pytorch_model.bin"


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
    if sha256:
        return sha256_of(file) == sha256
    stored = file.resolve().name
    if len(stored) == 64:
        return sha256_of(file) == stored
    if len(stored) == 40:
        content = file.read_bytes()
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() == stored
    return True


def _refusal(called: str, hub: str, revision: str, pin: str, error: Exception, damaged: Path | None) -> UserError:
    """What the hub's refusal or silence means, in one sentence with its remedy.

    damaged: what the cache has in its place.
    """
    from huggingface_hub import constants, errors

    place = endpoint()
    if damaged:
        return UserError(f"{called}: {damaged}, in the cache, is not the file that it must be, and {place} gives no other "
                         f"({type(error).__name__}): remove it there, or fetch again where there is a network")
    token = "give your token (`hf auth login`, or HF_TOKEN)"
    if isinstance(error, errors.GatedRepoError):
        return UserError(f"{called}: {hub} is gated: ask for access at {place}/{hub}, then {token}, and fetch again")
    if isinstance(error, errors.RepositoryNotFoundError):
        return UserError(f"{called}: {place} shows no model {hub}: correct hub in {pin} or, if it is private, {token}")
    if isinstance(error, errors.RevisionNotFoundError):
        return UserError(f"{called}: {hub} has no revision {revision}: correct it in {pin}")
    if isinstance(error, errors.RemoteEntryNotFoundError):
        return Absent(f"{called}: {hub} has no such file at {revision}: name in {pin} the files that it has")
    status = getattr(getattr(error.__cause__ or error, "response", None), "status_code", None)
    if isinstance(error, errors.LocalEntryNotFoundError) and status is None:
        offline = "is not asked, since HF_HUB_OFFLINE is set,"
        why = f"{place} {offline if constants.is_offline_mode() else 'does not answer'}"
        return NoFile(f"{called}: {why} and neither the mirror nor the cache ({constants.HF_HUB_CACHE}) has it: set "
                      f"{SETTING} to a place that has it, name with HF_HUB_CACHE a cache that has it, or fetch where "
                      "there is a network")
    if status in (401, 403):
        return UserError(f"{called}: {place} refuses {hub} (HTTP {status}): {token} that may read it, or take a wrong one "
                         "away")
    why = f"HTTP {status}" if status else f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return UserError(f"{called}: {place} does not give it ({why}): try again later, or set {SETTING} to a place that has it")


def from_hub(called: str, file: str, hub: str, revision: str, sha256: str | None, pin: str, part: Path) -> str:
    """Write a file of the hub, out of the user's cache or through it, to `part`; returns from where it came.

    Raises NoFile where there is none, UserError for everything else that the hub refuses.
    """
    from huggingface_hub import constants, hf_hub_download  # takes a moment, and only hub models need it

    cached, most = None, MOST if file.endswith(".safetensors") else SMALL
    try:
        told = hf_hub_download(hub, file, revision=revision, endpoint=endpoint(), dry_run=True)
        declared = 0 if told.is_cached else told.file_size or 0  # of a cached file its own, which may be damaged
        if declared > most:
            raise TooLarge(most)
        check_room(part, called, declared)
        bar = type("Bar", (Bar,), {"most": declared or most})
        for again in (False, True):
            cached = Path(hf_hub_download(hub, file, revision=revision, endpoint=endpoint(), tqdm_class=bar,
                                          force_download=again))
            if again or not told.is_cached or is_whole(cached, sha256):
                break
            log.info("%s: %s, in the cache, is not the file that it must be; fetching it anew", called, cached)
    except UserError:
        raise
    except TooLarge as error:
        raise UserError(f"{called}: {endpoint()} sends more than the {int(str(error)):,} bytes that it declared or that are "
                        "taken here: it was stopped and removed; take another endpoint or model") from error
    except OSError as error:
        if error.errno is None:
            raise _refusal(called, hub, revision, pin, error, cached) from error
        error.filename = error.filename or constants.HF_HUB_CACHE
        raise  # the device's, not the hub's
    except Exception as error:  # of several kinds, which differ between versions of huggingface_hub
        raise _refusal(called, hub, revision, pin, error, cached) from error
    if sha256 is None and not is_whole(cached, None):
        raise UserError(f"{called}: what {endpoint()} sends is not what the hub names by its hash: try again, or take "
                        "another endpoint")
    commit = cached.parent.name
    if revision != commit:
        log.info("%s: revision %s is commit %s now: pin it in %s", called, revision, commit, pin)
    check_room(part, called, cached.stat().st_size)
    try:
        with named(part), open(cached, "rb") as source, open(part, "wb") as target:
            shutil.copyfileobj(source, target)
    except BaseException:  # it is copied anew each time, so that what is here would only take space
        part.unlink(missing_ok=True)
        raise
    return f"{endpoint()}/{hub}/resolve/{commit}/{file}"


def addresses(hub: str, revision: str, file: str, sha256: str | None) -> list[str]:
    """Where a mirror may have a file: a branch's (resolve/main) stands for the commit's only where the hash is pinned."""
    return [f"{HOST}/{hub}/resolve/{name}/{file}" for name in dict.fromkeys([revision, *(["main"] if sha256 else [])])]


def hub_file(model: str, file: str, hub: str, revision: str, sha256: str | None, pin: str, partial: Path,
             mirror: str | None) -> Path:
    """A verified file of a hub model; returns its place under `partial`. Raises NoFile, and Absent where the hub says that there
    is none."""
    called = f"{model}/{file}"
    return download(called, addresses(hub, revision, file, sha256), sha256, pin, partial, mirror,
                    most=None if file.endswith(".safetensors") else SMALL,
                    otherwise=lambda part: from_hub(called, file, hub, revision, sha256, pin, part))


def told_of(hub: str, revision: str, file: str):
    """What huggingface_hub says of a file without bringing it (file_size, is_cached); None where it cannot say."""
    from huggingface_hub import hf_hub_download

    try:
        return hf_hub_download(hub, file, revision=revision, endpoint=endpoint(), dry_run=True)
    except Exception:  # of several kinds; who brings the file tells why
        return None


def hub_has(hub: str, revision: str, file: str, mirror: str | None) -> bool:
    """Whether a model of the hub, or its copy in the mirror or the cache, has a file."""
    return size_at(in_mirror(mirror, addresses(hub, revision, file, None))) is not None or told_of(hub, revision, file) is not None


def hub_room(files: dict[str, str | None], hub: str, revision: str, partial: Path, mirror: str | None) -> dict[Path, int]:
    """The bytes that files of a hub model need: in the user's cache where they are not there yet, and here; {folder: bytes}.

    files: {name: sha256}. What nobody tells counts as nothing.
    """
    from huggingface_hub import constants

    here = cache = 0
    for file, sha256 in files.items():
        mirrored = size_at(in_mirror(mirror, addresses(hub, revision, file, sha256)))
        told = told_of(hub, revision, file) if mirrored is None else None
        here += mirrored or (told and told.file_size) or 0
        cache += told.file_size or 0 if told and not told.is_cached else 0
    return {partial: here, Path(constants.HF_HUB_CACHE): cache}


def headers_from_hub(called: str, hub: str, revision: str, pin: str, check_names: Callable[[set[str]], None]):
    """The headers of a model's weights on the hub, by range requests, as huggingface_hub tells them.

    check_names: refuses a model by the names of its files. Raises UserError for whatever the hub refuses.
    """
    from huggingface_hub import HfApi

    api = HfApi(endpoint=endpoint())
    try:
        check_names(set(api.list_repo_files(hub, revision=revision)))
        return api.get_safetensors_metadata(hub, revision=revision)
    except UserError:
        raise
    except Exception as error:  # of several kinds, which differ between versions of huggingface_hub
        raise _refusal(called, hub, revision, pin, error, None) from error
