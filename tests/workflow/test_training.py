"""Training through the workflow's program: killed runs, several processes, wrong input."""

import os
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest
import yaml

from scripts.data.tables import read_table
from tests.files import read_json
from tests.models import fetched
from tests.rows import rows_of
from tests.training import arguments, kill, started, write_pairs

# Eight pairs each: training takes seconds, so that a test can kill a run between its first and its
# last step.
VIDEOS = {"train": 60, "val_1": 20}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    write_pairs(folder / "data", VIDEOS, positions=8, words=6)
    fetched("tiny_bert", folder / "model")
    return folder


def arguments_of(prepared, output, training=(), **options) -> list[str]:
    given = {
        "data": prepared / "data",
        "model": prepared / "model",
        "splits": VIDEOS,
        "log": output / "log",
    }
    return arguments(output, training=training, **given | options)


@pytest.fixture
def train(prepared, program):
    def call(output, training=(), ok=True, **options):
        environment = {name: options.pop(name) for name in list(options) if name.isupper()}
        return program(
            "scripts.train.runs",
            *arguments_of(prepared, output, training, **options),
            **environment,
        ).checked(ok)

    return call


def results(output) -> tuple:
    return read_table(output / "history.parquet").to_pandas(), read_table(
        output / "predictions.parquet"
    ).to_pandas()


@pytest.fixture(scope="module")
def undisturbed(prepared, program, tmp_path_factory):
    output = tmp_path_factory.mktemp("undisturbed")
    program("scripts.train.runs", *arguments_of(prepared, output)).checked()
    return output


def begun(prepared, output, **options) -> subprocess.Popen:
    return started(output, arguments_of(prepared, output, checkpoint_seconds=0.05, **options))


def same_numbers(run, other) -> bool:
    """Return whether two runs have the same history and predictions, beside their names."""
    for name in ("history.parquet", "predictions.parquet"):
        one, two = (read_table(place / name).drop_columns("run") for place in (run, other))
        if not one.equals(two):
            return False
    return True


def test_it_learns_and_reports(undisturbed):
    history, predictions = results(undisturbed)
    facts = read_json(undisturbed / "run.json")
    assert facts["train_examples"] + facts["held_out_examples"] == VIDEOS["train"] * 8
    last = history[(history["split"] == "val_1") & (history["epoch"] == history["epoch"].max())]
    assert last["accuracy"].item() > 0.9
    for _, part in predictions[predictions["split"] == "val_1"].groupby("selection"):
        scores = np.stack(part["score"])
        np.testing.assert_allclose(np.exp(scores).sum(1), 1, atol=1e-5)
        epoch = part["epoch"].iloc[0]
        recorded = history[(history["split"] == "val_1") & (history["epoch"] == epoch)]
        right = (scores.argmax(1) == part["label"]).mean()
        assert right == pytest.approx(recorded["accuracy"].item(), abs=1e-6)
        nll = -scores[np.arange(len(scores)), part["label"]].mean()
        assert nll == pytest.approx(recorded["loss"].item(), abs=1e-5)
    held = history[history["split"] == "held_out"]
    assert facts["best_epoch"] == held.loc[held["loss"].idxmin(), "epoch"], (
        "the epoch with the lowest held-out loss"
    )
    assert set(facts["hardware"]) == set("device processes threads precision deterministic".split())
    assert "checkpoint.pt" not in os.listdir(undisturbed / "work")


def test_the_same_seed_gives_the_same_run_and_what_is_finished_is_not_made_again(
    train, undisturbed, tmp_path
):
    def again(**training) -> tuple[str, dict]:
        """Run again; return the run's output, and its kept tokens with their times."""
        said = train(tmp_path / "run", training, tokens=tmp_path / "tokens").stderr
        kept = (tmp_path / "tokens").rglob("*.npy")
        return said, {path: path.stat().st_mtime_ns for path in kept}

    _, kept = again()
    assert same_numbers(tmp_path / "run", undisturbed)
    # learned, held_out, val_1
    assert len([path for path in kept if path.name == "labels.npy"]) == 3
    (tmp_path / "run/run.json").unlink()
    assert "no step taken" in again()[0] and (tmp_path / "run/run.json").exists()
    said, found = again(learning_rate=2e-3)
    assert "no step taken" not in said and found == kept


def test_a_killed_run_resumes_to_the_same_numbers(prepared, undisturbed, train, tmp_path):
    kill(begun(prepared, tmp_path))
    assert not (tmp_path / "predictions.parquet").exists()
    assert "resumes in epoch" in train(tmp_path).stderr
    assert same_numbers(tmp_path, undisturbed)


@pytest.mark.models
def test_a_killed_run_with_an_adapter_resumes_from_what_it_has_trained(prepared, train, tmp_path):
    import torch

    from tests.train.decoders import write_decoder

    lora = yaml.safe_load("""
        {adapter: lora, rank: 4, alpha: 8.0, target: all-linear, gradient_checkpointing: true, max_length: 64,
          epochs: 2}
    """)
    given = {"training": lora, "model": write_decoder("llama", tmp_path / "model")}
    train(tmp_path / "whole", **given)
    output = tmp_path / "killed"
    kill(begun(prepared, output, **given))
    with open(output / "work/checkpoint.pt", "rb") as opened:
        saved = torch.load(opened, weights_only=True)["state"]["network"]
    assert "score.weight" in saved
    assert all("lora_" in name for name in saved if name != "score.weight")
    assert "resumes in epoch" in train(output, **given).stderr
    assert same_numbers(output, tmp_path / "whole")
    facts = read_json(output / "run.json")
    assert facts["training"]["adapter"] == "lora"
    assert facts["trained_parameters"] < facts["parameters"] / 2


def test_a_second_process_waits_for_the_first(train, tmp_path):
    with ThreadPoolExecutor(2) as both:
        said = [done.stderr for done in both.map(train, [tmp_path] * 2)]
    assert sum("no step taken" in text for text in said) == 1


@pytest.mark.parametrize(
    "given, said",
    rows_of("""
        {training: {max_length: 4096}} | max_length is 4096
        {training: {held_out_fraction: 1.0e-09}} | too few to hold
        {training: {learning_rate: 1000000.0, gradient_clip: 1000000000.0, weight_decay: 1000.0}} | the loss is not finite
        {device: gpu, devices: 64} | 'device: gpu asks for 64 GPU(s)'
        {report_to: wandb} | pip install wandb
    """),
)
def test_what_cannot_be_trained_is_refused(train, tmp_path, given, said):
    train(tmp_path, ok=False, **given).refused(said)
    assert not (tmp_path / "predictions.parquet").exists()


@pytest.fixture(scope="module")
def labelled(prepared, tmp_path_factory):
    """Write a model with the labels in_order and swapped, not in the study's order."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    folder = tmp_path_factory.mktemp("labelled") / "model"
    shutil.copytree(prepared / "model", folder)
    torch.manual_seed(7)
    config = AutoConfig.from_pretrained(
        folder, num_labels=2, id2label={0: "IN-ORDER", 1: "swapped"}
    )
    network = AutoModelForSequenceClassification.from_config(config)
    network.classifier.weight.data *= 3
    network.save_pretrained(folder)
    return folder


def test_without_what_is_held_out_the_last_epoch_is_reported(train, tmp_path):
    """MC-TACO's authors choose no epoch."""
    train(tmp_path, {"epochs": 2, "held_out_fraction": 0}, method={"peak": False})
    facts, predictions = read_json(tmp_path / "run.json"), results(tmp_path)[1]
    assert facts["held_out_examples"] == 0 and facts["best_epoch"] == facts["epochs"] == 2
    assert set(predictions["selection"]) == {"last"} and set(predictions["epoch"]) == {2}


def test_sigterm_saves_and_ends_and_the_run_goes_on(prepared, undisturbed, train, tmp_path):
    process = begun(prepared, tmp_path)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert "was told to stop (SIGTERM); what was learnt is saved" in said
    assert "Traceback" not in said
    assert "resumes in epoch" in train(tmp_path).stderr
    assert same_numbers(tmp_path, undisturbed)


def test_two_processes_agree_with_one_once_those_of_a_killed_launcher_have_ended(
    prepared, train, tmp_path
):
    """The gradient is that of the whole batch, so only rounding differs (without dropout, since its
    masks depend on the shares).
    """
    place = tmp_path / "two"
    process = begun(prepared, place, training={"epochs": 500, "dropout": 0.0}, devices=2)
    [launcher] = psutil.Process(process.pid).children()
    launcher.kill()  # its processes live on
    process.wait()
    train(place, {"dropout": 0.0}, devices=2)
    assert read_json(place / "run.json")["hardware"]["processes"] == 2
    assert (tmp_path / "two.manifest.json").exists(), "several processes write the manifest, too"
    train(tmp_path / "one", {"dropout": 0.0})
    one, two = results(tmp_path / "one"), results(place)
    assert [len(table) for table in one] == [len(table) for table in two]
    np.testing.assert_allclose(one[0]["loss"], two[0]["loss"], atol=1e-4)
    np.testing.assert_allclose(one[0]["accuracy"], two[0]["accuracy"], atol=0.01)


# ---- what changes numbers, and what does not


def test_nothing_of_the_users_accelerate_configuration_changes_a_number(
    undisturbed, train, tmp_path
):
    (tmp_path / "home/accelerate").mkdir(parents=True)
    (tmp_path / "home/accelerate/default_config.yaml").write_text(
        "{compute_environment: LOCAL_MACHINE, distributed_type: FSDP, mixed_precision: bf16, "
        "use_cpu: false, num_processes: 3}"
    )
    train(
        tmp_path / "out",
        HF_HOME=str(tmp_path / "home"),
        ACCELERATE_MIXED_PRECISION="bf16",
        ACCELERATE_GRADIENT_ACCUMULATION_STEPS="4",
        ACCELERATE_USE_FSDP="true",
        OMP_NUM_THREADS="2",
        WORLD_SIZE="2",
        RANK="1",
        LOCAL_RANK="1",
    )
    assert same_numbers(tmp_path / "out", undisturbed)


def test_scores_are_of_fp32_whatever_learns(train, labelled, prepared, tmp_path):
    """A model that is not trained gives the same scores under bf16 and fp32; a model trained in
    bf16 gives fp32 scores.
    """
    for precision in ("bf16", "fp32"):
        train(
            tmp_path / precision, {"precision": precision}, method={"learns": False}, model=labelled
        )
    bf16, fp32 = (
        np.stack(results(tmp_path / precision)[1]["score"]) for precision in ("bf16", "fp32")
    )
    assert (bf16 == fp32).all()
    train(tmp_path / "learnt", {"precision": "bf16", "epochs": 1})
    scores = np.stack(results(tmp_path / "learnt")[1]["score"]).astype(np.float32)
    assert read_json(tmp_path / "learnt/run.json")["hardware"]["precision"] == "bf16"
    assert (scores.view(np.uint32) & 0xFFFF).any(1).mean() > 0.9, (
        "the lower half of an fp32 number is rounded away in bf16"
    )
