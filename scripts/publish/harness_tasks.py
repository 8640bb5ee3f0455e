"""The study's examples as tasks of lm-evaluation-harness: JSON lines and YAML, no code.

A task is a dataset, an evaluation split, a method that asks by likelihood, and a wording. Its row
is one label (or candidate) of one example in the words of prompts.yaml: `context` is read, `text`
is scored. The other columns say what the row is, so that scripts/measure/harness_samples.py can
join what comes back. With a threshold the training split's rows are there too. With a domain each
text stands after it once more, as a row of no example. A method that divides by tokens is left out,
since the harness counts none.

Reads  TOLD, JSON of the workflow: of each dataset study, source, name, folder, splits (first that
       to learn from), columns, and methods (by name inputs and prompts by wording)
Writes OUTPUT/README.md, with the command that runs the tasks; OUTPUT/tasks/<task>.jsonl and .yaml

    snakemake harness --cores 1 --configfile presets/small.yaml
    # what that starts
    python -m scripts.publish.harness_tasks --study datasets.json --output results/harness/small
"""

import argparse
import importlib
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import yaml

from scripts.data.files import whole_set
from scripts.data.tables import read_table
from scripts.measure.external import data_digest
from scripts.running.program import execute, log, parser
from scripts.train.paradigms.prompts import columns_of, filled, scored_texts

TAG, TASKS = "timestride", "tasks"
FORM = {
    "test_split": "test",
    "output_type": "loglikelihood",
    "doc_to_text": "context",  # a bare column name: Jinja touches no text
    "doc_to_target": "text",
    "metric_list": [{"metric": "acc"}],
    "metadata": {"version": 1},
}
README = """# {name}: tasks for lm-evaluation-harness

In this folder, after `pip install "lm_eval[hf]"`:

    lm_eval --model hf --model_args pretrained=ORG/NAME,dtype=float32 \\
        --include_path tasks --tasks {tag} --log_samples --output_path out

`{tag}` stands for all tasks, `{tag}_mctaco` for those of a study, `{tag}_mctaco_verbalizer` for
those of a method. Each task has a name of its own, too (below). Then, in the project's folder, for
each file of samples:

    python -m scripts.studies.<study>.evaluate --predictions out/MODEL/samples_TASK_DATE.jsonl \\
        --dataset results/build/<study>/SOURCE/DATASET --split SPLIT --name NAME

`docs/harness.md` of the project tells what to look after.

| task | rows |
|---|---:|
"""
# what a row of a domain has in place of its example's
NO_EXAMPLE = {"part": "", "data": "", "example_id": "", "label": ""}


def rows_of(table: pa.Table, prompt: dict, inputs: list[str]) -> pd.DataFrame:
    """A row for each text of each example: example_id, label, domain (None where the wording has
    none), context, text.
    """
    columns, ids = columns_of(table, inputs), table["example_id"].to_pandas()
    domain = None if prompt["domain"] is None else filled(prompt["domain"], columns)
    parts = [
        scored_texts(text, columns)
        .rename(columns={"scored": "text"})
        .assign(example_id=ids, label=label, domain=domain)
        for label, text in prompt["texts"].items()
    ]
    return pd.concat(parts)[["example_id", "label", "domain", "context", "text"]]


def after_domains(rows: pd.DataFrame) -> pd.DataFrame:
    """Each text of these rows after its domain, once, as rows of no example."""
    pairs = rows.loc[rows["domain"].notna(), ["domain", "text"]].drop_duplicates()
    return pairs.rename(columns={"domain": "context"}).assign(domain=None, **NO_EXAMPLE)


def task_rows(dataset: dict, split: str, inputs: list[str], prompt: dict) -> pd.DataFrame:
    """The rows of a task: those of a split, then those of the training split where it chooses a
    threshold, and those of domains.
    """
    answered = importlib.import_module(f"scripts.studies.{dataset['study']}.evaluate").ANSWERED
    example = dataset["columns"]["example_id"]
    parts = []
    for part in [split, *([dataset["splits"][0]] if prompt["threshold"] else [])]:
        file = Path(dataset["folder"], f"{part}.parquet")
        table = read_table(file, list(dict.fromkeys([example, *inputs])))
        table = table.rename_columns({example: "example_id"})
        facts = {"part": part, "data": data_digest(file, answered)}
        parts.append(rows_of(table, prompt, inputs).assign(**facts))
    rows = pd.concat(parts)
    return pd.concat([rows, after_domains(rows)])


def write_task(rows: pd.DataFrame, names: list[str], asked: dict, place: Path) -> str:
    """Write a task's rows and its YAML; returns its name. asked: what is the same in all rows."""
    task = "_".join([TAG, *names])
    rows = rows.assign(**asked)[[*asked, "part", "data", *rows.columns[:5]]]
    rows.to_json(place / f"{task}.jsonl", orient="records", lines=True, force_ascii=False)
    told = {
        "task": task,
        "tag": [TAG, f"{TAG}_{asked['study']}", f"{TAG}_{asked['study']}_{asked['method']}"],
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"{TASKS}/{task}.jsonl"}},
    }
    text = yaml.safe_dump(told | FORM, sort_keys=False, allow_unicode=True)
    (place / f"{task}.yaml").write_text(text, encoding="utf-8")
    return task


def write_tasks(dataset: dict, place: Path) -> dict[str, int]:
    """Write the tasks of a dataset; returns how many rows each has, by name.

    Questions that are answered in words (paradigm `answer`) would be written here, too.
    """
    counts, study = {}, dataset["study"]
    for method, how in dataset["methods"].items():
        for wording, prompt in how["prompts"].items():
            if prompt["score"] == "token":
                log.info(
                    "%s: %s (%s) is left out: its score is divided by tokens, and the harness "
                    "counts none",
                    dataset["folder"],
                    method,
                    wording,
                )
                continue
            for split in dataset["splits"][1:]:
                asked = {
                    "study": study,
                    "dataset": f"{dataset['source']}/{dataset['name']}",
                    "split": split,
                    "method": method,
                    "wording": wording,
                    "score": prompt["score"],
                    "threshold": prompt["threshold"] or "",
                }
                names = [study, dataset["source"], dataset["name"], split, method, wording]
                rows = task_rows(dataset, split, how["inputs"], prompt)
                counts[write_task(rows, names, asked, place)] = len(rows)
    return counts


def main(given: argparse.Namespace) -> None:
    datasets = json.loads(given.study.read_text(encoding="utf-8"))
    with whole_set(given.output) as place:
        (place / TASKS).mkdir()
        counts = {
            task: count
            for dataset in datasets
            for task, count in write_tasks(dataset, place / TASKS).items()
        }
        head = README.format(name=given.output.name, tag=TAG)
        lines = [f"| `{task}` | {count:,} |\n" for task, count in counts.items()]
        (place / "README.md").write_text(head + "".join(lines), encoding="utf-8")
    log.info("%s: %d tasks, %d rows", given.output, len(counts), sum(counts.values()))


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    program.add_argument(
        "--study",
        type=Path,
        required=True,
        metavar="TOLD",
        help="the file that tells of the datasets",
    )
    program.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="the folder to write"
    )
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
