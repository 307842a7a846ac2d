"""Text artifacts: JSON and tables that a later step reads, with a checksum of their content."""

import json
from collections.abc import Iterable
from typing import Any

from ovaflow.console.errors import InputError, StrPath
from ovaflow.storage.errors import (
    describe_producer,
    kind_error,
    read_error,
    remaking_remedy,
    stale_error,
)
from ovaflow.storage.opening import open_regular
from ovaflow.storage.writing import write_text

CHECKSUM_KEY = "checksum"
"""Key of the checksum in a JSON object, its last one."""

_DESCRIBED = " of "
"""Text between a checksum and that of the artifact which the content describes."""

_CHECKSUM_COMMENT = f"# {CHECKSUM_KEY} "
"""Begin of a table's last line, which has the checksum."""


def write_json(
    path: StrPath, kind: str, content: dict[str, Any], *, described: str | None = None
) -> None:
    """Write a JSON object, its checksum last.

    Parameters
    ----------
    path : path-like
        File to write.
    kind : str
        Kind of the artifact, such as ``metrics``.
    content : dict
        Values that JSON can hold; numbers must be finite.
    described : str, optional
        Checksum of the artifact that the content describes, such as a model.

    Raises
    ------
    InputError
        If a number is not finite.
    """
    sealed = content | {CHECKSUM_KEY: _compute_checksum(kind, content, described)}
    try:
        text = json.dumps(sealed, indent=1, allow_nan=False)
    except ValueError as error:
        message = f"not written: a number is not finite ({error})"
        remedy = "look at the logs of earlier steps, and lower C if training diverged"
        raise InputError(message, path=path, remedy=remedy) from None
    write_text(path, text + "\n")


def read_json(path: StrPath, kind: str, described: str | None = None) -> dict[str, Any]:
    """Read what :func:`write_json` wrote, without the checksum.

    Parameters
    ----------
    path : path-like
        File to read.
    kind : str
        Kind of the artifact, such as ``metrics``.
    described : str, optional
        Checksum of the artifact that the content must describe, if it describes one.

    Returns
    -------
    content : dict
        The object.

    Raises
    ------
    InputError
        If the file is missing, is of another kind, was edited, or describes another artifact.
    """
    text = _read_text(path, kind)
    try:
        content = json.loads(text)
        checksum = content.pop(CHECKSUM_KEY)
        described_by_file = checksum.partition(_DESCRIBED)[2] or None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise kind_error(kind, path) from None
    if checksum != _compute_checksum(kind, content, described_by_file):
        raise _change_error(path, kind)
    if None not in (described, described_by_file) and described != described_by_file:
        raise stale_error(kind, path, "it describes another model")
    return content


def _compute_checksum(kind: str, content: dict[str, Any], described: str | None) -> str:
    end = "" if described is None else f"{_DESCRIBED}{described}"
    return _compute_digest(kind, json.dumps(content, sort_keys=True) + end) + end


def _compute_digest(kind: str, text: str) -> str:
    # imported here: Snakemake imports this module, perhaps in a Python without it
    from xxhash import xxh3_128

    return xxh3_128(f"{kind}\n{text}".encode()).hexdigest()


def write_lines(path: StrPath, kind: str, lines: Iterable[str]) -> None:
    """Write a table, with its checksum in a comment at the end."""
    text = "\n".join(lines) + "\n"
    write_text(path, f"{text}{_CHECKSUM_COMMENT}{_compute_digest(kind, text)}\n")


def read_lines(path: StrPath, kind: str) -> list[str]:
    """Read the lines that :func:`write_lines` wrote; InputError if the file was edited."""
    content, comment, checksum = _read_text(path, kind).rpartition(_CHECKSUM_COMMENT)
    if not comment:
        raise kind_error(kind, path)
    if checksum != _compute_digest(kind, content) + "\n":
        raise _change_error(path, kind)
    return content.split("\n")[:-1]


def _read_text(path: StrPath, kind: str) -> str:
    try:
        with open_regular(path) as file:
            return file.read().decode("utf-8")
    except FileNotFoundError:
        remedy = f"make it first{describe_producer(kind)}"
        raise InputError("no such file", path=path, remedy=remedy) from None
    except UnicodeDecodeError:
        raise kind_error(kind, path) from None
    except OSError as error:
        raise read_error(path, error) from None


def _change_error(path: StrPath, kind: str) -> InputError:
    message = "damaged, or edited by hand (its content does not match its checksum)"
    return InputError(message, path=path, remedy=remaking_remedy(kind))
