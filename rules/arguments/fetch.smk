"""What the programs that fetch are told beside their files."""


def sampler_of(wildcards):
    """The program that writes a sample source."""
    return f"scripts.fetch.samples.{SOURCES[wildcards.source]['sampler']}"


def sample_texts(wildcards):
    """The hash of the texts of a sample source; nothing where its program has none."""
    file = ROOT / f"resources/samples/{SOURCES[wildcards.source]['sampler']}.yaml"
    return sha256_of(file) if file.exists() else ""


def sample_options(wildcards):
    """The options of a sample source."""
    return [part for key, value in SOURCES[wildcards.source]["sample"].items() for part in (f"--{key}", str(value))]


def model_entry(wildcards):
    """What decides the files of a model: its entry without the words about it, the hashes of its vocabulary and vectors."""
    entry = {key: value for key, value in MODELS[wildcards.model].items() if key not in ("licence", "title")}
    if "vocabulary" in entry:
        entry["vocabulary"] = sha256_of(ROOT / entry["vocabulary"])
    if entry.get("vectors", {}).get("sha256"):  # wherever they come from, it is this file
        entry["vectors"] = {key: entry["vectors"][key] for key in ("file", "sha256")}
    return as_json(entry)


def sources_file(wildcards, output):
    """resources/sources.yaml; for a source of the configuration a file with its entry."""
    if wildcards.source not in OWN["sources"]:
        return str(ROOT / "resources/sources.yaml")
    return f"{hand_over({'sources.yaml': json.dumps({wildcards.source: SOURCES[wildcards.source]})})}/sources.yaml"


def models_file(wildcards, output):
    """resources/models.yaml; for a model of the configuration, and elsewhere than in the project's folder, a file with its entry,
    in which paths are absolute."""
    entry = MODELS[wildcards.model]
    paths = {key: str(ROOT / os.path.expanduser(entry[key])) for key in ("vocabulary", "folder") if key in entry}
    if wildcards.model not in OWN["models"] and (not paths or ROOT == Path.cwd()):
        return str(ROOT / "resources/models.yaml")
    return f"{hand_over({'models.yaml': json.dumps({wildcards.model: entry | paths})})}/models.yaml"


def code_of_model(wildcards):
    """The code that decides a model's files: none where they are only brought here."""
    return identity("scripts.fetch.model") if {"init", "esim"} & set(MODELS[wildcards.model]) else ""
