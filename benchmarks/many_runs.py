"""Measure a study of many runs: dry run, evaluation, publication, and the size of its page.

The study is sentence order at four strides of sample captions, by models that differ only in name,
five seeds each. One model and seed is trained. The other runs are copies with random scores around
a level of each model's own, since training does not matter for the later stages. All else is the
real workflow, in a checkout in a temporary folder. Prints a table in Markdown, one column for each
number of models.

    python -m benchmarks.many_runs --models 5 50
"""

import argparse
import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import checkout, measured, options_of, table, workflow
from scripts.data.manifest import write_manifest
from scripts.data.tables import provenance_of

SEEDS = [1, 2, 3, 4, 5]
FIRST = "model_01"
TRAINED = "results/train/strided_sop"
METADATA = b"timestride"
MODEL = "my/tiny_bert"


def write_model(folder: Path) -> None:
    """Write a tiny BERT with random weights into a checkout."""
    import torch  # late: --help does not need it
    from transformers import AutoConfig, AutoModelForMaskedLM

    command = ["-m", "scripts.fetch.model", "--model", "tiny_bert", "--output", MODEL]
    measured(command, folder, folder / "model.txt")
    torch.manual_seed(1)
    network = AutoModelForMaskedLM.from_config(AutoConfig.from_pretrained(folder / MODEL))
    network.save_pretrained(folder / MODEL)


def study(name: str, models: int, seeds: list[int], strides: list[int]) -> dict:
    """Return the configuration of a study, to be laid over config.yaml."""
    names = [f"model_{number:02}" for number in range(1, models + 1)]
    training = {"epochs": 4, "learning_rate": 5e-4, "batch_size": 32, "max_length": 64}
    experiment = {
        "title": "Many runs",
        "study": "strided_sop",
        "models": names,
        "seeds": seeds,
        "data": {"source": "sample_activitynet", "stride": strides},
        "training": training,
    }
    # a folder, like a fetched model: runs of a model that is built here would share one process
    entries = {
        model: {"folder": MODEL, "licence": "MIT", "title": model.replace("_", " ")}
        for model in names
    }
    return {"name": name, "run": ["many"], "experiments": {"many": experiment}, "models": entries}


def made_like(run: str, model: str, seed: int, level: float, like: Path) -> None:
    """Make the files of a run from those of another; right labels score higher by `level`."""
    folder, random = like.with_name(run), np.random.default_rng([seed, int(model[-2:])])
    folder.mkdir()
    for name in ("history.parquet", "predictions.parquet"):
        table, facts = pq.read_table(like / name), provenance_of(like / name)
        facts["run"] = run
        facts["settings"] |= {"model": model, "seed": seed}
        columns = {"run": pa.array([run] * len(table))}
        if "score" in table.schema.names:
            scores = random.normal(size=(len(table), 2)).astype(np.float32)
            scores[np.arange(len(table)), table["label"].to_numpy()] += level
            columns["score"] = pa.array(list(scores), table["score"].type)
        for column, values in columns.items():
            table = table.set_column(table.schema.get_field_index(column), column, values)
        table = table.replace_schema_metadata({METADATA: json.dumps(facts)})
        pq.write_table(table, folder / name)
    facts = json.loads((like / "run.json").read_text())
    facts |= {"run": run, "model": model, "seed": seed}
    (folder / "run.json").write_text(json.dumps(facts))
    files = [f"{run}/{file.name}" for file in folder.iterdir()]
    write_manifest(like.parent, files, like.with_name(f"{run}.manifest.json"))


def missing_runs(folder: Path, listed: Path) -> None:
    """Make the runs that a dry run lists."""
    for run in set(re.findall(r"^Training (\S+)", listed.read_text(), re.M)):
        name = re.fullmatch(r"\S+-stride-(\d)-(model_\d+)-seed-(\d)-\w+", run)
        stride, model, seed = name.groups()
        (like,) = (folder / TRAINED).glob(f"*-stride-{stride}-{FIRST}-seed-1-*")
        level = int(model[-2:]) / 50 * (1 + int(stride) / 3)
        made_like(run, model, int(seed), level, like)


def column(folder: Path, models: int, strides: list[int]) -> dict[str, str]:
    """Return the costs of a study of `models` models, by the name of the cost."""
    configuration = study(f"models_{models}", models, SEEDS, strides)
    name = configuration["name"]
    results, dry = folder / "results", "{:.0f} s, {:.0f} CPU s, {:,.0f} MiB"
    found = {
        "runs": f"{models * len(strides) * len(SEEDS):,}",
        "a dry run before training": dry.format(*workflow(folder, configuration, "-n")),
    }
    missing_runs(folder, folder / f"{name}.txt")
    seconds, processors, _ = workflow(folder, configuration)  # the memory is only Snakemake's
    found["evaluate and publish"] = f"{seconds:.0f} s, {processors:.0f} CPU s"
    jobs = {
        file.stem: json.loads(file.read_text().splitlines()[0])
        for file in (results / f"benchmarks/publish/{name}").glob("*.jsonl")
    }
    longest, job = max(jobs.items(), key=lambda item: item[1]["s"])
    found["of that the longest"] = f"{longest}, {job['s']:.0f} s, {job['max_rss']:,.0f} MiB"
    found["a dry run after it"] = dry.format(*workflow(folder, configuration, "-n"))
    metrics, page = (
        results / f"evaluate/{name}/metrics.parquet",
        results / f"publish/{name}/index.html",
    )
    rows = pq.read_metadata(metrics).num_rows
    found["numbers"] = f"{rows:,}, {metrics.stat().st_size / 1e6:.1f} MB"
    return found | {"the page": f"{page.stat().st_size / 1e6:.1f} MB"}


def main(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = checkout(Path(name))
        write_model(folder)
        workflow(folder, study("one", 1, [1], given.strides), "train")
        columns = [column(folder, models, given.strides) for models in sorted(given.models)]
    head, *rows = [[what, *(found[what] for found in columns)] for what in columns[0]]
    print(table(head, rows))


if __name__ == "__main__":
    options = options_of(__doc__)
    options.add_argument("--models", type=int, nargs="+", default=[5, 50], help="at most 99 each")
    options.add_argument("--strides", type=int, nargs="+", default=[0, 1, 2, 3])
    main(options.parse_args())
