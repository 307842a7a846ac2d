"""A text with its labels, and how the fields of any format become one."""

import json
import math
import re
from typing import NamedTuple

from ovaflow.console.errors import InputError

CORRECT = "correct or delete the line"

# [Festschrift] is a label; a list begins with a quoted name, a number or nothing
_JSON_LIST = re.compile(r"""\[\s*(["'\]]|-?\d[\d\s,.eE+-]*\]$)""")


class TextInstance(NamedTuple):
    """A text and its labels: names or ids as the source has them, each once, without surrounding white space."""

    text: str
    labels: tuple


class Columns(NamedTuple):
    """Where a source keeps text and labels.

    The contents of the columns ``texts`` are joined by a space. ``separator`` is between labels that are not a list.
    With ``n_labels`` the labels must be ids below it, otherwise they are names.
    """

    texts: tuple
    labels: str
    separator: str
    n_labels: int | None = None

    @classmethod
    def of(cls, text_column, labels_column, label_separator, n_labels=None):
        """From settings; ``text_column`` may name several columns, separated by commas."""
        given = {"text_column": text_column, "labels_column": labels_column, "label_separator": label_separator}
        texts = split_names(text_column)
        for setting, value in (given | {"text_column": texts}).items():
            if not value:
                raise InputError(f"the setting {setting} is empty", remedy="name a column")
        return cls(tuple(texts), labels_column, label_separator, n_labels)

    @property
    def names(self):
        """All of them, that of the labels last."""
        return [*self.texts, self.labels]

    def instance(self, fields, path, line, row=None):
        """The instance in the contents of the columns, in the order of ``names``."""
        try:
            return TextInstance(joined(fields[:-1]), self._labels_of(fields[-1]))
        except (ValueError, RecursionError) as error:
            message = "nested too deeply" if isinstance(error, RecursionError) else error
            if row is not None:
                raise InputError(f"row {row}: {message}", path=path, remedy="correct the row") from None
            raise InputError(message, path=path, line=line, remedy=CORRECT) from None

    def _labels_of(self, content):
        if isinstance(content, str):
            stripped = content.strip()
            content = _json_list(stripped) if _JSON_LIST.match(stripped) else stripped.split(self.separator)
        elif content is None:
            content = ()
        elif not isinstance(content, list):
            content = (content,)
        names = (clean(_label_of(label)).strip() for label in content)
        found = tuple(dict.fromkeys(name for name in names if name))
        if self.n_labels is not None:
            _check_ids(found, self.n_labels)
        return found


def split_names(columns):
    """Names of columns, separated by commas."""
    return [name.strip() for name in columns.split(",") if name.strip()]


def check_columns(wanted, existing, path, line=None, remedy="set text_column and labels_column"):
    """Refuse a source that lacks one of the columns, naming those that there are."""
    missing = [name for name in wanted if name not in existing]
    if missing:
        short = [repr(name if len(name) <= 40 else f"{name[:37]}...") for name in existing]
        more = [f"{len(short) - 20} more"] if len(short) > 20 else []
        there = ", ".join(short[:20] + more) or "none"
        message = f"no column {', '.join(map(repr, missing))}, there are {there}"
        raise InputError(message, path=path, line=line, remedy=remedy)
    twice = [name for name in wanted if isinstance(existing, list) and existing.count(name) > 1]
    if twice:
        raise InputError(f"there are several columns {twice[0]!r}", path=path, line=line, remedy="rename all but one")


def joined(fields):
    """Text of several fields: strings, numbers, None, or lists of such."""
    return clean(" ".join(filter(None, map(_text_of, fields))))


def clean(text):
    """Text that every later step can store and print: NUL becomes a space, a lone surrogate a question mark."""
    if "\0" in text:
        text = text.replace("\0", " ")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def _text_of(content):
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return " ".join(filter(None, map(_text_of, content)))
    if isinstance(content, bool) or not isinstance(content, int | float):
        raise ValueError(f"the text is of type {type(content).__name__}")
    if isinstance(content, float) and math.isinf(content):
        raise ValueError("the text is a number that is not finite")
    # tables have nan where a number is missing
    return str(content) if content == content else ""


def _label_of(content):
    if isinstance(content, str):
        return content
    if isinstance(content, bool) or not isinstance(content, int):
        raise ValueError(f"a label is of type {type(content).__name__}, not a name or a whole number")
    return str(content)


def _check_ids(labels, n_labels):
    for label in labels:
        if not (label.isascii() and label.isdigit() and len(label) < 20 and int(label) < n_labels):
            raise ValueError(
                f"label {label[:60]!r} is not an id from 0 to {n_labels - 1}; "
                "leave out the file of label names if the data holds the names themselves"
            )


def _json_list(text):
    try:
        return json.loads(text)
    except ValueError:
        raise ValueError(f"labels begin with '[' but are not a JSON list: {text[:40]!r}") from None
