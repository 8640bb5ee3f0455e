"""The page shows what runs cost and which settings, code and data made them."""

import yaml
from scripts.publish import provenance
from tests.rows import each_row

HARDWARE = {"device": "NVIDIA H100", "processes": 2, "threads": 4, "precision": "bf16"}


def fact(**more) -> dict:
    return {
        "seconds": 1800.0,
        "hardware": HARDWARE,
        "versions": {"torch": "2.13.0"},
        "timestride": {"version": "0.1.0", "commit": "a" * 40, "modified": True},
    } | more


SPENT = yaml.safe_load("""
{cpu_seconds: 7200.0, at_least: false, gpu_seconds: 0.0, gpu_watts: null, processor: a CPU, cores: 8, gpus: 0,
  gpu: null, system: Linux x86_64}
""")


def spent(**more) -> dict:
    return SPENT | more


@each_row(
    "costs, wanted",
    [
        (
            [spent(), spent(at_least=True, gpu_seconds=36000.0, gpu_watts=700.0)],
            [
                ("CPU time of the runs", "at least 4.0 h"),
                ("GPU time of the runs", "10.0 h"),
                ("Energy, estimated", "about 7.0 kWh"),
            ],
        ),
        (
            [spent(gpu_seconds=90.0)],
            [
                ("CPU time of the runs", "2.0 h"),
                ("GPU time of the runs", "1.5 min"),
                (
                    "Energy, estimated",
                    "about 24 Wh, without 1.5 min of GPUs whose power is not known",
                ),
            ],
        ),
    ],
)
def test_hours_and_energy_are_told(costs, wanted):
    assert provenance.spent([fact(cost=one) for one in costs]) == wanted
    assert provenance.spent([fact()])[0] == ("CPU time of the runs", "4.0 h"), (
        "1,800 s on 2 × 4 threads"
    )
