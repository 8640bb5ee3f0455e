"""Weights that others have quantised: transformers' own quantizers read them, on a GPU, to ask."""

from contextlib import suppress
from pathlib import Path

from scripts.plan.models import ELSEWHERE
from scripts.running.program import UserError
from scripts.train.labels import read_config


def quantiser_of(model: Path) -> str | None:
    """Return the method by which a model's weights were quantised (bitsandbytes, gptq, fp8, …);
    None for other weights.
    """
    found = None
    with suppress(UserError, FileNotFoundError):  # of a file that the paradigm refuses
        found = read_config(model).get("quantization_config")
    return str(found.get("quant_method")) if isinstance(found, dict) else None


def quantised_fact(model: Path) -> dict[str, str]:
    """Return {quantised: the method} for run.json; {} for other weights."""
    return {"quantised": method} if (method := quantiser_of(model)) else {}


def check_quantised(model: Path, gpus: list[str], training: dict, learns: bool) -> None:
    """Raise UserError for quantised weights that cannot be read as a job wants them."""
    if not (method := quantiser_of(model)):
        return
    what = f"{model}: its weights are quantised ({method})"
    if learns:
        raise UserError(
            f"{what}, so they can be asked but not trained; name the model from which they were "
            "made (`base_model` on its page), or a method without training"
        )
    if not gpus:
        raise UserError(
            f"{what}, and transformers reads them on a GPU only: take a machine that has one, or "
            f"{ELSEWHERE}"
        )
    if training.get("precision") != "bf16":
        raise UserError(f"{what}, and are computed in bf16; write `training: {{precision: bf16}}`")
