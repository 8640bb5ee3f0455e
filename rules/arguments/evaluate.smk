"""What the evaluation of an experiment is told beside its files."""


def measured_sources(study):
    """The sources that a study's runs learn from and are measured on."""
    learnt = {source for run in measured_runs(study) for source in (run.dataset.source, *learnt_elsewhere(run.dataset))}
    return learnt | {MEASURED_ON[source] for source in learnt}


def evaluated_sources(wildcards):
    """What an evaluation reads of its sources, as JSON."""
    entries = fields_of(SOURCES, measured_sources(wildcards.study), ("evaluate", "measured_on", "domain", "sample", "predictions"))
    return as_json(presence_of(entries, ("sample",)))


def evaluation_arguments(wildcards, output):
    """The file of the arguments of an evaluation whose number depends on the experiment."""
    build = ["--build", f"results/build/{wildcards.study}"] if "datasets" in STUDIES[wildcards.study]["evaluation_reads"] else []
    people = answers_of_people(wildcards.experiment)
    released = ["--fetched", "results/fetch"] if read_released(wildcards) else []
    external = ["--external", *external_systems(wildcards)] if external_systems(wildcards) else []
    answered = [f"{dataset.source}/{dataset.name}" for dataset in PLAN.datasets.values() if dataset.study == wildcards.study]
    options = ["--people", *people, "--others", *answered] if people else []
    return argument_file(["--runs", *PLAN.experiments[wildcards.experiment], *build, *released, *external, *options,
                          "--sources", f"{hand_over({'sources.yaml': evaluated_sources(wildcards)})}/sources.yaml"])
