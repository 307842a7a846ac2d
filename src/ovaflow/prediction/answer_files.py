"""Labels of instances as lines of text: JSON Lines, CSV, TSV, XMC text, or a table to read."""

import csv
import io
import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TextIO

from ovaflow.prediction.answer import Answer, AnsweredLabel, TableColumn, find_table_columns
from ovaflow.storage.writing import to_csv_cell

_MAX_TITLE_LETTERS = 100
"""Characters of a text that a terminal shows."""


class AnsweredRecord(NamedTuple):
    """An instance whose labels are written."""

    number: int  # from 1
    name: str | None
    text: str | None
    kept: tuple[str, ...]  # cells of further columns

    @property
    def display_name(self) -> str | int:
        """The name, or the number of a record without a name."""
        return self.number if self.name is None else self.name


class AnswerFormat:
    """A format of answers: the text of each answer, and the text before and after all answers."""

    head = ""
    tail = ""

    def begin(self, out: TextIO) -> None:
        """Write the text before all answers."""
        out.write(self.head)

    @abstractmethod
    def write(self, record: AnsweredRecord, answer: Answer) -> Any:
        """Return the text of an answer."""

    def end(self, out: TextIO, n: int) -> None:
        """Write the text after n answers."""
        out.write(self.tail)

    def remarks(self, n: int, n_empty: int) -> Iterable[str]:
        """Return remarks for people on n answers, of which ``n_empty`` are without labels."""
        return ()


class JsonLines(AnswerFormat):
    """One object per line: the instance's ``id``, and the fields of the service's answers."""

    def write(self, record: AnsweredRecord, answer: Answer) -> str:
        """Return the line of an answer."""
        entry = {} if record.name is None else {"id": record.name}
        return json.dumps(entry | answer.as_json(), ensure_ascii=False) + "\n"


class TableSettings(NamedTuple):
    """The columns and the delimiter of a table."""

    has_uris: bool  # whether labels have URIs
    probabilistic: bool  # whether the model has a second stage
    kept: Sequence[str] = ()  # names of further columns of the records
    delimiter: str = ","


class _Table(AnswerFormat):
    """A table with columns of the instance, of its labels and of the answer."""

    def __init__(self, settings: TableSettings) -> None:
        met = {None: True, "uris": settings.has_uris, "second stage": settings.probabilistic}
        label_columns = {}
        for field, column in find_table_columns(AnsweredLabel).items():
            if met[column.needs]:
                label_columns[field] = column
        if "uri" in label_columns:
            # URIs are long, so they come last
            label_columns["uri"] = label_columns.pop("uri")
        answer_fields = {}
        for field, column in find_table_columns(Answer).items():
            if met[column.needs]:
                answer_fields[field] = column.name
        self._label_fields = self._name_columns(label_columns)
        self._answer_fields = answer_fields
        self._delimiter = settings.delimiter
        self.columns = [
            "instance",
            *settings.kept,
            *self._label_fields.values(),
            *self._answer_fields.values(),
        ]
        self.head = self._format_rows([self.columns])

    @abstractmethod
    def _name_columns(self, columns: dict[str, TableColumn]) -> dict[str, str]:
        """Return the names of the columns of labels, by field."""

    @abstractmethod
    def _make_label_cells(self, labels: Sequence[AnsweredLabel]) -> Iterator[list]:
        """Yield the cells of the labels, row by row."""

    def write(self, record: AnsweredRecord, answer: Answer) -> str:
        """Return the rows of an answer."""
        record_cells = [record.display_name]
        for cell in record.kept:
            record_cells.append(to_csv_cell(cell))
        answer_cells = [getattr(answer, field) for field in self._answer_fields]
        rows = []
        for label_cells in self._make_label_cells(answer.labels):
            rows.append(record_cells + label_cells + answer_cells)
        return self._format_rows(rows)

    def _format_rows(self, rows: Iterable[Sequence]) -> str:
        out = io.StringIO()
        csv.writer(out, delimiter=self._delimiter, lineterminator="\n").writerows(rows)
        return out.getvalue()


class Csv(_Table):
    """One label per line, with the name or number of the instance, and its ``kept`` columns."""

    def _name_columns(self, columns: dict[str, TableColumn]) -> dict[str, str]:
        names = {"rank": "rank"}
        for field, column in columns.items():
            names[field] = column.name
        return names

    def remarks(self, n: int, n_empty: int) -> Iterator[str]:
        """Yield a remark on instances without labels."""
        if n_empty:
            yield (
                f"no label of {n_empty:,} of {n:,} instances is kept, so they have no line; "
                "--joined gives each a row"
            )

    def _make_label_cells(self, labels: Sequence[AnsweredLabel]) -> Iterator[list]:
        for rank, label in enumerate(labels, 1):
            values = dict(label)
            values["rank"] = rank
            values["name"] = to_csv_cell(label.name)
            yield [values[field] for field in self._label_fields]


class JoinedCsv(_Table):
    """One instance per line, with its ``kept`` columns, and its labels in one cell.

    Parameters
    ----------
    settings : TableSettings
        Columns and delimiter.
    mark : str
        Letters between labels.
    """

    def __init__(self, settings: TableSettings, mark: str) -> None:
        super().__init__(settings)
        self._mark = mark

    def _name_columns(self, columns: dict[str, TableColumn]) -> dict[str, str]:
        names = {}
        for field, column in columns.items():
            if column.joined:
                names[field] = column.joined
        return names

    def _make_label_cells(self, labels: Sequence[AnsweredLabel]) -> Iterator[list]:
        cells = []
        for field in self._label_fields:
            values = []
            for label in labels:
                value = getattr(label, field)
                values.append("" if value is None else str(value))
            joined = self._mark.join(values)
            # names alone may look like formulas
            cells.append(to_csv_cell(joined) if field == "name" else joined)
        yield cells


BYTE_ORDER_MARK = "\ufeff"
"""Spreadsheets recognize UTF-8 by this mark."""


class XmcText(AnswerFormat):
    """``label:score label:score`` per line, below a header of instances and labels.

    Parameters
    ----------
    n_labels : int
        Number of labels of the model.
    """

    def __init__(self, n_labels: int) -> None:
        self._n_labels = n_labels
        self.head = self.first_line(0)

    def first_line(self, n: int) -> str:
        """Return the header of n instances, padded with spaces: it is overwritten at the end."""
        return f"{n} {self._n_labels}".ljust(39) + "\n"

    def write(self, record: AnsweredRecord, answer: Answer) -> str:
        """Return the line of an answer."""
        return " ".join(f"{label.id}:{label.score}" for label in answer.labels) + "\n"

    def end(self, out: TextIO, n: int) -> None:
        """Overwrite the header with the number of answers."""
        out.seek(0)
        out.write(self.first_line(n))


class TerminalTable(AnswerFormat):
    """Answers for people: one label per line.

    Parameters
    ----------
    titled : bool
        Whether each answer has a title, its name and text.
    """

    def __init__(self, *, titled: bool) -> None:
        self._titled = titled

    def write(self, record: AnsweredRecord, answer: Answer) -> str:
        """Return the lines of an answer."""
        lines = [f"{rank:4}  {_format_label(label)}" for rank, label in enumerate(answer.labels, 1)]
        table = "".join(lines) or "   no labels\n"
        if not self._titled:
            return table
        title = " ".join((record.text or "").split())
        if len(title) > _MAX_TITLE_LETTERS:
            title = f"{title[: _MAX_TITLE_LETTERS - 1]}…"
        return f"{record.display_name}  {title}\n{table}\n"


def _format_label(label: AnsweredLabel) -> str:
    if label.probability is None:
        return f"{label.score:8.4f}  {label.name}\n"
    return f"{100 * label.probability:6.1f} %  {label.name}\n"
