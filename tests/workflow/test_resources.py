"""Which fields of resources/ rerun which rules (resource_fields.yaml), found by dry runs of studies
that computed nothing.

If all files of a study exist, as `snakemake --touch` records them, its dry run answers like that of
a computed study: parameters, times and code decide what reruns. (test_reruns.py asks the same of a
computed study.)
"""

from pathlib import Path

import pytest

from scripts.data.yaml_files import read_yaml
from tests.workflow.conftest import Study, checkout

HERE = Path(__file__).parent
NOTHING: set[str] = set()
REFUSED = None
PAGE = {"publish_page"}
SHOWN = PAGE | {"publish_STUDY"}
MEASURED = SHOWN | set(
    "evaluate_experiment evaluate_study evaluate_metrics publish_leaderboard".split()
)
TRAINED = MEASURED | {"train_run"}
FETCHED = TRAINED | {"fetch_model"}
CONTROLLED = MEASURED | {"train_no_model"}
OF_DATA = TRAINED | {"train_no_model"}
BUILT = OF_DATA | {"build_dataset"}
CLEANED = BUILT | {"clean_corpus"}
# For TimeDial: a model of an MLM stage is a run, and expressions of time are searched in cleaned
# data.
ALL_RUNS = TRAINED
DIALOGS = CLEANED | {"build_temporal_spans"}


def rules_of(words: str) -> set[str] | None:
    return (
        REFUSED
        if words == "REFUSED"
        else set().union(*(globals().get(word, {word}) for word in words.split()))
    )


FIELDS = read_yaml(HERE / "resource_fields.yaml")
STUDIES = read_yaml(HERE / "resource_entries.yaml")


class Touched(Study):
    """A study whose files all exist, without real content."""

    def rerun(self) -> set[str] | None:
        """Return the rules that would run; REFUSED if an error message refuses the study."""
        done = self.snakemake("--dry-run")
        said = done.stdout + done.stderr
        assert "Traceback" not in said, said
        if done.returncode:
            return REFUSED
        studies = [file.parent.name for file in self.folder.glob("scripts/studies/*/study.yaml")]
        same = {f"publish_{study}": "publish_STUDY" for study in [*studies, "all"]}
        return {same.get(rule, rule) for rule in self.listed(said)}

    def touch_all(self) -> None:
        """Write every rule's output, without content where nobody reads it, and let Snakemake
        record it.
        """
        files = [
            line.split("\t")[0] for line in self.snakemake("--summary").stdout.splitlines()[1:]
        ]
        assert files
        for file in files:
            (self / file).parent.mkdir(parents=True, exist_ok=True)
            # the end of a run reads the findings
            (self / file).write_text('{"files": {}, "findings": []}')
        done = self.snakemake("--cores", "1", "--touch", "--forceall")
        assert done.returncode == 0 and self.jobs() == {}, done.stdout + done.stderr


@pytest.fixture(scope="module", params=FIELDS)
def touched(request, tmp_path_factory):
    study = Touched(checkout(tmp_path_factory.mktemp(request.param) / "study").folder)
    made = STUDIES[request.param]
    for name in ("sources", "models"):
        study.change(
            f"resources/{name}.yaml", lambda known, name=name: known.update(made.get(name, {}))
        )
    made["config"]["experiments"] = (
        read_yaml(study / "config.yaml")["experiments"] | made["config"]["experiments"]
    )
    study.change("config.yaml", lambda config: config.update(made["config"]))
    (study / "models/mine").mkdir(parents=True)
    study.touch_all()
    return request.param, study


def put(entry, field: str, value) -> None:
    """Set a field; `downloads.0.urls` leads into lists and mappings, and a key may itself contain
    dots.
    """
    first, _, rest = field.partition(".")
    if isinstance(entry, list):
        put(entry[int(first)], rest, value)
    elif rest and field not in entry and isinstance(entry.get(first), (dict, list)):
        put(entry[first], rest, value)
    else:
        entry[field] = value


def files_of(study, study_name: str, name: str) -> list[str]:
    folder = f"scripts/studies/{study_name}"
    return {
        "studies": [f"{folder}/study.yaml"],
        "figures": [f"{folder}/figures.yaml", "resources/figures.yaml"],
    }.get(name, [f"resources/{name}.yaml"])


def entries(value, study_name: str) -> dict:
    """Return the entries of a file, by name; study.yaml has one."""
    if isinstance(value, list):
        return {item["name"]: item for item in value}
    return {study_name: value} if "methods" in value else value


@pytest.mark.parametrize("name", "sources models figures studies".split())
def test_every_field_of_resources(touched, name):
    """A field that a result shows makes the result again; any other field does not."""
    study_name, study = touched
    fields = [(*row, rules_of(said)) for *row, said in FIELDS[study_name][name]]
    before = {file: (study / file).read_text() for file in files_of(study, study_name, name)}
    known = {}
    for file in before:
        known |= entries(read_yaml(study / file), study_name)
    checked = {field.split(".")[0] for one in FIELDS.values() for _, field, *_ in one[name]}
    for entry in STUDIES[study_name]["used"][name]:
        assert set(known[entry]) <= checked, (
            f"{name}: fields of {entry} that resource_fields.yaml does not tell"
        )
    wrong = []
    try:
        # All quiet fields change at once: if one of them caused a rerun, it would show.
        quiet = [field for field in fields if field[3] == NOTHING]
        for together in filter(None, [quiet, *([field] for field in fields if field not in quiet)]):

            def mend(resource, together=together):
                here = entries(resource, study_name)
                for entry, field, value, _ in together:
                    if entry in here:
                        put(here[entry], field, value)

            for file in before:
                study.change(file, mend)
            found, expected = study.rerun(), together[0][3]
            if found != expected:
                texts = ", ".join(
                    f"{entry}.{field} = {value}" for entry, field, value, _ in together
                )
                wrong.append(
                    f"{texts} reruns {found and sorted(found)}, not {expected and sorted(expected)}"
                )
            for file, text in before.items():
                (study / file).write_text(text)
    finally:
        for file, text in before.items():
            (study / file).write_text(text)
    assert not wrong, "\n".join(wrong)
