"""Check whether all files of a study can be fetched: from the mirror,
else from their own addresses. The files are not fetched.

For pretrained models it brings only config.json and tokenizer_config.json, a few kilobytes. These
describe the architecture.

Reads  STUDY, JSON: models, sources: the entries of resources/models.yaml and sources.yaml that a
       study uses, by name; fetched: the names of entries that are already fetched
Writes OUTPUT, JSON: missing (a sentence for each file), configs ({model: {file: its content}})

Started by `snakemake rehearse`; by hand

    python -m scripts.fetch.reachable --study study.json --output results/rehearse/paper.json
"""

import argparse
import json
import tempfile
from pathlib import Path

from scripts.data.files import whole
from scripts.plan.models import CONFIG, INDEX, TOKENIZER_CONFIG, WEIGHTS
from scripts.running.program import UserError, cut, execute, log, parser
from scripts.fetch.adapter_merge import adapter_of
from scripts.fetch.download import Downloads, add_mirror, check_mirror, find, in_mirror
from scripts.fetch.hub import one_file
from scripts.fetch.model_files import read_object
from scripts.fetch.pretrained import origin_of, read_architecture


def missing(name: str, file: str, urls: list[str], mirror: str | None) -> list[str]:
    """Return a sentence about a file that no place has; an empty list if a place has it."""
    if find([*in_mirror(mirror, urls), *urls]):
        return []
    return [
        f"{name}: {cut(file)} is neither in the mirror nor at {cut(urls[0], 200)}; put it into "
        "the mirror"
    ]


def of_pretrained(
    name: str, entry: dict, downloads: Downloads
) -> tuple[dict[str, dict], list[str]]:
    """Return the configuration files and the missing files of a model of the hub or of a folder."""
    configs = {}
    try:
        origin = origin_of(name, entry, downloads)
        if adapter := adapter_of(origin):
            origin = adapter.base
        configs[CONFIG] = read_object(name, CONFIG, read_architecture(origin).place)
        if origin.locate(TOKENIZER_CONFIG):
            configs[TOKENIZER_CONFIG] = read_object(
                name, TOKENIZER_CONFIG, origin.bring(TOKENIZER_CONFIG)
            )
    except UserError as error:
        return configs, [str(error)]
    if origin.locate(WEIGHTS) or origin.locate(INDEX):
        return configs, []
    return configs, [
        f"{name}: {origin.where} has no {WEIGHTS}, or is out of reach; put it there, "
        "into the mirror, or take another model"
    ]


def of_model(name: str, entry: dict, downloads: Downloads) -> tuple[dict[str, dict], list[str]]:
    """The configuration files of a model, and its missing files. A model that is written here has
    no configuration files.
    """
    if "hub" in entry or "folder" in entry:
        return of_pretrained(name, entry, downloads)
    if vectors := entry.get("vectors"):
        return {}, missing(name, vectors["file"], vectors["urls"], downloads.mirror)
    wanted = entry.get("tokenizer")
    if wanted is None or one_file(name, wanted, downloads).locate(wanted["file"]):
        return {}, []
    return {}, [
        f"{name}: {wanted['hub']} has no {wanted['file']}, or is out of reach; put it into "
        "the mirror"
    ]


def main(given: argparse.Namespace) -> None:
    mirror, study = check_mirror(given.mirror), json.loads(given.study.read_text(encoding="utf-8"))
    lacking, configs = [], {}
    for name, entry in study["sources"].items():
        # an entry without downloads has files of this project, which the Snakefile checks
        for item in [] if name in study["fetched"] else entry.get("downloads", []):
            lacking += missing(
                name, item.get("file") or ", ".join(item["members"]), item["urls"], mirror
            )
    with tempfile.TemporaryDirectory() as partial:
        for name, entry in study["models"].items():
            downloads = Downloads(name, Path(partial) / name, mirror)
            configs[name], found = of_model(name, entry, downloads)
            lacking += found
    with whole(given.output) as beside:
        text = json.dumps({"missing": lacking, "configs": configs}, indent=1, sort_keys=True)
        beside.write_text(text + "\n", encoding="utf-8")
    log.info(
        "%d corpora and %d models: %s",
        len(study["sources"]),
        len(study["models"]),
        f"{len(lacking)} files are missing" if lacking else "every file can be fetched",
    )


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    program.add_argument(
        "--study",
        type=Path,
        required=True,
        metavar="STUDY",
        help="the file with the entries that the study uses",
    )
    add_mirror(program)
    program.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help="the JSON file to write"
    )
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
