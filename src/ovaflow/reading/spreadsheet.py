"""Sheets of Excel (.xlsx, .xlsm) and LibreOffice (.ods), by python-calamine."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError
from xml.parsers.expat import ExpatError
from zipfile import BadZipFile

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.columns import normalize_column_name
from ovaflow.reading.csv_table import select_fields
from ovaflow.reading.instances import Reading, TextInstance, empty_file_error
from ovaflow.reading.sheet_marks import CELL_ERRORS, CellMark, SheetMarks, read_marks
from ovaflow.reading.streams import RecordFile

ALL_SHEETS = "all"
"""The setting ``sheet`` for all sheets that have the columns."""
_MOST_TITLE_ROWS = 20
"""Rows above the header, which may be a title, a date, a remark."""


def read(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield the instances of one or several sheets of a workbook."""
    workbook = _Workbook(file, reading.required)
    tables, others = _choose_tables(workbook, reading.sheet)
    reading.seen["sheet"] = _list_tables(tables)
    reading.seen["sheets_not_read"] = _list_tables(others)
    _count_others(others, workbook.path, reading)
    wanted = reading.wanted_columns._replace(
        remedy=f"{reading.remedy}, or write the names of the columns into the row above the records"
    )
    columns: dict[str, None] = {}
    marked: list[_MarkedCell] = []
    records_by_sheet = []
    for table in tables:
        path = file.name
        if len(workbook.names) > 1:
            path = f"{file.name}, sheet {table.sheet!r}"
        if not table.rows:
            raise empty_file_error(path)
        columns |= dict.fromkeys(name for name in table.names if name)
        reading.seen["columns"] = list(columns)
        records = []
        fields_by_row = select_fields(table.names, table.records, wanted, path, header_line=None)
        for number, cells in fields_by_row:
            records.append((number, _take_values(cells, marked)))
        records_by_sheet.append((table.sheet, path, records))
    _count_marked(marked, reading)
    for sheet, path, records in records_by_sheet:
        for number, fields in records:
            location = f"sheet {sheet!r}, row {number}" if len(tables) > 1 else None
            yield reading.make_instance(fields, path, row=number, location=location)


class _MarkedCell(NamedTuple):
    """A cell whose value is not what the sheet shows."""

    value: Any
    mark: CellMark


class _Table(NamedTuple):
    """The rows of a sheet that are not empty, with their numbers from 1; ``n_rows`` counts them."""

    sheet: str
    rows: list[tuple[int, list]]
    n_rows: int
    header: int | None  # its place; None without a row that names all columns

    @property
    def names(self) -> list[str]:
        """The names of the columns, empty for a column without one."""
        _, header = self.rows[self.header or 0]
        return [_write_name(cell) for cell in header]

    @property
    def records(self) -> list[tuple[int, list]]:
        """The rows below the header."""
        return self.rows[(self.header or 0) + 1 :]

    def __str__(self) -> str:
        n_records = self.n_rows
        if self.header is not None:
            n_records -= self.header + 1
        return f"{self.sheet!r} ({n_records:,} rows)"


class _Workbook:
    """A workbook whose sheets are read one at a time."""

    def __init__(self, file: RecordFile, required: list[str]) -> None:
        try:
            from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum
        except ImportError:
            raise InputError(
                "spreadsheets need python-calamine", remedy="pip install 'ovaflow[sheets]'"
            ) from None
        self.path = file.name
        self._required = required
        self._damages = (CalamineError, BadZipFile, ParseError, ExpatError)
        try:
            with file.seekable() as stream:
                self._workbook = CalamineWorkbook.from_filelike(stream)
                stream.seek(0)
                self._marks = read_marks(stream)
        except self._damages as error:
            raise self._unreadable_error(error) from None
        self.names = []
        for sheet in self._workbook.sheets_metadata:
            if sheet.typ == SheetTypeEnum.WorkSheet:
                self.names.append(sheet.name)

    def read(self, name: str) -> _Table:
        """Read a sheet."""
        try:
            sheet = self._workbook.get_sheet_by_name(name)
            rows = sheet.to_python(skip_empty_area=False)
        except self._damages as error:
            raise self._unreadable_error(error) from None
        _mark_cells(rows, self._marks.get(name, {}))
        _fill_merged_cells(rows, sheet.merged_cell_ranges or ())
        filled = []
        for number, row in enumerate(rows, 1):
            if any(cell != "" for cell in row):
                filled.append((number, [_convert_cell(cell) for cell in row]))
        return _Table(name, filled, len(filled), _find_header(filled, self._required))

    def _unreadable_error(self, error: Exception) -> InputError:
        return InputError(
            f"not a readable spreadsheet ({error})",
            path=self.path,
            remedy="save it again as .xlsx, .ods or CSV UTF-8",
        )


def _choose_tables(
    workbook: _Workbook, sheet: str | list[str] | None
) -> tuple[list[_Table], list[_Table]]:
    """Choose the tables to read, and describe the others without their rows.

    By default the first is read that has the columns. Where none has, the first that has rows is,
    so that its columns are shown.
    """
    named = _list_sheets(workbook, sheet)
    chosen: list[_Table] = []
    others: list[_Table] = []
    for name in workbook.names:
        table = workbook.read(name)
        if named:
            is_chosen = name in named
        else:
            is_chosen = table.header is not None and (sheet == ALL_SHEETS or not chosen)
        if is_chosen:
            chosen.append(table)
        elif table.rows:
            others.append(table._replace(rows=[]))
    if not chosen:
        if not others:
            raise empty_file_error(workbook.path)
        chosen.append(workbook.read(others.pop(0).sheet))
    return chosen, others


def _list_sheets(workbook: _Workbook, sheet: str | list[str] | None) -> list[str]:
    """List the sheets that are named, each of which must exist."""
    if sheet is None or sheet == ALL_SHEETS:
        return []
    named = sheet if isinstance(sheet, list) else [sheet]
    for name in named:
        if name not in workbook.names:
            existing = ", ".join(repr(each) for each in workbook.names)
            raise InputError(
                f"no sheet {name!r}", path=workbook.path, remedy=f"set sheet to one of {existing}"
            )
    return named


def _list_tables(tables: list[_Table]) -> str:
    return ", ".join(str(table) for table in tables)


def _count_others(others: list[_Table], path: StrPath, reading: Reading) -> None:
    """Count the sheets that are not read, unless those that are read were named."""
    if not others or reading.sheet not in (None, ALL_SHEETS):
        return
    remark = f"{_list_tables(others)} of {path}"
    if reading.sheet is None and any(table.header is not None for table in others):
        remark += f" (sheet: {ALL_SHEETS} reads those with the same columns, too)"
    counts: dict[str, Any] = reading.counts
    earlier = counts.get("sheets_not_read")
    counts["sheets_not_read"] = f"{earlier}, {remark}" if earlier else remark


def _take_values(cells: list, marked: list[_MarkedCell]) -> list:
    """Take the values of some cells, and collect those that are marked."""
    values = []
    for cell in cells:
        if isinstance(cell, _MarkedCell):
            marked.append(cell)
            cell = cell.value
        values.append(cell)
    return values


def _count_marked(marked: list[_MarkedCell], reading: Reading) -> None:
    """Count the cells of the columns that are read whose values are not what the sheet shows."""
    errors = Counter(cell.mark.name for cell in marked if not cell.mark.has_value)
    reading.seen["cell_errors"] = dict(errors)
    counts: dict[str, Any] = reading.counts
    for name, count in errors.items():
        reading.counts[f"{CELL_ERRORS}{name}"] += count
    shown = [cell for cell in marked if cell.mark.has_value]
    if shown:
        first = f"{shown[0].mark.name}, which is read as {shown[0].value}"
        reading.seen["shown_numbers"] = (len(shown), first)
        reading.counts["shown_numbers"] += len(shown)
        counts.setdefault("first_shown_number", first)


def _find_header(rows: list[tuple[int, list]], required: list[str]) -> int | None:
    """Find the place of the first row with the names of all columns."""
    wanted = {normalize_column_name(name) for name in required}
    for place, (_, row) in enumerate(rows[:_MOST_TITLE_ROWS]):
        if wanted <= {normalize_column_name(_write_name(cell)) for cell in row}:
            return place
    return None


def _write_name(cell: Any) -> str:
    """Write the name in a cell of the header; empty for an empty cell."""
    if isinstance(cell, _MarkedCell):
        cell = cell.value
    if cell is None:
        return ""
    return str(cell).strip()


def _mark_cells(rows: list[list], marks: SheetMarks) -> None:
    """Replace the cells whose values are not what the sheet shows."""
    for (row, column), mark in marks.items():
        # a sheet ends at its last cell with a value
        if row < len(rows) and column < len(rows[row]):
            value = rows[row][column] if mark.has_value else ""
            rows[row][column] = _MarkedCell(_convert_cell(value), mark)


def _fill_merged_cells(rows: list[list], merged_ranges: Sequence) -> None:
    """Copy the content of merged cells to each of them: it is shown once, and meant in each row."""
    for (first, left), (last, right) in merged_ranges:
        for row in rows[first : last + 1]:
            for column in range(left, min(right + 1, len(row))):
                row[column] = rows[first][left]


def _convert_cell(cell: Any) -> Any:
    """Convert a cell to the types of other formats; sheets store whole numbers as 3.0."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    if cell == "":
        return None
    return cell
