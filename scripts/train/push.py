"""Put kept weights (`keep:` in the configuration) on huggingface.co, with their model card. No rule does this.

Reads  WEIGHTS/, a folder of results/train/kept/, whole as training wrote it; the token that `hf auth login` or HF_TOKEN gives
Writes huggingface.co/ORG/NAME, private unless --public

    python -m scripts.train.push --weights results/train/kept/minilm-train-seed-1-0123456789ab --to ORG/NAME --dry-run
"""

import argparse
import json
import re
from pathlib import Path

from scripts.common.files import sha256_of
from scripts.common.program import UserError, execute, log, parser
from scripts.train.kept import FACTS


def files_to_push(weights: Path) -> list[Path]:
    """The files of kept weights but kept.json. Raises UserError for a folder that training has not written, or not so."""
    try:
        hashes = json.loads((weights / FACTS).read_text(encoding="utf-8"))["sha256"]
        files = [weights / name for name in hashes]
    except FileNotFoundError:
        raise UserError(f"{weights / FACTS}: no such file, so this is no folder of kept weights; name one of results/train/kept/, which "
                        "`keep: best` makes") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UserError(f"{weights / FACTS}: is damaged; remove {weights}, and train again") from None
    for name, digest in hashes.items():
        if not (weights / name).is_file() or sha256_of(weights / name) != digest:
            raise UserError(f"{weights / name}: is not as training wrote it; remove {weights}, and train again")
    return files


def repository(text: str) -> str:
    """The type of an argument that is ORG/NAME."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not ORG/NAME")
    return text


def main(given: argparse.Namespace) -> None:
    files = files_to_push(given.weights)
    for file in files:
        log.info("%s, %s bytes", file.name, f"{file.stat().st_size:,}")
    if given.dry_run:
        log.info("dry run: nothing is sent; %d files would go to huggingface.co/%s, %s", len(files), given.to,
                 "for all to see" if given.public else "private")
        return
    import huggingface_hub  # late: takes a second

    try:
        hub = huggingface_hub.HfApi()
        hub.create_repo(given.to, private=not given.public, exist_ok=True)
        hub.upload_folder(repo_id=given.to, folder_path=given.weights, allow_patterns=[file.name for file in files],
                          commit_message="Weights and model card by timestride")
    except Exception as error:  # of many kinds: no token, no network, no such organisation
        raise UserError(f"{given.to}: could not be written ({' '.join(str(error).split())[:300]}); check the network, the name, and the token "
                        "(`hf auth login`, or HF_TOKEN)") from error
    log.info("%d files are in https://huggingface.co/%s", len(files), given.to)


def arguments() -> argparse.ArgumentParser:
    push = parser(__doc__)
    push.add_argument("--weights", type=Path, required=True, help="a folder of results/train/kept/")
    push.add_argument("--to", type=repository, required=True, metavar="ORG/NAME", help="the repository, made where it is not there")
    push.add_argument("--public", action="store_true", help="make a new repository one that all can see")
    push.add_argument("--dry-run", action="store_true", help="check the files and say what would be sent")
    return push


if __name__ == "__main__":
    execute(main, arguments().parse_args())
