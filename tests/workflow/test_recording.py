"""One target keeps a finished study in docs/record/, and `recorded=true` makes its numbers again
without training.
"""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from scripts.data.record import write_hashes
from tests.files import read_json
from tests.workflow.conftest import Study
from tests.workflow.test_commands import check_command, commands


def sentences(folder) -> set[str]:
    """Return the long texts (over 40 characters) of the datasets of a finished study."""
    files = [
        file
        for file in folder.glob("results/build/*/*/*/*.parquet")
        if file.stem in ("train", "test", "val", "val_1", "val_2")
    ]
    names = {
        file: {"text_a", "text_b", "context"} & set(pq.read_schema(file).names) for file in files
    }
    return {
        text
        for file in files
        for name in names[file]
        for text in pq.read_table(file, columns=[name])[name].to_pylist()
        if len(text) > 40
    }


def said_in(file: Path) -> str:
    """Return all that a file of the record says in words, each value of a column once."""
    if file.suffix != ".parquet":
        return file.read_text()
    table = pq.read_table(file)
    worded = [field.name for field in table.schema if "string" in str(field.type)]
    of_numbers = [str(field.type) for field in table.schema if field.name not in worded]
    assert all(re.search("int|float|double|bool", kind) for kind in of_numbers), of_numbers
    return "\n".join({str(value) for name in worded for value in table[name].to_pylist()})


def verbs(jobs: dict[str, list[str]]) -> set[str]:
    return {message.split()[0] for message in jobs["train_no_model"]}


def numbers(study: Study) -> pd.DataFrame:
    return pd.read_parquet(study / study.metrics).drop(columns="draws")


def test_a_study_is_recorded_and_made_again_without_training(study):
    """All runs are recorded except controls without a search; no text of a corpus is."""
    (study / "README.md").write_text("docs/record/figures/default/accuracy_by_stride.svg")
    study.run("record")
    place, before = study / "docs/record", numbers(study)
    runs = {
        json.loads(line)["run"]["run"]
        for file in place.glob("*/runs.jsonl")
        for line in file.read_text().splitlines()
    }
    facts = [read_json(file) for file in study.folder.glob("results/train/*/*/run.json")]
    assert runs >= {one["run"] for one in facts if "search" in one.get("control", {"search": ""})}
    assert (place / "figures/default/accuracy_by_stride.svg").exists()
    kept = "\n".join(
        said_in(file)
        for file in place.glob("*/*")
        if file.is_file() and file.parent.name != "figures"
    )
    assert str(study.folder) not in kept
    said = sentences(study.folder)
    assert len(said) > 100
    assert not any(one in kept for one in said), "no texts of a corpus"

    shutil.rmtree(study / "results/train")
    shutil.rmtree(study / "results/evaluate")
    shutil.rmtree(study / "results/fetch/models")
    recorded = ("--config", "recorded=true")
    file = place / "strided_sop/runs.jsonl"
    text = file.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    [stale, *_] = [line for line in lines if line["run"]["model"] == "tiny_bert"]
    stale["version"] = "0"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    refused = study.snakemake("--dry-run", *recorded)
    assert "runs.jsonl: is not as it was recorded" in refused.stdout + refused.stderr
    write_hashes(file.parent)
    planned = study.jobs("evaluate", *recorded)
    assert planned["train_run"] == [f"Training {stale['run']['run']}"], "of other code"
    file.write_text(text)
    write_hashes(file.parent)
    planned = study.jobs("evaluate", *recorded)
    assert verbs(planned) == {"Taking", "Measuring"}
    assert not {"train_run", "fetch_model"} & set(planned)
    study.run("evaluate", *recorded)
    pd.testing.assert_frame_equal(numbers(study), before, rtol=1e-3, atol=1e-3)
    shares = before["metric"].str.contains("accuracy|exact_match")
    assert shares.any()
    pd.testing.assert_frame_equal(numbers(study)[shares], before[shares], rtol=1e-12)
    assert study.jobs("evaluate", *recorded) == {}
    [job] = [one for one in commands(study, "evaluate", *recorded) if "--record=" in one[1]]
    check_command(study, *job)
    assert study.jobs("evaluate", *recorded) == {}
    assert not study.trained(study.jobs("evaluate")), "what came from the record is finished"


def test_a_control_on_cut_splits_comes_from_the_record(study):
    """Recorded scores of a control on whole splits serve any `limit`."""
    control = {"models": ["search_both_texts"], "controls": False}
    alone = {"name": "default", "run": ["other_sop"], "experiments": {"other_sop": control}}
    (study / "whole.json").write_text(json.dumps(alone))
    (study / "cut.json").write_text(json.dumps(alone | {"limit": 20}))
    study.run("record", "--configfile", "whole.json")
    cut = ("--configfile", "cut.json")
    recorded = (*cut, "--config", "recorded=true")
    planned = study.jobs("evaluate", *recorded)
    assert verbs(planned) == {"Taking"}
    study.run("evaluate", *recorded)
    taken = numbers(study)
    assert set(taken["limit"]) == {20}
    shutil.rmtree(study / "results/train")
    assert verbs(study.jobs("evaluate", *cut)) == {"Measuring"}
    study.run("evaluate", *cut)
    pd.testing.assert_frame_equal(taken, numbers(study), rtol=1e-12)
