"""Figures of benchmarks as aligned text."""

NOT_INSTALLED = "not installed: pip install -r benchmarks/requirements.txt"


def align(rows: list[list[str]]) -> str:
    """Align rows of text in columns: the first to the left, the others to the right.

    Rows shorter than the first are not aligned, their first cell excepted.
    """
    full_rows = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(len(row[0]) for row in rows)]
    for column in range(1, len(rows[0])):
        widths.append(max(len(row[column]) for row in full_rows))
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        if len(row) == len(widths):
            cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        else:
            cells += row[1:]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
