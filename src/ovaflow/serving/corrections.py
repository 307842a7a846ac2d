"""Corrections: labels that people chose for texts, as lines of a file that the next training reads,
and that the page shows again.
"""

import contextlib
import errno
import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from fastapi import HTTPException
from pydantic import BaseModel

from ovaflow.console.errors import InputError, StrPath
from ovaflow.labels.matrix import number_labels_by_mark
from ovaflow.prediction.explanation import make_label_entry
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.sources import (
    NamedColumns,
    list_id_columns,
    list_label_columns,
    list_text_columns,
)
from ovaflow.serving.replies import ExtendedProblem
from ovaflow.serving.saved_records import SavedRecord, SavedRecords, make_version
from ovaflow.serving.scoring_queue import ScoringQueue
from ovaflow.storage.appending import locked_for_appending, require_appendable

_DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors that are answered with status 507."""

_MAX_SHOWN_CHARACTERS = 100
"""Characters of an unknown label that an error repeats."""

_log = logging.getLogger(__name__)


class Correction(NamedTuple):
    """A text and the labels that a person has chosen.

    Attributes
    ----------
    text : str or model
        The text, or texts by column.
    labels, suggested : sequence of int or str
        Chosen labels, and those that the person was shown: ids, URIs or names.
    id : str or None
        Id of the record; by default one made of the text.
    version : str or None
        Version of the record that the person saw, empty if there was none; None: any.
    """

    text: str | BaseModel
    labels: Sequence[int | str]
    suggested: Sequence[int | str] = ()
    id: str | None = None
    version: str | None = None


def check_corrections(predictor: Predictor, path: StrPath) -> None:
    """Refuse a model or a file with which no correction could be saved."""
    if not predictor.takes_text:
        message = "was trained on features, and only corrections of texts are saved"
        raise InputError(message, path=predictor.model.path, remedy="leave out --corrections")
    require_appendable(path)


class Corrections:
    """A file of JSON Lines with the columns of the data that a model was trained on.

    Parameters
    ----------
    predictor : Predictor
        The served model.
    path : path-like
        The file.
    queue : ScoringQueue
        Queue of the threads that read and write.
    """

    def __init__(self, predictor: Predictor, path: StrPath, queue: ScoringQueue) -> None:
        self._predictor = predictor
        self._model = predictor.model
        self._path = path
        self._queue = queue
        self._records = SavedRecords(path, self._describe_entry)

    async def save(
        self, corrections: Sequence[Any], predictor: Predictor | None = None
    ) -> list[dict[str, Any]]:
        """Add a line for each correction, or no line at all.

        Parameters
        ----------
        corrections : sequence of Correction, or of requests with the same fields
        predictor : Predictor, optional
            The served model, with the names of labels in an error.

        Returns
        -------
        list of dict
            Time, id, version, and the time of the earlier correction of the same record, for each.

        Raises
        ------
        InputError
            If a label is unknown.
        ExtendedProblem
            If a record is of another version by now.
        """
        return await self._queue.run(self._save, corrections, predictor or self._predictor)

    async def find(self, request: Any, predictor: Predictor) -> dict[str, Any] | None:
        """Find the last correction of a record, by its id or else its text, with names of labels of
        a predictor.
        """
        return await self._queue.run(self._find, request.id, request.text, predictor)

    async def since(
        self, time: datetime, limit: int, predictor: Predictor
    ) -> tuple[int, list[dict[str, Any]]]:
        """Count the records that were saved at a time or later, and list up to ``limit`` of them,
        the last one first.
        """
        return await self._queue.run(self._since, time, limit, predictor)

    def _find(
        self, record_id: str | None, text: str | BaseModel | None, predictor: Predictor
    ) -> dict[str, Any] | None:
        joined = None
        if text is not None:
            joined = self._join_texts(self._split_text(text))
        with self._answered_errors("read"):
            record = self._records.find(record_id, joined)
        if record is None:
            return None
        return self._describe_record(record, predictor)

    def _since(
        self, time: datetime, limit: int, predictor: Predictor
    ) -> tuple[int, list[dict[str, Any]]]:
        with self._answered_errors("read"):
            total, records = self._records.since(_format_utc(time), limit)
        return total, [self._describe_record(record, predictor) for record in records]

    def _save(self, corrections: Sequence[Any], predictor: Predictor) -> list[dict[str, Any]]:
        time = _format_utc(datetime.now(UTC))
        lines = []
        saved = []
        with self._answered_errors("written"), locked_for_appending(self._path) as append_lines:
            for correction in corrections:
                entry = self._make_entry(correction, time)
                record_id = entry[self._id_column]
                earlier = self._records.find(record_id)
                if correction.version is not None:
                    self._require_version(correction.version, earlier, predictor)
                line = json.dumps(entry, ensure_ascii=False)
                lines.append(line)
                saved.append(
                    {
                        "time": time,
                        "id": record_id,
                        "replaces": None if earlier is None else earlier.time,
                        "version": make_version(line.encode()),
                    }
                )
            append_lines(lines)
        return saved

    def _require_version(
        self, version: str, saved: SavedRecord | None, predictor: Predictor
    ) -> None:
        """Refuse a correction of a version unless it is the one that is saved."""
        # where nothing is saved, or not any more, nothing is lost
        if saved is None or saved.version == version:
            return
        raise ExtendedProblem(
            409,
            f"the record was saved at {saved.time} by someone else: show both, and send the "
            "version of what is saved",
            code="stale",
            correction=self._describe_record(saved, predictor),
        )

    @contextlib.contextmanager
    def _answered_errors(self, action: str) -> Iterator[None]:
        """Answer an error of the file, which could not be read or written."""
        try:
            yield
        except OSError as error:
            _log.error("corrections: %s cannot be %s: %s", self._path, action, error.strerror)
            status = 507 if error.errno in _DISK_FULL_ERRORS else 503
            detail = f"the file of corrections cannot be {action}: {error.strerror}"
            if action == "written":
                detail = f"not saved: {detail}"
            raise HTTPException(status, detail) from None

    def _describe_record(self, record: SavedRecord, predictor: Predictor) -> dict[str, Any]:
        """Describe a saved record; labels that the model does not have are listed separately."""
        entry = record.entry
        labels = []
        unknown = []
        for column in list_label_columns(self._model):
            for label in entry.get(column, ()):
                try:
                    labels.append(make_label_entry(predictor, self._find_label(label)))
                except InputError:
                    unknown.append(str(label))
        answer: dict[str, Any] = {
            "id": str(entry[self._id_column]),
            "labels": labels,
            "unknown": unknown,
        }
        columns = NamedColumns.from_model(self._model)
        names = [*columns.texts, *columns.feature_names]
        if len(names) > 1:
            answer["columns"] = {name: entry.get(name) for name in names}
        answer["text"] = self._join_texts(entry)
        return answer | {"time": record.time, "times": record.times, "version": record.version}

    @property
    def _id_column(self) -> str:
        return list_id_columns(self._model)[0]

    def _describe_entry(self, entry: Mapping[str, Any]) -> tuple[str, str]:
        """Return the id and the text of a line."""
        return str(entry[self._id_column]), self._join_texts(entry)

    def _join_texts(self, entry: Mapping[str, Any]) -> str:
        """Join the text columns of a line, or of texts by column."""
        texts = [entry[column] for column in list_text_columns(self._model)]
        return " ".join(text for text in texts if text)

    def _make_entry(self, correction: Any, time: str) -> dict[str, Any]:
        model = self._model
        texts = self._split_text(correction.text)
        record = {self._id_column: correction.id or _make_record_id(texts)} | texts
        # every column of the data has to be there
        label_columns = list_label_columns(model)
        record |= dict.fromkeys(label_columns, ())
        record[label_columns[0]] = self._mark_labels(correction.labels)
        suggested = self._mark_labels(correction.suggested)
        origin = {"suggested": suggested, "model": model.checksum, "time": time}
        # columns of the data with these names hold the data
        return {**record, **origin, **record}

    def _split_text(self, text: str | BaseModel) -> dict[str, Any]:
        """Return texts by column; a plain text is in the first one."""
        if not isinstance(text, str):
            return text.model_dump(by_alias=True)
        first, *others = list_text_columns(self._model)
        columns: dict[str, Any] = dict.fromkeys(NamedColumns.from_model(self._model).feature_names)
        columns[first] = text
        return columns | dict.fromkeys(others, "")

    def _mark_labels(self, labels: Iterable[int | str]) -> list[int] | list[str]:
        """Return the ids, URIs or names that labels had in the training data, each once."""
        ids = list(dict.fromkeys(self._find_label(label) for label in labels))
        if "labels" in self._model.transform.get("source", {}).get("files", {}):
            return ids
        names = self._predictor.label_names
        uris = self._predictor.label_uris
        marks = []
        for label in ids:
            uri = uris[label] if uris else ""
            marks.append(uri or names[label])
        return marks

    def _find_label(self, label: int | str) -> int:
        """Find the id of a label by its id, URI or name; InputError if there is none."""
        if isinstance(label, str):
            number = self._ids_by_mark.get(label.strip())
            if number is None:
                raise InputError(f"no label {label[:_MAX_SHOWN_CHARACTERS]!r}")
            return number
        if label >= self._predictor.n_labels:
            last = self._predictor.n_labels - 1
            raise InputError(f"no label {label}: their ids run from 0 to {last}")
        return label

    @cached_property
    def _ids_by_mark(self) -> Mapping[str, int]:
        return number_labels_by_mark(self._model)


def _make_record_id(texts: Mapping[str, Any]) -> str:
    """Make an id that the same text always has."""
    content = json.dumps(texts, sort_keys=True).encode()
    return f"text:{hashlib.sha256(content).hexdigest()[:16]}"


def _format_utc(time: datetime) -> str:
    """Format a time in UTC, so that the order of the texts is that of the times."""
    return time.astimezone(UTC).isoformat(timespec="seconds")
