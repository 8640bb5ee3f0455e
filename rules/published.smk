"""Which figures and tables of resources/figures.yaml this study has, of which runs, and where they stand."""


def measured_runs(study):
    """The runs of a study (or of all) that were measured."""
    return [run for run in PLAN.runs.values() if study in (run.study, "all") and run.name in MEASURED]


def model_runs(study):
    """The runs of a study (or of all) that were measured, of models that may understand: none of a control."""
    return [run for run in measured_runs(study) if run.name not in CONTROLS]


def runs_read(item):
    """The runs that a figure or table reads."""
    return measured_runs(item["study"]) if "controls" in item["reads"] else model_runs(item["study"])


def dialog_sources(study):
    """The dialogs that a study learns from, and the challenges that it is measured on."""
    learnt = sorted({run.dataset.source for run in measured_runs(study)})
    return learnt, sorted({MEASURED_ON[source] for source in learnt})


def in_several_wordings(runs):
    """Those of the runs whose model is asked in another wording, too, by the same method on the same data."""
    wordings = {}
    for run in runs:
        wordings.setdefault((run.dataset.folder, run.model, run.method), set()).add(run.wording)
    return [run for run in runs if len(wordings[run.dataset.folder, run.model, run.method]) > 1]


COMPARED = {"transfers": TRANSFERS, "objectives": OBJECTIVES}


def is_published(item):
    """Whether a figure or table of resources/figures.yaml is made: a run of its study is what it needs; what is about all studies
    is made where there is something to set side by side, and in a probe."""
    if "compares" in item:
        return any(item["study"] in (one["study"], "all") for one in COMPARED[item["compares"]])
    runs = model_runs(item["study"]) if item.get("needs_model") else measured_runs(item["study"])
    if item.get("needs_people"):
        answered = {run for name in ANSWERED_EXPERIMENTS for run in PLAN.experiments[name]}
        return any(run.name in answered for run in measured_runs(item["study"]))
    if item["study"] == "all":
        plain = {run for name, names in PLAN.experiments.items() if name not in sum(ALTERED.values(), []) for run in names}
        runs = [run for run in runs if run.name in plain]
    if item["study"] == "all" and not PROBED and max(len({run.study for run in runs}), len({run.model for run in runs})) < 2:
        return False
    if item.get("needs_wordings"):
        runs = in_several_wordings(runs)
    return any(has_options(json.loads(run.dataset.options), item.get("needs", {})) for run in runs)


SUFFIXES = {"figure": ["svg", "dark.svg", "png", "pdf", "csv"], "table": ["csv", "md", "tex"]}
PUBLISHED = {item["name"]: item for item in FIGURES if is_published(item)}


def published_files(item):
    """The files of a figure or table; the first is the one that Snakemake's report shows."""
    return [f"{PAGES}/{item['kind']}s/{item['name']}.{suffix}" for suffix in SUFFIXES[item["kind"]]]


def is_without_texts(item):
    """Whether an item is a table that shows no texts of a corpus, which have terms of their own: no items to read and no expressions."""
    return item["kind"] == "table" and item.get("show") != "cards" and "spans" not in item["reads"]


def read_by_item(wildcards):
    """What a figure or table is made from beside the metrics, as its `reads` in resources/figures.yaml says."""
    item = PUBLISHED[wildcards.item]
    runs, sources = runs_read(item), sum(dialog_sources(item["study"]), [])
    learnt = sorted({run.dataset.source for run in measured_runs(item["study"])})
    files = {
        "runs": outputs_of_runs(run.name for run in runs),
        "released": [fetched(source) for source in learnt if "predictions" in SOURCES[source]],
        "cleaned": [cleaned(source) for source in learnt],
        "datasets": sorted({built(run.dataset) for run in measured_runs(item["study"])}),
        "human": human_files(item["study"]),
        "spans": [place(source) for source in sources for place in (spans, cleaned) if has_spans(source)],
    }
    return list(dict.fromkeys(file for name, read in files.items() if name in item["reads"] for file in read))


def ranked_models():
    """The models that are told to leaderboards: those of runs that were measured."""
    return sorted({run.model for run in PLAN.runs.values() if run.name in MEASURED})
