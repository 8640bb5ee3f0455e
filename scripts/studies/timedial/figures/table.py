"""Tabulate TimeDial: 2-best accuracy of every system and context, beside tables 5 and 7 of Qin et
al. 2021, and 1-best accuracy on the released extras.

Systems that only the paper measured (with the full dialog) follow below, on the paper's challenge
only. "Not near" leaves out the instances that still share words with a dialog of the training
corpus.
"""

import pandas as pd

from scripts.data.runs import Facts
from scripts.publish.compared import SYSTEM as COMPARED, cells_of as beside_of
from scripts.publish.compared import read_comparisons, with_comparisons
from scripts.publish.item import Given
from scripts.publish.marks import note_of, replicate_counts
from scripts.publish.names import source_title
from scripts.publish.selection import only
from scripts.publish.table import EXPERIMENT, by_metric, number_cells, percent, publish_table
from scripts.studies.timedial.figures.metrics import (
    DOMAINS,
    NOT_LEARNT,
    SYSTEM,
    beside_paper,
    domain_title,
    paradigm_title,
    published_beside,
    published_on,
    timedial_metrics,
    widest,
)

WORDS = ["Corpus", "Paradigm", "Model", "Domain", "Learnt from", "Context", EXPERIMENT]
RUN = ["source", "dataset", "model", "method", "split"]
KEY = ["paradigm", "model", "domain", "context_scope"]
NOT_NEAR = "leak=none"  # the slice
SHOWN = ["two_best_accuracy", "one_best_accuracy"]


def cut_instances(facts: list[Facts]) -> dict[tuple, int]:
    """Return by RUN the number of instances with a candidate longer than max_length."""
    return {
        (*(fact[name] for name in RUN[:-1]), split): count
        for fact in facts
        for split, count in fact.get("truncated_instances", {}).items()
    }


def lookup(published: pd.DataFrame) -> dict[tuple, str]:
    """Return by KEY the published 2-best accuracy, in per cent; table 5 before table 7."""
    rows = published[published["metric"] == "two_best_accuracy"].drop_duplicates(KEY)
    return dict(zip(rows[KEY].itertuples(index=False, name=None), rows["value"].map(percent)))


def cells_of(
    row: pd.Series | None, name: str, count: str, truncated: dict[tuple, int]
) -> dict[str, str]:
    """Return the cells of a metric called name. count: the column of its instances."""
    if row is None:
        return {}
    cut, n = truncated.get(tuple(row[RUN])), f"{row['n']:,}"
    cells = {count: n, f"{name} cut": "" if cut is None else f"{cut:,} of {n}"}
    return cells | number_cells(name, row)


def measured(
    rows: pd.DataFrame,
    paper: dict[tuple, str],
    truncated: dict[tuple, int],
    sources: dict,
    models: dict,
) -> list[dict]:
    table = []
    for _, of_system in rows.groupby([*SYSTEM, "context_scope"], sort=False):
        by, of_rest = (
            by_metric(only(of_system, seed=None, slice=name)) for name in ("all", NOT_NEAR)
        )
        rest, best = of_rest.get("two_best_accuracy"), by.get("two_best_accuracy")
        first = next(iter(by.values()))
        is_free, examples = first["domain"] in NOT_LEARNT, first["train_examples"]
        cells = {
            "Corpus": source_title(first["measured_on"], sources) + note_of(rows),
            "Paradigm": paradigm_title(first["paradigm"]),
            "Model": first["title"],
            "Domain": domain_title(first),
            "Learnt from": "" if is_free else source_title(first["source"], sources),
            "Context": "" if first["blind"] else first["context_scope"],
            "Training examples": "" if pd.isna(examples) else f"{examples:,.0f}",
            **replicate_counts(of_system),
            **cells_of(by.get("two_best_accuracy"), "2-best", "Instances", truncated),
            **({} if best is None else beside_of(best, models)),
            "2-best in the paper": "" if first["variant"] else paper.get(tuple(first[KEY]), ""),
            "Not near": "" if rest is None else f"{rest['n']:,}",
            "2-best, not near (%)": "" if rest is None else percent(rest["value"]),
        }
        cells |= cells_of(by.get("one_best_accuracy"), "1-best", "Extras", truncated)
        table.append(cells | {EXPERIMENT: first["experiment"]})
    return table


def not_run(rows: pd.DataFrame, published: pd.DataFrame, corpus: str) -> list[dict]:
    """Return a row for each system of table 5 that was not run here, people last."""
    table_5 = published[published["table"] == "Table 5"]
    every = beside_paper(rows, table_5)
    is_here = every["origin"] == "here"
    systems = every[~is_here & ~every["row"].isin(every.loc[is_here, "row"])]
    people = table_5[table_5["model"] == "human"]
    people = people.assign(title="human", paradigm="people", domain="external")
    return [
        {
            "Corpus": corpus,
            "Paradigm": paradigm_title(row["paradigm"]),
            "Domain": DOMAINS[row["domain"]],
            "Model": f"{row['title']} (in the paper only)",
            "Context": "full",
            "2-best in the paper": percent(row["value"]),
        }
        for row in pd.concat([systems, people]).to_dict("records")
    ]


def main(given: Given) -> None:
    sources, models = given.sources, given.models
    metrics = timedial_metrics(given.metrics, models, sources)
    published = published_beside(given.resources)
    truncated = cut_instances(given.facts)
    rows = only(metrics, slice=["all", NOT_NEAR], metric=SHOWN)
    rows = with_comparisons(rows, read_comparisons(given.metrics), COMPARED)
    # blind systems score the same with any context
    rows, table = rows[~rows["blind"] | rows.index.isin(widest(rows[rows["blind"]]).index)], []
    for _, challenge in rows.groupby("measured_on", sort=False):
        paper = published_on(challenge, published)
        cells = measured(challenge, lookup(paper), truncated, sources, models)
        cells += not_run(challenge, paper, cells[0]["Corpus"])
        order = list(dict.fromkeys(cell["Paradigm"] for cell in cells))
        table += sorted(cells, key=lambda cell: order.index(cell["Paradigm"]))
    publish_table(given, table, WORDS)
