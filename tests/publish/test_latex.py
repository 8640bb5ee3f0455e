"""Tables for papers: LaTeX that compiles, shows every text as text and loses no row."""

import shutil
import subprocess

import pandas as pd
import pytest

from scripts.publish.latex import ROWS, latex, latex_table
from scripts.publish.table import markdown

HOSTILE = (
    '\\input{/etc/ passwd} 50% & a_b #1 $x$ {y} ~ ^ <b> | "q" ’“” –—− ±·×… →≤° é Ž ﬁ 中 \u200b 😀 '
    "`code`"
)
DOCUMENT = r"""\documentclass{article}
\usepackage{array,booktabs,longtable}
\begin{document}
%s
\end{document}
"""


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
@pytest.mark.skipif(
    not shutil.which("pdflatex"),
    reason="no pdflatex; on Debian: apt-get install texlive-latex-recommended",
)
@pytest.mark.parametrize("rows", [3, 2 * ROWS])
def test_a_paper_takes_the_table_as_it_is(rows, tmp_path):
    (tmp_path / "paper.tex").write_text(
        DOCUMENT % latex_table(made_up(rows)[0], HOSTILE, made_up(rows)[1], "one"), encoding="utf-8"
    )
    done = subprocess.run(
        "pdflatex -interaction=nonstopmode -halt-on-error -no-shell-escape paper.tex".split(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("rows", [3, 2 * ROWS])
def test_no_row_is_lost_and_what_is_the_same_stands_in_the_caption(rows):
    table, numbers = made_up(rows)
    tex = latex_table(table, "A caption_", numbers, "one")
    assert tex.count("table*}") == 2 * (rows < ROWS)
    assert tex.count("{longtable}") == 2 * (rows > ROWS)
    assert r"{A caption\_ Corpus: One {[}sample data{]} Star: {*}}" in tex
    assert r"\label{tab:one}" in tex
    assert [line.split(" & ")[0] for line in tex.splitlines() if line.startswith("{[}m")] == [
        f"{{[}}m{row}{{]}}" for row in range(rows)
    ]
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
