"""Each command of README, CONTRIBUTING and the docs is one that works as it stands: Snakemake plans
it, a program knows its options, make has its target. Commands that need a network, a cluster or
another tool are left out, and so are names that a reader replaces.
"""

import ast
import re
import shlex

import pytest

from tests.conftest import ROOT, python_code
from tests.planned_jobs import STUDIES
from tests.workflow.conftest import Study, checkout

PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{file.name}" for file in ROOT.glob("docs/*.md"))]
INDENTED = re.compile(r"(?:^|\n\n)((?: {4}(?![*|]).*(?:\n|$))+)")
FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)
COMMAND = re.compile(
    r"^(?:\w+=\S+ )?(?:\.venv/bin/|\./)?(python|snakemake|make|timestride|hf|lm_eval)\b.*"
)
ELSEWHERE = ("hf", "lm_eval", "timestride")  # other tools; the last has tests of its own
AWAY = ("--profile slurm", "API_KEY", "SmolLM2", "/path/to", "halves.yaml", "docs/figures/rules.py")
REPLACED = {"ORG/NAME": "tiny_bert", "presets/<name>.yaml": "presets/small.yaml"}
MINE = """
name: mine
run: [my_order]
experiments:
  my_order: {study: strided_sop, data: {source: sample_activitynet, stride: 0}, models: [tiny_bert]}
"""


def commands(page: str) -> list[list[str]]:
    """Return the commands of a page as words, each once, without comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [block for _, kind, block in FENCED.findall(text) if kind in ("", "sh", "bash")]
    blocks += INDENTED.findall(FENCED.sub("", text))
    lines = [line.strip() for block in blocks for line in block.replace("\\\n", "").splitlines()]
    lines += re.findall(r"`((?:snakemake|python|make) [^`\n]+)`", FENCED.sub("", text))
    found = [re.split(r" +# | <<< ", line)[0] for line in lines if COMMAND.match(line)]
    return [shlex.split(line) for line in dict.fromkeys(found)]


EVERY = [(page, words) for page in PAGES for words in commands(page)]
HERE = [(page, words) for page, words in EVERY if not any(one in " ".join(words) for one in AWAY)]


def of(program: str) -> list:
    """Return the commands of a program, for parametrize; those that differ in nothing but how they
    run are one.
    """
    chosen = {
        " ".join(word for word in words[1:] if word not in ("--cores", "all", "-n", "-p")): words
        for _, words in HERE
        if words[0].split("/")[-1] == program
    }
    return [pytest.param(words, id=line[:80]) for line, words in chosen.items()]


def test_commands_are_found_on_most_pages():
    assert len({page for page, _ in EVERY}) > len(PAGES) / 2
    known = {"python", "snakemake", "make", *ELSEWHERE}
    assert {words[0].split("/")[-1].partition("=")[0] for _, words in HERE} <= known


@pytest.fixture(scope="module")
def reader(tmp_path_factory) -> Study:
    study = checkout(tmp_path_factory.mktemp("reader") / "study")
    for name in ("presets/mine.yaml", "mine.yaml", "night.yaml"):
        (study / name).write_text(MINE)
    return study


# tests/plan/test_plan.py plans the default study and each preset.
PLANNED = {"", *(f"--configfile presets/{name}.yaml" for name in STUDIES)}


@pytest.mark.slow
@pytest.mark.parametrize("words", [one for one in of("snakemake") if one.id not in PLANNED])
def test_snakemake_plans_it(reader, words):
    for name, other in REPLACED.items():
        words = [word.replace(name, other) for word in words]
    reader.snakemake(*words[1:], "--dry-run", "--quiet").checked()


def programs() -> dict[str, set[str]]:
    """Return the options that the pages give to each program of the project."""
    options: dict[str, set[str]] = {}
    for _, words in HERE:
        if words[0].endswith("python") and "-m" in words and "pytest" not in words:
            module = words[words.index("-m") + 1].replace("<study>", "mctaco")
            given = {word.partition("=")[0] for word in words if word.startswith("--")}
            options.setdefault(module, set()).update(given)
    return options


@pytest.mark.parametrize("module, options", programs().items())
def test_a_program_knows_its_options(program, module, options):
    done = program(f"{module} --help").checked()
    unknown = {option for option in options if option not in done.stdout}
    assert not unknown, f"{module} has no {', '.join(sorted(unknown))}"


@pytest.mark.parametrize("words", of("make"))
def test_make_has_the_target(words):
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    assert {word for word in words[1:] if "=" not in word} <= set(targets)


def snippets(page: str) -> list[str]:
    """Return the blocks of Python of a page that need no other library."""
    text = re.sub(
        r"<!-- needs: .*?```\n", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.S
    )
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def test_blocks_of_python_are_python():
    for page in PAGES:
        for block in snippets(page):
            if "snakefile:" not in block:  # Snakemake's own language
                ast.parse(block)


def test_a_headline_is_found_by_the_filter_of_the_docs():
    """The first block of docs/data.md prints one row: README's number."""
    block = snippets("docs/data.md")[0]
    done = python_code(block)
    _, value, low, high = done.stdout.splitlines()[-1].split()
    assert len(done.stdout.splitlines()) == 2, done.stdout + done.stderr
    row = next(
        line for line in (ROOT / "README.md").read_text().splitlines() if "weekdays held" in line
    )
    assert f"| {float(value) * 100:.1f} (" in row
