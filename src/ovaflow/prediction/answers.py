"""Labels of instances as lines of text: JSON Lines, CSV, XMC text, or a table to read."""

import csv
import io
import json
from typing import NamedTuple

import numpy as np

from ovaflow.model.top_k import NO_LABEL


class Label(NamedTuple):
    id: int
    name: str
    score: np.float32
    probability: np.float32 | None = None
    uri: str | None = None


def labels_of(
    predictor,
    X,
    k,
    threads=1,
    calibration=None,
    probabilities=False,
    thresholds=False,
    min_probability=None,
    min_score=None,
):
    """Labels of each instance by falling score; on request with probabilities, or only likely ones."""
    ids, scores = predictor.top_k(X, min(k, predictor.n_labels), threads)
    kept = calibration.chosen(ids, scores) if thresholds else ids != NO_LABEL
    if min_probability is not None:
        kept &= calibration.probabilities(ids, scores) >= min_probability
    if min_score is not None:
        kept &= scores >= min_score
    likely = calibration.probabilities(ids, scores) if probabilities else np.full(ids.shape, None)
    names, uris = predictor.label_names, predictor.label_uris
    for row in zip(ids.tolist(), kept, scores, likely, strict=True):
        labels = []
        for j, is_kept, score, probability in zip(*row, strict=True):
            if is_kept:
                uri = uris[j] if len(uris) else None
                labels.append(Label(j, names[j], score, probability, uri))
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
    if label.probability is not None:
        entry["probability"] = _number(label.probability)
    return entry


class Csv:
    """One label per line, with the name of the instance, or its number where it has none."""

    def __init__(self, probabilities, uris):
        # of the fields of Label
        self._width, self._uris = 4 if probabilities else 3, uris
        columns = ["instance", "rank", "id", "label", "score", "probability"][: 2 + self._width]
        self.head = _csv_lines([columns + ["uri"] * uris])

    def write(self, number, name, text, labels):
        instance, rows = number if name is None else name, []
        for rank, label in enumerate(labels, 1):
            rows.append([instance, rank, *label[: self._width], *[label.uri] * self._uris])
        return _csv_lines(rows)


class JoinedCsv:
    """One instance per line, with its labels in one field."""

    def __init__(self, mark, probabilities, uris):
        fields = {"labels": "name", "scores": "score"}
        if probabilities:
            fields["probabilities"] = "probability"
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

    def __init__(self, n_labels, probabilities):
        self._n_labels, self._probabilities = n_labels, probabilities
        self.head = self.first_line(0)

    def first_line(self, n):
        """The header of n instances, padded with spaces: it is written again at the end."""
        return f"{n} {self._n_labels}".ljust(39) + "\n"

    def write(self, number, name, text, labels):
        field = "probability" if self._probabilities else "score"
        return " ".join(f"{label.id}:{getattr(label, field)}" for label in labels) + "\n"


class Table:
    """For people: one label per line."""

    head = ""

    def __init__(self, titled):
        self._titled = titled

    def write(self, number, name, text, labels):
        lines = []
        for rank, label in enumerate(labels, 1):
            chance = "" if label.probability is None else f"{100 * label.probability:5.1f} %  "
            lines.append(f"{rank:4}  {label.score:8.4f}  {chance}{label.name}\n")
        table = "".join(lines) or "   no labels\n"
        if not self._titled:
            return table
        title = " ".join((text or "").split())
        if len(title) > 100:
            title = f"{title[:99]}…"
        return f"{number if name is None else name}  {title}\n{table}\n"
