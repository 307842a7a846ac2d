"""Text artifacts: JSON and tables that a later step reads, with a checksum of what they say."""

import json
from pathlib import Path

from xxhash import xxh3_128

from ovaflow.console.errors import InputError
from ovaflow.storage.artifact import write_text
from ovaflow.storage.remedies import made_by, remake

KEY = "checksum"

_OF = " of "

LARGEST = 1 << 26
"""Bytes of a JSON file; that of 35,116 labels has 10,000."""

_COMMENT = f"# {KEY} "


def write_json(path, kind, content, of=None):
    """Write a JSON object, its checksum last.

    Parameters
    ----------
    path : path-like
    kind : str
        What it is; one of another kind has another checksum.
    content : dict
    of : str, optional
        Checksum of the artifact that it tells of, which goes into its own.

    Raises
    ------
    InputError
        If a number in it is not finite.
    """
    try:
        text = json.dumps(content | {KEY: _checksum(kind, content, of)}, indent=1, allow_nan=False)
    except ValueError as error:
        raise InputError(
            f"not written: a number is not finite ({error})",
            path=path,
            remedy="look at the logs of the steps before, and lower C if training diverged",
        ) from None
    write_text(path, text + "\n")


def read_json(path, kind, of=None):
    """Read what :func:`write_json` wrote.

    Parameters
    ----------
    path : path-like
    kind : str
    of : str, optional
        Checksum of the artifact that it must tell of, if it says of which.

    Returns
    -------
    dict
        Without the checksum.

    Raises
    ------
    InputError
        If the file is missing, anything in it has changed, or it tells of another artifact.
    """
    try:
        content = json.loads(_read(path, kind))
        found = content.pop(KEY)
        told = found.partition(_OF)[2] or None
        fits = found == _checksum(kind, content, told)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged(path, kind, f"no {kind} with a checksum") from None
    if not fits:
        raise _damaged(path, kind, "its content does not match its checksum")
    if None not in (of, told) and of != told:
        again = f"make it again ({made_by(kind)})" if made_by(kind) else "make it again"
        raise InputError("stale: it tells of another model", path=path, remedy=again)
    return content


def _checksum(kind, content, of):
    end = "" if of is None else f"{_OF}{of}"
    return _digest(kind, json.dumps(content, sort_keys=True, allow_nan=False) + end) + end


def _digest(kind, text):
    return xxh3_128(f"{kind}\n{text}".encode()).hexdigest()


def write_lines(path, kind, lines):
    """Write a table, its checksum in a comment at the end.

    Parameters
    ----------
    path : path-like
    kind : str
    lines : iterable of str
    """
    text = "\n".join(lines) + "\n"
    write_text(path, f"{text}{_COMMENT}{_digest(kind, text)}\n")


def read_lines(path, kind):
    """Read what :func:`write_lines` wrote.

    Parameters
    ----------
    path : path-like
    kind : str

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        If the file is missing, or anything in it has changed.
    """
    text = _read(path, kind)
    said, comment, checksum = text.rpartition(_COMMENT)
    if not comment:
        raise _damaged(path, kind, "it does not end with its checksum")
    if checksum != _digest(kind, said) + "\n":
        raise _damaged(path, kind, "its content does not match its checksum")
    return said.split("\n")[:-1]


def _read(path, kind):
    path = Path(path)
    try:
        if not path.is_file() and path.exists():
            raise InputError("not a file", path=path, remedy="give the path of a file")
        if path.stat().st_size > LARGEST and kind != "plan":
            raise _damaged(path, kind, f"{path.stat().st_size:,} bytes")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise InputError("no such file", path=path, remedy=f"make it first ({made_by(kind) or kind})") from None
    except UnicodeDecodeError:
        raise _damaged(path, kind, "no UTF-8") from None
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", path=path, remedy="look at its permissions, or give another file"
        ) from None


def _damaged(path, kind, message):
    return InputError(f"damaged, or changed by hand ({message})", path=path, remedy=remake(kind))
