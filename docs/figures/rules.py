"""Draw the rule graph, stage by stage from left to right;
a link that others already imply is left out.

Reads  Snakemake's rule graphs (DOT) from standard input, and draws them as one
Writes an SVG to standard output

    (snakemake --rulegraph; snakemake --rulegraph --configfile presets/small.yaml) \\
        | python docs/figures/rules.py > docs/figures/rules.svg
"""

import io
import re
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

STEP, LETTER = 3.1, 0.088  # between two columns, and the half width of a letter
STAGES = ["fetch", "clean", "build", "train", "evaluate", "publish"]
COLOURS = ["#dbe7f5", "#dff0e3", "#fdf0d5", "#f8dcd7", "#e6e0f3", "#dcecef"]


def read(dot: str) -> tuple[list[str], set[tuple[str, str]]]:
    """The rules of all graphs, and pairs of a rule and one that waits for it;
    targets of whole stages left out.
    """
    rules, links = set(), set()
    of_studies = r'"publish_(?!page|leaderboard)\w+"'  # a rule a study
    for graph in re.sub(of_studies, '"publish_STUDY"', dot).split("digraph ")[1:]:
        names = dict(re.findall(r'(\d+)\[label = "([^"]+)"', graph))
        rules |= {
            name for name in names.values() if name.split("_")[0] in STAGES and name not in STAGES
        }
        links |= {
            (names[first], names[second]) for first, second in re.findall(r"(\d+) -> (\d+)", graph)
        }
    return sorted(rules), {link for link in links if set(link) <= rules and link[0] != link[1]}


def without_shortcuts(links: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Leave out a link between two rules that a longer way joins."""

    def reaches(start: str, end: str, skip: tuple[str, str]) -> bool:
        after = [second for first, second in links if first == start and (first, second) != skip]
        return end in after or any(reaches(rule, end, skip) for rule in after)

    return {link for link in links if not reaches(*link, link)}


def places(rules: list[str], links: set[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """Where each rule stands: its stage's column, those that wait for others of their stage
    lower; the page at the end.
    """

    def depth(rule: str) -> int:
        before = [
            first
            for first, second in links
            if second == rule and first.split("_")[0] == rule.split("_")[0]
        ]
        return max(map(depth, before), default=-1) + 1

    found = {}
    for column, stage in enumerate(STAGES):
        own = [rule for rule in rules if rule.split("_")[0] == stage and rule != "publish_page"]
        own.sort(key=lambda rule: (rule == "fetch_model", depth(rule), rule))
        for row, rule in enumerate(own):
            found[rule] = (column * STEP, (len(own) - 1) / 2 - row)
    end, lowest = len(STAGES) * STEP, min(y for _, y in found.values())
    return found | {"fetch_model": (0.0, lowest - 0.7), "publish_page": (end, 0.0)}


def draw(rules: list[str], links: set[tuple[str, str]]) -> str:
    """The graph as SVG."""
    plt.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "rules", "font.family": "sans-serif"}
    )
    figure, axes = plt.subplots(figsize=(14, 3.6))
    at = places(rules, links)
    for column, stage in enumerate(STAGES):
        axes.text(
            column * STEP,
            2.1,
            stage,
            ha="center",
            va="center",
            fontsize=13,
            weight="bold",
            color="#333333",
        )
    for first, second in sorted(without_shortcuts(links)):
        (x1, y1), (x2, y2) = at[first], at[second]
        begin, end = (x1 + len(first) * LETTER + 0.1, y1), (x2 - len(second) * LETTER - 0.1, y2)
        if x1 == x2:
            begin, end = (x1, y1 - 0.27), (x2, y2 + 0.27)
        way = "arc3"
        if first == "fetch_model":  # below the others, to the lowest of the rules that train
            lowest = min(y for rule, (_, y) in at.items() if rule.startswith("train_"))
            end, way = (at["train_run"][0], lowest - 0.27), "angle,angleA=0,angleB=90"
        axes.annotate(
            "",
            end,
            begin,
            arrowprops={
                "arrowstyle": "-|>",
                "color": "#777777",
                "linewidth": 1,
                "shrinkA": 0,
                "shrinkB": 0,
                "connectionstyle": way,
            },
        )
    for rule, (x, y) in at.items():
        colour = COLOURS[STAGES.index(rule.split("_")[0])]
        axes.text(
            x,
            y,
            rule,
            ha="center",
            va="center",
            fontsize=9.5,
            family="monospace",
            zorder=3,
            bbox={
                "boxstyle": "round,pad=0.45",
                "facecolor": colour,
                "edgecolor": "#888888",
                "linewidth": 0.8,
            },
        )
    axes.set_xlim(-1.4, len(STAGES) * STEP + 1.4)
    axes.set_ylim(-2.0, 2.4)
    axes.axis("off")
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", bbox_inches="tight", metadata={"Date": None})
    return drawn.getvalue()


if __name__ == "__main__":
    sys.stdout.write(draw(*read(sys.stdin.read())))
