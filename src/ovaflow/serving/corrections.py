"""What people say the labels of texts are: lines of a file that the next training reads."""

import errno
import hashlib
import json
import logging
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from fastapi import HTTPException

from ovaflow.console.errors import InputError
from ovaflow.prediction.sources import NamedColumns, columns_of, id_columns_of, labels_columns_of
from ovaflow.storage.appending import append_lines, require_appendable

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_log = logging.getLogger(__name__)


class Correction(NamedTuple):
    """A text and the labels that a person has chosen: ids, URIs or names."""

    text: str
    labels: list
    suggested: tuple = ()
    id: str | None = None


def check_corrections(predictor, path):
    """Refuse a model or a file with which no correction could be saved."""
    if not predictor.takes_text:
        message = "was trained on features, and only corrections of texts are saved"
        raise InputError(message, path=predictor.model.path, remedy="leave out --corrections")
    require_appendable(path)


class Corrections:
    """A file of JSON Lines with the columns of the data that a model was trained on."""

    def __init__(self, predictor, path, queue):
        self._predictor, self._model = predictor, predictor.model
        self._path, self._queue = path, queue

    async def save(self, corrections):
        """Add a line for each correction, or none; return their time. InputError for unknown labels."""
        return await self._queue.run(self._save, corrections)

    def _save(self, corrections):
        time = datetime.now(UTC).isoformat(timespec="seconds")
        entries = [self._entry(correction, time) for correction in corrections]
        try:
            append_lines(self._path, (json.dumps(entry, ensure_ascii=False) for entry in entries))
        except OSError as error:
            reason = error.strerror
            _log.error("a correction is not saved: %s cannot be written: %s", self._path, reason)
            status = 507 if error.errno in _NO_SPACE else 503
            detail = f"not saved: the file of corrections cannot be written: {reason}"
            raise HTTPException(status, detail) from None
        return time

    def _entry(self, correction, time):
        model, texts = self._model, self._texts(correction.text)
        id_column, labels_column = id_columns_of(model)[0], labels_columns_of(model)[0]
        # every column of the data has to be there
        record = {id_column: correction.id or _id_of(texts)} | texts
        record |= dict.fromkeys(labels_columns_of(model), ())
        record[labels_column] = self._as_in_the_data(correction.labels)
        suggested = self._as_in_the_data(correction.suggested)
        origin = {"suggested": suggested, "model": model.checksum, "time": time}
        # columns of the data may be called like these
        return {**record, **origin, **record}

    def _texts(self, text):
        """Texts by column; all of a plain text is in the first."""
        if not isinstance(text, str):
            return text.model_dump(by_alias=True)
        first, *others = columns_of(self._model)
        return dict.fromkeys(NamedColumns.of(self._model).beside) | {first: text} | dict.fromkeys(others, "")

    def _as_in_the_data(self, labels):
        """Labels as the training data had them, each once: ids, URIs or names."""
        ids = dict.fromkeys(map(self._id, labels))
        if "labels" in self._model.transform.get("source", {}).get("files", {}):
            return list(ids)
        names, uris = self._predictor.label_names, self._predictor.label_uris
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
        predictor = self._predictor
        ids = {name: label for label, name in enumerate(predictor.label_names)}
        return ids | {uri: label for label, uri in enumerate(predictor.label_uris) if uri}


def _id_of(texts):
    """An id that the same text always has."""
    content = json.dumps(texts, sort_keys=True).encode()
    return f"text:{hashlib.sha256(content).hexdigest()[:16]}"
