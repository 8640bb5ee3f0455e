"""Rules only declare; scripts/plan/ computes their values."""

import re

from tests.conftest import ROOT

FILES = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]


def test_rules_hold_no_code():
    texts = {file.name: file.read_text(encoding="utf-8") for file in FILES}
    assert sum(len(text.splitlines()) for text in texts.values()) <= 700
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
    assert names == set("ROOT START WORK PUBLISHED JOBS GPUS".split())
