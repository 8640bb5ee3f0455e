"""Make the page of the record: one file for a web server. It needs no corpora and no weights.

It shows the findings, and the figures and tables that are drawn from numbers alone. It takes the
presets that have comparisons on record, because their controls are today's. A number that several
presets have is shown once; `presets/controls.yaml` comes first. Splits cut by `limit` are left out.

Reads  RECORD/<study>/metrics.parquet, comparisons.parquet and runs.jsonl
       (scripts/data/record.py); resources/, presets/
Writes OUTPUT

    python -m scripts.publish.record_page docs/record docs/index.html
"""

import argparse
import importlib
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.data.files import whole
from scripts.data.papers import texts_of
from scripts.data.record import COMPARISONS, METRICS, read_kept, read_runs
from scripts.data.studies import ALL, read_figures, read_studies
from scripts.data.yaml_files import read_yaml
from scripts.measure.comparisons import CONTROL_METHODS
from scripts.measure.tally import DRAWS
from scripts.publish.compared import SYSTEM
from scripts.publish import site
from scripts.publish.item import project_texts, write_texts
from scripts.publish.items import publish
from scripts.running.code_lock import identity
from scripts.running.project_version import ROOT
from scripts.plan.fields import has_options
from scripts.running.program import UserError, execute, log, parser

CONTROLS = "controls"  # the preset of controls alone
# The columns that a new measurement may change. All other columns identify a number.
MEASURED = "experiment preset value sd ci_low ci_high seeds groups effective_groups p_value".split()
MEASURED += ["sd_beyond_groups", "kind_of_control", "chosen", "rung", "runs"]
SHOWN = ["preset", "study", *SYSTEM, "metric"]  # a comparison belongs to a number with these


def read_numbers(folder: Path, presets: set[str]) -> tuple[pa.Table, pa.Table]:
    """Return a study's numbers of whole splits in these presets, and the comparisons of these
    numbers. If several presets have a number, it comes from the first.
    """
    kept = read_kept(folder, METRICS)
    schema = importlib.import_module(f"scripts.studies.{folder.name}.evaluate").SCHEMA
    fields = [field for field in schema if field.name != "draws"]
    for field in fields:
        if field.name not in kept.column_names:  # newer than the record
            kept = kept.append_column(field, pa.nulls(len(kept), field.type))
    kept = kept.select([field.name for field in fields] + ["preset"])
    rows = kept.to_pandas()
    rows = rows[rows["preset"].isin(presets) & rows["limit"].isna()]
    rows = rows.sort_values("preset", key=lambda preset: preset != CONTROLS, kind="stable")
    key = rows.drop(columns=[name for name in rows if name in MEASURED]).astype(str)
    first = rows["preset"].groupby(pd.util.hash_pandas_object(key, index=False)).transform("first")
    rows = rows[rows["preset"] == first]
    chosen = kept.take(pa.array(sorted(rows.index))).drop_columns(["preset"])
    draws = pa.nulls(len(chosen), DRAWS)  # a record keeps no draws
    compared = read_kept(folder, COMPARISONS)
    shown = rows.reindex(columns=SHOWN).astype(str).drop_duplicates()
    beside = compared.to_pandas().reindex(columns=SHOWN).astype(str).reset_index()
    compared = compared.take(pa.array(beside.merge(shown)["index"].sort_values()))
    return chosen.append_column("draws", draws), compared.drop_columns(["preset"])


def is_drawn(item: dict, runs: list[dict]) -> bool:
    """Whether an item is drawn from numbers alone and one of the runs has numbers for it."""
    numbers = {"metrics", "runs"} if item["study"] == ALL else {"metrics"}
    if "needs_people" in item or not set(item["reads"]) <= numbers:
        return False
    return any(
        item["study"] in (run["study"], ALL)
        and not (item.get("needs_model") and run["method"] in CONTROL_METHODS)
        and has_options(run["data_options"], item.get("needs", {}))
        for run in runs
    )


def configuration_of(experiments: list[str]) -> dict:
    files = sorted((ROOT / "presets").glob("*.yaml"))
    known = {
        name: of for file in files for name, of in read_yaml(file).get("experiments", {}).items()
    }
    entries = {name: known.get(name, {}) for name in experiments}
    # through JSON: YAML would write anchors for the settings that presets share
    text = json.dumps({"name": "record", "run": experiments, "experiments": entries})
    return json.loads(text)


def make_page(
    numbers: pa.Table, comparisons: pa.Table, runs: list[dict], studies: dict, folder: Path
) -> None:
    items = [item for item in read_figures(studies) if is_drawn(item, runs)]
    pq.write_table(numbers, folder / METRICS)
    pq.write_table(comparisons, folder / COMPARISONS)
    for name in ("resources", "report"):
        (folder / name).symlink_to(ROOT / name)
    for run in runs:
        file = folder / "train" / run["study"] / run["run"] / "run.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(run), encoding="utf-8")
    read = {"train": folder / "train", "runs": [f"{run['study']}/{run['run']}" for run in runs]}
    for item in items:
        shown = list(studies) if item["study"] == ALL else [item["study"]]
        texts = project_texts(studies, items, shown) | texts_of(shown)
        resources = write_texts(texts, folder / "texts" / item["study"])
        item = item | {"reads": read}
        publish(item, folder / METRICS, resources, folder / "publish")
    for dark in folder.glob("publish/figures/*.dark.svg"):  # else half of the page
        dark.unlink()
    cleaning = {"cleaning.csv": "source,split,unit,action,reason,count\n"}
    write_texts(project_texts(studies, items, studies) | cleaning, folder / ALL)
    code = {item["name"]: {"code": identity(item["program"])} for item in items}
    experiments = sorted(set(numbers["experiment"].to_pylist()))
    given = argparse.Namespace(
        metrics=folder / "metrics.parquet",
        resources=folder / ALL,
        texts=None,
        publish=folder / "publish",
        cleaning=[folder / ALL / "cleaning.csv"],
        runs=sorted(folder.glob("train/*/*/run.json")),
        configuration=configuration_of(experiments),
        provenance=code,
        output=folder / "index.html",
        alone=True,
    )
    site.main(given)


def main(given: argparse.Namespace) -> None:
    studies, runs, tables = read_studies(), [], []
    for study in studies:
        lines = read_runs(given.record / study).values()
        if not lines:
            continue
        compared = read_kept(given.record / study, COMPARISONS)["preset"].to_pylist()
        presets = set(given.presets or compared)
        chosen = [one["run"] for one in lines if one["preset"] in presets]
        # like the numbers, only runs on whole splits
        if whole_runs := [run for run in chosen if not run["data_options"].get("limit")]:
            tables.append(read_numbers(given.record / study, presets))
            runs += whole_runs
    if not runs:
        raise UserError(
            f"{given.record}: has no runs of these presets; name other presets with --presets"
        )
    studies = {name: studies[name] for name in studies if name in {run["study"] for run in runs}}
    with TemporaryDirectory() as place:
        both = (pa.concat_tables(of, promote_options="default") for of in zip(*tables))
        make_page(*both, runs, studies, Path(place))
        with whole(given.output) as beside:
            shutil.copyfile(Path(place, "index.html"), beside)
    log.info("%s: %d KB", given.output, given.output.stat().st_size // 1024)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("record", type=Path, help="the folder of the record, docs/record")
    options.add_argument("output", type=Path, help="the HTML file to write")
    options.add_argument(
        "--presets",
        nargs="*",
        default=[],
        help="only these presets, even without comparisons on record",
    )
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
