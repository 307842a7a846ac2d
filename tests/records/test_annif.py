"""Annif's corpora and vocabularies, read as Annif reads them."""

import csv
import gzip
import json
import re
from functools import partial
from pathlib import Path

import pytest
import rdflib
from commands import ovaflow
from synthetic import train_model_file

from ovaflow.console.errors import InputError
from ovaflow.labels.subjects import read_vocabulary
from ovaflow.reading import annif
from ovaflow.reading.instances import Reading
from ovaflow.reading.streams import RecordFile, find_matching_files, find_matching_paths
from ovaflow.serving.served_model import open_served_model

CATS, DOGS, OLD = (f"http://example.org/{name}" for name in ("cats", "dogs", "old"))
TSV = f"black cats\t<{CATS}>\nno subjects here\ncats and dogs \t<{DOGS}> {CATS}\t\n\n"
BOTH = [("black cats", (CATS,)), ("cats and dogs ", (CATS, DOGS))]
TURTLE = f"""@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<{CATS}> a skos:Concept ; skos:prefLabel "cats"@en, "kissat"@fi ;
    skos:altLabel "felines"@en, "kissaeläimet"@fi ; skos:notation "636.8" .
<{DOGS}> a skos:Concept ; skos:prefLabel "dogs"@en .
<{OLD}> a skos:Concept ; skos:prefLabel "old"@en, "vanha"@fi ; <http://www.w3.org/2002/07/owl#deprecated> true .
"""


@pytest.fixture
def read(tmp_path):
    """Read the texts, sorted labels and counts of a file of some content, or of a pattern."""

    def read_files(name, content=None) -> tuple[list[tuple], dict[str, int]]:
        if content is not None:
            (tmp_path / name).write_text(content)
        reading = Reading(["text"], ["labels"])
        documents = []
        for path in find_matching_paths(tmp_path / name):
            for instance in annif.read(RecordFile(path), reading):
                documents.append((instance.text, tuple(sorted(instance.labels))))
        return documents, dict(reading.counts)

    return read_files


def test_short_texts_by_line_packed_or_several(read, tmp_path) -> None:
    assert read("a.tsv", "\ufeff" + TSV) == (BOTH, {"lines_without_a_tab": 1})
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(TSV.encode()))
    assert read("*.tsv*") == (BOTH * 2, {"lines_without_a_tab": 2})
    assert [path.name for path in find_matching_files(tmp_path / "*.tsv*")] == ["a.tsv", "b.tsv.gz"]
    with pytest.raises(InputError, match="no such file"):
        read("*.csv")


def test_tables_and_json_lines(read) -> None:
    table = f'document_id,text,subject_uris\n1,"black, cats",<{CATS}> {DOGS}\n2,,\n'
    assert read("a.csv", table) == ([("black, cats", (CATS, DOGS)), ("", ())], {})
    long = "cats " * 50_000
    assert read("long.csv", f"text,subject_uris\n{long},{CATS}\n") == ([(long, (CATS,))], {})
    with pytest.raises(
        InputError, match="line 1: no column 'subject_uris', there are 'text', 'subjects'"
    ):
        read("bad.csv", "text,subjects\na,b\n")
    document = {"text": "cats", "subjects": [{"uri": CATS}, {"label": "dogs"}], "metadata": 1}
    lines = json.dumps(document) + '\n{"text": ""}\n'
    assert read("a.jsonl", lines) == ([("cats", ("dogs", CATS))], {"documents_without_subjects": 1})
    with pytest.raises(
        InputError,
        match=r"bad.jsonl, line 1: expected text, and subjects with a uri or a label each",
    ):
        read("bad.jsonl", '{"text": "cats", "subjects": ["dogs"]}\n')


def test_folders_of_full_texts(read, tmp_path) -> None:
    (tmp_path / "1.txt").write_text("black\ncats")
    (tmp_path / "1.tsv").write_text(f"<{CATS}>\tcats\n<{DOGS}>\tdogs\n")
    (tmp_path / "2.txt").write_text("dogs")
    (tmp_path / "2.key").write_text("dogs\n\n")
    (tmp_path / "3.txt").write_text("nobody has read this")
    (tmp_path / "4.json").write_text(json.dumps({"text": "cats", "subjects": [{"uri": CATS}]}))
    theirs = [("black\ncats", (CATS, DOGS)), ("dogs", ("dogs",)), ("cats", (CATS,))]
    assert read(".") == (theirs, {"documents_without_subjects": 1})
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"the folder has no \.txt or \.json file"):
        read("empty")


@pytest.mark.parametrize(
    ("ending", "syntax"),
    [("ttl", "turtle"), ("rdf", "xml"), ("nt.gz", "nt"), ("jsonld", "json-ld")],
)
def test_skos(tmp_path, ending, syntax) -> None:
    written = rdflib.Graph().parse(data=TURTLE).serialize(format=syntax, encoding="utf-8")
    path = tmp_path / f"v.{ending}"
    path.write_bytes(gzip.compress(written) if ending.endswith("gz") else written)
    for language, cats, others, n in (
        ("en", "cats", "felines", 0),
        ("fi", "kissat", "kissaeläimet", 1),
    ):
        ours = read_vocabulary(path, language)
        assert (ours.uris, ours.names) == ([CATS, DOGS], [cats, "dogs"])
        assert (ours.notations, ours.others) == (["636.8", ""], [(others,), ()])
        assert ours.counts == {
            "subjects": 2,
            "deprecated_subjects": 1,
            "subjects_named_in_another_language": n,
        }
    with pytest.raises(
        InputError, match=r"names are in several languages: en \(2 names\), fi \(1 names\)"
    ):
        read_vocabulary(path)
    with pytest.raises(InputError, match="no name is in language 'sv'"):
        read_vocabulary(path, "sv")


CSV = f"uri,label_en,label_fi,notation\n{CATS},cats,kissat,1\n{OLD},,,\n{DOGS},dogs,,\n"


@pytest.mark.parametrize(
    ("name", "content", "language", "names"),
    [
        (
            "v.tsv",
            f"<{CATS}>\tcats\t1\n<{OLD}>\n<{DOGS}>\tcats\n",
            None,
            [f"cats ({CATS})", f"cats ({DOGS})"],
        ),
        ("v.csv", CSV, "fi", ["kissat", "dogs"]),
    ],
)
def test_annifs_own_vocabularies(tmp_path, name, content, language, names) -> None:
    (tmp_path / name).write_text(content)
    ours = read_vocabulary(tmp_path / name, language)
    assert (ours.uris, ours.names, ours.notations) == ([CATS, DOGS], names, ["1", ""])
    assert ours.counts["deprecated_subjects"] == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.csv", "a,b\n1,2\n", r"x\.csv, line 1: no column 'uri', 'label_"),
        ("x.ttl", "this is no turtle", r"x\.ttl: not readable as turtle"),
        ("x.doc", "", r"x\.doc: the file's name does not tell what kind of vocabulary it is"),
        ("y.tsv", f"{CATS}\tcats\n{CATS}\tcats\n", f"{CATS} appears 2 times"),
        ("z.tsv", f"{CATS}\n", "no subject has a name"),
    ],
)
def test_what_is_no_vocabulary_is_refused(tmp_path, name, content, said) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=said):
        read_vocabulary(tmp_path / name, "en")


def test_a_dataset_of_subjects(prepare) -> None:
    Path("v.ttl").write_text(TURTLE)
    Path("a.tsv").write_text((TSV + f"felines\t<{CATS}>\ngone\t<{OLD}> kissat\n") * 5)
    files = "--format=annif --train=a.tsv --test=a.tsv --vocabulary=v.ttl"
    dataset = prepare(f"{files} --language=fi --features=words --max-df=1.0")
    names = dataset.names
    assert list(names.uris) == [CATS, DOGS]
    assert list(names.labels) == ["kissat", "dogs"]
    assert list(names.notations) == ["636.8", ""]
    # of names no text has "kissat" or "kissaeläimet"
    documents = [[1, 0], [1, 1], [1, 0], [1, 0]] * 5
    dogs_as_instance = [0, 1]
    assert dataset.train.Y.to_scipy().toarray().tolist() == [*documents, dogs_as_instance]
    assert re.findall(r"(?m)^remark: (\w+)", prepare.said) == ["the", "1", "1", "10", "10"]
    assert "10 subjects of instances are not in the vocabulary" in prepare.said


@pytest.fixture
def prepare_animals(prepare):
    """Prepare the corpus ``a.tsv`` with a vocabulary of cats and dogs, and some options."""
    Path("v.tsv").write_text(f"<{CATS}>\tcats\t636.8\n<{DOGS}>\tdogs\n")
    return partial(prepare, "--format=annif --train=a.tsv --vocabulary=v.tsv --max-df=1.0")


def test_texts_whose_subjects_the_vocabulary_lacks_have_labels(prepare, prepare_animals) -> None:
    Path("a.tsv").write_text(f"black cats\t{CATS}\nold\t{OLD}\n" * 3 + "nothing\t\n")
    Path("b.tsv").write_text(f"black cats\t{CATS}\nold\t{OLD}\nbarking dogs\t{DOGS}\n")
    prepare_animals("--test=b.tsv")
    for told in (
        "1 of 7 training instances have no label",
        "3 of 7 training instances have only subjects that the vocabulary lacks",
        "2 of 3 test instances have only labels that no training instance has",
    ):
        assert told in prepare.said
    assert "test instances have no label" not in prepare.said


def test_predictions_and_the_service_carry_uris(prepare_animals) -> None:
    Path("a.tsv").write_text(f"black cats\t{CATS}\nbarking dogs\t{DOGS}\n" * 5)
    train_model_file("m.h5", prepare_animals("--test=a.tsv"))
    text = "--text=a cat, two cats"
    output = ovaflow("predict", "m.h5", text, "--top-k=1", "--output-format=csv")
    [row] = csv.DictReader(output.splitlines())
    assert (row["label"], row["uri"], list(row)[-1]) == ("cats", CATS, "uri")
    cats, dogs = open_served_model("m.h5").find_labels("", 0, 2)["labels"]
    assert (cats["uri"], cats["notation"]) == (CATS, "636.8")
    assert dogs["uri"] == DOGS
    assert "notation" not in dogs
    output = ovaflow("explain", "m.h5", "--text=cats", f"--label={CATS}", "--json")
    [explained] = json.loads(output)["labels"]
    assert (explained["name"], explained["uri"]) == ("cats", CATS)
