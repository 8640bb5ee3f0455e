"""Made-up inputs for the publish tests: metrics, runs, datasets and resources in the real
schemas.
"""

import json
import shutil
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml

from scripts.data.studies import read_studies
from scripts.data.yaml_files import read_yaml
from scripts.plan.fields import has_options
from scripts.data.tables import HISTORY, write_table
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from tests.compared import compared, write_comparisons
from scripts.studies.strided_sop.evaluate import SCHEMA
from tests.conftest import ROOT
from tests.registers import FIGURES, hand_over
from tests.files import read_texts, write_rows, write_yaml
from tests.runs import write_run

HOSTILE = (
    "<script>alert('x')</script> & \"quotes\" {{ 7 * 7 }} {x} 50 % $x^{ <img src=x "
    "onerror=alert(1)>"
)
SPLITS = {"activitynet": ["val_1", "val_2"], "sample_howto100m": ["val"]}
STRIDES = [0, 1, 2, 3]
SEEDS = [1, 2]
CONTROLS = {"bag_of_words": 0.54, "first_text": 0.51}  # the accuracy of each control


def p_value_of(value: float, low: float, high: float) -> float:
    """Return the p-value of a difference with this 95 % interval, if the difference is normal."""
    return 2 * NormalDist().cdf(-1.959964 * abs(value) / ((high - low) / 2))


def with_draws(rows: list[dict]) -> list[dict]:
    """Add an evaluation's numbers of seeds and groups to rows, and draws. Draws of the same split
    are paired.
    """
    noise = {
        place: np.random.default_rng(number).normal(0, 0.015, 200)
        for number, place in enumerate(dict.fromkeys((row["source"], row["split"]) for row in rows))
    }
    return [
        row
        | {
            "seeds": 2 if row["sd"] is not None else 0,
            "effective_groups": float(row["groups"]),
            "draws": [row["value"] + noise[row["source"], row["split"]] * (0.5 + row["value"])],
        }
        if row.get("seed") is None and row["slice"] == "all"
        else row | {"seeds": 1, "effective_groups": float(row["groups"])}
        for row in rows
    ]


def control_rows(rows: list[dict], values: dict[str, float]) -> list[dict]:
    """Return rows of controls, made from the rows of a model over all seeds. values: the score of
    each control by name.
    """
    return [
        row | {"model": name, "method": "control", "seed": None, "sd": None} | around(value)
        for name, value in values.items()
        for row in rows
        if row["seed"] is None
    ]


def metric_row(study: str, value: float | None = None, **more) -> dict:
    """Return a number over all seeds and examples, with its interval."""
    row = yaml.safe_load("""
        {experiment: tried, split: test, slice: all, seed: null, sd: null, seeds: 1, n: 500, groups: 200,
          effective_groups: 200.0, sample: false}
    """)
    return row | {"study": study} | ({} if value is None else around(value)) | more


def around(value: float) -> dict:
    """Return a value with its interval."""
    return {"value": value, "ci_low": value - 0.03, "ci_high": value + 0.03}


def metric_rows() -> list[dict]:
    """Return rows of two corpora, one of them a sample; two seeds and their mean, and controls; a
    human line and a size-matched twin on activitynet.
    """
    rows = []
    places = [
        (source, matched, split, stride)
        for source, splits in SPLITS.items()
        for matched in ([None, 3] if source == "activitynet" else [None])
        for split in splits
        for stride in STRIDES
    ]
    for source, matched, split, stride in places:
        same = metric_row(
            "strided_sop",
            source=source,
            stride=stride,
            dataset=f"stride-{stride}" + ("-size_matched-3" if matched else ""),
            size_matched=matched,
            split=split,
            method="train",
            model="minilm",
            hard=False,
            n=2882 - 700 * stride,
            groups=838 - 100 * stride,
            sample=source.startswith("sample"),
        )
        for metric, lift in (("accuracy", 0), ("peak_accuracy", 0.02)):
            values = [0.55 + 0.05 * stride + 0.01 * seed + lift for seed in SEEDS]
            of = same | {"metric": metric}
            rows += [of | around(value) | {"seed": seed} for seed, value in zip(SEEDS, values)]
            rows.append(of | around(float(np.mean(values))) | {"sd": float(np.std(values, ddof=1))})
        if source == "activitynet" and matched is None:
            people = {"model": "human", "method": "human", "metric": "human_accuracy"}
            answered = {"value": 0.6, "ci_low": 0.4, "ci_high": 0.8, "n": 20, "groups": 20}
            rows.append(same | people | answered)
    rows += control_rows([row for row in rows if row["metric"] == "accuracy"], CONTROLS)
    return with_draws(rows)


def slice_rows() -> list[dict]:
    """Return slices of the accuracy over all seeds and pairs: two slices, one of them rare at
    stride 3, and a category.
    """
    rows = []
    for row in metric_rows():
        if row["metric"] == "accuracy" and row["seed"] is None:
            rare = 9 if row["stride"] == 3 else 40
            rows += [
                row | {"slice": name, "n": n, "value": row["value"] + lift}
                for name, n, lift in (
                    ("same_start=false", row["n"] - rare, 0.01),
                    ("same_start=true", rare, -0.1),
                    (f"category={HOSTILE}", row["n"], 0),
                )
            ]
    return rows


# The facts in run.json of every run, and those of a control.
FACTS = yaml.safe_load("""
{study: strided_sop, train_examples: 6700, held_out_examples: 700, seconds: 90.0, tokens_per_second: 12000.0,
  digest: d1, code: scripts.train.loop 123, hardware: {device: a machine, processes: 1, threads: 2, precision: fp32, deterministic: true},
  cost: {cpu_seconds: 90.0, at_least: false, gpu_seconds: 0.0, gpu_watts: null, processor: a CPU, cores: 2, gpus: 0, system: Linux},
  timestride: {version: 0.2.0, commit: null, modified: null}, versions: {torch: 2.13.0, transformers: 5.23.0},
  data_options: {stride: 0, size_matched: null, same_videos: null, hard: false, max_videos: null, label_seed: 0}}
""")
OF_CONTROL = yaml.safe_load("""
{source: activitynet, dataset: stride-0, model: bag_of_words, method: control, seed: 1,
  control: {features: [words]}, labels: [swapped, in_order], label_columns: [], truncated_examples: 0, truncated: {},
  held_out_examples: 0, epochs: 0, best_epoch: 0, tokens: 0, tokens_per_second: 0.0, model_files: {},
  micro_batch_tokens: null, data: {train: digest of activitynet stride-0}}
""")


def write_history(rows: list[dict], folder: Path, settings: dict) -> None:
    table = pa.Table.from_pylist(rows, schema=HISTORY)
    write_table(table, folder / "history.parquet", HISTORY, {"settings": settings})


def twelve_pairs(stride: int) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"example_id": f"v{number}:{stride}:1", "group_id": f"v{number}", "label": number % 2}
            for number in range(12)
        ]
    )


def make_run(results: Path, source: str, stride: int, seed: int) -> str:
    """Write a run's outputs and its dataset; every pair has `HOSTILE` first and `=then(…)`
    second.
    """
    name, dataset = f"{source}-stride-{stride}-minilm-seed-{seed}-0", f"stride-{stride}"
    training = {"epochs": 3, "learning_rate": 1e-4, "batch_size": 64}
    same = {"source": source, "dataset": dataset, "model": "minilm", "method": "train"}
    same |= {"training": training, "seed": seed}
    data, splits = FACTS["data_options"] | {"stride": stride}, SPLITS[source]
    history = [
        {"run": name, "epoch": epoch, "split": split, "n": 9}
        | {"loss": 0.7 - 0.05 * epoch, "accuracy": 0.5 + 0.05 * epoch}
        for epoch in (1, 2, 3)
        for split in ("train", "held_out", *splits)
    ]
    examples = twelve_pairs(stride)
    pairs = []
    for number, label in enumerate(examples["label"]):
        # A spreadsheet reads this as a formula. The last character turns the text after it.
        then = f"=then({number})\u202e"
        texts = [HOSTILE, then] if label else [then, HOSTILE]
        pairs.append(
            {
                "pair_id": f"v{number}:{stride}:1",
                "video_id": f"v{number}",
                "stride": stride,
                "first_position": 1,
                "second_position": 2 + stride,
                "text_a": texts[0],
                "text_b": texts[1],
                "label": label,
                "category": HOSTILE if number % 3 else "Sport",
            }
        )
    for split in ("train", splits[0]):
        place = results / "build/strided_sop" / source / dataset / f"{split}.parquet"
        write_rows(pairs, place, STRIDED_PAIRS)
    right = 0.02 + 0.08 * np.arange(12)  # probability: pairs 0 to 5 wrong, 6 to 11 right
    scores = np.log(np.where(np.eye(2)[examples["label"]], right[:, None], 1 - right[:, None]))
    facts = FACTS | same | {"splits": ["train", *splits], "data_options": data}
    facts |= {"train_examples": 6700 - stride, "epochs": 3, "best_epoch": 3}
    facts |= {"data": {"train": f"digest of {source} {dataset}"}}
    parts = [(splits[0], "held_out", examples, scores)]
    write_run(results / "train/strided_sop", name, parts, **facts)
    settings = {"study": "strided_sop", "data": data} | same
    write_history(history, results / "train/strided_sop" / name, settings)
    return name


def make_control(results: Path) -> str:
    """Write the run.json and scores of a control that labels every pair as swapped; pairs with even
    numbers are swapped.
    """
    name, trained = "activitynet-stride-0-bag_of_words-seed-1-0", results / "train/strided_sop"
    scores = np.log([[0.6, 0.4]] * 12)
    facts = FACTS | OF_CONTROL | {"splits": ["train", *SPLITS["activitynet"]]}
    write_run(trained, name, [("val_1", "last", twelve_pairs(0), scores)], **facts)
    write_history([], trained / name, {"training": {}})
    return name


def is_made(item: dict) -> bool:
    """Return whether an item of figures.yaml needs only plain runs of a sentence order study."""
    is_plain = "needs_several" not in item
    is_plain &= has_options({"stride": 0}, item.get("needs", {}))
    return item["study"] == "strided_sop" and is_plain


class Inputs:
    """A made-up study in a folder; `call` runs the program of an item of figures.yaml on it, like
    the rule.
    """

    def __init__(
        self,
        folder: Path,
        program,
        study: str,
        schema: pa.Schema,
        rows: list[dict],
        comparisons: list[dict] | None = None,
    ):
        self.folder, self.program, self.study, self.schema = folder, program, study, schema
        self.results, self.resources = folder / "results", folder / "resources"
        self.metrics, self.publish = self.results / "metrics.parquet", self.results / "publish"
        self.runs, self.controls = [], []
        self.write_metrics(rows, comparisons)

    def write_metrics(self, rows: list[dict], comparisons: list[dict] | None = None) -> None:
        """Write the rows, and their comparisons: these, or those that the rows' draws give."""
        if comparisons is None:
            drawn = [row for row in rows if row.get("draws") is not None]
            kinds, comparisons = compared(rows if drawn else [])
            rows = kinds or rows
        write_rows(rows, self.metrics, self.schema)
        write_comparisons(comparisons, self.metrics)

    def write_resources(self, **contents) -> None:
        """Write the files of resources/ with these names."""
        self.resources.mkdir(parents=True, exist_ok=True)
        for name, content in ({"figures": self.items()} | contents).items():
            write_yaml(self.resources / f"{name}.yaml", content)

    def write_cleaning(self, source: str, *counts: str) -> None:
        """Write the counts of a source's cleaner for its training split."""
        file = self.results / "clean" / source / "cleaning.csv"
        file.parent.mkdir(parents=True)
        lines = [f"{source},train,{count}\n" for count in counts]
        file.write_text("".join(["source,split,unit,action,reason,count\n", *lines]))

    def items(self) -> list[dict]:
        return [item for item in FIGURES if item["study"] == self.study]

    def item(self, name: str) -> dict:
        return next(item for item in self.items() if item["name"] == name)

    def call(self, item: dict | str, ok: bool = True, **more):
        """Run the program of an item, given itself or its name; check that it succeeds (ok) or
        fails. more: changed options.
        """
        item = self.item(item) if isinstance(item, str) else item
        done = self.program("scripts.publish.item", item["program"], *self.options(item, **more))
        return done.checked(ok)

    def options(self, item: dict, **more) -> list:
        """Return the arguments of an item's program."""
        of_study = "" if self.study == "all" else self.study
        runs = self.runs + self.controls * ("controls" in item["reads"])
        given = {
            "resources": [self.resources],
            "metrics": [self.metrics],
            "output": [self.publish / f"{item['kind']}s" / item["name"]],
            "columns": [item.get("columns", 2)],
        }
        reads = {
            "runs": {"train": [self.results / "train" / of_study], "runs": runs},
            "datasets": {"build": [self.results / "build" / of_study]},
            "cleaned": {"cleaned": [self.results / "clean"]},
            "headline": {"headline": [read_studies().get(item["study"], {}).get("headline")]},
        }
        for name in item["reads"]:
            given |= reads.get(name, {})
        given |= {name: [value] for name, value in more.items()}
        return [word for name, values in given.items() for word in (f"--{name}", *values)]

    def drawn(self, name: str) -> str:
        """Return the SVG of a figure."""
        return (self.publish / f"figures/{name}.svg").read_text()


class Study(Inputs):
    """A made-up study of sentence order, with its page."""

    def __init__(self, folder: Path, program):
        rows = metric_rows() + slice_rows()
        super().__init__(folder, program, "strided_sop", SCHEMA, rows)
        self.page = self.publish / "site/index.html"
        shutil.copytree(ROOT / "report", folder / "report")
        hand_over(self.resources, "strided_sop", [item for item in FIGURES if is_made(item)])
        self.change("models", lambda models: models["minilm"].update(title=HOSTILE))
        self.change(
            "sources", lambda sources: sources["sample_howto100m"].update(title=f"Sample {HOSTILE}")
        )
        self.runs = [
            make_run(self.results, source, stride, seed)
            for source in SPLITS
            for stride in STRIDES
            for seed in SEEDS
        ]
        self.controls = [make_control(self.results)]
        for source in SPLITS:
            self.write_cleaning(
                source,
                "videos,read,,100",
                "videos,kept,,10009",
                "sentences,changed,<b>white</b> space,25731",
                "sentences,dropped,never happened,0",
            )

    def change(self, name: str, change) -> None:
        """Apply `change` to resources/<name>.yaml."""
        file = self.folder / f"resources/{name}.yaml"
        entries = read_yaml(file)
        change(entries)
        write_yaml(file, entries)

    def items(self) -> list[dict]:
        return read_yaml(self.resources / "figures.yaml")

    def make_page(self, **settings):
        """Run every program, then the page's program; settings: further parts of the
        configuration.
        """
        for item in self.items():
            self.call(item)
        return self.page_alone(**settings)

    def page_alone(self, **settings):
        """Make the page from the existing results."""
        configuration = {"run": ["tried"], "experiments": {"tried": {"title": HOSTILE}}} | settings
        return self.program(
            f"scripts.publish.site --metrics {self.metrics} "
            f"--resources {self.folder}/resources --publish {self.publish} "
            f"--output {self.page}",
            "--cleaning",
            *sorted(self.results.glob("clean/*/cleaning.csv")),
            "--runs",
            *sorted(self.results.glob("train/*/*/run.json")),
            "--configuration",
            json.dumps(configuration),
            "--provenance",
            json.dumps(
                {"accuracy_by_stride": {"rule": "publish_accuracy_by_stride", "code": "print 0123"}}
            ),
        )


def points_of(study, name: str) -> pd.DataFrame:
    """Read the numbers beside a figure."""
    return pd.read_csv(study.publish / f"figures/{name}.csv")


def table_of(study, name: str) -> pd.DataFrame:
    return read_texts(study.publish / f"tables/{name}.csv")
