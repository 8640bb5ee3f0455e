"""A model's labels are mapped to the study's by name; a model whose labels cannot be mapped is
refused with the reason.
"""

import pytest

from scripts.running.program import UserError
from scripts.train.labels import head_of
from tests.files import write_json
from tests.rows import each_row

LABELS = ["entailment", "neutral", "contradiction"]
MERGED = {"entailment": ["entailment"], "not_entailment": ["neutral", "contradiction"]}


@pytest.fixture
def model(tmp_path):
    def described(names, weights=True):
        named = {"id2label": {str(place): name for place, name in enumerate(names or ())}}
        write_json(tmp_path / "config.json", {"model_type": "bert"} | (named if names else {}))
        (tmp_path / "model.safetensors").unlink(missing_ok=True)
        if weights:
            (tmp_path / "model.safetensors").touch()
        return tmp_path

    return described


@each_row(
    "names, weights, learns, labels, columns, order",
    """
        [CONTRADICTION, NEUTRAL, ENTAILMENT]  | true  | true  | [entailment, neutral, contradiction] | [0, 1, 2] | [2, 1, 0]  # roberta-large-mnli
        [entailment, neutral, contradiction]  | false | true  | [entailment, neutral, contradiction] | [0, 1, 2] | null  # from scratch
        [not-entailed, entailed]              | true  | true  | [entailment, not_entailment]         | [0, 1, 1] | [1, 0]  # UDS-NLI
        [not-entailed, entailed]              | true  | false | [entailment, not_entailment]         | [0, 1, 1] | [1, 0]
        null                                  | true  | true  | [entailment, neutral, contradiction] | [0, 1, 2] | null
        [LABEL_0, LABEL_1, LABEL_2, LABEL_3, LABEL_4] | true | true | [entailment, neutral, contradiction] | [0, 1, 2] | null
    """,
)
def test_labels_are_mapped_by_name(model, names, weights, learns, labels, columns, order):
    head = head_of(model(names, weights), LABELS, MERGED, learns)
    assert (head.labels, head.columns, head.order) == (labels, columns, order)


@each_row(
    "names, learns, said",
    """
        null                         | false | has no labels of its own; name one that was fine-tuned on them
        [entailment, neutral]        | true  | its 2 labels .entailment.* cannot be mapped to entailment, neutral, contradiction or entailment, not_entailment
        [entailment, neutral, contradiction, unknown, other] | true | its 5 labels .entailment
    """,
)
def test_other_labels_are_refused(model, names, learns, said):
    with pytest.raises(UserError, match=said):
        head_of(model(names), LABELS, MERGED, learns)
