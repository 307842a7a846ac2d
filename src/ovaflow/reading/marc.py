"""Library records: MARC 21, binary and as XML, by pymarc; columns are fields such as 245, or 650$a
for one subfield.
"""

import logging
import re
from xml.sax import SAXParseException

from ovaflow.console.errors import InputError

_CHUNK = 1 << 16
_BETWEEN = b"\0\x1a \r\n"
"""What programs write between records, and after the last one."""
_COLUMN = re.compile(r"(\d{3})(?:\$([a-z0-9]+))?")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SUBDIVISIONS = "vxyz"
_NO_HEADING = "eiuw"
"""Letters of a heading that are no part of its name: roles, affiliations, control."""
_AGAIN = "export it again, as MARC 21 or MARCXML"


def _pymarc():
    try:
        import pymarc.marcxml
    except ImportError:
        raise InputError("MARC records need pymarc", remedy="pip install 'ovaflow[marc]'") from None
    # it warns of missing indicators, on which nothing depends
    logging.getLogger("pymarc").setLevel(logging.ERROR)
    return pymarc


def read(file, reading):
    pymarc = _pymarc()
    number = 0
    with file.bytes() as stream:
        while head := _next_head(stream):
            number += 1
            try:
                chunk = head + stream.read(max(int(head) - len(head), 0))
                if chunk[-1:] != b"\x1d":
                    raise ValueError("it does not end where its leader says")
                record = _record(chunk, reading, pymarc.Record)
            except (pymarc.exceptions.PymarcException, ValueError) as error:
                message = f"record {number} is damaged ({error})"
                raise InputError(message, path=file.name, remedy=_AGAIN) from None
            yield _instance(record, reading, file.name, number)
    if number == 0:
        raise InputError("has no records", path=file.name, remedy=_AGAIN)


def _next_head(stream):
    """The five digits of a record's length; empty at the end."""
    head = b""
    block = b"-"
    while len(head) < 5 and block:
        block = stream.read(5 - len(head))
        head = (head + block).lstrip(_BETWEEN)
    return head


def _record(chunk, reading, make):
    """A record in UTF-8 or MARC-8; many in UTF-8 do not say so, and bytes of MARC-8 are none by
    chance.
    """
    try:
        chunk.decode()
        # MARC-8 changes to another script by an escape
        is_utf8 = b"\x1b" not in chunk
    except UnicodeDecodeError:
        is_utf8 = False
        reading.counts["records_not_in_utf8"] += chunk[9:10] == b"a"
    return make(chunk, force_utf8=is_utf8, hide_utf8_warnings=True, utf8_handling="replace")


def read_xml(file, reading):
    marcxml = _pymarc().marcxml

    class Handler(marcxml.XmlHandler):
        def endElementNS(self, name, qname) -> None:
            # pymarc refuses those of another length, and nothing depends on them
            if name[1] != "leader":
                super().endElementNS(name, qname)

    parser = marcxml.make_parser()
    handler = Handler()
    number = 0
    parser.setFeature(marcxml.feature_namespaces, 1)
    parser.setContentHandler(handler)
    with file.bytes() as stream:
        block = b"-"
        while block:
            block = stream.read(_CHUNK)
            try:
                parser.feed(block) if block else parser.close()
            except SAXParseException as error:
                message = f"not valid XML ({error.getMessage()})"
                line = error.getLineNumber()
                raise InputError(message, path=file.name, line=line, remedy=_AGAIN) from None
            except KeyError as error:
                message = f"a field or subfield has no {error.args[0][1]}"
                raise InputError(
                    message, path=file.name, line=parser.getLineNumber(), remedy=_AGAIN
                ) from None
            # other formats have elements of this name, without fields
            records = [record for record in handler.records if record.fields]
            handler.records.clear()
            for number, record in enumerate(records, number + 1):  # noqa: B020
                yield _instance(record, reading, file.name, number)
    if number == 0:
        message = "has no MARC records"
        remedy = "export MARCXML, or give another format"
        raise InputError(message, path=file.name, remedy=remedy)


def _instance(record, reading, path, number):
    for column in reading.required:
        if not _COLUMN.fullmatch(column):
            message = f"{column!r} is not a field of MARC"
            raise InputError(
                message, path=path, remedy="name fields such as 245, or subfields such as 650$a"
            )
    reading.seen.setdefault("columns", {}).update(
        dict.fromkeys(field.tag for field in record.fields)
    )
    reading.seen["labels"] = "headings, each told apart by its identifier ($0) if it has one"
    fields = [_text(record, column) for column in reading.texts]
    fields += [_labels(record, column, reading) for column in reading.labels]
    fields += [_text(record, column) for column in reading.required[len(fields) :]]
    if reading.id_column is None:
        fields += [
            _text(record, column)
            for column in (*filter(_COLUMN.fullmatch, reading.optional), "001")
        ]
    return reading.instance([field or None for field in fields], path, row=number)


def _text(record, column):
    """The contents of a field: of its letters, which are not for machines, or of some subfields."""
    tag, codes = _COLUMN.fullmatch(column).groups()
    parts = []
    for field in record.get_fields(tag):
        if field.control_field:
            parts.append(field.data)
        else:
            parts += _subfields(field, codes or _LETTERS)
    return " ".join(parts)


def _labels(record, column, reading):
    """Headings, those of an identifier by the same name each; or what some subfields have."""
    tag, codes = _COLUMN.fullmatch(column).groups()
    labels = []
    for field in record.get_fields(tag):
        if codes and len(codes) > 1:
            labels.append(" ".join(_subfields(field, codes)))
        elif codes or len(field.get_subfields("a")) > 1:
            # terms of their own, as in 653
            labels += map(_trimmed, _subfields(field, codes or "a"))
        else:
            labels.append(_heading(field, reading))
    return labels


def _heading(field, reading):
    main = " ".join(_subfields(field, set(_LETTERS) - set(_NO_HEADING + _SUBDIVISIONS)))
    name = " -- ".join(filter(None, map(_trimmed, [main, *_subfields(field, _SUBDIVISIONS)])))
    identifiers = list(filter(None, map(str.strip, field.get_subfields("0"))))
    reading.counts["headings"] += 1
    if not identifiers:
        reading.counts["headings_without_identifier"] += 1
        return name
    identifier = next((each for each in identifiers if each.startswith("http")), identifiers[0])
    return reading.identified.name_of(identifier, name or identifier)


def _subfields(field, codes):
    return [each.value.strip() for each in field.subfields if each.code in codes]


def _trimmed(name):
    """A name without the punctuation that catalogues put between parts; initials keep their full
    stop.
    """
    name = name.strip().rstrip(" ,;:/")
    return name if _INITIAL.search(name) else name.rstrip(" .")


_INITIAL = re.compile(r"\b\w\.$")
