"""Subject vocabularies: labels with a URI, names in several languages and a notation (SKOS, or Annif's TSV and CSV)."""

import csv
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.data.readers.annif import without_brackets
from ovaflow.data.readers.streams import open_stream, read_lines
from ovaflow.data.readers.texts import read_csv_fields

_RDF = {"ttl": "turtle", "rdf": "xml", "xml": "xml", "nt": "nt", "jsonld": "json-ld"}
"""Syntax of SKOS files by the endings of their names."""


class Subject(NamedTuple):
    """A subject as its vocabulary has it; names by language, None for those of no language."""

    uri: str
    names: dict
    notation: str = ""
    others: tuple = ()  # alternative names: (language, name)


class Vocabulary(NamedTuple):
    """The subjects that can be assigned, in the order of their URIs, named in one language."""

    uris: list
    names: list  # all different
    notations: list  # empty where there is none
    others: list  # alternative names of each subject
    counts: dict
    language: str | None  # of the names, where it is known


def read_vocabulary(path, language=None):
    """Subjects of a file, named in a language; it need not be given where all names are of one.

    Deprecated subjects are left out, and those without a name in the language have one of another; both are counted.
    """
    subjects = sorted(_read(path, language), key=lambda subject: subject.uri)
    kept = [subject for subject in subjects if subject.names]
    language = _language_of(kept, language, path)
    names = [_name_in(subject, language) for subject in kept]
    uris = [subject.uri for subject in kept]
    twice = [uri for uri, count in Counter(uris).items() if count > 1]
    if twice:
        raise InputError(f"{twice[0]} is there {uris.count(twice[0])} times", path=path, remedy="delete all but one")
    counts = {
        "subjects": len(kept),
        "deprecated_subjects": len(subjects) - len(kept),
        "subjects_named_in_another_language": sum(not {language, None} & set(subject.names) for subject in kept),
    }
    others = [tuple(name for tongue, name in subject.others if tongue in (language, None)) for subject in kept]
    notations = [subject.notation for subject in kept]
    return Vocabulary(uris, told_apart(names, uris), notations, others, counts, language)


def told_apart(names, marks):
    """Names, all different: those that several labels share carry a mark of each in brackets, or else their number."""
    while len(set(names)) < len(names):
        counts = Counter(names)
        names = [
            f"{name} ({mark})" if counts[name] > 1 and mark != "" else name
            for name, mark in zip(names, marks, strict=True)
        ]
        marks = range(len(names))
    return names


def _read(path, language):
    endings = [ending[1:].lower() for ending in Path(path).suffixes]
    ending = next((ending for ending in reversed(endings) if ending not in ("gz", "bz2", "xz", "zst")), "")
    if ending in _RDF:
        return _read_skos(path, _RDF[ending])
    if ending in ("tsv", "txt"):
        return _read_tsv(path, language)
    if ending == "csv":
        return _read_csv(path)
    legal = ", ".join((*_RDF, "tsv", "csv"))
    raise InputError("the name does not tell what vocabulary it is", path=path, remedy=f"end it in one of {legal}")


def _language_of(subjects, language, path):
    found = Counter(tongue for subject in subjects for tongue in subject.names)
    if not found:
        raise InputError("no subject has a name", path=path, remedy="give a vocabulary with skos:prefLabel")
    if language is None and len(found) == 1:
        return next(iter(found))
    if language not in found and None not in found:
        there = ", ".join(f"{tongue} ({count:,} names)" for tongue, count in found.most_common(20))
        what = "names are in several languages" if language is None else f"no name is in language {language!r}"
        raise InputError(f"{what}: {there}", path=path, remedy="set language to one of them")
    return language


def _name_in(subject, language):
    """The name in a language, else that of no language, else the first of all."""
    names = subject.names
    return names.get(language) or names.get(None) or names[min(names)]


def _read_tsv(path, language):
    for _, line in read_lines(path):
        fields = [field.strip() for field in line.split("\t")]
        if fields[0]:
            uri, name, notation = (*fields, "", "")[:3]
            yield Subject(without_brackets(uri), {language: name} if name else {}, notation)


def _read_csv(path):
    lines = (line for _, line in read_lines(path, keep_ends=True))
    first = next(lines, "")
    there = [name.strip() for name in next(csv.reader([first]), [])]
    columns = [name for name in there if name.startswith("label_")]
    wanted = ["uri", *(columns or ["label_..."]), *(["notation"] if "notation" in there else [])]
    remedy = "name uri, label_en, label_fi, ..., and notation in the first line"
    for _, (uri, *fields) in read_csv_fields(chain([first], lines), wanted, path, remedy=remedy):
        names = {
            column.removeprefix("label_"): name.strip()
            for column, name in zip(columns, fields, strict=False)
            if name.strip()
        }
        yield Subject(without_brackets(uri), names, fields[-1].strip() if wanted[-1] == "notation" else "")


def _read_skos(path, syntax):
    # rdflib takes half a second to load
    import rdflib
    from rdflib.namespace import OWL, RDF, RDFS, SKOS

    graph = rdflib.Graph()
    try:
        with open_stream(path) as stream:
            graph.parse(stream, format=syntax)
    except InputError:
        raise
    except Exception as error:
        # rdflib's parsers raise errors of many kinds
        message = " ".join(str(error).split())[:300]
        raise InputError(f"not readable as {syntax} ({message})", path=path, remedy="check its syntax") from None
    withdrawn = set(graph.subjects(OWL.deprecated, rdflib.Literal(True)))
    for concept in graph.subjects(RDF.type, SKOS.Concept, unique=True):
        if not isinstance(concept, rdflib.URIRef):
            continue
        names = {
            label.language: str(label)
            for property in (RDFS.label, SKOS.prefLabel)
            for label in sorted(graph.objects(concept, property), reverse=True)
        }
        others = sorted((label.language or "", str(label)) for label in graph.objects(concept, SKOS.altLabel))
        notations = sorted(map(str, graph.objects(concept, SKOS.notation)))
        yield Subject(
            str(concept),
            {} if concept in withdrawn else names,
            notations[0] if notations else "",
            tuple((tongue or None, name) for tongue, name in others),
        )
