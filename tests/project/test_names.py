"""Every module, definition and file that rules, YAML, docs and docstrings name exists."""

import ast
import re

import pytest

from tests.conftest import ROOT, call

DOTTED = re.compile(r"\b(?:scripts|(?<=-m )benchmarks|(?<=-m )tests)(?:\.[A-Za-z_][A-Za-z0-9_]*)+")
FOLDERS = "scripts|rules|resources|presets|envs|profiles|slurm|docs|report|tests|benchmarks"
PATH = re.compile(rf"(?<![\w/.<>-])(?:{FOLDERS})/[\w./-]*\w\.(?:py|smk|yaml|csv|md|rst|txt|svg)\b")
EXAMPLES = {
    "docs/add_data.md",
    "docs/add_experiment.md",
    "docs/add_study.md",
}  # its files are written by the reader
# the workflow gives the last of these files to the page
MADE_UP = {"tests/train/test_x.py"}
# Files that the workflow gives to a program as if they were in resources/.
MADE_UP |= {"resources/left_out.yaml", "resources/published.csv"}


def tracked(*suffixes: str) -> list[str]:
    """Return the project's files with these suffixes, without the record, the history, and the
    tests, which use made-up names.
    """
    listed = call(*"git ls-files -co --exclude-standard".split(), check=True)
    names = [
        name
        for name in listed.stdout.split("\n")
        if name.endswith(suffixes) and (ROOT / name).is_file()
    ]
    return [name for name in names if not name.startswith(("docs/record/", "CHANGELOG", "tests/"))]


def resolves(name: str) -> bool:
    """Return whether a dotted name is a module, a package, or a name that a module defines."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        place, inside = ROOT.joinpath(*parts[:length]), parts[length:]
        if not inside and (place.is_dir() or place.with_suffix(".py").is_file()):
            return True
        if place.with_suffix(".py").is_file():
            code = place.with_suffix(".py").read_text(encoding="utf-8")
            return bool(re.search(rf"^(?:def|class) {inside[0]}\b|^{inside[0]}\b.*=", code, re.M))
    return False


@pytest.mark.parametrize(
    "kind", ".smk Snakefile .yaml .md .rst .py .yml Makefile .toml .csv".split()
)
def test_what_is_named_is_there(kind):
    missing = []
    for file in tracked(kind):
        text = (ROOT / file).read_text(encoding="utf-8")
        missing += [f"{file}: {name}" for name in DOTTED.findall(text) if not resolves(name)]
        if file not in EXAMPLES:
            missing += [
                f"{file}: {path}" for path in PATH.findall(text) if not (ROOT / path).exists()
            ]
    missing = [line for line in missing if line.split(": ")[1] not in MADE_UP]
    assert not missing, "\n".join(missing)


LINK = re.compile(r"\[[^\]]*\]\(([^)\s:]*)\)")  # to a file of the project, so without a scheme


def anchors(page: str) -> set[str]:
    """Return the anchors that GitHub makes from a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page, re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_pages_lead_to_a_file_and_a_heading():
    missing = []
    for file in [*tracked(".md"), "CHANGELOG.md", "docs/record/README.md"]:
        for link in LINK.findall((ROOT / file).read_text(encoding="utf-8")):
            name, _, anchor = link.partition("#")
            target = (ROOT / file).parent / name if name else ROOT / file
            if not target.exists():
                missing.append(f"{file}: {link}")
            elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
                missing.append(f"{file}: {link}")
    assert not missing, "\n".join(missing)


STUDIES = set("strided_sop temporal_nli mctaco timedial hellaswag".split())
ELSEWHERE = ("scripts/studies/", "scripts/clean/")


def quoted_words(text: str) -> set[str]:
    """Return the strings of a module, without its docstrings."""
    tree = ast.parse(text)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
    }


def test_no_shared_module_names_a_study():
    found = {
        file: STUDIES & quoted_words((ROOT / file).read_text(encoding="utf-8"))
        for file in tracked(".py")
        if file.startswith("scripts/") and not file.startswith(ELSEWHERE)
    }
    assert not {file: names for file, names in found.items() if names}
