"""Suggested labels as MARCXML, for import into a catalogue.

Each is a field 650, linked to a field 883 that says what assigned it:
https://www.loc.gov/marc/bibliographic/bd883.html
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from ovaflow import __version__
from ovaflow.prediction.answer import Answer, AnsweredLabel
from ovaflow.prediction.answer_files import AnsweredRecord, AnswerFormat
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.sources import get_vocabulary_name

_LEADER = "00000nam a2200000uu 4500"
"""Leader of a record in Unicode of which nothing else is known; readers of XML compute lengths."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Letters that XML cannot contain."""


class MarcXml(AnswerFormat):
    """A record for each instance, with its id in 001 if it has one.

    Parameters
    ----------
    predictor : Predictor
        The predictor that answers.
    source : str or None
        Code of the vocabulary, for $2; by default the name of its file.
    today : date
        The date, for $d.
    """

    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<collection xmlns="http://www.loc.gov/MARC21/slim">\n'
    )
    tail = "</collection>\n"

    def __init__(self, predictor: Predictor, source: str | None, today: date) -> None:
        self._source = source or get_vocabulary_name(predictor.model)
        self._is_guessed = source is None and len(predictor.label_uris) > 0
        self._process = f"ovaflow {__version__}, model {predictor.model.checksum[:12]}"
        self._date = f"{today:%Y%m%d}"
        self._n_nameless = 0

    def remarks(self, n: int, n_empty: int) -> Iterator[str]:
        """Yield remarks on a guessed vocabulary, and on records without ids."""
        if self._is_guessed:
            guess = "650 has no $2, and so no $0"
            if self._source:
                guess = f"650 $2 is {self._source}, the name of a file"
            yield f"{guess}: --marc-source says which vocabulary it is, such as yso/fin"
        if self._n_nameless:
            yield (
                f"{self._n_nameless:,} of {n:,} records have no id, and so no 001: give a table, "
                "and name its column with --id-column"
            )

    def write(self, record: AnsweredRecord, answer: Answer) -> str:
        """Return the record of an answer."""
        id = "" if record.name is None else _escape(record.name).strip()
        control = ""
        if id:
            control = f'<controlfield tag="001">{id}</controlfield>\n'
        else:
            self._n_nameless += 1
        subjects = []
        provenances = []
        for number, label in enumerate(answer.labels, 1):
            # a label and its provenance are linked by the same number
            link = rf"{number}\p"
            subjects.append(self._make_subject(link, label))
            provenances.append(self._make_provenance(link, label))
        fields = "".join(subjects + provenances)
        return f"<record>\n<leader>{_LEADER}</leader>\n{control}{fields}</record>\n"

    def _make_subject(self, link: str, label: AnsweredLabel) -> str:
        subfields = {"8": link, "a": label.name}
        if not (label.uri and self._source):
            return _make_field("650", " 4", subfields)
        return _make_field("650", " 7", subfields | {"2": self._source, "0": label.uri})

    def _make_provenance(self, link: str, label: AnsweredLabel) -> str:
        """Make the field of a subject assigned by a machine, with its confidence if probable."""
        subfields = {"8": link, "a": self._process}
        if label.probability is not None:
            subfields["c"] = f"{np.float32(label.probability):.4f}"
        subfields["d"] = self._date
        return _make_field("883", "0 ", subfields)


def _make_field(tag: str, indicators: str, subfields: dict[str, Any]) -> str:
    parts = []
    for code, content in subfields.items():
        parts.append(f'<subfield code="{code}">{_escape(content)}</subfield>')
    return (
        f'<datafield tag="{tag}" ind1="{indicators[0]}" ind2="{indicators[1]}">'
        f"{''.join(parts)}</datafield>\n"
    )


def _escape(content: Any) -> str:
    return escape(_NOT_IN_XML.sub(" ", str(content)))
