"""Errors that a person can fix: one clear line, exit status 2."""

import os

StrPath = str | os.PathLike[str]
"""Path of a file, as functions take it."""


class InputError(Exception):
    """A mistake of the user, in one line: "file, line: what is wrong; what to do".

    Parameters
    ----------
    message : object
        What is wrong.
    path : path-like, optional
        File that it is about.
    line : int, optional
        Line of the file, counted from 1.
    remedy : str, optional
        What the user can do.
    """

    def __init__(
        self,
        message: object,
        path: StrPath | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        text = str(message)
        if line is not None:
            text = f"{path}, line {line}: {text}"
        elif path is not None:
            text = f"{path}: {text}"
        if remedy is not None:
            text = f"{text}; {remedy}"
        super().__init__(_escape_control_characters(" ".join(text.split())))


class UnreadableError(InputError):
    """A file that the system does not let this process read; it may be intact."""


def _escape_control_characters(text: str) -> str:
    """Escape characters of file names and contents that a terminal would obey."""
    characters = []
    for character in text:
        if not character.isprintable():
            character = ascii(character)[1:-1]
        characters.append(character)
    return "".join(characters)
