"""The studies through the real lm-evaluation-harness: it gives the same scores as our own loop.

TIMESTRIDE_LM_EVAL names the Python of an environment with lm_eval, torch and transformers:

    python -m venv lm_eval && lm_eval/bin/pip install lm_eval==0.4.13 torch transformers accelerate
"""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.conftest import call
from tests.files import read_json
from tests.workflow.conftest import Study, checkout

pytestmark = [pytest.mark.slow, pytest.mark.models]
CONFIG = """
name: asked
bootstrap_resamples: 100
run: [asked_sop, asked_nli, asked_mctaco, asked_dialogs]
models: {mine: {folder: my/decoder, licence: MIT, title: My decoder}}
experiments:
  asked_sop: &asked
    title: Asked
    study: strided_sop
    data: {source: sample_activitynet, stride: 0, limit: 20}
    models: [mine]
    methods: [likelihood, likelihood_blind]
    wordings: [then]
    controls: false
    seeds: [1]
    training: {max_length: 2000}
  asked_nli:
    <<: *asked
    study: temporal_nli
    data: {source: generated, challenge_set: temp_order, train_templates: 4, test_templates: 2, limit: 20}
    methods: [likelihood, likelihood_blind, likelihood_pmi]
    wordings: [true_false]
  asked_mctaco:
    <<: *asked
    study: mctaco
    data: {source: sample_mctaco, train_questions: 10, limit: 6}  # 6 choose the threshold, too
    methods: [verbalizer, verbalizer_blind]
    wordings: [plausible]
  asked_dialogs:
    <<: *asked
    study: timedial
    data: {source: sample_dialogs, max_dialogs: 30, context_scope: local, limit: 10}
    wordings: [plain, titled]
"""
# the wordings of each study that this test asks
WORDINGS = {
    "strided_sop": ("_then",),
    "temporal_nli": ("_true_false",),
    "mctaco": ("_plausible",),
    "timedial": ("_plain", "_titled"),
}


@pytest.fixture(scope="module")
def lm_eval() -> str:
    """Return the Python that has lm_eval, or skip with a message that says what is missing."""
    python = os.environ.get("TIMESTRIDE_LM_EVAL")
    if not python:
        pytest.skip("no lm-evaluation-harness: set TIMESTRIDE_LM_EVAL to a python that has lm_eval")
    return python


def write_decoder(folder: Path, tasks: Path) -> None:
    """Write a decoder with random weights. Its tokens are the words of some tasks with the space
    before them, but the space before a number is its own token, as in Gemma. The tokenizer puts a
    token before each text, as our own loop does.
    """
    import torch
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import AutoModelForCausalLM, GPT2Config, PreTrainedTokenizerFast

    rows = [json.loads(line) for file in tasks.glob("*_likel*.jsonl") for line in file.open()]
    rows += [json.loads(line) for file in tasks.glob("*_verb*.jsonl") for line in file.open()]
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\s?[^\s\d][^\s]*|\s|\d+"), "isolated")
    trainer = trainers.WordLevelTrainer(special_tokens=["<s>", "<unk>"], show_progress=False)
    tokenizer.train_from_iterator((row["context"] + row["text"] for row in rows), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    same = dict.fromkeys(["bos_token", "eos_token", "pad_token"], "<s>")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", **same).save_pretrained(
        folder
    )
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=tokenizer.get_vocab_size(),
        n_embd=32,
        n_layer=2,
        n_head=2,
        n_positions=2048,
        initializer_range=0.2,
        bos_token_id=0,
        eos_token_id=0,
    )
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)


LM_EVAL = """
import json, sys
from lm_eval.__main__ import cli_evaluate
for options in json.loads(sys.argv[1]):
    sys.argv = ["lm_eval", *options]
    cli_evaluate()
"""


def ask_through_harness(python: str, study: Study, *calls: str) -> None:
    """Call lm_eval once for each text of options, all in one process: its imports take longest."""
    same = "--include_path tasks --log_samples "
    given = json.dumps([(same + options).split() for options in calls])
    own = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(study / "cache"), "OPENAI_API_KEY": "none"}
    asked = study / "results/harness/asked"
    done = call(python, "-c", LM_EVAL, given, cwd=asked, env=os.environ | own)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def study(lm_eval, tmp_path_factory) -> Study:
    """Return a checkout with the tasks of its datasets, a decoder, and CONFIG as a preset."""
    study = checkout(tmp_path_factory.mktemp("harness") / "study")
    file = study / "presets/asked.yaml"
    file.write_text(CONFIG.replace("models: [mine]", "models: [tiny_gpt_dialogs]"))
    study.run("harness", "--configfile", file)
    write_decoder(study / "my/decoder", study / "results/harness/asked/tasks")
    file.write_text(CONFIG)
    return study


def scores_in(file: Path, split: str) -> pd.Series:
    table = pd.read_parquet(file)
    return table[table["split"] == split].set_index("example_id")["score"].map(np.asarray)


def test_the_harness_gives_the_scores_of_our_own_loop(study, lm_eval, program, capsys):
    """The scores agree to 1e-4. For the wording with a title, the scores of an instance agree up to
    a constant: the harness scores the white space at the end of a context with each candidate.
    """
    study.run("train", "--configfile", "presets/asked.yaml")
    tasks = [
        file.stem
        for name, wordings in WORDINGS.items()
        for file in study.folder.glob(f"results/harness/asked/tasks/timestride_{name}_*.yaml")
        if file.stem.endswith(wordings)
    ]
    ask_through_harness(
        lm_eval,
        study,
        f"--model hf --device cpu --model_args pretrained={study / 'my/decoder'},dtype=float32"
        f" --tasks {','.join(tasks)} --batch_size 16 --output_path out",
    )
    files = sorted(study.folder.glob("results/harness/asked/out/*/samples_*.jsonl"))
    compared: dict[str, float] = {}
    for file in files:
        row = json.loads(file.open().readline())["doc"]
        built, called = f"results/build/{row['study']}/{row['dataset']}", row["method"]
        name = f"{called}-{row['wording']}"
        command = f"scripts.studies.{row['study']}.evaluate --resamples 20 --name {name}"
        place = ["--dataset", built, "--split", row["split"], "--predictions", file]
        program(command, *place, cwd=study.folder).checked()
        kept = study / built.replace("build", "external") / row["split"] / name
        facts = read_json(kept / "run.json")["made_by"]
        assert facts["method"] == called and facts["wording"] == row["wording"]
        assert facts["lm_eval_version"] and facts["model_name"].endswith("my/decoder")
        (ours,) = study.folder.glob(f"results/train/{row['study']}/*-mine-{name}-*")
        pairs = pd.DataFrame(
            {
                "ours": scores_in(ours / "predictions.parquet", row["split"]),
                "theirs": scores_in(kept / "predictions.parquet", row["split"]),
            }
        )
        distance = np.stack(pairs["ours"] - pairs["theirs"])
        if row["wording"] == "titled":
            examples = pd.read_parquet(study / built / f"{row['split']}.parquet")
            instance = examples.set_index("example_id")["instance_id"].reindex(pairs.index)
            distance -= pd.DataFrame(distance).groupby(instance.to_numpy()).transform("mean")
        assert np.stack(pairs["ours"]).std() > 0.1
        worst = float(np.abs(distance).max().max())
        compared[row["study"]] = max(worst, compared.get(row["study"], 0))
        assert worst < 1e-4, (file.name, worst)
    with capsys.disabled():
        print("\nlargest differences:", compared)
    assert set(compared) == set(WORDINGS)
    assert len(files) == 17
