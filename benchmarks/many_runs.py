"""One study of many runs: what a dry run, evaluation and publication take, and how large its page is.

Sentence order at four strides of sample captions, by models that differ in name alone, five seeds each. One model and seed is trained; the
other runs are made from it, with scores drawn at random around a level of each model's own, since training a thousand says nothing of what comes
after it. All else is the workflow's own, in a checkout in a temporary folder. Prints a table in Markdown, a column a number of runs.

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

from benchmarks.clean_howto100m import measured
from benchmarks.kills import checkout

STRIDES, SEEDS = [0, 1, 2, 3], [1, 2, 3, 4, 5]
FIRST = "model_01"
ENTRY = {"licence": "none", "vocabulary": "resources/sample_vocabulary.txt",
         "init": {"model_type": "bert", "num_hidden_layers": 2, "hidden_size": 128, "num_attention_heads": 2, "intermediate_size": 256,
                  "max_position_embeddings": 128}}
TRAINED = "results/train/strided_sop"
METADATA = b"timestride"


def study(name: str, models: int, seeds: list[int]) -> dict:
    """The configuration of a study, to be laid over config.yaml."""
    names = [f"model_{number:02}" for number in range(1, models + 1)]
    experiment = {"title": "Many runs", "study": "strided_sop", "data": {"source": "sample_activitynet", "stride": STRIDES}, "models": names,
                  "seeds": seeds, "training": {"epochs": 4, "learning_rate": 5e-4, "batch_size": 32, "max_length": 64}}
    return {"name": name, "run": ["many"], "experiments": {"many": experiment},
            "models": {model: ENTRY | {"title": model.replace("_", " ")} for model in names}}


def made_like(run: str, model: str, seed: int, level: float, like: Path) -> None:
    """Make the files of a run from those of another one, `like`, with scores that are higher by `level` where they are right, on average."""
    folder, random = like.with_name(run), np.random.default_rng([seed, int(model[-2:])])
    folder.mkdir()
    for name in ("history.parquet", "predictions.parquet"):
        table = pq.read_table(like / name)
        told = json.loads(table.schema.metadata[METADATA])
        told["settings"] = told["settings"] | {"model": model, "seed": seed}
        table = table.set_column(table.schema.get_field_index("run"), "run", pa.array([run] * len(table)))
        if "score" in table.schema.names:
            scores, labels = random.normal(size=(len(table), 2)).astype(np.float32), table["label"].to_numpy()
            scores[np.arange(len(labels)), labels] += level
            table = table.set_column(table.schema.get_field_index("score"), "score", pa.array(list(scores), table["score"].type))
        pq.write_table(table.replace_schema_metadata({METADATA: json.dumps(told)}), folder / name)
    facts = json.loads((like / "run.json").read_text()) | {"run": run, "model": model, "seed": seed}
    (folder / "run.json").write_text(json.dumps(facts))


def missing_runs(folder: Path, listed: Path) -> None:
    """Make the runs that a dry run lists."""
    for run in re.findall(r"^Training (\S+)", listed.read_text(), re.M):
        stride, model, seed = re.fullmatch(r"\S+-stride-(\d)-(model_\d+)-seed-(\d)-\w+", run).groups()
        (like,) = (folder / TRAINED).glob(f"*-stride-{stride}-{FIRST}-seed-1-*")
        made_like(run, model, int(seed), int(model[-2:]) / 50 * (1 + int(stride) / 3), like)


def snakemake(folder: Path, name: str, *options: str) -> tuple[float, float, float]:
    return measured(["-m", "snakemake", "--cores", 2, "--configfile", f"{name}.json", *options], folder, folder / f"{name}.txt")


def took(seconds: float, processors: float, peak: float) -> str:
    return f"{seconds:.0f} s, {processors:.0f} CPU s, {peak:,.0f} MiB"


def column(folder: Path, models: int) -> dict[str, str]:
    """What a study of so many models takes, by what is measured."""
    name = f"models_{models}"
    (folder / f"{name}.json").write_text(json.dumps(study(name, models, SEEDS)))
    found = {"runs": f"{models * len(STRIDES) * len(SEEDS):,}", "a dry run before training": took(*snakemake(folder, name, "-n"))}
    missing_runs(folder, folder / f"{name}.txt")
    seconds, processors, _ = snakemake(folder, name)  # whose memory is that of Snakemake alone
    found["evaluate and publish"] = f"{seconds:.0f} s, {processors:.0f} CPU s"
    jobs = {file.stem: json.loads(file.read_text().splitlines()[0]) for file in (folder / f"results/benchmarks/publish/{name}").glob("*.jsonl")}
    longest, job = max(jobs.items(), key=lambda item: item[1]["s"])
    found["of that the longest"] = f"{longest}, {job['s']:.0f} s, {job['max_rss']:,.0f} MiB"
    found["a dry run after it"] = took(*snakemake(folder, name, "-n"))
    metrics, page = folder / f"results/evaluate/{name}/metrics.parquet", folder / f"results/publish/{name}/index.html"
    found["numbers"] = f"{pq.read_metadata(metrics).num_rows:,}, {metrics.stat().st_size / 1e6:.1f} MB"
    return found | {"the page": f"{page.stat().st_size / 1e6:.1f} MB"}


def main(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name, "checkout")
        folder.mkdir()
        checkout(folder, short=True)
        (folder / "one.json").write_text(json.dumps(study("one", 1, [1])))
        snakemake(folder, "one")
        columns = [column(folder, models) for models in sorted(given.models)]
    head, *lines = ([what, *(found[what] for found in columns)] for what in columns[0])
    print("\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---", *["---:"] * len(columns)], *lines]))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--models", type=int, nargs="+", default=[5, 50], help="at most 99; 20 runs each; default: %(default)s")
    options.add_argument("--folder", type=Path, help="where to put the temporary folder; default: the system's")
    main(options.parse_args())
