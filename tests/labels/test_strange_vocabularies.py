"""Vocabularies that would open something else, grow without end, or confuse rdflib."""

import json
import os
import socket
from itertools import pairwise
from pathlib import Path

import pytest

from ovaflow.console.errors import InputError
from ovaflow.labels.subjects import read_vocabulary

SKOS = "http://www.w3.org/2004/02/skos/core#"
ONE = {"@id": "http://x/1", "@type": "skos:Concept", "name": "one"}
INSIDE = {"skos": SKOS, "name": "skos:prefLabel"}
XML = (
    '<!DOCTYPE rdf:RDF %s><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:skos="&skos;">'
    "<skos:Concept"
    ' rdf:about="http://x/1"><skos:prefLabel>&name;</skos:prefLabel></skos:Concept></rdf:RDF>'
)
NAMESPACE = f'<!ENTITY skos "{SKOS}">'
TURTLE = f"@prefix skos: <{SKOS}> . <http://x/1> a skos:Concept ; skos:prefLabel "


@pytest.fixture
def names_in(tmp_path, monkeypatch):
    """A function that reads the names of a vocabulary, in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)

    def read_names(path, content) -> list[str]:
        Path(path).write_text(content)
        return read_vocabulary(Path(path)).names

    return read_names


def test_contexts_are_inside_the_file(tmp_path, names_in) -> None:
    os.mkfifo("pipe")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        for address in (f"http://127.0.0.1:{silent.getsockname()[1]}/", f"file://{tmp_path}/pipe"):
            for context in (
                address,
                [INSIDE, [address]],
                {"@import": address},
                INSIDE | {"name": {"@id": "skos:prefLabel", "@context": address}},
            ):
                with pytest.raises(
                    InputError, match=f"v.jsonld: its context is elsewhere, at {address}; copy that"
                ):
                    names_in("v.jsonld", json.dumps([{"@context": context} | ONE]))
        with pytest.raises(BlockingIOError):
            silent.accept()
    assert names_in("v.jsonld", json.dumps({"@context": INSIDE} | ONE)) == ["one"]


def test_entities_are_namespaces_rather_than_bombs(tmp_path, names_in) -> None:
    bomb = '<!ENTITY a "x">' + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise("abcdefgh")
    )
    for entity in (
        bomb + '<!ENTITY name "&h;">',
        '<!ENTITY b "x"><!ENTITY name "&#38;b;">',
        '<!ENTITY name "<b/>">',
        f'<!ENTITY name "{"x" * 2000}">',
        f'<!ENTITY name SYSTEM "file://{tmp_path}/v.rdf">',
        f'<!ENTITY % name SYSTEM "file://{tmp_path}/v.rdf"> %name;',
    ):
        with pytest.raises(
            InputError, match=r"v\.rdf: the entity (b|name) is not a short text; write what it"
        ):
            names_in("v.rdf", XML % f"[{NAMESPACE}{entity}]")
    os.mkfifo("pipe")
    definitions = f'SYSTEM "file://{tmp_path}/pipe" [{NAMESPACE}<!ENTITY name "A &#38;#38; B">]'
    assert names_in("v.rdf", XML % definitions) == ["A & B"]


def test_warnings_about_other_data_than_names_are_not_shown(names_in, caplog) -> None:
    note = 'skos:note "2020-99-99T0:0:0"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    broader = r"skos:broader <http://x/ \u001b>"
    assert names_in("v.ttl", f'{TURTLE} "one" ; {note} ; {broader} .') == ["one"]
    assert not caplog.records


RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
PREFIXES = f"@prefix skos: <{SKOS}> . @prefix rdfs: <{RDFS}> . @prefix owl: <{OWL}> . "
A_CONCEPT = "a skos:Concept ; skos:prefLabel"


@pytest.mark.parametrize(
    ("content", "names"),
    [
        # a label of the schema is no name where there is one
        ('<x:1> a skos:Concept ; rdfs:label "X"@de ; skos:prefLabel "one"@en .', ["one"]),
        ('<x:1> a skos:Concept ; rdfs:label "one" .', ["one"]),
        # one language and none
        (f'<x:1> {A_CONCEPT} "one"@en, "X" . <x:2> {A_CONCEPT} "two" .', ["one", "two"]),
        # deprecation in words
        (f'<x:1> {A_CONCEPT} "one" . <x:2> {A_CONCEPT} "X" ; owl:deprecated "true" .', ["one"]),
        (f'<x:1> {A_CONCEPT} "one" . <x:2> {A_CONCEPT} "two" ; owl:deprecated "false" .',
         ["one", "two"]),
        # no types
        ('<x:1> skos:prefLabel "one" . <x:2> skos:prefLabel "two" .', ["one", "two"]),
        ('<x:1> rdfs:label "one" .', ["one"]),
        (f'<x:1> {A_CONCEPT} "one" . <x:2> skos:prefLabel "two" .', ["one", "two"]),
        # others have names, too
        (f'<x:1> {A_CONCEPT} "one" ; skos:inScheme <x:s> . <x:s> skos:prefLabel "X" .', ["one"]),
        (f'<x:1> {A_CONCEPT} "one" ; skos:exactMatch <y:1> . <y:1> skos:prefLabel "X" .', ["one"]),
        (f'<x:1> {A_CONCEPT} "one" . <x:c> a skos:Collection ; skos:prefLabel "X" .', ["one"]),
    ],
)  # fmt: skip
def test_names_of_concepts(names_in, content, names) -> None:
    assert names_in("v.ttl", PREFIXES + content) == names


def test_one_name_without_a_language_decides_nothing(names_in) -> None:
    content = f'{PREFIXES}<x:1> {A_CONCEPT} "one"@en, "eins"@de . <x:2> {A_CONCEPT} "two" .'
    with pytest.raises(InputError, match=r"several languages: .*without a language \(1 names\)"):
        names_in("v.ttl", content)
    with pytest.raises(InputError, match="no name is in language 'fr'"):
        read_vocabulary(Path("v.ttl"), "fr")
    assert read_vocabulary(Path("v.ttl"), "en").names == ["one", "two"]
    assert read_vocabulary(Path("v.ttl"), "de").names == ["eins", "two"]


def test_names_can_be_stored(names_in) -> None:
    assert names_in("v.ttl", rf'{TURTLE} "a\u0000b\ud800", <http://x/2>, [] .') == ["a b?"]
    assert names_in("v.tsv", "<http://x/1>\ta\0b") == ["a b"]
    assert names_in("v.csv", "uri,label_en\nhttp://x/1,a\0b\n") == ["a b"]


def test_tables(names_in) -> None:
    path = "v.csv"
    long = "x" * 200_000
    assert names_in(path, f'uri,label_en,notation\nhttp://x/1,"{long}"\n\n,unnamed\n') == [long]
    with pytest.raises(
        InputError, match=r"v\.csv, line 3: malformed record.*; convert them to line feeds"
    ):
        names_in(path, "uri,label_en\nhttp://x/1,one\nhttp://x/2,two\rhttp://x/3,three\n")
