"""How the training loop is started: its environment, and several processes through Accelerate's
launcher.

The user's own Accelerate configuration and environment never reach the loop, since they could
change a number.
"""

import os
import sys
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from scripts.running.devices import CLAIMS, claim_gpus, visible_gpus
from scripts.running.program import UserError, log
from scripts.train.work import write_json

# Variables that make Accelerate, torch, oneDNN or MKL compute in another way than the configuration
# sets.
FOREIGN = tuple(
    """
    ACCELERATE_ FSDP_ DEEPSPEED_ MEGATRON_ PARALLELISM_CONFIG_ TORCHELASTIC_ TORCHDYNAMO_
    TORCHINDUCTOR_ TORCH_ALLOW_TF32 TORCH_BLAS_ NVIDIA_TF32 NCCL_ALGO NCCL_PROTO CUBLAS_ CUDNN_
    ONEDNN_ DNNL_ MKL_ OMP_ KMP_ GOMP_ OPENBLAS_NUM_THREADS PYTORCH_TUNABLEOP PYTORCH_ENABLE_MPS
    """.split()
)
DISTRIBUTED = """
    RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK NODE_RANK MASTER_ADDR MASTER_PORT
    PMI_RANK PMI_SIZE OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE MPI_LOCALRANKID
    MV2_COMM_WORLD_RANK
""".split()


@dataclass
class Launch:
    """Where the loop reads and writes, and the hardware that it uses. It is no part of the job."""

    work: str
    data: str
    model: str
    processes: int
    threads: int  # of each process
    cpu: bool
    checkpoint_seconds: float
    deterministic: bool = True
    micro_batch_tokens: int | None = None
    runs_per_gpu: int = 1
    report_to: str = "none"
    tokens: str | None = None  # where tokenized splits are kept
    keep: str = "none"  # best, last: the epoch whose weights are kept
    merge_adapter: bool = (
        False  # whether the kept weights include what an adapter has learnt, so no adapter is left
    )
    kept: str | None = None  # the folder of the kept weights of this very run
    is_kept: bool = False  # the kept weights exist: they score the run
    card: dict = field(default_factory=dict)  # facts of the model and the data, for the model card
    log: str | None = None


@cache  # a process claims its GPUs once, however many runs it trains
def devices(device: str, wanted: int, runs_per_gpu: int) -> list[str]:
    """The GPUs that this run has claimed, `wanted` of them; none if it trains on the CPU.

    device: auto, cpu or gpu. Raises UserError when it asks for more than there are.
    """
    gpus = [] if device == "cpu" else visible_gpus()
    if device == "gpu" and len(gpus) < wanted:
        raise UserError(
            f"device: gpu asks for {wanted} GPU(s), but {len(gpus)} are visible here; "
            "set device: auto, or run on a machine that has them"
        )
    return claim_gpus(gpus, wanted, runs_per_gpu) if gpus else []


def check_tracker(name: str) -> None:
    """Raise UserError for a tracker that is not installed."""
    if name != "none" and find_spec(name) is None:
        raise UserError(
            f"report_to: {name} is not installed here; `pip install {name}`, or set report_to: none"
        )


def environment(gpus: list[str], threads: int, processes: int) -> dict[str, str]:
    """Return the environment of the loop: this process's environment without variables that could
    change a number, and with the variables on which numbers depend.
    """
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(FOREIGN) and name not in DISTRIBUTED
    }
    variables |= {
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "passive",
    }  # two threads that spin take a sixth more CPU time, and most of the time beside other work
    if gpus:
        variables["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    elif processes > 1:
        variables["ACCELERATE_USE_CPU"] = "true"
    return variables


def set_environment(gpus: list[str], threads: int) -> None:
    """Give this process the environment of the loop."""
    variables = environment(gpus, threads, 1)
    os.environ.clear()
    os.environ.update(variables)


def become_launcher(launch: Launch, gpus: list[str]) -> NoReturn:
    """Turn this process into Accelerate's launcher, which runs the loop in several processes."""
    variables = environment(gpus, launch.threads, launch.processes)
    sys.stderr.flush()
    file = Path(launch.work) / "launch.json"  # the processes read it
    write_json(asdict(launch), file)
    # ours, so that the user's own is not read
    configuration = file.with_name("accelerate.yaml")
    configuration.write_text(
        "{compute_environment: LOCAL_MACHINE, distributed_type: MULTI_GPU, mixed_precision: 'no', "
        "use_cpu: false}\n"
    )
    variables["TIMESTRIDE_LAUNCHER"] = str(os.getpid())
    # --multi_gpu starts several processes on CPUs, too; --cpu would silently start only one.
    fixed = "--multi_gpu --main_process_port 0 --num_machines 1 --mixed_precision no --quiet"
    command: list = [sys.executable, "-m", "accelerate.commands.launch", *fixed.split()]
    command += ["--dynamo_backend", "no", "--config_file", configuration]
    command += ["--num_processes", launch.processes]
    command += ["--module", "scripts.train.process", "--launch", file]
    for claim in CLAIMS:
        # this process becomes the launcher, which keeps its GPUs
        os.set_inheritable(claim, True)
    log.info("starts %d processes", launch.processes)
    os.execvpe(sys.executable, list(map(str, command)), variables)
