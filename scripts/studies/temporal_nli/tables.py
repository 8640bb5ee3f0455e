"""The dataset of temporal NLI. Not a program.

nli  example_id, group_id (the template), text_a (premise), text_b (hypothesis), label (0
     entailment, 1 neutral, 2 contradiction), challenge_set, and what was varied; missing where it
     does not apply: tense (past, future), choice (how the times are chosen), premise_type (fixed,
     interval), prepositions, positions (forward, fronted), premise_form (one_clause, two_clauses),
     next_cycle, hypothesis_type, unit_pair, direction (of the hypothesis's duration: lower,
     higher), difference (of the two times: a share of the list; in set III in higher units),
     distance (its bin), hypothesis_size (the bin of T2, set III, in higher units), withheld (the
     kinds of held_out that would hold the pair out, spaces between), part (seen or unseen, by the
     kind that the dataset holds out)
"""

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
]  # missing where it does not apply
NLI = pa.schema(
    dict.fromkeys(
        ["example_id", "group_id", "text_a", "text_b", "label", "challenge_set", *VARIED],
        pa.string(),
    )
    | {"label": pa.int8(), "next_cycle": pa.bool_(), "difference": pa.float64()}
)
