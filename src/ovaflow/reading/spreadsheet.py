"""Sheets of Excel (.xlsx) and LibreOffice (.ods), by python-calamine."""

from datetime import date, datetime, time, timedelta

from ovaflow.console.errors import InputError
from ovaflow.reading.csv_table import table_fields
from ovaflow.reading.instances import empty


def read(file, reading):
    names, rows = _table(file, reading.sheet)
    reading.seen["columns"] = names
    table = table_fields(names, rows, reading.required, file.name, reading.optional, reading.remedy)
    for number, fields in table:
        yield reading.instance(fields, file.name, row=number)


def _table(file, sheet):
    """Names of the columns, and the rows after them with their numbers."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InputError("spreadsheets need python-calamine", remedy="pip install 'ovaflow[sheets]'") from None
    try:
        with file.seekable() as stream:
            workbook = CalamineWorkbook.from_filelike(stream)
        names = workbook.sheet_names
        if sheet is not None and sheet not in names:
            remedy = f"there are {', '.join(map(repr, names))}"
            raise InputError(f"no sheet {sheet!r}", path=file.name, remedy=remedy)
        rows = workbook.get_sheet_by_name(sheet or names[0]).to_python(skip_empty_area=False)
    except CalamineError as error:
        message = f"not a readable spreadsheet ({error})"
        raise InputError(message, path=file.name, remedy="save it again as .xlsx, .ods or CSV UTF-8") from None
    filled = [(number, [_content(cell) for cell in row]) for number, row in enumerate(rows, 1) if any(row)]
    if not filled:
        raise empty(file.name)
    header = ["" if name is None else str(name).strip() for name in filled[0][1]]
    return header, filled[1:]


def _content(cell):
    """A cell as other formats have it; sheets have whole numbers as 3.0."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, bool):
        return cell
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return None if cell == "" else cell
