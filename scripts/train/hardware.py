"""On what a run is computed: what its numbers depend on beside the job, set once and written into run.json."""

import platform
from dataclasses import dataclass
from pathlib import Path

import accelerate
import tokenizers
import torch
import transformers
from accelerate import Accelerator

from scripts.common.program import UserError
from scripts.train.launch import Launch


@dataclass
class Hardware:
    """Device, processes, threads of each, precision of learning (bf16 or fp32), and whether only deterministic kernels run."""

    device: str
    processes: int
    threads: int
    precision: str
    deterministic: bool
    cuda: bool

    def maker(self) -> dict:
        """What must be the same for a checkpoint to go on to the same numbers; threads are taken over from it."""
        return {"device": self.device, "processes": self.processes, "precision": self.precision, "deterministic": self.deterministic,
                "torch": str(torch.__version__), "transformers": transformers.__version__}

    def use_threads(self, threads: int) -> None:
        """Compute with as many threads as the checkpoint was made with."""
        self.threads = threads
        if not self.cuda:
            torch.set_num_threads(threads)

    def prepare(self, network, training: dict) -> None:
        """Choose the network's kernel of attention, and compile it where the training says so."""
        if not self.cuda and hasattr(network, "set_attn_implementation"):
            network.set_attn_implementation("eager")  # with dropout a seventh faster on CPUs than scaled_dot_product_attention
        if training.get("compile"):
            network.compile(mode="reduce-overhead" if self.cuda else None, dynamic=False)

    def facts(self) -> dict:
        """For run.json."""
        return {"device": self.device, "processes": self.processes, "threads": self.threads, "precision": self.precision,
                "deterministic": self.deterministic}


def versions() -> dict:
    """The versions that a run was computed with, for run.json."""
    return {"python": platform.python_version(), "torch": str(torch.__version__), "accelerate": accelerate.__version__,
            "transformers": transformers.__version__, "tokenizers": tokenizers.__version__}


def processor() -> str:
    """The name of this machine's processor."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0] if names else platform.processor() or platform.machine()


def precision_for(setting: str, cpu: bool) -> str:
    """bf16 or fp32 for a setting; `auto` takes bf16 on hardware made for it."""
    if setting != "auto":
        return setting
    if not cpu:
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
    capabilities = getattr(torch.cpu, "get_capabilities", dict)()
    return "bf16" if capabilities.get("avx512_bf16") or capabilities.get("amx_bf16") else "fp32"


def set_up(job: dict, launch: Launch) -> tuple[Accelerator, Hardware]:
    """The accelerator and the hardware, torch set so that the same job gives the same numbers on it.

    Raises UserError when other processes were started than asked for, or the tracker is not installed.
    """
    torch.use_deterministic_algorithms(launch.deterministic)
    torch.utils.deterministic.fill_uninitialized_memory = False  # 5 % of a step, and nothing here reads what it did not write
    torch.set_float32_matmul_precision("highest")  # fp32 is fp32: no TF32 where scores are computed
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = not launch.deterministic
    if launch.deterministic:  # of the kernels of attention these vary from run to run when they learn
        torch.backends.cuda.enable_mem_efficient_sdp(False)
        torch.backends.cuda.enable_cudnn_sdp(False)
    torch.set_num_threads(launch.threads)
    try:
        accelerator = Accelerator(mixed_precision="no", cpu=launch.cpu, log_with=None if launch.report_to == "none" else launch.report_to,
                                  project_dir=f"{launch.work}/tracking")
    except (ValueError, ImportError):
        raise UserError(f"report_to: {launch.report_to} is not installed here; `pip install {launch.report_to}`, or set report_to: none") from None
    if accelerator.num_processes != launch.processes:
        raise UserError(f"{accelerator.num_processes} processes were started where {launch.processes} were asked for; "
                        "check the launcher's environment")
    if launch.report_to != "none":
        accelerator.init_trackers("timestride", job["settings"]["training"], {launch.report_to: {"name": job["run"]}}
                                  if launch.report_to != "tensorboard" else {})
    cuda = accelerator.device.type == "cuda"
    return accelerator, Hardware(
        device=torch.cuda.get_device_name() if cuda else processor(), processes=accelerator.num_processes, threads=launch.threads,
        precision=precision_for(job["settings"]["training"]["precision"], not cuda), deterministic=launch.deterministic, cuda=cuda)
