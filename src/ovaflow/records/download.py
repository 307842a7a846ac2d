"""Downloads of single files and of the catalogue's data sets, with checksums."""

import contextlib
import html
import os
import re
import shutil
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import urlencode, urlsplit

import gdown
import numpy as np
import pooch
import requests

from ovaflow import __version__
from ovaflow.console.errors import InputError, StrPath
from ovaflow.console.progress import Progress
from ovaflow.reading.sparse_text import read_header
from ovaflow.reading.streams import open_stream
from ovaflow.records.catalogue import Archive, CatalogueEntry, find_entry
from ovaflow.storage.writing import (
    explain_write_error,
    explain_write_errors,
    write_atomically,
    write_text,
)

TIMEOUT_SECONDS = (20, 60)
"""Seconds to connect, seconds between two reads."""
MAX_RETRIES = 3
"""Further tries after a connection that failed or an error of the server."""
DRIVE_URL = "https://drive.usercontent.google.com/download"

_HEADERS = {"Accept-Encoding": "identity", "User-Agent": f"ovaflow/{__version__}"}
_CHUNK = 1 << 16
_LOOK = "check the address and the network, then run the command again"
_AGAIN = "download it again, or correct the catalogue's entry"
_CHANGED = "if the publisher has changed the data on purpose, delete this file and download again"
_ADDRESS = re.compile(r"(for|with) url: \S+|'?\w+://\S+")
"""The parts of error messages that quote an address, which may hold secrets."""
_WEB_PAGE = re.compile(
    rb"(<\?xml.*?\?>|<!--.*?-->|\s)*+<(!doctype\s+html|html|head)\b", re.IGNORECASE | re.DOTALL
)
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_RECORD_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
# errors of reading a damaged archive, or another kind of file
_UNREADABLE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    LZMAError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    ValueError,
)


def download_file(
    url: str, path: StrPath, sha256: str | None = None, record: StrPath | None = None
) -> None:
    """Download one file, unless it exists with the given or recorded checksum.

    Parameters
    ----------
    url : str
    path : path
    sha256 : str, optional
        The checksum that the file must have.
    record : path, optional
        The file of recorded checksums; see :func:`default_record`.
    """
    path = Path(path)
    record = Path(record or default_record(path))
    expected = sha256.lower() if sha256 else read_record(record).get(path.name)
    if path.exists() and expected and pooch.file_hash(path) == expected:
        return
    with (
        explain_write_errors(path),
        _make_work_folder(path.with_name(f".{path.name}.download")) as work,
    ):
        fetch_url(url, work / path.name, sha256 and expected)
        enforce_record(record, {path.name: work / path.name})
        _deliver(work / path.name, path)


def download_dataset(
    name: str,
    folder: StrPath,
    catalogue: StrPath | None = None,
    record: StrPath | None = None,
) -> None:
    """Download a data set of the catalogue, unless its files exist and match their record.

    Parameters
    ----------
    name : str
    folder : path
    catalogue : path, optional
        By default ovaflow's own.
    record : path, optional
        The file of recorded checksums; see :func:`default_record`.
    """
    entry = find_entry(name, catalogue)
    folder = Path(folder)
    record = Path(record or default_record(folder))
    recorded = read_record(record)
    paths = [folder / file for file in entry.files.values()]
    if all(path.exists() and pooch.file_hash(path) == recorded.get(path.name) for path in paths):
        return
    by_hand = folder / f"{name}.archive"
    refusals = []
    with explain_write_errors(folder / name), _make_work_folder(folder / ".download") as work:
        for number, source in enumerate(entry.sources, 1):
            # a person may have put it there
            archive = by_hand if by_hand.exists() else work / str(number) / name
            try:
                if not archive.exists():
                    _fetch(source, archive)
                _unpack(entry, source, archive, folder, record)
                return
            except InputError as refusal:
                refusals.append(f"source {number}: {refusal}")
                print(f"{name}: {refusals[-1]}", file=sys.stderr)
    remedy = f"download {entry.sources[0].page} by hand, put the archive at {by_hand} and run again"
    raise InputError(f"every source failed ({'; '.join(refusals)})", path=name, remedy=remedy)


@contextlib.contextmanager
def _make_work_folder(folder: Path) -> Iterator[Path]:
    """Make a folder for unfinished files; those of a killed process are removed."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _deliver(finished: Path, path: Path) -> None:
    """Move a finished file to its place."""
    with write_atomically(path) as temporary:
        finished.replace(temporary)


def _fetch(source: Archive, archive: Path) -> None:
    """Download an archive."""
    if source.url:
        fetch_url(source.url, archive)
    elif source.drive:
        fetch_drive(source.drive, archive, source.resourcekey)


def fetch_url(url: str, path: Path, sha256: str | None = None) -> None:
    """Download a file over http or https.

    ``${NAME}`` in the address is replaced by an environment variable.
    """
    if not url.startswith(("http://", "https://")):
        raise InputError(
            f"{redact_url(url)}: only http and https are allowed",
            remedy="give an address that begins with http:// or https://",
        )
    _retrieve(url, path, sha256, _download_from_server, redact_url(url))


def fetch_drive(identifier: str, path: Path, resourcekey: str | None = None) -> None:
    """Download a file from Google Drive.

    gdown takes no resource keys, so files with one are downloaded by their address.
    """
    if resourcekey:
        query = {"id": identifier, "export": "download", "confirm": "t", "resourcekey": resourcekey}
        fetch_url(f"{DRIVE_URL}?{urlencode(query)}", path)
    else:
        _retrieve(identifier, path, None, _download_from_drive, f"Google Drive, id {identifier}")


def redact_url(url: str) -> str:
    """Remove user, password and query of an address, which may be secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _retrieve(
    url: str,
    path: Path,
    sha256: str | None,
    downloader: Callable[[str, Any, Progress], None],
    origin: str,
) -> None:
    """Download a file by pooch, which tries again and compares the checksum.

    Parameters
    ----------
    url : str
        The address, or the identifier of Google Drive.
    path : path
    sha256 : str, optional
    downloader : callable
        Downloads an address to a file, with a progress.
    origin : str
        The address in messages.
    """

    def download(url: str, output: Any, _: Any) -> None:
        with Progress(f"download {path.name}", 0, "bytes") as progress:
            downloader(url, output, progress)
        _refuse_web_page(output, origin)

    pooch.get_logger().setLevel("WARNING")
    registry = {path.name: sha256 and f"sha256:{sha256}"}
    files = pooch.create(
        path.parent,
        base_url="",
        registry=registry,
        urls={path.name: url},
        retry_if_failed=MAX_RETRIES,
    )
    try:
        files.fetch(path.name, downloader=download)
    except (ValueError, requests.RequestException, gdown.exceptions.DownloadError) as error:
        raise InputError(f"{origin}: {_describe_error(error)}", remedy=_LOOK) from None


def _describe_error(error: Exception) -> str:
    """Describe an error without the address, which may hold secrets."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"answered {response.status_code} {response.reason}"
    parts = [part for part in str(error).split("\n\n") if not part.lstrip().startswith("http")]
    words = _ADDRESS.sub("", " ".join(parts)).split()
    return " ".join(words).rstrip(".") or type(error).__name__


def _download_from_server(url: str, output: Any, progress: Progress) -> None:
    with requests.get(
        _replace_variables(url), stream=True, headers=_HEADERS, timeout=TIMEOUT_SECONDS
    ) as response:
        # requests takes anything but an error for the file: a redirect to nowhere, a part, nothing
        if response.status_code != requests.codes.ok:
            raise requests.HTTPError(response=response)
        # a .gz file stays compressed, although some servers declare it as an encoding
        response.raw.headers.pop("Content-Encoding", None)
        progress.total = int(response.headers.get("Content-Length", 0))
        with open(output, "wb") as file:
            for block in response.iter_content(_CHUNK):
                file.write(block)
                progress.advance(len(block))


def _download_from_drive(identifier: str, output: Any, progress: Progress) -> None:
    try:
        gdown.download(
            id=identifier,
            output=str(output),
            quiet=True,
            use_cookies=False,
            retries=MAX_RETRIES,
            timeout=TIMEOUT_SECONDS[1],
            progress=lambda done, total: progress.advance(done - progress.done),
        )
    except (KeyError, AssertionError) as error:
        # gdown raises them on a page that it does not know
        raise ValueError(f"gdown: {error!r}") from None


def _replace_variables(url: str) -> str:
    """Replace ``${NAME}`` by environment variables."""
    try:
        return _VARIABLE.sub(lambda match: os.environ[match[1]], url)
    except KeyError as error:
        message = f"the environment variable {error.args[0]} of an address is not set"
        raise InputError(message, remedy="set it") from None


def _refuse_web_page(path: StrPath, origin: str) -> None:
    """Refuse an empty file, or a web page instead of a file."""
    with open(path, "rb") as file:
        beginning = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not beginning:
        raise InputError(f"{origin}: answered with an empty file", remedy=_LOOK)
    if _WEB_PAGE.match(beginning):
        title = "without title"
        element = re.search(rb"<title[^>]*>(.*?)</title", beginning, re.IGNORECASE | re.DOTALL)
        if element:
            title = html.unescape(element[1].decode("utf-8", "replace")).strip()[:100]
        raise InputError(
            f"{origin}: answered with a web page ({title}) instead of a file", remedy=_LOOK
        )


def default_record(output: StrPath) -> Path:
    """Return the file of a download's checksums, next to its folder or file.

    For the data set eurlex-4k it is ``eurlex-4k.sha256``.
    """
    return Path(output).with_name(f"{Path(output).name}.sha256")


def read_record(record: Path) -> dict[str, str]:
    """Read checksums by file name, as ``sha256sum`` writes them; none without a record."""
    checksums: dict[str, str] = {}
    if not record.exists():
        return checksums
    for line in record.read_text(encoding="utf-8").splitlines():
        match = _RECORD_LINE.fullmatch(line)
        if match is None:
            raise InputError(
                "not a file of sha256sum", path=record, remedy="delete it and download again"
            )
        checksums[match[2]] = match[1]
    return checksums


def enforce_record(record: Path, files: Mapping[str, Path]) -> None:
    """Compare the checksums of files with their record; record those that are new.

    Parameters
    ----------
    record : path
    files : mapping
        Paths of files by the name that they are recorded under.
    """
    recorded = read_record(record)
    digests = {name: pooch.file_hash(path) for name, path in files.items()}
    for name, digest in digests.items():
        if recorded.get(name, digest) != digest:
            message = f"{name} has the sha256 {digest}, recorded is {recorded[name]}"
            raise InputError(message, path=record, remedy=_CHANGED)
    if not digests.keys() <= recorded.keys():
        lines = [f"{digest}  {name}\n" for name, digest in (recorded | digests).items()]
        write_text(record, "".join(lines))


def _unpack(
    entry: CatalogueEntry, source: Archive, archive: Path, folder: Path, record: Path
) -> None:
    """Unpack an archive into the files of a data set, and compare them with their record."""
    place = folder / ".download" / "unpacked"
    files = {role: place / name for role, name in entry.files.items()}
    try:
        _extract(archive, source.members, place)
        _assemble(entry, source, place, files)
    except _UNREADABLE as error:
        # an error of the disk that is written to
        if explain_write_error(error, archive):
            raise
        raise InputError(
            f"damaged, or not what the catalogue says ({error})", path=archive, remedy=_AGAIN
        ) from None
    enforce_record(record, {path.name: path for path in files.values()})
    for path in files.values():
        _deliver(path, folder / path.name)


def _assemble(
    entry: CatalogueEntry, source: Archive, place: Path, files: Mapping[str, Path]
) -> None:
    """Make the files of a data set, by role, of the members of an archive."""
    if "data" in source.members:
        for role in ("train", "test"):
            _select_instances(place / "data", place / role, files[role])
    elif "train_labels" in source.members and entry.format == "xmc-text":
        for role in ("train", "test"):
            _join_features_and_labels(place / role, place / f"{role}_labels", files[role])
    else:
        for role, path in files.items():
            (place / role).replace(path)


def _extract(archive: Path, ends: Mapping[str, str], folder: Path) -> None:
    """Extract members of a zip or tar archive.

    Parameters
    ----------
    archive : path
    ends : mapping
        The ends of the members' paths by the names of the extracted files.
    folder : path
        Folder of the extracted files.
    """
    folder.mkdir(exist_ok=True)
    paths_by_name: dict[str, list[str]] = {name: [] for name in ends}
    with _open_members(archive) as members:
        for path, open_member in members:
            for name, end in ends.items():
                if not PurePosixPath(path).match(end):
                    continue
                paths_by_name[name].append(path)
                with open_member() as source, open(folder / name, "wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    for name, paths in paths_by_name.items():
        if len(paths) != 1:
            message = f"has {len(paths)} members {ends[name]}, expected one"
            raise InputError(message, path=archive, remedy=_AGAIN)


_Member = tuple[str, Callable[[], Any]]
"""The path of a member of an archive, and a function that opens it."""


@contextlib.contextmanager
def _open_members(archive: Path) -> Iterator[Iterable[_Member]]:
    """Open the files in an archive, in its order."""
    # zipfile.is_zipfile looks at the end, where a tar may hold an .npz
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            yield _iterate_tar(tar)
    else:
        with zipfile.ZipFile(archive) as file:
            yield _iterate_zip(file)


def _iterate_tar(tar: tarfile.TarFile) -> Iterator[_Member]:
    for info in tar:
        if info.isfile():
            yield info.name, partial(tar.extractfile, info)


def _iterate_zip(file: zipfile.ZipFile) -> Iterator[_Member]:
    for info in file.infolist():
        if not info.is_dir():
            yield info.filename.replace("\\", "/"), partial(file.open, info)


def _select_instances(data: Path, ids: Path, output: Path) -> None:
    """Write some instances of an XMC text file, in its order.

    Parameters
    ----------
    data, output : path
    ids : path
        A file whose first column has the numbers of the instances, from 1.
    """
    with open_stream(data) as source, open(output, "wb") as target:
        n, d, l = read_header(source, data)  # noqa: E741
        chosen = set(np.loadtxt(ids, np.int64, usecols=0, ndmin=1).tolist())
        if not chosen <= set(range(1, n + 1)):
            raise ValueError(f"expected instance numbers from 1 to {n}")
        target.write(b"%d %d %d\n" % (len(chosen), d, l))
        for number, line in enumerate(source, 1):
            if number in chosen:
                target.write(line.rstrip(b"\n") + b"\n")


def _join_features_and_labels(features: Path, labels: Path, output: Path) -> None:
    """Write one XMC text file from two files.

    One has rows of ``feature:value ...`` and a header of n and d, the other rows of ``label:1 ...``
    and a header of n and l.
    """
    with (
        open_stream(features) as rows,
        open_stream(labels) as label_rows,
        open(output, "wb") as target,
    ):
        n, d = _read_two_numbers(rows)
        _, l = _read_two_numbers(label_rows)  # noqa: E741
        target.write(b"%d %d %d\n" % (n, d, l))
        for row, label_row in zip(rows, label_rows, strict=True):
            target.write(b",".join(_select_labels(label_row)) + b" " + row.strip() + b"\n")


def _read_two_numbers(stream: IO) -> tuple[int, int]:
    """Read a line of two numbers."""
    first, second = stream.readline().split()
    return int(first), int(second)


def _select_labels(row: bytes) -> list[bytes]:
    """Select the labels of a row, without those of value 0."""
    pairs = [pair.partition(b":") for pair in row.split()]
    return [label for label, _, value in pairs if not value or float(value)]
