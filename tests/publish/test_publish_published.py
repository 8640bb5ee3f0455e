"""Every number of the papers stands on the page, beside the runs that it is about; which those
are is told by published.csv alone.
"""

import pandas as pd
import pytest

from scripts.publish.reading import paper_tables
from scripts.publish.comparison import Facts, number_of, paper_of, published_claims, settings_of
from scripts.publish.published_tables import NONE, tabulate
from scripts.publish.table import write
from tests.registers import PUBLISHED
from tests.rows import each_row
from tests.plan.planned_metrics import METRICS, MODELS, SOURCES, planned_metrics

pytestmark = pytest.mark.slow  # left out of `make check`

CLAIMS = published_claims(PUBLISHED)
NO_CLEANING = pd.DataFrame(columns="source split unit action reason count".split())
FACTS = (
    "statistics.",
    "transfer.",
    "shared_words.",
    "people.",
    "plateau.",
    "cleaning.",
    "training.",
    "run.",
    "reported.",
    "standard_error",
)  # not of metrics.parquet


def of_metrics(study: str) -> pd.DataFrame:
    """The rows of published.csv that are about metrics of a study."""
    return CLAIMS[(CLAIMS["study"] == study) & ~CLAIMS["metric"].str.startswith(FACTS)]


def slices_of(study: str) -> list[str]:
    """A slice for each that published.csv names: where it has a *, one that fits."""
    named = {"all"}
    for _, claim in of_metrics(study).iterrows():
        for setting in (claim["setting"], claim["unit"]):
            parts = settings_of(setting.removeprefix("points over "))
            further = [
                f"{name}={parts[name]}"
                for name in ("premise_type", "predicted", "distance")
                if name in parts and "slice" in parts
            ]
            named |= {"; ".join([parts["slice"], *further])} if "slice" in parts else set()
    named -= {"100 questions"}  # which they are was never published
    return sorted(
        name.replace(
            "*", "full" if "date" in name else "neutral" if "predicted" in name else "month_full"
        )
        for name in named
    )


def beside(preset: str, study: str) -> pd.DataFrame:
    """The table of published numbers as a preset's runs would leave it."""
    facts = Facts(
        planned_metrics(preset, study, slices_of(study)), [], NO_CLEANING, SOURCES, MODELS
    )
    return tabulate(of_metrics(study), facts)


def measured(table: pd.DataFrame) -> dict[str, str]:
    """By table of the paper how many of its rows have a number here: `16 of 18`."""
    rows = table.assign(there=table["Here"] != "").drop_duplicates(["Table", "Row", "Measure"])
    rows = rows[rows["Table"].str.match(r"Table|Figure")].groupby("Table", sort=False)["there"]
    return {name: f"{there.sum()} of {len(there)}" for name, there in rows}


@pytest.mark.parametrize("study", METRICS)
def test_the_published_protocols_fill_every_row_that_they_can(study):
    """With presets/paper.yaml only what it does not run is empty;
    the papers' own models stand there without a caveat.
    """
    table = beside("paper", study)
    no_run = (
        CLAIMS["model"].isin("human deberta_large_mnli uds_nli_order uds_nli_duration".split())
        | CLAIMS["setting"].str.contains("100 questions")
        | CLAIMS["value"].eq("proposed")
    )  # presets/extensions.yaml and transfer.yaml run these
    cannot = set(zip(CLAIMS[no_run]["table"], CLAIMS[no_run]["row"]))
    empty = table[table["Here"] == ""]
    assert set(zip(empty["Table"], empty["Row"])) <= cannot and (empty["Caveat"] == NONE).all()
    rows = table[(table["Here"] != "") & table["Table"].str.match(r"Table|Figure 3")]
    assert len(rows) and not rows["Caveat"].str.contains("other model").any()
    outside = rows[rows["Row"].str.contains("out-of-domain")]["Caveat"]
    assert (len(outside) > 0) == (study == "timedial")
    assert outside.str.contains("other data: Schema-Guided Dialogue").all()


@each_row(
    "preset, study, rows",
    """
        small | strided_sop  | {Figure 3 (left): 4 of 8, Figure 3 (right): 0 of 8}
        small | temporal_nli | {Table 5: 12 of 18, Table 6: 10 of 16, Table 7: 8 of 18}
        small | mctaco       | {Table 2: 12 of 16, Table 2 (footnote 9): 0 of 2}
        small | timedial     | {Table 5: 2 of 17, Table 7: 0 of 36, Figure 2: 6 of 21}
        base  | timedial     | {Table 5: 3 of 17, Table 7: 0 of 36, Figure 2: 9 of 21}
    """,
)
def test_the_runs_of_a_preset_stand_beside_the_rows_that_they_are_nearest_to(preset, study, rows):
    table = beside(preset, study)
    assert measured(table) == rows
    models = table[
        (table["Here"] != "")
        & ~table["Row"].str.contains("Majority|Random|Always|wrong options|label|systems|extras")
    ]
    assert models["Caveat"].str.contains("other model: ").all(), (
        "none of these presets runs a model of the papers"
    )


@pytest.mark.parametrize("study", METRICS)
def test_every_row_of_a_paper_is_shown_whatever_ran(study, tmp_path):
    claims = CLAIMS[CLAIMS["study"] == study]
    nothing = planned_metrics("small", study, ["all"])
    table = tabulate(claims, Facts(nothing.assign(sample=True), [], NO_CLEANING, SOURCES, MODELS))
    assert (table["Here"] == "").all()
    assert len(table) == len(claims), "sample data stand beside no published number"
    assert table["Row"].tolist() == [
        row for _, part in claims.groupby("table", sort=False) for row in part["row"]
    ]
    write(table, "", [], tmp_path / "rows")
    shown = paper_tables(tmp_path / "rows.csv")
    whole = [row["row"] for part in shown.values() for one in part for row in one["rows"]]
    assert sorted(whole) == sorted(claims["row"])
    assert all(row["none"] for part in shown.values() for one in part for row in one["rows"])


def test_the_nearest_run_is_shown_and_says_what_differs():
    """Of two contexts the paper's; without it both others; a model of the paper's table stands
    for no other of its rows.
    """
    claims = CLAIMS[
        (CLAIMS["study"] == "timedial") & (CLAIMS["row"] == "BERT-base, mask filling, zero-shot")
    ]
    metrics = planned_metrics("base", "timedial", ["all"])
    full = tabulate(claims, Facts(metrics, [], NO_CLEANING, SOURCES, MODELS))
    assert full["Caveat"].tolist() == [
        "other model: MPNet-base (all-mpnet-base-v2) after an MLM stage"
    ]
    assert full["Here"].tolist() == ["50.0 (40.0 to 60.0)"]
    assert full["Difference"].tolist() == ["+5.2 (−4.8 to +15.2)"]
    local = tabulate(
        claims,
        Facts(metrics[metrics["context_scope"] == "local"], [], NO_CLEANING, SOURCES, MODELS),
    )
    assert local["Caveat"].str.endswith("; context scope local, in the paper full").tolist() == [
        True
    ]
    both = CLAIMS[
        (CLAIMS["study"] == "temporal_nli")
        & (CLAIMS["table"] == "Table 5")
        & CLAIMS["row"].str.contains("direct")
    ]
    rows = tabulate(
        both,
        Facts(planned_metrics("paper", "temporal_nli", ["all"]), [], NO_CLEANING, SOURCES, MODELS),
    )
    assert set(rows[rows["Here"] != ""]["Row"]) == {"RoBERTa (MNLI), direct evaluation"}
    assert not rows["Caveat"].str.contains("other").any()


def test_published_values_are_numbers_or_bounds():
    """Claims in words stand in claims.yaml; every value is a number, a bound, a range, drawn and
    not printed, proposed, or shown by examples.
    """
    words = ("", "16 to 17", "proposed", "one example", "two examples")
    assert all(number_of(value) is not None or value in words for value in CLAIMS["value"])
    assert not CLAIMS.duplicated("study table row setting metric unit".split()).any()
    assert {
        model for _, claim in CLAIMS.iterrows() for model in paper_of(claim).get("model", [])
    } <= {*MODELS, "human", "majority", "random", "always_yes", "always_no"}
