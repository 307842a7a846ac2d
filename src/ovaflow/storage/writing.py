"""What to do about a file that cannot be written: no space, no permission, a limit."""

import contextlib
import errno
import os
import re
from pathlib import Path

from ovaflow.console.errors import InputError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_OTHER = {
    errno.EFBIG: "files may not be that large here (ulimit -f); raise the limit or choose another folder",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOTDIR: "a part of the path is a file; choose another folder",
    errno.EISDIR: "this is a folder; choose another name",
    errno.ELOOP: "its links lead in a circle; choose another folder",
}

# the HDF5 library tells the reason in its message alone
_ERRNO = re.compile(r"errno = (\d+)")


@contextlib.contextmanager
def explained(path, needed=None, kept=None):
    """Turn errors of writing a file that a user can mend into one line that says how.

    Parameters
    ----------
    path : path-like
        The file.
    needed : float, optional
        Bytes that are still to be written.
    kept : str, optional
        What is not lost, in words.

    Raises
    ------
    InputError
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        path = Path(path)
        named = getattr(error, "filename", None)
        # another file was read meanwhile
        elsewhere = isinstance(named, str | os.PathLike) and path.parent not in (Path(named), Path(named).parent)
        explanation = None if elsewhere else explanation_of(error, path, needed)
        if explanation is None:
            raise
        message, remedy = explanation
        raise InputError(message, path=path, remedy=remedy + ("" if kept is None else f"; {kept}")) from error


def explanation_of(error, path, needed=None):
    """Say what is wrong and what to do.

    Parameters
    ----------
    error : OSError or RuntimeError
    path : path-like
        What could not be written.
    needed : float, optional
        Bytes that are still to be written.

    Returns
    -------
    tuple of str, or None
        Message and remedy; None where it is nothing that a user can mend.
    """
    told = _ERRNO.search(str(error))
    number = int(told[1]) if told else getattr(error, "errno", None)
    folder = Path(path).parent
    if number in _FULL:
        remedy = f"free {_amount(needed)}, or choose another folder"
        message = f"{os.strerror(number)}, {_left(folder)}"
    elif number in _CLOSED:
        message, remedy = os.strerror(number), f"allow writing in {folder}, or choose another folder"
    elif number in _OTHER:
        message, remedy = os.strerror(number), _OTHER[number]
    else:
        return None
    return f"cannot be written: {message}", remedy


def _amount(needed):
    return "some space" if needed is None else f"about {max(needed / 1e6, 1):,.0f} MB"


def _left(folder):
    try:
        found = os.statvfs(folder)
    except OSError:
        return "nothing is free there"
    return f"{found.f_bavail * found.f_frsize / 1e6:,.1f} MB are free there"
