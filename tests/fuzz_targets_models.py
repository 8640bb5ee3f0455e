"""Fetching from odd files and folders, and training from odd data and models:
targets of tests/fuzz.py.
"""

import hashlib
import io
import tempfile
import zipfile
from pathlib import Path

from safetensors.numpy import save

from scripts.studies.strided_sop.tables import STRIDED_PAIRS
from scripts.fetch.model import word_pieces
from tests.fuzz import Target
from tests.fuzz_targets_made import as_json, table
from tests.training import arguments
from tests.tiny_weights import bert_weights

SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def tokenizer() -> tuple[bytes, int]:
    """Return a tokenizer.json of a few words, and its number of pieces."""
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words.txt"
        words.write_text("open close take eat man\n")
        made = word_pieces(words, sentinel=False)
    return made.to_str().encode(), made.get_vocab_size()


PIECES, SIZE = tokenizer()
CONFIG = {
    "model_type": "bert",
    "num_hidden_layers": 1,
    "hidden_size": 8,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 32,
    "vocab_size": SIZE,
    "pad_token_id": 0,
}
SCRATCH = {
    "config.json": as_json(CONFIG),
    "tokenizer.json": PIECES,
    "tokenizer_config.json": as_json(
        {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 32, **SPECIAL}
    ),
}
WEIGHTS = save(bert_weights(SIZE, layers=1, width=8, inner=8, positions=32))
# A model in a folder, and its entry.
FOLDER = {
    f"m/{name}": content for name, content in (SCRATCH | {"model.safetensors": WEIGHTS}).items()
} | {"models.yaml": as_json({"m": {"title": "m", "licence": "none", "folder": "{in}/m"}})}

TEXT = b"one\ntwo\n"


def zipped() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/a.txt", TEXT)
    return written.getvalue()


FACTS = {"sha256": hashlib.sha256(TEXT).hexdigest(), "bytes": len(TEXT)}
DOWNLOADS = [
    {"urls": ["file://{in}/a.zip"], "members": {"x/a.txt": FACTS}},
    {"urls": ["file://{in}/b.txt"], "file": "b.txt"} | FACTS,
    {"urls": ["file://{in}/c.txt"], "file": "c.txt", "sha256": None, "bytes": None},
]

# ---- Training

PAIRS = [
    {
        "pair_id": f"{video}:{place}",
        "video_id": f"v{video}",
        "stride": 0,
        "first_position": place,
        "second_position": place + 1,
        "text_a": ["open man", "eat man"][label],
        "text_b": ["eat man", "open man"][label],
        "label": label,
    }
    for video in range(8)
    for place, label in enumerate((0, 1))
]

MODELS = {
    "fetch source": Target(
        "scripts.fetch.source",
        {
            "sources.yaml": as_json({"corpus": {"downloads": DOWNLOADS}}),
            "a.zip": zipped(),
            "b.txt": TEXT,
            "c.txt": TEXT,
        },
        "--source corpus --sources {in}/sources.yaml --output {out} --partial {in}/partial".split(),
    ),
    "fetch model": Target(
        "scripts.fetch.model",
        FOLDER,
        "--model m --models {in}/models.yaml --output {out} --partial {in}/partial".split(),
        ("config.json", "tokenizer.json", "model.safetensors"),
        places=("error: m: ",),
    ),
    "facts of a model": Target(
        "scripts.fetch.facts",
        FOLDER,
        "--model m --models {in}/models.yaml --output {out}/m.json --fetched {in}/none".split(),
        ("m.json",),
        places=("error: m: ",),
    ),
    "train": Target(
        "scripts.train.run",
        {f"m/{name}": content for name, content in SCRATCH.items()}
        | {f"data/{split}.parquet": table(STRIDED_PAIRS, *PAIRS) for split in ("train", "val")},
        arguments(
            "{out}",
            "{in}/data",
            "{in}/m",
            training={"epochs": 1, "batch_size": 8, "held_out_fraction": 0.3, "max_length": 16},
        ),
        ("predictions.parquet", "history.parquet", "run.json"),
        keeps="work",
        places=("/work/model", "error: run-1: "),
    ),
}
