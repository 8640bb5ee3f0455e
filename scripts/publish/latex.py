"""Write a table as LaTeX with pandas' Styler: a `table*`, or a `longtable` for more than ROWS rows.

Cells and headings wrap, and the columns share the width of the page. A column of words that has the
same value in all rows moves to the caption.
"""

import unicodedata

import pandas as pd

SIGNS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
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
    }
)
ROWS = 45  # rows on a page
HOLDS = 108  # characters of \scriptsize in the width of a page
LONG = 36  # characters in a line of a cell
GAP = 0.013  # between two columns, as a share of the width
SMALL = [
    {"selector": "scriptsize", "props": ":{};"},
    {"selector": "setlength", "props": r":{\tabcolsep}{3pt};"},
]


def latex(text: str) -> str:
    """Return text as LaTeX that pdfLaTeX can set in any font. A character that pdfLaTeX lacks
    becomes its number, for example (U+4E2D).
    """
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


def _column_types(table: pd.DataFrame, numbers: list[str]) -> str:
    longest = {name: table[name].str.len().max() if len(table) else 1 for name in table}
    widths = {name: 1 + max([min(LONG, longest[name]), *map(len, name.split())]) for name in table}
    room = (1 - GAP * len(widths)) / max(HOLDS, sum(widths.values()))
    return "".join(
        rf">{{\ragged{'left' if name in numbers else 'right'}\arraybackslash}}"
        rf"p{{{width * room:.3f}\linewidth}}"
        for name, width in widths.items()
    )


def latex_table(table: pd.DataFrame, caption: str, numbers: list[str], name: str) -> str:
    """Return a table of text cells as LaTeX. The columns `numbers` are set flush right."""
    same = {
        column: table[column].iloc[0]
        for column in table
        if len(table) > 1 and column not in numbers and table[column].nunique() == 1
    }
    notes = [f"{column}: {value}" for column, value in same.items() if value]
    table, caption = table.drop(columns=list(same)), " ".join([caption, *notes])
    types, is_long = _column_types(table, numbers), len(table) > ROWS
    cells = table.map(latex).set_axis(map(latex, table), axis=1).reset_index(drop=True)
    styler = cells.style.hide(axis="index").set_table_styles([] if is_long else SMALL)
    with pd.option_context("styler.render.max_elements", cells.size + 1):  # else it cuts
        text = styler.to_latex(
            environment="longtable" if is_long else "table*",
            position=None if is_long else "tp",
            position_float=None if is_long else "centering",
            hrules=True,
            column_format=types,
            caption=latex(caption),
            label=f"tab:{name}",
        )
    small = f"{{\\scriptsize\\setlength{{\\tabcolsep}}{{3pt}}\n{text}}}\n" if is_long else text
    return f"% \\usepackage{{array,booktabs{',longtable' * is_long}}}\n{small}"
