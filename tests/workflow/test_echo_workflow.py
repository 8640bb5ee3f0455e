"""Likelihoods through an API equal those of our own loop: a server with a tiny decoder is compared
with the same decoder on this machine.
"""

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.files import read_json, write_yaml
from tests.train.decoders import SIZES, write_tokenizer
from tests.train.api_server import decoder_reply, serving
from tests.workflow.conftest import checkout
from tests.workflow.test_commands import check_pasted

pytestmark = [pytest.mark.slow, pytest.mark.models]
CONFIG = yaml.safe_load("""
name: echoed
bootstrap_resamples: 100
run: [nli, mctaco]
experiments:
  nli: &asked
    title: Asked
    study: temporal_nli
    data: {source: generated, challenge_set: temp_order, train_templates: 4, test_templates: 2, limit: 20}
    models: [here, far]
    methods: [likelihood_pmi]
    wordings: [true_false]
    controls: false
    seeds: [1]
    training: {max_length: 100}
  mctaco:
    <<: *asked
    study: mctaco
    data: {source: sample_mctaco, train_questions: 10, limit: 6}
    methods: [likelihood]
    wordings: [plain]
    training: {max_length: 160, shots: 1}
""")


def write_decoder(folder) -> None:
    """Write a decoder without BOS whose tokens are bytes, so that one sign may be several
    tokens.
    """
    import torch
    from transformers import AutoModelForCausalLM, Qwen3Config

    tokenizer = write_tokenizer("qwen3", folder)
    torch.manual_seed(0)
    sizes = SIZES | {"max_position_embeddings": 4000, "initializer_range": 0.3}
    end = tokenizer.eos_token_id
    config = Qwen3Config(vocab_size=len(tokenizer), bos_token_id=None, eos_token_id=end, **sizes)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)


def test_a_server_gives_the_scores_of_our_own_loop(tmp_path, capsys):
    study = checkout(tmp_path / "study")
    write_decoder(study / "my/decoder")
    with serving(decoder_reply(study / "my/decoder")) as server:
        far = {"api": server.address, "name": "far", "logprobs": True}
        models = {
            "here": {"folder": "my/decoder", "licence": "MIT"},
            "far": far | {"start_token": "<|endoftext|>", "licence": "MIT"},
        }
        write_yaml(study / "presets/echoed.yaml", CONFIG | {"models": models})
        asked = ("train", "--configfile", "presets/echoed.yaml")
        study.run(*asked)
        assert check_pasted(study, *asked, only={"train_api"})
    assert server.paths == {"/v1/completions"}
    compared, cut = {}, 0
    for theirs in study.folder.glob("results/train/*/*-far-*"):
        (ours,) = theirs.parent.glob(
            theirs.name.rsplit("-", 1)[0].replace("-far-", "-here-") + "-*"
        )
        tables = [
            pd.read_parquet(run / "predictions.parquet").sort_values(["split", "example_id"])
            for run in (ours, theirs)
        ]
        assert list(tables[0]["example_id"]) == list(tables[1]["example_id"])
        scores = [np.stack(table["score"]) for table in tables]
        assert scores[0].std() > 0.1
        compared[theirs.name] = float(np.abs(scores[0] - scores[1]).max())
        # scores in the hundreds are stored in 32 bits
        np.testing.assert_allclose(*scores, atol=1e-4, rtol=3e-7)
        facts = [read_json(run / "run.json") for run in (ours, theirs)]
        for key in ("labels", "label_columns", "train_examples", "shots"):
            assert facts[0][key] == facts[1][key], key
        # both count the texts that were cut, also in a training split that chooses a threshold
        assert facts[0]["truncated"] == facts[1]["truncated"]
        cut += sum(facts[1]["truncated"].values())
        if facts[0]["threshold"] is not None:  # 6 of the 10 training questions choose it
            (file,) = study.folder.glob("results/build/mctaco/*/*/train.parquet")
            sizes = pd.read_parquet(file)["group_id"].value_counts()
            assert 6 <= sizes.tail(6).sum() <= facts[0]["train_examples"] <= sizes.head(6).sum()
            assert facts[0]["threshold"] == pytest.approx(facts[1]["threshold"], abs=1e-4)
    with capsys.disabled():
        print("\nlargest differences:", compared, "cut:", cut)
    assert len(compared) == 2 and cut
