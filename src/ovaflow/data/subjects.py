"""Subject vocabularies: labels with a URI, names in several languages and a notation (SKOS, or Annif's TSV and CSV)."""

import json
import logging
import re
from collections import Counter, defaultdict
from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.reading.annif import without_brackets
from ovaflow.reading.columns import check_columns
from ovaflow.reading.csv_table import csv_records
from ovaflow.reading.formats import ending_of
from ovaflow.reading.streams import Lines, clean, open_stream, read_lines

_RDF = {".ttl": "turtle", ".rdf": "xml", ".xml": "xml", ".nt": "nt", ".jsonld": "json-ld"}
"""Syntax of SKOS files by the endings of their names."""
_LONGEST_ENTITY = 1000


class Subject(NamedTuple):
    """A subject as its vocabulary has it; names by language, None for those of no language."""

    uri: str
    names: dict
    notation: str = ""
    others: tuple = ()  # alternative names: (language, name)
    groups: tuple = ()  # URIs of schemes, collections and further types
    broader: tuple = ()  # URIs of subjects directly above


class Vocabulary(NamedTuple):
    """The subjects that can be assigned, in the order of their URIs, named in one language."""

    uris: list
    names: list  # all different
    notations: list  # empty where there is none
    others: list  # alternative names of each subject
    counts: dict
    language: str | None  # of the names, where it is known
    translations: dict  # names by further languages; empty where a subject has none
    groups: dict  # int32 numbers of the subjects of each group, by its URI
    broader: dict  # URIs of the subjects directly above each, also of those that cannot be assigned

    def take(self, numbers):
        """Some of the subjects."""
        lists = self.uris, self.names, self.notations, self.others
        uris, names, notations, others = ([each[number] for number in numbers] for each in lists)
        translations = {}
        for language, every in self.translations.items():
            translations[language] = [every[number] for number in numbers]
        places = np.full(len(self.uris), -1, np.int32)
        places[numbers] = np.arange(len(numbers))
        groups = {}
        for uri, members in self.groups.items():
            kept = places[members]
            if (kept >= 0).any():
                groups[uri] = kept[kept >= 0]
        figures = self.counts, self.language
        lists = uris, names, notations, others
        return Vocabulary(*lists, *figures, translations, groups, self.broader)


def read_vocabulary(path, language=None):
    """Subjects of a file, named in a language, which may be left out if all names are in one."""
    every = sorted(_read(path, language), key=lambda subject: subject.uri)
    subjects = [subject for subject in every if subject.names]
    language = _language_of(subjects, language, path)
    uris = [subject.uri for subject in subjects]
    uri, times = Counter(uris).most_common(1)[0]
    if times > 1:
        raise InputError(f"{uri} appears {times} times", path=path, remedy="delete all but one")
    counts = {
        "subjects": len(subjects),
        "deprecated_subjects": len(every) - len(subjects),
        "subjects_named_in_another_language": sum(
            language not in subject.names and None not in subject.names for subject in subjects
        ),
    }
    names = distinct_names([_name_in(subject, language) for subject in subjects], uris)
    others = [_other_names_in(subject, language) for subject in subjects]
    notations = [subject.notation for subject in subjects]
    translations, groups = _translations(subjects, language), _groups(subjects)
    broader = {subject.uri: subject.broader for subject in every if subject.broader}
    lists = uris, names, notations, others
    return Vocabulary(*lists, counts, language, translations, groups, broader)


def _translations(subjects, language):
    """Names of all subjects by each further language, where they have one."""
    languages = set().union(*(subject.names for subject in subjects)) - {None, language}
    translations = {}
    for each in sorted(languages):
        translations[each] = [subject.names.get(each, "") for subject in subjects]
    return translations


def _groups(subjects):
    members = defaultdict(list)
    for number, subject in enumerate(subjects):
        for group in subject.groups:
            members[group].append(number)
    return {group: np.array(numbers, np.int32) for group, numbers in sorted(members.items())}


def distinct_names(names, marks):
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
    ending = ending_of(path)
    if ending in _RDF:
        return _read_skos(path, _RDF[ending])
    if ending in (".tsv", ".txt"):
        return _read_tsv(path, language)
    if ending == ".csv":
        return _read_csv(path)
    legal = ", ".join((*_RDF, ".tsv", ".csv"))
    message = "the file's name does not tell what kind of vocabulary it is"
    raise InputError(message, path=path, remedy=f"end it in one of {legal}")


def _language_of(subjects, language, path):
    counts = Counter(tongue for subject in subjects for tongue in subject.names)
    if not counts:
        raise InputError("no subject has a name", path=path, remedy="give a vocabulary with skos:prefLabel")
    if language is None and len(counts) == 1:
        return next(iter(counts))
    if language not in counts and None not in counts:
        languages = ", ".join(f"{tongue} ({count:,} names)" for tongue, count in counts.most_common(20))
        message = f"no name is in language {language!r}"
        if language is None:
            message = "names are in several languages"
        raise InputError(f"{message}: {languages}", path=path, remedy="set language to one of them")
    return language


def _name_in(subject, language):
    """The name in a language, else that of no language, else the first of all."""
    names = subject.names
    return names.get(language) or names.get(None) or names[min(names)]


def _other_names_in(subject, language):
    return tuple(name for tongue, name in subject.others if tongue in (language, None))


def _read_tsv(path, language):
    for _, line in read_lines(path):
        uri, name, notation = [*map(str.strip, clean(line).split("\t")), "", ""][:3]
        if uri:
            yield Subject(without_brackets(uri), {language: name} if name else {}, notation)


def _read_csv(path):
    with open_stream(path) as stream:
        rows = ([clean(field).strip() for field in row] for _, row in csv_records(Lines(stream, path), path))
        existing = next(rows, [])
        columns = [name for name in existing if name.startswith("label_")]
        remedy = "name uri, label_en, label_fi, ..., and notation in the first line"
        check_columns(["uri", *(columns or ["label_..."])], existing, path, 1, remedy)
        for row in rows:
            fields = defaultdict(str, zip(existing, row, strict=False))
            names = {column.removeprefix("label_"): fields[column] for column in columns}
            names = {language: name for language, name in names.items() if name}
            if fields["uri"]:
                yield Subject(without_brackets(fields["uri"]), names, fields["notation"])


def _check_entities(path):
    """Refuse XML with entities that grow or fetch something, before any is expanded; namespaces may be entities."""

    def check(name, _is_parameter, value, *_):
        if value is None or len(value) > _LONGEST_ENTITY or re.search("<|&(?!#)", value):
            remedy = "write what it stands for in its place"
            raise InputError(f"the entity {name} is not a short text", path=path, remedy=remedy)

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = check
    with open_stream(path) as stream:
        parser.ParseFile(stream)


def _read_json_ld(stream, path):
    """A source of rdflib, which would itself open the addresses and files of contexts."""
    from rdflib.parser import PythonInputSource

    content = json.load(stream)
    address = next(_contexts_elsewhere(content), None)
    if address is not None:
        remedy = "copy that context into the file; no address is opened"
        raise InputError(f"its context is elsewhere, at {address:.200}", path=path, remedy=remedy)
    return PythonInputSource(content, str(path))


def _contexts_elsewhere(content, in_context=False):
    """Addresses that stand for contexts."""
    if isinstance(content, str) and in_context:
        yield content
    elif isinstance(content, list):
        for each in content:
            yield from _contexts_elsewhere(each, in_context)
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from _contexts_elsewhere(value, key in ("@context", "@import"))


def _parsed(path, syntax):
    import rdflib

    # it warns of dates and URIs that it cannot make sense of; no name depends on them
    logging.getLogger("rdflib").setLevel(logging.ERROR)
    graph = rdflib.Graph()
    try:
        if syntax == "xml":
            _check_entities(path)
        with open_stream(path) as stream:
            graph.parse(_read_json_ld(stream, path) if syntax == "json-ld" else stream, format=syntax)
    except InputError:
        raise
    except Exception as error:
        # rdflib's parsers raise errors of many kinds
        message = f"not readable as {syntax} ({' '.join(str(error).split())[:300]})"
        raise InputError(message, path=path, remedy="check its syntax") from None
    return graph


def _text(term):
    return clean(str(term))


def _read_skos(path, syntax):
    # rdflib takes half a second to load
    import rdflib
    from rdflib.namespace import OWL, RDF, RDFS, SKOS

    def texts(concept, property):
        return [each for each in graph.objects(concept, property) if isinstance(each, rdflib.Literal)]

    graph = _parsed(path, syntax)
    deprecated = set(graph.subjects(OWL.deprecated, rdflib.Literal(True)))
    collections = defaultdict(set)
    for collection, member in graph.subject_objects(SKOS.member):
        collections[member].add(collection)
    for concept in graph.subjects(RDF.type, SKOS.Concept, unique=True):
        if not isinstance(concept, rdflib.URIRef):
            continue
        labels = []
        for property in (RDFS.label, SKOS.prefLabel):
            labels += sorted(texts(concept, property), reverse=True)
        names = {label.language: _text(label) for label in labels}
        others = sorted((label.language or "", _text(label)) for label in texts(concept, SKOS.altLabel))
        notations = sorted(map(_text, graph.objects(concept, SKOS.notation)))
        groups = set(collections[concept])
        for property in (SKOS.inScheme, RDF.type):
            groups.update(graph.objects(concept, property))
        uris = [group for group in groups - {SKOS.Concept} if isinstance(group, rdflib.URIRef)]
        parents = {*graph.objects(concept, SKOS.broader), *graph.subjects(SKOS.narrower, concept)}
        yield Subject(
            _text(concept),
            {} if concept in deprecated else names,
            next(iter(notations), ""),
            tuple((tongue or None, name) for tongue, name in others),
            tuple(map(_text, uris)),
            tuple(sorted(map(_text, parents))),
        )
