"""Small files of spreadsheets, written without a package for them.

``sheets`` is a dict of rows of cells by the name of a sheet.
"""

import io
import zipfile
from datetime import date
from typing import NamedTuple
from xml.sax.saxutils import escape

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


class FailedFormula(NamedTuple):
    """A formula with an error, such as ``#N/A``; None if it was never computed."""

    error: str | None


class ShownNumber(NamedTuple):
    """A number with a format of three digits."""

    number: int

    def __str__(self) -> str:
        return f"{self.number:03}"


def _zip(files) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def make_xlsx(sheets, merged=()) -> bytes:
    """Make an Excel file; ``merged`` are ranges of merged cells, such as ``A1:B1``."""
    merged_cells = "".join(f'<mergeCell ref="{each}"/>' for each in merged)
    if merged_cells:
        merged_cells = f"<mergeCells>{merged_cells}</mergeCells>"
    workbook_type = f'PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"'
    types = f"<Override {workbook_type}/>"
    relations = ""
    names = ""
    files = {}
    for i, (name, rows) in enumerate(sheets.items(), 1):
        path = f"worksheets/s{i}.xml"
        types += f'<Override PartName="/xl/{path}" ContentType="{_TYPES}.worksheet+xml"/>'
        relations += f'<Relationship Id="r{i}" Type="{_OFFICE}/worksheet" Target="{path}"/>'
        names += f'<sheet name="{escape(name)}" sheetId="{i}" r:id="r{i}"/>'
        data = f"<sheetData>{_make_excel_rows(rows)}</sheetData>"
        files[f"xl/{path}"] = f"<worksheet {_MAIN}>{data}{merged_cells}</worksheet>"
    relation_space = f'xmlns="{_PACKAGE}/relationships"'
    office = f'Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"'
    workbook = f'<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>'
    formats = '<numFmts><numFmt numFmtId="164" formatCode="000"/></numFmts>'
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>'
    package = {
        "xl/styles.xml": f"<styleSheet {_MAIN}>{formats}{styles}</styleSheet>",
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{types}</Types>',
        "_rels/.rels": f"<Relationships {relation_space}><Relationship {office}/></Relationships>",
        "xl/workbook.xml": workbook,
        "xl/_rels/workbook.xml.rels": (
            f"<Relationships {relation_space}>{relations}"
            f'<Relationship Id="r0" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>'
        ),
    }
    return _zip(package | files)


def _make_excel_rows(rows) -> str:
    content = ""
    for number, row in enumerate(rows, 1):
        cells = ""
        for column, cell in enumerate(row):
            cells += _make_excel_cell(cell, f"{chr(65 + column)}{number}")
        content += f'<row r="{number}">{cells}</row>'
    return content


def _make_excel_cell(cell, place) -> str:
    if cell is None:
        return ""
    if isinstance(cell, FailedFormula):
        if cell.error is None:
            return f'<c r="{place}"><f>A1</f><v/></c>'
        return f'<c r="{place}" t="e"><f>A1</f><v>{cell.error}</v></c>'
    if isinstance(cell, ShownNumber):
        return f'<c r="{place}" s="1"><v>{cell.number}</v></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, int | float):
        return f'<c r="{place}"><v>{cell}</v></c>'
    if isinstance(cell, date):
        return f'<c r="{place}" t="d"><v>{cell.isoformat()}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'


def make_ods(sheets) -> bytes:
    """Make an OpenDocument file."""
    spaces = ""
    for name in ("office", "table", "text"):
        spaces += f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    spaces += (
        ' xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
    )
    tables = ""
    for name, rows in sheets.items():
        table_rows = ""
        for row in rows:
            cells = "".join(_make_ods_cell(cell) for cell in row)
            table_rows += f"<table:table-row>{cells}</table:table-row>"
        tables += f'<table:table table:name="{escape(name)}">{table_rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    content = f"<office:document-content{spaces}>{body}</office:document-content>"
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return _zip({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


def _make_ods_cell(cell) -> str:
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, FailedFormula):
        if cell.error is None:
            return '<table:table-cell table:formula="of:=[.A1]"/>'
        error = f'office:string-value="" calcext:value-type="error"><text:p>{cell.error}</text:p>'
        attributes = f'table:formula="of:=[.A1]" office:value-type="string" {error}'
        return f"<table:table-cell {attributes}</table:table-cell>"
    if isinstance(cell, ShownNumber):
        attributes = _make_ods_value("float", "value", cell.number)
        return f"<table:table-cell {attributes}><text:p>{cell}</text:p></table:table-cell>"
    if isinstance(cell, bool):
        attributes = _make_ods_value("boolean", "boolean-value", str(cell).lower())
        return f"<table:table-cell {attributes}/>"
    if isinstance(cell, int | float):
        return f"<table:table-cell {_make_ods_value('float', 'value', cell)}/>"
    if isinstance(cell, date):
        attributes = _make_ods_value("date", "date-value", cell.isoformat())
        return f"<table:table-cell {attributes}/>"
    paragraphs = "".join(f"<text:p>{escape(each)}</text:p>" for each in cell.split("\n"))
    return f'<table:table-cell office:value-type="string">{paragraphs}</table:table-cell>'


def _make_ods_value(value_type, attribute, value) -> str:
    return f'office:value-type="{value_type}" office:{attribute}="{value}"'
