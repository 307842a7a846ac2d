"""Subject vocabularies: labels with a URI, names in several languages and a notation (SKOS, or
Annif's TSV and CSV).
"""

import json
import logging
import re
from collections import Counter, defaultdict
from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.labels.successors import find_successors
from ovaflow.reading.annif import strip_brackets
from ovaflow.reading.columns import check_columns
from ovaflow.reading.csv_table import read_csv_records
from ovaflow.reading.formats import file_ending
from ovaflow.reading.streams import Lines, clean_text, open_stream, read_lines

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
    deprecated: bool = False
    replaced_by: tuple = ()  # URIs

    @property
    def is_in_use(self):
        return bool(self.names) and not self.deprecated


class Vocabulary(NamedTuple):
    """The subjects that can be assigned, in the order of their URIs, named in one language."""

    subjects: list
    names: list  # all different
    language: str | None  # of the names, where it is known
    languages: list  # in which some subject has a name, too
    counts: dict
    broader: dict  # URIs of the subjects directly above each, also of those that cannot be assigned
    replaced: dict  # URIs of the subjects that stand for others, by the URIs of these
    former: dict  # the subjects that cannot be assigned, by URI

    @property
    def uris(self):
        return [subject.uri for subject in self.subjects]

    @property
    def notations(self):
        """What each subject has in place of a number; empty where it has none."""
        return [subject.notation for subject in self.subjects]

    @property
    def others(self):
        """Alternative names of each subject."""
        known = self.language, None
        return [
            tuple(name for tongue, name in subject.others if tongue in known)
            for subject in self.subjects
        ]

    @property
    def translations(self):
        """Names of all subjects by further languages; empty where a subject has none."""
        return {
            each: [subject.names.get(each, "") for subject in self.subjects]
            for each in self.languages
        }

    @property
    def groups(self):
        """Numbers of the subjects of each group, by its URI."""
        members = defaultdict(list)
        for number, subject in enumerate(self.subjects):
            for group in subject.groups:
                members[group].append(number)
        return {group: np.array(numbers, np.int32) for group, numbers in sorted(members.items())}

    @property
    def former_uris(self):
        """URIs of what each subject stands for, with spaces between them; none where nothing is
        replaced.
        """
        found = defaultdict(list)
        for old, new in self.replaced.items():
            found[new].append(old)
        return [" ".join(found[uri]) for uri in self.uris] if found else []

    def take(self, numbers):
        """Some of the subjects."""
        subjects, names = (
            [each[number] for number in numbers] for each in (self.subjects, self.names)
        )
        return self._replace(subjects=subjects, names=names)


def read_vocabulary(path, language=None):
    """Subjects of a file, named in a language, which may be left out if all names are in one."""
    every = sorted(_read(path, language), key=lambda subject: subject.uri)
    replaced_by = {subject.uri: subject.replaced_by for subject in every if subject.replaced_by}
    replaced, why = find_successors(
        replaced_by, {subject.uri for subject in every if subject.is_in_use}
    )
    subjects = [subject for subject in every if subject.is_in_use and subject.uri not in replaced]
    language = _language_of(subjects, language, path)
    uris = [subject.uri for subject in subjects]
    uri, times = Counter(uris).most_common(1)[0]
    if times > 1:
        raise InputError(f"{uri} appears {times} times", path=path, remedy="delete all but one")
    counts = {
        "subjects": len(subjects),
        "deprecated_subjects": len(every) - len(subjects) - len(replaced),
        "subjects_named_in_another_language": sum(
            language not in subject.names and None not in subject.names for subject in subjects
        ),
    }
    names = make_names_distinct([get_name(subject, language) for subject in subjects], uris)
    languages = sorted(set().union(*(subject.names for subject in subjects)) - {None, language})
    broader = {
        subject.uri: [replaced.get(uri, uri) for uri in subject.broader]
        for subject in every
        if subject.broader
    }
    former = {
        subject.uri: subject
        for subject in every
        if not subject.is_in_use or subject.uri in replaced
    }
    counts |= {"replaced_subjects": len(replaced)} if replaced else {}
    counts |= Counter(reason for uri, reason in why.items() if uri in former)
    return Vocabulary(subjects, names, language, languages, counts, broader, replaced, former)


def make_names_distinct(names, marks):
    """Names, all different: those that several labels share carry a mark of each in brackets, or
    else their number.
    """
    while len(set(names)) < len(names):
        counts = Counter(names)
        names = [
            f"{name} ({mark})" if counts[name] > 1 and mark != "" else name
            for name, mark in zip(names, marks, strict=True)
        ]
        marks = range(len(names))
    return names


def _read(path, language):
    ending = file_ending(path)
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
        raise InputError(
            "no subject has a name", path=path, remedy="give a vocabulary with skos:prefLabel"
        )
    if language is None and len(counts) == 1:
        return next(iter(counts))
    if language not in counts and None not in counts:
        languages = ", ".join(
            f"{tongue} ({count:,} names)" for tongue, count in counts.most_common(20)
        )
        message = f"no name is in language {language!r}"
        if language is None:
            message = "names are in several languages"
        raise InputError(f"{message}: {languages}", path=path, remedy="set language to one of them")
    return language


def get_name(subject, language):
    """The name in a language, else that of no language, else the first of all."""
    names = subject.names
    return names.get(language) or names.get(None) or names[min(names)]


def _read_tsv(path, language):
    for _, line in read_lines(path):
        uri, name, notation = [*map(str.strip, clean_text(line).split("\t")), "", ""][:3]
        if uri:
            yield Subject(strip_brackets(uri), {language: name} if name else {}, notation)


def _read_csv(path):
    with open_stream(path) as stream:
        rows = (
            [clean_text(field).strip() for field in row]
            for _, row in read_csv_records(Lines(stream, path), path)
        )
        existing = next(rows, [])
        columns = [name for name in existing if name.startswith("label_")]
        remedy = "name uri, label_en, label_fi, ..., and notation in the first line"
        check_columns(["uri", *(columns or ["label_..."])], existing, path, 1, remedy)
        for row in rows:
            fields = defaultdict(str, zip(existing, row, strict=False))
            names = {column.removeprefix("label_"): fields[column] for column in columns}
            names = {language: name for language, name in names.items() if name}
            if fields["uri"]:
                yield Subject(strip_brackets(fields["uri"]), names, fields["notation"])


def _check_entities(path) -> None:
    """Refuse XML with entities that grow or fetch something, before any is expanded; namespaces may
    be entities.
    """

    def check(name, _is_parameter, value, *_) -> None:
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
            graph.parse(
                _read_json_ld(stream, path) if syntax == "json-ld" else stream, format=syntax
            )
    except InputError:
        raise
    except Exception as error:
        # rdflib's parsers raise errors of many kinds
        message = f"not readable as {syntax} ({' '.join(str(error).split())[:300]})"
        raise InputError(message, path=path, remedy="check its syntax") from None
    return graph


def _read_skos(path, syntax):
    # rdflib takes half a second to load
    import rdflib
    from rdflib.namespace import DCTERMS, OWL, RDF, RDFS, SKOS

    def text(term):
        return clean_text(str(term))

    def texts(concept, property):
        return [
            each for each in graph.objects(concept, property) if isinstance(each, rdflib.Literal)
        ]

    def are_of_two_schemes(*both):
        ours, theirs = (set(graph.objects(each, SKOS.inScheme)) for each in both)
        return bool(ours and theirs) and ours.isdisjoint(theirs)

    def replaced_by(concept):
        named = set(graph.objects(concept, DCTERMS.isReplacedBy))
        if named or concept not in deprecated:
            return named
        matches = {
            *graph.objects(concept, SKOS.exactMatch),
            *graph.subjects(SKOS.exactMatch, concept),
        } - deprecated
        return {each for each in matches & concepts if not are_of_two_schemes(each, concept)}

    graph = _parsed(path, syntax)
    concepts = set(graph.subjects(RDF.type, SKOS.Concept))
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
        names = {label.language: text(label) for label in labels}
        others = sorted(
            (label.language or "", text(label)) for label in texts(concept, SKOS.altLabel)
        )
        notations = sorted(map(text, graph.objects(concept, SKOS.notation)))
        groups = set(collections[concept])
        for property in (SKOS.inScheme, RDF.type):
            groups.update(graph.objects(concept, property))
        uris = [group for group in groups - {SKOS.Concept} if isinstance(group, rdflib.URIRef)]
        parents = {*graph.objects(concept, SKOS.broader), *graph.subjects(SKOS.narrower, concept)}
        yield Subject(
            text(concept),
            names,
            next(iter(notations), ""),
            tuple((tongue or None, name) for tongue, name in others),
            tuple(map(text, uris)),
            tuple(sorted(map(text, parents))),
            concept in deprecated,
            tuple(sorted(map(text, replaced_by(concept)))),
        )
