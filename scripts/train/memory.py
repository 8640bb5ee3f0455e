"""What to say when a model, or a step of learning, does not fit into the memory: the settings that make it smaller.

Without torch, which only the loop imports.
"""

import re

from scripts.running.program import UserError

# What torch, its libraries and safetensors say where they raise nothing narrower than RuntimeError.
NO_MEMORY = re.compile(r"DefaultCPUAllocator|(can't|cannot) allocate memory|(not enough|out of) memory|ALLOC_FAILED|bad_alloc", re.I)


class TooLarge(UserError):
    """It does not fit; with more memory, as the workflow's next attempt asks for, it may."""


def ran_out(error: BaseException) -> bool:
    """Whether an error, of whatever kind, says that memory ran out."""
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" or bool(NO_MEMORY.search(str(error)))


def remedies(training: dict, learns: bool = True) -> str:
    """The settings to change so that a run takes less memory, but for those that are set so already."""
    smaller = [name for name in ("batch_size", "micro_batch_tokens", "max_length") if learns or name == "max_length"]
    wanted = {"precision": "bf16", "adapter": "lora", "gradient_checkpointing": "true"} if learns else {}
    now = {"gradient_checkpointing": str(training.get("gradient_checkpointing", False)).lower()}
    settings = ", ".join(f"{name}: {value}" for name, value in wanted.items() if (training | now).get(name) != value)
    lower = " or ".join(filter(None, (", ".join(smaller[:-1]), smaller[-1])))
    return f"{f'set {settings}, ' if settings else ''}lower {lower}, or take a smaller model or a machine with more memory"
