"""Lines of labels, a tab and a text."""

from ovaflow.console.errors import InputError
from ovaflow.reading.streams import strip_line_end

ORDER = "a line is labels, a tab and the text"
_HEADS = frozenset(
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
_TEXTS = frozenset(
    {"text", "texts", "title", "body", "content", "document", "sentence", "comment", "abstract"}
)


def read(file, reading):
    with file.lines() as lines:
        for number, line in lines:
            line = strip_line_end(line)
            labels, tab, text = line.partition("\t")
            if number == 1 and _is_header(labels, text, file.name):
                reading.counts["headers_left_out"] += 1
                continue
            if "\r" in line and "\t" in text.partition("\r")[2]:
                remedy = "they must end with a line feed"
                raise InputError(
                    "lines end with carriage returns alone",
                    path=file.name,
                    line=number,
                    remedy=remedy,
                )
            if tab:
                yield reading.make_plain_instance(text, labels, file.name, number)
            elif not reading.labels and line.strip():
                yield reading.make_plain_instance(line, "", file.name, number)
            elif line.strip():
                message = f"expected labels, a tab and a text, found no tab in {line[:40]!r}"
                raise InputError(
                    message, path=file.name, line=number, remedy="put a tab between labels and text"
                )


def _is_header(labels, text, path):
    """Whether a first line names the columns; refused if it names them in another order."""
    first = labels.strip().casefold()
    second = text.strip().casefold()
    if first in _TEXTS and second.split("\t")[0] in _HEADS:
        message = f"the first line names the columns {first} and {second}, but {ORDER}"
        raise InputError(
            message, path=path, line=1, remedy="read it with format: csv, which has a header"
        )
    return first in _HEADS and second in _TEXTS
