"""Labels of instances as lines of text: JSON Lines, CSV, XMC text, or a table to read."""

import csv
import io
import json
from typing import NamedTuple

import numpy as np

from ovaflow.sparse.best import NO_LABEL


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
    """Labels of one instance after the other by falling score, with probabilities or only likely ones on request."""
    ids, scores = predictor.top_k(X, min(k, predictor.n_labels), threads)
    kept = calibration.chosen(ids, scores) if thresholds else ids != NO_LABEL
    if min_probability is not None:
        kept &= calibration.probabilities(ids, scores) >= min_probability
    if min_score is not None:
        kept &= scores >= min_score
    shown = calibration.probabilities(ids, scores) if probabilities else np.full(ids.shape, None)
    names, uris = predictor.label_names, predictor.label_uris
    for row, *rest in zip(ids, kept, scores, shown, strict=True):
        yield [
            Label(j, names[j], *values, uris[j] if len(uris) else None)
            for j, kept_, *values in zip(row.tolist(), *rest, strict=True)
            if kept_
        ]


def _number(value):
    """Fewest digits that give the same float32 again."""
    return float(str(value))


class JsonLines:
    """One object per line, ``{"labels": [{"id": 3, "name": "name", "score": 0.5}]}``, with the instance's ``id``."""

    head = ""

    def write(self, number, name, text, labels):
        entry = {} if name is None else {"id": name}
        entry["labels"] = [
            {"id": label.id, "name": label.name}
            | ({} if label.uri is None else {"uri": label.uri})
            | {"score": _number(label.score)}
            | ({} if label.probability is None else {"probability": _number(label.probability)})
            for label in labels
        ]
        return json.dumps(entry, ensure_ascii=False) + "\n"


class Csv:
    """One label per line, with the name of the instance, or its number where it has none."""

    def __init__(self, probabilities, uris):
        self._width, self._uris = 4 if probabilities else 3, uris
        head = ["instance", "rank", "id", "label", "score", "probability"][: 2 + self._width]
        self.head = _csv_lines([head + ["uri"] * uris])

    def write(self, number, name, text, labels):
        first = number if name is None else name
        return _csv_lines(
            [first, rank, *label[: self._width], *[label.uri] * self._uris] for rank, label in enumerate(labels, 1)
        )


class JoinedCsv:
    """One instance per line, with its labels in one field."""

    def __init__(self, mark, probabilities, uris):
        fields = {"labels": "name", "scores": "score", "probabilities": "probability", "uris": "uri"}
        shown = ["labels", "scores", *["probabilities"] * probabilities, *["uris"] * uris]
        self._mark, self._fields = mark, [fields[name] for name in shown]
        self.head = _csv_lines([["instance", *shown]])

    def write(self, number, name, text, labels):
        first = number if name is None else name
        joined = (self._mark.join(str(getattr(label, field)) for label in labels) for field in self._fields)
        return _csv_lines([[first, *joined]])


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
        shown = [(label.id, label.probability if self._probabilities else label.score) for label in labels]
        return " ".join(f"{j}:{value}" for j, value in shown) + "\n"


class Table:
    """For people: one label per line."""

    head = ""

    def __init__(self, titled):
        self._titled = titled

    def write(self, number, name, text, labels):
        words = " ".join((text or "").split())
        shown = words if len(words) <= 100 else f"{words[:99]}…"
        lines = [f"{number if name is None else name}  {shown}\n"] if self._titled else []
        if not labels:
            lines.append("   no labels\n")
        for rank, label in enumerate(labels, 1):
            chance = "" if label.probability is None else f"{100 * label.probability:5.1f} %  "
            lines.append(f"{rank:4}  {label.score:8.4f}  {chance}{label.name}\n")
        return "".join(lines) + "\n" * self._titled
