"""The records of a file of corrections: of each the line that counts, its last one, by id and by
text.
"""

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ovaflow.console.errors import StrPath


class SavedRecord(NamedTuple):
    """A record as it was saved last."""

    place: int  # of its line, in bytes
    time: str  # in UTC, empty where the line has none
    times: int  # how often it was saved
    text: bytes  # digest of its text
    entry: dict  # what is in the line; not kept


class SavedRecords:
    """An index of a file to which others add lines; it reads what is new, and all of a file that
    was changed.
    """

    def __init__(self, path: StrPath, described: Callable) -> None:
        """``described`` gives the id and the text of a line."""
        self._path = path
        self._described = described
        self._forget()

    def _forget(self) -> None:
        self._end = 0
        self._last = b""
        self._by_id: dict[str, SavedRecord] = {}
        self._ids: dict[bytes, str] = {}

    def find(self, record: str | None = None, text: str | None = None) -> SavedRecord | None:
        """The record of an id, else the one that was saved last with a text, unless it has another
        one now.
        """
        with self._read() as lines:
            found = self._by_id.get(record) if record is not None else None
            if found is None and text is not None and (of_text := self._ids.get(_digest(text))):
                found = self._by_id[of_text]
                if found.text != _digest(text):
                    return None
            return found and found._replace(entry=_read_entry(lines, found.place))

    def since(self, time: str, amount: int) -> tuple[int, list[SavedRecord]]:
        """How many records were saved at a time or later, and an amount of them, the last one
        first.
        """
        found: list[SavedRecord] = []
        with self._read() as lines:
            for record in self._newest():
                if record.time < time:
                    break
                found.append(record)
            return len(found), [
                each._replace(entry=_read_entry(lines, each.place)) for each in found[:amount]
            ]

    def _newest(self) -> Iterator[SavedRecord]:
        return reversed(self._by_id.values())

    @contextlib.contextmanager
    def _read(self) -> Iterator:
        """The open file, whose new lines are in the index."""
        # none yet, or moved away, or what would never end
        is_file = os.path.isfile(self._path)
        with open(self._path, "rb") if is_file else io.BytesIO() as lines:
            lines.seek(self._end - len(self._last))
            # somebody may have deleted a line, or begun another file
            if lines.read(len(self._last)) != self._last:
                self._forget()
                lines.seek(0)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._add(line)
                self._end = self._end + len(line)
                self._last = line
            yield lines

    def _add(self, line: bytes) -> None:
        # what is no record is left for the next training to complain about
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            entry = json.loads(line)
            record, text = self._described(entry)
            before = self._by_id.pop(record, None)
            times = 1 + (before.times if before else 0)
            self._by_id[record] = SavedRecord(
                self._end, str(entry.get("time", "")), times, _digest(text), {}
            )
            self._ids[_digest(text)] = record


def _read_entry(lines, place: int) -> dict:
    lines.seek(place)
    return json.loads(lines.readline())


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()
