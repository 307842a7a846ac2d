"""Labels of instances as lines of text: JSON Lines, CSV, XMC text, or a table to read."""

import csv
import io
import json
from typing import NamedTuple

import numpy as np

from ovaflow.storage.writing import cell_of


class Record(NamedTuple):
    """Whose labels are written."""

    number: int  # from 1
    name: str | None
    text: str | None
    kept: tuple  # texts of further columns


def _number(value):
    """Fewest digits that give the same float32 again."""
    return float(str(value))


_QUALITY = ("expected_precision", "expected_recall")
"""Names of what a second stage says of an answer."""


def expected_quality_fields(quality):
    """Expected precision and recall by name; None where unknown, as the precision of no labels."""
    if quality is None:
        return dict.fromkeys(_QUALITY)
    shares = zip(_QUALITY, (quality.precision, quality.recall), strict=True)
    return {name: None if np.isnan(share) else round(float(share), 4) for name, share in shares}


class JsonLines:
    """One object per line, ``{"labels": [{"id": 3, "name": "name", "score": 0.5}]}``, with the instance's ``id``."""

    head = ""

    def write(self, record, answer):
        entry = {} if record.name is None else {"id": record.name}
        entry["labels"] = list(map(_label_entry, answer.labels))
        if answer.quality is not None:
            entry |= expected_quality_fields(answer.quality)
        return json.dumps(entry, ensure_ascii=False) + "\n"


def _label_entry(label):
    entry = {"id": label.id, "name": label.name}
    if label.uri:
        entry["uri"] = label.uri
    return entry | figures_of(label)


def figures_of(label):
    """The score of a label, and its probability where it has one."""
    figures = {"score": _number(label.score)}
    return figures if label.probability is None else figures | {"probability": _number(label.probability)}


class Csv:
    """One label per line, with the name of the instance, or its number, and its ``kept`` columns."""

    def __init__(self, uris, probabilistic, kept):
        self._fields = {"id": "id", "label": "name", "score": "score"}
        if probabilistic:
            self._fields["probability"] = "probability"
        if uris:
            self._fields["uri"] = "uri"
        self.columns = ["instance", *kept, "rank", *self._fields]
        if probabilistic:
            self.columns += _QUALITY
        self.head = _csv_lines([self.columns])

    def write(self, record, answer):
        rows, first, last = [], _first_cells(record), _last_cells(answer)
        for rank, label in enumerate(answer.labels, 1):
            label = label._replace(name=cell_of(label.name))
            fields = [getattr(label, field) for field in self._fields.values()]
            rows.append([*first, rank, *fields, *last])
        return _csv_lines(rows)


BYTE_ORDER_MARK = "\ufeff"
"""By which spreadsheets know UTF-8."""


class JoinedCsv:
    """One instance per line, with its ``kept`` columns, and its labels in one field."""

    def __init__(self, mark, uris, probabilistic, kept):
        self._mark, self._fields = mark, {"labels": "name", "scores": "score"}
        if probabilistic:
            self._fields["probabilities"] = "probability"
        if uris:
            self._fields["uris"] = "uri"
        self.columns = ["instance", *kept, *self._fields]
        if probabilistic:
            self.columns += _QUALITY
        self.head = _csv_lines([self.columns])

    def write(self, record, answer):
        row = _first_cells(record)
        for field in self._fields.values():
            cell = self._mark.join(str(getattr(label, field)) for label in answer.labels)
            row.append(cell_of(cell) if field == "name" else cell)
        return _csv_lines([row + _last_cells(answer)])


def _first_cells(record):
    instance = record.number if record.name is None else record.name
    return [instance, *map(cell_of, record.kept)]


def _last_cells(answer):
    return [] if answer.quality is None else [*expected_quality_fields(answer.quality).values()]


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

    def write(self, record, answer):
        return " ".join(f"{label.id}:{label.score}" for label in answer.labels) + "\n"


class TerminalTable:
    """For people: one label per line."""

    head = ""

    def __init__(self, titled):
        self._titled = titled

    def write(self, record, answer):
        lines = []
        for rank, label in enumerate(answer.labels, 1):
            figure = f"{label.score:8.4f}" if label.probability is None else f"{100 * label.probability:6.1f} %"
            lines.append(f"{rank:4}  {figure}  {label.name}\n")
        table = "".join(lines) or "   no labels\n"
        if not self._titled:
            return table
        title = " ".join((record.text or "").split())
        if len(title) > 100:
            title = f"{title[:99]}…"
        name = record.number if record.name is None else record.name
        return f"{name}  {title}\n{table}\n"
