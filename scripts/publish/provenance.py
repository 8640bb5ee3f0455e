"""The timestride, machines and libraries that made the numbers of a page, with their time and
energy, from run.json of each run.

The energy is an estimate for the runs alone: CPU hours × WATTS_PER_CORE, and GPU hours × the power
limit of the GPUs, which they seldom draw all the time.
"""

from collections import Counter
from datetime import datetime, timezone
from importlib.metadata import version

import pandas as pd

from scripts.running.program import plural
from scripts.running.project_version import commit_date, project_version

# The default of Green Algorithms for a core of an unknown processor: Lannelongue, Grealey and
# Inouye 2021, doi:10.1002/advs.202100707.
WATTS_PER_CORE = 12.0
ESTIMATE = (
    f"an estimate: CPU hours × {WATTS_PER_CORE:g} W a core (the default of Green Algorithms: "
    "Lannelongue et al. 2021, doi:10.1002/advs.202100707), GPU hours × the power limit of the "
    "GPUs. It counts the runs, without memory and cooling"
)
DRAWN_WITH = ("numpy", "pandas", "pyarrow", "matplotlib")


def commit_text(project: dict) -> str:
    """Return `0.1.0, commit 0123… (modified)`. project: project_version(), or `timestride` of a
    run.json.
    """
    commit = project.get("commit")
    if not commit:
        return f"{project['version']}, no git commit"
    modified = " (modified)" if project.get("modified") else ""
    return f"{project['version']}, commit {commit}{modified}"


def counted(texts: list[str]) -> list[str]:
    """Return `NAME (12 runs)` for each name, most runs first; a single name without its count."""
    counts = Counter(texts).most_common()
    if len(counts) == 1:
        return [counts[0][0]]
    return [f"{name} ({plural(count, 'run')})" for name, count in counts]


def machine_kind(fact: dict) -> str:
    cost = fact["cost"]
    gpus = f"{cost['gpus']} × {cost['gpu']}, " if cost["gpus"] else ""
    return f"{gpus}{cost['processor']}, {cost['cores']} cores, {cost['system']}"


def hours(seconds: float) -> str:
    """Return `1,234 h`, `2.5 h`, `3.1 min` or `12 s`."""
    if seconds >= 360_000:
        return f"{seconds / 3600:,.0f} h"
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def energy(watt_hours: float) -> str:
    """Return `1.2 kWh`, `340 Wh` or `0.4 Wh`."""
    if watt_hours >= 1000:
        return f"{watt_hours / 1000:,.1f} kWh"
    return f"{watt_hours:.0f} Wh" if watt_hours >= 10 else f"{watt_hours:.1f} Wh"


def spent(facts: list[dict]) -> list[tuple[str, str]]:
    costs = [fact["cost"] for fact in facts]
    cpu, gpu = (sum(cost[name] for cost in costs) for name in ("cpu_seconds", "gpu_seconds"))
    at_least = "at least " if any(cost["at_least"] for cost in costs) else ""
    lines = [("CPU time of the runs", at_least + hours(cpu))]
    if gpu:
        lines.append(("GPU time of the runs", hours(gpu)))
    powered = sum(cost["gpu_seconds"] * (cost["gpu_watts"] or 0) for cost in costs)
    unknown = sum(cost["gpu_seconds"] for cost in costs if not cost["gpu_watts"])
    without = f", without {hours(unknown)} of GPUs whose power is not known" if unknown else ""
    return [
        *lines,
        ("Energy, estimated", f"about {energy((cpu * WATTS_PER_CORE + powered) / 3600)}{without}"),
    ]


def provenance_of(facts: list[dict]) -> dict:
    """Return for the page `facts`, which decide the numbers; `spent`, time and energy; `estimate`,
    how the energy was estimated.
    """
    libraries = pd.DataFrame([dict(fact["versions"]) for fact in facts])
    versions = [f"{name} {', '.join(counted(used.dropna()))}" for name, used in libraries.items()]
    date = commit_date()
    day = [] if date is None else [f"{datetime.fromtimestamp(date, timezone.utc):%Y-%m-%d}"]
    projects = [commit_text(fact["timestride"]) for fact in facts]
    lines = [
        ("timestride, of this page", [commit_text(project_version())]),
        ("timestride, of the runs", counted(projects)),
        ("date, of the commit", day),
        ("machines", counted([machine_kind(fact) for fact in facts])),
        ("libraries of the runs", versions),
        ("libraries of the page", [f"{name} {version(name)}" for name in DRAWN_WITH]),
    ]
    return {
        "facts": [(name, values) for name, values in lines if values],
        "spent": spent(facts),
        "estimate": ESTIMATE,
    }


def machine_of(fact: dict) -> str:
    """Return the hardware and libraries on which a run's numbers depend, besides its job."""
    hardware, versions = fact["hardware"], fact["versions"]
    kernels = "" if hardware["deterministic"] else ", nondeterministic kernels"
    libraries = [
        f"{name} {versions[name]}"
        for name in ("torch", "transformers", "scikit-learn")
        if name in versions
    ]
    threads = f"{hardware['processes']} × {hardware['threads']} threads"
    return ", ".join([hardware["device"], threads, f"{hardware['precision']}{kernels}", *libraries])


def mixture(facts: list[dict]) -> list[str]:
    """Return `12 runs: …` for each kind of machine, not counting controls; empty if there is only
    one kind.
    """
    machines = Counter(machine_of(fact) for fact in facts if fact["method"] != "control")
    found = [f"{plural(count, 'run')}: {machine}" for machine, count in machines.most_common()]
    return found if len(found) > 1 else []
