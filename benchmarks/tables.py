"""Figures of benchmarks as aligned text."""

NOT_INSTALLED = "not installed: pip install -r benchmarks/requirements.txt"


def align(rows):
    """Rows of text in columns: the first to the left, the others to the right."""
    whole = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(len(row[column]) for row in whole) for column in range(len(rows[0]))]
    widths[0] = max(len(row[0]) for row in rows)
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        if len(row) == len(widths):
            cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        else:
            cells += row[1:]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
