"""benchmarks.attack on the finished study."""

import re
import shutil
from argparse import Namespace

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import attack


def test_what_gives_the_labels_of_a_test_away_is_found_by_folds(study, monkeypatch, capsys):
    """A word in the first text gives the label away in the test split only; learning from the
    training split does not find it.
    """
    for run in (study / "results/train/strided_sop").glob("sample_howto100m-*"):
        shutil.rmtree(run)
    file = study / "results/build/strided_sop/mini/stride-0/val_1.parquet"
    table = pq.read_table(file)
    for name, label in (("text_a", 1), ("text_b", 0)):
        texts, labels = table[name].to_pylist(), table["label"].to_pylist()
        marked = ["aha " * (of == label) + text for text, of in zip(texts, labels)]
        field = table.schema.field(name)
        place = table.schema.get_field_index(name)
        table = table.set_column(place, field, pa.array(marked, field.type))
    pq.write_table(table, file)
    given = Namespace(study="strided_sop", dataset=["stride-0"], results=study / "results")
    found = []
    for given.by_folds, features in (False, ["words", "words pairs numbers"]), (True, ["words"]):
        monkeypatch.setattr(attack, "FEATURES", features)
        attack.main(given)
        printed = capsys.readouterr().out
        reached = re.findall(r"val_1, all: .*\n\n.*\n.*\n\| words \| ([\d.]+) \(", printed)
        found.append(max(map(float, reached), default=0))
    assert found[0] < 70 < 90 < found[1], found
