"""Artifacts: HDF5 files that are there whole or not at all, and say what made them."""

import contextlib
import functools
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

from ovaflow import __version__
from ovaflow.console.errors import InputError, StrPath
from ovaflow.machine.stopping import at_stop
from ovaflow.storage.container import FORMAT_VERSION, PAGE, Artifact, Damaged, Placed, seal
from ovaflow.storage.remedies import made_by
from ovaflow.storage.steady import steadily
from ovaflow.storage.writing import explained

_PROCESS_START = time.time()


@contextlib.contextmanager
def write_atomically(path: StrPath) -> Iterator[Path]:
    """Write a file under a temporary name beside its own, then sync and rename it.

    Temporary files that killed processes left of the same file are removed.

    Parameters
    ----------
    path : path-like
        Where the finished file shall stand.

    Yields
    ------
    pathlib.Path
        The temporary name; whatever stands there when the block ends without
        an error becomes the file.
    """
    path = Path(path)
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(path)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
        os.close(handle)
        with _removed(Path(name)) as temporary:
            yield temporary
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
            _sync(temporary)
            temporary.replace(path)
            _sync(path.parent)


@contextlib.contextmanager
def _removed(temporary: Path) -> Iterator[Path]:
    """A file that is gone in the end, however that comes."""
    remove = functools.partial(temporary.unlink, missing_ok=True)
    try:
        with at_stop(remove):
            yield temporary
    finally:
        remove()


def _remove_stale(path: Path) -> None:
    # what a live process writes at the same time is younger than this one; were it not, its rename would fail
    stale = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}\.partial")
    for found in path.parent.iterdir():
        if stale.fullmatch(found.name):
            with contextlib.suppress(FileNotFoundError):
                if found.stat().st_mtime < _PROCESS_START:
                    found.unlink()


def _sync(path: StrPath) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_text(path: StrPath, text: str) -> None:
    """Write a text file whole or not at all.

    Parameters
    ----------
    path : path-like
    text : str
    """
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def create_artifact(
    path: StrPath,
    kind: str,
    parameters: dict[str, Any] | None = None,
    inputs: dict[str, str] | None = None,
    infinite: Collection[str] = (),
) -> Iterator[Any]:
    """Write an artifact; see :mod:`ovaflow.storage.container` for how it lies on disk.

    Parameters
    ----------
    path : path-like
    kind : str
        What it is, such as ``"means"``; readers ask for it by this name.
    parameters : dict, optional
        The settings that made it, JSON-able.
    inputs : dict of str to str, optional
        Checksum of each artifact it was made from, by kind.
    infinite : collection of str
        Names of arrays in which infinity has a meaning.

    Yields
    ------
    h5py.File
        Open for writing; datasets are contiguous and page-aligned. Checksums
        are added when the block ends.

    Raises
    ------
    InputError
        If an array holds nan, or infinity and is not named.
    """
    # here alone: what only reads starts sooner without it
    import h5py

    about: dict[str, Any] = {
        "kind": kind,
        "ovaflow_version": __version__,
        "parameters": parameters or {},
        "inputs": inputs or {},
    }
    with write_atomically(path) as temporary:
        layout = {"userblock_size": PAGE, "alignment_threshold": PAGE, "alignment_interval": PAGE}
        with steadily(temporary) as steady, h5py.File(steady, "w", **layout) as file:
            yield file
            # for other programs: ovaflow reads them from the table of contents
            told = {name: json.dumps(about[name], sort_keys=True) for name in ("parameters", "inputs")}
            told = about | told | {"format_version": FORMAT_VERSION}
            file.attrs.update(told)
            file.flush()
            groups, arrays = _contents(file, told)
        try:
            seal(temporary, about | {"groups": groups}, arrays, infinite)
        except Damaged as error:
            raise InputError(
                f"not written: {error}", path=path, remedy="look at the logs of the steps before, or lower C"
            ) from None


def _contents(file: Any, known: Collection[str]) -> tuple[dict[str, dict[str, Any]], list[Placed]]:
    """Attributes of each group, and the arrays."""
    groups, arrays = {"": _attributes(file, known)}, list[Placed]()

    def add(name: str, item: Any) -> None:
        if not hasattr(item, "dtype"):
            groups[name] = _attributes(item, ())
        elif item.size:
            arrays.append(Placed(name, item.dtype, item.shape, item.id.get_offset()))
        else:
            arrays.append(Placed(name, item.dtype, item.shape, 0))

    file.visititems(add)
    return groups, arrays


def _attributes(item: Any, known: Collection[str]) -> dict[str, Any]:
    values = ((name, item.attrs[name]) for name in sorted(item.attrs) if name not in known)
    return {name: value if isinstance(value, str) else value.item() for name, value in values}


@contextlib.contextmanager
def open_artifact(path: StrPath, kind: str, known: str | None = None) -> Iterator[Any]:
    """Open an artifact for reading.

    Parameters
    ----------
    path : path-like
    kind : str
        What the file must be.
    known : str, optional
        Checksum of a file that this process has read already: of the same one
        arrays that are mapped again are not compared again.

    Yields
    ------
    Stored

    Raises
    ------
    InputError
        If the file is missing, is no artifact of this kind, has a format of
        another version, lacks what is asked of it, or is damaged.
    """
    with _opened(path, kind) as handle:
        file = Artifact(handle, path, kind, known).whole
        found = file.contents["kind"]
        if found != kind:
            raise InputError(f"expected {kind}, found {found}", path=path)
        try:
            yield file
        except KeyError as error:
            raise file.damaged(f"{error.args[0]} is missing") from None


@contextlib.contextmanager
def _opened(path: StrPath, kind: str) -> Iterator[IO[bytes]]:
    try:
        # what is no file, such as a pipe, could be waited for without end
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InputError("not a file", path=path, remedy="give the path of a file")
        handle = open(path, "rb", buffering=0)  # noqa: SIM115
    except FileNotFoundError:
        maker = made_by(kind)
        remedy = f"give the path of a {kind} file{f' ({maker})' if maker else ''}; runs write theirs below results/"
        raise InputError("no such file", path=path, remedy=remedy) from None
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", path=path, remedy="look at its permissions, or give another file"
        ) from None
    with handle:
        yield handle


def checksum_of(file: Any) -> str:
    """Checksum that an open artifact carries.

    Parameters
    ----------
    file : Stored

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    return file.checksum


def parameters_of(file: Any) -> dict[str, Any]:
    """Settings that made an open artifact.

    Parameters
    ----------
    file : Stored

    Returns
    -------
    dict
    """
    return file.contents["parameters"]


def inputs_of(file: Any) -> dict[str, str]:
    """Checksums of what an open artifact was made from, by kind.

    Parameters
    ----------
    file : Stored

    Returns
    -------
    dict of str to str
    """
    return file.contents["inputs"]


def require_input(file: Any, kind: str, checksum: str | None) -> None:
    """Refuse an artifact that was made from something else.

    Parameters
    ----------
    file : Stored
    kind : str
        Of the artifact that it must have been made from.
    checksum : str or None
        Of that artifact; None: any.

    Raises
    ------
    InputError
    """
    if checksum is not None and inputs_of(file).get(kind) != checksum:
        maker = made_by(file.contents["kind"])
        again = f"make it again ({maker})" if maker else "make it again"
        raise InputError(f"stale: made from another {kind} file", path=file.path, remedy=again)
