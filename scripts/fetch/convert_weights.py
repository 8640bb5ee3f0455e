"""Write pickled weights as safetensors, once, for a model that has only pytorch_model.bin.

A pickle can run code when it is read. torch reads this one with `weights_only=True`: tensors and
plain values only, and no code runs. A file that is no dictionary of tensors is refused.

Reads  FILE, a state_dict of torch (pytorch_model.bin)
Writes OUTPUT/model.safetensors. Copy config.json and the tokenizer's files beside it, then write
       `folder: OUTPUT` in the model's entry of resources/models.yaml

    python -m scripts.fetch.convert_weights pytorch_model.bin --output models/deberta-large-mnli
"""

import argparse
import pickle
from pathlib import Path

import torch
from safetensors.torch import save_file

from scripts.data.files import whole
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


def main(given: argparse.Namespace) -> None:
    tensors, target = read_tensors(given.file), given.output / "model.safetensors"
    with whole(target) as beside:
        save_file(tensors, beside, metadata={"format": "pt"})
        beside.chmod(0o644)
    log.info("%s: %d tensors", target, len(tensors))


def arguments() -> argparse.ArgumentParser:
    program = parser(__doc__)
    program.add_argument("file", type=Path, metavar="FILE", help="the pickled weights")
    program.add_argument(
        "--output", type=Path, required=True, metavar="FOLDER", help="the folder to write to"
    )
    return program


if __name__ == "__main__":
    execute(main, arguments().parse_args())
