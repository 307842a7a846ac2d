"""Subject vocabularies: labels with a URI, names in several languages and a notation (SKOS, or
Annif's TSV and CSV).
"""

import json
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
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
"""Characters of the longest entity that XML may define, more than a namespace has."""

_NAMELESS_EXAMPLES = 3
"""Most subjects without a name whose URIs are given."""

UNDETERMINED_LANGUAGE = "und"
"""Code of BCP 47 for the language of names that came without one."""


class Subject(NamedTuple):
    """A subject as its vocabulary has it.

    Attributes
    ----------
    uri : str
        The URI.
    names : dict
        Preferred names by language, None for names of no language.
    notation : str
        A code, such as a class number; empty where there is none.
    others : tuple of pairs
        Alternative names: language and name.
    groups : tuple of str
        URIs of schemes, collections and further types.
    broader : tuple of str
        URIs of the subjects directly above.
    deprecated : bool
        Whether the subject is deprecated.
    replaced_by : tuple of str
        URIs of the subjects that replace it.
    """

    uri: str
    names: dict[str | None, str]
    notation: str = ""
    others: tuple[tuple[str | None, str], ...] = ()
    groups: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    deprecated: bool = False
    replaced_by: tuple[str, ...] = ()

    @property
    def lacks_only_name(self) -> bool:
        """True if the subject could be assigned if it had a name."""
        return not (self.names or self.deprecated or self.replaced_by)

    @property
    def is_in_use(self) -> bool:
        """True if the subject can be assigned: it has a name and is not deprecated."""
        return bool(self.names) and not self.deprecated


class Vocabulary(NamedTuple):
    """The subjects that can be assigned, in the order of their URIs, named in one language.

    Attributes
    ----------
    subjects : list of Subject
        The subjects.
    names : list of str
        Their names, all different.
    language : str or None
        Language of the names, where it is known.
    languages : list of str
        Further languages in which some subject has a name.
    counts : dict
        Numbers of subjects, and URIs of some without a name, by name.
    broader : dict
        URIs of the subjects directly above each one, also of those that cannot be assigned.
    replaced : dict
        URIs of the subjects that replace others, by the URIs of these.
    former : dict
        Subjects that cannot be assigned, by URI.
    """

    subjects: list[Subject]
    names: list[str]
    language: str | None
    languages: list[str]
    counts: dict[str, Any]
    broader: dict[str, list[str]]
    replaced: dict[str, str]
    former: dict[str, Subject]

    @property
    def uris(self) -> list[str]:
        """URI of each subject."""
        return [subject.uri for subject in self.subjects]

    @property
    def notations(self) -> list[str]:
        """Notation of each subject; empty where it has none."""
        return [subject.notation for subject in self.subjects]

    @property
    def others(self) -> list[tuple[str, ...]]:
        """Alternative names of each subject, in the language of the names or in none."""
        languages = (self.language, None)
        names = []
        for subject in self.subjects:
            names.append(tuple(name for language, name in subject.others if language in languages))
        return names

    @property
    def alternatives(self) -> dict[str, list[str]]:
        """Alternative names of all subjects, by the languages of their names.

        Those of a subject are joined by line feeds. Languages without any are left out.
        """
        names: dict[str, list[str]] = {}
        for language in (self.language, *self.languages, None):
            joined = []
            for subject in self.subjects:
                own = [name for its_language, name in subject.others if its_language == language]
                joined.append("\n".join(" ".join(name.split()) for name in own))
            if any(joined):
                names[language or UNDETERMINED_LANGUAGE] = joined
        return names

    @property
    def translations(self) -> dict[str, list[str]]:
        """Names of all subjects by further languages; empty where a subject has none."""
        names = {}
        for language in self.languages:
            names[language] = [subject.names.get(language, "") for subject in self.subjects]
        return names

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """Numbers of the subjects of each group, by its URI."""
        members = defaultdict(list)
        for number, subject in enumerate(self.subjects):
            for group in subject.groups:
                members[group].append(number)
        return {group: np.array(numbers, np.int32) for group, numbers in sorted(members.items())}

    @property
    def former_uris(self) -> list[str]:
        """URIs of the subjects that each subject replaces, with spaces between them; an empty list
        where none is replaced.
        """
        if not self.replaced:
            return []
        former = defaultdict(list)
        for old, new in self.replaced.items():
            former[new].append(old)
        return [" ".join(former[uri]) for uri in self.uris]

    def take(self, numbers: Iterable[int]) -> "Vocabulary":
        """Return the vocabulary with some of the subjects, by their numbers."""
        subjects = []
        names = []
        for number in numbers:
            subjects.append(self.subjects[number])
            names.append(self.names[number])
        return self._replace(subjects=subjects, names=names)


def read_vocabulary(path: Path, language: str | None = None) -> Vocabulary:
    """Read the subjects of a file.

    Parameters
    ----------
    path : Path
        SKOS file, or a TSV or CSV as Annif has them.
    language : str, optional
        Language of the names; not needed if all names are in one.

    Returns
    -------
    vocabulary : Vocabulary
        The subjects.

    Raises
    ------
    InputError
        If the file cannot be read, a URI appears twice, or the language is missing or has no names.
    """
    every = sorted(_read_subjects(path, language), key=lambda subject: subject.uri)
    replaced_by = {subject.uri: subject.replaced_by for subject in every if subject.replaced_by}
    in_use = {subject.uri for subject in every if subject.is_in_use}
    replaced, reasons = find_successors(replaced_by, in_use)
    subjects = []
    former = {}
    for subject in every:
        if subject.is_in_use and subject.uri not in replaced:
            subjects.append(subject)
        else:
            former[subject.uri] = subject
    language = _choose_language(subjects, language, path)
    uris = _list_different_uris(subjects, path)
    nameless = [uri for uri, subject in former.items() if subject.lacks_only_name]
    n_deprecated = len(every) - len(subjects) - len(replaced) - len(nameless)
    counts: dict[str, Any] = {
        "subjects": len(subjects),
        "deprecated_subjects": n_deprecated,
        "subjects_named_in_another_language": _count_named_otherwise(subjects, language),
    }
    if replaced:
        counts["replaced_subjects"] = len(replaced)
    if nameless:
        counts["nameless_subjects"] = len(nameless)
        counts["nameless_subjects_such_as"] = ", ".join(nameless[:_NAMELESS_EXAMPLES])
    counts |= Counter(reason for uri, reason in reasons.items() if uri in former)
    return Vocabulary(
        subjects=subjects,
        names=make_names_distinct([get_name(subject, language) for subject in subjects], uris),
        language=language,
        languages=_list_further_languages(subjects, language),
        counts=counts,
        broader=_find_broader(every, replaced),
        replaced=replaced,
        former=former,
    )


def _list_different_uris(subjects: Iterable[Subject], path: Path) -> list[str]:
    """List the URIs of subjects; refuse one that appears twice."""
    uris = [subject.uri for subject in subjects]
    uri, times = Counter(uris).most_common(1)[0]
    if times > 1:
        raise InputError(f"{uri} appears {times} times", path=path, remedy="delete all but one")
    return uris


def _list_further_languages(subjects: Iterable[Subject], language: str | None) -> list[str]:
    """List the languages of names other than the chosen one."""
    languages: set[Any] = set()
    for subject in subjects:
        languages.update(subject.names)
    return sorted(languages - {None, language})


def _find_broader(subjects: Iterable[Subject], replaced: Mapping[str, str]) -> dict[str, list[str]]:
    """Find the URIs of the subjects directly above each one, replaced ones by their successors."""
    broader = {}
    for subject in subjects:
        if subject.broader:
            broader[subject.uri] = [replaced.get(uri, uri) for uri in subject.broader]
    return broader


def _count_named_otherwise(subjects: Iterable[Subject], language: str | None) -> int:
    """Count the subjects that have a name neither in a language nor in none."""
    count = 0
    for subject in subjects:
        if language not in subject.names and None not in subject.names:
            count += 1
    return count


def make_names_distinct(names: Sequence[str], marks: Sequence[Any]) -> list[str]:
    """Make all names different.

    Names that several labels share get the mark of each in brackets, or else its number.
    """
    names = list(names)
    while len(set(names)) < len(names):
        counts = Counter(names)
        distinct = []
        for name, mark in zip(names, marks, strict=True):
            if counts[name] > 1 and mark != "":
                name = f"{name} ({mark})"
            distinct.append(name)
        names = distinct
        marks = range(len(names))
    return names


def _read_subjects(path: Path, language: str | None) -> Iterator[Subject]:
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


def _choose_language(subjects: Iterable[Subject], language: str | None, path: Path) -> str | None:
    """Choose the language of the names; refuse one that is missing or has no names."""
    counts: Counter[str | None] = Counter()
    for subject in subjects:
        counts.update(subject.names.keys())
    if not counts:
        remedy = "give one whose subjects have names, in SKOS as skos:prefLabel"
        raise InputError("no subject has a name", path=path, remedy=remedy)
    known = [each for each in counts if each is not None]
    if language is None and len(known) <= 1:
        return known[0] if known else None
    most_have_none = counts[None] > counts.total() / 2
    if language in known or (language is not None and most_have_none):
        return language
    amounts = []
    for other, count in counts.most_common(20):
        amounts.append(f"{other or 'without a language'} ({count:,} names)")
    message = f"no name is in language {language!r}"
    if language is None:
        message = "names are in several languages"
    remedy = f"set language to one of them, such as {known[0]}"
    raise InputError(f"{message}: {', '.join(amounts)}", path=path, remedy=remedy)


def get_name(subject: Subject, language: str | None) -> str:
    """Return the name in a language, else that of no language, else the first of all."""
    names = subject.names
    name = names.get(language) or names.get(None)
    if name:
        return name
    return names[min(each for each in names if each is not None)]


def _read_tsv(path: Path, language: str | None) -> Iterator[Subject]:
    for _, line in read_lines(path):
        fields = [field.strip() for field in clean_text(line).split("\t")]
        uri, name, notation = [*fields, "", ""][:3]
        if uri:
            names = {language: name} if name else {}
            # Annif writes deprecated subjects without their names
            yield Subject(strip_brackets(uri), names, notation, deprecated=not names)


def _read_csv(path: Path) -> Iterator[Subject]:
    with open_stream(path) as stream:
        rows = _read_cells(stream, path)
        existing = next(rows, [])
        columns = [name for name in existing if name.startswith("label_")]
        remedy = "name uri, label_en, label_fi, ..., and notation in the first line"
        check_columns(["uri", *(columns or ["label_..."])], existing, path, 1, remedy)
        for row in rows:
            fields = defaultdict(str, zip(existing, row, strict=False))
            names: dict[str | None, str] = {}
            for column in columns:
                if fields[column]:
                    names[column.removeprefix("label_")] = fields[column]
            if fields["uri"]:
                uri = strip_brackets(fields["uri"])
                yield Subject(uri, names, fields["notation"], deprecated=not names)


def _read_cells(stream: Any, path: Path) -> Iterator[list[str]]:
    for _, row in read_csv_records(Lines(stream, path), path):
        yield [clean_text(field).strip() for field in row]


def _check_entities(path: Path) -> None:
    """Refuse XML with entities that grow or fetch something, before any is expanded.

    Namespaces may be entities.
    """

    def check(name: str, _is_parameter: Any, value: str | None, *_: Any) -> None:
        if value is None or len(value) > _LONGEST_ENTITY or re.search("<|&(?!#)", value):
            remedy = "write what it stands for in its place"
            raise InputError(f"the entity {name} is not a short text", path=path, remedy=remedy)

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = check
    with open_stream(path) as stream:
        parser.ParseFile(stream)


def _read_json_ld(stream: Any, path: Path) -> Any:
    """Make a source for rdflib, which would itself open the addresses and files of contexts."""
    from rdflib.parser import PythonInputSource

    content = json.load(stream)
    address = next(_find_outside_contexts(content), None)
    if address is not None:
        remedy = "copy that context into the file; no address is opened"
        raise InputError(f"its context is elsewhere, at {address:.200}", path=path, remedy=remedy)
    return PythonInputSource(content, str(path))


def _find_outside_contexts(content: Any, *, in_context: bool = False) -> Iterator[str]:
    """Find the addresses of contexts that are not in the file."""
    if isinstance(content, str) and in_context:
        yield content
    elif isinstance(content, list):
        for each in content:
            yield from _find_outside_contexts(each, in_context=in_context)
    elif isinstance(content, dict):
        for key, value in content.items():
            is_context = key in ("@context", "@import")
            yield from _find_outside_contexts(value, in_context=is_context)


def _parse_graph(path: Path, syntax: str) -> Any:
    """Parse a file with rdflib; its errors become an InputError."""
    import rdflib

    # it warns of dates and URIs that it cannot parse; no name depends on them
    logging.getLogger("rdflib").setLevel(logging.ERROR)
    graph = rdflib.Graph()
    try:
        if syntax == "xml":
            _check_entities(path)
        with open_stream(path) as stream:
            source = _read_json_ld(stream, path) if syntax == "json-ld" else stream
            graph.parse(source, format=syntax)
    except InputError:
        raise
    except Exception as error:
        # rdflib's parsers raise errors of many kinds
        message = f"not readable as {syntax} ({' '.join(str(error).split())[:300]})"
        raise InputError(message, path=path, remedy="check its syntax") from None
    return graph


def _read_skos(path: Path, syntax: str) -> Iterator[Subject]:
    # rdflib takes half a second to load
    import rdflib

    reader = _SkosReader(_parse_graph(path, syntax))
    for concept in reader.concepts:
        if isinstance(concept, rdflib.URIRef):
            yield reader.read_subject(concept)


def _find_concepts(graph: Any) -> set[Any]:
    """Find the concepts of a graph, also those that have no type, by their names.

    Schemes, collections and concepts of other vocabularies, to which ours are mapped, are none.
    """
    from rdflib.namespace import RDF, RDFS, SKOS

    concepts = set(graph.subjects(RDF.type, SKOS.Concept))
    others = set(graph.subjects(RDF.type, None))
    others |= set(graph.objects(None, SKOS.inScheme)) | set(graph.objects(None, SKOS.topConceptOf))
    others |= set(graph.subjects(SKOS.hasTopConcept, None)) | set(graph.subjects(SKOS.member, None))
    for mapping in (SKOS.exactMatch, SKOS.closeMatch, SKOS.relatedMatch):
        others |= set(graph.objects(None, mapping))
    for mapping in (SKOS.broadMatch, SKOS.narrowMatch):
        others |= set(graph.objects(None, mapping))
    concepts |= set(graph.subjects(SKOS.prefLabel, None)) - others
    return concepts or set(graph.subjects(RDFS.label, None)) - others


def _is_true(term: Any) -> bool:
    """Tell whether a term says yes: a truth value, or a text such as "true"."""
    return str(term).strip().casefold() in ("true", "1")


class _SkosReader:
    """Reads the subjects of a graph in SKOS."""

    def __init__(self, graph: Any) -> None:
        from rdflib.namespace import OWL, SKOS

        self._graph = graph
        self.concepts = _find_concepts(graph)
        self._deprecated = set()
        for concept, value in graph.subject_objects(OWL.deprecated):
            if _is_true(value):
                self._deprecated.add(concept)
        self._collections: dict[Any, set[Any]] = defaultdict(set)
        for collection, member in graph.subject_objects(SKOS.member):
            self._collections[member].add(collection)

    def read_subject(self, concept: Any) -> Subject:
        """Read a concept."""
        from rdflib.namespace import RDFS, SKOS

        labels = self._find_literals(concept, SKOS.prefLabel)
        if not labels:
            labels = self._find_literals(concept, RDFS.label)
        names = {label.language: _clean_term(label) for label in sorted(labels, reverse=True)}
        notations = [_clean_term(term) for term in self._graph.objects(concept, SKOS.notation)]
        return Subject(
            uri=_clean_term(concept),
            names=names,
            notation=min(notations, default=""),
            others=self._find_others(concept),
            groups=self._find_groups(concept),
            broader=self._find_broader(concept),
            deprecated=concept in self._deprecated,
            replaced_by=self._find_replacements(concept),
        )

    def _find_literals(self, concept: Any, predicate: Any) -> list[Any]:
        import rdflib

        terms = self._graph.objects(concept, predicate)
        return [term for term in terms if isinstance(term, rdflib.Literal)]

    def _find_others(self, concept: Any) -> tuple[tuple[str | None, str], ...]:
        """Find alternative names with their languages, sorted by both."""
        from rdflib.namespace import SKOS

        others = []
        for label in self._find_literals(concept, SKOS.altLabel):
            others.append((label.language or "", _clean_term(label)))
        return tuple((language or None, name) for language, name in sorted(others))

    def _find_groups(self, concept: Any) -> tuple[str, ...]:
        """Find the URIs of the schemes, collections and further types of a concept."""
        import rdflib
        from rdflib.namespace import RDF, SKOS

        groups = set(self._collections[concept])
        for predicate in (SKOS.inScheme, RDF.type):
            groups.update(self._graph.objects(concept, predicate))
        groups -= {SKOS.Concept}
        return tuple(_clean_term(group) for group in groups if isinstance(group, rdflib.URIRef))

    def _find_broader(self, concept: Any) -> tuple[str, ...]:
        from rdflib.namespace import SKOS

        parents = set(self._graph.objects(concept, SKOS.broader))
        parents |= set(self._graph.subjects(SKOS.narrower, concept))
        return tuple(sorted(_clean_term(parent) for parent in parents))

    def _find_replacements(self, concept: Any) -> tuple[str, ...]:
        """Find the subjects that replace a concept.

        Without a ``dcterms:isReplacedBy``, an exact match replaces a deprecated concept unless both
        are of different schemes.
        """
        from rdflib.namespace import DCTERMS, SKOS

        replacements = set(self._graph.objects(concept, DCTERMS.isReplacedBy))
        if not replacements and concept in self._deprecated:
            matches = set(self._graph.objects(concept, SKOS.exactMatch))
            matches |= set(self._graph.subjects(SKOS.exactMatch, concept))
            for match in (matches - self._deprecated) & self.concepts:
                if not self._are_of_two_schemes(match, concept):
                    replacements.add(match)
        return tuple(sorted(_clean_term(term) for term in replacements))

    def _are_of_two_schemes(self, concept: Any, other: Any) -> bool:
        from rdflib.namespace import SKOS

        ours = set(self._graph.objects(concept, SKOS.inScheme))
        theirs = set(self._graph.objects(other, SKOS.inScheme))
        return bool(ours and theirs) and ours.isdisjoint(theirs)


def _clean_term(term: Any) -> str:
    return clean_text(str(term))
