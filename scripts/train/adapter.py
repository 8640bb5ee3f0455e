"""LoRA by peft: small matrices learn beside the linear layers of a network, whose own weights do
not change (Hu et al. 2021).

Two more parts learn, in fp32 like the matrices: a fresh head (weights that the model's file lacks),
and the head of a classifier. The frozen weights are in 16 bit on a GPU. They are in 32 bit while
scores are computed, so that rounding does not decide a rank.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from scripts.running.program import UserError, closest
from scripts.train.hardware import Hardware

ADAPTER = "default"  # peft's name of the adapter, a part of the names of its weights
ALL_LINEAR = "all-linear"


def learnt_beside(network: torch.nn.Module) -> list[str]:
    """The weights that learn as a whole: those that the file lacked, and a classifier's head."""
    heads = "ForSequenceClassification" in type(network).__name__
    prefix = f"{network.base_model_prefix}."
    return [
        name
        for name, _ in network.named_parameters()
        if name in network.lacked or (heads and not name.startswith(prefix))
    ]


def whole_modules(network: torch.nn.Module, weights: list[str]) -> list[str]:
    """The modules that hold these weights. A head is one module; a layer inside the model has its
    full name.
    """
    prefix = f"{network.base_model_prefix}."
    return sorted(
        {
            name.rpartition(".")[0] if name.startswith(prefix) else name.partition(".")[0]
            for name in weights
        }
    )


def targets(network: torch.nn.Module, target: str, beside: list[str]) -> list[str]:
    """Return the names of the linear layers that get matrices: all layers of the base model, or
    only some. `target` then lists the ends of their names, separated by commas. Raises UserError if
    no layer has such a name.
    """
    prefix = f"{network.base_model_prefix}."
    linear = [
        name
        for name, module in network.named_modules()
        if isinstance(module, torch.nn.Linear | Conv1D)
        and name.startswith(prefix)
        and not any(name == other or name.startswith(f"{other}.") for other in beside)
    ]
    if target == ALL_LINEAR:
        return linear
    known = {name.rpartition(".")[2] for name in linear}
    for name in target.split(","):
        if not any(layer == name or layer.endswith(f".{name}") for layer in linear):
            raise UserError(
                f"training: target names {name}, which is not a linear layer of this "
                f"{network.config.model_type} model{closest(name, [*known, ALL_LINEAR])}"
            )
    return [
        layer for layer in linear if layer.endswith(tuple(f".{name}" for name in target.split(",")))
    ]


def configuration(network: torch.nn.Module, training: dict, layers: list[str], **more):
    """peft's configuration of the adapter of these layers. more: other keys of it."""
    from peft import LoraConfig  # the import takes a second, and few runs need it

    return LoraConfig(
        r=training["rank"],
        lora_alpha=training["alpha"],
        target_modules=layers,
        fan_in_fan_out=any(isinstance(module, Conv1D) for module in network.modules()),
        **more,
    )


def peft_configuration(
    network: torch.nn.Module, training: dict, adapted: list[str], whole: list[str], base: str
):
    """The configuration by which others load the adapter of an adapted network: its layers, and the
    modules that have learnt as a whole.
    """
    kinds = {
        "ForSequenceClassification": "SEQ_CLS",
        "ForCausalLM": "CAUSAL_LM",
        "LMHeadModel": "CAUSAL_LM",
        "ForConditionalGeneration": "SEQ_2_SEQ_LM",
    }
    task = next(
        (task for ending, task in kinds.items() if type(network).__name__.endswith(ending)), None
    )
    return configuration(
        network,
        training,
        adapted,
        modules_to_save=whole or None,
        task_type=task,
        base_model_name_or_path=base,
        inference_mode=True,
    )


def prepare(network: torch.nn.Module, training: dict, hardware: Hardware) -> None:
    """Give a network that learns the adapter and the gradient checkpointing that the settings ask
    for.

    The caller seeds torch. Raises UserError for a network that cannot have them.
    """
    wanted = [name for name in ("adapter", "gradient_checkpointing") if training.get(name)]
    if wanted and not isinstance(network, PreTrainedModel):
        raise UserError(
            f"training: {wanted[0]} works only with a transformer, and this model is not one; take "
            "it out"
        )
    if training.get("adapter"):
        add(network, training, hardware)
    if training.get("gradient_checkpointing"):
        if not network.supports_gradient_checkpointing:
            raise UserError(
                f"training: a {network.config.model_type} model has no gradient_checkpointing; "
                "take it out"
            )
        network.activation_checkpointing_enable({"use_reentrant": False})
        network.disable_input_require_grads()  # not needed with this kind of checkpointing


def add(network: torch.nn.Module, training: dict, hardware: Hardware) -> None:
    """Put the adapter into a network and freeze the rest, in 16 bit on a GPU (on a CPU where
    `precision: bf16` says so).
    """
    from peft import LoraModel

    if network.lacked is None:
        raise UserError(
            f"training: adapter: {training['adapter']} needs trained weights, and this model has "
            "none; take it out, or name a trained model"
        )
    beside = learnt_beside(network)
    layers = targets(network, training["target"], whole_modules(network, beside))
    LoraModel(network, configuration(network, training, layers), ADAPTER)
    narrow = hardware.precision == "bf16" and (hardware.cuda or training["precision"] == "bf16")
    for name, weight in network.named_parameters():
        weight.requires_grad_(weight.requires_grad or name in beside)
        if narrow and not weight.requires_grad:
            weight.data = weight.data.to(torch.bfloat16)


@contextmanager
def in_fp32(network: torch.nn.Module) -> Iterator[None]:
    """Keep the frozen 16-bit weights of an adapted network in 32 bit within the block. Afterwards
    each weight has its old value.
    """
    narrow = [
        weight
        for weight in network.parameters()
        if weight.dtype == torch.bfloat16 and not weight.requires_grad
    ]
    for weight in narrow:
        weight.data = weight.data.float()
    try:
        yield
    finally:
        for weight in narrow:
            weight.data = weight.data.to(torch.bfloat16)


def merge(network: torch.nn.Module) -> None:
    """Add what the adapter has learnt to the weights beside it, in fp32. The network then has no
    adapter.
    """
    from peft.tuners.tuners_utils import BaseTunerLayer

    for weight in network.parameters():
        weight.data = weight.data.float()
    for name, layer in list(network.named_modules()):
        if isinstance(layer, BaseTunerLayer):
            layer.merge()
            parent, _, last = name.rpartition(".")
            setattr(network.get_submodule(parent), last, layer.get_base_layer())


# ---- the trained part of a network


def trained_state(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The state of a network without its frozen weights."""
    frozen = {
        name
        for name, weight in network.named_parameters(remove_duplicate=False)
        if not weight.requires_grad
    }
    return {name: values for name, values in network.state_dict().items() if name not in frozen}


def load_trained_state(network: torch.nn.Module, state: dict[str, torch.Tensor]) -> None:
    """Put the result of trained_state() into a network of the same kind; frozen weights stay.
    Raises RuntimeError for the state of another network.
    """
    frozen = {
        name: values
        for name, values in network.state_dict().items()
        if name not in trained_state(network)
    }
    network.load_state_dict(frozen | state)


def sizes(network: torch.nn.Module) -> tuple[int, int]:
    """How many numbers a network's weights have, without an adapter's matrices; and how many
    numbers are trained, with these matrices.
    """
    weights = dict(network.named_parameters())
    return (
        sum(weight.numel() for name, weight in weights.items() if ".lora_" not in name),
        sum(weight.numel() for weight in weights.values() if weight.requires_grad),
    )
