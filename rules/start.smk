"""What is said before hours of work, once all rules are known: what is missing, and what is gone and will be made again."""

from snakemake.iocontainers import Wildcards


def forget_lost_files():
    """Take away the manifest of a folder that no longer holds what it lists, so that its rule runs again."""
    manifests = {*map(fetched, USED_SOURCES), *map(cleaned, USED_SOURCES), *map(spans, USED_SOURCES),
                 *map(built, PLAN.datasets.values()), *(file for model in USED_MODELS for file in model_of(model)), *MANIFEST_OF.values()}
    for manifest in sorted(name for name in manifests if name.endswith("manifest.json") and Path(name).exists()):
        if lost := lost_files(Path(manifest)):
            stage = Path(manifest).parts[1]
            logger.warning(f"{Path(manifest).parent}: {', '.join(lost)} is gone, or not as long as it was: it is written again "
                           f"as soon as a job reads it, or by `snakemake {stage}`")
            if not workflow.output_settings.dryrun:
                Path(manifest).unlink()


def not_fetched(names, place):
    """Those of these sources or models whose manifest is not there yet."""
    return [name for name in names if not Path(place(name)).exists()]


def check_places():
    """Say before hours of work what will be missing: a folder, a file, the mirror, room on the disk."""
    sources = not_fetched(USED_SOURCES, fetched)
    models = not_fetched((name for name in USED_MODELS if not {*STAGES, "control"} & set(MODELS[name])), lambda name: model_of(name)[0])
    wanted = [(place_of("models", name), MODELS[name]["folder"]) for name in models if "folder" in MODELS[name]]
    wanted += [(place_of("sources", name), SOURCES[name]["local"]) for name in sources if "local" in SOURCES[name]]
    for where, path in wanted:
        if not Path(project_path(path)).exists():
            raise WorkflowError(f"{where}: {path} is not there; put it there, or correct the entry")
    downloads = [download for name in sources for download in SOURCES[name].get("downloads", [])]
    from_afar = bool(downloads) or any("hub" in MODELS[name] for name in models)
    if from_afar and MIRROR and "://" not in MIRROR and not Path(MIRROR).is_dir():
        raise WorkflowError(f"mirror {MIRROR} is not there: correct mirror: in the configuration or TIMESTRIDE_MIRROR, "
                            "or take it away to fetch from the files' own URLs")
    declared = [fact.get("bytes") or 0 for download in downloads for fact in download.get("members", {"": download}).values()]
    needed = 3 * sum(declared) + 500_000_000  # fetched, opened and cleaned, and room for the runs
    free = shutil.disk_usage(".").free
    weights = {name: (kept_facts(name, MODELS[name], ROOT) or {}).get("bytes") or 0 for name in models}
    if sum(weights.values()) > free:
        largest = max(weights, key=weights.get)
        raise WorkflowError(f"{place_of('models', largest)}: the weights that are to be fetched have {sum(weights.values()) / 1e9:.1f} GB "
                            f"({largest} {weights[largest] / 1e9:.1f} GB), but the disk has {free / 1e9:.1f} GB free: make room, give "
                            "--directory a folder on another disk, or name a smaller model")
    needed += 2 * sum(weights.values())  # in the cache of the hub and here
    if (sources or models) and free < needed:
        logger.warning(f"The disk has {free / 1e9:.1f} GB free, but this study may take {needed / 1e9:.1f} GB and more: "
                       "make room first, or give --directory a folder on another disk")


def check_programs():
    """Say in one line, before the rules ask, that a program which an entry of resources/ names is not there."""
    used = [Wildcards(fromdict={"source": source}) for source in USED_SOURCES]
    programs = [*map(cleaner_of, used), *(sampler_of(wildcards) for wildcards in used if "sample" in SOURCES[wildcards.source]),
                *(item["program"] for item in PUBLISHED.values())]
    try:
        for program in programs:
            identity(program)
    except UserError as error:
        raise WorkflowError(str(error)) from None


if is_main_process():
    forget_lost_files()
    check_places()
    check_programs()
