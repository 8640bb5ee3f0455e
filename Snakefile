"""timestride: what transformers understand about time. `snakemake --cores all` runs the study in config.yaml."""

from snakemake.utils import min_version

min_version("9.27")


include: "rules/common.smk"
include: "rules/fetch.smk"
include: "rules/clean.smk"
include: "rules/build.smk"
include: "rules/train.smk"
include: "rules/evaluate.smk"
include: "rules/publish.smk"
include: "rules/audit.smk"
include: "rules/rehearse.smk"


report: "report/workflow.rst"


onstart:
    START.begin()


onsuccess:
    START.end()


onerror:
    START.fail()


rule all:
    """The whole study, to the page; with `benchmark`, the audits alone."""
    default_target: True
    input:
        rules.audit.input or [rules.evaluate.input, rules.publish.input],
    localrule: True
