"""Tables for papers: LaTeX with the rules of the package booktabs."""

from urllib.parse import quote

from ovaflow.report import wording

_ESCAPED = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}
)


def latex_link(table):
    """Data URL of a table as LaTeX."""
    return "data:application/x-tex;charset=utf-8," + quote(latex_of(table))


def latex_of(table):
    """A table with headings of one line, intervals behind the figures, and the best in bold."""
    alignment = "l" + "".join("l" if column.words else "r" for column in table.columns)
    headings = [table.corner, *map(_heading, table.columns)]
    rows = [_row([_escaped(row.name), *map(_cell, row.cells)]) for row in table.rows]
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", _row(map(_escaped, headings)), r"\midrule"]
    return "\n".join([*lines, *rows, r"\bottomrule", r"\end{tabular}", ""])


def _heading(column):
    """Both lines of a heading: ``P@1``, ``training time``."""
    return f"{column.group} {column.title}".strip().replace(" @", "@")


def _row(cells):
    return " & ".join(cells) + r" \\"


def _cell(cell):
    text = _escaped(cell.text)
    if cell.best:
        text = rf"\textbf{{{text}}}"
    return rf"{text} $\pm$ {cell.spread}" if cell.spread else text


def _escaped(text):
    return wording.plain(str(text)).translate(_ESCAPED)
