"""Write a table as LaTeX with pandas' Styler: a `table*`, or several for more than LINES lines.
They stand in a document of one column or of two.

Cells and headings wrap, and the columns share the width of the page. A table whose words do not fit
side by side becomes several tables. A column of words that has the same value in all rows moves to
the caption. The first page of a long table has the fullest rows: models beside their controls,
numbers that were measured here.
"""

import re
from functools import cache
from itertools import dropwhile, takewhile
import unicodedata

import numpy as np
import pandas as pd

SIGNS = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",  # after a line break, LaTeX reads a bare * or [ as an option
        '"': "''",
        "–": "--",
        "—": "---",
        "−": "$-$",
        "±": r"$\pm$",
        "·": r"$\cdot$",
        "×": r"$\times$",
        "…": r"\dots{}",
        "→": r"$\rightarrow$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "≈": r"$\approx$",
        "‘": "`",
        "’": "'",
        "“": "``",
        "”": "''",
        "°": r"$^\circ$",
        "†": r"\textsuperscript{\dag}",
    }
)
LINES = 45  # lines of cells on a page
PAGE, COLUMN = 90, 61  # characters of \scriptsize in the width of a page, and of a column of 3.3 in
LONG = 36  # characters in a line of a cell
GAP = 1.6  # characters beside a column: \tabcolsep at both sides
SMALL = [
    {"selector": "scriptsize", "props": ":{};"},
    {"selector": "setlength", "props": r":{\tabcolsep}{3pt};"},
]


@cache  # a table repeats its texts
def latex(text: str) -> str:
    """Return text as LaTeX that pdfLaTeX can set in any font. A character that pdfLaTeX lacks
    becomes its number, for example (U+4E2D).
    """
    text = re.sub(r'(^|[\s(\[{])"', r"\1“", text)  # the others end a quotation
    known = "".join(
        sign
        if sign.isascii() or ord(sign) in SIGNS or _is_accented_letter(sign)
        else f"(U+{ord(sign):04X})"
        for sign in text.replace("\n", " ")
        if sign.isprintable()
    )
    return known.translate(SIGNS)


def _is_accented_letter(sign: str) -> bool:
    """Return whether a character is an ASCII letter with one accent: every LaTeX has these."""
    parts = unicodedata.normalize("NFD", sign)
    return len(parts) == 2 and sign < "\u0180" and parts[0].isascii() and parts[0].isalpha()


@cache
def _wide(text: str) -> float:
    """Return the width of a text in letters: digits and capitals are wider than others."""
    return sum(1.25 if sign.isupper() or sign.isdigit() else 1 for sign in text)


def _widths(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each column its least width, that of its longest word, and the width of its
    longest text.
    """
    words = {
        name: [_wide(word) for text in (name, *of) for word in re.split(r"[ -]", text)]
        for name, of in table.items()
    }
    return pd.DataFrame(
        {
            "least": {name: 1.5 + max(of) for name, of in words.items()},
            "whole": {name: 1 + min(LONG, max(map(_wide, ["", *table[name]]))) for name in table},
        }
    )


def _parts(widths: pd.DataFrame, keys: list[str], holds: float) -> list[list[str]]:
    """Return the columns of each part of a table that is too wide: the keys, and others."""
    parts = [keys[:]]
    for name in [name for name in widths.index if name not in keys]:
        wide = widths["least"][[*parts[-1], name]].sum() + GAP * (len(parts[-1]) + 1)
        if wide > holds and len(parts[-1]) > len(keys):
            parts.append(keys[:])
        parts[-1].append(name)
    return parts


def _shares(widths: pd.DataFrame, holds: float) -> pd.Series:
    """Return the share of the width for each column: its least width, and a part of the rest."""
    room = holds - GAP * len(widths)
    more = (widths["whole"] - widths["least"]).clip(lower=0)
    free = max(0, room - widths["least"].sum())
    return (widths["least"] + more * min(1, free / max(1, more.sum()))) / holds


def latex_table(
    table: pd.DataFrame, caption: str, numbers: list[str], name: str, holds: int = PAGE
) -> str:
    """Return a table of text cells as LaTeX. The columns `numbers` are set flush right. A table
    that is too wide becomes several, each with the first columns of texts (at least one column).
    holds: PAGE or COLUMN.
    """
    same = {
        column: table[column].iloc[0]
        for column in table
        if len(table) > 1 and column not in numbers and table[column].nunique() == 1
    }
    notes = [f"{column}: {value}" for column, value in same.items() if value]
    table, caption = table.drop(columns=list(same)), " ".join([caption, *notes])
    widths, columns = _widths(table), list(table)
    texts_of_row = dropwhile(lambda column: column in numbers, columns)
    keys = list(takewhile(lambda column: column not in numbers, texts_of_row)) or columns[:1]
    while len(keys) > 1 and widths["least"][keys].sum() > holds / 2:
        keys.pop()
    parts = _parts(widths, keys, holds)
    pages = [
        (page, _shares(widths.loc[part], holds))
        for part in parts
        for page in _pages(table[part], _shares(widths.loc[part], holds), holds)
    ]
    texts = [
        _environment(
            page,
            shares,
            f"(continued, part {number + 1} of {len(pages)})" if number else caption,
            f"{name}_{number + 1}" if number else name,
            numbers,
            holds,
        )
        for number, (page, shares) in enumerate(pages)
    ]
    if len(pages) > len(parts):  # LaTeX holds few tables back, so each page is set at once
        first = f"% Long: a paper takes rows of {name}.csv, or scorecard_column.tex.\n"
        return first + "".join(f"{text}\\clearpage\n" for text in texts)
    return "".join(texts)


def _pages(table: pd.DataFrame, shares: pd.Series, holds: int) -> list[pd.DataFrame]:
    """Return the table, or pages of at most LINES lines with the fullest rows first."""
    lines = np.ceil(table.map(_wide) / (shares * holds)).clip(lower=1).max(axis=1)
    if lines.sum() <= LINES:
        return [table]
    filled = (table != "").sum(axis=1)
    lines = lines.loc[(filled < filled.mean()).sort_values(kind="stable").index]
    pages: list[list] = [[]]
    for row, tall in lines.items():
        if pages[-1] and lines[pages[-1]].sum() + tall > LINES:
            pages.append([])
        pages[-1].append(row)
    return [table.loc[page] for page in pages]


def _environment(
    table: pd.DataFrame, shares: pd.Series, caption: str, name: str, numbers: list[str], holds: int
) -> str:
    types = "".join(
        rf">{{\ragged{'left' if column in numbers else 'right'}\arraybackslash}}"
        rf"p{{{share:.3f}\linewidth}}"
        for column, share in shares.items()
    )
    cells = table.map(latex).set_axis(map(latex, table), axis=1).reset_index(drop=True)
    with pd.option_context("styler.render.max_elements", cells.size + 1):  # else it cuts
        styled = cells.style.hide(axis="index").set_table_styles(SMALL)
        text = styled.to_latex(
            environment="table*" if holds == PAGE else "table",
            position="tp",
            position_float="centering",
            hrules=True,
            column_format=types,
            caption=latex(caption),
            label=f"tab:{name}",
        )
    return f"% \\usepackage{{array,booktabs}}\n{text}"
