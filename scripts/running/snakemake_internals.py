"""All code that touches undocumented parts of Snakemake. For a version that is not in KNOWN, this
code does nothing and logs one line. Snakemake then uses its own output, lock and records, and it
counts GPUs only if the command line gives their number.
"""

import os
import shutil
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Thread

import psutil
from snakemake import dag as dag_module
from snakemake.dag import DAG
from snakemake.exceptions import RuleException
from snakemake.executors.local import Executor as LocalExecutor
from snakemake.io import _IOFile
from snakemake.jobs import Job
from snakemake.logging import logger
from snakemake.persistence import PersistenceBase
from snakemake.persistence.file import FilePersistence
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.shell import shell
from snakemake_interface_executor_plugins.executors.base import AbstractExecutor
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

from scripts.data.files import whole
from scripts.running.folder_lock import owned
from scripts.running.owner import name_owner
from scripts.running.program import UserError, plural
from scripts.running.terminal import Terminal

KNOWN = ("9.27.",)  # the beginnings of versions
NOW = "now"  # a stop that waits for no job
FORCED = "TIMESTRIDE_FORCED"  # the rules and files that the user forces, a line each


def is_known() -> bool:
    return version("snakemake").startswith(KNOWN)


def is_main_process(workflow) -> bool:
    """Whether this is the process that the user called, not one started for a job."""
    return workflow.is_main_process and not workflow.remote_exec


def is_dry_run(workflow) -> bool:
    return workflow.output_settings.dryrun


def refuse_prefix(workflow) -> None:
    """Raise UserError for a module with `prefix:`: programs are given whole folders, too."""
    paths = workflow.modifier.path_modifier
    if getattr(paths, "prefix", None) or getattr(paths, "modifies_prefixes", False):
        raise UserError(
            "module timestride: `prefix:` and `replace_prefix:` move files, but not the folders "
            "that programs are given; take it out, and give `snakemake --directory FOLDER`"
        )


def explain_missing_rules(explain: Callable[[str], str]) -> None:
    """Let Snakemake print the text of `explain` for a file that no rule makes."""
    if not is_known():
        return

    class NoRule(RuleException):
        def __init__(self, file):
            super().__init__(explain(str(file)))

    dag_module.MissingRuleException = NoRule


def say_unknown(workflow) -> None:
    if not is_known() and is_main_process(workflow):
        logger.warning(
            f"timestride does not know Snakemake {version('snakemake')} (it knows {KNOWN[0]}x): "
            "there is no line for each job and no unlocking after a kill, and the GPUs are those "
            "that --resources gpu=N names"
        )


def lock_by_owner() -> None:
    """Let Snakemake own its programs. It also owns the folder and results/ whenever it locks the
    folder, so not in dry runs, in job steps or with --nolock.
    """
    name_owner()
    inner = PersistenceBase.lock
    if hasattr(inner, "by_owner") or not is_known():
        return

    @contextmanager
    def lock(persistence: PersistenceBase) -> Iterator[None]:
        place, results = Path(persistence.path), Path("results").resolve()
        with owned(place / "owner", place.parent), owned(results / ".owner", results):
            with inner(persistence):
                yield

    lock.by_owner = True
    PersistenceBase.lock = lock


@cache
def say_damaged(record: str) -> None:
    logger.warning(f"{record}: this record of an earlier job is damaged; the job may run again")


def leave_out_damaged_records() -> None:
    """Let Snakemake continue without a damaged record, like without a record that is not JSON."""
    inner = FilePersistence._read_record
    if hasattr(inner, "leaves_out") or not is_known():
        return

    def read(persistence: FilePersistence, key: str):
        try:
            return inner(persistence, key)
        except ValueError:
            say_damaged(os.path.relpath(persistence._record_path(persistence._metadata_path, key)))
            return None

    read.leaves_out = True
    FilePersistence._read_record = read


def keep_records_of_failed_jobs() -> None:
    """Let a job that failed, or was killed, run again the next time.

    Snakemake writes the record of a failed job as if it had ended well, and then deletes its
    outputs. If later outputs exist, it misses nothing: the next command says "Nothing to be done",
    and the results of old parameters stay. Here the old record and the mark "incomplete" stay, and
    a marked file is made again even if it is missing.
    """
    inner, finished, check = Job.postprocess, PersistenceBase.finished, DAG.check_incomplete
    if hasattr(inner, "keeps_records") or not is_known():
        return
    failed = set()

    async def postprocess(job: Job, *given, error: bool = False, **named) -> None:
        failed.add(job) if error else failed.discard(job)
        await inner(job, *given, error=error, **named)

    async def finished_well(persistence: PersistenceBase, job: Job) -> None:
        if job not in failed:
            await finished(persistence, job)

    async def check_incomplete(dag: DAG) -> None:
        await check(dag)
        known = dag.workflow.persistence
        for job in dag.jobs:
            files = {known._get_key(file): file for file in job.output}
            dag.forcefiles.update(files[key] for key in known._filter_incomplete_keys(files))

    postprocess.keeps_records = True
    Job.postprocess, PersistenceBase.finished = postprocess, finished_well
    DAG.check_incomplete = check_incomplete


def say_how_jobs_end() -> None:
    """Add to each error of a job the reason of its executor, the attempt, and whether another
    attempt follows. A job that a cluster refused is not sent again: it would be refused again.
    """
    inner, restart_times = AbstractExecutor.report_job_error, Job.restart_times.fget
    if hasattr(inner, "says") or not is_known():
        return
    refused = set()

    def report(executor: AbstractExecutor, job_info, msg=None, **named) -> None:
        job, scheduler = job_info.job, executor.workflow.scheduler
        is_refused = isinstance(executor, RemoteExecutor) and job_info.external_jobid is None
        if is_refused:
            refused.update(job.jobs if job.is_group() else [job])
        if not isinstance(executor, RemoteExecutor):
            time.sleep(0.1)  # after Ctrl-C the main thread notices it meanwhile
        ends = scheduler._user_kill or (scheduler._errors and not scheduler.keepgoing)
        facts = {"reason": msg or "", "attempt": job.attempt, "attempts": 1 + job.restart_times}
        facts |= {"follows": job.restart_times >= job.attempt and not ends}
        facts |= {"refused": is_refused, "stopped": scheduler._user_kill == NOW}
        inner(executor, job_info, msg, **facts, **named)

    report.says = True
    AbstractExecutor.report_job_error = report
    Job.restart_times = property(lambda job: 0 if job in refused else restart_times(job))


def say_how_to_stop() -> None:
    """Say at SIGTERM what Snakemake waits for, and let a second one end the running jobs, too.

    Snakemake then waits until all running jobs end, and so it does at a SIGINT that reaches it
    alone. Its own handler takes a lock that the main thread may hold.
    """
    if JobScheduler.exit_gracefully.__module__ == __name__ or not is_known():
        return
    again = f"`kill {os.getpid()}`"

    def end_jobs() -> None:
        """Send SIGTERM to the programs of running jobs, so training saves; the shells then end."""
        for job in list(shell._processes.values()):
            with suppress(psutil.Error):
                process = psutil.Process(job.pid)
                is_shell = process.name() == "bash"  # which starts some programs in its own place
                for program in process.children() if is_shell else [process]:
                    program.terminate()

    def exit_gracefully(scheduler: JobScheduler, *given) -> None:
        before = scheduler._user_kill
        if before:
            scheduler._user_kill = NOW
            end_jobs()
        if before == "graceful":
            raise KeyboardInterrupt
        if not before:
            scheduler._user_kill = "graceful"
            Thread(target=finish, args=[scheduler]).start()

    def finish(scheduler: JobScheduler) -> None:
        count = len(scheduler.running)
        logger.warning(
            f"Told to stop (SIGTERM): no other job starts, and Snakemake waits for the end of "
            f"{plural(count, 'running job')}. {again} again stops them, too."
        )
        scheduler._open_jobs.release()

    def announced(inner: Callable, what: str) -> Callable:
        def cancel(executor: AbstractExecutor) -> None:
            executor.workflow.scheduler._user_kill = NOW
            logger.warning(f"Stopping: Snakemake {what}.")
            signal.signal(signal.SIGINT, lambda *given: end_jobs())
            inner(executor)

        return cancel

    waits = f"waits for the end of its running jobs; {again}, or Ctrl-C again, stops them"
    JobScheduler.exit_gracefully = exit_gracefully
    LocalExecutor.cancel = announced(LocalExecutor.cancel, waits)
    RemoteExecutor.cancel = announced(RemoteExecutor.cancel, "cancels the jobs that it has sent")


def ask_for_manifests(manifest_of: Callable[[str], str | None]) -> None:
    """Let a user ask for a file or a folder for which a manifest stands: the manifest is the
    target.
    """
    inner = DAG.__init__
    if hasattr(inner, "asks") or not is_known():
        return

    def with_manifests(dag: DAG, workflow, rules, **named) -> None:
        for key in ("targetfiles", "forcefiles", "untilfiles"):
            if named.get(key):
                named[key] = {manifest_of(file) or file for file in named[key]}
        inner(dag, workflow, rules, **named)

    with_manifests.asks = True
    DAG.__init__ = with_manifests


def end_until_at_last_jobs() -> None:
    """Let `--until RULE` also run the jobs of a rule that need other jobs of the same rule, as runs
    that start from other runs. Snakemake ends there with "BUG: Out of jobs" (its issue 823).
    """
    inner = DAG.in_until
    if hasattr(inner, "ends") or not is_known():
        return

    def in_until(dag: DAG, job: Job) -> bool:
        later = (other for other in dag.bfs(dag.depending, job) if other is not job)
        return inner(dag, job) and not any(inner(dag, other) for other in later)

    in_until.ends = True
    DAG.in_until = in_until


def around_jobs(
    workflow, before: Callable[[], None], after: Callable[[], None] = lambda: None
) -> None:
    """Call `before` before this process runs jobs, and `after` when all have ended well, also if
    nothing was to be done. A dry run and a question (--summary, --dag, --report …) run none.
    """
    inner = workflow.execute

    def execute(*given, **named):
        if not is_dry_run(workflow):
            before()
        inner(*given, **named)
        if not is_dry_run(workflow):
            after()

    workflow.execute = execute


def before_report(workflow, act: Callable[[], None]) -> None:
    """Call `act` before `snakemake --report` reads files that jobs need, too."""
    inner = getattr(workflow, "create_report", None)

    def create_report(*given, **named):
        act()
        return inner(*given, **named)

    if inner:
        workflow.create_report = create_report


def plan_without(files: set[str]) -> None:
    """Let Snakemake plan as if these files were missing."""
    inner = _IOFile.exists_local
    if not is_known():
        return

    async def exists_local(file: _IOFile) -> bool:
        return str(file) not in files and await inner(file)

    _IOFile.exists_local = exists_local


def forced_names(workflow) -> set[str]:
    """Return the rules and files that the user forces by -f or -R; "*" for -F. The environment
    tells the jobs of a cluster.
    """
    if not is_main_process(workflow):
        return set(os.environ.get(FORCED, "").split("\n"))
    settings = workflow.dag_settings
    asked = [*settings.forcerun, *(settings.targets if settings.forcetargets else [])]
    names = {"*"} if settings.forceall else set(map(str, asked))
    os.environ[FORCED] = "\n".join(sorted(names))
    return names


def use_terminal(workflow, why_new: Callable[[str], str] = lambda output: "") -> bool:
    """Replace Snakemake's own output by one line a job, unless the user gave --verbose.
    Return whether the output was replaced. why_new: why the runs of a job are new, by its output.
    """
    settings = workflow.output_settings
    default = [handler for handler in logger.handlers if handler.name == "DefaultStreamHandler"]
    if not default or settings.verbose or not is_known():
        return False
    say_how_jobs_end()
    say_how_to_stop()
    for handler in default:
        logger.removeHandler(handler)
    logger.addHandler(
        # for jobs that wait in a cluster's queue the time left is unknown
        Terminal(
            settings,
            lambda: {r.name for r in workflow.rules if r.shellcmd and workflow.local_exec},
            why_new,
        )
    )
    # of the Slurm plugin's queries that a stop cuts off
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    return True


def start_jobs_when_one_ends(workflow) -> None:
    """Let Snakemake look for jobs to start only when a job has ended. By default it also looks one
    second later, because of its limit of 100 jobs a second. Each end of a job adds such a series of
    looks. Together they cost more than planning the jobs. On one machine the cores limit jobs.
    """
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if is_known() and workflow.local_exec and limit and limit.max_jobs >= 100 * limit.timespan:
        workflow.scheduler.job_rate_limiter = None


def put_first(workflow, file: str) -> None:
    """Start the jobs that a file needs before all others, like --prioritize. Do nothing if the user
    gave that option.
    """
    dag = workflow.dag
    if is_known() and not dag.priorityfiles and not dag.priorityrules:
        dag.priorityfiles = {file}
        dag.update_priority()


def keep_records_with_results() -> None:
    """Keep Snakemake's records in results/, so that a copy of the results includes its records.
    .snakemake/metadata becomes a link to results/.records. Each of the two folders may be on
    another file system, so the records are copied.
    """
    if not is_known():
        return
    records, place = Path("results/.records"), Path(".snakemake/metadata")
    # without this folder Snakemake rewrites the records
    Path(".snakemake/incomplete").mkdir(parents=True, exist_ok=True)
    records.mkdir(parents=True, exist_ok=True)
    if place.is_symlink() and not place.exists():
        place.unlink()  # a link to the records of a place that was
    elif place.is_dir() and not place.is_symlink() and not any(records.iterdir()):
        with whole(records) as beside:
            shutil.copytree(place, beside)
        copied = place.rename(place.with_name("metadata.copied"))
        shutil.rmtree(copied, ignore_errors=True)
    if not place.exists():
        place.symlink_to(os.path.relpath(Path.cwd() / records, place.parent.resolve()))


class Gpus:
    """The number of GPUs that runs request. visible: the number of GPUs of this machine.
    devices_per_run, runs_per_gpu: from the configuration.

    A machine with k GPUs trains k · runs_per_gpu runs at a time, unless the command line or the
    profile gives another number. Inside a Slurm job, Slurm gives the number. On a cluster, runs
    that share a GPU are one job: a group in Snakemake. A group adds up the numeric resources of its
    runs, but its runs need only one GPU together. So a text (gres) requests the GPU, with the same
    value in all runs. A separate resource (gpu_runs) limits the runs that use GPUs at a time.
    """

    def __init__(
        self, workflow, visible: int, devices_per_run: int, runs_per_gpu: int, may_use: bool
    ):
        self.workflow, self.runs_per_gpu = workflow, runs_per_gpu
        if "gpu" not in workflow.global_resources and is_known():
            allotted = visible * runs_per_gpu
            if workflow.remote_exec:
                allotted = int(os.environ.get("SLURM_GPUS_ON_NODE", 0))
            workflow.register_resource("gpu", allotted)
        known = workflow.global_resources
        at_once = known["gpu"].value if "gpu" in known else 0
        self.per_run = devices_per_run if at_once > 0 and may_use else 0
        self.shared = "shared_gpu" if self.per_run and runs_per_gpu > 1 else None
        if self.shared and not workflow.remote_exec and is_known():
            workflow.register_resource("gpu_runs", at_once * runs_per_gpu)

    def group(self, wildcards) -> str:
        """Return the group of a run that shares a GPU. This function sets the group's size for
        every job again: Snakemake replaces the size that the Snakefile sets, and the plugin does
        not pass --group-components on.
        """
        self.workflow.group_settings.group_components = {self.shared: self.runs_per_gpu}
        return self.shared

    def alone(self, wildcards) -> int:
        """Return the number of GPUs that a run requests itself; 0 if its group requests them."""
        is_sent = self.workflow.remote_exec or not self.workflow.local_exec
        return 0 if self.shared and is_sent else self.per_run

    @property
    def request(self) -> dict[str, int | str | Callable]:
        if not self.shared:
            return {"gpu": self.alone, "nodes": 1}
        return {"gpu": self.alone, "gres": f"gpu:{self.per_run}", "gpu_runs": self.per_run}

    def threads(self, allotted_by_rule: int, cpus_per_task) -> int | str:
        """The threads of a run. Inside a job that Snakemake sent, these are the cores that the
        cluster gave to the job.
        """
        allotted = os.environ.get("SLURM_CPUS_PER_TASK") if self.workflow.remote_exec else None
        if allotted and self.shared and cpus_per_task > 0:
            return cpus_per_task  # a job's cores are for all runs in it
        return allotted or allotted_by_rule
