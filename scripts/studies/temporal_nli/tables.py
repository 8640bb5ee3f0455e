"""The dataset of temporal NLI; columns.yaml explains its columns."""

from scripts.data.tables import table_schema

VARIED = (  # missing if a column does not apply
    "tense choice premise_type premise_preposition hypothesis_preposition premise_position "
    "hypothesis_position premise_form next_cycle hypothesis_type duration_format unit_pair "
    "direction difference distance hypothesis_size withheld part"
).split()
NLI = table_schema(
    " ".join(["example_id group_id text_a text_b label challenge_set", *VARIED]),
    label="int8",
    next_cycle="bool",
    difference="float64",
)
