"""A pack: a zip of all that a model needs, whose last file lists the SHA-256 of the others."""

import contextlib
import hashlib
import os
import zipfile
import zlib
from io import BytesIO
from pathlib import PurePosixPath

from ovaflow.console.errors import InputError
from ovaflow.storage.opening import open_regular
from ovaflow.storage.writing import create_temporary_folder, write_atomically

CHECKSUMS_NAME = "SHA256SUMS"
"""Name of the last file, which ``sha256sum -c`` reads."""

# the first time that a zip can hold; no real ones, so that equal files give equal packs
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o100644 << 16
_PIECE = 1 << 20

# zipfile raises NotImplementedError for kinds of compression and encryption that it does not know
_UNREADABLE = (EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def write_pack(path, files) -> None:
    """Pack files, each a path or bytes, by their names in the pack."""
    sums = ""
    with write_atomically(path) as temporary, zipfile.ZipFile(temporary, "w") as pack:
        for name, content in files.items():
            sums += f"{_add(pack, name, content)}  {name}\n"
        _add(pack, CHECKSUMS_NAME, sums.encode())


def _add(pack, name, content):
    """Add a file; returns its SHA-256."""
    entry = zipfile.ZipInfo(name, _EARLIEST)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = _READABLE
    with BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as source:
        # tells whether the entry needs the zip format for more than 2 GB
        entry.file_size = source.seek(0, os.SEEK_END)
        source.seek(0)
        with pack.open(entry, "w") as target:
            return _copy(source, target)


def _copy(source, target):
    digest = hashlib.sha256()
    while piece := source.read(_PIECE):
        digest.update(piece)
        target.write(piece)
    return digest.hexdigest()


def unpack(path, folder):
    """Write the files of a pack into a new folder, all or none; returns their names."""
    if os.path.lexists(folder):
        raise InputError("exists", path=folder, remedy="remove it, or give another --output")
    with _open(path) as pack:
        sums = _read_sums(pack, path)
        with create_temporary_folder(folder) as partial:
            for name, digest in sums.items():
                target = partial / folder.name / name
                target.parent.mkdir(parents=True, exist_ok=True)
                _extract(pack, path, name, target, digest)
            (partial / folder.name / CHECKSUMS_NAME).write_bytes(pack.read(CHECKSUMS_NAME))
            (partial / folder.name).rename(folder)
    return [*sums, CHECKSUMS_NAME]


@contextlib.contextmanager
def _open(path):
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
        raise _damage(path, "not a pack, or cut short") from None


def _damage(path, message):
    return InputError(message, path=path, remedy="copy or download it again")


def _read_sums(pack, path):
    """SHA-256 of each file, by name; all that the pack holds, and none outside the folder."""
    try:
        lines = pack.read(CHECKSUMS_NAME).decode().splitlines()
    except (KeyError, UnicodeDecodeError, *_UNREADABLE):
        raise _damage(path, f"not a pack: {CHECKSUMS_NAME} is missing or damaged") from None
    sums = {}
    for line in lines:
        digest, _, name = line.partition("  ")
        sums[name] = digest
    if sorted([*sums, CHECKSUMS_NAME]) != sorted(pack.namelist()):
        raise _damage(path, f"its files are not those of {CHECKSUMS_NAME}")
    for name in sums:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or "\\" in name:
            remedy = "do not use it: no ovaflow wrote it"
            raise InputError(f"{name!r} would lie outside the folder", path=path, remedy=remedy)
    return sums


def _extract(pack, path, name, target, digest) -> None:
    try:
        with pack.open(name) as source, open(target, "wb") as file:
            intact = _copy(source, file) == digest
    except _UNREADABLE:
        intact = False
    if not intact:
        raise _damage(path, f"{name} is damaged (it does not match its SHA-256)")
