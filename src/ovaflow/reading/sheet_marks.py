"""What calamine leaves out of cells: errors, formulas without a value, and how numbers look."""

import re
import xml.etree.ElementTree as ElementTree
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple
from xml.etree.ElementTree import Element
from xml.parsers import expat

NO_STORED_VALUE = "formula without a stored value"
"""The name of a cell whose formula was never computed, as scripts write them."""
CELL_ERRORS = "cell_errors "
"""Beginning of the names of counts of cells without a value, by their marks."""


class CellMark(NamedTuple):
    """A remarkable cell: how it looks, or why it has no value."""

    name: str
    has_value: bool = False


SheetMarks = dict[tuple[int, int], CellMark]
"""Marks of a sheet's cells by row and column, both from 0."""


def read_marks(stream: IO[bytes]) -> dict[str, SheetMarks]:
    """Read the marks of the cells of each sheet, by the sheet's name."""
    with zipfile.ZipFile(stream) as archive:
        parts = {}
        for name in archive.namelist():
            parts[name.replace("\\", "/").casefold()] = name
        if "content.xml" in parts:
            content = archive.read(parts["content.xml"])
            parser = _OdsParser()
            if _has_ods_marks(content):
                parser.parse(content)
            return parser.marks
        contents = {}
        for name in parts:
            if name.startswith("xl/") and name.endswith((".xml", ".rels")):
                contents[name] = parts[name]
        return _read_excel_marks(_Package(archive, contents))


def _get_tag(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def _get_attribute(element: Element, name: str) -> str | None:
    """Return an attribute, whatever its namespace."""
    for key, value in element.items():
        if key.rpartition("}")[2] == name:
            return value
    return None


class _Package(NamedTuple):
    """The parts of an Excel file, by their names in small letters."""

    archive: zipfile.ZipFile
    names: dict[str, str]

    def read(self, name: str) -> bytes:
        """Read a part; nothing if there is none."""
        stored = self.names.get(name.casefold())
        return b"" if stored is None else self.archive.read(stored)

    def iterate(self, name: str, tag: str) -> Iterator[Element]:
        """Yield the elements of a part that have a tag."""
        content = self.read(name)
        if content:
            for element in ElementTree.fromstring(content).iter():
                if _get_tag(element) == tag:
                    yield element


def _read_excel_marks(package: _Package) -> dict[str, SheetMarks]:
    targets = {}
    for relation in package.iterate("xl/_rels/workbook.xml.rels", "Relationship"):
        target = relation.get("Target", "")
        targets[relation.get("Id")] = target[1:] if target[:1] == "/" else f"xl/{target}"
    formats = _read_number_formats(package)
    marks = {}
    for sheet in package.iterate("xl/workbook.xml", "sheet"):
        # the relation is the attribute id of another namespace than that of sheetId
        content = package.read(targets.get(_get_attribute(sheet, "id"), ""))
        if _has_excel_marks(content, formats):
            parser = _ExcelParser(formats)
            parser.parse(content)
            marks[sheet.get("name", "")] = parser.marks
    return marks


def _has_excel_marks(content: bytes, formats: Iterable[str]) -> bool:
    """Tell whether a sheet has an error, a formula or a style; most have none, and parse faster."""
    beginnings = ["<f", ":f", "t='e'", 't="e"']
    for style in formats:
        beginnings += [f"s='{style}'", f's="{style}"']
    return any(beginning.encode() in content for beginning in beginnings)


class _NumberFormat(NamedTuple):
    """A format of whole numbers with leading zeros, or with text around the number."""

    before: str
    n_digits: int
    after: str

    def write(self, number: str) -> str:
        return f"{self.before}{number.zfill(self.n_digits)}{self.after}"


_TEXT_IN_FORMAT = r'((?:"[^"]*"|\\.)*)'
_WHOLE_NUMBER_FORMAT = re.compile(rf"{_TEXT_IN_FORMAT}(0+){_TEXT_IN_FORMAT}", re.DOTALL)


def _read_number_formats(package: _Package) -> dict[str, _NumberFormat]:
    """Read the formats with which whole numbers look like text, by the number of the style."""
    codes = {}
    for element in package.iterate("xl/styles.xml", "numFmt"):
        codes[element.get("numFmtId")] = element.get("formatCode", "")
    formats = {}
    for styles in package.iterate("xl/styles.xml", "cellXfs"):
        for number, style in enumerate(styles):
            code = codes.get(style.get("numFmtId"), "").partition(";")[0]
            match = _WHOLE_NUMBER_FORMAT.fullmatch(code)
            if match and code != "0":
                before, zeros, after = match.groups()
                formats[str(number)] = _NumberFormat(
                    re.sub(r'["\\]', "", before), len(zeros), re.sub(r'["\\]', "", after)
                )
    return formats


class _SheetParser(ABC):
    """A parser of the rows and cells of a sheet, which keeps no element."""

    def __init__(self) -> None:
        self._row = -1
        self._column = -1
        self._cell: dict[str, str] | None = None  # attributes
        self._text: list[str] = []

    def parse(self, content: bytes) -> None:
        """Parse a part of a file."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda tag, of: self._start(tag.rpartition(":")[2], of)
        parser.EndElementHandler = lambda tag: self._end(tag.rpartition(":")[2])
        parser.CharacterDataHandler = self._text.append
        parser.Parse(content, True)

    @abstractmethod
    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """Note the beginning of an element."""

    @abstractmethod
    def _end(self, tag: str) -> None:
        """Note the end of an element."""


class _ExcelParser(_SheetParser):
    """A parser of a sheet of Excel."""

    def __init__(self, formats: dict[str, _NumberFormat]) -> None:
        super().__init__()
        self.marks: SheetMarks = {}
        self._formats = formats
        self._value = ""
        self._has_formula = False

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "row":
            self._row = int(attributes.get("r", self._row + 2)) - 1
            self._column = -1
        elif tag == "c":
            self._column = _parse_column(attributes.get("r", ""), self._column + 1)
            self._cell = attributes
            self._value = ""
            self._has_formula = False
        elif tag == "f":
            self._has_formula = True
        self._text.clear()

    def _end(self, tag: str) -> None:
        if tag == "v":
            self._value = "".join(self._text)
        elif tag == "c" and self._cell is not None:
            mark = self._make_mark(self._cell)
            if mark is not None:
                self.marks[self._row, self._column] = mark

    def _make_mark(self, attributes: dict[str, str]) -> CellMark | None:
        kind = attributes.get("t", "n")
        if kind == "e":
            return CellMark(self._value)
        if kind == "n" and self._has_formula and not self._value:
            return CellMark(NO_STORED_VALUE)
        number_format = self._formats.get(attributes.get("s", ""))
        if kind == "n" and number_format and self._value.isdecimal():
            shown = number_format.write(self._value)
            if shown != self._value:
                return CellMark(shown, has_value=True)
        return None


def _parse_column(place: str, following: int) -> int:
    """Parse the column of a place such as AB12, from 0; cells without one follow another."""
    letters = place.rstrip("0123456789")
    if not letters:
        return following
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1


def _has_ods_marks(content: bytes) -> bool:
    """Tell whether a file has a formula, or a number that looks otherwise."""
    if b":formula=" in content:
        return True
    return any(number != shown for number, shown in _SHOWN_NUMBER.findall(content))


_SHOWN_NUMBER = re.compile(rb"""office:value="(\d+)"[^>]*>\s*<text:p>([^<]*)</text:p>""")


class _OdsParser(_SheetParser):
    """A parser of all sheets of an OpenDocument file."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: dict[str, SheetMarks] = {}
        self._marks: SheetMarks = {}
        self._of_row: dict[int, CellMark] = {}
        self._n_rows = 1
        self._shown: list[str] = []

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "table":
            self._row = 0
            self._marks = {}
            self.marks[attributes.get("table:name", "")] = self._marks
        elif tag == "table-row":
            self._column = 0
            self._of_row = {}
            self._n_rows = int(attributes.get("table:number-rows-repeated", 1))
        elif tag in ("table-cell", "covered-table-cell"):
            self._cell = attributes
            self._shown = []
        elif tag == "p":
            self._text.clear()

    def _end(self, tag: str) -> None:
        if tag == "p":
            self._shown.append("".join(self._text))
        elif tag in ("table-cell", "covered-table-cell") and self._cell is not None:
            n_columns = int(self._cell.get("table:number-columns-repeated", 1))
            mark = _make_ods_mark(self._cell, "\n".join(self._shown))
            if mark is not None:
                for column in range(self._column, self._column + n_columns):
                    self._of_row[column] = mark
            self._column += n_columns
        elif tag == "table-row":
            for column, mark in self._of_row.items():
                for row in range(self._row, self._row + self._n_rows):
                    self._marks[row, column] = mark
            self._row += self._n_rows


_ERROR = re.compile(r"#[\w/]+[!?]?|Err:\d+")


def _make_ods_mark(attributes: dict[str, str], shown: str) -> CellMark | None:
    has_formula = "table:formula" in attributes
    kind = attributes.get("office:value-type")
    is_error = attributes.get("calcext:value-type") == "error"
    # older programs give errors the type and the value of a number
    if is_error or (has_formula and _ERROR.fullmatch(shown)):
        return CellMark(shown or "error")
    if has_formula and kind is None:
        return CellMark(NO_STORED_VALUE)
    if kind == "float":
        number = attributes.get("office:value", "")
        if shown != number and number.isdecimal() and re.fullmatch(rf"\D*0*{number}\D*", shown):
            return CellMark(shown, has_value=True)
    return None
