"""Labels of instances as lines of text: JSON Lines, CSV, XMC text, or a table to read."""

import csv
import io
import json
from typing import NamedTuple

import numpy as np

from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.answer_length import labels_that_fit
from ovaflow.settings.models import CANDIDATES
from ovaflow.storage.writing import cell_of


class Label(NamedTuple):
    id: int
    name: str
    score: np.float32  # a probability where the model has a second stage
    uri: str | None = None


def labels_of(predictor, X, k, threads=1, fit=False, min_score=None, **further):
    """The best k labels of each instance by falling score; ``fit``: as many as fit instead.

    ``further`` arguments are those of :meth:`Predictor.top_k`.
    """
    most = min(CANDIDATES if fit else k, predictor.n_labels)
    ids, scores = predictor.top_k(X, most, threads, **further)
    amounts = labels_that_fit(scores)[:, None] if fit else k
    return first_labels(predictor, ids, scores, amounts, min_score)


def first_labels(predictor, ids, scores, amounts, min_score=None):
    """The first labels of each instance, of ids and scores (n, k), as many as ``amounts`` (n, 1) or a number says."""
    kept = (ids != NO_LABEL) & (np.arange(ids.shape[1]) < amounts)
    if min_score is not None:
        kept &= scores >= min_score
    names, uris = predictor.label_names, predictor.label_uris
    for row in zip(ids.tolist(), kept, scores, strict=True):
        labels = []
        for j, is_kept, score in zip(*row, strict=True):
            if is_kept:
                labels.append(Label(j, names[j], score, uris[j] if len(uris) else None))
        yield labels


def _number(value):
    """Fewest digits that give the same float32 again."""
    return float(str(value))


class JsonLines:
    """One object per line, ``{"labels": [{"id": 3, "name": "name", "score": 0.5}]}``, with the instance's ``id``."""

    head = ""

    def __init__(self, probabilistic):
        self._probabilistic = probabilistic

    def write(self, number, name, text, labels, kept):
        entry = {} if name is None else {"id": name}
        entry["labels"] = list(map(self._entry, labels))
        return json.dumps(entry, ensure_ascii=False) + "\n"

    def _entry(self, label):
        entry = {"id": label.id, "name": label.name}
        if label.uri is not None:
            entry["uri"] = label.uri
        entry["score"] = _number(label.score)
        if self._probabilistic:
            entry["probability"] = entry["score"]
        return entry


class Csv:
    """One label per line, with the name of the instance, or its number, and its ``kept`` columns."""

    def __init__(self, uris, probabilistic, kept):
        self._fields = {"id": "id", "label": "name", "score": "score"}
        if probabilistic:
            self._fields["probability"] = "score"
        if uris:
            self._fields["uri"] = "uri"
        self.columns = ["instance", *kept, "rank", *self._fields]
        self.head = _csv_lines([self.columns])

    def write(self, number, name, text, labels, kept):
        instance, rows = number if name is None else name, []
        kept = list(map(cell_of, kept))
        for rank, label in enumerate(labels, 1):
            label = label._replace(name=cell_of(label.name))
            fields = [getattr(label, field) for field in self._fields.values()]
            rows.append([instance, *kept, rank, *fields])
        return _csv_lines(rows)


BYTE_ORDER_MARK = "\ufeff"
"""By which spreadsheets know UTF-8."""


class JoinedCsv:
    """One instance per line, with its ``kept`` columns, and its labels in one field."""

    def __init__(self, mark, uris, probabilistic, kept):
        self._mark, self._fields = mark, {"labels": "name", "scores": "score"}
        if probabilistic:
            self._fields["probabilities"] = "score"
        if uris:
            self._fields["uris"] = "uri"
        self.columns = ["instance", *kept, *self._fields]
        self.head = _csv_lines([self.columns])

    def write(self, number, name, text, labels, kept):
        row = [number if name is None else name, *map(cell_of, kept)]
        for field in self._fields.values():
            cell = self._mark.join(str(getattr(label, field)) for label in labels)
            row.append(cell_of(cell) if field == "name" else cell)
        return _csv_lines([row])


def _csv_lines(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


class XmcText:
    """``label:score label:score`` per line, below a header of instances and labels."""

    def __init__(self, n_labels):
        self._n_labels = n_labels
        self.head = self.first_line(0)

    def first_line(self, n):
        """The header of n instances, padded with spaces: it is written again at the end."""
        return f"{n} {self._n_labels}".ljust(39) + "\n"

    def write(self, number, name, text, labels, kept):
        return " ".join(f"{label.id}:{label.score}" for label in labels) + "\n"


class Table:
    """For people: one label per line."""

    head = ""

    def __init__(self, titled, probabilistic):
        self._titled, self._probabilistic = titled, probabilistic

    def write(self, number, name, text, labels, kept):
        lines = []
        for rank, label in enumerate(labels, 1):
            score = f"{100 * label.score:6.1f} %" if self._probabilistic else f"{label.score:8.4f}"
            lines.append(f"{rank:4}  {score}  {label.name}\n")
        table = "".join(lines) or "   no labels\n"
        if not self._titled:
            return table
        title = " ".join((text or "").split())
        if len(title) > 100:
            title = f"{title[:99]}…"
        return f"{number if name is None else name}  {title}\n{table}\n"
