"""The rehearsal of a study takes one step of each kind of run before anything is fetched, and
reports missing files and runs that do not fit.
"""

import pytest
import yaml
from transformers import BertConfig

from scripts.data.yaml_files import read_yaml
from tests.files import write_yaml
from tests.workflow.conftest import Study, checkout

pytestmark = pytest.mark.models

TINY = yaml.safe_load("""
{hidden_size: 32, num_hidden_layers: 2, num_attention_heads: 2, intermediate_size: 64, max_position_embeddings: 64,
  vocab_size: 9000}
""")


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Study:
    """Return a checkout with a mirror of one model of the hub. The mirror has only its
    configuration and a weight file without weights.
    """
    study = checkout(tmp_path_factory.mktemp("project"))
    place = study.folder / "mirror/huggingface.co/some/bert/resolve/main"
    place.mkdir(parents=True)
    BertConfig(architectures=["BertForMaskedLM"], **TINY).save_pretrained(place)
    (place / "model.safetensors").write_bytes(b"nobody reads this")
    return study


def configured(project: Study, name: str, **changed) -> str:
    experiment = yaml.safe_load("""
        study: strided_sop
        data:
          source: sample_activitynet
          stride: [0, 1]
        models: [some_bert]
        training: {epochs: 3, batch_size: 8, max_length: 64}
    """)
    config = {
        "name": name,
        "run": ["tried"],
        "mirror": "mirror",
        "experiments": {"tried": experiment},
        "models": {"some_bert": {"hub": "some/bert", "revision": "main", "licence": "MIT"}},
    }
    config["experiments"]["tried"]["training"] |= changed.pop("training", {})
    file = project.folder / f"{name}.yaml"
    write_yaml(file, config | changed)
    return str(file)


def test_a_step_is_taken_of_each_kind_of_run_and_nothing_is_fetched(project):
    said = project.run("rehearse", "--configfile", configured(project, "well"))
    lines = [line for line in said.splitlines() if line.startswith("tried: some_bert, train: ")]
    assert len(lines) == 1, said  # two strides and two seeds that cost the same
    assert "parameters" in lines[0]
    assert "s a step of 512 tokens" in lines[0]
    assert "MB of memory" in lines[0]
    assert not list(project.folder.glob("results/fetch/models/*"))
    assert not list(project.folder.glob("results/rehearse/well/*"))
    assert not (project.folder / "results/train/strided_sop").exists()


def test_what_fails_is_told_at_the_end_and_the_others_go_on(project):
    file = configured(
        project,
        "ill",
        run=["tried", "long"],
        models=yaml.safe_load("""
            some_bert: {hub: some/bert, revision: main, licence: MIT}
            lost: {hub: some/lost, revision: main, licence: MIT}
        """),
    )
    config = read_yaml(project.folder / "ill.yaml")
    config["experiments"]["long"] = config["experiments"]["tried"] | {"models": ["lost"]}
    write_yaml(project.folder / "ill.yaml", config)
    done = project.snakemake("--cores", "1", "rehearse", "--configfile", file, HF_HUB_OFFLINE="1")
    said = done.stdout + done.stderr
    assert done.returncode != 0 and "Traceback" not in said
    assert said.count("s a step of") == 1 and "long: lost, train: FAILED" in said
    log = (project.folder / "results/logs/rehearse/ill.log").read_text()
    assert "lost/config.json" in log and "failed, as said above" in log
    assert not (project.folder / "results/rehearse/ill.json").exists(), (
        "the next rehearsal asks again"
    )
