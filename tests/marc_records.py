"""Library records, each of fields such as ``("245", "a", "Title", "b", "rest")``, as pymarc writes
them.
"""

import re

from pymarc import Field, Indicators, Record, Subfield
from pymarc.marcxml import record_to_xml

MARC_NAMESPACE = b'xmlns="http://www.loc.gov/MARC21/slim"'


def _record(fields):
    record = Record()
    for tag, *parts in fields:
        subfields = [Subfield(*pair) for pair in zip(parts[::2], parts[1::2], strict=False)]
        data = (
            {"indicators": Indicators(" ", "0"), "subfields": subfields}
            if subfields
            else {"data": parts[0]}
        )
        record.add_field(Field(tag, **data))
    return record


def make_marc(records):
    """MARC 21 in UTF-8."""
    return b"".join(_record(fields).as_marc() for fields in records)


def make_marcxml(records, space=MARC_NAMESPACE, around=b"%b"):
    """MARCXML with short leaders."""
    content = b"".join(around % record_to_xml(_record(fields)) for fields in records)
    return b"<collection %b>%b</collection>" % (
        space,
        re.sub(b"(?<=<leader>).*?(?=<)", b"short", content),
    )
