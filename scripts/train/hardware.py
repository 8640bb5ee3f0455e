"""The hardware that a run is computed on: beside the job, it decides a run's numbers. It is set
once and written into run.json.
"""

import platform
from dataclasses import dataclass

import accelerate
import tokenizers
import torch
import transformers
from accelerate import Accelerator

from scripts.running.devices import processor
from scripts.running.program import UserError
from scripts.train.launch import Launch


@dataclass
class Hardware:
    """Device, processes, threads of each process, precision of training (bf16 or fp32), and whether
    only deterministic kernels run.
    """

    device: str
    processes: int
    threads: int
    precision: str
    deterministic: bool
    cuda: bool
    memory: int = 0  # bytes of the GPU for each run that shares it

    def maker(self) -> dict:
        """The facts that must be the same for a checkpoint to continue to the same numbers; the
        number of threads is taken from the checkpoint.
        """
        found = {name: fact for name, fact in self.facts().items() if name != "threads"}
        return found | {name: versions()[name] for name in ("torch", "transformers")}

    def use_threads(self, threads: int) -> None:
        """Compute with as many threads as the checkpoint was made with."""
        self.threads = threads
        if not self.cuda:
            torch.set_num_threads(threads)

    def prepare(self, network: torch.nn.Module, training: dict) -> None:
        """Choose the network's kernel of attention, and compile it where the training says so."""
        if not self.cuda and hasattr(network, "set_attn_implementation"):
            # with dropout this is a seventh faster on CPUs than scaled_dot_product_attention
            network.set_attn_implementation("eager")
        if training.get("compile"):
            # a graph for each width and for batches that are not full; past the limit none compiles
            torch._dynamo.config.recompile_limit = 64
            network.compile(mode="reduce-overhead" if self.cuda else None, dynamic=False)

    def facts(self) -> dict:
        """For run.json."""
        names = "device", "processes", "threads", "precision", "deterministic"
        return {name: getattr(self, name) for name in names}


def versions() -> dict:
    """The versions that a run was computed with, for run.json."""
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "accelerate": accelerate.__version__,
        "transformers": transformers.__version__,
        "tokenizers": tokenizers.__version__,
    }


def precision_for(setting: str, cpu: bool) -> str:
    """bf16 or fp32 for a setting; `auto` chooses bf16 on hardware made for it."""
    if setting != "auto":
        return setting
    if not cpu:
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return "bf16" if capabilities.get("avx512_bf16") or capabilities.get("amx_bf16") else "fp32"


def set_up(job: dict, launch: Launch) -> tuple[Accelerator, Hardware]:
    """The accelerator and the hardware. torch is set so that the same job gives the same numbers on
    the same hardware. Raises UserError when other processes were started than asked for.
    """
    torch.use_deterministic_algorithms(launch.deterministic)
    torch.utils.deterministic.fill_uninitialized_memory = (
        False  # it costs 5 % of a step, and no code here reads memory that it did not write
    )
    torch.set_float32_matmul_precision("highest")  # fp32 is fp32: no TF32 where scores are computed
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = not launch.deterministic
    # cuDNN's attention varies from run to run when it trains. The flash kernel and the
    # memory-efficient kernel obey the mode set above.
    torch.backends.cuda.enable_cudnn_sdp(not launch.deterministic)
    torch.set_num_threads(launch.threads)
    tracker = None if launch.report_to == "none" else launch.report_to
    accelerator = Accelerator(
        mixed_precision="no",
        cpu=launch.cpu,
        log_with=tracker,
        project_dir=f"{launch.work}/tracking",
    )
    if accelerator.num_processes != launch.processes:
        raise UserError(
            f"{accelerator.num_processes} processes were started where {launch.processes} were "
            "asked for; check the launcher's environment"
        )
    if tracker:
        named = {} if tracker == "tensorboard" else {tracker: {"name": job["run"]}}
        accelerator.init_trackers("timestride", job["settings"]["training"], named)
    cuda = accelerator.device.type == "cuda"
    precision = job["settings"]["training"]["precision"]
    # nothing is trained: rounding must decide no rank, unless a user asks for 16 bit
    if precision == "auto" and "prompt" in job:
        precision = "fp32"
    memory = torch.cuda.get_device_properties(accelerator.device).total_memory if cuda else 0
    return accelerator, Hardware(
        device=torch.cuda.get_device_name() if cuda else processor(),
        processes=accelerator.num_processes,
        threads=launch.threads,
        precision=precision_for(precision, not cuda),
        deterministic=launch.deterministic,
        cuda=cuda,
        memory=memory // launch.runs_per_gpu,
    )
