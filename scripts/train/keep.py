"""Write trained weights as others load them, with a model card; and take them up again, to score by them.

What they are and where they lie says scripts/train/kept.py.
"""

import json
import shutil
from pathlib import Path

from safetensors.torch import load_file, save_file

from scripts.data.files import sha256_of, whole
from scripts.running.program import log
from scripts.train import adapter
from scripts.train.card import model_card
from scripts.train.kept import ADAPTER_FILE, FACTS, learnt_digest
from scripts.train.work import write_json

TOLD = ("seconds", "tokens", "tokens_per_second", "micro_batch_tokens", "epochs", "best_epoch", "hardware", "versions", "train_examples",
        "parameters", "trained_parameters")  # of run.json: what it took to learn them


def write_adapter(network, training: dict, place: Path, base: str) -> None:
    """The adapter, and the modules that have learnt beside it, in peft's format."""
    beside = adapter.learnt_beside(network)
    names = {name: name.replace(f".{adapter.ADAPTER}.", ".") for name in adapter.trained_state(network)}
    state = {f"base_model.model.{names[name]}": values.detach().cpu().contiguous() for name, values in adapter.trained_state(network).items()}
    save_file(state, place / ADAPTER_FILE, {"format": "pt"})
    adapted = sorted({name.split(".lora_")[0] for name in names if ".lora_" in name})
    adapter.peft_configuration(network, training, adapted, adapter.whole_modules(network, beside), base).save_pretrained(place)


def write(job: dict, facts: dict, state, paradigm, network, place: Path, keep: str, merge: bool, card: dict) -> None:
    """Write the weights of a trained network; facts: those of its run.json; card: what the card says of model and data."""
    training, epoch = job["settings"]["training"], facts["best_epoch"] if keep == "best" else state.epoch
    if keep == "best" and state.weights:
        adapter.load_trained_state(network, state.weights)
    shutil.rmtree(place, ignore_errors=True)  # damaged, else it would have been taken
    with whole(place) as beside:
        beside.mkdir()
        if training.get("adapter") and not merge:
            write_adapter(network, training, beside, card.get("hub") or job["settings"]["model"])
        else:
            if training.get("adapter"):
                adapter.merge(network)
            network.save_pretrained(beside)
        paradigm.tokenizer.backend_tokenizer.no_truncation()
        paradigm.tokenizer.backend_tokenizer.no_padding()
        paradigm.tokenizer.save_pretrained(beside)
        (beside / "README.md").write_text(model_card(job, facts, state.history, epoch, keep, card), encoding="utf-8")
        hashes = {str(file.relative_to(beside)): sha256_of(file) for file in sorted(beside.rglob("*")) if file.is_file()}
        learnt = [row for row in state.history if row["split"] in ("train", "held_out")]
        write_json({"learnt": learnt_digest(job), "digest": job["digest"], "epoch": epoch, "merged": merge, "selection": selection_of(state), "sha256": hashes,
                    "history": learnt, "run": {key: facts[key] for key in TOLD}}, beside / FACTS)
    log.info("%s: the weights of epoch %d are kept in %s", job["run"], epoch, place)


def selection_of(state) -> str:
    """By what the epoch was chosen whose scores are reported: held_out or last."""
    return next(selection for selection in state.kept if selection != "peak")


class KeptWeights:
    """Weights that an earlier run has kept, by which this one is scored."""

    def __init__(self, place: Path):
        self.place = place
        self.facts = json.loads((place / FACTS).read_text(encoding="utf-8"))  # which kept_facts() has found whole

    def model_folder(self, model: Path) -> Path:
        """The folder that a paradigm is made from: these weights, or the model beside which an adapter has learnt."""
        return model if (self.place / ADAPTER_FILE).exists() else self.place

    def take_up(self, network, training: dict, hardware) -> None:
        """Let a network that is made of model_folder() be the one that was kept."""
        if not (self.place / ADAPTER_FILE).exists():
            return
        adapter.prepare(network, training, hardware)
        state = load_file(self.place / ADAPTER_FILE)
        short = {name.replace(f".{adapter.ADAPTER}.", "."): name for name in adapter.trained_state(network)}
        adapter.load_trained_state(network, {short[name.removeprefix("base_model.model.")]: values for name, values in state.items()})
