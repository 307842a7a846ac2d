"""Errors that a person can fix: one clear line, exit status 2."""

import os

StrPath = str | os.PathLike[str]
"""What names a file."""


class InputError(Exception):
    """Something given by the user is wrong: one line with the file, its line counted from 1, and what to do."""

    def __init__(
        self, message: object, path: StrPath | None = None, line: int | None = None, remedy: str | None = None
    ) -> None:
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        text = " ".join(f"{where}{message}{'' if remedy is None else f'; {remedy}'}".split())
        # a name or a file's content may hold what a terminal would obey
        super().__init__("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text))
