"""Publish: figures, tables and the page, from results/evaluate/metrics.parquet and the runs (resources/figures.yaml)."""

SUFFIXES = {"figure": ["svg", "png", "pdf", "csv"], "table": ["csv", "md", "tex"]}
PUBLISHED = [item for item in FIGURES if is_made(item)]
# What figures and the page say of corpora and models. Only the entries that are used: another one changes nothing.
ABOUT = as_json({"sources": {name: SOURCES[name] for name in USED_SOURCES},
                 "models": {name: MODELS[name] for name in USED_MODELS}})


def published_files(item):
    """The files of a figure or table; the first is the one that Snakemake's report shows."""
    return [f"results/publish/{item['kind']}s/{item['name']}.{suffix}" for suffix in SUFFIXES[item["kind"]]]


def runs_of(study):
    """The runs of a study that were measured."""
    return [run for run in PLAN.runs.values() if run.study == study and run.name not in PLAN.made.values()]


def dialog_sources(study):
    """The dialogs that a study learns from, and the challenges that it is measured on."""
    learnt = sorted({run.dataset.source for run in runs_of(study)})
    return learnt, sorted({MEASURED_ON[source] for source in learnt})


def read_files(item):
    """The files that an item is made from, beside the metrics."""
    runs = runs_of(item["study"])
    files = [file for run in runs for file in run_outputs(run.name)] if "runs" in item["reads"] else []
    datasets = {file for run in runs for file in dataset_splits(run.dataset)} if "datasets" in item["reads"] else set()
    published = ["resources/published.csv"] if "published" in item["reads"] else []
    spans = [f"{folder}/{source}/{split}.parquet" for sources in dialog_sources(item["study"]) for source in sources
             for split in cleaned_splits(source) for folder in ("results/build/temporal_spans", "results/clean")]
    leakage = sorted({f"{run.dataset.folder}/leakage.csv" for run in runs})
    return (files + sorted(datasets) + published + spans * ("spans" in item["reads"])
            + leakage * ("leakage" in item["reads"]))


def read_options(item):
    """The options by which an item's program is told of them."""
    runs = runs_of(item["study"])
    dialogs, challenges = map(" ".join, dialog_sources(item["study"]))
    options = {
        "runs": f"--train results/train/{item['study']} --runs {' '.join(run.name for run in runs)}",
        "datasets": f"--build results/build/{item['study']}",
        "spans": f"--cleaned results/clean --spans results/build/temporal_spans --dialogs {dialogs} --challenges {challenges}",
    }
    return " ".join(text for name, text in options.items() if name in item["reads"])


rule publish:
    """All figures and tables, and the page."""
    input:
        [published_files(item) for item in PUBLISHED],
        "results/publish/site/index.html",
    localrule: True


for item in PUBLISHED:

    rule:
        name: f"publish_{item['name']}"
        input:
            metrics="results/evaluate/metrics.parquet",
            read=read_files(item),
        output:
            report(published_files(item)[0], caption=f"../{item['caption']}",
                   category=STUDIES[item["study"]]["title"], labels={"what": item["name"].replace("_", " ")}),
            published_files(item)[1:],
        params:
            code=fingerprint(f"scripts.publish.{item['program']}"),
            program=f"scripts.publish.{item['program']}",
            about=ABOUT,
            options=read_options(item),
            prefix=f"results/publish/{item['kind']}s/{item['name']}",
        log: f"results/logs/publish/{item['name']}.log"
        benchmark: f"results/benchmarks/publish/{item['name']}.jsonl"
        message: f"Publishing the {item['kind']} {item['name']}"
        localrule: True
        conda: "../envs/data.yaml"
        shell:
            "python -m {params.program} --metrics {input.metrics} {params.options} --sources {ROOT}/resources/sources.yaml"
            " --models {ROOT}/resources/models.yaml --output {params.prefix} --log {log}"


rule publish_site:
    input:
        metrics="results/evaluate/metrics.parquet",
        published=[published_files(item) for item in PUBLISHED],
        cleaning=[f"results/clean/{source}/cleaning.csv" for source in USED_SOURCES],
        runs=[run_outputs(run)[-1] for run in PLAN.runs],
        texts=["resources/published.csv", "report/workflow.rst", "scripts/publish/templates/page.html.j2",
               *[f"report/{study}.rst" for study in USED_STUDIES], *[item["caption"] for item in PUBLISHED]],
    output:
        report("results/publish/site/index.html", caption="../report/workflow.rst", category="The page"),
    params:
        code=fingerprint("scripts.publish.site"),
        about=ABOUT,
        # What decides the numbers; where and how fast they are made does not stand on the page.
        configuration=as_json({key: config[key] for key in ("run", "seeds", "bootstrap_resamples", "training")}
                              | {"experiments": {name: config["experiments"][name] for name in
                                                 (*config["run"], *(MODELS[model]["mlm"]["experiment"] for model in PLAN.made))}}),
        provenance=as_json({item["name"]: {"rule": f"publish_{item['name']}",
                                           "code": fingerprint(f"scripts.publish.{item['program']}")} for item in PUBLISHED}),
    log: "results/logs/publish/site.log"
    benchmark: "results/benchmarks/publish/site.jsonl"
    message: "Publishing the page"
    localrule: True
    conda: "../envs/data.yaml"
    shell:
        "python -m scripts.publish.site --metrics {input.metrics} --resources {ROOT}/resources --publish results/publish"
        " --cleaning {input.cleaning} --runs {input.runs} --configuration {params.configuration:q}"
        " --provenance {params.provenance:q} --output {output} --log {log}"
