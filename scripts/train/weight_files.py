"""Write trained weights in the form that others load, with a model card; and read them again, to
score with them.

scripts/train/kept_weights.py describes these weights and their place.
"""

import json
import shutil
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

from scripts.data.files import sha256_of, whole
from scripts.plan.models import CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS
from scripts.running.program import log
from scripts.train import adapter
from scripts.train.card import model_card
from scripts.train.hardware import Hardware
from scripts.train.kept_weights import ADAPTER_FILE, FACTS, learnt_digests
from scripts.train.labels import read_config
from scripts.train.launch import Launch
from scripts.train.result import selection_of
from scripts.train.work import write_json

# facts of run.json: the cost of learning the weights
OF_RUN = """
    seconds tokens tokens_per_second micro_batch_tokens epochs best_epoch hardware versions
    train_examples parameters trained_parameters
""".split()


def write_adapter(network: torch.nn.Module, training: dict, place: Path, base: str) -> None:
    """The adapter, and the modules that have learnt beside it, in peft's format."""
    beside = adapter.learnt_beside(network)
    names = {
        name: name.replace(f".{adapter.ADAPTER}.", ".") for name in adapter.trained_state(network)
    }
    state = {
        f"base_model.model.{names[name]}": values.detach().cpu().contiguous()
        for name, values in adapter.trained_state(network).items()
    }
    save_file(state, place / ADAPTER_FILE, {"format": "pt"})
    adapted = sorted({name.split(".lora_")[0] for name in names if ".lora_" in name})
    adapter.peft_configuration(
        network, training, adapted, adapter.whole_modules(network, beside), base
    ).save_pretrained(place)


def write(job: dict, facts: dict, trained, launch: Launch) -> None:
    """Write the weights of a trained network. facts: those of its run.json; trained: from
    scripts/train/loop.py.
    """
    assert launch.kept, "run.py names the folder of weights that are kept"
    place, keep, merge = Path(launch.kept), launch.keep, launch.merge_adapter
    state, network, tokenizer = trained.state, trained.paradigm.network, trained.paradigm.tokenizer
    training, card = job["settings"]["training"], launch.card | {"merged": merge}
    epoch = facts["best_epoch"] if keep == "best" else state.epoch
    if keep == "best" and state.weights:
        adapter.load_trained_state(network, state.weights)
    shutil.rmtree(place, ignore_errors=True)  # damaged, else the run would have used it
    with whole(place) as beside:
        beside.mkdir()
        if training.get("adapter") and not merge:
            write_adapter(network, training, beside, card.get("hub") or job["settings"]["model"])
        else:
            if training.get("adapter"):
                adapter.merge(network)
            network.save_pretrained(beside)
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
        tokenizer.save_pretrained(beside)
        (beside / "README.md").write_text(
            model_card(job, facts, state.history, epoch, keep, card), encoding="utf-8"
        )
        hashes = {
            str(file.relative_to(beside)): sha256_of(file)
            for file in sorted(beside.rglob("*"))
            if file.is_file()
        }
        learnt = [row for row in state.history if row["split"] in ("train", "held_out")]
        write_json(
            {
                "learnt": learnt_digests(job)[0],
                "digest": job["digest"],
                "epoch": epoch,
                "merged": merge,
                "selection": selection_of(state),
                "sha256": hashes,
                "history": learnt,
                "run": {key: facts[key] for key in OF_RUN},
            },
            beside / FACTS,
        )
    log.info("%s: the weights of epoch %d are kept in %s", job["run"], epoch, place)


class KeptWeights:
    """Weights that an earlier run has kept and that score this run."""

    def __init__(self, place: Path):
        self.place = place
        # kept_facts() has found this file whole
        self.facts = json.loads((place / FACTS).read_text(encoding="utf-8"))

    def model_folder(self, model: Path) -> Path:
        """The folder that a paradigm is made from: these weights, or the model of their adapter."""
        return model if (self.place / ADAPTER_FILE).exists() else self.place

    def take_up(self, network: torch.nn.Module, training: dict, hardware: Hardware) -> None:
        """Give a network that is made from model_folder() the kept weights."""
        if not (self.place / ADAPTER_FILE).exists():
            return
        adapter.prepare(network, training, hardware)
        state = load_file(self.place / ADAPTER_FILE)
        short = {
            name.replace(f".{adapter.ADAPTER}.", "."): name
            for name in adapter.trained_state(network)
        }
        adapter.load_trained_state(
            network,
            {
                short[name.removeprefix("base_model.model.")]: values
                for name, values in state.items()
            },
        )


# ---- the model that a run makes, from which other runs start

OF_LABELS = ("id2label", "label2id", "num_labels", "problem_type")


def write_body(weights_folder: Path, work: Path) -> None:
    """Write the body of a kept network (whole, not as an adapter) to <work>/result/model, in the
    form of a model's folder.

    A head belongs to its labels, so it is left out. Configuration and tokenizer are those of the
    model that the run started from (<work>/model), since `dropout` and the like belong to a run.
    """
    model, folder = work / "model", work / "result/model"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    prefix = f"{getattr(transformers, read_config(weights_folder)['architectures'][0]).base_model_prefix}."  # noqa: E501
    weights = load_file(weights_folder / WEIGHTS)
    save_file(
        {name: values for name, values in weights.items() if name.startswith(prefix)},
        folder / WEIGHTS,
        {"format": "pt"},
    )
    config = {key: value for key, value in read_config(model).items() if key not in OF_LABELS}
    (folder / CONFIG).write_text(
        json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )
    for name in (TOKENIZER, TOKENIZER_CONFIG):  # T5 comes without the latter
        shutil.copyfile(
            next(place / name for place in (model, weights_folder) if (place / name).exists()),
            folder / name,
        )
