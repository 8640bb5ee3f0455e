"""Tables for papers: LaTeX that compiles, fits, loses nothing, and takes siunitx' columns."""

import re
import shutil
import subprocess

import pandas as pd
import pytest

from scripts.publish.latex import latex, latex_table

HOSTILE = "\\input{/etc/ passwd} 50% & a_b #1 $x$ {y} ~ ^ <b> | \"q\" ’“” –—− ±·×… →≤° é Ž ﬁ 中 \u200b 😀 `code`"
DOCUMENT = "\\documentclass[twocolumn]{{article}}\n\\usepackage{{array,booktabs{packages}}}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
INSTALLED = "not installed; on Debian: apt-get install texlive-latex-recommended"


def narrow() -> tuple[pd.DataFrame, list[str]]:
    table = pd.DataFrame({"Corpus": "One [sample data]", "Model": ["a", "a", "é & 中"], "Pairs": ["1,234", "12", ""], "Seeds": "3",
                          "Gain": ["−0.5", "12.25", "+1"], "Accuracy (%)": ["90.00 ± 1.00", "8.50", ""], "Interval": ["1.0–2.0", "one group", ""]})
    return table, ["Pairs", "Seeds", "Gain", "Accuracy (%)", "Interval"]


def wide() -> tuple[pd.DataFrame, list[str]]:
    """More columns and rows than a page holds, long texts and long words."""
    rows = [{"Corpus": f"A corpus with a long title, part {row // 40}", "Dataset": f"cross_unit-train_templates-{row // 20}-test_templates-4",
             "Question": f"{HOSTILE} in row {row}", **{f"Metric {place} (%)": f"{row}.{place}" for place in range(14)},
             **{f"Metric {place} 95 % interval": f"{row}.0–{row}.9" for place in range(6)},
             "Above the best control (points)": f"bag of words: +{row}.1 (−0.3 to +4.5)"} for row in range(90)]
    table = pd.DataFrame(rows)
    return table, list(table)[3:]


def compiled(tex: str, folder, packages: str = "") -> str:
    """What pdflatex says of a paper with this table; a command that fails fails the test."""
    (folder / "paper.tex").write_text(DOCUMENT.format(packages=packages, body=tex), encoding="utf-8")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"], cwd=folder,
                          capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    return (folder / "paper.log").read_text(errors="replace").replace("\n", "")


def too_wide(log: str) -> list[float]:
    return [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdflatex"), reason=f"pdflatex is {INSTALLED}")
@pytest.mark.parametrize("given", [narrow, wide], ids=lambda given: given.__name__)
def test_a_paper_takes_the_table_as_it_is(given, tmp_path):
    table, numbers = given()
    log = compiled(latex_table(table, HOSTILE, numbers, "one"), tmp_path)
    assert max(too_wide(log), default=0) < 3 and "Overfull \\vbox" not in log and "Float too large" not in log


@pytest.mark.skipif(not shutil.which("kpsewhich") or not subprocess.run(["kpsewhich", "siunitx.sty"], capture_output=True).stdout,
                    reason="siunitx is not installed; on Debian: apt-get install texlive-science")
def test_siunitx_takes_the_columns_named_in_the_comment(tmp_path):
    tex, found = re.subn(r"% with siunitx: (.*)\n.*\n", r"\1\n", latex_table(narrow()[0], "A caption", narrow()[1], "one"))
    assert found == 1 and "S[table-format=4.0]" in tex and "S[table-format=-2.2]" in tex and "S[table-format=2.2(4)]" in tex
    compiled(tex, tmp_path, ",siunitx")


def test_constant_columns_stand_in_the_caption_and_a_narrow_table_in_one_column():
    table, numbers = narrow()
    tex = latex_table(table, "A caption_", numbers, "one")
    assert r"\caption{A caption\_ Corpus: One {[}sample data{]}; Seeds: 3.}" in tex and "\\begin{table}[tp]" in tex
    assert tex.count("sample data") == 1 and r"\label{tab:one}" in tex and "1234 & -0.5 & 90.00 \\pm 1.00" in tex
    same = table.assign(**{"Accuracy (%)": "50.0"})
    assert "50.0" in latex_table(same, "", numbers, "one").split(r"\midrule")[1], "what was measured stays in its column"


def test_a_wide_table_loses_nothing_and_says_no_text_twice_in_a_float():
    table, numbers = wide()
    floats = latex_table(table, "A caption", numbers, "one").split(r"\begin{table*}")[1:]
    assert len(floats) > 1 and "continued (2)" in floats[1] and r"\label{tab:one_2}" in floats[1]
    text = "".join(floats)
    for place in range(14):
        cells = set(re.findall(rf"\b(\d+\.{place})(?= [&\\])", text))
        assert {f"{row}.{place}" for row in range(90)} <= cells
    assert all(one.count("part 0") <= 1 for one in floats)


def test_a_row_that_shares_its_first_texts_is_told_from_one_without_them():
    table = pd.DataFrame({"Corpus": ["a", "a", "b", "b"], "Model": ["x", "x", "x", ""], "n": ["1", "2", "3", "4"]})
    rows = latex_table(table, "", ["n"], "one").split("\\midrule\n")[1].splitlines()[:4]
    assert rows == [r"a & x & 1 \\", r" &  & 2 \\", r"b & x & 3 \\", r" & -- & 4 \\"]


def test_an_empty_table_has_its_head():
    assert "Model" in latex_table(pd.DataFrame({"Model": [], "n": []}, dtype=str), "A caption", ["n"], "one").split(r"\midrule")[0]


def test_signs_of_latex_are_shown():
    assert latex("50% & a_b #1") == r"50\% \& a\_b \#1" and latex("é 中") == "é (U+4E2D)" and latex("a\nb") == "a b"
    assert re.search(r"(?<!\\)[%&#]", latex(HOSTILE)) is None and "\\input" not in latex(HOSTILE)
