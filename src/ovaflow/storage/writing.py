"""Files are written whole or not at all; one that cannot be written is an error of one line."""

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
"""How a text begins that is a formula to spreadsheets, unlike a number with a sign."""

_PROCESS_START = time.time()

_REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space, or choose another folder"),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS),
        "allow writing in {folder}, or choose another folder",
    ),
    errno.EFBIG: "files may not be that large here (ulimit -f); raise the limit, or choose another folder",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOTDIR: "a part of the path is a file; choose another folder",
    errno.EISDIR: "this is a folder; choose another name",
}

# h5py gives the reason in its message alone
_ERRNO = re.compile(r"errno = (\d+)")


@contextlib.contextmanager
def write_atomically(path: StrPath) -> Iterator[Path]:
    """Yield a temporary path; its file is synced and renamed when the block ends without an error."""
    path = Path(path)
    with explain_errors(path):
        temporary = _temporary(path)
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
    """Yield a folder next to a path, which is removed when the block ends."""
    with explain_errors(path):
        folder = _temporary(Path(path))
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def write_text(path: StrPath, text: str) -> None:
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_csv(path: StrPath, rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of texts and numbers."""
    with (
        write_atomically(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as file,
    ):
        csv.writer(file, lineterminator="\n").writerows(map(to_csv_cell, row) for row in rows)


def to_csv_cell(value: Any) -> Any:
    """A text or number as a cell of CSV; a text that is a formula to spreadsheets gets an
    apostrophe.
    """
    return f"'{value}" if isinstance(value, str) and SPREADSHEET_FORMULA.match(value) else value


def from_csv_cell(cell: str) -> str:
    """The text that :func:`cell_of` wrote."""
    return cell[1:] if cell.startswith("'") and SPREADSHEET_FORMULA.match(cell[1:]) else cell


def _temporary(path: Path) -> Path:
    """A new name next to a path; what killed processes left there, which is older than this
    process, is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    name = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}\.partial")
    for neighbour in path.parent.iterdir():
        if name.fullmatch(neighbour.name):
            with contextlib.suppress(FileNotFoundError):
                if neighbour.stat().st_mtime < _PROCESS_START:
                    remove = shutil.rmtree if neighbour.is_dir() else Path.unlink
                    remove(neighbour)
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def explain_errors(path: StrPath) -> Iterator[None]:
    """Turn those errors of writing a file that a user can fix into one line that says how."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        explanation = explain_error(error, path)
        if explanation is None or _about_another_file(error, path):
            raise
        raise InputError(explanation[0], path=path, remedy=explanation[1]) from error


def _about_another_file(error: Exception, path: StrPath) -> bool:
    """Whether reading an input failed meanwhile."""
    name = getattr(error, "filename", None)
    if not isinstance(name, str | os.PathLike):
        return False
    return Path(path).parent not in (Path(name), Path(name).parent)


def explain_error(error: Exception, path: StrPath) -> tuple[str, str] | None:
    """What is wrong and what to do; None for errors that a user cannot fix."""
    message = _ERRNO.search(str(error))
    number = int(message[1]) if message else getattr(error, "errno", None)
    if number not in _REMEDIES:
        return None
    remedy = _REMEDIES[number].format(folder=Path(path).parent)
    return f"cannot be written: {os.strerror(number)}", remedy
