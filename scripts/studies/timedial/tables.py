"""The schema of TimeDial's datasets.

cloze         one row a candidate for a masked span: example_id, instance_id, dialog_id, context
              (turns as `A: text`, one a line, with one <MASK>), context_scope (full, local,
              target), candidate, label (1 right), rule, is_original, kind and has_numeral (of the
              span that was masked), turns (of the whole dialog), leak (of the challenge: near,
              where a dialog that is learnt from or held out still shares words with the instance,
              or none; empty in what is learnt from)
"""

import pyarrow as pa

CLOZE = pa.schema(
    [
        ("example_id", pa.string()),
        ("instance_id", pa.string()),
        ("dialog_id", pa.string()),
        ("context", pa.string()),
        ("context_scope", pa.string()),
        ("candidate", pa.string()),
        ("label", pa.int8()),
        ("rule", pa.string()),
        ("is_original", pa.bool_()),
        ("kind", pa.string()),
        ("has_numeral", pa.bool_()),
        ("turns", pa.int32()),
        ("leak", pa.string()),
    ]
)
