"""The beginning of each call of Snakemake: the plan, the checks before hours of work, and the files
that are written when jobs start.
"""

import gc
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from snakemake.logging import logger

from scripts.data.card import OF_STUDY, describe_datasets
from scripts.data.files import whole
from scripts.data.plain_json import as_json
from scripts.data.studies import ALL, folder_of
from scripts.plan import checks, training
from scripts.plan.audits import benchmarks_of
from scripts.plan.expected import cost_of_probe
from scripts.plan.published import CAPTIONS, Published
from scripts.plan.workplan import Workplan
from scripts.publish.index import list_studies
from scripts.running import snakemake_internals as internals
from scripts.running.devices import visible_gpus
from scripts.running.code_lock import identity
from scripts.running.program import UserError, closest, sentence_of
from scripts.running.reasons import new_runs
from scripts.running.summary import summary
from scripts.running.terminal import let_readers_end


def one_of(names: Iterable[str]) -> str:
    """A wildcard's constraint: one of these names, or nothing where there are no names."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


def one_hashed(names: Iterable[str]) -> str:
    """Return the constraint of one_of() for runs or batches, by the hashes at the ends of their
    names. With a thousand whole names, matching takes seconds.
    """
    return f"[^/]+-(?:{one_of(name.rpartition('-')[2] for name in names)})"


def code(*programs: str) -> str:
    """Return the identities of programs, which Snakemake compares."""
    return " ".join(map(identity, programs))


def option(name: str, value) -> str | list[str]:
    """Return an option of a shell command, empty without a value. JSON is written for a mapping. A
    shell line quotes it: {params.x:q}.
    """
    if isinstance(value, list) and value:
        return [name, *value]
    if value is True or not value:
        return name if value else ""
    return f"{name}={as_json(value) if isinstance(value, dict) else value}"


def uncompared(answer) -> Callable:
    """Return a parameter that Snakemake does not compare: a value, or a function of the wildcards.
    Snakemake compares no parameter that takes the output files.
    """
    return lambda wildcards, output: answer(wildcards) if callable(answer) else answer


def check_places() -> None:
    """Raise UserError if Snakemake cannot write here. It locks the folder even in a dry run."""
    if set("{}") & set(str(Path.cwd())):
        raise UserError(
            f"{Path.cwd()}: Snakemake reads {{ and }} in the name of a folder as a variable; "
            "rename it, or name another folder (--directory FOLDER)"
        )
    stages = "fetch clean build train evaluate publish .records".split()
    written = [f"results/{stage}" for stage in stages]
    for name in ("", ".snakemake", ".snakemake/metadata", "results", *written):
        place = Path.cwd() / name
        if place.is_symlink() and not place.exists() and place.name != "metadata":
            raise UserError(
                f"{place}: is a link to {place.readlink()}, which is missing; make that folder (is "
                "its disk mounted?), or remove the link"
            )
        if place.exists() and not place.is_dir():
            raise UserError(
                f"{place}: is a file, but a folder is needed; move it, or name another folder "
                "(--directory FOLDER)"
            )
        if place.exists() and "results" not in name and not os.access(place, os.W_OK):
            raise UserError(
                f"{place}: is not writable, and Snakemake locks this folder even in a dry run; "
                "name another folder (--directory FOLDER), or make this one writable"
            )


@contextmanager
def or_exit() -> Iterator[None]:
    """End Snakemake with the line of a UserError alone. Snakemake itself adds a traceback to each
    exception of a Snakefile.
    """
    try:
        yield
    except UserError as error:
        logger.error(f"error: {sentence_of(error)}")
        raise SystemExit(1) from None


@contextmanager
def or_warn() -> Iterator[None]:
    try:
        yield
    except (UserError, OSError) as error:
        print(f"Warning: {sentence_of(error)}", file=sys.stderr)


class Start:
    """The interface of the Snakefile. given: the configuration; is_module: whether another workflow
    imports this one.
    """

    @or_exit()
    def __init__(self, workflow, given: dict, root: Path, is_module: bool):
        self.workflow, self.is_module, self.begun = workflow, is_module, time.time()
        # Until jobs start: planning frees little memory, and collection takes an eighth of the time
        gc.disable()
        self.is_main = internals.is_main_process(workflow)
        internals.say_unknown(workflow)
        internals.refuse_prefix(workflow)
        if self.is_main:
            let_readers_end()
            check_places()
        internals.lock_by_owner()
        internals.leave_out_damaged_records()
        if not is_module:
            internals.keep_records_of_failed_jobs()
            internals.end_until_at_last_jobs()
        self.work = Workplan(given, root, map(Path, workflow.config_settings.configfiles or []))
        self.published = Published(self.work)
        self.audits = benchmarks_of(self.work)
        config = self.work.config
        may_use = config.device != "cpu"
        self.gpus = internals.Gpus(
            workflow,
            len(visible_gpus()) if may_use else 0,
            config.devices_per_run,
            config.runs_per_gpu,
            may_use,
        )
        # Without a GPU the runs share the cores. All planned runs count, also finished ones: a run
        # has the same threads, and so the same numbers, after a kill.
        jobs = self.work.training_jobs_of("model")
        self.threads_per_run = max(
            (workflow.cores or 1) // (len(jobs) or 1),
            1 if self.gpus.per_run else config.devices_per_run,
        )
        if not self.is_main:
            gc.enable()  # another process has begun
        elif is_module:
            internals.around_jobs(workflow, self.begin)  # the other workflow has its own onstart
        elif Path("results/.records").is_dir():
            internals.keep_records_with_results()
        elif Path(".snakemake/metadata").is_symlink():
            Path(".snakemake/metadata").unlink()  # results/ was removed, so the link is broken
        if self.is_main and not is_module and internals.use_terminal(workflow, self.why_new):
            # Programs print only warnings on the terminal. Snakemake itself does not show these.
            os.environ.update(TIMESTRIDE_LOG_ONLY="1")
        if self.is_main:
            internals.explain_missing_rules(self.explain)
            internals.before_report(workflow, self.write_captions)
            if not is_module:
                internals.ask_for_manifests(self.manifest_of)
                internals.around_jobs(workflow, self.keep_records_without_hooks, self.list_results)
            self.check()

    def check(self) -> None:
        """Log notes and warnings, or raise a UserError, before any job runs. If a folder lost a
        file, its manifest is removed when jobs start, so its rule runs again. A dry run plans as if
        it were removed.
        """
        cpus = 0 if self.gpus.per_run else self.workflow.cores or 1
        for note in [*self.work.notes, *cost_of_probe(self.work, cpus)]:
            logger.info(note)
        lost_outputs = checks.lost_outputs(self.work)
        for manifest, lost in lost_outputs.items():
            logger.warning(
                f"{manifest.parent}: {', '.join(lost)} is missing or has another length: it is "
                f"written again if a job needs it, or by `snakemake {manifest.parts[1]}`"
            )
        for warning in checks.check_places(self.work, bool(self.gpus.per_run)):
            logger.warning(warning)
        if internals.is_dry_run(self.workflow):
            internals.plan_without(set(map(str, lost_outputs)))
        internals.around_jobs(
            self.workflow, lambda: [manifest.unlink(missing_ok=True) for manifest in lost_outputs]
        )

    def manifest_of(self, name: str) -> str | None:
        return checks.manifest_with(self.work, Path(name))

    def again(self, rule: str) -> Callable:
        """Return the parameter --again, for a job of this rule that the user forces."""

        def given(wildcards, output) -> str:
            forced = internals.forced_names(self.workflow)
            forced |= {self.manifest_of(name) or name for name in forced}
            return option("--again", not forced.isdisjoint({"*", rule, *output}))

        return given

    def training_message(self, rule: str) -> Callable:
        """Return the message of the training jobs of this rule, as a parameter."""
        again = self.again(rule)
        return lambda wildcards, output: training.message(
            self.work, wildcards.study, wildcards.job, bool(again(wildcards, output))
        )

    def why_new(self, output: str) -> str:
        """Return why the runs of a training job are new; an empty text for another job."""
        job = output.removeprefix("results/train/").removesuffix(".manifest.json")
        runs = [self.work.runs[name].settings for name in self.work.training_jobs.get(job, ())]
        return new_runs(runs, Path(output).parent) if runs else ""

    def explain(self, target: str) -> str:
        if manifest := checks.manifest_of(self.work, Path(target)):
            return (
                f"{target}: {manifest} does not list this file; correct its name, or ask for all "
                f"files: `snakemake {manifest}`"
            )
        if "/" in target:
            return f"{target}: no rule makes this file; `snakemake --summary` lists what rules make"
        return (
            f"{target}: is not a rule{closest(target, [rule.name for rule in self.workflow.rules])}"
        )

    def begin(self) -> None:
        """Write the files that jobs need, when jobs start. A dry run writes nothing."""
        gc.enable()
        self.write_captions()
        self.work.hashes.write()
        if not self.is_module:
            internals.keep_records_with_results()
            if self.is_main:
                internals.start_jobs_when_one_ends(self.workflow)
                # the figures of the study with the fewest runs, which are ready first
                runs = Counter(run.study for run in self.work.runs.values())
                study = min(runs, key=lambda study: runs[study], default=ALL)
                internals.put_first(self.workflow, self.published.manifest(study))

    def keep_records_without_hooks(self) -> None:
        """Keep Snakemake's records with the results, also with --no-hooks, which skips begin()."""
        if self.workflow.execution_settings.no_hooks:
            internals.keep_records_with_results()

    def write_captions(self) -> None:
        """Write the captions of Snakemake's report."""
        CAPTIONS.mkdir(parents=True, exist_ok=True)
        for name, item in self.published.items.items():
            with whole(CAPTIONS / f"{name}.rst") as place:
                place.write_text(item["caption"], encoding="utf-8")

    def list_results(self) -> None:
        """Write a card of each study's datasets and the list of studies, from all existing results.
        These are not jobs, because jobs would run again after each change of the configuration.
        """
        for study, facts in self.work.studies.items():
            folder = Path("results/build", study)
            if any(folder.glob("*/*/manifest.json")):
                with or_warn():
                    describe_datasets(
                        folder,
                        {"name": study, "paper": "a paper for each source"}
                        | {key: facts[key] for key in OF_STUDY if key in facts},
                        folder_of(study, self.work.root) / "columns.yaml",
                    )
        if any(Path("results/publish").glob("*/index.html")):
            with or_warn():
                list_studies(Path("results"))

    def end(self) -> None:
        if not self.is_module:
            of_all = self.published.of_study(ALL)
            print(
                summary(
                    Path(self.work.metrics),
                    Path(self.work.pages, "index.html"),
                    Path("results/benchmarks"),
                    self.begun,
                    [self.published.files(name)[0] for name in of_all],
                )
            )

    def fail(self) -> None:
        if not self.is_module:
            print(
                "Finished work is kept. Give the same command again to continue.", file=sys.stderr
            )
