"""Errors that a person can mend: one clear line, exit status 2."""

import os
import re

StrPath = str | os.PathLike[str]
"""What names a file."""

TELLS = re.compile(
    r"\b(at least|at most|between|choose|excludes|expected|from \S+ to|give|instead|known|legal|mend|must|needs?|"
    r"no more than|only|run|set|there (is|are)|use)\b"
)
"""Words of messages that say themselves what is legal, or what to do."""

LONGEST = 2000
"""Characters of a message; what a file or a server says may be of any length."""


class InputError(Exception):
    """Something given by the user is wrong.

    Parameters
    ----------
    message : str
        What is wrong, in one line.
    path : path-like, optional
        The file concerned.
    line : int, optional
        Its line, counted from 1.
    remedy : str, optional
        What to do about it; of a line, by default, to mend it.
    """

    def __init__(
        self, message: object, path: StrPath | None = None, line: int | None = None, remedy: str | None = None
    ) -> None:
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        if remedy is None and line is not None and not TELLS.search(str(message)):
            remedy = "mend this line"
        text = f"{where}{message}" + ("" if remedy is None else f"; {remedy}")
        super().__init__(printable(" ".join(text.split())))


def printable(text: str) -> str:
    """A text without what moves a terminal's cursor, hides letters or fills the screen.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Characters that cannot be printed are escaped, as in Python; a text that
        is too long loses its middle.
    """
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 500]} [...] {text[-400:]}"
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
