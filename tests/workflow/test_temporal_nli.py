"""Temporal NLI through the workflow: three methods, and the reruns after a change."""

import shutil

import pytest
import yaml

from scripts.data.tables import read_table
from tests.models import fetched


@pytest.fixture(scope="module")
def nli_model(tmp_path_factory):
    """Write a tiny model whose configuration names the labels of NLI, in the order of
    roberta-large-mnli.
    """
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    folder = tmp_path_factory.mktemp("nli_model")
    fetched("tiny_bert", folder)
    torch.manual_seed(3)
    config = AutoConfig.from_pretrained(
        folder, num_labels=3, id2label={0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
    )
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    return folder


@pytest.fixture
def nli(study, nli_model):
    """Configure one small challenge set with all three methods."""
    shutil.copytree(nli_model, study / "models/nli")
    entry = {"folder": "models/nli", "licence": "MIT"}
    study.change("resources/models.yaml", lambda models: models.update(nli=entry))
    experiment = yaml.safe_load("""
        study: temporal_nli
        models: [nli]
        methods: [direct, train, hypothesis_only]
        controls: [bag_of_words, length_and_overlap]
        data: {source: generated, challenge_set: temp_order, train_templates: 4, test_templates: 2, iterations: 1}
        training: {epochs: 1, max_length: 64}
    """)
    study.change(
        "config.yaml",
        lambda config: (config["experiments"].update(nli=experiment), config.update(run=["nli"])),
    )
    return study


def test_three_methods_to_the_page_and_what_runs_again(nli):
    nli.run()
    metrics = read_table(nli / nli.metrics).to_pandas()
    whole = metrics[(metrics["slice"] == "all") & metrics["seed"].isna()]
    assert set(whole["method"]) == set(
        "majority baseline control direct train hypothesis_only".split()
    )
    assert set(whole["scoring"]) == {"ternary", "binary"} and whole["sample"].all()
    page = (nli / nli.page).read_text()
    assert "Temporal-expression NLI" in page and "hypothesis only" in page
    assert nli.jobs() == {}
    # Another training seed runs the methods that learn; another seed of the set builds it again.
    nli.change("config.yaml", lambda config: config.update(seeds=[1, 2]))
    assert nli.trained() == 2
    nli.change(
        "config.yaml", lambda config: config["experiments"]["nli"]["data"].update(generation_seed=1)
    )
    jobs = nli.jobs()
    assert nli.trained() == 5 and len(jobs["build_dataset"]) == 1
    assert not any(name.startswith(("fetch", "clean")) for name in jobs)


def test_the_released_third_set_cannot_be_learnt_from(nli, mirror):
    nli.change(
        "config.yaml",
        lambda config: config["experiments"]["nli"].update(
            data={"source": "released", "challenge_set": "cross_unit"},
            methods=["hypothesis_only"],
            controls=False,
        ),
    )
    done = nli.snakemake("--cores", "2", TIMESTRIDE_MIRROR=str(mirror))
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "train.parquet: no examples; the log of its build says why" in said
    assert (
        "no pairs of cross_unit to learn from" in said
        or "only the method direct"
        in (nli / "results/logs/build/temporal_nli/temporal_nli_release/cross_unit.log").read_text()
    )
