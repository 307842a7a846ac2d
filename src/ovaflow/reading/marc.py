"""Library records: MARC 21, binary and as XML, by pymarc.

Columns are fields such as 245, or 650$a for one subfield.
"""

import logging
import re
from collections.abc import Callable, Collection, Iterator
from typing import IO, Any
from xml.sax import SAXParseException

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.instances import Reading, TextInstance
from ovaflow.reading.streams import RecordFile

_CHUNK_BYTES = 1 << 16
_BETWEEN_RECORDS = b"\0\x1a \r\n"
"""Bytes that programs write between records, and after the last one."""
_COLUMN = re.compile(r"(\d{3})(?:\$([a-z0-9]+))?")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SUBDIVISIONS = "vxyz"
_NO_HEADING = "eiuw"
"""Codes of a heading's subfields that are no part of its name: roles, affiliations, control."""
_MAIN_HEADING = frozenset(_LETTERS) - frozenset(_NO_HEADING + _SUBDIVISIONS)
_EXPORT_AGAIN = "export it again, as MARC 21 or MARCXML"


def _import_pymarc() -> Any:
    try:
        import pymarc.marcxml
    except ImportError:
        raise InputError("MARC records need pymarc", remedy="pip install 'ovaflow[marc]'") from None
    # it warns of missing indicators, on which nothing depends
    logging.getLogger("pymarc").setLevel(logging.ERROR)
    return pymarc


def read(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield the instances of a binary file."""
    pymarc = _import_pymarc()
    number = 0
    with file.bytes() as stream:
        while length := _read_length(stream):
            number += 1
            try:
                chunk = length + stream.read(max(int(length) - len(length), 0))
                if chunk[-1:] != b"\x1d":
                    raise ValueError("it does not end where its leader says")
                record = _decode_record(chunk, reading, pymarc.Record)
            except (pymarc.exceptions.PymarcException, ValueError) as error:
                message = f"record {number} is damaged ({error})"
                raise InputError(message, path=file.name, remedy=_EXPORT_AGAIN) from None
            yield _make_instance(record, reading, file.name, number)
    if number == 0:
        raise InputError("has no records", path=file.name, remedy=_EXPORT_AGAIN)


def _read_length(stream: IO) -> bytes:
    """Read the five digits of a record's length; empty at the end."""
    length = b""
    block = b"-"
    while len(length) < 5 and block:
        block = stream.read(5 - len(length))
        length = (length + block).lstrip(_BETWEEN_RECORDS)
    return length


def _decode_record(chunk: bytes, reading: Reading, make_record: Callable[..., Any]) -> Any:
    """Decode a record in UTF-8 or MARC-8.

    Many in UTF-8 do not say so, and MARC-8 is not valid UTF-8 by chance.
    """
    try:
        chunk.decode()
        # MARC-8 changes to another script by an escape
        is_utf8 = b"\x1b" not in chunk
    except UnicodeDecodeError:
        is_utf8 = False
        says_utf8 = chunk[9:10] == b"a"
        reading.counts["records_not_in_utf8"] += int(says_utf8)
    return make_record(chunk, force_utf8=is_utf8, hide_utf8_warnings=True, utf8_handling="replace")


def read_xml(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield the instances of a file of MARCXML."""
    number = 0
    for record in _parse_xml(file):
        # other formats have elements of this name, without fields
        if record.fields:
            number += 1
            yield _make_instance(record, reading, file.name, number)
    if number == 0:
        raise InputError(
            "has no MARC records",
            path=file.name,
            remedy="export MARCXML, or give another format",
        )


def _parse_xml(file: RecordFile) -> Iterator[Any]:
    """Yield pymarc's records of a file of MARCXML, chunk by chunk."""
    marcxml: Any = _import_pymarc().marcxml
    base: Any = marcxml.XmlHandler

    class Handler(base):
        def endElementNS(self, name: tuple[str, str], qname: str) -> None:
            # pymarc refuses leaders of another length, and nothing depends on them
            if name[1] != "leader":
                super().endElementNS(name, qname)

    handler = Handler()
    parser = marcxml.make_parser()
    parser.setFeature(marcxml.feature_namespaces, 1)
    parser.setContentHandler(handler)
    with file.bytes() as stream:
        block = b"-"
        while block:
            block = stream.read(_CHUNK_BYTES)
            try:
                if block:
                    parser.feed(block)
                else:
                    parser.close()
            except SAXParseException as error:
                message = f"not valid XML ({error.getMessage()})"
                line = error.getLineNumber()
                raise InputError(message, path=file.name, line=line, remedy=_EXPORT_AGAIN) from None
            except KeyError as error:
                message = f"a field or subfield has no {error.args[0][1]}"
                line = parser.getLineNumber()
                raise InputError(message, path=file.name, line=line, remedy=_EXPORT_AGAIN) from None
            records = list(handler.records)
            handler.records.clear()
            yield from records


def _make_instance(record: Any, reading: Reading, path: StrPath, number: int) -> TextInstance:
    """Make the instance of a record from the fields that are columns."""
    required = reading.required
    for column in required:
        if not _COLUMN.fullmatch(column):
            raise InputError(
                f"{column!r} is not a field of MARC",
                path=path,
                remedy="name fields such as 245, or subfields such as 650$a",
            )
    tags = dict.fromkeys(field.tag for field in record.fields)
    reading.seen.setdefault("columns", {}).update(tags)
    reading.seen["labels"] = "headings, distinguished by their identifiers ($0), if they have any"
    contents: list[Any] = [_join_field(record, column) for column in reading.texts]
    contents += [_collect_labels(record, column, reading) for column in reading.labels]
    contents += [_join_field(record, column) for column in required[len(contents) :]]
    if reading.id_column is None:
        id_columns = [column for column in reading.optional if _COLUMN.fullmatch(column)]
        contents += [_join_field(record, column) for column in (*id_columns, "001")]
    fields = [content or None for content in contents]
    return reading.make_instance(fields, path, row=number)


def _split_column(column: str) -> tuple[str, str | None]:
    """Split a column into its tag and the codes of its subfields, if it names some."""
    match = _COLUMN.fullmatch(column)
    assert match is not None
    return match[1], match[2]


def _join_field(record: Any, column: str) -> str:
    """Join the contents of a field: of some subfields, or of those with letters.

    Subfields with digits are for machines.
    """
    tag, codes = _split_column(column)
    parts = []
    for field in record.get_fields(tag):
        if field.control_field:
            parts.append(field.data)
        else:
            parts += _select_subfields(field, codes or _LETTERS)
    return " ".join(parts)


def _collect_labels(record: Any, column: str, reading: Reading) -> list[str]:
    """Collect headings, one name for each identifier, or the contents of some subfields."""
    tag, codes = _split_column(column)
    labels = []
    for field in record.get_fields(tag):
        if codes and len(codes) > 1:
            labels.append(" ".join(_select_subfields(field, codes)))
        elif codes or len(field.get_subfields("a")) > 1:
            # each is a term of its own, as in 653
            labels += [_trim_name(name) for name in _select_subfields(field, codes or "a")]
        else:
            labels.append(_make_heading(field, reading))
    return labels


def _make_heading(field: Any, reading: Reading) -> str:
    """Make the heading of a field, with subdivisions: the name of its identifier, if any."""
    main = " ".join(_select_subfields(field, _MAIN_HEADING))
    parts = []
    for part in (main, *_select_subfields(field, _SUBDIVISIONS)):
        trimmed = _trim_name(part)
        if trimmed:
            parts.append(trimmed)
    name = " -- ".join(parts)
    reading.counts["headings"] += 1
    identifier = _choose_identifier(field)
    if not identifier:
        reading.counts["headings_without_identifier"] += 1
        return name
    return reading.identified.get_name(identifier, name or identifier)


def _choose_identifier(field: Any) -> str:
    """Choose the first identifier that is an address, or else the first; empty without any."""
    identifiers = [each.strip() for each in field.get_subfields("0") if each.strip()]
    for identifier in identifiers:
        if identifier.startswith("http"):
            return identifier
    return identifiers[0] if identifiers else ""


def _select_subfields(field: Any, codes: Collection[str]) -> list[str]:
    return [subfield.value.strip() for subfield in field.subfields if subfield.code in codes]


def _trim_name(name: str) -> str:
    """Remove the punctuation that catalogues put between parts; initials keep their full stop."""
    name = name.strip().rstrip(" ,;:/")
    if _INITIAL.search(name):
        return name
    return name.rstrip(" .")


_INITIAL = re.compile(r"\b\w\.$")
