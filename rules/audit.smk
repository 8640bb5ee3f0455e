"""Audit: what a benchmark of questions with options gives away, without a model (docs/audit.md).

Reads  results/fetch/<source>/, or a file of your own
Writes results/audit/<benchmark>/   the page index.html, audit.json, tables, and the items that no shortcut gets
"""


rule audit:
    """The audits of all benchmarks that `benchmark` names."""
    input:
        [f"results/audit/{name}/audit.json" for name in START.audits],
    localrule: True


rule audit_benchmark:
    """The audit of one benchmark: python -m scripts.audit.audit FILE KEY=VALUE …"""
    input:
        lambda w: audits.input_of(WORK, w.benchmark),
    output:
        "results/audit/{benchmark}/audit.json",
        "results/audit/{benchmark}/index.html",
        "results/audit/{benchmark}/hard_items.parquet",
    log:
        "results/logs/audit/{benchmark}.log",
    benchmark:
        "results/benchmarks/audit/{benchmark}.jsonl"
    wildcard_constraints:
        benchmark=one_of(START.audits),
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
    params:
        words=lambda w: audits.words_of(WORK, w.benchmark),
        code=lambda w: code("audit/audit"),
    message:
        "Auditing {wildcards.benchmark}"
    shell:
        "python -m scripts.audit.audit {params.words:q} --output results/audit/{wildcards.benchmark:q} --log {log:q}"
