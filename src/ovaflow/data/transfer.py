"""One file from a web server or Google Drive, by pooch and gdown, and the checksums recorded of what arrived."""

import html
import os
import re
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import gdown
import pooch
import requests

from ovaflow import __version__
from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.storage.writing import write_text

TIMEOUT = (20, 60)
"""Seconds to connect, seconds between two reads."""
RETRIES = 3
"""Further tries after a connection that failed or a server's own error."""
DRIVE = "https://drive.usercontent.google.com/download"

_CHUNK = 1 << 16
_LOOK = "check the address and the network, then run the command again"
_ADDRESS = re.compile(r"(for|with) url: \S+|'?\w+://\S+")
"""What error messages quote of an address, which may hold secrets."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_RECORD_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def fetch_url(url, path, sha256=None, title=None):
    """Download a file over http or https; ``${NAME}`` in the address stands for an environment variable."""
    if not url.startswith(("http://", "https://")):
        raise InputError(f"{shown(url)}: only http and https are allowed")
    _retrieve(url, Path(path), sha256, _from_server(title or Path(path).name), shown(url))


def fetch_drive(identifier, path, resourcekey=None, sha256=None, title=None):
    """Download a file from Google Drive; gdown takes no resource keys, so files with one are asked for directly."""
    if resourcekey:
        query = {"id": identifier, "export": "download", "confirm": "t", "resourcekey": resourcekey}
        fetch_url(f"{DRIVE}?{urlencode(query)}", path, sha256, title)
    else:
        download = _from_drive(title or Path(path).name)
        _retrieve(identifier, Path(path), sha256, download, f"Google Drive, id {identifier}")


def shown(url):
    """An address without user, password and query, which may be secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _retrieve(url, path, sha256, downloader, origin):
    pooch.get_logger().setLevel("WARNING")
    registry = {path.name: sha256 and f"sha256:{sha256}"}
    files = pooch.create(path.parent, base_url="", registry=registry, urls={path.name: url}, retry_if_failed=RETRIES)
    try:
        files.fetch(path.name, downloader=downloader)
    except (ValueError, requests.RequestException, gdown.exceptions.DownloadError) as error:
        raise InputError(f"{origin}: {_reason(error)}", remedy=_LOOK) from None


def _reason(error):
    response = getattr(error, "response", None)
    if response is not None:
        return f"answered {response.status_code} {response.reason}"
    words = [part for part in str(error).split("\n\n") if not part.lstrip().startswith("http")]
    return " ".join(_ADDRESS.sub("", " ".join(words)).split()).rstrip(".") or type(error).__name__


def _from_server(title):
    """A downloader of pooch that tells its progress as ovaflow does and refuses web pages."""

    def download(url, output, _):
        options = {
            "headers": {"Accept-Encoding": "identity", "User-Agent": f"ovaflow/{__version__}"},
            "hooks": {"response": _as_stored},
            "timeout": TIMEOUT,
        }
        transfer = pooch.HTTPDownloader(progressbar=_Bar(title), chunk_size=_CHUNK, **options)
        try:
            transfer(_with_variables(url), output, None)
        except requests.HTTPError as error:
            if error.response.status_code < 500:
                # not an error that passes: pooch would ask again
                raise InputError(f"{shown(url)}: {_reason(error)}", remedy=_LOOK) from None
            raise
        _refuse_web_page(output, shown(url))

    return download


def _as_stored(response, **_):
    """Leave a .gz file packed, though some servers call it a gzip-encoded text."""
    response.raw.headers.pop("Content-Encoding", None)


def _from_drive(title):
    def download(identifier, output, _):
        with Progress(f"download {title}", 0, "bytes") as progress:
            try:
                gdown.download(
                    id=identifier,
                    output=str(output),
                    quiet=True,
                    use_cookies=False,
                    retries=RETRIES,
                    timeout=TIMEOUT[1],
                    progress=lambda done, total: progress.advance(done - progress.done),
                )
            except (KeyError, AssertionError) as error:
                # how gdown meets a page that it does not know
                raise InputError(f"Google Drive, id {identifier}: gdown: {error!r}", remedy=_LOOK) from None
        _refuse_web_page(output, f"Google Drive, id {identifier}")

    return download


class _Bar:
    """What pooch calls as a progress bar."""

    def __init__(self, title):
        self._title, self._progress, self.total = title, None, 0

    def update(self, amount):
        if self._progress is None:
            self._progress = Progress(f"download {self._title}", self.total, "bytes")
        self._progress.advance(amount)

    def reset(self):
        if self._progress is not None and self.total:
            self._progress.done = 0

    def close(self):
        self._progress.__exit__(None, None, None)


def _with_variables(url):
    missing = [name for name in _VARIABLE.findall(url) if name not in os.environ]
    if missing:
        raise InputError(f"the environment variable {missing[0]} of an address is not set", remedy="set it")
    return _VARIABLE.sub(lambda match: os.environ[match[1]], url)


def _refuse_web_page(path, origin):
    with open(path, "rb") as file:
        beginning = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if re.match(rb"<(!doctype\s+html|html|head)\b", beginning, re.IGNORECASE):
        found = re.search(rb"<title[^>]*>(.*?)</title", beginning, re.IGNORECASE | re.DOTALL)
        title = html.unescape(found[1].decode("utf-8", "replace")).strip()[:100] if found else "without title"
        raise InputError(f"{origin}: answered with a web page ({title}) instead of a file", remedy=_LOOK)


def default_record(output):
    """Where the checksums of a download are recorded: next to its folder or file, such as ``eurlex-4k.sha256``."""
    output = Path(output)
    return output.with_name(f"{output.name}.sha256")


def read_record(record):
    """Checksums by file name, as ``sha256sum`` writes them; empty when there is no record yet."""
    record = Path(record)
    if not record.exists():
        return {}
    found = {}
    for number, line in enumerate(record.read_text(encoding="utf-8").splitlines(), 1):
        match = _RECORD_LINE.fullmatch(line)
        if not match:
            raise InputError("not a line of sha256sum", path=record, line=number, remedy="delete the record")
        found[match[2]] = match[1]
    return found


def enforce_record(record, files):
    """Compare files, by the name each is recorded under, with their record; make the record when there is none."""
    recorded = read_record(record)
    found = {name: pooch.file_hash(path) for name, path in files.items()}
    for name, digest in found.items():
        if recorded.get(name, digest) != digest:
            raise InputError(
                f"{name} has the sha256 {digest}, recorded is {recorded[name]}",
                path=record,
                remedy="if the publisher has changed the data on purpose, delete this record and download again",
            )
    if not found.keys() <= recorded.keys():
        write_text(record, "".join(f"{digest}  {name}\n" for name, digest in (recorded | found).items()))
