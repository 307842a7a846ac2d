"""Labels of instances as lines of text: JSON Lines, CSV, XMC text, or a table to read."""

import csv
import io
import json
from typing import NamedTuple

import numpy as np

from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.answer_length import labels_that_fit
from ovaflow.settings.models import CANDIDATES


class Label(NamedTuple):
    id: int
    name: str
    score: np.float32  # a probability where the model has a second stage
    uri: str | None = None


def labels_of(predictor, X, k, threads=1, fit=False, min_score=None, suggestions=None):
    """The best k labels of each instance by falling score; ``fit``: as many as fit instead."""
    most = min(CANDIDATES if fit else k, predictor.n_labels)
    ids, scores = predictor.top_k(X, most, threads, suggestions)
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

    def write(self, number, name, text, labels):
        entry = {} if name is None else {"id": name}
        entry["labels"] = [_entry(label) for label in labels]
        return json.dumps(entry, ensure_ascii=False) + "\n"


def _entry(label):
    entry = {"id": label.id, "name": label.name}
    if label.uri is not None:
        entry["uri"] = label.uri
    entry["score"] = _number(label.score)
    return entry


class Csv:
    """One label per line, with the name of the instance, or its number where it has none."""

    def __init__(self, uris):
        self._uris = uris
        self.head = _csv_lines([["instance", "rank", "id", "label", "score"] + ["uri"] * uris])

    def write(self, number, name, text, labels):
        instance, rows = number if name is None else name, []
        for rank, label in enumerate(labels, 1):
            rows.append([instance, rank, *label[:3], *[label.uri] * self._uris])
        return _csv_lines(rows)


class JoinedCsv:
    """One instance per line, with its labels in one field."""

    def __init__(self, mark, uris):
        fields = {"labels": "name", "scores": "score"}
        if uris:
            fields["uris"] = "uri"
        self._mark, self._fields = mark, list(fields.values())
        self.head = _csv_lines([["instance", *fields]])

    def write(self, number, name, text, labels):
        row = [number if name is None else name]
        for field in self._fields:
            row.append(self._mark.join(str(getattr(label, field)) for label in labels))
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

    def write(self, number, name, text, labels):
        return " ".join(f"{label.id}:{label.score}" for label in labels) + "\n"


class Table:
    """For people: one label per line."""

    head = ""

    def __init__(self, titled, probabilistic):
        self._titled, self._probabilistic = titled, probabilistic

    def write(self, number, name, text, labels):
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
