"""Rules only declare; scripts/plan/ computes their values, and a rule spells its whole command."""

import re

from tests.conftest import ROOT

FILES = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]


def test_rules_hold_no_code():
    texts = {file.name: file.read_text(encoding="utf-8") for file in FILES}
    functions = [
        (name, line)
        for name, text in texts.items()
        for line in re.findall(r"^(?:def|class) .*", text, re.M)
    ]
    assert not functions, (
        "a function belongs into scripts/plan/, where it is tested without Snakemake"
    )
    names = {
        name
        for text in texts.values()
        for line in re.findall(r"^([A-Z_, ]+) = ", text, re.M)
        for name in line.split(", ")
    }
    assert names == set("ROOT START WORK PUBLISHED GPUS".split())


def test_a_rule_spells_its_command():
    """The program and each of its options stand in the rule. Nothing is removed before the program
    runs, and a value that a user configured is quoted.
    """
    rules = [
        part
        for file in FILES
        for part in re.split(r"^\s*(?=(?:use )?rule\b)", file.read_text(), flags=re.M)
    ]
    commands = [
        command for rule in rules for command in re.findall(r"\n +shell:\n(.*)", rule, re.S)
    ]
    assert len(commands) == 18
    for command in commands:
        assert command.lstrip().startswith('"python -m scripts.'), command
        assert not re.search(r"\brm\b|[;&]|params\.(?:program|arguments)", command), command
        unquoted = set(re.findall(r"\{params\.(\w+)\}", command))
        assert unquoted <= {"cleaner"}, command  # the name of a module
