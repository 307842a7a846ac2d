"""A text with its labels, and how fields of any format become one."""

import json
import math
import re
from typing import NamedTuple

from ovaflow.console.errors import InputError

_SHOWN = 60
"""Characters of a label in a message."""
_DIGITS = 20
"""Of an id."""


class TextInstance(NamedTuple):
    """A text and its labels.

    Attributes
    ----------
    text : str
        Without NUL characters and lone surrogates.
    labels : tuple of str
        Names or ids as the source has them, without surrounding white space,
        each once.
    """

    text: str
    labels: tuple


class Columns(NamedTuple):
    """Where a source keeps text and labels.

    Attributes
    ----------
    texts : tuple of str
        Columns whose contents are joined by a space.
    labels : str
        Column of the labels.
    separator : str
        Between labels, where they are no list.
    n_labels : int or None
        Labels must be ids below it; None: they are names.
    """

    texts: tuple
    labels: str
    separator: str
    n_labels: int | None = None

    @classmethod
    def of(cls, text_column, labels_column, label_separator, n_labels=None):
        """From settings; ``text_column`` may name several columns, separated by commas.

        Parameters
        ----------
        text_column, labels_column, label_separator : str
        n_labels : int, optional

        Returns
        -------
        Columns

        Raises
        ------
        InputError
            If one of them is empty.
        """
        texts = tuple(name.strip() for name in text_column.split(",") if name.strip())
        for setting, value in (
            ("text_column", texts),
            ("labels_column", labels_column),
            ("label_separator", label_separator),
        ):
            if not value:
                raise InputError(f"the setting {setting} is empty", remedy="name a column")
        return cls(texts, labels_column, label_separator, n_labels)

    def check(self, existing, path, line=None):
        """Refuse a source that lacks one of the columns.

        Parameters
        ----------
        existing : collection of str
        path : path-like
        line : int, optional

        Raises
        ------
        InputError
            Naming the columns that exist.
        """
        check_columns((*self.texts, self.labels), existing, path, line)

    def instance(self, texts, labels):
        """Make an instance of the fields' contents.

        Parameters
        ----------
        texts : sequence
            Contents of the text columns: strings, numbers, None, or lists of such.
        labels : str, number, list or None
            A list (in a string: a JSON list), or labels between separators.

        Returns
        -------
        TextInstance

        Raises
        ------
        ValueError
            Saying which kind of content does not fit.
        """
        try:
            return TextInstance(clean(" ".join(filter(None, map(text_of, texts)))), self._labels_of(labels))
        except RecursionError:
            raise ValueError("nested too deeply") from None

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


def check_columns(wanted, existing, path, line=None, remedy="set text_column and labels_column"):
    """Refuse a source that lacks one of the columns.

    Parameters
    ----------
    wanted, existing : collection of str
    path : path-like
    line : int, optional
    remedy : str

    Raises
    ------
    InputError
        Naming the columns that exist.
    """
    missing = [name for name in wanted if name not in existing]
    if missing:
        raise InputError(
            f"no column {', '.join(map(repr, missing))}, there are {_shown(existing)}",
            path=path,
            line=line,
            remedy=remedy,
        )
    twice = [name for name in wanted if isinstance(existing, list) and existing.count(name) > 1]
    if twice:
        raise InputError(f"there are several columns {twice[0]!r}", path=path, line=line, remedy="rename all but one")


def _shown(names):
    short = [repr(name if len(name) <= 40 else f"{name[:37]}...") for name in names]
    more = [f"{len(short) - 20} more"] if len(short) > 20 else []
    return ", ".join(short[:20] + more) or "none"


def clean(text):
    """Text that every later step can store and print.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        NUL characters become spaces, lone surrogates question marks.
    """
    if "\0" in text:
        text = text.replace("\0", " ")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def text_of(content):
    """Text of a field.

    Parameters
    ----------
    content : str, number, None, or list of such

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If it is of another type.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return " ".join(filter(None, map(text_of, content)))
    if isinstance(content, bool | dict) or not isinstance(content, int | float):
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
        if not (label.isascii() and label.isdigit() and len(label) <= _DIGITS and int(label) < n_labels):
            raise ValueError(
                f"label {label[:_SHOWN]!r} is no id from 0 to {n_labels - 1}; "
                "leave out the file of label names if the data holds the names themselves"
            )


# [Festschrift] is a label; a list begins with a quoted name, a number or nothing
_JSON_LIST = re.compile(r"""\[\s*(["'\]]|-?\d[\d\s,.eE+-]*\]$)""")


def _json_list(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"labels begin with '[' but are no JSON list: {text[:40]!r}") from None
