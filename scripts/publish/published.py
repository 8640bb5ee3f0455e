"""Tables of the numbers that a paper prints, from the published.csv beside sources.yaml."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd

from scripts.publish.item import Given
from scripts.publish.comparison import published_claims, settings_of
from scripts.publish.table import filled, publish_table, with_commas

STATISTICS = "statistics."  # how the metric of a statistic of a corpus begins


def claims_beside(resources: Path, study: str, parts: Sequence[str]) -> pd.DataFrame:
    """Return the rows of a study, all text, with these parts of their settings as columns."""
    claims = published_claims(resources / "published.csv")
    claims = claims[claims["study"] == study]
    settings = pd.DataFrame(
        [settings_of(setting) for setting in claims["setting"]], index=claims.index
    )
    return claims.assign(**settings.reindex(columns=parts).to_dict("series"))


def with_shares(claims: pd.DataFrame) -> pd.DataFrame:
    return claims.assign(value=pd.to_numeric(claims["value"]) / 100)


def publish_statistics(
    given: Given,
    study: str,
    of: str,
    corpora: Mapping[str, tuple[str, pd.DataFrame]],
    names: Mapping[str, Mapping[str, str]],
    counts: Collection[str],
) -> None:
    """Publish a table of the statistics of corpora beside those that the paper prints.

    of: the part of a claim's setting that names a corpus. corpora: for each corpus its title and
    its values, a column for each split, indexed by slice and metric. names: the slices and the
    metrics in words. counts: metrics without decimals; the means have one.
    """
    claims, rows = claims_beside(given.resources, study, [of, "slice"]), []
    claims = claims[claims["metric"].str.startswith(STATISTICS)]
    claims = claims.assign(metric=claims["metric"].str.removeprefix(STATISTICS))
    for source, (title, values) in corpora.items():
        printed = claims[claims[of] == source].set_index(["slice", "metric"])["value"]
        for (part, metric), row in values.iterrows():
            decimals = 0 if metric in counts else 1
            rows.append(
                {"Corpus": title, "Of": names["slice"][part], "Number": names["metric"][metric]}
                | {split: f"{value:,.{decimals}f}" for split, value in row.dropna().items()}
                | {"In the paper": with_commas(printed.get((part, metric), ""))}
            )
    table = pd.DataFrame(rows).fillna("")
    in_paper = table.pop("In the paper")  # the last column
    table = filled(table.assign(**{str(in_paper.name): in_paper}), [])
    publish_table(given, table, ["Corpus", "Of", "Number"])


def by_split(
    splits: Mapping[str, Sequence[pd.DataFrame]], count: Callable[..., pd.Series]
) -> pd.DataFrame:
    """Return count() of the tables of all splits together and of each split, as columns."""
    whole = [pd.concat(tables, ignore_index=True) for tables in zip(*splits.values())]
    return pd.DataFrame(
        {"All": count(*whole)} | {split: count(*tables) for split, tables in splits.items()}
    )
