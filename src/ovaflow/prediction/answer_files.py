"""Labels of instances as lines of text: JSON Lines, CSV, TSV, XMC text, or a table to read."""

import csv
import io
import json
from typing import NamedTuple

from ovaflow.prediction.answer import Answer, AnsweredLabel, find_table_columns
from ovaflow.storage.writing import to_csv_cell


class AnsweredRecord(NamedTuple):
    """An instance whose labels are written."""

    number: int  # from 1
    name: str | None
    text: str | None
    kept: tuple  # texts of further columns

    @property
    def shown(self):
        """Its name, or its number where it has none."""
        return self.number if self.name is None else self.name


class AnswerFormat:
    """How answers are written, one after the other, and what is before and after them."""

    head = tail = ""

    def begin(self, out) -> None:
        out.write(self.head)

    def end(self, out, n) -> None:
        """Write what follows n answers."""
        out.write(self.tail)

    def remarks(self, n, n_empty):
        """What a person should know of n answers, of which some are without labels."""
        return ()


class JsonLines(AnswerFormat):
    """One object per line: the instance's ``id``, and its answer as the service has it."""

    def write(self, record, answer):
        entry = {} if record.name is None else {"id": record.name}
        return json.dumps(entry | answer.as_json(), ensure_ascii=False) + "\n"


class _Table(AnswerFormat):
    """Columns of an instance, of its labels and of the answer, as their fields declare them."""

    def __init__(self, uris, probabilistic, kept, delimiter=",") -> None:
        has = {None: True, "uris": uris, "second stage": probabilistic}
        label_columns = find_table_columns(AnsweredLabel)
        # URIs are long, so they come last
        label_columns["uri"] = label_columns.pop("uri")
        self._label_fields = self._names_of(
            {field: each for field, each in label_columns.items() if has[each.needs]}
        )
        answer_columns = find_table_columns(Answer)
        self._answer_fields = {
            field: each.name for field, each in answer_columns.items() if has[each.needs]
        }
        self.columns = [
            "instance",
            *kept,
            *self._label_fields.values(),
            *self._answer_fields.values(),
        ]
        self._delimiter = delimiter
        self.head = self._lines([self.columns])

    def write(self, record, answer):
        first = [record.shown, *map(to_csv_cell, record.kept)]
        last = [getattr(answer, field) for field in self._answer_fields]
        return self._lines([*first, *cells, *last] for cells in self._rows(answer.labels))

    def _lines(self, rows):
        out = io.StringIO()
        csv.writer(out, delimiter=self._delimiter, lineterminator="\n").writerows(rows)
        return out.getvalue()


class Csv(_Table):
    """One label per line, with the name of the instance, or its number, and its ``kept`` columns."""

    def _names_of(self, columns):
        return {"rank": "rank"} | {field: column.name for field, column in columns.items()}

    def remarks(self, n, n_empty):
        if n_empty:
            remark = "is kept, so they have no line; --joined gives each a row"
            yield f"no label of {n_empty:,} of {n:,} instances {remark}"

    def _rows(self, labels):
        for rank, label in enumerate(labels, 1):
            values = dict(label) | {"rank": rank, "name": to_csv_cell(label.name)}
            yield [values[field] for field in self._label_fields]


class JoinedCsv(_Table):
    """One instance per line, with its ``kept`` columns, and its labels in one field."""

    def __init__(self, mark, *described) -> None:
        super().__init__(*described)
        self._mark = mark

    def _names_of(self, columns):
        return {field: column.joined for field, column in columns.items() if column.joined}

    def _rows(self, labels):
        cells = []
        for field in self._label_fields:
            values = [getattr(label, field) for label in labels]
            joined = self._mark.join("" if value is None else str(value) for value in values)
            cells.append(to_csv_cell(joined) if field == "name" else joined)
        yield cells


BYTE_ORDER_MARK = "\ufeff"
"""Spreadsheets know UTF-8 by this mark."""


class XmcText(AnswerFormat):
    """``label:score label:score`` per line, below a header of instances and labels."""

    def __init__(self, n_labels) -> None:
        self._n_labels = n_labels
        self.head = self.first_line(0)

    def first_line(self, n):
        """The header of n instances, padded with spaces: it is written again at the end."""
        return f"{n} {self._n_labels}".ljust(39) + "\n"

    def write(self, record, answer):
        return " ".join(f"{label.id}:{label.score}" for label in answer.labels) + "\n"

    def end(self, out, n) -> None:
        out.seek(0)
        out.write(self.first_line(n))


class TerminalTable(AnswerFormat):
    """Answers as people read them: one label per line."""

    def __init__(self, titled) -> None:
        self._titled = titled

    def write(self, record, answer):
        lines = []
        for rank, label in enumerate(answer.labels, 1):
            figure = (
                f"{label.score:8.4f}"
                if label.probability is None
                else f"{100 * label.probability:6.1f} %"
            )
            lines.append(f"{rank:4}  {figure}  {label.name}\n")
        table = "".join(lines) or "   no labels\n"
        if not self._titled:
            return table
        title = " ".join((record.text or "").split())
        if len(title) > 100:
            title = f"{title[:99]}…"
        return f"{record.shown}  {title}\n{table}\n"
