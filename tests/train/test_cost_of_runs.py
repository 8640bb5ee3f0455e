"""The cost of a run in run.json."""

from scripts.train import cost, work
from tests.files import read_json, write_json
from tests.publish.test_provenance import fact


def test_the_cost_is_told_when_a_run_ends_and_goes_on_from_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(cost, "EARLIER", {"cpu_seconds": 0.0, "at_least": False})
    job = {"digest": "d", "makes_model": False}
    (tmp_path / "work/result").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    for name in work.outputs_of(job):
        write_json(tmp_path / "work/result" / name, fact())
    cost.take_up(1000.0)
    work.finish(tmp_path / "work", job, tmp_path / "out")
    spent = read_json(tmp_path / "out/run.json")["cost"]
    assert spent["cpu_seconds"] > 2000
    assert spent["at_least"]
    assert spent["gpu_seconds"] == 0, "of two processes"
    assert cost.cost_of(fact())["cpu_seconds"] < 100, "the next run of the process counts from here"
    assert work.finished(tmp_path / "work", job), "its hash is that of the file with the cost"
