"""A pack: a zip of all files that a model needs, with their SHA-256 in its last file."""

import contextlib
import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from ovaflow.console.errors import InputError
from ovaflow.storage.opening import open_regular
from ovaflow.storage.writing import create_temporary_folder, write_atomically

CHECKSUMS_NAME = "SHA256SUMS"
"""Name of the last file, which ``sha256sum -c`` reads."""

_TIME = (1980, 1, 1, 0, 0, 0)
"""Time of all files, the first that a zip can hold: so equal files give equal packs."""

_PERMISSIONS = 0o100644 << 16
"""A regular file that all can read, as zip has it."""

_BLOCK_BYTES = 1 << 20
"""Files are copied in blocks of this size."""

# zipfile raises NotImplementedError for kinds of compression and encryption that it does not know
_READ_ERRORS = (EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def write_pack(path: Path, files: Mapping[str, Path | bytes]) -> None:
    """Pack files, each a path or bytes, by their names in the pack."""
    checksums = ""
    with write_atomically(path) as temporary, zipfile.ZipFile(temporary, "w") as pack:
        for name, content in files.items():
            checksums += f"{_add(pack, name, content)}  {name}\n"
        _add(pack, CHECKSUMS_NAME, checksums.encode())


def _add(pack: zipfile.ZipFile, name: str, content: Path | bytes) -> str:
    """Add a file to a pack, and return its SHA-256."""
    entry = zipfile.ZipInfo(name, _TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = _PERMISSIONS
    with BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as source:
        # tells whether the entry needs the zip format for more than 2 GB
        entry.file_size = source.seek(0, os.SEEK_END)
        source.seek(0)
        with pack.open(entry, "w") as target:
            return _copy(source, target)


def _copy(source: IO[bytes], target: IO[bytes]) -> str:
    """Copy a file, and return its SHA-256."""
    digest = hashlib.sha256()
    while block := source.read(_BLOCK_BYTES):
        digest.update(block)
        target.write(block)
    return digest.hexdigest()


def unpack(path: Path, folder: Path) -> list[str]:
    """Write the files of a pack into a new folder, all or none.

    Returns
    -------
    list of str
        Names of the files.

    Raises
    ------
    InputError
        If the folder exists, or the pack is missing, damaged or would write outside the folder.
    """
    if os.path.lexists(folder):
        raise InputError("exists", path=folder, remedy="remove it, or give another --output")
    with _open(path) as pack:
        checksums = _read_checksums(pack, path)
        with create_temporary_folder(folder) as temporary:
            unpacked = temporary / folder.name
            for name, checksum in checksums.items():
                target = unpacked / name
                target.parent.mkdir(parents=True, exist_ok=True)
                if not _extract(pack, name, target, checksum):
                    message = f"{name} is damaged (it does not match its SHA-256)"
                    raise _make_damage_error(path, message)
            (unpacked / CHECKSUMS_NAME).write_bytes(pack.read(CHECKSUMS_NAME))
            unpacked.rename(folder)
    return [*checksums, CHECKSUMS_NAME]


@contextlib.contextmanager
def _open(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as pack:
            yield pack
    except FileNotFoundError as error:
        if error.filename != str(path):
            raise
        raise InputError(
            "no such file", path=path, remedy="give the output of ovaflow pack"
        ) from None
    except zipfile.BadZipFile:
        raise _make_damage_error(path, "not a pack, or cut short") from None


def _make_damage_error(path: Path, message: str) -> InputError:
    return InputError(message, path=path, remedy="copy or download it again")


def _read_checksums(pack: zipfile.ZipFile, path: Path) -> dict[str, str]:
    """Read the SHA-256 of each file, by name.

    Raises
    ------
    InputError
        If the pack has other files, or one would be outside its folder.
    """
    try:
        lines = pack.read(CHECKSUMS_NAME).decode().splitlines()
    except (KeyError, UnicodeDecodeError, *_READ_ERRORS):
        message = f"not a pack: {CHECKSUMS_NAME} is missing or damaged"
        raise _make_damage_error(path, message) from None
    checksums = {}
    for line in lines:
        checksum, _, name = line.partition("  ")
        checksums[name] = checksum
    if sorted([*checksums, CHECKSUMS_NAME]) != sorted(pack.namelist()):
        raise _make_damage_error(path, f"its files are not those of {CHECKSUMS_NAME}")
    for name in checksums:
        relative = PurePosixPath(name)
        if relative.is_absolute() or ".." in relative.parts or "\\" in name:
            remedy = "do not use it: ovaflow did not write it"
            raise InputError(f"{name!r} would lie outside the folder", path=path, remedy=remedy)
    return checksums


def _extract(pack: zipfile.ZipFile, name: str, target: Path, checksum: str) -> bool:
    """Extract a file, and return True if it matches its SHA-256."""
    try:
        with pack.open(name) as source, open(target, "wb") as file:
            return _copy(source, file) == checksum
    except _READ_ERRORS:
        return False
