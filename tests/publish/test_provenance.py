"""The page shows what runs cost and which settings, code and data made them."""

import yaml
from scripts.publish import provenance
from tests.rows import each_row

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
            ["at least 4.0 h", "10.0 h", "about 7.0 kWh"],
        ),
        (
            [spent(gpu_seconds=90.0)],
            ["2.0 h", "1.5 min", "about 24 Wh, without 1.5 min of GPUs whose power is not known"],
        ),
    ],
)
def test_hours_and_energy_are_told(costs, wanted):
    names = "CPU time of the runs", "GPU time of the runs", "Energy, estimated"
    assert provenance.spent([{"cost": one} for one in costs]) == [*zip(names, wanted)]
