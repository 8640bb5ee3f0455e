"""A table as LaTeX that a paper takes as it is: floats that fit the column or the page, by pandas' Styler.

What is the same in all rows goes into the caption. A table that a column of a paper holds is a `table`, a wider one a `table*`, whose
texts are set in lines; one with more columns or rows than a page holds is told in several floats. Numbers stand alone in their cells
as siunitx reads them, in columns in math mode: another type of column is all that siunitx needs, and stands beside each as a comment.
"""

import math
import re
import textwrap
import unicodedata

import pandas as pd

PACKAGES = "array,booktabs"
SIGNS = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "[": "{[}", "]": "{]}", "*": "{*}",  # what would be an option of the line break before it
    '"': "''", "–": "--", "—": "---", "−": "$-$", "±": r"$\pm$", "·": r"$\cdot$", "×": r"$\times$", "…": r"\dots{}",
    "→": r"$\rightarrow$", "≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "‘": "`", "’": "'", "“": "``", "”": "''", "°": r"$^\circ$",
})
NUMBER = re.compile(r"[-−+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?( ± \d+(\.\d+)?)?")
# How many characters of \scriptsize a line holds in the narrowest of the usual two-column papers (230 and 470 pt).
HOLDS = {"table": 52, "table*": 108}
GAP = 2         # characters between two columns
NARROWEST = 11  # characters of a column of text
LINES = 50      # of a float, with room for its caption
FLOATS = 12     # that LaTeX is given at once: it holds 18


def known(text: str) -> str:
    """Text in signs that pdfLaTeX knows in any font: another is told by its number, what does not print is left out."""
    return "".join(sign if sign.isascii() or ord(sign) in SIGNS or _is_accented_letter(sign) else f"(U+{ord(sign):04X})"
                   for sign in text.replace("\n", " ") if sign.isprintable())


def latex(text: str) -> str:
    """Text as LaTeX shows it."""
    return known(text).translate(SIGNS)


def _is_accented_letter(sign: str) -> bool:
    """Whether a sign is a letter of ASCII and one accent that every LaTeX puts above or below it."""
    parts = unicodedata.normalize("NFD", sign)
    return len(parts) == 2 and sign < "\u0180" and parts[0].isascii() and parts[0].isalpha()


def _breakable(text: str) -> str:
    """Text whose long words may be broken where a name of a dataset has a sign."""
    return " ".join(re.sub(r"([-_/=.:])(?=\w)", "\\1\u200b", word) if len(word) >= NARROWEST else word for word in text.split(" "))


def _kind(cells: pd.Series, is_number: bool) -> str:
    """How a column is set: number, right (an interval), text (also what is told of numbers in many words)."""
    if cells.empty:
        return "text"
    if is_number and cells.map(lambda cell: not cell or bool(NUMBER.fullmatch(cell))).all():
        return "number"
    return "right" if is_number and cells.str.len().max() <= 2 * NARROWEST else "text"


def _cell(text: str, kind: str) -> str:
    """A cell as it stands in its column: kind number, right or text."""
    if kind == "number":
        return text.replace(",", "").replace("−", "-").replace("±", r"\pm")
    return r"\allowbreak{}".join(latex(part) for part in _breakable(text).split("\u200b"))


def _heading(text: str, width: int) -> str:
    """A column's heading, right aligned above numbers, in lines of at most this many characters."""
    lines = r"\\".join(map(latex, textwrap.wrap(text, width, break_long_words=False)))
    return rf"\multicolumn{{1}}{{r}}{{\begin{{tabular}}[b]{{@{{}}r@{{}}}}{lines}\end{{tabular}}}}"


def without_constants(table: pd.DataFrame, numbers: list[str]) -> tuple[pd.DataFrame, str]:
    """A table without the columns that hold one value, and that value in words; a measured number (with a decimal point) stays."""
    constant = {name: table[name].iloc[0] for name in table if len(table) > 1 and table[name].nunique() == 1}
    told = {name: value for name, value in constant.items() if not (name in numbers and "." in value)}
    note = "; ".join(f"{name}: {value}" for name, value in told.items() if value)
    return table.drop(columns=list(told)), f"{note}." if note else ""


def _widths(table: pd.DataFrame, kinds: dict[str, str]) -> dict[str, int]:
    """Characters of each column: the longest cell, and of the heading what stands in one line."""
    longest = {name: int(table[name].str.len().max()) if len(table) else 1 for name in table}
    word = {name: max(map(len, name.split())) for name in table}
    return {name: max(longest[name], word[name] if kinds[name] != "text" else len(name)) for name in table}


def _narrowed(widths: dict[str, int], kinds: dict[str, str], room: int) -> dict[str, int] | None:
    """These widths with the widest texts set in lines, so that they fit into so many characters; None where they cannot."""
    for widest in range(room, NARROWEST - 1, -1):
        narrow = {name: min(width, widest) if kinds[name] == "text" else width for name, width in widths.items()}
        if sum(narrow.values()) + GAP * (len(narrow) - 1) <= room:
            return narrow
    return None


def _blocks(widths: dict[str, int], kinds: dict[str, str], heads: list[str]) -> list[list[str]]:
    """The columns in blocks that fit a page side by side, each with the texts that head the rows."""
    blocks = [list(heads)]
    for name in [name for name in widths if name not in heads]:
        wider = {column: widths[column] for column in [*blocks[-1], name]}
        if len(blocks[-1]) > len(heads) and not _narrowed(wider, kinds, HOLDS["table*"]):
            blocks.append(list(heads))
        blocks[-1].append(name)
    return blocks


def _heads(table: pd.DataFrame, kinds: dict[str, str]) -> list[str]:
    """The columns of text before the first number."""
    return list(table)[:next((place for place, name in enumerate(table) if kinds[name] != "text"), 0)]


def _unrepeated(table: pd.DataFrame, heads: list[str]) -> pd.DataFrame:
    """The cells of the columns that head the rows: what stands in the row above is not said again, what is empty is a dash."""
    return table[heads].mask(table[heads] == "", "–").mask((table[heads] == table[heads].shift()).cummin(axis=1), "")


def _pages(table: pd.DataFrame, kinds: dict[str, str], widths: dict[str, int]) -> list[pd.DataFrame]:
    """A table in parts of at most LINES printed lines."""
    if table.empty:
        return [table]
    heads = _heads(table, kinds)
    printed = table.assign(**_unrepeated(table, heads)) if heads else table
    texts = [name for name in table if kinds[name] == "text"]
    lines = (printed[texts].apply(lambda column: column.str.len() * 1.2 / widths[column.name]).clip(lower=1).max(axis=1).map(math.ceil)
             if texts else pd.Series(1, table.index))
    of_part = math.ceil(lines.sum() / math.ceil(lines.sum() / LINES))  # no part is left with a line or two
    return [part for _, part in table.groupby((lines.cumsum() - 1) // of_part)]


def _number_format(cells: pd.Series) -> str:
    """siunitx' format of a column of numbers: the most digits before and after the point, and of an uncertainty."""
    found = cells.str.extract(r"(?P<sign>[-−])?(?P<whole>[\d,]+)(?P<part>\.\d+)?(?P<uncertain> ±)?").fillna("")
    whole, part = (int(found[name].str.replace("[,.]", "", regex=True).str.len().max()) for name in ("whole", "part"))
    return f"{'-' if found['sign'].any() else ''}{whole or 1}.{part}{f'({part + 2})' if found['uncertain'].any() else ''}"


def _column_types(table: pd.DataFrame, kinds: dict[str, str], widths: dict[str, int], wide: str, siunitx: bool) -> str:
    """The types of a tabular's columns: texts in lines or as they are, numbers, other cells flush right."""
    types = []
    for name in table:
        if kinds[name] == "number" and siunitx:
            types.append(f"S[table-format={_number_format(table[name])}]")
        elif kinds[name] == "text" and widths[name] < (table[name].str.len().max() if len(table) else 0):
            types.append(rf">{{\raggedright\arraybackslash}}p{{{widths[name] / HOLDS[wide]:.3f}\linewidth}}")
        else:
            types.append({"number": ">{$}r<{$}", "right": "r", "text": "l"}[kinds[name]])
    return f"@{{}}{''.join(types)}@{{}}"


def _float(part: pd.DataFrame, kinds: dict[str, str], caption: str, label: str) -> str:
    """One float of rows and columns that fit; what a row shares with the one above in its first texts is not said again."""
    full = _widths(part, kinds)
    wide = "table" if _narrowed(full, kinds, HOLDS["table"]) == full else "table*"
    widths = _narrowed(full, kinds, HOLDS[wide]) or full
    types = [_column_types(part, kinds, widths, wide, siunitx) for siunitx in (False, True)]
    heads = _heads(part, kinds)
    printed = part.assign(**_unrepeated(part, heads)) if heads else part
    cells = printed.apply(lambda column: column.map(lambda text: _cell(text, kinds[column.name])))
    cells.columns = [latex(name) if kinds[name] == "text" else _heading(name, max(widths[name], 7)) for name in part]
    styler = cells.reset_index(drop=True).style.hide(axis="index").set_table_styles([
        {"selector": "scriptsize", "props": ":{};"}, {"selector": "setlength", "props": r":{\tabcolsep}{3pt};"}])
    text = styler.to_latex(environment=wide, position="tp", position_float="centering", hrules=True, column_format=types[0],
                           caption=caption, label=label)
    begin = rf"\begin{{tabular}}{{{types[0]}}}"
    return text.replace(begin, f"% with siunitx: \\begin{{tabular}}{{{types[1]}}}\n{begin}" if "S[" in types[1] else begin)


def latex_table(table: pd.DataFrame, caption: str, numbers: list[str], name: str) -> str:
    """A table of text cells as one LaTeX float or several; the columns `numbers` are set flush right."""
    rest, note = without_constants(table, numbers)
    rest = rest.map(known)
    kinds = {column: _kind(rest[column], column in numbers) for column in rest}
    whole = _widths(rest, kinds)
    floats = []
    heads = _heads(rest, kinds)
    for block in _blocks(whole, kinds, heads):
        rows = rest[block]
        if floats:  # of a block that goes on, the rows that hold anything
            rows = rows[(rows.drop(columns=heads) != "").any(axis=1)]
        fitted = {column: whole[column] for column in block}
        floats += _pages(rows, kinds, _narrowed(fitted, kinds, HOLDS["table*"]) or fitted)
    texts = [_float(part, kinds, latex(f"{caption} {note}".strip() if place == 1 else f"The table above, continued ({place})."),
                    f"tab:{name}" + (f"_{place}" if place > 1 else "")) for place, part in enumerate(floats, 1)]
    parts = ["\n".join(texts[start : start + FLOATS]) for start in range(0, len(texts), FLOATS)]
    return f"% \\usepackage{{{PACKAGES}}}\n" + "\\clearpage\n".join(parts)
