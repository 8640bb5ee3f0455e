"""presets/probe.yaml through the workflow, on sample sources: one command probes any model, and
some models are refused.
"""

import json
import shutil
import subprocess

import pandas
import pytest

from scripts.data.tables import read_metrics
from tests.files import read_json, write_json, write_yaml
from tests.forking import interpreter
from tests.workflow.conftest import Study, checkout

PRESET = ("--configfile", "presets/probe.yaml", "presets/samples.yaml")
# Sample sources in place of the corpora, and short training.
SAMPLES = """
bootstrap_resamples: 200
experiments:
  probe_sop:
    data: {source: sample_activitynet, stride: 0}
    training: {epochs: 1, max_length: 64}
  probe_nli_released:
    data: {source: generated, challenge_set: temp_duration, train_templates: 4, test_templates: 2}
    training: {epochs: 1, max_length: 64}
  probe_nli_generated:
    data: {train_templates: 4, test_templates: 2}
    training: {epochs: 1, max_length: 64}
  probe_mctaco:
    data: {source: sample_mctaco, train_questions: 10}
    training: {epochs: 1, max_length: 64}
  probe_timedial:
    data: {source: sample_dialogs, max_dialogs: 40}
    training: {epochs: 1, max_length: 128}
"""


def write_model(study: Study, name: str, seed: int = 1) -> None:
    """Write a model with random weights and the vocabulary of tiny_bert or tiny_gpt into my/<name>,
    as save_pretrained does.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

    folder = study / f"my/{name}"
    subprocess.run(
        [interpreter(), "-m", "scripts.fetch.model", "--model", name, "--output", folder],
        cwd=study.folder,
        check=True,
    )
    torch.manual_seed(seed)
    kind = {"tiny_bert": AutoModelForMaskedLM, "tiny_gpt": AutoModelForCausalLM}[name]
    kind.from_config(AutoConfig.from_pretrained(folder)).save_pretrained(folder)


@pytest.fixture(scope="module")
def probe(tmp_path_factory) -> Study:
    study = checkout(tmp_path_factory.mktemp("probe"))
    (study / "presets/samples.yaml").write_text(SAMPLES)
    for name in ("tiny_bert", "tiny_gpt"):
        write_model(study, name)
    return study


def probed(study: Study, *settings: str) -> dict[str, list[str]]:
    return study.jobs(*PRESET, "--config", *settings)


def by_verb(messages: list[str]) -> tuple[list[str], list[str]]:
    """Return the jobs that train, and those that ask."""
    found = {verb: [one for one in messages if one.startswith(verb)] for verb in ("Train", "Ask")}
    assert sum(map(len, found.values())) == len(messages)
    return found["Train"], found["Ask"]


def test_one_command_for_each_kind(probe):
    """An encoder is fine-tuned and asked, a decoder is asked; the values of the command line have
    the right types.
    """
    jobs = probed(probe, "model=./my/tiny_bert", "limit=20")
    assert len(jobs["fetch_model"]) == 1
    assert "Fetching the model tiny_bert-" in jobs["fetch_model"][0], (
        "the name is a tracked model's"
    )
    trained, asked = by_verb(jobs["train_run"])
    assert all("limit-20" in run and "seed-1-" in run for run in trained)
    assert any("-classify-seed-1-" in run for run in trained)
    assert asked and all(message.startswith("Asking tiny_bert-") for message in asked)
    one = probe.snakemake("--dry-run", *PRESET, "--config", "model=./my/tiny_bert", "study=mctaco")
    said = one.checked().stdout + one.stderr
    assert "What will be asked and learnt, about:" in said
    assert "Building mctaco" in said and "Building timedial" not in said
    auto = probed(probe, "model=./my/tiny_gpt", "limit=20", "fine_tune=auto")["train_run"]
    more = probed(probe, "model=./my/tiny_gpt", "limit=20", "fine_tune=true")["train_run"]
    assert by_verb(auto) == ([], by_verb(more)[1]) and auto
    assert any("classify-seed-1" in run for run in by_verb(more)[0])
    facts = {
        read_json(file)["kind"] for file in (probe / "results/fetch/facts").glob("tiny_*-*.json")
    }
    assert facts == {"encoder", "decoder"}


def test_a_first_look_is_short_and_marked_from_the_data_to_the_page(probe):
    """Models and controls learn from the same few examples, in one epoch and one process. Tables,
    figures, the page and the terminal say so.
    """
    asks = {"methods": ["train"], "controls": ["bag_of_words"]}
    data = {"train_questions": None, "unit_normalization": False}
    few = {"probe_sop": asks, "probe_mctaco": asks | {"data": data}}
    write_yaml(probe / "presets/few.yaml", {"run": [*few], "experiments": few})
    asked = (*PRESET, "presets/few.yaml", "--config", "model=./my/tiny_bert", "quick=true")
    said = probe.run(*asked)
    mark = "trained on 256 examples at most"
    runs = [read_json(file) for file in probe.folder.glob("results/train/*/*train_limit*/run.json")]
    assert 200 < max(one["train_examples"] for one in runs) <= 256
    assert {one["training"]["epochs"] for one in runs if "epochs" in one["training"]} == {1}
    published = probe / "results/publish/probe"
    page = (published / "index.html").read_text()
    assert f"were {mark}" in page and mark.capitalize() in page
    assert mark in said
    table = pandas.read_csv(published / "tables/mctaco_table.csv")
    assert len(table) and table["Corpus"].str.endswith(f"[{mark}]").all()
    assert mark.upper() in (published / "figures/accuracy_by_stride.svg").read_text()


@pytest.mark.parametrize("name", ["huge", "quantised"])
def test_weights_that_this_machine_cannot_hold_or_compute(probe, name):
    """The refusal comes before anything is fetched, from a header or the configuration alone."""
    folder = shutil.copytree(probe / "my/tiny_gpt", probe / f"my/{name}")
    if name == "huge":
        tensor = {"huge": {"dtype": "F32", "shape": [10**15], "data_offsets": [0, 4 * 10**15]}}
        header = json.dumps(tensor).encode()
        content = len(header).to_bytes(8, "little") + header
        (folder / "model.safetensors").write_bytes(content)
        said = ("4000000.0 GB", "name a smaller model")
    else:
        config = read_json(folder / "config.json") | {
            "quantization_config": {"quant_method": "fp8"}
        }
        write_json(folder / "config.json", config)
        said = (
            "its weights are quantised (fp8)",
            "on a GPU only",
            "docs/ask.md",
            "docs/harness.md",
        )
    asked = ("--config", f"model=./my/{name}", "device=cpu")
    probe.snakemake("--dry-run", *PRESET, *asked).refused(*said)
    assert not (probe / f"results/fetch/models/{name}").exists()


def test_a_decoder_from_the_command_line_to_the_page_and_its_weights_replaced(probe):
    """The page shows each wording that the decoder was asked, and each omitted part with its
    reason. The folder is watched: a touched file runs nothing, and other weights are fetched and
    asked again. Two studies stand for all.
    """
    two = {
        "run": ["probe_sop", "probe_mctaco"],
        "experiments": {
            name: {"controls": ["most_frequent_label"]} for name in ("probe_sop", "probe_mctaco")
        },
    }
    write_yaml(probe / "presets/two.yaml", two)
    asked = (*PRESET, "presets/two.yaml", "--config", "model=./my/tiny_gpt", "limit=8")
    probe.run(*asked)
    page = (probe / "results/publish/probe/index.html").read_text()
    assert "a probe does not train a decoder" in page and "tiny_gpt" in page
    metrics = read_metrics(probe / "results/evaluate/probe/metrics.parquet").to_pandas()
    model = metrics[metrics["model"].str.startswith("tiny_gpt")]
    assert set(model["study"]) == {"strided_sop", "mctaco"} and set(metrics["limit"]) == {8}
    assert {"plain", "then", "next_line"} <= set(model["wording"].dropna())
    assert model["wording"].isna().any()

    def scores() -> list:
        files = sorted(probe.folder.glob("results/train/*/*-tiny_gpt-*/predictions.parquet"))
        return [pandas.read_parquet(file)["score"].map(tuple).tolist() for file in files]

    first = scores()
    for file in (probe / "my/tiny_gpt").iterdir():
        file.touch()
    assert probe.jobs(*asked) == {}
    write_model(probe, "tiny_gpt", seed=2)
    jobs = probe.jobs("train", *asked)
    [fetched] = jobs["fetch_model"]
    assert fetched.startswith("Fetching the model tiny_gpt-") and jobs["train_run"]
    probe.run("train", *asked)
    assert len(scores()) == len(first) > 0
    assert not [one for one, other in zip(first, scores()) if one == other]
    assert probe.jobs("train", *asked) == {}
