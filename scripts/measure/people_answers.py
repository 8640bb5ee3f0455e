"""People's answers, from pages (scripts/people/labelling/page.py), joined with the examples."""

import argparse

import pandas as pd

from scripts.people.answer_files import places_of, read_answers, refuse
from scripts.running.program import log


def limit_of(facts: dict) -> int | None:
    return facts["data_options"].get("limit")


def whole_of(dataset: str, limit: int | None) -> str:
    """Return the name of the dataset before the option `limit` cut it."""
    return dataset.removesuffix(f"-limit-{limit}")


class Answers:
    """People's answers, as read_answers() reads them. The evaluation receives this object, so the
    code that measures runs does not contain the code that reads answers.
    """

    def __init__(self, table: pd.DataFrame):
        self.table = table

    def on_dataset(self, facts: dict) -> pd.Series:
        """Return which answers are for a run's dataset, or for the whole dataset from which it was
        cut.
        """
        names = [facts["dataset"], whole_of(facts["dataset"], limit_of(facts))]
        return (self.table["source"] == facts["source"]) & self.table["dataset"].isin(names)

    def refuse(self, facts: dict, why: str) -> None:
        """Raise UserError, with the reason `why`, if anybody answered for a run's dataset or for
        the whole dataset.
        """
        refuse(self.table, self.on_dataset(facts), why, "take its rows out")

    def on_split(self, facts: dict, split: str, examples: pd.DataFrame) -> pd.DataFrame | None:
        """Return the answers on one split of a run's dataset, or None if there are none. The column
        `at` is the place of each answer's example.

        facts: of a run; examples: example_id, unit (right or wrong as a whole). If the option limit
        cut the dataset, only answers on its examples count. Raises UserError for an item that is
        not an example, and for a unit that a person answered only in part.
        """
        part = self.table[self.on_dataset(facts) & (self.table["split"] == split)]
        part = part.assign(at=places_of(part, examples["example_id"]))
        if limit_of(facts) is not None:
            log.info(
                "%s %s: %d of %d human answers are on items within the limit",
                facts["source"],
                facts["dataset"],
                (part["at"] >= 0).sum(),
                len(part),
            )
            part = part[part["at"] >= 0].drop_duplicates(["item", "person"])
        refuse(
            part,
            part["at"] < 0,
            "item {item} is not in split {split} of {source} {dataset}",
            "make the page from the dataset that is measured",
        )
        part = part.assign(unit=examples["unit"].to_numpy()[part["at"]])
        wanted = part["unit"].map(examples["unit"].value_counts())
        refuse(
            part,
            part.groupby(["person", "unit"])["item"].transform("size") < wanted,
            "{person} has answered only a part of the unit of item {item}",
            "answer the rest on the page, or take those rows out",
        )
        return part if len(part) else None


def answers_given(
    given: argparse.Namespace, study: str, datasets: dict, labels: list[str]
) -> Answers | None:
    """Return the answers that an evaluation is given (--people); None if there are none. datasets:
    from runs_by_dataset(). Answers on datasets of other experiments (--others) are ignored here.
    """
    if not given.people:
        return None
    sources = given.sources
    known: dict[tuple[str, str], list[str] | None] = {
        tuple(name.split("/", 1)): None for name in given.others
    }
    for (source, dataset), systems in datasets.items():
        splits = sources[sources[source].get("measured_on", source)]["evaluate"]
        limit = limit_of(next(iter(systems.values()))[0].facts)
        known |= {(source, dataset): splits, (source, whole_of(dataset, limit)): splits}
    return Answers(read_answers(given.people, study, known, labels))
