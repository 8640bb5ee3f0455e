"""What the programs that build datasets, and their cards, are told beside their files."""


def read_splits(wildcards):
    """The splits of its source that a dataset is built from."""
    if has_spans(wildcards.source):
        return [SOURCES[wildcards.source]["train"], STUDIES[wildcards.study]["held_out"]]
    return splits(wildcards.source)


def dialog_options(wildcards):
    """What a dataset of dialogs, of endings, or of another corpus' training split is built from beside its source, as options."""
    if captions := SOURCES[wildcards.source].get("videos_of"):
        return ["--captions", f"results/clean/{captions}", "--learnt", SOURCES[captions]["train"], "--measured", *SOURCES[captions]["evaluate"]]
    if not has_spans(wildcards.source):
        return [part for source in learnt_elsewhere(dataset_of(wildcards))
                for part in ("--learn-from", f"results/clean/{source}", SOURCES[source]["train"])]
    challenge = MEASURED_ON[wildcards.source]
    return ["--spans", f"results/build/temporal_spans/{wildcards.source}", "--challenge", f"results/clean/{challenge}",
            "--challenge-spans", f"results/build/temporal_spans/{challenge}", "--measured", *SOURCES[challenge]["evaluate"]]


def card_arguments(wildcards, output):
    """The file of the arguments of the card of a study's datasets."""
    study = as_json({"name": wildcards.study} | {key: STUDIES[wildcards.study][key] for key in ("title", "paper", "labels")})
    folder = Path(output[0]).parent
    return argument_file(["--build", folder, "--output", folder, "--columns", ROOT / "resources/columns.yaml", "--study", study,
                          *datasets_there(wildcards.study)])
