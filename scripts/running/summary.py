"""What a finished study says on the terminal: its best numbers, where the page is,
and what took the time.
"""

import json
import time
from pathlib import Path

import pandas as pd

from scripts.plan.probe import method_of_blind
from scripts.data.tables import read_metrics

# what a number is of; a study has some of these columns
POINT = ["study", "experiment", "model", "method", "scoring", "source", "dataset", "split"]


def interval(row: pd.Series, form: str, scale: str = "") -> str:
    """The interval of a row of metrics, in per cent; form: of an end."""
    return (
        f"{row['ci_low'] * 100:{form}}{scale} to {row['ci_high'] * 100:{form}}{scale}"
        if pd.notna(row["ci_low"])
        else "one group: no interval"
    )


def above_control(row: pd.Series) -> str:
    """How far a model lies above the best control, in words."""
    control = (
        "the same model, blind"
        if method_of_blind(row["control"])
        else f"the control {row['control']}"
    )
    return f"{row['value'] * 100:+.1f} points to {control} ({interval(row, '+.1f')})"


def headlines(
    metrics: Path, studies: dict, models: list[str], altered: list[str] = ()
) -> list[str]:
    """For each study the best value of its headline metric over whole splits, with its interval;
    models: those that count; altered: experiments that do not, since their models are not as they
    came.
    """
    table = read_metrics(metrics).to_pandas()
    table = table[
        table["seed"].isna()
        & (table["slice"] == "all")
        & table["model"].isin(models)
        & ~table["experiment"].isin(altered)
    ]
    if "method" in table:
        table = table[table["method"].map(method_of_blind).isna()]
    lines = []
    for name, study in studies.items():
        of_study = table[(table["study"] == name) & (table["metric"] == study["headline"])]
        if of_study.empty:
            continue
        # binary is easier to guess: its majority is two thirds
        if "scoring" in of_study and (of_study["scoring"] == "ternary").any():
            of_study = of_study[of_study["scoring"] == "ternary"]
        best = of_study.loc[of_study["value"].idxmax()]
        note = ", sample data" * bool(best["sample"]) + (
            f", at most {best['limit']:,.0f} items" if pd.notna(best["limit"]) else ""
        )
        same = [name for name in POINT if name in table and pd.notna(best[name])]
        of_best = table[(table[same] == best[same]).all(axis=1)]
        distances = [
            row
            for what in ("control", "same_view")
            for _, row in of_best[
                of_best["metric"] == f"{study['headline']}_above_{what}"
            ].iterrows()
        ]
        above = " and ".join(map(above_control, distances)) or "without a control"
        method = (
            "" if best["method"] in ("train", None) else f", {best['method'].replace('_', ' ')},"
        )
        lines.append(
            f"{study['title']}: {study['headline'].replace('_', ' ')} at best "
            f"{best['value'] * 100:.1f} % ({interval(best, '.1f', ' %')}), {above}; "
            f"{best['model']}{method} on {best['source']} {best['dataset']} {best['split']}{note}"
        )
    return lines


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


def summary(
    metrics: Path,
    page: Path,
    benchmarks: Path,
    studies: dict,
    models: list[str],
    since: float,
    of_all: list[str] = (),
    altered: list[str] = (),
) -> str:
    """All of it; the numbers only where the page was made in this call. of_all: the files of what
    is about all studies; altered: of headlines().
    """
    made_now = page.exists() and page.stat().st_mtime >= since
    lines = (
        [
            *headlines(metrics, studies, models, altered),
            *([f"All models and studies: {', '.join(of_all)}"] if of_all else []),
            f"Datasets: results/build/; numbers: {metrics}",
            f"Page: {page}",
        ]
        if made_now
        else []
    )
    return "\n".join([*lines, *time_taken(times(benchmarks, since), time.time() - since)])
