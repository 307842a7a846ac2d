"""Errors that a person can fix: one clear line, exit status 2."""

import os

StrPath = str | os.PathLike[str]


class InputError(Exception):
    """A mistake of the user, in one line: file, line counted from 1, what is wrong, what to do."""

    def __init__(
        self,
        message: object,
        path: StrPath | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        place = "" if path is None else f"{path}: "
        if line is not None:
            place = f"{path}, line {line}: "
        ending = "" if remedy is None else f"; {remedy}"
        text = " ".join(f"{place}{message}{ending}".split())
        # names and contents of files may hold control characters, which a terminal would obey
        super().__init__(
            "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
        )


class UnreadableError(InputError):
    """The system does not let us read a file, which may well be intact."""
