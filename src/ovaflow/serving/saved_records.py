"""Records of a file of corrections: the last line of each counts, found by id or text."""

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from ovaflow.console.errors import StrPath


class SavedRecord(NamedTuple):
    """A record as it was saved last.

    Attributes
    ----------
    offset : int
        Start of its line, in bytes.
    time : str
        When it was saved, in UTC; empty where the line has no time.
    times : int
        Number of times that it was saved.
    version : str
        Digest of its line.
    text_digest : bytes
        Digest of its text.
    entry : dict
        Content of the line, read when it is asked for; the index does not keep it.
    """

    offset: int
    time: str
    times: int
    version: str
    text_digest: bytes
    entry: dict[str, Any]


class SavedRecords:
    """An index of a file to which other processes append lines.

    It reads new lines only, and all lines of a file that was changed.

    Parameters
    ----------
    path : path-like
        The file; it need not exist.
    describe : callable
        Gives the id and the text of a line's entry.
    """

    def __init__(
        self, path: StrPath, describe: Callable[[dict[str, Any]], tuple[str, str]]
    ) -> None:
        self._path = path
        self._describe = describe
        self._clear()

    def _clear(self) -> None:
        self._end = 0
        self._last_line = b""
        self._by_id: dict[str, SavedRecord] = {}
        self._ids_by_text: dict[bytes, str] = {}

    def find(self, record_id: str | None = None, text: str | None = None) -> SavedRecord | None:
        """Find the record of an id, else the record that was saved last with a text.

        A record whose text has changed since is not found by its earlier text.
        """
        with self._read() as lines:
            record = None
            if record_id is not None:
                record = self._by_id.get(record_id)
            if record is None and text is not None:
                record = self._find_by_text(text)
            if record is None:
                return None
            return record._replace(entry=_read_entry(lines, record.offset))

    def _find_by_text(self, text: str) -> SavedRecord | None:
        digest = _digest(text)
        record_id = self._ids_by_text.get(digest)
        if record_id is None:
            return None
        record = self._by_id[record_id]
        if record.text_digest != digest:
            return None
        return record

    def since(self, time: str, limit: int) -> tuple[int, list[SavedRecord]]:
        """Count the records that were saved at a time or later, and list up to ``limit`` of them,
        the last one first.
        """
        newer: list[SavedRecord] = []
        with self._read() as lines:
            for record in reversed(self._by_id.values()):
                if record.time < time:
                    break
                newer.append(record)
            listed = [
                record._replace(entry=_read_entry(lines, record.offset)) for record in newer[:limit]
            ]
        return len(newer), listed

    @contextlib.contextmanager
    def _read(self) -> Iterator[BinaryIO]:
        """Open the file, after its new lines were added to the index."""
        # there may be no file, or a pipe, whose reading never ends
        is_file = os.path.isfile(self._path)
        with open(self._path, "rb") if is_file else io.BytesIO() as lines:
            lines.seek(self._end - len(self._last_line))
            # a user may have deleted a line, or begun another file
            if lines.read(len(self._last_line)) != self._last_line:
                self._clear()
                lines.seek(0)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._add(line)
                self._end += len(line)
                self._last_line = line
            yield lines

    def _add(self, line: bytes) -> None:
        # the next training complains about lines that are no records
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            entry = json.loads(line)
            record_id, text = self._describe(entry)
            digest = _digest(text)
            times = 1
            # inserted again, the record becomes the last one
            earlier = self._by_id.pop(record_id, None)
            if earlier is not None:
                times += earlier.times
            time = str(entry.get("time", ""))
            version = make_version(line)
            self._by_id[record_id] = SavedRecord(self._end, time, times, version, digest, {})
            self._ids_by_text[digest] = record_id


def _read_entry(lines: BinaryIO, offset: int) -> dict[str, Any]:
    lines.seek(offset)
    return json.loads(lines.readline())


def make_version(line: bytes) -> str:
    """Make the version of a record that was saved by a line of the file."""
    return hashlib.blake2b(line.rstrip(b"\r\n"), digest_size=8).hexdigest()


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()
