"""Labels of instances as lines of text: JSON Lines, CSV, TSV, XMC text, or a table to read."""

import csv
import io
import json
from typing import ClassVar, NamedTuple

import numpy as np

from ovaflow.storage.writing import cell_of


class Record(NamedTuple):
    """An instance whose labels are written."""

    number: int  # from 1
    name: str | None
    text: str | None
    kept: tuple  # texts of further columns

    @property
    def shown(self):
        """Its name, or its number where it has none."""
        return self.number if self.name is None else self.name


def shortest(value):
    """The number of the fewest digits that give the same float32 again."""
    return float(str(value))


_QUALITY = ("expected_precision", "expected_recall")
"""Names of what a second stage says of an answer."""


def expected_quality_fields(quality):
    """Expected precision and recall by name; None where unknown, as the precision of no labels."""
    if quality is None:
        return dict.fromkeys(_QUALITY)
    shares = zip(_QUALITY, (quality.precision, quality.recall), strict=True)
    return {name: None if np.isnan(share) else round(float(share), 4) for name, share in shares}


class Answers:
    """How answers are written, one after the other, and what is before and after them."""

    head = tail = ""

    def begin(self, out):
        out.write(self.head)

    def end(self, out, n):
        """Write what follows n answers."""
        out.write(self.tail)

    def remarks(self, n, n_empty):
        """What a person should know of n answers, of which some are without labels."""
        return ()


class JsonLines(Answers):
    """One object per line, ``{"labels": [{"id": 3, "name": "name", "score": 0.5}]}``, with the instance's ``id``."""

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
    figures = {"score": shortest(label.score)}
    return figures if label.probability is None else figures | {"probability": shortest(label.probability)}


class _Table(Answers):
    """Columns of an instance, of its labels by ``fields`` and of the answer; what is unknown of a model has none."""

    fields: ClassVar[dict]

    def __init__(self, uris, probabilistic, kept, delimiter=","):
        absent = {"probability": not probabilistic, "uri": not uris}
        self._fields = {column: field for column, field in self.fields.items() if not absent.get(field)}
        quality = _QUALITY if probabilistic else ()
        self.columns = ["instance", *kept, *self._fields, *quality]
        self._delimiter = delimiter
        self.head = self._lines([self.columns])

    def write(self, record, answer):
        first = [record.shown, *map(cell_of, record.kept)]
        last = [] if answer.quality is None else expected_quality_fields(answer.quality).values()
        return self._lines([*first, *cells, *last] for cells in self._rows(answer.labels))

    def _lines(self, rows):
        out = io.StringIO()
        csv.writer(out, delimiter=self._delimiter, lineterminator="\n").writerows(rows)
        return out.getvalue()


class Csv(_Table):
    """One label per line, with the name of the instance, or its number, and its ``kept`` columns."""

    fields: ClassVar = {
        "rank": "rank",
        "id": "id",
        "label": "name",
        "score": "score",
        "probability": "probability",
        "uri": "uri",
    }

    def remarks(self, n, n_empty):
        if n_empty:
            remark = "is kept, so they have no line; --joined gives each a row"
            yield f"no label of {n_empty:,} of {n:,} instances {remark}"

    def _rows(self, labels):
        for rank, label in enumerate(labels, 1):
            values = label._asdict() | {"rank": rank, "name": cell_of(label.name)}
            yield map(values.get, self._fields.values())


class JoinedCsv(_Table):
    """One instance per line, with its ``kept`` columns, and its labels in one field."""

    fields: ClassVar = {"labels": "name", "scores": "score", "probabilities": "probability", "uris": "uri"}

    def __init__(self, mark, *described):
        super().__init__(*described)
        self._mark = mark

    def _rows(self, labels):
        cells = [self._mark.join(str(getattr(label, field)) for label in labels) for field in self._fields.values()]
        yield [cell_of(cells[0]), *cells[1:]]


BYTE_ORDER_MARK = "\ufeff"
"""Spreadsheets know UTF-8 by this mark."""


class XmcText(Answers):
    """``label:score label:score`` per line, below a header of instances and labels."""

    def __init__(self, n_labels):
        self._n_labels = n_labels
        self.head = self.first_line(0)

    def first_line(self, n):
        """The header of n instances, padded with spaces: it is written again at the end."""
        return f"{n} {self._n_labels}".ljust(39) + "\n"

    def write(self, record, answer):
        return " ".join(f"{label.id}:{label.score}" for label in answer.labels) + "\n"

    def end(self, out, n):
        out.seek(0)
        out.write(self.first_line(n))


class TerminalTable(Answers):
    """Answers as people read them: one label per line."""

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
        return f"{record.shown}  {title}\n{table}\n"
