"""Tables for papers: LaTeX that compiles, shows every text as text and loses no row."""

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pytest

from scripts.publish.latex import COLUMN, LINES, PAGE, latex, latex_table
from scripts.publish.table import markdown
from tests.conftest import call

needs_latex = pytest.mark.skipif(
    not shutil.which("pdflatex"),
    reason="no pdflatex; on Debian: apt-get install texlive-latex-recommended",
)
HOSTILE = (
    '\\input{/etc/ passwd} 50% & a_b #1 $x$ {y} ~ ^ <b> | "q" ’“” –—− ±·×… →≤° é Ž ﬁ 中 \u200b 😀 '
    "`code`"
)
DOCUMENT = r"""\documentclass[%s]{article}
\usepackage{array,booktabs}
\setlength{\textwidth}{%s}
\begin{document}
%s
\end{document}
"""


def overfull(
    folder: Path, tables: Iterable[str], width: str = "345pt", columns: str = "onecolumn"
) -> list[str]:
    """Return the boxes that do not fit when LaTeX sets the tables in this width."""
    text = DOCUMENT % (columns, width, "\\clearpage\n".join(tables))
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    typed = "pdflatex -interaction=nonstopmode -halt-on-error -no-shell-escape paper.tex"
    done = call(*typed.split(), cwd=folder, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    return re.findall(r"Overfull \\hbox.*\n.*", (folder / "paper.log").read_text("latin-1"))


def made_up(rows: int) -> tuple[pd.DataFrame, list[str]]:
    """Return hostile texts, and cells whose first characters LaTeX would read as an option after a
    line break.
    """
    table = pd.DataFrame(
        [
            {
                "Corpus": "One [sample data]",
                "Model": f"[m{row}]",
                "Star": "*",
                HOSTILE: f"{HOSTILE} {row}",
                "Gain": f"−{row}.5",
                "Accuracy (%)": f"{row}.00 ± 1.00" if row % 7 else "",
            }
            for row in range(rows)
        ]
    )
    return table, ["Gain", "Accuracy (%)"]


@pytest.mark.slow
@needs_latex
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
@pytest.mark.parametrize("rows", [3, 60 * LINES])
def test_a_paper_takes_the_table_as_it_is(rows, columns, tmp_path):
    table, numbers = made_up(rows)
    overfull(tmp_path, [latex_table(table, HOSTILE, numbers, "one")], columns=columns)


@pytest.mark.slow
@needs_latex
@pytest.mark.parametrize("holds, width", [(PAGE, "345pt"), (COLUMN, "3.3in")])
def test_a_wide_table_becomes_several_that_fit(holds, width, tmp_path):
    cell = "49.7 (31.9–67.6), −43.8: too few templates (3) to tell"
    table = pd.DataFrame([{"Model": "tiny BERT"} | {f"Study {at}": cell for at in range(14)}] * 2)
    tex = latex_table(table.assign(Study=["a", "b"]), "All.", list(table)[1:], "one", holds)
    assert overfull(tmp_path, [tex], width) == []
    assert tex.count("(continued, part ") == tex.count("\\caption") - 1 > 0
    assert {f"Study {at}" for at in range(14)} <= set(re.findall(r"Study \d+", tex))


@pytest.mark.slow
@needs_latex
@pytest.mark.skipif(
    "TIMESTRIDE_TABLES" not in os.environ, reason="no TIMESTRIDE_TABLES: CI sets it"
)
def test_every_published_table_compiles_and_fits(tmp_path):
    files = sorted(Path(os.environ["TIMESTRIDE_TABLES"]).rglob("*.tex"))
    assert files
    for file in files:
        width = "3.3in" if file.stem.endswith("_column") else "345pt"
        text = file.read_text(encoding="utf-8")
        assert overfull(tmp_path, [text], width) == [], file
        assert overfull(tmp_path, [text], "7in", "twocolumn") == [], file


@pytest.mark.parametrize("rows", [3, 2 * LINES])
def test_no_row_is_lost_and_what_is_the_same_stands_in_the_caption(rows):
    table, numbers = made_up(rows)
    tex = latex_table(table, "A caption_", numbers, "one")
    assert (tex.count("table*}") == 2) == (rows < LINES) == ("continued" not in tex)
    assert r"{A caption\_ Corpus: One {[}sample data{]} Star: {*}}" in tex
    assert r"\label{tab:one}" in tex
    shown = [line.split(" & ")[0] for line in tex.splitlines() if line.startswith("{[}m")]
    of_row = [f"{{[}}m{row}{{]}}" for row in range(rows)]
    emptier = of_row[::7] if rows > LINES else []
    assert shown == [row for row in of_row if row not in emptier] + emptier, "the fullest first"
    assert r"& $-$1.5 & 1.00 $\pm$ 1.00 \\" in tex


def test_signs_of_latex_are_shown():
    assert latex("50% & a_b #1") == r"50\% \& a\_b \#1"
    assert latex("é 中") == "é (U+4E2D)"
    assert latex("a\nb") == "a b"
    shown = latex(HOSTILE)
    assert not {"%", "&", "#"} & set(shown.replace(r"\%", "").replace(r"\&", "").replace(r"\#", ""))
    assert "\\input" not in shown


def test_a_cell_of_markdown_is_text():
    assert markdown("a|b\n*c* <i> [l](u) `d_e`") == r"a\|b \*c\* \<i> \[l](u) \`d\_e\`"
