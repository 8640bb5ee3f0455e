"""timestride: what transformers understand about time. `snakemake --cores all` runs the study in config.yaml."""

from snakemake.utils import min_version

min_version("9.27")

include: "rules/common.smk"
include: "rules/paths.smk"
include: "rules/inputs.smk"
include: "rules/published.smk"
include: "rules/fetch.smk"
include: "rules/clean.smk"
include: "rules/build.smk"
include: "rules/train.smk"
include: "rules/evaluate.smk"
include: "rules/publish.smk"
include: "rules/start.smk"

report: "report/workflow.rst"


onstart:
    begin()

onsuccess:
    if not IS_MODULE:
        print(summary(Path(EVALUATED, "metrics.parquet"), Path(PAGES, "index.html"), Path("results/benchmarks"), STUDIES,
                      sorted({run.model for run in PLAN.runs.values() if run.name not in CONTROLS}), BEGUN,
                      [published_files(item)[0] for item in PUBLISHED.values() if item["study"] == "all"], sum(ALTERED.values(), [])))

onerror:
    if not IS_MODULE:
        print("What is finished stays; the same command goes on from there.", file=sys.stderr)


rule all:
    """The whole study, to the page."""
    default_target: True
    input:
        rules.publish.input,
        [f"results/build/{study}/README.md" for study in built_studies()],
    localrule: True
