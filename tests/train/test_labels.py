"""A model's labels are mapped to the study's by name; a model whose labels cannot be mapped is
refused with the reason.
"""

import pytest

from scripts.running.program import UserError
from scripts.train.labels import head_of
from tests.files import write_json

LABELS = ["entailment", "neutral", "contradiction"]
MERGED = {"entailment": ["entailment"], "not_entailment": ["neutral", "contradiction"]}


@pytest.fixture
def model(tmp_path):
    def described(names, weights=True):
        config = {"model_type": "bert"} | (
            {"id2label": {str(place): name for place, name in enumerate(names)}} if names else {}
        )
        write_json(tmp_path / "config.json", config)
        if weights:
            (tmp_path / "model.safetensors").touch()
        return tmp_path

    return described


@pytest.mark.parametrize(
    "names, labels, columns, order",
    [
        # roberta-large-mnli
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], LABELS, [0, 1, 2], [2, 1, 0]),
        (["entailment", "neutral", "contradiction"], LABELS, [0, 1, 2], [0, 1, 2]),
        # UDS-NLI
        (["not-entailed", "entailed"], ["entailment", "not_entailment"], [0, 1, 1], [1, 0]),
    ],
)
@pytest.mark.parametrize("learns", [True, False])
def test_labels_are_mapped_by_name(model, names, labels, columns, order, learns):
    head = head_of(model(names), LABELS, MERGED, learns)
    assert (head.labels, head.columns, head.order) == (labels, columns, order)


@pytest.mark.parametrize(
    "names", [None, ["LABEL_0", "LABEL_1"], "LABEL_0 LABEL_1 LABEL_2 LABEL_3 LABEL_4".split()]
)
def test_a_model_without_labels_gets_a_head_when_it_learns_and_is_refused_when_not(model, names):
    head = head_of(model(names), LABELS, MERGED, True)
    assert (head.labels, head.columns, head.order) == (LABELS, [0, 1, 2], None)
    with pytest.raises(
        UserError, match="has no labels of its own; name one that was fine-tuned on them"
    ):
        head_of(model(names), LABELS, MERGED, False)


def test_a_model_from_scratch_has_no_head_whatever_its_configuration_says(model):
    assert head_of(model(LABELS, weights=False), LABELS, MERGED, True).order is None


@pytest.mark.parametrize(
    "names",
    [
        "entailment neutral contradiction unknown other".split(),
        ["entailment", "neutral"],
        ["negative", "positive"],
    ],
)
@pytest.mark.parametrize("learns", [True, False])
def test_other_labels_are_refused(model, names, learns):
    with pytest.raises(
        UserError,
        match=rf"its {len(names)} labels \({names[0]}.*cannot be mapped to entailment, neutral, "
        "contradiction or entailment, not_entailment",
    ):
        head_of(model(names), LABELS, MERGED, learns)
