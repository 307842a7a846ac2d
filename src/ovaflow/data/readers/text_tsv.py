"""Lines of ``labels<TAB>text``."""

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import read_lines

_LINE_FEEDS = "they must end with a line feed"


def read(path, columns):
    """Read a file; blank lines are skipped.

    Parameters
    ----------
    path : path-like
        Plain or compressed.
    columns : Columns
        Only the separator counts.

    Yields
    ------
    TextInstance

    Raises
    ------
    InputError
        With the number of a line that has no tab or is no UTF-8.
    """
    for number, line in read_lines(path):
        labels, tab, text = line.partition("\t")
        if "\r" in line and "\t" in text.partition("\r")[2]:
            raise InputError("lines end with carriage returns alone", path=path, line=number, remedy=_LINE_FEEDS)
        if tab:
            try:
                yield columns.instance((text,), labels)
            except ValueError as error:
                raise InputError(str(error), path=path, line=number) from None
        elif line.strip():
            raise InputError(
                f"expected labels, a tab and a text, found no tab in {line[:40]!r}", path=path, line=number
            )
