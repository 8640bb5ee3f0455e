"""How the figures of timedial are drawn: a row for each system under its paradigm, marks with
intervals beside it.
"""

import pandas as pd
from matplotlib.lines import Line2D

from scripts.plan.probe import BLIND
from scripts.publish import style
from scripts.publish.panels import Look
from scripts.studies.timedial.figures.metrics import DOMAINS, beside_paper, label_of, paradigm_title

COLOURS = {"classify": style.COLOURS[0], "fill": style.COLOURS[1], "generate": style.COLOURS[2],
           "pseudo_log_likelihood": style.COLOURS[3], "control": style.GREY}
MARKERS = {"zero_shot": "^", "few_shot": "v", "out": "s", "in": "o", "contaminated": "p",
           "external": "P"}
PAPER = Look(style.INK, "D", "", style.PAPER, 4.4)
IN_PAPER = "in the paper (Qin et al. 2021)"


def name_of(row: pd.Series) -> str:
    """The name of a row of systems."""
    less = row["paradigm"] != "control" and row["context_scope"] != "full"
    scope = f", {row['context_scope']} context" * less
    return label_of(row) + (scope if row["origin"] == "here" else " (paper only)")


def in_rows(points: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """beside_paper() of one challenge with the columns of Rows; a name tells less than the full
    dialog, where it is the only context.
    """
    table = beside_paper(points, published)
    is_here = table["origin"] == "here"
    scopes = table["context_scope"].where(is_here).groupby(table["row"]).transform("nunique")
    named = table.assign(context_scope=table["context_scope"].mask(scopes > 1, "full"))
    named = named.drop_duplicates("row").set_index("row")
    return table.assign(
        name=table["row"].map(named.apply(name_of, axis=1)),
        head=table["paradigm"].map(paradigm_title),
        series=(table["paradigm"] + "|" + table["domain"]).where(is_here, IN_PAPER))


def system_looks(table: pd.DataFrame) -> dict[str, Look]:
    """The look of each series of in_rows(): a colour for each paradigm, a marker for each domain;
    controls grey, the paper open.
    """
    known = {}
    for row in table.drop_duplicates("series").to_dict("records"):
        paradigm = row["paradigm"]
        if paradigm == "control" or paradigm.endswith(BLIND):
            known[row["series"]] = Look(style.GREY, "X", "")
        else:
            known[row["series"]] = Look(COLOURS.get(paradigm, style.COLOURS[4]),
                                        MARKERS[row["domain"]], "")
    return known | {IN_PAPER: PAPER}


def legend_of(table: pd.DataFrame, *others: Line2D) -> list[tuple[str, list[Line2D]]]:
    """The domains of models, and the paper where there are numbers of it; table: of in_rows()."""
    is_published = table["origin"] == "published"
    present = set(table.loc[~is_published & (table["paradigm"] != "control"), "domain"])
    handles = [Look(style.INK, MARKERS[name], "").handle(title)
               for name, title in DOMAINS.items() if name in present]
    return [("", [*handles, *[PAPER.handle(IN_PAPER)] * bool(is_published.any()), *others])]
