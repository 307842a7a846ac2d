"""Artifacts: HDF5 files as h5py writes and reads them, with checksums, settings and the checksums
of their inputs as attributes.

HDF5's own checksums guard its metadata, the attribute ``xxh3`` of an array guards its values, and
``checksum`` of the file covers all attributes, and by these all arrays. Opening a file compares the
last one; reading an array compares the array's own.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np
from xxhash import xxh3_128

from ovaflow import __version__
from ovaflow.console.errors import InputError, StrPath
from ovaflow.storage.arrays import (
    PAGE_BYTES,
    NotFiniteError,
    read_attribute_bytes,
    read_or_map,
    require_space,
    seal_array,
)
from ovaflow.storage.errors import (
    damage_error,
    kind_error,
    read_error,
    read_text_attribute,
    remaking_remedy,
)
from ovaflow.storage.opening import open_regular
from ovaflow.storage.writing import write_atomically

FORMAT_VERSION = 3
"""Version of the layout of all artifacts; files of another version are refused."""

# of HDF5 1.10: all its metadata carry checksums, and h5dump of any version in use reads it
_LAYOUT = {
    "libver": ("v110", "v110"),
    "alignment_threshold": PAGE_BYTES,
    "alignment_interval": PAGE_BYTES,
}

# what h5py raises where metadata are missing or damaged
_UNREADABLE = (KeyError, OSError, RuntimeError, ValueError)


@contextlib.contextmanager
def create_artifact(
    path: StrPath,
    kind: str,
    parameters: dict[str, Any] | None = None,
    inputs: dict[str, str] | None = None,
) -> Iterator[h5py.File]:
    """Write an artifact, completely or not at all; the same content gives the same bytes.

    Parameters
    ----------
    path : path-like
        File to write.
    kind : str
        Kind of the artifact, such as ``model``.
    parameters : dict, optional
        Settings that made the artifact; values that JSON can hold.
    inputs : dict, optional
        Checksums of the artifacts that it was made from, by kind.

    Yields
    ------
    file : h5py.File
        The new file. Arrays are added by :func:`~ovaflow.storage.arrays.create_array`, finite
        numbers as attributes.

    Raises
    ------
    InputError
        If a number is not finite, or the file cannot be written.
    """
    header = {
        "kind": kind,
        "ovaflow_version": __version__,
        "parameters": _format_json(path, parameters),
        "inputs": _format_json(path, inputs),
    }
    with write_atomically(path) as temporary:
        with h5py.File(temporary, "w", locking=False, **_LAYOUT) as file:
            try:
                require_space(file, sum(len(value) for value in header.values()))
                file.attrs["format_version"] = FORMAT_VERSION
                for name, value in header.items():
                    # of fixed length: HDF5 has no checksums for texts of variable length
                    file.attrs[name] = np.bytes_(value)
                yield file
                _seal(path, file)
                require_space(file, 0)
                file.flush()
            except NotFiniteError as error:
                raise _write_error(path, str(error)) from None
            except (OSError, RuntimeError):
                # HDF5 crashes if it cannot write its metadata when the file is closed
                os.truncate(temporary, 0)
                raise


def _format_json(path: StrPath, settings: dict[str, Any] | None) -> str:
    try:
        return json.dumps(settings or {}, sort_keys=True, allow_nan=False)
    except ValueError:
        raise _write_error(path, "a number among its settings is not finite") from None


def _seal(path: StrPath, file: h5py.File) -> None:
    file.flush()

    def seal(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and "xxh3" not in item.attrs:
            values, _ = read_or_map(item)
            seal_array(item, values)

    file.visititems(seal)
    numbers = [value for value in file.attrs.values() if isinstance(value, float)]
    if not np.isfinite(numbers).all():
        raise _write_error(path, "a number among its attributes is not finite")
    file.attrs["checksum"] = np.bytes_(_compute_checksum(file))


def _write_error(path: StrPath, message: str) -> InputError:
    remedy = "look at the logs of earlier steps, or lower C"
    return InputError(f"not written: {message}", path=path, remedy=remedy)


def _compute_checksum(file: h5py.File) -> str:
    """Compute the checksum of all attributes, including those of the arrays."""
    digest = xxh3_128()

    def add(name: bytes) -> None:
        item = h5py.h5o.open(file.id, name)
        digest.update(b"%s\n" % name)
        for index in range(h5py.h5a.get_num_attrs(item)):
            attribute = h5py.h5a.open(item, index=index)
            if attribute.name != b"checksum":
                digest.update(b"%s %s\n" % (attribute.name, read_attribute_bytes(attribute)))

    add(b".")
    h5py.h5o.visit(file.id, add)
    return digest.hexdigest()


@contextlib.contextmanager
def open_artifact(path: StrPath, kind: str) -> Iterator[h5py.File]:
    """Open an artifact for reading.

    Parameters
    ----------
    path : path-like
        File to open.
    kind : str
        Kind that the file must be of.

    Yields
    ------
    file : h5py.File
        The open file.

    Raises
    ------
    InputError
        If the file is missing, damaged or of another kind, or lacks an array that the block reads.
    """
    with _open_file(path, kind) as file:
        _check(file, path, kind)
        try:
            yield file
        except KeyError as error:
            raise damage_error(file, error.args[0]) from None


def _open_file(path: StrPath, kind: str) -> h5py.File:
    try:
        open_regular(path).close()
        return h5py.File(path, "r", locking=False)
    except FileNotFoundError:
        raise kind_error(kind, path, "no such file") from None
    except OSError as error:
        if not error.errno:
            raise kind_error(kind, path) from None
        raise read_error(path, error) from None


def read_kind(path: StrPath, *kinds: str) -> str:
    """Read the kind of a file, one of ``kinds``.

    The first kind is returned for a file of none of them: :func:`open_artifact` then refuses it.
    """
    with _open_file(path, kinds[0]) as file:
        try:
            kind = read_text_attribute(file, "kind")
        except _UNREADABLE:
            return kinds[0]
    return kind if kind in kinds else kinds[0]


def _check(file: h5py.File, path: StrPath, kind: str) -> None:
    try:
        kind_of_file = read_text_attribute(file, "kind")
        version = file.attrs["format_version"]
    except _UNREADABLE:
        raise kind_error(kind, path) from None
    if kind_of_file != kind:
        raise kind_error(kind, path, f"expected {kind}, found {kind_of_file}")
    if version != FORMAT_VERSION:
        message = f"format version {version}, but this ovaflow reads {FORMAT_VERSION}"
        raise InputError(message, path=path, remedy=remaking_remedy(kind))
    try:
        intact = _compute_checksum(file) == read_checksum(file)
    except _UNREADABLE as error:
        raise damage_error(file, error.args[0]) from None
    if not intact:
        raise damage_error(file, "its attributes do not match their checksum")


def read_checksum(file: h5py.File) -> str:
    """Read the checksum of an open artifact: 32 hexadecimal digits."""
    return read_text_attribute(file, "checksum")


def read_parameters(file: h5py.File) -> dict[str, Any]:
    """Read the settings that made an open artifact."""
    return json.loads(read_text_attribute(file, "parameters"))


def read_inputs(file: h5py.File) -> dict[str, str]:
    """Read the checksums of the artifacts that an open one was made from, by kind."""
    return json.loads(read_text_attribute(file, "inputs"))
