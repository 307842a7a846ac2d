"""Sheets of Excel (.xlsx, .xlsm) and LibreOffice (.ods), by python-calamine."""

from datetime import date, datetime, time, timedelta

from ovaflow.console.errors import InputError
from ovaflow.reading.csv_table import select_fields
from ovaflow.reading.instances import empty_file_error

_TITLES = 20
"""Rows above the header, which may be a title, a date, a remark."""


def read(file, reading):
    rows = _rows(file, reading)
    if not rows:
        raise empty_file_error(file.name)
    place = _header(rows, reading.required)
    names = ["" if name is None else str(name).strip() for name in rows[place][1]]
    reading.seen["columns"] = [name for name in names if name]
    table = select_fields(
        names, rows[place + 1 :], reading.required, file.name, reading.optional, reading.remedy
    )
    for number, fields in table:
        yield reading.instance(fields, file.name, row=number)


def _rows(file, reading):
    """The rows that are not empty, after their numbers."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InputError(
            "spreadsheets need python-calamine", remedy="pip install 'ovaflow[sheets]'"
        ) from None
    try:
        with file.seekable() as stream:
            workbook = CalamineWorkbook.from_filelike(stream)
        name = _sheet_of(workbook.sheet_names, reading.sheet, file.name)
        sheet = workbook.get_sheet_by_name(name)
        rows = sheet.to_python(skip_empty_area=False)
    except CalamineError as error:
        message = f"not a readable spreadsheet ({error})"
        raise InputError(
            message, path=file.name, remedy="save it again as .xlsx, .ods or CSV UTF-8"
        ) from None
    reading.seen["sheet"] = name
    for (first, left), (last, right) in sheet.merged_cell_ranges or ():
        # what is merged is shown once, and meant in each row
        for row in rows[first : last + 1]:
            for column in range(left, min(right + 1, len(row))):
                row[column] = rows[first][left]
    return [
        (number, list(map(_content, row)))
        for number, row in enumerate(rows, 1)
        if any(cell != "" for cell in row)
    ]


def _sheet_of(names, chosen, path):
    if chosen is not None and chosen not in names:
        raise InputError(
            f"no sheet {chosen!r}",
            path=path,
            remedy=f"set sheet to one of {', '.join(map(repr, names))}",
        )
    return chosen or names[0]


def _header(rows, required):
    """Place of the row that names the columns: the first with all of them, or else the first."""
    wanted = {name.casefold() for name in required}
    for place, (_, row) in enumerate(rows[:_TITLES]):
        if wanted <= {str(cell).strip().casefold() for cell in row}:
            return place
    return 0


def _content(cell):
    """A cell as other formats have it; sheets have whole numbers as 3.0."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return None if cell == "" else cell
