"""Zip and tar archives from strangers: only the wanted members come out, under names of our own."""

import bz2
import contextlib
import gzip
import lzma
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress

LARGEST_RATIO = 200
"""Unpacked over packed size beyond which an archive passes for a bomb; text packs 3 to 20 times."""
HARMLESS = 1 << 30
"""Bytes that may come out of an archive however small it is."""
MOST_MEMBERS = 1_000_000
"""Members of an archive, wanted or not."""
_BLOCK = 1 << 20
_DAMAGES = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError)


def extract(archive, wanted, folder, title=None):
    """Take some members out of a zip or tar archive (plain, gz, bz2 or xz).

    Nothing is written but the wanted members, under the given names. They
    appear together when all of them are complete.

    Parameters
    ----------
    archive : path-like
    wanted : dict of str to str
        For each file name in ``folder`` the end of the member's path:
        "train.txt" takes ".../train.txt" but not ".../my_train.txt".
    folder : path-like
        Made when missing; must not hold files of these names.
    title : str, optional
        How the archive is called in the progress line, its name by default.

    Raises
    ------
    InputError
        If the file is no such archive, is damaged or encrypted, lacks a wanted
        member or has several, has too many members or one with an absolute path or "..", a
        wanted member is a link or a device, or more comes out than
        ``LARGEST_RATIO`` and ``HARMLESS`` allow.
    """
    archive, folder = Path(archive), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    opener = _zip_members if _begins_as_zip(archive) else _tar_members
    allowed = max(HARMLESS, LARGEST_RATIO * archive.stat().st_size)
    with _undone_on_error(folder, wanted), _clear_damage(archive), opener(archive, allowed) as members:
        with Progress(f"unpack {title or archive.name}", 0, "bytes") as progress:
            _take(members, archive, wanted, folder, allowed, progress)


def _begins_as_zip(archive):
    # zipfile.is_zipfile looks at the end, where a tar may hold an .npz
    with open(archive, "rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


@contextlib.contextmanager
def _undone_on_error(folder, names):
    try:
        yield
    except BaseException:
        for name in names:
            (folder / name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _clear_damage(archive):
    try:
        yield
    except tarfile.ReadError as error:
        raise InputError(
            f"no zip or tar archive, or a damaged one ({error})",
            path=archive,
            remedy="look at where this archive comes from, and give another one",
        ) from None
    except _DAMAGES as error:
        # the disk's own errors carry a number, the archive's do not
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(
            f"damaged archive ({error or type(error).__name__})",
            path=archive,
            remedy="look at where this archive comes from, and give another one",
        ) from None


def _take(members, archive, wanted, folder, allowed, progress):
    taken, declared = set(), 0
    for number, member in enumerate(members, 1):
        if number > MOST_MEMBERS:
            raise InputError(
                f"has more than {MOST_MEMBERS:,} members",
                path=archive,
                remedy="look at where this archive comes from, and give another one",
            )
        parts = _safe_parts(member.name, archive)
        declared += member.size
        if declared > allowed:
            raise _bomb(archive, allowed)
        for name in _names_for(parts, wanted):
            if name in taken:
                raise InputError(
                    f"has several members that end in {wanted[name]!r}",
                    path=archive,
                    remedy="look at where this archive comes from, and give another one",
                )
            _copy(member, archive, folder / name, progress)
            taken.add(name)
    missing = [wanted[name] for name in wanted if name not in taken]
    if missing:
        raise InputError(
            f"has no member {' nor '.join(missing)}",
            path=archive,
            remedy="look at where this archive comes from, and give another one",
        )


def _safe_parts(name, archive):
    path = name.replace("\\", "/")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or path[1:2] == ":":
        raise InputError(
            f"member {name!r} points out of the archive: refused",
            path=archive,
            remedy="look at where this archive comes from, and give another one",
        )
    return parts


def _names_for(parts, wanted):
    # macOS packs a shadow "._name" of each file
    if not parts or parts[0] == "__MACOSX":
        return []
    ends = {name: end.split("/") for name, end in wanted.items()}
    return [name for name, end in ends.items() if parts[-len(end) :] == end]


def _copy(member, archive, path, progress):
    if not member.regular:
        raise InputError(
            f"member {member.name!r} is a link, a device or encrypted: refused",
            path=archive,
            remedy="look at where this archive comes from, and give another one",
        )
    if member.size > shutil.disk_usage(path.parent).free:
        raise InputError(f"{member.name!r} needs {member.size:,} bytes, more than the disk has free", path=path.parent)
    written = 0
    with member.open() as source, open(path, "xb") as target:
        while block := source.read(_BLOCK):
            written += len(block)
            if written > member.size:
                break
            target.write(block)
            progress.advance(len(block))
        os.fsync(target.fileno())
    if written != member.size:
        raise InputError(
            f"member {member.name!r} is not of its declared size",
            path=archive,
            remedy="look at where this archive comes from, and give another one",
        )


@dataclass(frozen=True)
class _Member:
    """What both kinds of archives tell about a member; ``open`` gives its content."""

    name: str
    size: int
    regular: bool
    open: Callable


@contextlib.contextmanager
def _zip_members(archive, allowed):
    with zipfile.ZipFile(archive) as file:
        yield (_of_zip(file, info) for info in file.infolist() if not info.is_dir())


def _of_zip(file, info):
    kind = info.external_attr >> 28  # file type of the Unix mode, 0 where packed elsewhere
    regular = kind in (0, 0o10) and not info.flag_bits & 1
    return _Member(info.filename, info.file_size, regular, lambda: file.open(info))


@contextlib.contextmanager
def _tar_members(archive, allowed):
    # one pass over the compressed bytes, however large; tarfile's own streams do not compare gzip's checksum
    with _decompressed(archive) as plain:
        stream = _Limited(plain, allowed, archive)
        with tarfile.open(fileobj=stream, mode="r|") as file:
            yield (_of_tar(file, info) for info in file if not info.isdir())
        while stream.read(_BLOCK):
            pass


def _decompressed(archive):
    with open(archive, "rb") as file:
        magic = file.read(6)
    for beginning, opener in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open)):
        if magic.startswith(beginning):
            return opener(archive, "rb")
    return open(archive, "rb")


class _Limited:
    """A stream that refuses to give more than it may."""

    def __init__(self, stream, allowed, archive):
        self._stream, self._left, self._refusal = stream, allowed, _bomb(archive, allowed)

    def read(self, size):
        block = self._stream.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise self._refusal
        return block


def _bomb(archive, allowed):
    return InputError(
        f"unpacks to more than {allowed:,} bytes: refused as a bomb",
        path=archive,
        remedy="look at where this archive comes from, and give another one",
    )


def _of_tar(file, info):
    regular = info.isreg() and not info.issparse()
    return _Member(info.name, info.size, regular, lambda: file.extractfile(info))
