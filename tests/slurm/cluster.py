"""A real Slurm of one node with pretend GPUs, for the tests.

`Cluster().start()` writes /etc/slurm, starts munged, slurmctld and slurmd, and waits until the node
is idle. `stop()` ends the started daemons and removes the configuration. If a Slurm or munge of
somebody else would be disturbed, `start()` raises `CannotStart` with a sentence to show. The
configuration is in /etc/slurm, since Snakemake's job step strips SLURM_CONF. Only `install()`
installs anything.

By hand, to look around:  python tests/slurm/cluster.py      (starts it, waits for Enter, stops it)
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psutil

PROGRAMS = "munged munge setpriv slurmctld slurmd sbatch squeue scontrol".split()
PACKAGES = ["slurm-wlm", "munge"]
ETC = Path("/etc/slurm")
MARK = "# written by the tests of timestride (tests/slurm/cluster.py)\n"
MUNGE_KEY = Path("/etc/munge/munge.key")

# Cores and memory are pretended, too (config_overrides), so that the profile's requests fit on a
# small machine.
CORES, MEMORY_MB, GPUS = 16, 256_000, 2

SLURM_CONF = """
ClusterName=timestride
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
StateSaveLocation={state}/controller
SlurmdSpoolDir={state}/node
SlurmctldPidFile={state}/slurmctld.pid
SlurmdPidFile={state}/slurmd.pid
SlurmctldLogFile={state}/slurmctld.log
SlurmdLogFile={state}/slurmd.log
SlurmctldDebug=info
SlurmdDebug=info
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
# A job above its memory is killed, without cgroups: sampled every second.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
# No accounting: the controller remembers what ran for a day.
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MinJobAge=86400
KillWait=5
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} CoresPerSocket={cores} RealMemory={memory} \
Gres=gpu:{gpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class CannotStart(Exception):
    """The reason why Slurm cannot run here, in one sentence."""


def running(*names: str) -> list[str]:
    """Return which of these programs run on this machine."""
    present = {
        process.info["name"]
        for process in psutil.process_iter(["name", "status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE
    }
    return [name for name in names if name in present]


def free_port() -> int:
    """Return a TCP port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def missing() -> list[str]:
    """Return the programs of Slurm that are not installed."""
    return [
        name for name in PROGRAMS if not (shutil.which(name) or Path("/usr/sbin", name).exists())
    ]


def install() -> None:
    """Install Debian's Slurm. Raises CannotStart if that is not possible."""
    if os.geteuid() != 0:
        raise CannotStart(
            f"Slurm is not installed ({', '.join(missing())}), and only root can install it: "
            f"apt-get install {' '.join(PACKAGES)}"
        )
    if not shutil.which("apt-get"):
        raise CannotStart("Slurm is not installed, and there is no apt-get here to install it with")
    quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    options = "-o DPkg::Lock::Timeout=120 -o Acquire::Retries=2 -qq".split()
    command = ["apt-get", *options, "install", "-y", "--no-install-recommends", *PACKAGES]
    done = subprocess.run(command, env=quiet, capture_output=True, text=True)
    if done.returncode:  # a fresh image has no package lists
        subprocess.run(["apt-get", *options, "update"], env=quiet, capture_output=True, text=True)
        done = subprocess.run(command, env=quiet, capture_output=True, text=True)
    if done.returncode or missing():
        raise CannotStart(
            f"Slurm could not be installed by apt-get: {done.stderr.strip().splitlines()[-1:]}"
        )


class Cluster:
    """One node named after this machine, with `GPUS` pretend GPUs. `state` contains logs."""

    def __init__(self):
        self.host = socket.gethostname().split(".")[0]
        self.state = Path(tempfile.mkdtemp(prefix="timestride-slurm-"))
        self.daemons: list[subprocess.Popen] = []
        self.up = self.configured = False

    def check(self) -> None:
        """Raise CannotStart unless the tests may use this machine."""
        if os.geteuid() != 0:
            raise CannotStart(
                "a Slurm for the tests needs root: it writes /etc/slurm and starts jobs as users"
            )
        if absent := missing():
            raise CannotStart(f"Slurm is not installed ({', '.join(absent)})")
        if live := running("slurmctld", "slurmd"):
            raise CannotStart(
                f"a Slurm already runs on this machine ({', '.join(live)}); it is left alone"
            )
        if (
            "SLURM_CONF" in os.environ
            or "SLURM_JOB_ID" in os.environ
            or Path("/run/slurm/conf").exists()
        ):
            raise CannotStart(
                "this machine belongs to a Slurm cluster (SLURM_CONF, SLURM_JOB_ID or "
                "/run/slurm/conf); it is left alone"
            )
        for name in ("slurm.conf", "gres.conf", "cgroup.conf"):
            if (ETC / name).exists() and MARK not in (ETC / name).read_text():
                raise CannotStart(
                    f"{ETC / name} belongs to another Slurm; the tests do not touch it"
                )

    def start(self) -> "Cluster":
        """Start the daemons and wait for the node.

        Raises CannotStart with the end of the log that gives the reason.
        """
        self.check()
        try:
            self._start_munge()
            self._configure()
            self._daemon("slurmctld", "-D", "-c")
            self._wait("slurmctld", ["scontrol", "ping"], "is UP")
            self._daemon("slurmd", "-D")
            self._wait("slurmd", "sinfo -h -o %T".split(), "idle")
            self.up = True
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Cancel running jobs, end the started daemons, remove the configuration."""
        if self.up:
            subprocess.run(["scancel", "--user", "root"], capture_output=True)
            time.sleep(1)
            self.up = False
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons.clear()
        if self.configured:
            for name in ("slurm.conf", "gres.conf"):
                (ETC / name).unlink(missing_ok=True)
            self.configured = False
        shutil.rmtree(self.state, ignore_errors=True)

    def jobs(self) -> list[dict[str, str]]:
        """Return every job so far, oldest first, in the words of `scontrol show job`: JobId,
        JobState, Comment (the plugin writes the rule and its wildcards there), MinMemoryNode,
        TimeLimit, NumCPUs, TresPerJob (GPUs), …
        """
        shown = subprocess.run(
            "scontrol --oneliner show job".split(), capture_output=True, text=True, check=True
        )
        lines = [line for line in shown.stdout.splitlines() if line.startswith("JobId=")]
        found = [dict(pair.split("=", 1) for pair in line.split() if "=" in pair) for line in lines]
        return sorted(found, key=lambda job: int(job["JobId"]))

    def _start_munge(self) -> None:
        if running("munged"):
            return  # somebody else's munge, which works for us, too
        if not MUNGE_KEY.exists():
            subprocess.run(["mungekey", "--create"], check=True, env=sbin(), capture_output=True)
            shutil.chown(MUNGE_KEY, "munge", "munge")
        for place, mode in (
            ("/run/munge", 0o755),
            ("/var/log/munge", 0o700),
            ("/var/lib/munge", 0o711),
        ):
            folder = Path(place)
            folder.mkdir(exist_ok=True)
            shutil.chown(folder, "munge", "munge")
            folder.chmod(mode)
        self._daemon("munged", "--foreground", "--force", user="munge")
        self._wait("munged", ["munge", "--no-input"], "MUNGE")

    def _configure(self) -> None:
        for folder in (self.state / "controller", self.state / "node"):
            folder.mkdir()
        self.state.chmod(0o755)
        ETC.mkdir(exist_ok=True)
        self.configured = True
        (ETC / "slurm.conf").write_text(
            MARK
            + SLURM_CONF.format(
                host=self.host,
                state=self.state,
                controller_port=free_port(),
                node_port=free_port(),
                cores=CORES,
                memory=MEMORY_MB,
                gpus=GPUS,
            )
        )
        for gpu in range(GPUS):  # a device must be a file, any file
            (self.state / f"gpu{gpu}").touch()
        (ETC / "gres.conf").write_text(
            MARK + f"NodeName={self.host} Name=gpu File={self.state}/gpu[0-{GPUS - 1}]\n"
        )

    def _daemon(self, name: str, *arguments: str, user: str = "root") -> None:
        # A daemon ends with this process, however this process ends. It has its own session, so
        # that Ctrl-C reaches pytest first.
        within = ["setpriv", "--pdeathsig", "TERM"]
        if user != "root":
            within += [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        with (self.state / f"{name}.out").open("w") as output:
            self.daemons.append(
                subprocess.Popen(
                    [*within, name, *arguments],
                    stdout=output,
                    stderr=output,
                    env=sbin(),
                    start_new_session=True,
                )
            )

    def _wait(self, name: str, question: list[str], answer: str) -> None:
        for _ in range(120):
            said = subprocess.run(question, capture_output=True, text=True)
            if answer in said.stdout:
                return
            if self.daemons[-1].poll() is not None:
                break
            time.sleep(0.25)
        logs = "".join(
            place.read_text()
            for place in (self.state / f"{name}.out", self.state / f"{name}.log")
            if place.exists()
        )
        raise CannotStart(f"{name} does not start here: {logs[-600:].strip()}")


def sbin() -> dict[str, str]:
    """Return the environment with /usr/sbin on PATH, where Debian keeps the daemons."""
    return dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")


if __name__ == "__main__":
    cluster = Cluster().start()
    try:
        input(f"Slurm runs, its files are in {cluster.state}. Enter stops it. ")
    finally:
        cluster.stop()
