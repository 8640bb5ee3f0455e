"""A table as LaTeX, by pandas' Styler: a `table*`, or a `longtable` if its rows fill pages.

Cells and headings are set in lines, so that the columns share the width of the page. What is the
same in all rows stands in the caption.
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
        "*": "{*}",  # which the line break before them would take for an option
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
ROWS = 45  # of a page
HOLDS = 108  # characters of \scriptsize that the width of a page holds
LONG = 36  # characters of a line in a cell
GAP = 0.013  # between two columns, as a share of the width
SMALL = [
    {"selector": "scriptsize", "props": ":{};"},
    {"selector": "setlength", "props": r":{\tabcolsep}{3pt};"},
]


def latex(text: str) -> str:
    """Text as pdfLaTeX shows it in any font; a sign that it lacks is given by its number."""
    known = "".join(
        sign
        if sign.isascii() or ord(sign) in SIGNS or _is_accented_letter(sign)
        else f"(U+{ord(sign):04X})"
        for sign in text.replace("\n", " ")
        if sign.isprintable()
    )
    return known.translate(SIGNS)


def _is_accented_letter(sign: str) -> bool:
    """Whether a sign is an ASCII letter with one accent, which every LaTeX has."""
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
    """A table of text cells as LaTeX; the columns `numbers` are set flush right."""
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
