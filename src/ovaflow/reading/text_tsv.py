"""Lines of labels, a tab and a text."""

from collections.abc import Iterator

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.instances import Reading, TextInstance
from ovaflow.reading.streams import CONVERT_LINE_ENDS, RecordFile, strip_line_end

_LABEL_COLUMNS = frozenset(
    {
        "label",
        "labels",
        "subject",
        "subjects",
        "tag",
        "tags",
        "category",
        "categories",
        "topics",
        "id",
    }
)
"""Usual names of a first column that holds labels or ids."""
_TEXT_COLUMNS = frozenset(
    {"text", "texts", "title", "body", "content", "document", "sentence", "comment", "abstract"}
)
"""Usual names of a column of texts."""


def read(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield the instances of a file."""
    with file.lines() as lines:
        for number, line in lines:
            line = strip_line_end(line)
            labels, tab, text = line.partition("\t")
            if number == 1 and _is_header(line, file.name):
                reading.counts["headers_left_out"] += 1
                continue
            if "\r" in line and "\t" in text.partition("\r")[2]:
                raise InputError(
                    "lines end with carriage returns alone",
                    path=file.name,
                    line=number,
                    remedy=CONVERT_LINE_ENDS,
                )
            if "\t" in text:
                reading.counts["lines_with_further_tabs"] += 1
            if tab:
                yield reading.make_plain_instance(text, labels, file.name, number)
            elif not line.strip():
                continue
            elif reading.labels:
                raise InputError(
                    f"expected labels, a tab and a text, found no tab in {line[:40]!r}",
                    path=file.name,
                    line=number,
                    remedy="put a tab between labels and text",
                )
            else:
                yield reading.make_plain_instance(line, "", file.name, number)


def _is_header(line: str, path: StrPath) -> bool:
    """Tell whether a first line names the columns; refuse further ones or another order."""
    names = [name.strip().casefold() for name in line.split("\t")]
    if _TEXT_COLUMNS.isdisjoint(names) or _LABEL_COLUMNS.isdisjoint(names):
        return False
    if len(names) > 2 or names[0] in _TEXT_COLUMNS:
        raise InputError(
            f"the first line names the columns {', '.join(names[:-1])} and {names[-1]:.60}, "
            "but a line is labels, a tab and the text",
            path=path,
            line=1,
            remedy="read it with format: csv, which has a header",
        )
    return True
