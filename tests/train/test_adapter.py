"""LoRA and checkpointing of gradients: which weights are trained, in which precision, which are
saved, and that merging does not change the numbers.
"""

import re

import numpy as np
import pytest
import torch
import yaml
from accelerate import Accelerator

from scripts.running.program import UserError
from scripts.train import adapter
from scripts.train.paradigms import classify
from scripts.train.batches import Examples, collate
from scripts.train.hardware import Hardware
from scripts.train.step import Learner, parameter_groups
from tests.files import read_json, write_json
from tests.models import job_of
from tests.training import arguments, write_pairs
from tests.train.decoders import write_decoder
from tests.train.test_classify_decoders import PAIRS
from tests.train.test_keep import LORA
from tests.train.test_train_step import scores

pytestmark = pytest.mark.models
TRAINING = yaml.safe_load("""
{learning_rate: 0.01, warmup_ratio: 0.1, weight_decay: 0.0, gradient_clip: 1.0, max_length: 128, precision: fp32}
""")
CPU = Hardware("cpu", 1, 1, "fp32", True, False)
BF16 = Hardware("cpu", 1, 1, "bf16", True, False)


@pytest.fixture(scope="module")
def decoders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decoders")
    return {kind: write_decoder(kind, folder / kind) for kind in ("gpt2", "llama")}


def paradigm_of(folder, hardware=CPU, **training):
    torch.manual_seed(3)
    paradigm = classify.Paradigm(folder, job_of(**{"max_length": 128} | training), {})
    adapter.prepare(paradigm.network, TRAINING | training, hardware)
    return paradigm


def learn(paradigm, steps: int = 3, precision: str = "fp32", **training) -> Examples:
    examples = paradigm.encode(PAIRS)
    optimizer = torch.optim.AdamW(parameter_groups(paradigm.network, 0.0), lr=1e-2)
    learner = Learner(
        Accelerator(cpu=True),
        paradigm,
        optimizer,
        paradigm.network.train(),
        TRAINING | training,
        1,
        10,
        precision,
        None,
    )
    for step in range(steps):
        learner.step(examples, np.arange(4), 0, step, step)
    return examples


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_matrices_and_head_learn_and_nothing_else_does(decoders, kind):
    paradigm = paradigm_of(decoders[kind], **LORA)
    network = paradigm.network
    trained = {name for name, weight in network.named_parameters() if weight.requires_grad}
    assert "score.weight" in trained and all("lora_" in name for name in trained - {"score.weight"})
    layers = {"gpt2": 4, "llama": 7}[kind] * 3  # all linear layers of three blocks
    assert len(trained) == 1 + 2 * layers
    before = {name: weight.detach().clone() for name, weight in network.named_parameters()}
    first = scores(paradigm, paradigm.encode(PAIRS))
    examples = learn(paradigm)
    changed = {
        name for name, weight in network.named_parameters() if not weight.equal(before[name])
    }
    assert changed == trained
    assert set(adapter.trained_state(network)) == trained, "a checkpoint holds what is trained"
    after = scores(paradigm, examples)
    assert (after - first).abs().max() > 1e-3
    # A new network with the saved weights is the same.
    again = paradigm_of(decoders[kind], **LORA)
    adapter.load_trained_state(again.network, adapter.trained_state(network))
    assert scores(again, examples).equal(after)
    adapter.merge(network)
    assert not [name for name in network.state_dict() if "lora_" in name or "base_layer" in name]
    torch.testing.assert_close(scores(paradigm, examples), after, atol=1e-5, rtol=0)


def test_frozen_weights_are_in_16_bit_and_scores_in_32(decoders):
    paradigm = paradigm_of(decoders["llama"], BF16, **LORA | {"precision": "bf16"})
    kinds = {weight.dtype for weight in paradigm.network.parameters() if not weight.requires_grad}
    assert kinds == {torch.bfloat16}
    assert {weight.dtype for weight in parameter_groups(paradigm.network, 0)[0]["params"]} == {
        torch.float32
    }
    frozen = {
        name: weight.detach().clone()
        for name, weight in paradigm.network.named_parameters()
        if not weight.requires_grad
    }
    examples = learn(paradigm, precision="bf16", **LORA)
    found = scores(paradigm, examples)
    for name, weight in paradigm.network.named_parameters():
        assert name not in frozen or weight.equal(frozen[name]) and weight.dtype == torch.bfloat16
    adapter.merge(paradigm.network)
    with torch.no_grad():
        expected = paradigm.scores(
            paradigm.network.eval(), collate(examples, np.arange(4), paradigm.padding, "cpu")
        )
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_checkpointing_changes_no_gradient(decoders, kind):
    """Dropout is on: the recomputed activations draw the same masks."""
    gradients = []
    for checkpointing in (False, True):
        paradigm = paradigm_of(decoders[kind], gradient_checkpointing=checkpointing, dropout=0.2)
        learn(paradigm, 1, gradient_checkpointing=checkpointing)
        assert scores(paradigm, paradigm.encode(PAIRS)).shape == (4, 2)
        gradients.append(
            {name: weight.grad for name, weight in paradigm.network.named_parameters()}
        )
        assert paradigm.network.is_activation_checkpointing == checkpointing
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][name], atol=1e-6, rtol=1e-4)


def test_what_cannot_have_an_adapter_is_told(tmp_path, decoders):
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((decoders["llama"] / name).read_bytes())
    with pytest.raises(UserError, match="needs trained weights, and this model has none"):
        paradigm_of(tmp_path, **LORA)
    with pytest.raises(UserError, match="target names q_prj, .* did you mean q_proj?"):
        paradigm_of(decoders["llama"], **LORA | {"target": "v_proj,q_prj"})
    for wanted in (LORA, {"gradient_checkpointing": True}):
        with pytest.raises(
            UserError, match=f"training: {next(iter(wanted))} works only with a transformer"
        ):
            adapter.prepare(torch.nn.Linear(2, 2), TRAINING | wanted, CPU)


# ---- memory


def test_too_little_memory_names_the_settings(program, decoders, tmp_path):
    """A model of 2^50 bytes fits into no address space: the allocation fails on any machine."""
    config = read_json(decoders["llama"] / "config.json") | {"intermediate_size": 2**44}
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "model" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "model" / name).write_bytes((decoders["llama"] / name).read_bytes())
    write_json(tmp_path / "model/config.json", config)
    write_pairs(tmp_path / "data", {"train": 5, "val": 5})
    done = program(
        "scripts.train.runs",
        *arguments(
            tmp_path / "out",
            tmp_path / "data",
            tmp_path / "model",
            training={"epochs": 1, "batch_size": 4, "held_out_fraction": 0.3},
        ),
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert re.search(
        r"error: out: the memory is too small .* set precision: bf16, adapter: lora, "
        r"gradient_checkpointing: true, lower batch_size, micro_batch_tokens or max_length, or "
        r"take a smaller model",
        done.stderr.splitlines()[-1],
    )
    assert not (tmp_path / "out/work/failed.json").exists(), (
        "an attempt with more memory may succeed"
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["work"]
