"""Sheets of Excel (.xlsx, .xlsm) and LibreOffice (.ods), by python-calamine."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.csv_table import select_fields
from ovaflow.reading.instances import Reading, TextInstance, empty_file_error
from ovaflow.reading.streams import RecordFile

_MOST_TITLE_ROWS = 20
"""Rows above the header, which may be a title, a date, a remark."""


def read(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield the instances of a sheet."""
    rows = _read_rows(file, reading)
    if not rows:
        raise empty_file_error(file.name)
    place = _find_header(rows, reading.required)
    _, header = rows[place]
    names = [_write_name(cell) for cell in header]
    reading.seen["columns"] = [name for name in names if name]
    table = select_fields(names, rows[place + 1 :], reading.wanted_columns, file.name)
    for number, fields in table:
        yield reading.make_instance(fields, file.name, row=number)


def _write_name(cell: Any) -> str:
    """Write the name in a cell of the header; empty for an empty cell."""
    if cell is None:
        return ""
    return str(cell).strip()


def _read_rows(file: RecordFile, reading: Reading) -> list[tuple[int, list]]:
    """Read the rows that are not empty, with their numbers from 1."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InputError(
            "spreadsheets need python-calamine", remedy="pip install 'ovaflow[sheets]'"
        ) from None
    try:
        with file.seekable() as stream:
            workbook = CalamineWorkbook.from_filelike(stream)
        name = _choose_sheet(workbook.sheet_names, reading.sheet, file.name)
        sheet = workbook.get_sheet_by_name(name)
        rows = sheet.to_python(skip_empty_area=False)
    except CalamineError as error:
        raise InputError(
            f"not a readable spreadsheet ({error})",
            path=file.name,
            remedy="save it again as .xlsx, .ods or CSV UTF-8",
        ) from None
    reading.seen["sheet"] = name
    _fill_merged_cells(rows, sheet.merged_cell_ranges or ())
    filled = []
    for number, row in enumerate(rows, 1):
        if any(cell != "" for cell in row):
            filled.append((number, [_convert_cell(cell) for cell in row]))
    return filled


def _fill_merged_cells(rows: list[list], merged_ranges: Sequence) -> None:
    """Copy the content of merged cells to each of them: it is shown once, and meant in each row."""
    for (first, left), (last, right) in merged_ranges:
        for row in rows[first : last + 1]:
            for column in range(left, min(right + 1, len(row))):
                row[column] = rows[first][left]


def _choose_sheet(names: list[str], chosen: str | None, path: StrPath) -> str:
    """Choose a sheet by its name, or else the first."""
    if chosen is not None and chosen not in names:
        existing = ", ".join(repr(name) for name in names)
        raise InputError(
            f"no sheet {chosen!r}", path=path, remedy=f"set sheet to one of {existing}"
        )
    return chosen or names[0]


def _find_header(rows: list[tuple[int, list]], required: list[str]) -> int:
    """Find the place of the first row with the names of all columns; 0 if there is none."""
    wanted = {name.casefold() for name in required}
    for place, (_, row) in enumerate(rows[:_MOST_TITLE_ROWS]):
        if wanted <= {str(cell).strip().casefold() for cell in row}:
            return place
    return 0


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
