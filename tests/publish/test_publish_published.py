"""Every number of the papers is on the page, beside the runs that it is about; published.csv alone
decides which runs those are.
"""

import pandas as pd
import pytest

from scripts.publish.comparison import Facts, number_of, paper_of, published_claims, settings_of
from scripts.publish.published_tables import NONE, tabulate
from tests.registers import PUBLISHED
from tests.plan.planned_metrics import METRICS, MODELS, SOURCES, planned_metrics

pytestmark = pytest.mark.slow

CLAIMS = published_claims(PUBLISHED)
NO_CLEANING = pd.DataFrame(columns="source split unit action reason count".split())
# Not of metrics.parquet.
FACTS = "statistics. transfer. people. plateau. cleaning. training. run. reported. standard_error"


def of_metrics(study: str) -> pd.DataFrame:
    """Return the rows of published.csv that are about metrics of a study."""
    return CLAIMS[
        (CLAIMS["study"] == study) & ~CLAIMS["metric"].str.startswith(tuple(FACTS.split()))
    ]


def slices_of(study: str) -> list[str]:
    """Return a slice for each one that published.csv names; a * is replaced by a value that
    fits.
    """
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
    named -= {"100 questions"}  # the paper did not publish these questions
    return sorted(
        name.replace(
            "*", "full" if "date" in name else "neutral" if "predicted" in name else "month_full"
        )
        for name in named
    )


def beside(claims: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Return the table of published numbers beside metrics."""
    return tabulate(claims, Facts(metrics, [], NO_CLEANING, SOURCES, MODELS))


@pytest.mark.parametrize("study", METRICS)
def test_the_published_protocols_fill_every_row_that_they_can(study):
    """With presets/paper.yaml, only rows that need other runs are empty; the papers' own models
    have no caveat about another model.
    """
    table = beside(of_metrics(study), planned_metrics("paper", study, slices_of(study)))
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


def test_the_nearest_run_is_shown_and_says_what_differs():
    """The table shows the run with the paper's context; without it, the runs with both other
    contexts. A model in one row of the paper's table does not fill another row.
    """
    claims = CLAIMS[
        (CLAIMS["study"] == "timedial") & (CLAIMS["row"] == "BERT-base, mask filling, zero-shot")
    ]
    metrics = planned_metrics("base", "timedial", ["all"])
    full = beside(claims, metrics)
    assert full["Caveat"].tolist() == [
        "other model: MPNet-base (all-mpnet-base-v2) after an MLM stage"
    ]
    assert full["Here"].tolist() == ["50.0 (40.0 to 60.0)"]
    assert full["Difference"].tolist() == ["+5.2 (−4.8 to +15.2)"]
    local = beside(claims, metrics[metrics["context_scope"] == "local"])
    assert local["Caveat"].str.endswith("; context scope local, in the paper full").tolist() == [
        True
    ]
    both = CLAIMS[
        (CLAIMS["study"] == "temporal_nli")
        & (CLAIMS["table"] == "Table 5")
        & CLAIMS["row"].str.contains("direct")
    ]
    rows = beside(both, planned_metrics("paper", "temporal_nli", ["all"]))
    assert set(rows[rows["Here"] != ""]["Row"]) == {"RoBERTa (MNLI), direct evaluation"}
    assert not rows["Caveat"].str.contains("other").any()


def test_published_values_are_numbers_or_bounds():
    """Claims in words are in claims.yaml. A value is a number, a bound, a range, "proposed", shown
    by examples, or empty (drawn, but not printed).
    """
    words = ("", "16 to 17", "proposed", "one example", "two examples")
    assert all(number_of(value) is not None or value in words for value in CLAIMS["value"])
    assert not CLAIMS.duplicated("study table row setting metric unit".split()).any()
    assert {
        model for _, claim in CLAIMS.iterrows() for model in paper_of(claim).get("model", [])
    } <= {*MODELS, "human", "majority", "random", "always_yes", "always_no"}
