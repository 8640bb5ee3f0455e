"""On what the runs of a study were computed, and whether that differs between them."""

from collections import Counter


def machine_of(fact: dict) -> str:
    """What a run's numbers depend on beside its job, from its run.json, in words."""
    hardware, versions = fact["hardware"], fact["versions"]
    kernels = "" if hardware.get("deterministic", True) else ", kernels that vary from run to run"
    return (f"{hardware['device']}, {hardware['processes']} × {hardware['threads']} threads, {hardware['precision']}{kernels}, "
            f"torch {versions['torch']}, transformers {versions['transformers']}")


def mixture(facts: list[dict]) -> list[str]:
    """`12 runs: …` for each kind of machine, most runs first, where there are several; else nothing."""
    machines = Counter(map(machine_of, facts))
    if len(machines) < 2:
        return []
    return [f"{count} {'run' if count == 1 else 'runs'}: {machine}" for machine, count in machines.most_common()]
