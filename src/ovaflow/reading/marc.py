"""Library records: MARC 21, binary and as XML, by pymarc; columns are fields such as 245, or 650$a for one subfield."""

import re
from xml.sax import SAXParseException

from ovaflow.console.errors import InputError

_CHUNK = 1 << 16
_COLUMN = re.compile(r"(\d{3})(?:\$([a-z0-9]+))?")
_SUBDIVISIONS = "vxyz"


def read(file, reading):
    from pymarc import MARCReader

    with file.bytes() as stream:
        # a record that is not whole comes as None
        records = MARCReader(stream, to_unicode=True, utf8_handling="replace", permissive=True)
        for number, record in enumerate(records, 1):
            if record is None:
                message = f"record {number} is damaged ({records.current_exception})"
                raise InputError(message, path=file.name, remedy="export it again, as MARC 21 or MARCXML")
            yield _instance(record, reading, file.name, number)


def read_xml(file, reading):
    from pymarc.marcxml import XmlHandler, make_parser

    parser, handler, number = make_parser(), XmlHandler(), 0
    parser.setFeature("http://xml.org/sax/features/namespaces", 1)
    parser.setContentHandler(handler)
    with file.bytes() as stream:
        try:
            while chunk := stream.read(_CHUNK):
                parser.feed(chunk)
                for number, record in enumerate(handler.records, number + 1):  # noqa: B020
                    yield _instance(record, reading, file.name, number)
                handler.records.clear()
            parser.close()
        except SAXParseException as error:
            raise InputError(
                f"not valid XML ({error.getMessage()})",
                path=file.name,
                line=error.getLineNumber(),
                remedy="export it again",
            ) from None
    if number == 0:
        raise InputError("has no MARC records", path=file.name, remedy="export MARCXML, or give another format")


def _instance(record, reading, path, number):
    for column in [*reading.texts, *reading.labels, *reading.kept]:
        if not _COLUMN.fullmatch(column):
            message = f"{column!r} is not a field of MARC"
            raise InputError(message, path=path, remedy="name fields such as 245, or subfields such as 650$a")
    fields = [_text(record, column) for column in reading.texts]
    fields += [_labels(record, column) for column in reading.labels]
    fields += [_text(record, column) for column in (*reading.kept, *filter(None, [reading.group_column]))]
    if reading.time_column:
        fields.append(_text(record, reading.time_column) or None)
    fields.append(_text(record, reading.id_column or "001") or None)
    return reading.instance(fields, path, row=number)


def _text(record, column):
    """The contents of a field: of its letters, which are not for machines, or of some subfields."""
    tag, codes = _COLUMN.fullmatch(column).groups()
    parts = []
    for field in record.get_fields(tag):
        if field.control_field:
            parts.append(field.data)
        else:
            parts += [each.value for each in field.subfields if each.code in (codes or _LETTERS)]
    return " ".join(parts)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _labels(record, column):
    """The identifier ($0) of each heading, or its name where it has none; the subfields that are named."""
    tag, codes = _COLUMN.fullmatch(column).groups()
    labels = []
    for field in record.get_fields(tag):
        if codes:
            labels.append(" ".join(each.value for each in field.subfields if each.code in codes))
        else:
            labels.append(next(iter(field.get_subfields("0")), None) or _heading(field))
    return labels


def _heading(field):
    parts = [each.value.strip(" .") for each in field.subfields if each.code == "a"]
    return " -- ".join([*parts, *(each.value.strip(" .") for each in field.subfields if each.code in _SUBDIVISIONS)])
