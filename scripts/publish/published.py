"""What a paper prints of a study, from the published.csv beside sources.yaml, as tables."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from scripts.publish.comparison import published_claims, settings_of
from scripts.publish.table import with_commas

STATISTICS = "statistics."  # how the metric of what a corpus holds begins


def claims_beside(sources: Path, study: str, parts: Sequence[str]) -> pd.DataFrame:
    """The rows of a study, all text, with these parts of their settings as columns."""
    claims = published_claims(sources.with_name("published.csv"))
    claims = claims[claims["study"] == study]
    settings = pd.DataFrame(
        [settings_of(setting) for setting in claims["setting"]], index=claims.index
    )
    return claims.assign(**settings.reindex(columns=parts).to_dict("series"))


def with_shares(claims: pd.DataFrame, sources: Path) -> pd.DataFrame:
    return claims.assign(value=pd.to_numeric(claims["value"]) / 100)


def statistics_table(
    values: pd.DataFrame, counts: Collection[str], claims: pd.DataFrame
) -> pd.DataFrame:
    """What a corpus holds, as text, beside what the paper prints. values: indexed by slice and
    metric; a mean has one decimal, those of `counts` have none.
    """
    metrics = values.index.get_level_values("metric")
    text = values.apply(
        lambda column: [
            ("" if pd.isna(value) else f"{value:,.0f}" if metric in counts else f"{value:.1f}")
            for metric, value in zip(metrics, column)
        ]
    )
    claims = claims.assign(metric=claims["metric"].str.removeprefix(STATISTICS))
    printed = claims.set_index(["slice", "metric"])["value"].map(with_commas)
    return text.assign(**{"In the paper": [printed.get(key, "") for key in values.index]})
