"""On what the runs of a study were computed, and whether that differs between them."""

from collections import Counter


def machine_of(fact: dict) -> str:
    """What a run's numbers depend on beside its job, from its run.json, in words."""
    hardware, versions = fact["hardware"], fact["versions"]
    kernels = "" if hardware.get("deterministic", True) else ", kernels that vary from run to run"
    libraries = ", ".join(f"{name} {versions[name]}" for name in ("torch", "transformers", "scikit-learn") if name in versions)
    return (f"{hardware['device']}, {hardware['processes']} × {hardware['threads']} threads, {hardware['precision']}{kernels}, "
            f"{libraries}")


def mixture(facts: list[dict]) -> list[str]:
    """`12 runs: …` for each kind of machine, most runs first, where there are several; else nothing. Controls do not count."""
    machines = Counter(machine_of(fact) for fact in facts if fact["method"] != "control")
    if len(machines) < 2:
        return []
    return [f"{count} {'run' if count == 1 else 'runs'}: {machine}" for machine, count in machines.most_common()]
