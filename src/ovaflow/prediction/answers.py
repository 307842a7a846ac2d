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


def labels_of(predictor, X, k, threads=1, calibration=None, probabilities=False, thresholds=False):
    """Labels of each instance by falling score, on request with probabilities or only those above their thresholds."""
    ids, scores = predictor.top_k(X, min(k, predictor.n_labels), threads)
    kept = calibration.chosen(ids, scores) if thresholds else ids != NO_LABEL
    shown = calibration.probabilities(ids, scores) if probabilities else np.full(ids.shape, None)
    names = predictor.label_names
    return [
        [Label(j, names[j], *values) for j, kept_, *values in zip(row.tolist(), *rest, strict=True) if kept_]
        for row, *rest in zip(ids, kept, scores, shown, strict=True)
    ]


def _number(value):
    """Fewest digits that give the same float32 again."""
    return float(str(value))


class JsonLines:
    """One object per line, ``{"labels": [{"id": 3, "name": "name", "score": 0.5}]}``, with the instance's ``id``."""

    def start(self):
        return ""

    def write(self, number, name, text, labels):
        entry = {} if name is None else {"id": name}
        entry["labels"] = [
            {"id": label.id, "name": label.name, "score": _number(label.score)}
            | ({} if label.probability is None else {"probability": _number(label.probability)})
            for label in labels
        ]
        return json.dumps(entry, ensure_ascii=False) + "\n"


class Csv:
    """One label per line, with the number of the instance."""

    def __init__(self, probabilities):
        self._columns = ["instance", "rank", "id", "label", "score"] + ["probability"] * probabilities

    def start(self):
        return _csv_lines([self._columns])

    def write(self, number, name, text, labels):
        return _csv_lines(
            [number if name is None else name, rank, *label[: len(self._columns) - 2]]
            for rank, label in enumerate(labels, 1)
        )


def _csv_lines(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


class XmcText:
    """``label:score label:score`` per line, below a header of instances and labels."""

    header = 40
    """Bytes of the first line: the number of instances is put there at the end."""

    def __init__(self, n_labels, probabilities):
        self._n_labels, self._probabilities = n_labels, probabilities

    def start(self):
        return self.first_line(0)

    def first_line(self, n):
        """The header, padded with spaces."""
        return f"{n} {self._n_labels}".ljust(self.header - 1) + "\n"

    def write(self, number, name, text, labels):
        shown = [(label.id, label.probability if self._probabilities else label.score) for label in labels]
        return " ".join(f"{j}:{value}" for j, value in shown) + "\n"


class Table:
    """For people: one label per line."""

    def __init__(self, titled):
        self._titled = titled

    def start(self):
        return ""

    def write(self, number, name, text, labels):
        lines = [f"{number if name is None else name}  {_shortened(text or '', 100)}\n"] if self._titled else []
        if not labels:
            lines.append("   no labels\n")
        for rank, label in enumerate(labels, 1):
            chance = "" if label.probability is None else f"{100 * label.probability:5.1f} %  "
            lines.append(f"{rank:4}  {label.score:8.4f}  {chance}{label.name}\n")
        return "".join(lines) + "\n" * self._titled


def _shortened(text, length):
    words = " ".join(text.split())
    return words if len(words) <= length else words[: length - 1] + "…"
