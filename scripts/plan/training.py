"""What a training job takes: its runs, each with all that decides its numbers.

A job has one run or several: the controls of a study, the runs that ask one model, the runs of a
tiny model, the runs on record.
"""

from functools import cache
from pathlib import Path

from scripts.data.plain_json import as_json
from scripts.plan.fields import fields_of
from scripts.plan.models import ECHO, MADE_MODEL, paradigm_of_control, stage_of
from scripts.plan.plan import CONTROL, RECORDED, Run
from scripts.plan.probe import ANSWER, LIKELIHOOD
from scripts.plan.prompts import prompts_of
from scripts.plan.workplan import Workplan, built, cleaned
from scripts.running.program import plural

# keys of a method that change no number
NOT_OF_TRAINING = ("fits", "probe", "objectives", "blind_of", "sees_all", "title")
ASKS = (ANSWER, ECHO)  # the paradigms of scripts/train/asking/ask.py


# ---- A run


def paradigm_of(work: Workplan, run: Run) -> str:
    """Return the module of scripts/train/paradigms/ by which a run learns and scores."""
    paradigm = work.studies[run.study]["methods"][run.method].get("paradigm", "classify")
    if run.training.get("objectives"):
        return "objectives"
    if paradigm == LIKELIHOOD and "api" in work.models[run.model]:
        return ECHO
    return "esim" if paradigm == "classify" and "esim" in work.models[run.model] else paradigm


def method_of(work: Workplan, run: Run) -> dict:
    """Return the facts about a run's study and method that the training loop needs."""
    study, options = work.studies[run.study], run.dataset.data
    labels = run.dataset.options.labels(study["labels"])
    if run.method == CONTROL:
        how = study["methods"][CONTROL]
        # The study's `teaches` is about the study's own labels only.
        taught = "teaches" in how and labels == study["labels"]
        return {
            "columns": study["columns"],
            "labels": labels,
            "inputs": how["inputs"],
            **({key: how[key] for key in ("teaches", "folds_by") if key in how} if taught else {}),
            "exchangeable": study.get("exchangeable", False) and not options.get("predict"),
            **({"whole_groups": True} if how.get("whole_groups") else {}),
        }
    known = {key: study.get(key) for key in ("columns", "merged_labels", "held_out", "peak")}
    known |= {"labels": labels, "makes_model": False} | study["methods"][run.method]
    known["paradigm"] = paradigm_of(work, run)
    if run.wording:
        known["prompt"] = prompts_under(work, options, run.study, run.method)[run.wording]
    return {key: value for key, value in known.items() if key not in NOT_OF_TRAINING}


@cache
def _prompts(work: Workplan, study: str, method: str) -> dict[str, dict]:
    return prompts_of(study, work.studies[study], method, configured=work.config.prompts)


def prompts_under(work: Workplan, options: dict, study: str, method: str) -> dict[str, dict]:
    """Return the prompts by wording. A limit also cuts the training split that chooses a
    threshold.
    """
    prompts = _prompts(work, study, method)
    if not (limit := options.get("limit")):
        return prompts
    return {
        wording: prompt | ({"threshold": str(limit)} if prompt.get("threshold") else {})
        for wording, prompt in prompts.items()
    }


def described(work: Workplan, run: Run) -> dict:
    """Return a run with its settings, its method, and the folder and splits of its dataset."""
    return {
        "run": run.name,
        "settings": run.settings,
        "method": method_of(work, run),
        "splits": work.splits(run.dataset.source),
        "data": run.dataset.folder,
    }


def with_model(work: Workplan, run: Run) -> dict:
    """Return described() with the model: its folder, or the API that answers."""
    entry = work.models[run.model]
    if "api" in entry:
        keys = ["api", "name", "request", "headers"]
        keys += ["start_token"] if paradigm_of(work, run) == ECHO else []
        return described(work, run) | {"api": {key: entry[key] for key in keys if key in entry}}
    found = described(work, run) | {"model": work.start_folder(run)}
    if run.begins_with:  # a fetched model's manifest lists its files
        found["model_files"] = [Path(file).name for file in MADE_MODEL]
    return found | ({"hands_on": True} if run.name in work.starts else {})


def with_control(work: Workplan, run: Run) -> dict:
    """Return described() with the entry of the control, its rung, and what else it reads: word
    vectors, cleaned captions, or the training split of another dataset.
    """
    entry = work.models[run.model]
    found = described(work, run) | {"control": entry["control"], "rung": entry.get("rung", "words")}
    if name := entry.get("vectors_of"):
        file = work.models[name]["vectors"]["file"]
        found["vectors"] = f"results/fetch/models/{name}/{file}"
    if "reads_cleaned" in entry:
        folder = Path(cleaned(run.dataset.source)).parent
        found["corpus"] = f"{folder}/{work.splits(run.dataset.source)[0]}.parquet"
    return found | learns_from(work, run)


def from_record(work: Workplan, run: Run) -> dict:
    """Return described() of the run on record; `learns_from`: the dataset with its training split,
    where this is another one; `cut`: the same control on the splits that `limit` cuts.
    """
    kept = work.on_record(run)
    found = described(work, kept) | learns_from(work, kept)
    if kept.name == run.name:
        return found
    cut = {"run": run.name, "settings": run.settings, "data": run.dataset.folder}
    return found | {"cut": cut}


def learns_from(work: Workplan, run: Run) -> dict:
    """Return the folder of the dataset with a run's training split, where this is another one."""
    learnt = work.learnt(run)
    return {"learns_from": learnt.folder} if learnt != run.dataset else {}


# ---- A job


def runs_of(work: Workplan, study: str, job: str) -> list[Run]:
    """Return the runs of a job in the order of their work: by method, so that a model is loaded
    once for its method and settings, and written answers, which take longest, at the end; controls
    by dataset.
    """
    runs = [work.runs[name] for name in work.training_jobs[f"{study}/{job}"]]
    if work.kind_of_run(runs[0].name) == RECORDED:
        return runs
    if work.kind_of_run(runs[0].name) == CONTROL:
        datasets = list(dict.fromkeys(run.dataset for run in runs))
        return sorted(runs, key=lambda run: datasets.index(run.dataset))
    return sorted(runs, key=lambda run: (paradigm_of(work, run) == ANSWER, run.method, run.name))


def lines_of(work: Workplan, study: str, job: str) -> str:
    """Return the runs of a job, a line of JSON each, as scripts/train/runs.py reads them."""
    describe = {CONTROL: with_control, RECORDED: from_record}
    return "\n".join(
        as_json(describe.get(work.kind_of_run(run.name), with_model)(work, run))
        for run in runs_of(work, study, job)
    )


def read_by(work: Workplan, study: str, job: str) -> list[str]:
    """Return the files that a job reads: manifests of datasets and models, and scores on record."""
    files = []
    for run in runs_of(work, study, job):
        files.append(built(run.dataset))
        if run.name in work.recorded:
            kept = work.on_record(run)
            files += [built(kept.dataset), built(work.learnt(kept))]
            files += map(str, sorted(work.record_of(study).glob("scores/*.parquet")))
        elif run.name in work.controls:
            files += [built(work.learnt(run)), *work.vectors_files(run.model)]
            if "reads_cleaned" in work.models[run.model]:
                files.append(cleaned(run.dataset.source))
        else:
            files += work.start_files(run)
    return list(dict.fromkeys(files))


def program_of(work: Workplan, run: Run) -> str:
    """Return the program whose code decides the numbers of a run."""
    if run.name in work.recorded:
        return "train/recorded"
    if run.name in work.controls:
        return f"train/{paradigm_of_control(work.models[run.model]['control'], run.study)}"
    return f"train/{paradigm_of(work, run)}"


def programs_of(work: Workplan, study: str, job: str) -> list[str]:
    return list(dict.fromkeys(program_of(work, run) for run in runs_of(work, study, job)))


def key_of(work: Workplan, study: str, job: str) -> str:
    """Return the environment variable with the key of a job's API; empty without one."""
    return work.models[runs_of(work, study, job)[0].model].get("key") or ""


def record_of(work: Workplan, study: str, job: str) -> str:
    """Return the folder of the record from which a job takes its runs; empty for other jobs."""
    is_taken = work.kind_of_run(runs_of(work, study, job)[0].name) == RECORDED
    return str(work.record_of(study)) if is_taken else ""


def cards_of(work: Workplan, study: str, job: str) -> dict[str, dict]:
    """Return the facts about model and data for the cards of kept weights, by run; empty where no
    weights are kept.
    """
    if work.config.keep == "none":
        return {}
    return {run.name: _card(work, run) for run in runs_of(work, study, job)}


def _card(work: Workplan, run: Run) -> dict:
    model = work.models[run.model]
    base = work.models[made[1]["model"]] if (made := stage_of(model)) else model
    names = run.dataset.source, work.measured_on(run.dataset.source)
    sources = fields_of(work.sources, names, ("title", "licence", "citation"))
    known = base | model
    keys = [key for key in ("title", "licence", "hub", "revision") if known.get(key)]
    return {key: known[key] for key in keys} | {"sources": sources}


def message(work: Workplan, study: str, job: str, again: bool = False) -> str:
    """Return the message of a job. If all its runs were finished before, the job only compares
    data, model and code. again: whether it does its runs again.
    """
    runs = runs_of(work, study, job)
    kind = work.kind_of_run(runs[0].name)
    if kind == RECORDED:
        return f"Taking {plural(len(runs), 'run')} of {study} from the record"
    if kind == CONTROL:
        return f"Measuring the controls of {study}"
    left = [run for run in runs if again or not Path(run.folder, "work/finished.json").exists()]
    learns = any(work.studies[study]["methods"][run.method]["learns"] for run in left)
    state = "Training" if learns else "Asking"
    state = state if left else "Already trained, if data and code are the same:"
    if len(runs) == 1:
        return f"{state} {runs[0].name}"
    models = ", ".join(dict.fromkeys(run.model for run in left or runs))
    return f"{state} {models}, {plural(len(left or runs), 'run')} of {study}"
