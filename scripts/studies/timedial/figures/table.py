"""Tabulate TimeDial: 2-best accuracy of every system and context,
beside tables 5 and 7 of Qin et al. 2021.

Means over the seeds, their sd over the seeds, 95 % intervals over dialogs and seeds; 1-best
accuracy on the released extras, which the paper leaves out. Controls break ties at random, in
expectation. What the paper measured with the full dialog and this study did not run stands below,
on the paper's challenge only. Cut: the instances whose context was longer than max_length, so that
what is farthest from the mask was not seen. Not near: without the instances that a dialog of the
training corpus still shares words with.
"""

import argparse
from pathlib import Path

import pandas as pd

from scripts.data.runs import facts_of
from scripts.publish.arguments import run_program
from scripts.publish.marks import caption_of, note_of, replicate_counts
from scripts.publish.names import load, source_title
from scripts.publish.table import above_cells, filled, interval, percent, publish_table
from scripts.studies.timedial.figures.metrics import (
    DOMAINS,
    NOT_LEARNT,
    SYSTEM,
    beside_paper,
    domain_title,
    over_seeds,
    paradigm_title,
    published_beside,
    published_on,
    timedial_metrics,
    widest,
)

WORDS = ["Corpus", "Paradigm", "Model", "Domain", "Learnt from", "Context"]
RUN = ["source", "dataset", "model", "method", "split"]
NOT_NEAR = "leak=none"  # the slice
SHOWN = [
    "two_best_accuracy",
    "one_best_accuracy",
    "two_best_accuracy_above_control",
    "two_best_accuracy_above_same_view",
    "two_best_accuracy_above_blind",
]
CAPTION = (
    "TimeDial: 2-best accuracy on instances with two right options of four, and 1-best accuracy on "
    "the released extras with one right option of three. Means over the seeds, sd over the seeds, "
    "95 % intervals over dialogs and seeds; a tie of a right and a wrong option counts as wrong. "
    "Controls: expected values, ties broken at random. Cut: instances whose dialog was longer than "
    "max_length, so that what is farthest from the mask was not seen. Not near: without instances "
    "that a dialog of the training corpus still shares words with. Paper: tables 5 (full dialog) "
    "and 7 (target and local) of Qin et al. 2021; its other domain is the Meena corpus, which was "
    "never public."
)


def cut_instances(folders: list[Path]) -> dict[tuple, int]:
    """By source, dataset, model, method and split: the instances of which a candidate was longer
    than max_length.
    """
    facts = [facts_of(folder / "run.json") for folder in folders]
    return {
        (fact["source"], fact["dataset"], fact["model"], fact["method"], split): count
        for fact in facts
        for split, count in fact.get("truncated_instances", {}).items()
    }


def lookup(published: pd.DataFrame) -> dict[tuple, str]:
    """By paradigm, model, domain and context the published 2-best accuracy, in per cent; table 5
    before table 7.
    """
    key = ["paradigm", "model", "domain", "context_scope"]
    rows = published[published["metric"] == "two_best_accuracy"].drop_duplicates(key)
    return dict(zip(rows[key].itertuples(index=False, name=None), rows["value"].map(percent)))


def cells_of(
    row: pd.Series | None, name: str, count: str, truncated: dict[tuple, int]
) -> dict[str, str]:
    """The cells of a metric called name, count: the column of its instances;
    empty where it was not measured.
    """
    columns = [count, *(f"{name} {what}" for what in ("cut", "(%)", "sd", "95 % interval"))]
    if row is None:
        return dict.fromkeys(columns, "")
    n, cut = f"{row['n']:,}", truncated.get(tuple(row[RUN]))
    return dict(
        zip(
            columns,
            [
                n,
                "" if cut is None else f"{cut:,} of {n}",
                percent(row["value"]),
                percent(row["sd"]),
                interval(row),
            ],
        )
    )


def measured(
    rows: pd.DataFrame,
    paper: dict[tuple, str],
    truncated: dict[tuple, int],
    sources: dict,
    models: dict,
) -> list[dict]:
    """A row of text for each system and context of one challenge; paper: of lookup(); truncated: of
    cut_instances().
    """
    table_rows = []
    for _, of_system in rows.groupby([*SYSTEM, "context_scope"], sort=False):
        means = over_seeds(of_system)
        by = {row["metric"]: row for _, row in means[means["slice"] == "all"].iterrows()}
        rest = {row["metric"]: row for _, row in means[means["slice"] == NOT_NEAR].iterrows()}.get(
            "two_best_accuracy"
        )
        first = next(iter(by.values()))
        table_rows.append(
            {
                "Corpus": source_title(first["measured_on"], sources) + note_of(rows),
                "Paradigm": paradigm_title(first["paradigm"]),
                "Model": first["title"],
                "Domain": domain_title(first),
                "Learnt from": ""
                if first["domain"] in NOT_LEARNT
                else source_title(first["source"], sources),
                "Context": "" if first["blind"] else first["context_scope"],
                "Training examples": ""
                if pd.isna(first["train_examples"])
                else f"{first['train_examples']:,.0f}",
                **replicate_counts(of_system),
                **cells_of(by.get("two_best_accuracy"), "2-best", "Instances", truncated),
                **above_cells(by, "two_best_accuracy", models),
                "2-best in the paper": ""
                if first["variant"]
                else paper.get(tuple(first[["paradigm", "model", "domain", "context_scope"]]), ""),
                "Not near": "" if rest is None else f"{rest['n']:,}",
                "2-best, not near (%)": "" if rest is None else percent(rest["value"]),
                **cells_of(by.get("one_best_accuracy"), "1-best", "Extras", truncated),
            }
        )
    return table_rows


def not_run(rows: pd.DataFrame, published: pd.DataFrame, like: dict) -> list[dict]:
    """A row of text for each system of table 5 that was not run, people last; like: a row of the
    same challenge.
    """
    table_5 = published[published["table"] == "Table 5"]
    every = beside_paper(rows, table_5)
    systems = every[
        (every["origin"] == "published")
        & ~every["row"].isin(every.loc[every["origin"] == "here", "row"])
    ]
    people = table_5[table_5["model"] == "human"]
    people = people.assign(title="human", paradigm="people", domain="external")
    return [
        {
            "Corpus": like["Corpus"],
            "Paradigm": paradigm_title(row["paradigm"]),
            "Domain": DOMAINS[row["domain"]],
            "Model": f"{row['title']} (in the paper only)",
            "Context": "full",
            "2-best in the paper": percent(row["value"]),
        }
        for row in pd.concat([systems, people]).to_dict("records")
    ]


def tabulate(
    metrics: pd.DataFrame,
    published: pd.DataFrame,
    truncated: dict[tuple, int],
    sources: dict,
    models: dict,
) -> pd.DataFrame:
    """A row of text for each challenge, system and context, from a table made by
    timedial_metrics(); truncated: of cut_instances().
    """
    rows = metrics[metrics["slice"].isin(["all", NOT_NEAR]) & metrics["metric"].isin(SHOWN)]
    # these are the same with any context
    rows = rows[~rows["blind"] | rows.index.isin(widest(rows[rows["blind"]]).index)]
    table_rows = []
    for _, challenge in rows.groupby("measured_on", sort=False):
        paper = published_on(challenge, published)
        cells = measured(challenge, lookup(paper), truncated, sources, models)
        cells += not_run(challenge, paper, cells[0])
        order = list(dict.fromkeys(cell["Paradigm"] for cell in cells))
        table_rows += sorted(cells, key=lambda cell: order.index(cell["Paradigm"]))
    return filled(pd.DataFrame(table_rows).fillna(""), WORDS)


def main(given: argparse.Namespace) -> None:
    sources, models = load(given.sources), load(given.models)
    metrics = timedial_metrics(given.metrics, models, sources)
    truncated = cut_instances([given.train / name for name in given.runs])
    table = tabulate(metrics, published_beside(given.sources), truncated, sources, models)
    publish_table(
        given, table, caption_of(CAPTION, metrics, "made-up dialogs, not a corpus"), WORDS
    )


if __name__ == "__main__":
    run_program(main, __doc__, "runs")
