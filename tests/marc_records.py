"""Library records, written by pymarc; a record is a list of fields such as
``("245", "a", "Title", "b", "rest")``.
"""

import re

from pymarc import Field, Indicators, Record, Subfield
from pymarc.marcxml import record_to_xml

MARC_NAMESPACE = b'xmlns="http://www.loc.gov/MARC21/slim"'


def _make_record(fields) -> Record:
    record = Record()
    for tag, *parts in fields:
        if len(parts) == 1:
            record.add_field(Field(tag, data=parts[0]))
            continue
        subfields = []
        for code, value in zip(parts[::2], parts[1::2], strict=False):
            subfields.append(Subfield(code, value))
        record.add_field(Field(tag, indicators=Indicators(" ", "0"), subfields=subfields))
    return record


def make_marc(records) -> bytes:
    """Make MARC 21 in UTF-8."""
    return b"".join(_make_record(fields).as_marc() for fields in records)


def make_marcxml(records, space=MARC_NAMESPACE, around=b"%b") -> bytes:
    """Make MARCXML with short leaders; ``around`` is put around each record."""
    content = b"".join(around % record_to_xml(_make_record(fields)) for fields in records)
    short = re.sub(b"(?<=<leader>).*?(?=<)", b"short", content)
    return b"<collection %b>%b</collection>" % (space, short)
