"""Single files and datasets of the catalogue: downloaded, unpacked, their checksums compared and
recorded.
"""

import contextlib
import html
import os
import re
import shutil
import sys
import tarfile
import zipfile
import zlib
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from urllib.parse import urlencode, urlsplit

import gdown
import numpy as np
import pooch
import requests

from ovaflow import __version__
from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.reading.sparse_text import read_header
from ovaflow.reading.streams import open_stream
from ovaflow.records.catalogue import find_entry
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
_CHANGED = "if the publisher has changed the data on purpose, delete this record and download again"
_ADDRESS = re.compile(r"(for|with) url: \S+|'?\w+://\S+")
"""What error messages quote of an address, which may hold secrets."""
_WEB_PAGE = re.compile(
    rb"(<\?xml.*?\?>|<!--.*?-->|\s)*+<(!doctype\s+html|html|head)\b", re.IGNORECASE | re.DOTALL
)
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_RECORD_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
# what reading a damaged archive, or one of something else, raises
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


def download_file(url, path, sha256=None, record=None) -> None:
    """Download one file, unless it exists with the given or recorded checksum."""
    path, record = Path(path), Path(record or default_record(path))
    expected = sha256.lower() if sha256 else read_record(record).get(path.name)
    if path.exists() and expected and pooch.file_hash(path) == expected:
        return
    with explain_write_errors(path), _working_in(path.with_name(f".{path.name}.download")) as work:
        fetch_url(url, work / path.name, sha256 and expected)
        enforce_record(record, {path.name: work / path.name})
        _deliver(work / path.name, path)


def download_dataset(name, folder, catalogue=None, record=None):
    """Download a dataset of the catalogue into ``folder``, unless its files exist and match their
    record.
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
    with explain_write_errors(folder / name), _working_in(folder / ".download") as work:
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
def _working_in(folder):
    """A folder for unfinished files; what a killed process left there is removed."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _deliver(finished, path) -> None:
    with write_atomically(path) as temporary:
        finished.replace(temporary)


def _fetch(source, archive) -> None:
    if source.url:
        fetch_url(source.url, archive)
    else:
        fetch_drive(source.drive, archive, source.resourcekey)


def fetch_url(url, path, sha256=None) -> None:
    """Download a file over http or https; ``${NAME}`` in the address stands for an environment
    variable.
    """
    if not url.startswith(("http://", "https://")):
        raise InputError(f"{redact_url(url)}: only http and https are allowed")
    _retrieve(url, path, sha256, _from_server, redact_url(url))


def fetch_drive(identifier, path, resourcekey=None) -> None:
    """Download a file from Google Drive; gdown takes no resource keys, so files with one are asked
    for directly.
    """
    if resourcekey:
        query = {"id": identifier, "export": "download", "confirm": "t", "resourcekey": resourcekey}
        fetch_url(f"{DRIVE_URL}?{urlencode(query)}", path)
    else:
        _retrieve(identifier, path, None, _from_drive, f"Google Drive, id {identifier}")


def redact_url(url):
    """An address without user, password and query, which may be secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _retrieve(url, path, sha256, downloader, origin) -> None:
    def download(url, output, _) -> None:
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
        raise InputError(f"{origin}: {_reason(error)}", remedy=_LOOK) from None


def _reason(error):
    response = getattr(error, "response", None)
    if response is not None:
        return f"answered {response.status_code} {response.reason}"
    words = [part for part in str(error).split("\n\n") if not part.lstrip().startswith("http")]
    return " ".join(_ADDRESS.sub("", " ".join(words)).split()).rstrip(".") or type(error).__name__


def _from_server(url, output, progress) -> None:
    with requests.get(
        _with_variables(url), stream=True, headers=_HEADERS, timeout=TIMEOUT_SECONDS
    ) as response:
        # requests takes what is no error for the file: a redirect to nowhere, a part, nothing
        if response.status_code != requests.codes.ok:
            raise requests.HTTPError(response=response)
        # a .gz file stays compressed, although some servers declare it as an encoding
        response.raw.headers.pop("Content-Encoding", None)
        progress.total = int(response.headers.get("Content-Length", 0))
        with open(output, "wb") as file:
            for block in response.iter_content(_CHUNK):
                file.write(block)
                progress.advance(len(block))


def _from_drive(identifier, output, progress) -> None:
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
        # what gdown raises on a page that it does not know
        raise ValueError(f"gdown: {error!r}") from None


def _with_variables(url):
    try:
        return _VARIABLE.sub(lambda match: os.environ[match[1]], url)
    except KeyError as error:
        message = f"the environment variable {error.args[0]} of an address is not set"
        raise InputError(message, remedy="set it") from None


def _refuse_web_page(path, origin) -> None:
    with open(path, "rb") as file:
        beginning = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not beginning:
        raise InputError(f"{origin}: answered with an empty file", remedy=_LOOK)
    if _WEB_PAGE.match(beginning):
        title = re.search(rb"<title[^>]*>(.*?)</title", beginning, re.IGNORECASE | re.DOTALL)
        title = (
            html.unescape(title[1].decode("utf-8", "replace")).strip()[:100]
            if title
            else "without title"
        )
        raise InputError(
            f"{origin}: answered with a web page ({title}) instead of a file", remedy=_LOOK
        )


def default_record(output):
    """Where the checksums of a download are recorded: next to its folder or file, such as
    ``eurlex-4k.sha256``.
    """
    return Path(output).with_name(f"{Path(output).name}.sha256")


def read_record(record):
    """Checksums by file name, as ``sha256sum`` writes them; empty when there is no record yet."""
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    matches = [_RECORD_LINE.fullmatch(line) for line in lines]
    if not all(matches):
        raise InputError("not a file of sha256sum", path=record, remedy="delete the record")
    return {match[2]: match[1] for match in matches}


def enforce_record(record, files) -> None:
    """Compare files, by the name each is recorded under, with their record; make the record when
    there is none.
    """
    recorded = read_record(record)
    digests = {name: pooch.file_hash(path) for name, path in files.items()}
    for name, digest in digests.items():
        if recorded.get(name, digest) != digest:
            message = f"{name} has the sha256 {digest}, recorded is {recorded[name]}"
            raise InputError(message, path=record, remedy=_CHANGED)
    if not digests.keys() <= recorded.keys():
        write_text(
            record, "".join(f"{digest}  {name}\n" for name, digest in (recorded | digests).items())
        )


def _unpack(entry, source, archive, folder, record) -> None:
    place = folder / ".download" / "unpacked"
    files = {role: place / name for role, name in entry.files.items()}
    try:
        _extract(archive, source.members, place)
        _assemble(entry, source, place, files)
    except _UNREADABLE as error:
        # of the disk that is written to
        if explain_write_error(error, archive):
            raise
        raise InputError(
            f"damaged, or not what the catalogue says ({error})", path=archive, remedy=_AGAIN
        ) from None
    enforce_record(record, {path.name: path for path in files.values()})
    for path in files.values():
        _deliver(path, folder / path.name)


def _assemble(entry, source, place, files) -> None:
    """Make train and test, by role, of the members of an archive."""
    if "data" in source.members:
        for role in ("train", "test"):
            _select_instances(place / "data", place / role, files[role])
    elif "train_labels" in source.members and entry.format == "xmc-text":
        for role in ("train", "test"):
            _join_features_and_labels(place / role, place / f"{role}_labels", files[role])
    else:
        for role, path in files.items():
            (place / role).replace(path)


def _extract(archive, ends, folder) -> None:
    """Take members, by the ends of their paths, out of a zip or tar archive into ``folder``."""
    folder.mkdir(exist_ok=True)
    paths_by_name = {name: [] for name in ends}
    with _members_of(archive) as members:
        for path, open_member in members:
            for name in [name for name, end in ends.items() if PurePosixPath(path).match(end)]:
                paths_by_name[name].append(path)
                with open_member() as source, open(folder / name, "wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    for name, paths in paths_by_name.items():
        if len(paths) != 1:
            message = f"has {len(paths)} members {ends[name]}, expected one"
            raise InputError(message, path=archive, remedy=_AGAIN)


@contextlib.contextmanager
def _members_of(archive):
    """Paths of the files in an archive, in its order, each with a function that opens it."""
    # zipfile.is_zipfile looks at the end, where a tar may hold an .npz
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            yield (
                (info.name, lambda info=info: tar.extractfile(info))
                for info in tar
                if info.isfile()
            )
    else:
        with zipfile.ZipFile(archive) as file:
            members = (info for info in file.infolist() if not info.is_dir())
            yield (
                (info.filename.replace("\\", "/"), lambda info=info: file.open(info))
                for info in members
            )


def _select_instances(data, ids, output) -> None:
    """Write the instances of an XMC text file whose 1-based numbers are the first column of
    ``ids``, in its order.
    """
    with open_stream(data) as source, open(output, "wb") as target:
        n, d, l = read_header(source, data)  # noqa: E741
        chosen = set(np.loadtxt(ids, np.int64, usecols=0, ndmin=1).tolist())
        if not chosen <= set(range(1, n + 1)):
            raise ValueError(f"expected instance numbers from 1 to {n}")
        target.write(b"%d %d %d\n" % (len(chosen), d, l))
        target.writelines(
            line.rstrip(b"\n") + b"\n" for number, line in enumerate(source, 1) if number in chosen
        )


def _join_features_and_labels(features, labels, output) -> None:
    """Write one XMC text file from "feature:value ..." rows (header n d) and "label:1 ..." rows
    (header n l).
    """
    with (
        open_stream(features) as rows,
        open_stream(labels) as label_rows,
        open(output, "wb") as target,
    ):
        n, d = map(int, rows.readline().split())
        _, l = map(int, label_rows.readline().split())  # noqa: E741
        target.write(b"%d %d %d\n" % (n, d, l))
        for row, label_row in zip(rows, label_rows, strict=True):
            target.write(b",".join(_labels_of(label_row)) + b" " + row.strip() + b"\n")


def _labels_of(row):
    """Labels of a row, without those of value 0."""
    pairs = [pair.partition(b":") for pair in row.split()]
    return [label for label, _, value in pairs if not value or float(value)]
