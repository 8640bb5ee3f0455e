"""The `symmetric` paradigm: `classify` that reads a pair of texts both ways, so the model cannot
prefer an order.

It learns both orders of each pair, the second with the other label. So it has twice as many
examples, and equally many of each label. A score is antisymmetrized. With d(a, b) the log-odds of
the second label over the first, a pair gets (d(a, b) - d(b, a)) / 2, as log-probabilities. So the
score of (b, a) is that of (a, b) with the labels exchanged.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import torch

from scripts.running.program import UserError
from scripts.train.paradigms import classify
from scripts.train.batches import Batch, Examples
from scripts.train.paradigms.classify import FIELDS, cross_entropy, log_probabilities

BACK = "back_"  # marks the fields of the other order


def turned(table: pa.Table, inputs: list[str]) -> pa.Table:
    """The same pairs with their texts, and their labels, exchanged."""
    first, second = inputs
    other = pc.subtract(pa.scalar(1, table["label"].type), table["label"])
    columns = {first: table[second], second: table[first], "label": other}
    return pa.table({name: columns.get(name, table[name]) for name in table.schema.names})


class Paradigm(classify.Paradigm):
    """Each of two labels gets its log-probability, whichever text is named first
    (scripts/train/paradigms/paradigm.py).
    """

    def __init__(self, model: Path, job: dict, tables: dict[str, pa.Table]):
        if (
            len(job["labels"]) != 2
            or len(job["inputs"]) != 2
            or job["inputs"] == ["context", "candidate"]
        ):
            raise UserError(
                f"the method {job['settings']['method']} reads two texts both ways, for two "
                f"labels, but has {', '.join(job['inputs'])} and {len(job['labels'])} labels; "
                "choose another method"
            )
        super().__init__(model, job, tables)
        self.padding |= {
            BACK + name: number for name, number in (self.padding | {"attention_mask": 0}).items()
        }

    def learnable(self, table: pa.Table) -> pa.Table:
        """The rows to learn from: all, in both orders."""
        return pa.concat_tables([table, turned(table, self.inputs)])

    def encode(self, table: pa.Table) -> Examples:
        """The examples of a table, with the fields of the other order as well."""
        examples, back = super().encode(table), super().encode(turned(table, self.inputs)).fields
        fields = back | {"attention_mask": back["input_ids"].like(1)}
        return Examples(
            examples.fields | {BACK + name: field for name, field in fields.items()},
            examples.labels,
            examples.choices,
            examples.truncated,
            examples.truncated_choices,
        )

    def scores(self, network: torch.nn.Module, batch: Batch) -> torch.Tensor:
        """(rows, 2) antisymmetrized log-probabilities."""
        there = log_probabilities(network, self.head, batch)
        back = log_probabilities(
            network,
            self.head,
            {name: batch[BACK + name] for name in FIELDS if BACK + name in batch},
        )
        odds = ((there[:, 1] - there[:, 0]) - (back[:, 1] - back[:, 0])) / 2
        return torch.nn.functional.logsigmoid(torch.stack([-odds, odds], 1))

    def loss(self, network: torch.nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the sum of the rows' cross-entropies as read, and how many are right."""
        return cross_entropy(log_probabilities(network, self.head, batch), batch["labels"])
