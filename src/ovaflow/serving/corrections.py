"""What people say the labels of texts are: lines of a file that the next training reads, and that
come back to them.
"""

import contextlib
import errno
import hashlib
import json
import logging
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from fastapi import HTTPException

from ovaflow.console.errors import InputError
from ovaflow.labels.matrix import number_labels_by_mark
from ovaflow.prediction.explanation import make_label_entry
from ovaflow.prediction.sources import (
    NamedColumns,
    list_id_columns,
    list_label_columns,
    list_text_columns,
)
from ovaflow.serving.saved_records import SavedRecords
from ovaflow.storage.appending import append_lines, require_appendable

_DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_log = logging.getLogger(__name__)


class Correction(NamedTuple):
    """A text and the labels that a person has chosen: ids, URIs or names."""

    text: str
    labels: list
    suggested: tuple = ()
    id: str | None = None


def check_corrections(predictor, path) -> None:
    """Refuse a model or a file with which no correction could be saved."""
    if not predictor.takes_text:
        message = "was trained on features, and only corrections of texts are saved"
        raise InputError(message, path=predictor.model.path, remedy="leave out --corrections")
    require_appendable(path)


class Corrections:
    """A file of JSON Lines with the columns of the data that a model was trained on."""

    def __init__(self, predictor, path, queue) -> None:
        self._predictor = predictor
        self._model = predictor.model
        self._path = path
        self._queue = queue
        self._records = SavedRecords(
            path, lambda entry: (str(entry[self._id_column]), self._text(entry))
        )

    async def save(self, corrections):
        """Add a line for each correction, or none, and return them; InputError for unknown labels."""
        return await self._queue.run(self._save, corrections)

    async def find(self, asked, predictor):
        """What was saved last of a record, by its id or else its text, with names of a predictor;
        None if nothing.
        """
        return await self._queue.run(self._find, asked.id, asked.text, predictor)

    async def since(self, time, amount, predictor):
        """How many records were saved at a time or later, and an amount of them, the last one
        first.
        """
        return await self._queue.run(self._since, time, amount, predictor)

    def _find(self, record, text, predictor):
        if text is not None:
            text = self._text(self._texts(text))
        with self._problems("read"):
            found = self._records.find(record, text)
        return found and self._shown(found, predictor)

    def _since(self, time, amount, predictor):
        with self._problems("read"):
            total, records = self._records.since(_format_utc(time), amount)
        return total, [self._shown(record, predictor) for record in records]

    def _save(self, corrections):
        time = _format_utc(datetime.now(UTC))
        entries = [self._entry(correction, time) for correction in corrections]
        with self._problems("written"):
            replaced = [self._records.find(entry[self._id_column]) for entry in entries]
            append_lines(self._path, (json.dumps(entry, ensure_ascii=False) for entry in entries))
        times = [record and record.time for record in replaced]
        return [
            {"time": time, "id": entry[self._id_column], "replaces": before}
            for entry, before in zip(entries, times, strict=True)
        ]

    @contextlib.contextmanager
    def _problems(self, done):
        """Turn an error of the file, which could not be read or written, into an answer."""
        try:
            yield
        except OSError as error:
            _log.error("corrections: %s cannot be %s: %s", self._path, done, error.strerror)
            status = 507 if error.errno in _DISK_FULL_ERRORS else 503
            detail = f"the file of corrections cannot be {done}: {error.strerror}"
            raise HTTPException(
                status, f"not saved: {detail}" if done == "written" else detail
            ) from None

    def _shown(self, record, predictor):
        """A saved record, whose labels that the model does not have are told apart."""
        entry = record.entry
        labels = []
        unknown = []
        for column in list_label_columns(self._model):
            for label in entry.get(column, ()):
                try:
                    labels.append(make_label_entry(predictor, self._id(label)))
                except InputError:
                    unknown.append(str(label))
        shown = {"id": str(entry[self._id_column]), "labels": labels, "unknown": unknown}
        columns = NamedColumns.of(self._model)
        if len(columns.texts) + len(columns.beside) > 1:
            shown["columns"] = {
                column: entry.get(column) for column in (*columns.texts, *columns.beside)
            }
        return shown | {"text": self._text(entry), "time": record.time, "times": record.times}

    @property
    def _id_column(self):
        return list_id_columns(self._model)[0]

    def _text(self, entry):
        """The text of a line, or of texts by column, in one piece."""
        return " ".join(filter(None, (entry[column] for column in list_text_columns(self._model))))

    def _entry(self, correction, time):
        model = self._model
        texts = self._texts(correction.text)
        labels_column = list_label_columns(model)[0]
        # every column of the data has to be there
        record = {self._id_column: correction.id or _make_record_id(texts)} | texts
        record |= dict.fromkeys(list_label_columns(model), ())
        record[labels_column] = self._as_in_the_data(correction.labels)
        suggested = self._as_in_the_data(correction.suggested)
        origin = {"suggested": suggested, "model": model.checksum, "time": time}
        # columns of the data may be called like these
        return {**record, **origin, **record}

    def _texts(self, text):
        """Texts by column; all of a plain text is in the first."""
        if not isinstance(text, str):
            return text.model_dump(by_alias=True)
        first, *others = list_text_columns(self._model)
        return (
            dict.fromkeys(NamedColumns.of(self._model).beside)
            | {first: text}
            | dict.fromkeys(others, "")
        )

    def _as_in_the_data(self, labels):
        """Labels as the training data had them, each once: ids, URIs or names."""
        ids = dict.fromkeys(map(self._id, labels))
        if "labels" in self._model.transform.get("source", {}).get("files", {}):
            return list(ids)
        names = self._predictor.label_names
        uris = self._predictor.label_uris
        return [(uris[label] if uris else "") or names[label] for label in ids]

    def _id(self, label):
        if isinstance(label, str):
            number = self._ids.get(label.strip())
            if number is None:
                raise InputError(f"no label {label[:100]!r}")
            return number
        if label >= self._predictor.n_labels:
            last = self._predictor.n_labels - 1
            raise InputError(f"no label {label}: their ids run from 0 to {last}")
        return label

    @cached_property
    def _ids(self):
        return number_labels_by_mark(self._model)


def _make_record_id(texts):
    """An id that the same text always has."""
    content = json.dumps(texts, sort_keys=True).encode()
    return f"text:{hashlib.sha256(content).hexdigest()[:16]}"


def _format_utc(time):
    """A time in UTC as lines have it, so that they are in the order of their times."""
    return time.astimezone(UTC).isoformat(timespec="seconds")
