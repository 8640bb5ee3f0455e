"""What a finished study says on the terminal: what was found, where the page is, and what took the
time.
"""

import json
import time
from pathlib import Path

import pandas as pd


def found(page: Path) -> list[str]:
    """A line for each clause of the page's findings, which stand in findings.json beside it."""
    text = page.with_name("findings.json").read_text(encoding="utf-8")
    return [
        f"{', '.join(filter(None, [one['title'], clause['corpus'], *one['marks']]))}: "
        + "; ".join(
            filter(
                None,
                [
                    f"{clause['said']} {clause['of']}".strip(),
                    clause["control"],
                    *(words for _, words in clause["verdicts"]),
                    one["who"],
                ],
            )
        )
        for one in json.loads(text)["findings"]
        for clause in one["clauses"]
    ]


def times(benchmarks: Path, since: float) -> pd.DataFrame:
    """By job (stage/…/job) the seconds by the clock (s) and of the processor (cpu_time), of the
    jobs that ended after `since` (seconds since the epoch).
    """
    rows = [
        {"job": str(file.relative_to(benchmarks).with_suffix("")), **json.loads(line)}
        for file in benchmarks.rglob("*.jsonl")
        if file.stat().st_mtime >= since
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    table = pd.DataFrame(rows, columns=["job", "s", "cpu_time"])
    seconds = table[["s", "cpu_time"]].apply(pd.to_numeric, errors="coerce")
    return seconds.groupby(table["job"]).sum()


def clock(seconds: float) -> str:
    """`1 h 02 min`, `3 min 05 s` or `12 s`."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 60} min {whole % 60:02} s" if whole >= 60 else f"{whole} s"


def time_taken(jobs: pd.DataFrame, elapsed: float) -> list[str]:
    """The time by the clock, the processor's by stage, and the three longest jobs; elapsed: seconds
    of the call.
    """
    if jobs.empty:
        return []
    stages = jobs["cpu_time"].groupby(jobs.index.str.split("/").str[0]).sum()
    by_stage = [f"{name} {clock(cpu)}" for name, cpu in stages.sort_values(ascending=False).items()]
    longest = [f"{job} {clock(seconds)}" for job, seconds in jobs["s"].nlargest(3).items()]
    return [
        f"Time: {clock(elapsed)} by the clock; CPU time of the jobs {clock(stages.sum())} "
        f"({', '.join(by_stage)}); longest by the clock: {', '.join(longest)}"
    ]


def summary(metrics: Path, page: Path, benchmarks: Path, since: float, of_all: list[str]) -> str:
    """All of it; what was found only where the page was made in this call. of_all: the files of
    what is about all studies.
    """
    lines = []
    if page.exists() and page.stat().st_mtime >= since:
        lines = found(page)
        lines += [f"All models and studies: {', '.join(of_all)}"] * bool(of_all)
        lines += [f"Datasets: results/build/; numbers: {metrics}", f"Page: {page}"]
    return "\n".join([*lines, *time_taken(times(benchmarks, since), time.time() - since)])
