"""Training refuses a model's folder or a dataset that it cannot use: the message names the file
before the first step, and no result is left.
"""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.data.tables import write_table
from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from tests.fuzz import TARGETS, content_of, filled, place, table
from tests.training import arguments, pairs, write_pairs

FILES, WEIGHTS = TARGETS["train"].files, content_of("model.safetensors", None)
CONFIG, PANIC = (json.loads(FILES[f"m/{name}.json"]) for name in ("config", "tokenizer"))
PAIRS = pq.read_table(io.BytesIO(FILES["data/train.parquet"])).to_pylist()


def as_json(value: dict) -> bytes:
    return json.dumps(value).encode()


PANIC["post_processor"] |= {"special_tokens": {}}  # the Rust library panics on this

ODD = {
    "its weights are quantised (gptq), so they can be asked but not trained": {
        "m/config.json": as_json(CONFIG | {"quantization_config": {"quant_method": "gptq"}}),
        "m/model.safetensors": WEIGHTS,
    },
    "has no attribute 'decoder_start_token_id'); get the right file": {
        "m/config.json": as_json(CONFIG | {"model_type": "t5"})
    },
    "/in/m: config.json, tokenizer.json, tokenizer_config.json: transformers": {
        "m/tokenizer.json": as_json(PANIC)
    },
    "has no AutoModelForSequenceClassification for a mamba model; leave the method out": {
        "m/config.json": as_json(CONFIG | {"model_type": "mamba"})
    },
    "id2label does not name the labels by their numbers": {
        "m/config.json": as_json(CONFIG | {"id2label": ["a"]}),
        "m/model.safetensors": WEIGHTS,
    },
    "(vocab_size in config.json, counted from 0)": {
        "m/config.json": as_json(CONFIG | {"vocab_size": 9})
    },
    "label 7 is not one of 2 labels": {
        "data/val.parquet": table(STRIDED_PAIRS, *(pair | {"label": 7} for pair in PAIRS))
    },
    "column text_a has 1 missing values": {
        "data/train.parquet": table(STRIDED_PAIRS, *PAIRS, PAIRS[0] | {"text_a": None})
    },
}


@pytest.mark.models
@pytest.mark.parametrize("said", ODD)
def test_what_cannot_be_trained_is_told(said, program, tmp_path):
    target = TARGETS["train"]
    place(target.files | ODD[said], tmp_path / "in")
    line = (tmp_path / "in" / target.stdin).read_text()
    given = filled(target.arguments, tmp_path / "in", tmp_path / "out")
    done = program(target.module, *given, "<<<", line)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("error: ")
    assert said in last
    assert "Traceback" not in done.stderr, done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["work"]


@pytest.mark.models
def test_a_run_without_a_finite_held_out_loss_ends_in_a_sentence(program, tmp_path):
    """The weights have no number for a sign that the training texts lack."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from tests.models import fetched

    model = fetched("tiny_bert", tmp_path / "model", AutoModelForSequenceClassification)
    weights = load_file(model / "model.safetensors")
    mark = AutoTokenizer.from_pretrained(model).convert_tokens_to_ids("?")
    weights["bert.embeddings.word_embeddings.weight"][mark] = torch.nan
    save_file(weights, model / "model.safetensors", {"format": "pt"})
    write_pairs(tmp_path / "data", {"train": 20, "val": 8})
    table = pairs(8, 3)
    marked = pa.array([f"{text} ?" for text in table["text_a"].to_pylist()])
    table = table.set_column(table.schema.names.index("text_a"), "text_a", marked)
    write_table(table, tmp_path / "data/held.parquet", STRIDED_PAIRS, {})
    given = {"method": {"held_out": "held"}, "training": {"epochs": 2}}
    done = program(
        "scripts.train.runs", *arguments(tmp_path / "out", tmp_path / "data", model, **given)
    )
    done.refused("out: the held-out loss is not finite in any epoch; lower learning_rate")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["work"]


@pytest.mark.models
def test_a_model_in_parts_is_asked_and_one_without_numbers_is_refused(program, tmp_path):
    """A folder without a manifest, as a trainer leaves it: its parts are read, too. The score of a
    text is a number, or the run ends.
    """
    import torch
    from transformers import AutoModelForMaskedLM
    from tests.models import fetched

    folder, data = tmp_path / "model", tmp_path / "data"
    network = AutoModelForMaskedLM.from_pretrained(
        fetched("tiny_bert", folder, AutoModelForMaskedLM)
    )
    (folder / "model.safetensors").unlink()
    network.save_pretrained(folder, max_shard_size="100KB")
    write_pairs(data, {"train": 2, "val": 2}, positions=2)
    texts = {"swapped": "|{text_b} {text_a}", "in_order": "|{text_a} {text_b}"}
    prompt = {"score": "sum", "threshold": None, "domain": None, "texts": texts}
    method = {"paradigm": "likelihood", "learns": False, "peak": False, "prompt": prompt}
    given = {"method": method, "settings": {"wording": "plain"}}
    program("scripts.train.runs", *arguments(tmp_path / "a", data, folder, **given)).checked(True)
    with torch.no_grad():
        network.bert.encoder.layer[0].output.dense.bias[0] = torch.nan
    network.save_pretrained(folder, max_shard_size="100KB")
    done = program("scripts.train.runs", *arguments(tmp_path / "b", data, folder, **given))
    done.refused("b: 4 examples of val have no number as a score; ")
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["work"]
