"""Annif's corpora and vocabularies, read as Annif reads them."""

import csv
import gzip
import json
from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest
import rdflib
from rdflib.namespace import OWL, RDF, SKOS

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset, read_all_names
from ovaflow.data.subjects import read_vocabulary
from ovaflow.reading import annif
from ovaflow.reading.instances import Reading
from ovaflow.reading.streams import File, matching_files, matching_paths
from ovaflow.serving.schemas import requests_within
from ovaflow.serving.served_model import open_served_model
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_model

CATS, DOGS, OLD = (f"http://example.org/{name}" for name in ("cats", "dogs", "old"))
TSV = f"black cats\t<{CATS}>\nno subjects here\ncats and dogs \t<{DOGS}> {CATS}\t\n\n"
BOTH = [("black cats", (CATS,)), ("cats and dogs ", (DOGS, CATS))]


def graph():
    """Two subjects in two languages, and a deprecated one."""
    made = rdflib.Graph()
    for uri, english, finnish in ((CATS, "cats", "kissat"), (DOGS, "dogs", None), (OLD, "old", "vanha")):
        concept = rdflib.URIRef(uri)
        made.add((concept, RDF.type, SKOS.Concept))
        made.add((concept, SKOS.prefLabel, rdflib.Literal(english, lang="en")))
        if finnish:
            made.add((concept, SKOS.prefLabel, rdflib.Literal(finnish, lang="fi")))
    made.add((rdflib.URIRef(CATS), SKOS.altLabel, rdflib.Literal("felines", lang="en")))
    made.add((rdflib.URIRef(CATS), SKOS.altLabel, rdflib.Literal("kissaeläimet", lang="fi")))
    made.add((rdflib.URIRef(CATS), SKOS.notation, rdflib.Literal("636.8")))
    made.add((rdflib.URIRef(OLD), OWL.deprecated, rdflib.Literal(True)))
    return made


def read(location):
    reading = Reading(["text"], ["labels"])
    instances = chain.from_iterable(annif.read(File(path), reading) for path in matching_paths(location))
    return [(each.text, tuple(sorted(each.labels))) for each in instances], dict(reading.counts)


def sorted_subjects(documents):
    return [(text, tuple(sorted(labels))) for text, labels in documents]


def test_short_texts_by_line_packed_or_several(tmp_path):
    (tmp_path / "a.tsv").write_text("\ufeff" + TSV)
    theirs = sorted_subjects(BOTH)
    assert read(tmp_path / "a.tsv") == (theirs, {"lines_without_a_tab": 1})
    with gzip.open(tmp_path / "b.tsv.gz", "wt") as file:
        file.write(TSV)
    assert read(tmp_path / "*.tsv*") == (theirs * 2, {"lines_without_a_tab": 2})
    assert [path.name for path in matching_files(tmp_path / "*.tsv*")] == ["a.tsv", "b.tsv.gz"]
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "*.csv")


def test_tables_and_json_lines(tmp_path):
    (tmp_path / "a.csv").write_text(f'document_id,text,subject_uris\n1,"black, cats",<{CATS}> {DOGS}\n2,,\n')
    assert read(tmp_path / "a.csv") == ([("black, cats", (CATS, DOGS)), ("", ())], {})
    long = "cats " * 50_000
    (tmp_path / "long.csv").write_text(f"text,subject_uris\n{long},{CATS}\n")
    assert read(tmp_path / "long.csv") == ([(long, (CATS,))], {})
    (tmp_path / "bad.csv").write_text("text,subjects\na,b\n")
    with pytest.raises(InputError, match="line 1: no column 'subject_uris', there are 'text', 'subjects'"):
        read(tmp_path / "bad.csv")
    entries = [
        {"text": "cats", "subjects": [{"uri": CATS}, {"label": "dogs"}], "metadata": {"title": "x"}},
        {"text": "none"},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert read(tmp_path / "a.jsonl") == ([("cats", ("dogs", CATS))], {"documents_without_subjects": 1})
    (tmp_path / "bad.jsonl").write_text('{"text": "cats", "subjects": ["dogs"]}\n')
    with pytest.raises(InputError, match=r"bad.jsonl, line 1: expected text, and subjects with a uri or a label each"):
        read(tmp_path / "bad.jsonl")


def test_folders_of_full_texts(tmp_path):
    for name, content in (
        ("1.txt", "black\ncats"),
        ("1.tsv", f"<{CATS}>\tcats\n<{DOGS}>\tdogs\n"),
        ("2.txt", "dogs"),
        ("2.key", "dogs\n\n"),
        ("3.txt", "nobody has read this"),
        ("4.json", json.dumps({"text": "cats", "subjects": [{"uri": CATS}]})),
    ):
        (tmp_path / name).write_text(content)
    theirs = [("black\ncats", (CATS, DOGS)), ("dogs", ("dogs",)), ("cats", (CATS,))]
    assert read(tmp_path) == (theirs, {"documents_without_subjects": 1})
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"the folder has no \.txt or \.json file"):
        read(tmp_path / "empty")


@pytest.mark.parametrize(
    ("ending", "syntax"), [("ttl", "turtle"), ("rdf", "xml"), ("nt.gz", "nt"), ("jsonld", "json-ld")]
)
def test_skos(tmp_path, ending, syntax):
    written = graph().serialize(format=syntax)
    path = tmp_path / f"v.{ending}"
    path.write_bytes(gzip.compress(written.encode()) if ending.endswith("gz") else written.encode())
    english, finnish = read_vocabulary(path, "en"), read_vocabulary(path, "fi")
    assert english.uris == finnish.uris == [CATS, DOGS]
    assert (english.names, english.notations, english.others) == (["cats", "dogs"], ["636.8", ""], [("felines",), ()])
    assert (finnish.names, finnish.others) == (["kissat", "dogs"], [("kissaeläimet",), ()])
    assert english.counts == {"subjects": 2, "deprecated_subjects": 1, "subjects_named_in_another_language": 0}
    assert finnish.counts["subjects_named_in_another_language"] == 1
    with pytest.raises(InputError, match=r"names are in several languages: en \(2 names\), fi \(1 names\)"):
        read_vocabulary(path)
    with pytest.raises(InputError, match="no name is in language 'sv'"):
        read_vocabulary(path, "sv")


def test_annifs_own_vocabularies(tmp_path):
    (tmp_path / "v.tsv").write_text(f"<{CATS}>\tcats\t636.8\n<{OLD}>\n<{DOGS}>\tcats\n")
    ours = read_vocabulary(tmp_path / "v.tsv")
    assert (ours.uris, ours.notations) == ([CATS, DOGS], ["636.8", ""])
    assert ours.names == [f"cats ({CATS})", f"cats ({DOGS})"]
    assert ours.counts["deprecated_subjects"] == 1
    (tmp_path / "v.csv").write_text(f"uri,label_en,label_fi,notation\n{CATS},cats,kissat,1\n{OLD},,,\n{DOGS},dogs,,\n")
    ours = read_vocabulary(tmp_path / "v.csv", "fi")
    assert (ours.uris, ours.names, ours.notations) == ([CATS, DOGS], ["kissat", "dogs"], ["1", ""])
    for name, content, message in (
        ("x.csv", "a,b\n1,2\n", r"x\.csv, line 1: no column 'uri', 'label_"),
        ("x.ttl", "this is no turtle", r"x\.ttl: not readable as turtle"),
        ("x.doc", "", r"x\.doc: the file's name does not tell what kind of vocabulary it is"),
        ("y.tsv", f"{CATS}\tcats\n{CATS}\tcats\n", f"{CATS} appears 2 times"),
        ("z.tsv", f"{CATS}\n", "no subject has a name"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=message):
            read_vocabulary(tmp_path / name, "en")


def test_a_dataset_of_subjects(tmp_path, capsys):
    graph().serialize(tmp_path / "v.ttl", format="turtle")
    (tmp_path / "a.tsv").write_text((TSV + f"felines\t<{CATS}>\ngone\t<{OLD}> kissat\n") * 5)
    files = [f"--train={tmp_path / 'a.tsv'}", f"--test={tmp_path / 'a.tsv'}", f"--vocabulary={tmp_path / 'v.ttl'}"]
    more = ["--format=annif", "--language=fi", "--features=words", "--max-df=1.0"]
    assert main(["prepare", *more, *files, f"--output={tmp_path / 'd.h5'}"]) == 0
    dataset, names = open_dataset(tmp_path / "d.h5"), read_all_names(tmp_path / "d.h5", "dataset")
    assert (names.uris, names.labels, names.notations) == ([CATS, DOGS], ["kissat", "dogs"], ["636.8", ""])
    Y = dataset.documents.train.Y.to_scipy().toarray()
    assert Y.astype(int).tolist() == [[1, 0], [1, 1], [1, 0], [1, 0]] * 5
    named = dataset.train.Y.to_scipy().toarray()[dataset.n_documents :]
    # no text has "kissat" or "kissaeläimet"
    assert np.argmax(named, axis=1).tolist() == [1]
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("remark")]
    assert [line.split()[1] for line in told] == ["the", "10", "1", "1", "10"]
    assert "10 subjects of instances are not in the vocabulary" in told[4]


def test_texts_whose_subjects_the_vocabulary_lacks_have_labels(tmp_path, capsys):
    (tmp_path / "v.tsv").write_text(f"<{CATS}>\tcats\n<{DOGS}>\tdogs\n")
    (tmp_path / "a.tsv").write_text(f"black cats\t{CATS}\nold\t{OLD}\n" * 3 + "nothing\t\n")
    (tmp_path / "b.tsv").write_text(f"black cats\t{CATS}\nold\t{OLD}\nbarking dogs\t{DOGS}\n")
    files = [f"--{name}={tmp_path / file}" for name, file in (("train", "a.tsv"), ("test", "b.tsv"))]
    options = ["--format=annif", f"--vocabulary={tmp_path / 'v.tsv'}", f"--output={tmp_path / 'd.h5'}"]
    assert main(["prepare", *files, *options, "--max-df=1.0"]) == 0
    output = capsys.readouterr().out
    assert "1 of 7 training instances have no label" in output
    assert "3 of 7 training instances have only subjects that the vocabulary lacks" in output
    assert "2 of 3 test instances have only labels that no training instance has" in output
    assert "test instances have no label" not in output


def test_predictions_and_the_service_carry_uris(tmp_path, capsys):
    (tmp_path / "v.tsv").write_text(f"<{CATS}>\tcats\t636.8\n<{DOGS}>\tdogs\n")
    (tmp_path / "a.tsv").write_text(f"black cats\t{CATS}\nbarking dogs\t{DOGS}\n" * 5)
    files = [f"--train={tmp_path / 'a.tsv'}", f"--test={tmp_path / 'a.tsv'}", f"--vocabulary={tmp_path / 'v.tsv'}"]
    assert main(["prepare", "--format=annif", *files, f"--output={tmp_path / 'd.h5'}"]) == 0
    train_model(open_dataset(tmp_path / "d.h5"), TrainLabels(), 0.0).write(tmp_path / "m.h5")
    capsys.readouterr()
    predict = ["predict", f"--model={tmp_path / 'm.h5'}", "--text=a cat, two cats", "--top-k=1"]
    assert main([*predict, "--output-format=jsonl"]) == main([*predict, "--output-format=csv"]) == 0
    first, *rows = capsys.readouterr().out.splitlines()
    assert json.loads(first)["labels"][0].items() >= {"name": "cats", "uri": CATS}.items()
    header, row = csv.DictReader(rows).fieldnames, next(csv.DictReader(rows))
    assert header[-1] == "uri"
    assert (row["label"], row["uri"]) == ("cats", CATS)
    served = open_served_model(tmp_path / "m.h5")
    request = requests_within(SimpleNamespace(max_text=99, max_top_k=9, max_batch=1))[0](text="cats", top_k=1)
    assert served.predict(request)["predictions"][0]["labels"][0]["uri"] == CATS
    found = served.find_labels("", 0, 2)["labels"]
    assert [(label["uri"], label.get("notation")) for label in found] == [(CATS, "636.8"), (DOGS, None)]
    assert main(["explain", str(tmp_path / "m.h5"), "--text=cats", f"--label={CATS}", "--json"]) == 0
    (explained,) = json.loads(capsys.readouterr().out)["labels"]
    assert (explained["name"], explained["uri"]) == ("cats", CATS)
