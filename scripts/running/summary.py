"""The summary of a finished study on the terminal: the findings, where the page is, and the longest
jobs.
"""

import json
import os
import time
from pathlib import Path


def found(page: Path) -> list[str]:
    """Return a line for each of the page's findings, from findings.json beside the page."""
    text = page.with_name("findings.json").read_text(encoding="utf-8")
    return [
        f"{', '.join([one['title'], *one['marks']])}: {sentence(one['sentence'])}"
        for one in json.loads(text)["findings"]
    ]


def sentence(parts: dict) -> str:
    """Return the sentence of a finding as the page shows it."""
    corpus = f"{parts['corpus']}: " if parts["corpus"] else ""
    control = f", the control like for like {parts['control']}" if parts["control"] else ""
    verdict = f": {parts['words']}" if parts["verdict"] else ""
    said = f"{corpus}{parts['who']} has {parts['said']} {parts['of']}{control}{verdict}."
    return " ".join(filter(None, [said, parts["shortcut"]]))


def longest(benchmarks: Path, since: float) -> list[str]:
    """Return the three longest jobs (stage/…/job) that ended after `since` (seconds since 1970)."""
    seconds = {
        str(file.relative_to(benchmarks).with_suffix("")): json.loads(line)["s"]
        for file in benchmarks.rglob("*.jsonl")
        if file.stat().st_mtime >= since
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip()
    }
    names = sorted(seconds, key=lambda name: seconds[name], reverse=True)[:3]
    return [f"{name} {clock(seconds[name])}" for name in names]


def clock(seconds: float) -> str:
    """`1 h 02 min`, `3 min 05 s` or `12 s`."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 60} min {whole % 60:02} s" if whole >= 60 else f"{whole} s"


def summary(metrics: Path, page: Path, benchmarks: Path, since: float, of_all: list[str]) -> str:
    """Return the whole summary. It has the findings only if this call made the page. of_all: the
    files about all studies.
    """
    lines = []
    if page.exists() and page.stat().st_mtime >= since:
        lines = found(page)
        if of_all:
            lines.append(f"All models and studies: {', '.join(of_all)}")
        lines += [f"Datasets: results/build/; numbers: {metrics}", f"Page: {page}"]
    if jobs := longest(benchmarks, since):
        spent = os.times()
        lines.append(
            f"Time: {clock(time.time() - since)} by the clock, "
            f"{clock(spent.children_user + spent.children_system)} of this machine's processors; "
            f"longest: {', '.join(jobs)}"
        )
    return "\n".join(lines)
