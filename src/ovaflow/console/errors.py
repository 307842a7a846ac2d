"""Errors that a person can mend: one clear line, exit status 2."""


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
        What to do about it.
    """

    def __init__(self, message, path=None, line=None, remedy=None):
        where = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        text = f"{where}{message}" + ("" if remedy is None else f"; {remedy}")
        super().__init__(" ".join(text.split()))
