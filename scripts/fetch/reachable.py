"""Ask whether all files of a study can be had, without fetching them: in the mirror, else at their own addresses.

Of pretrained models config.json and tokenizer_config.json are brought, a few kilobytes, since they tell the architecture.

Reads  TOLD, JSON: models, sources: the entries of resources/models.yaml and sources.yaml that a study uses, by name; fetched: the
       names of those that are there already
Writes OUTPUT, JSON: missing (a sentence a file), configs ({model: {file: its content}})

Started by `snakemake rehearse`; by hand

    python -m scripts.fetch.reachable --study told.json --output results/rehearse/paper.json
"""

import argparse
import json
from pathlib import Path

from scripts.common.files import whole
from scripts.common.models import CONFIG, INDEX, TOKENIZER_CONFIG, WEIGHTS
from scripts.common.program import UserError, cut, execute, log, parser
from scripts.fetch.download import MIRROR_HELP, check_mirror, in_mirror, size_at
from scripts.fetch.hub import addresses
from scripts.fetch.model_files import read_object
from scripts.fetch.pretrained import origin_in_folder, origin_on_hub


def missing_of_source(name: str, entry: dict, mirror: str | None) -> list[str]:
    """What of a corpus no place has; its samples and local files are looked for by the Snakefile."""
    found = []
    for download in entry.get("downloads", []):
        file = download.get("file") or ", ".join(download.get("members", {}))
        if size_at([*in_mirror(mirror, download["urls"]), *download["urls"]]) is None:
            found.append(f"{name}: {cut(file)} is neither in the mirror nor at {cut(download['urls'][0], 200)}; put it into the mirror")
    return found


def pretrained(name: str, entry: dict, mirror: str | None, partial: Path) -> tuple[dict[str, dict], list[str]]:
    """The configuration files of a model of the hub or of a folder, and what of it is missing."""
    origin = (origin_on_hub if "hub" in entry else lambda *of: origin_in_folder(*of[:-1]))(name, entry, name, partial, mirror)
    pinned, configs = entry.get("files") or {}, {}

    def has(file: str) -> bool:
        """In the mirror under any revision that its hash allows, or at its own place."""
        copies = in_mirror(mirror, addresses(entry["hub"], entry["revision"], file, pinned[file])) if "hub" in entry and file in pinned else []
        return size_at(copies) is not None or origin.has(file)

    try:
        configs[CONFIG] = read_object(name, CONFIG, origin.bring(CONFIG, pinned.get(CONFIG)))
        if has(TOKENIZER_CONFIG):
            configs[TOKENIZER_CONFIG] = read_object(name, TOKENIZER_CONFIG, origin.bring(TOKENIZER_CONFIG, pinned.get(TOKENIZER_CONFIG)))
    except UserError as error:
        return configs, [str(error)]
    weights = [] if has(WEIGHTS) or has(INDEX) else [
        f"{name}: {origin.where} has no {WEIGHTS}, or is out of reach; put it there, into the mirror, or take another model"]
    return configs, weights


def of_model(name: str, entry: dict, mirror: str | None, partial: Path) -> tuple[dict[str, dict], list[str]]:
    """The configuration files of a model, none of one that is written here, and what of it is missing."""
    if "hub" in entry or "folder" in entry:
        return pretrained(name, entry, mirror, partial / name)
    if vectors := entry.get("vectors"):
        there = size_at([*in_mirror(mirror, vectors["urls"]), *vectors["urls"]]) is not None
        return {}, [] if there else [f"{name}: {vectors['file']} is neither in the mirror nor at {vectors['urls'][0]}; put it into the mirror"]
    if wanted := entry.get("tokenizer"):
        there = origin_on_hub(name, wanted, name, partial / name, mirror).has(wanted["file"])
        return {}, [] if there else [f"{name}: {wanted['hub']} has no {wanted['file']}, or is out of reach; put it into the mirror"]
    return {}, []


def main(given: argparse.Namespace) -> None:
    mirror, told = check_mirror(given.mirror), json.loads(given.study.read_text(encoding="utf-8"))
    missing, configs = [], {}
    for name, entry in told["sources"].items():
        missing += [] if name in told["fetched"] else missing_of_source(name, entry, mirror)
    for name, entry in told["models"].items():
        configs[name], lacking = of_model(name, entry, mirror, given.partial)
        missing += lacking
    with whole(given.output) as beside:
        beside.write_text(json.dumps({"missing": missing, "configs": configs}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    log.info("%d corpora and %d models: %s", len(told["sources"]), len(told["models"]),
             f"{len(missing)} files are missing" if missing else "every file can be had")


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    program.add_argument("--study", type=Path, required=True, metavar="TOLD", help="the file that tells of the study")
    program.add_argument("--mirror", default="", metavar="PLACE", help=MIRROR_HELP)
    program.add_argument("--partial", type=Path, default=Path("results/fetch/.partial/asked"), metavar="DIR",
                         help="where the configurations are kept on their way; default: %(default)s")
    program.add_argument("--output", type=Path, required=True, metavar="FILE", help="what to write")
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
