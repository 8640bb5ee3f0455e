"""Write pickled weights as safetensors, once, for a model that has only pytorch_model.bin.

A pickle can run code when it is read. torch reads this one with `weights_only=True`: tensors and
plain values only, and no code runs. A file that is no dictionary of tensors is refused.

Reads  FILE, a state_dict of torch (pytorch_model.bin), or the index of several
       (pytorch_model.bin.index.json); config.json and the tokenizer's files beside it
Writes OUTPUT, a folder that can be probed (`timestride probe OUTPUT`): model.safetensors, or shards
       and their index, and copies of the other files

    python -m scripts.fetch.convert_weights models/mine/pytorch_model.bin --output models/converted
"""

import argparse
import json
import pickle
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file

from scripts.data.files import whole_set
from scripts.fetch.model_files import read_object
from scripts.fetch.pretrained import MODEL_FILES
from scripts.plan.models import CONFIG, INDEX, WEIGHTS
from scripts.running.program import UserError, execute, log, parser, shown


def read_tensors(file: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a pickled state_dict, each with its own memory. Raises UserError for a
    pickle of anything else. The code of a pickle never runs.
    """
    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError):
        raise UserError(
            f"{file}: holds more than tensors, or is damaged; none of its code was run; get the "
            "weights from a place that you trust"
        ) from None
    if not isinstance(found, dict) or not found:
        raise UserError(f"{file}: holds no dictionary of tensors; name a state_dict of torch")
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            raise UserError(
                f"{file}: {shown(name)} is no named tensor, but {type(value).__name__}; name a "
                "state_dict of torch"
            )
    return {name: value.clone().contiguous() for name, value in found.items()}


def shards_of(file: Path) -> list[Path]:
    """Return the pickles that FILE names: itself, or the files of an index."""
    if file.suffix != ".json":
        return [file]
    table = read_object(file.name, file.name, file).get("weight_map")
    names = set(map(str, table.values())) if isinstance(table, dict) else set()
    if not names or any("/" in name for name in names):
        raise UserError(f"{file}: names no file beside it for each tensor (weight_map); correct it")
    return [file.parent / name for name in sorted(names)]


def write_weights(shards: list[Path], folder: Path) -> int:
    """Write each pickle as a safetensors file, and their index if there are several. Return the
    number of tensors.
    """
    table: dict[str, str] = {}
    size = 0
    for number, shard in enumerate(shards, 1):
        name = WEIGHTS if len(shards) == 1 else f"model-{number:05}-of-{len(shards):05}.safetensors"
        tensors = read_tensors(shard)
        save_file(tensors, folder / name, metadata={"format": "pt"})
        (folder / name).chmod(0o644)
        table |= dict.fromkeys(tensors, name)
        size += sum(tensor.nbytes for tensor in tensors.values())
    if len(shards) > 1:
        index = {"metadata": {"total_size": size}, "weight_map": table}
        (folder / INDEX).write_text(json.dumps(index, indent=1), encoding="utf-8")
    return len(table)


def main(given: argparse.Namespace) -> None:
    source = given.file.parent
    with whole_set(given.output) as folder:
        count = write_weights(shards_of(given.file), folder)
        beside = [name for name in MODEL_FILES if (source / name).is_file()]
        for name in beside:
            shutil.copyfile(source / name, folder / name)
    log.info("%s: %d tensors, and %s", given.output, count, ", ".join(beside) or "no other file")
    if CONFIG not in beside:
        log.warning(
            "warning: %s has no %s: copy the model's %s and its tokenizer to %s",
            *(source, CONFIG, CONFIG, given.output),
        )


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    program.add_argument(
        "file", type=Path, metavar="FILE", help="the pickled weights, or their index"
    )
    program.add_argument(
        "--output", type=Path, required=True, metavar="FOLDER", help="the folder to write to"
    )
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
