"""Write the study's examples as tasks of lm-evaluation-harness: JSON lines and YAML, no code.

A task is a dataset, an evaluation split, a method that asks by likelihood or in words, and a
wording. If a method asks in words, a row is one question with lettered options. The model writes
its answer. Otherwise a row is one label (or candidate) of one example in the words of prompts.yaml.
The model reads `context`, and `text` is scored. The other columns identify the row, so that
scripts/measure/elsewhere/asked.py can join the results. With a threshold, the task also has rows of
the training split. With a domain, the task also has a row without an example for each text after
its domain. A method that divides scores by tokens is left out: the harness does not count tokens.

Reads  STUDY, JSON of the workflow: for each dataset study, source, name, folder, splits (the
       training split first), columns, and methods (by name: inputs, and prompts by wording)
Writes OUTPUT/README.md, with the command that runs the tasks; OUTPUT/tasks/<task>.jsonl and .yaml

    snakemake harness --cores 1 --configfile presets/small.yaml
    # what that starts
    python -m scripts.publish.harness_tasks --study datasets.json --output results/harness/small
"""

import argparse
import importlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml

from scripts.data.files import whole_set
from scripts.data.manifest import check_made
from scripts.data.limit import choosing
from scripts.data.tables import read_table
from scripts.running.program import execute, log, parser
from scripts.train.asking.letters import LETTERS
from scripts.train.asking.questions import questions_of
from scripts.train.asking.shots import answer_line
from scripts.train.paradigms.prompts import columns_of, filled, scored_texts

TAG, TASKS = "timestride", "tasks"
FORM = {"test_split": "test", "metadata": {"version": 1}}
SCORED = {
    "output_type": "loglikelihood",
    "doc_to_text": "context",  # a bare column name: Jinja touches no text
    "doc_to_target": "text",
    "metric_list": [{"metric": "acc"}],
}
ANSWERED = {
    "output_type": "generate_until",
    "doc_to_text": "question",
    "doc_to_target": "target",
    # Marks at which a chat ends: an empty line would cut a thought, and some servers refuse a list
    # without a mark. The tokens are enough for a short thought.
    "generation_kwargs": {
        "until": ["</s>", "<|im_end|>"],
        "do_sample": False,
        "max_gen_toks": 1024,
    },
    "metric_list": [{"metric": "exact_match"}],
}
README = """# {name}: tasks for lm-evaluation-harness

In this folder, after `pip install "lm_eval[hf]"`:

    lm_eval --model hf --model_args pretrained=ORG/NAME,dtype=float32 \\
        --include_path tasks --tasks {tag} --log_samples --output_path out

A model behind an API writes answers, so it takes the tasks whose method is `answer` or
`answer_all`. A model that thinks may need more tokens than the tasks' 1,024:

    lm_eval --model local-chat-completions \\
        --model_args model=NAME,base_url=ADDRESS/chat/completions \\
        --apply_chat_template --gen_kwargs max_gen_toks=8000 \\
        --include_path tasks --tasks {tag}_mctaco_answer --log_samples --output_path out

`{tag}` stands for all tasks, `{tag}_mctaco` for those of a study, `{tag}_mctaco_verbalizer` for
those of a method. Each task has a name of its own, too (below). Then, in the project's folder, for
each file of samples:

    python -m scripts.studies.<study>.evaluate --predictions out/MODEL/samples_TASK_DATE.jsonl \\
        --dataset results/build/<study>/SOURCE/DATASET --split SPLIT --name NAME

`docs/harness.md` of the project lists what to check.

| task | rows |
|---|---:|
"""
# the values of a domain's row in the columns that describe an example
NO_EXAMPLE = {"part": "", "data": "", "example_id": "", "label": ""}


def rows_of(table: pa.Table, prompt: dict, inputs: list[str]) -> pd.DataFrame:
    """Return a row for each text of each example: example_id, label, domain, context, text."""
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
    """Return each different text after its domain, as a row without an example."""
    pairs = rows.loc[rows["domain"].notna(), ["domain", "text"]].drop_duplicates()
    return pairs.rename(columns={"domain": "context"}).assign(domain=None, **NO_EXAMPLE)


def task_rows(dataset: dict, split: str, inputs: list[str], prompt: dict) -> pd.DataFrame:
    """Return the rows of a split and of domains, and those of the training split if it chooses a
    threshold.
    """
    answered = importlib.import_module(f"scripts.studies.{dataset['study']}.evaluate").ANSWERED
    (example, group, *_), parts = answered.columns, []
    for part in [split, *([dataset["splits"][0]] if prompt["threshold"] else [])]:
        file = Path(dataset["folder"], f"{part}.parquet")
        table = read_table(file, list(dict.fromkeys([example, group, *inputs])))
        if part != split:
            table = choosing(table, group, prompt["threshold"], str(file))
        table = table.rename_columns({example: "example_id"})
        facts = {"part": part, "data": answered.digest(file)}
        parts.append(rows_of(table, prompt, inputs).assign(**facts))
    rows = pd.concat(parts)
    return pd.concat([rows, after_domains(rows)])


def question_rows(dataset: dict, split: str, inputs: list[str], prompt: dict) -> pd.DataFrame:
    """Return a row for each question of a split. target: the line with the right letters."""
    answered = importlib.import_module(f"scripts.studies.{dataset['study']}.evaluate").ANSWERED
    file, ids = Path(dataset["folder"], f"{split}.parquet"), dataset["columns"]
    table = read_table(file, list(dict.fromkeys([*ids.values(), *inputs, "label"])))
    named = {name.replace("choice_id", "choice"): table[column] for name, column in ids.items()}
    table = pa.table(named | {name: table[name] for name in (*inputs, "label")})
    asked = questions_of(table, prompt, inputs)
    option = np.full(len(table), -1) if asked.option is None else asked.option
    example, label = table["example_id"].to_pylist(), table["label"].to_numpy()
    rows = []
    for number, of_question in sorted(
        pd.Series(asked.question).groupby(asked.question).indices.items()
    ):
        if labels := asked.labels[number] if asked.labels else []:
            right = [labels.index(answered.labels[0][label[of_question[0]]])]
        else:
            right = sorted(option[of_question[label[of_question] == 1]])
        facts = {
            "options": asked.options[number],
            "labels": labels,
            "members": [[example[row], int(option[row])] for row in of_question],
        }
        rows.append(
            {"question": asked.text[number], "target": answer_line([LETTERS[one] for one in right])}
            | {name: json.dumps(value, ensure_ascii=False) for name, value in facts.items()}
        )
    return pd.DataFrame(rows).assign(part=split, data=answered.digest(file))


def write_task(rows: pd.DataFrame, names: list[str], asked: dict, place: Path) -> str:
    """Write a task's rows and YAML. Return its name. asked: columns with one value in all rows."""
    task = "_".join([TAG, *names])
    columns = list(dict.fromkeys([*asked, "part", "data", *rows.columns]))
    rows = rows.assign(**asked)[columns]
    rows.to_json(place / f"{task}.jsonl", orient="records", lines=True, force_ascii=False)
    entry = {
        "task": task,
        "tag": [TAG, f"{TAG}_{asked['study']}", f"{TAG}_{asked['study']}_{asked['method']}"],
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"{TASKS}/{task}.jsonl"}},
    }
    form = ANSWERED if "question" in rows else SCORED
    text = yaml.safe_dump(entry | FORM | form, sort_keys=False, allow_unicode=True)
    (place / f"{task}.yaml").write_text(text, encoding="utf-8")
    return task


def write_tasks(dataset: dict, place: Path) -> dict[str, int]:
    """Write the tasks of a dataset. Return the number of rows of each task, by its name."""
    counts, study = {}, dataset["study"]
    for method, how in dataset["methods"].items():
        for wording, prompt in how["prompts"].items():
            if prompt.get("score") == "token":
                why = "its score is divided by tokens, and the harness counts none"
                log.info("%s: %s (%s) is left out: %s", dataset["folder"], method, wording, why)
                continue
            for split in dataset["splits"][1:]:
                asked = {
                    "study": study,
                    "dataset": f"{dataset['source']}/{dataset['name']}",
                    "split": split,
                    "method": method,
                    "wording": wording,
                    "score": prompt.get("score", ""),
                    "threshold": prompt.get("threshold") or "",
                }
                names = [study, dataset["source"], dataset["name"], split, method, wording]
                write_rows = question_rows if "question" in prompt else task_rows
                rows = write_rows(dataset, split, how["inputs"], prompt)
                counts[write_task(rows, names, asked, place)] = len(rows)
    return counts


def main(given: argparse.Namespace) -> None:
    datasets = json.loads(given.study.read_text(encoding="utf-8"))
    check_made(Path(dataset["folder"]) for dataset in datasets)
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
        metavar="STUDY",
        help="the file that describes the study's datasets",
    )
    program.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="the folder to write to"
    )
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
