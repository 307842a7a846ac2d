"""Suggestions as ``annif index`` writes them, a file for each document, and who reads them."""

import numpy as np
import pytest
from animals import HERE, train_animals
from commands import answers, labels_of, ovaflow
from hypothesis import given
from hypothesis import strategies as st
from records import write_records
from scipy.special import expit

from ovaflow.prediction.annif_files import AnnifLines, files_of_records
from ovaflow.prediction.answers import Record
from ovaflow.prediction.question import Answer, AnsweredLabel
from ovaflow.reading.suggestions import read_suggested

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="</>"), min_size=1)
LABELS = st.builds(
    AnsweredLabel,
    id=st.integers(0, 1),
    name=NAMES,
    score=st.floats(0, 1, width=32).map(np.float32),
    uri=st.none() | NAMES.map("http://example.org/{}".format),
)


@given(st.dictionaries(st.integers(), st.lists(LABELS), max_size=3), st.sampled_from([[], ["", "598"]]))
def test_what_was_written_is_read_as_suggestions(tmp_path_factory, answered, notations):
    folder, writer = tmp_path_factory.mktemp("annif") / "new", AnnifLines(notations, probabilistic=True)
    with files_of_records(folder) as out:
        for name, labels in answered.items():
            out.write(writer.write(Record(1, name, None, ()), Answer(labels, None, None)))
    if not answered:
        assert not any(folder.iterdir())
        return
    theirs = {(str(name), "", 0.0) for name in answered}
    theirs |= {
        (str(name), each.uri or each.name, float(f"{each.score:.4f}"))
        for name, labels in answered.items()
        for each in labels
    }
    assert {*read_suggested(folder)} == theirs


@pytest.fixture
def documents(tmp_path):
    """A folder of documents, and a model of their subjects."""
    for name, text in (("a", "black cats purr"), ("b.c", "birds sing")):
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "model").mkdir()
    return tmp_path, train_animals(tmp_path / "model")


def test_files_lie_beside_the_documents(documents):
    folder, model = documents
    (folder / "a.annif").write_text("of an earlier night")
    theirs = answers(model, folder, "--top-k=2")
    assert [each["id"] for each in theirs] == ["a.txt", "b.c.txt"]
    ovaflow("predict", model, folder, "--top-k=2", f"--output={folder}")
    for name, answer in zip(("a", "b.c"), theirs, strict=True):
        lines = (folder / f"{name}.annif").read_text().splitlines()
        assert lines == [
            f"<{label['uri']}>\t{label['name']}\t{expit(label['score']):.4f}" for label in answer["labels"]
        ]
    assert sorted(each.suffix for each in folder.iterdir()) == ["", ".annif", ".annif", ".txt", ".txt"]
    # as subjects beside the documents they are labels
    for file in folder.glob("*.annif"):
        file.rename(file.with_suffix(".tsv"))
    said = ovaflow("evaluate", folder, f"--model={model}")
    assert "100.0 %" in next(line for line in said.splitlines() if "P@1" in line)
    assert labels_of(theirs, "uri")[0][0] == f"{HERE}cats"


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["a", "a"], "two records are called 'a'"),
        (["a.txt", "a.json"], "two records are called 'a'"),
        (["123/4"], "the id '123/4' cannot be a file's name"),
        ([".."], "cannot be a file's name"),
        (["é" * 150], "cannot be a file's name"),
    ],
)
def test_ids_that_are_no_names_of_files(documents, ids, said):
    folder, model = documents
    table, out = folder / "new.jsonl", folder / "out"
    write_records(table, [{"id": id, "text": "cats", "shelf": f"s{i}"} for i, id in enumerate(ids)])
    asked = "predict", model, table, "--output-format=annif"
    message = ovaflow(*asked, f"--output={out}", status=2)
    assert said in message
    assert "name another column with --id-column, or write csv or jsonl" in message
    assert not out.exists()
    ovaflow(*asked, f"--output={out}", "--id-column=shelf")
    assert {each.name for each in out.iterdir()} == {f"s{i}.annif" for i in range(len(ids))}
    ovaflow("predict", model, table, f"--output={folder}/a.csv")
    assert "name a folder with --output" in ovaflow(*asked, status=2)
    assert "name a folder with --output" in ovaflow(*asked, f"--output={table}", status=2)
    message = ovaflow("predict", model, table, f"--output={out}", "--output-format=csv", status=2)
    assert "out is a folder, for --output-format=annif" in message
