"""Small files of spreadsheets, written with nothing but a zip: bytes of sheets, by name, of rows of
cells.
"""

import io
import zipfile
from datetime import date, datetime
from xml.sax.saxutils import escape

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def _zip(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as pack:
        for name, content in files.items():
            pack.writestr(name, content)
    return buffer.getvalue()


def make_xlsx(sheets, merged=()):
    joined = "".join(f'<mergeCell ref="{each}"/>' for each in merged)
    joined = joined and f"<mergeCells>{joined}</mergeCells>"
    parts = ""
    relations = ""
    names = ""
    files = {}
    for i, (name, rows) in enumerate(sheets.items(), 1):
        parts += (
            f'<Override PartName="/xl/worksheets/s{i}.xml" ContentType="{_TYPES}.worksheet+xml"/>'
        )
        relations += (
            f'<Relationship Id="r{i}" Type="{_OFFICE}/worksheet" Target="worksheets/s{i}.xml"/>'
        )
        names += f'<sheet name="{escape(name)}" sheetId="{i}" r:id="r{i}"/>'
        cells = "".join(
            f'<row r="{r}">{"".join(_of_excel(cell, f"{chr(65 + c)}{r}") for c, cell in enumerate(row))}</row>'
            for r, row in enumerate(rows, 1)
        )
        files[f"xl/worksheets/s{i}.xml"] = (
            f"<worksheet {_MAIN}><sheetData>{cells}</sheetData>{joined}</worksheet>"
        )
    of_relations = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    return _zip(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>{parts}</Types>',
            "_rels/.rels": f'<Relationships {of_relations}><Relationship Id="r1" Type="{_OFFICE}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f"<Relationships {of_relations}>{relations}</Relationships>",
            **files,
        }
    )


def _of_excel(cell, place):
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, int | float):
        return f'<c r="{place}"><v>{cell}</v></c>'
    if isinstance(cell, date):
        return f'<c r="{place}" t="d"><v>{cell.isoformat()}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'


def make_ods(sheets):
    names = {
        each: f"urn:oasis:names:tc:opendocument:xmlns:{each}:1.0"
        for each in ("office", "table", "text")
    }
    spaces = " ".join(f'xmlns:{short}="{long}"' for short, long in names.items())
    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        + "".join(
            f"<table:table-row>{''.join(map(_of_libreoffice, row))}</table:table-row>"
            for row in rows
        )
        + "</table:table>"
        for name, rows in sheets.items()
    )
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    content = f"<office:document-content {spaces}>{body}</office:document-content>"
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return _zip({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


def _of_libreoffice(cell):
    if cell is None:
        return "<table:table-cell/>"
    if isinstance(cell, bool):
        return f'<table:table-cell office:value-type="boolean" office:boolean-value="{str(cell).lower()}"/>'
    if isinstance(cell, int | float):
        return f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
    if isinstance(cell, date | datetime):
        return (
            f'<table:table-cell office:value-type="date" office:date-value="{cell.isoformat()}"/>'
        )
    paragraphs = "".join(f"<text:p>{escape(each)}</text:p>" for each in cell.split("\n"))
    return f'<table:table-cell office:value-type="string">{paragraphs}</table:table-cell>'
