"""Text artifacts: JSON and tables that a later step reads, with a checksum of their content."""

import json

from ovaflow.console.errors import InputError
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

_DESCRIBED = " of "
_COMMENT = f"# {CHECKSUM_KEY} "


def write_json(path, kind, content, of=None) -> None:
    """Write a JSON object, its checksum last; ``of`` is the checksum of the artifact that it
    describes.
    """
    try:
        text = json.dumps(
            content | {CHECKSUM_KEY: _checksum(kind, content, of)}, indent=1, allow_nan=False
        )
    except ValueError as error:
        remedy = "look at the logs of earlier steps, and lower C if training diverged"
        raise InputError(
            f"not written: a number is not finite ({error})", path=path, remedy=remedy
        ) from None
    write_text(path, text + "\n")


def read_json(path, kind, of=None):
    """Read what :func:`write_json` wrote, without the checksum; it must describe the artifact
    ``of``, if any.
    """
    text = _read(path, kind)
    try:
        content = json.loads(text)
        checksum = content.pop(CHECKSUM_KEY)
        described = checksum.partition(_DESCRIBED)[2] or None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise kind_error(kind, path) from None
    if checksum != _checksum(kind, content, described):
        raise _change_error(path, kind)
    if None not in (of, described) and of != described:
        raise stale_error(kind, path, "it describes another model")
    return content


def _checksum(kind, content, of):
    end = "" if of is None else f"{_DESCRIBED}{of}"
    return _digest(kind, json.dumps(content, sort_keys=True) + end) + end


def _digest(kind, text):
    # loaded here: Snakemake imports this module, perhaps in a Python without it
    from xxhash import xxh3_128

    return xxh3_128(f"{kind}\n{text}".encode()).hexdigest()


def write_lines(path, kind, lines) -> None:
    """Write a table, with its checksum in a comment at the end."""
    text = "\n".join(lines) + "\n"
    write_text(path, f"{text}{_COMMENT}{_digest(kind, text)}\n")


def read_lines(path, kind):
    content, comment, checksum = _read(path, kind).rpartition(_COMMENT)
    if not comment:
        raise kind_error(kind, path)
    if checksum != _digest(kind, content) + "\n":
        raise _change_error(path, kind)
    return content.split("\n")[:-1]


def _read(path, kind):
    try:
        with open_regular(path) as file:
            return file.read().decode("utf-8")
    except FileNotFoundError:
        raise InputError(
            "no such file", path=path, remedy=f"make it first{describe_producer(kind)}"
        ) from None
    except UnicodeDecodeError:
        raise kind_error(kind, path) from None
    except OSError as error:
        raise read_error(path, error) from None


def _change_error(path, kind):
    message = "damaged, or edited by hand (its content does not match its checksum)"
    return InputError(message, path=path, remedy=remaking_remedy(kind))
