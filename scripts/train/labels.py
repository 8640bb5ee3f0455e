"""Which column of a model's head is which label of the study.

Without torch: this code runs before torch is imported.
"""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

from scripts.plan.models import has_weights
from scripts.running.program import UserError, json_object

# Other words for a label, in lower case with underscores (the model UDS-NLI of Vashishtha
# et al. 2020 has these).
ALIASES = {
    "entailed": "entailment",
    "not_entailed": "not_entailment",
    "contradict": "contradiction",
}


@dataclass(frozen=True)
class Head:
    """The meaning of a run's scores.

    labels: the names of the score columns, in the order of the study; columns: for each label of
    the study, the column that stands for it; order: for each score column, its place in the model's
    own head, or None for a fresh head.
    """

    labels: list[str]
    columns: list[int]
    order: list[int] | None


def read_config(model: Path) -> dict:
    """config.json of a model's folder. Raises UserError if it is broken."""
    file = model / "config.json"
    try:
        return json_object(file.read_text(encoding="utf-8"))
    except (argparse.ArgumentTypeError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: {error}; get the right file, or take another model") from None


def labels_of_model(model: Path) -> list[str]:
    """The names of a model's labels by config.json, in their order;
    empty if it has none but LABEL_0, LABEL_1, …
    """
    names = read_config(model).get("id2label") or {}
    if not isinstance(names, dict) or not all(
        re.fullmatch("[0-9]{1,9}", key) and isinstance(name, str) for key, name in names.items()
    ):
        raise UserError(
            f"{model / 'config.json'}: id2label does not name the labels by their numbers; mend "
            "it, or take another model"
        )
    named = [names[key] for key in sorted(names, key=int)]
    return [] if all(re.fullmatch(r"LABEL_\d+", name) for name in named) else named


def head_of(
    model: Path, labels: list[str], merged_labels: dict[str, list[str]] | None, learns: bool
) -> Head:
    """The head to use: the model's own head where its labels are those of the study (or its merged
    ones), else a fresh one. Raises UserError, with the reason, for a model with other labels, and
    for a model without labels that does not learn.
    """
    named = labels_of_model(model) if has_weights(model) else []
    wanted = [(labels, list(range(len(labels))))]
    if merged_labels:
        place = {label: at for at, of in enumerate(merged_labels.values()) for label in of}
        wanted.append((list(merged_labels), [place[label] for label in labels]))
    if not named:
        if not learns:
            raise UserError(
                f"{model}: the method direct needs a model that already knows the labels "
                f"{', '.join(labels)}, but this one has no labels of its own; name one that was "
                "fine-tuned on them, or use the method train"
            )
        return Head(*wanted[0], None)
    plain = [re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") for name in named]
    plain = [ALIASES.get(name, name) for name in plain]
    for names, columns in wanted:
        if sorted(names) == sorted(plain):
            return Head(names, columns, [plain.index(name) for name in names])
    known = " or ".join(", ".join(names) for names, _ in wanted)
    raise UserError(
        f"{model}: its {len(named)} labels ({', '.join(named)}) cannot be mapped to {known}; name "
        "a model with these labels, put right the names in id2label of its config.json, or name "
        "its base model, which has no head"
    )
