"""One file over http(s) or from Google Drive: resumed, retried, its length checked."""

import contextlib
import fcntl
import hashlib
import html
import json
import os
import re
import time
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit

import gdown
import requests
import urllib3

from ovaflow import __version__
from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.storage.artifact import write_text

CHUNK = 1 << 20
TIMEOUT = (20, 60)
"""Seconds to connect, seconds between two reads."""
WAITS = (1, 3, 10, 30)
"""Seconds before each further try."""
REDIRECTS = 10
SLOWEST = (1 << 16, 120)
"""Bytes that arrive in that many seconds at least; slower servers are given up as silent ones are."""
LEFT_FREE = 0.01
"""Share of the disk that no download fills, announced or not."""
DRIVE = "https://drive.usercontent.google.com/download"

_BUSY = frozenset({408, 429, *range(500, 600)})
_LASTING_FAULTS = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidSchema,
    requests.exceptions.ProxyError,
    requests.exceptions.SSLError,
)
_NETWORK_FAULTS = (
    requests.exceptions.ConnectionError,
    requests.exceptions.Timeout,
    requests.exceptions.ChunkedEncodingError,
    urllib3.exceptions.HTTPError,
)


class _Passing(Exception):
    """A fault that may be gone at the next try."""


def fetch_url(url, path, title=None):
    """Download a file; go on where an earlier, interrupted download stopped.

    What has arrived stands in ``{path}.part`` (and ``{path}.part.json`` says of
    which state of which address), also after SIGKILL. The file appears under
    its own name when it is complete.

    Parameters
    ----------
    url : str
        http or https; redirects may go to https, and from http to http. What
        it says as ``${NAME}`` is taken from the environment when it is asked
        for, and shown nowhere.
    path : path-like
    title : str, optional
        How the file is called in the progress line, its name by default.

    Raises
    ------
    InputError
        If the address is not allowed, the server refuses, sends a web page
        instead of a file, fails or is slow more often than ``WAITS`` allows, or
        the disk is full but for ``LEFT_FREE``.
    """
    path = Path(path)
    _refuse_other_schemes(url)
    with _values_hidden(url), exclusively(f"{path}.part") as part:
        _insist(lambda: _transfer(url, part, title or path.name), part, url)
        _deliver(part, path, url)


@contextlib.contextmanager
def _values_hidden(url):
    """What a server or a redirect says may repeat them."""
    try:
        yield
    except InputError as error:
        text = str(error)
        for name in _VARIABLE.findall(url):
            if os.environ.get(name):
                text = text.replace(os.environ[name], f"${{{name}}}")
        raise InputError(text) from None


def fetch_drive(identifier, path, resourcekey=None, title=None):
    """Download a file from Google Drive.

    gdown finds the way past Drive's confirmation page. It drops resource keys
    (version 6.5), so that files which need one are asked for directly, and so
    are those for which gdown fails.

    Parameters
    ----------
    identifier : str
    path : path-like
    resourcekey : str, optional
    title : str, optional

    Raises
    ------
    InputError
        Such as for a file over its download quota: Drive answers with a web page.
    """
    refusal = None
    if resourcekey is None:
        try:
            return _fetch_with_gdown(identifier, Path(path), title)
        except InputError as error:
            refusal = error
    query = {"id": identifier, "export": "download", "confirm": "t"}
    if resourcekey:
        query["resourcekey"] = resourcekey
    try:
        return fetch_url(f"{DRIVE}?{urlencode(query)}", path, title)
    except InputError as error:
        raise InputError(f"{error}" if refusal is None else f"{refusal}; asked directly: {error}") from None


def _fetch_with_gdown(identifier, path, title):
    lock = Path(f"{path}.gdown")
    with exclusively(lock), Progress(f"download {title or path.name}", 0, "bytes") as progress:
        try:
            gdown.download(
                id=identifier,
                output=str(path),
                quiet=True,
                use_cookies=False,
                resume=True,
                retries=len(WAITS),
                timeout=TIMEOUT[1],
                progress=lambda done, total: progress.advance(done - progress.done),
            )
        # KeyError and AssertionError: how gdown meets an answer that it does not know
        except (gdown.exceptions.DownloadError, requests.RequestException, KeyError, AssertionError) as error:
            raise InputError(f"Google Drive, id {identifier}: gdown: {_in_short(error)}", remedy=_LOOK) from None
        finally:
            lock.unlink(missing_ok=True)
    _refuse_web_page(path, f"Google Drive, id {identifier}")


def _in_short(error):
    words = [line for line in str(error).split("\n\n") if not line.lstrip().startswith("http")]
    text = " ".join(re.sub(_ADDRESSES, "", " ".join(words)).split())
    return text[:300] or type(error).__name__


_ADDRESSES = r"(for|with) url: \S+|'?https?://\S+"
"""What requests quotes of an address, its query included."""


def expanded(url):
    """An address with the values of environment variables.

    Parameters
    ----------
    url : str
        ``${NAME}`` stands for a variable.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If a variable is not set, or holds what no address can.
    """
    return _VARIABLE.sub(_value, url)


_LOOK = "look at the address and the network, and call again"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _value(match):
    value = os.environ.get(match[1], "")
    if not value:
        raise InputError(f"the environment variable {match[1]} of an address is not set")
    if not value.isascii() or any(sign <= " " or sign == "\x7f" for sign in value):
        raise InputError(
            f"the environment variable {match[1]} has characters that no address can have",
            remedy="set it to another value",
        )
    return value


def shown(url):
    """An address without user, password and query, which may be secrets.

    Parameters
    ----------
    url : str

    Returns
    -------
    str
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _refuse_web_page(path, origin):
    with open(path, "rb") as file:
        beginning = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not re.match(rb"<(!doctype\s+html|html|head)\b", beginning, re.IGNORECASE):
        return
    Path(path).unlink()
    found = re.search(rb"<title[^>]*>(.*?)</title", beginning, re.IGNORECASE | re.DOTALL)
    title = html.unescape(found[1].decode("utf-8", "replace")).strip()[:100] if found else "without title"
    raise InputError(f"{origin}: answered with a web page ({title}) instead of a file")


def _refuse_other_schemes(url, origin=None):
    scheme = urlsplit(url).scheme
    if scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise InputError(
            f"{shown(origin or url)}: {'redirects to ' if origin else ''}{scheme or 'no scheme'}: "
            "only http and https are allowed"
        )
    if origin and urlsplit(origin).scheme == "https" and scheme == "http":
        raise InputError(f"{shown(origin)}: redirects from https to http, which is refused")


@contextlib.contextmanager
def exclusively(path):
    """Open a file for this process alone; the lock dies with the process, SIGKILL included.

    Parameters
    ----------
    path : path-like
        Made when missing, with its folder.

    Yields
    ------
    io.FileIO
        Unbuffered, for appending.

    Raises
    ------
    InputError
        If another process has it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    taken = InputError("another process is downloading it", path=path, remedy="wait until it has finished")
    with open(path, "a+b", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise taken from None
        # the other process may have finished, and renamed the file, between open and flock
        if not path.exists() or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
            raise taken
        yield file


def _deliver(part, path, url):
    os.fsync(part.fileno())
    _refuse_web_page(part.name, shown(url))
    os.replace(part.name, path)
    _state_of(part).unlink(missing_ok=True)


def _insist(attempt, part, url):
    """Repeat while faults pass; count anew after an attempt that brought the file on."""
    farthest, tries = _size(part), 0
    while True:
        try:
            return attempt()
        except _Passing as fault:
            if _size(part) >= farthest + CHUNK:
                farthest, tries = _size(part), 0
            if tries == len(WAITS):
                raise InputError(f"{shown(url)}: {fault}, after {tries + 1} tries", remedy=_LOOK) from None
            time.sleep(WAITS[tries])
            tries += 1


def _size(part):
    return os.fstat(part.fileno()).st_size


def _state_of(part):
    return Path(f"{part.name}.json")


def _known_state(part, url):
    """What an earlier download noted about the same address; starts afresh when there is nothing."""
    try:
        state = json.loads(_state_of(part).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        state = {}
    if not isinstance(state, dict) or state.get("address") != _address(url):
        part.truncate(0)
        state = {}
    return state


def _address(url):
    return hashlib.sha256(url.encode()).hexdigest()


def _transfer(url, part, title):
    state = _known_state(part, url)
    headers = {"Accept-Encoding": "identity", "User-Agent": f"ovaflow/{__version__}"}
    if offset := _size(part):
        headers["Range"] = f"bytes={offset}-"
        if state.get("validator"):
            headers["If-Range"] = state["validator"]
    try:
        with requests.Session() as session, _answer(session, url, headers) as response:
            total = _place(response, part, state, url)
            if total is None or _size(part) < total:
                _receive(response, part, total, title)
    except _NETWORK_FAULTS as fault:
        raise _Passing(f"the connection failed ({type(fault).__name__}) at byte {_size(part):,}") from None
    if total is not None and _size(part) != total:
        raise _Passing(f"sent {_size(part):,} bytes and announced {total:,}")


def _answer(session, url, headers):
    url = expanded(url)
    _refuse_other_schemes(url)
    for _ in range(REDIRECTS + 1):
        try:
            response = session.get(url, headers=headers, stream=True, timeout=TIMEOUT, allow_redirects=False)
        except _LASTING_FAULTS as error:
            raise InputError(f"{shown(url)}: {_in_short(error)}", remedy=_LOOK) from None
        if not response.is_redirect:
            return response
        response.close()
        target = urljoin(url, response.headers["Location"])
        _refuse_other_schemes(target, origin=url)
        url = target
    raise InputError(f"{shown(url)}: more than {REDIRECTS} redirects", remedy=_LOOK)


def _place(response, part, state, url):
    """Make the partial file fit the answer: what follows is appended. Returns the total size, if announced."""
    status = response.status_code
    if status in _BUSY:
        raise _Passing(f"answered {status} {response.reason}")
    first, total = _content_range(response)
    if status == 416 and total == _size(part) == state.get("total", total):
        return total
    if status == 206 and first == _size(part) and state.get("total", total) == total:
        return total
    if status in (206, 416):
        part.truncate(0)
        raise _Passing("offered another range than asked for")
    if status != 200:
        raise InputError(f"{shown(url)}: answered {status} {response.reason}", remedy=_LOOK)
    if response.headers.get("Content-Encoding", "identity") != "identity" and not urlsplit(url).path.endswith(".gz"):
        raise InputError(f"{shown(url)}: sent compressed although asked for the file as it is", remedy=_LOOK)
    part.truncate(0)
    length = response.headers.get("Content-Length", "")
    return _note(part, url, response, int(length) if length.isdecimal() else None)


def _content_range(response):
    found = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", response.headers.get("Content-Range", ""))
    if not found:
        return None, None
    first, total = (int(number) if number and number.isdecimal() else None for number in found.groups())
    return first, total


def _note(part, url, response, total):
    etag = response.headers.get("ETag", "")
    validator = etag if etag.startswith('"') else response.headers.get("Last-Modified")
    state = {"address": _address(url), "validator": validator} | ({} if total is None else {"total": total})
    write_text(_state_of(part), json.dumps(state))
    return total


def _refuse_full_disk(part):
    disk = os.fstatvfs(part.fileno())
    if disk.f_bavail < LEFT_FREE * disk.f_blocks:
        raise InputError(f"less than {LEFT_FREE:.0%} of the disk is free", path=part.name, remedy="delete something")


def _receive(response, part, total, title):
    have = _size(part)
    title = f"download {title}" + (f" from byte {have:,} on" if have else "")
    with Progress(title, 0 if total is None else total - have, "bytes") as progress:
        deadline, arrived = time.monotonic() + SLOWEST[1], 0
        # undecoded: a server may call a .gz file gzip-encoded, and the length counts what is sent
        while block := response.raw.read1(CHUNK, decode_content=False):
            progress.advance(len(block))
            arrived += len(block)
            if time.monotonic() > deadline:
                if arrived < SLOWEST[0]:
                    raise _Passing(f"sent fewer than {SLOWEST[0]:,} bytes in {SLOWEST[1]} s")
                deadline, arrived = time.monotonic() + SLOWEST[1], 0
            _refuse_full_disk(part)
            rest = memoryview(block)
            while rest:
                rest = rest[part.write(rest) :]
