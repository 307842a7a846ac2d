"""Artifacts: HDF5 files that are there whole or not at all, and say what made them."""

import contextlib
import functools
import hashlib
import json
import os
import re
import tempfile
import time
from pathlib import Path

import h5py

from ovaflow import __version__
from ovaflow.console.errors import InputError
from ovaflow.machine.stopping import at_stop
from ovaflow.storage.writing import explained

PAGE = 4096
FORMAT_VERSION = 1

_PROCESS_START = time.time()


@contextlib.contextmanager
def write_atomically(path):
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
def _removed(temporary):
    """A file that is gone in the end, however that comes."""
    remove = functools.partial(temporary.unlink, missing_ok=True)
    try:
        with at_stop(remove):
            yield temporary
    finally:
        remove()


def _remove_stale(path):
    # what a live process writes at the same time is younger than this one; were it not, its rename would fail
    stale = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}\.partial")
    for found in path.parent.iterdir():
        if stale.fullmatch(found.name):
            with contextlib.suppress(FileNotFoundError):
                if found.stat().st_mtime < _PROCESS_START:
                    found.unlink()


def _sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_text(path, text):
    """Write a text file whole or not at all.

    Parameters
    ----------
    path : path-like
    text : str
    """
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def create_artifact(path, kind, parameters=None, inputs=None):
    """Write an artifact.

    Parameters
    ----------
    path : path-like
    kind : str
        What it is, such as ``"means"``; readers ask for it by this name.
    parameters : dict, optional
        The settings that made it, JSON-able.
    inputs : dict of str to str, optional
        Checksum of each artifact it was made from, by kind.

    Yields
    ------
    h5py.File
        Open for writing; datasets are contiguous and page-aligned. The
        content's checksum is added when the block ends.
    """
    with write_atomically(path) as temporary:
        with h5py.File(temporary, "w", alignment_threshold=PAGE, alignment_interval=PAGE) as file:
            yield file
            file.attrs["kind"] = kind
            file.attrs["format_version"] = FORMAT_VERSION
            file.attrs["ovaflow_version"] = __version__
            file.attrs["parameters"] = json.dumps(parameters or {}, sort_keys=True)
            file.attrs["inputs"] = json.dumps(inputs or {}, sort_keys=True)
            file.attrs["checksum"] = content_checksum(file)


def content_checksum(file):
    """Hash of everything an artifact holds: names, shapes, dtypes, values and attributes.

    Parameters
    ----------
    file : h5py.File

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    digest = hashlib.blake2b(digest_size=16)

    def add(name, item):
        for key in sorted(item.attrs):
            if key != "checksum":
                digest.update(f"{name}@{key}={item.attrs[key]!r}\n".encode())
        if isinstance(item, h5py.Dataset):
            digest.update(f"{name} {item.dtype.str} {item.shape}\n".encode())
            _add_values(digest, item)

    add("/", file)
    file.visititems(add)
    return digest.hexdigest()


def _add_values(digest, dataset, block=1 << 22):
    if dataset.ndim == 0:
        digest.update(memoryview(dataset[()].tobytes()))
        return
    for start in range(0, len(dataset), block):
        digest.update(memoryview(dataset[start : start + block]).cast("B"))


@contextlib.contextmanager
def open_artifact(path, kind, verify=False):
    """Open an artifact for reading.

    Parameters
    ----------
    path : path-like
    kind : str
        What the file must be.
    verify : bool
        Also read the whole content and compare its checksum.

    Yields
    ------
    h5py.File

    Raises
    ------
    InputError
        If the file is missing, is no artifact of this kind, has a format of
        another version, lacks what is asked of it, or (``verify``) its content
        has changed.
    """
    try:
        file = h5py.File(path, "r")
    except FileNotFoundError:
        raise InputError(
            "no such file", path=path, remedy=f"give the path of a {kind} file; runs write theirs below results/"
        ) from None
    except OSError as error:
        raise InputError(f"not a readable HDF5 file ({error})", path=path, remedy="delete it and run again") from None
    with file:
        found = file.attrs.get("kind")
        if found != kind:
            raise InputError(f"expected {kind}, found {found or 'a foreign HDF5 file'}", path=path)
        if file.attrs.get("format_version") != FORMAT_VERSION:
            raise InputError(
                f"format version {file.attrs.get('format_version')}, this ovaflow reads {FORMAT_VERSION}",
                path=path,
                remedy="delete it and run again",
            )
        if verify and content_checksum(file) != file.attrs.get("checksum"):
            raise InputError(
                "damaged: its content does not match its checksum", path=path, remedy="delete it and run again"
            )
        try:
            yield file
        except KeyError as error:
            raise InputError(
                f"incomplete {kind} ({error.args[0]})", path=path, remedy="delete it and run again"
            ) from None


def checksum_of(file):
    """Checksum that an open artifact carries.

    Parameters
    ----------
    file : h5py.File

    Returns
    -------
    str
    """
    return str(file.attrs["checksum"])


def parameters_of(file):
    """Settings that made an open artifact.

    Parameters
    ----------
    file : h5py.File

    Returns
    -------
    dict
    """
    return json.loads(file.attrs["parameters"])


def inputs_of(file):
    """Checksums of what an open artifact was made from, by kind.

    Parameters
    ----------
    file : h5py.File

    Returns
    -------
    dict of str to str
    """
    return json.loads(file.attrs["inputs"])
