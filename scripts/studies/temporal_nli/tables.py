"""The dataset of temporal NLI; columns.yaml explains its columns. Not a program."""

import pyarrow as pa

VARIED = [
    "tense",
    "choice",
    "premise_type",
    "premise_preposition",
    "hypothesis_preposition",
    "premise_position",
    "hypothesis_position",
    "premise_form",
    "next_cycle",
    "hypothesis_type",
    "duration_format",
    "unit_pair",
    "direction",
    "difference",
    "distance",
    "hypothesis_size",
    "withheld",
    "part",
]  # missing if a column does not apply
NLI = pa.schema(
    dict.fromkeys(
        ["example_id", "group_id", "text_a", "text_b", "label", "challenge_set", *VARIED],
        pa.string(),
    )
    | {"label": pa.int8(), "next_cycle": pa.bool_(), "difference": pa.float64()}
)
