"""Writing of files: completely or not at all, with an error of one line on failure."""

import contextlib
import csv
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ovaflow.console.errors import InputError, StrPath

SPREADSHEET_FORMULA = re.compile(
    r"\s*(?:[=@＝＋－＠]|[+-](?!(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?\Z))"
)
"""Begin of a text that spreadsheets take for a formula, unlike a number with a sign."""

_PROCESS_START = time.time()
"""Time from which on temporary files are of this process, or of one that may still run."""

_FREE_SPACE = "free some space, or choose another folder"
_ALLOW_WRITING = "allow writing in {folder}, or choose another folder"

_REMEDIES = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EACCES: _ALLOW_WRITING,
    errno.EPERM: _ALLOW_WRITING,
    errno.EROFS: _ALLOW_WRITING,
    errno.EFBIG: "files may not be that large here (ulimit -f); raise the limit, "
    "or choose another folder",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOTDIR: "a part of the path is a file; choose another folder",
    errno.EISDIR: "this is a folder; choose another name",
}
"""What a user can do about an error of the system, by its number."""

# h5py gives the number of an error only in its message
_ERRNO = re.compile(r"errno = (\d+)")


@contextlib.contextmanager
def write_atomically(path: StrPath) -> Iterator[Path]:
    """Yield a temporary path; its file is synced and renamed unless the block fails."""
    path = Path(path)
    with explain_write_errors(path):
        temporary = _make_temporary_path(path)
        temporary.touch(exist_ok=False)
        try:
            yield temporary
            _sync(temporary)
            temporary.replace(path)
            _sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def create_temporary_folder(path: StrPath) -> Iterator[Path]:
    """Yield a temporary folder next to a path, which is removed when the block ends."""
    with explain_write_errors(path):
        folder = _make_temporary_path(Path(path))
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def write_text(path: StrPath, text: str) -> None:
    """Write a text as UTF-8."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_csv(path: StrPath, rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of texts and numbers as CSV."""
    with (
        write_atomically(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        for row in rows:
            writer.writerow([to_csv_cell(value) for value in row])


def to_csv_cell(value: Any) -> Any:
    """Convert a text or number to a cell of CSV.

    A text that spreadsheets take for a formula gets an apostrophe.
    """
    if isinstance(value, str) and SPREADSHEET_FORMULA.match(value):
        return f"'{value}"
    return value


def from_csv_cell(cell: str) -> str:
    """Return the text that :func:`to_csv_cell` wrote."""
    if cell.startswith("'") and SPREADSHEET_FORMULA.match(cell[1:]):
        return cell[1:]
    return cell


def _make_temporary_path(path: Path) -> Path:
    """Make a new name next to a path.

    Temporary files that killed processes left there, which are older than this process, are
    removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    name = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}\.partial")
    for neighbour in path.parent.iterdir():
        if name.fullmatch(neighbour.name):
            with contextlib.suppress(FileNotFoundError):
                is_stale = neighbour.stat().st_mtime < _PROCESS_START
                if is_stale and neighbour.is_dir():
                    shutil.rmtree(neighbour)
                elif is_stale:
                    neighbour.unlink()
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def explain_write_errors(path: StrPath) -> Iterator[None]:
    """Turn errors of writing a file that a user can fix into one line that says how."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        explanation = explain_write_error(error, path)
        if explanation is None or _is_about_another_file(error, path):
            raise
        message, remedy = explanation
        raise InputError(message, path=path, remedy=remedy) from error


def _is_about_another_file(error: Exception, path: StrPath) -> bool:
    """Return whether an error is about another file, such as an input that was read meanwhile."""
    name = getattr(error, "filename", None)
    if not isinstance(name, str | os.PathLike):
        return False
    return Path(path).parent not in (Path(name), Path(name).parent)


def explain_write_error(error: Exception, path: StrPath) -> tuple[str, str] | None:
    """Return a message and a remedy for an error; None for errors that a user cannot fix."""
    message = _ERRNO.search(str(error))
    number = int(message[1]) if message else getattr(error, "errno", None)
    if number not in _REMEDIES:
        return None
    remedy = _REMEDIES[number].format(folder=Path(path).parent)
    return f"cannot be written: {os.strerror(number)}", remedy
