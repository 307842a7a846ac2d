"""Records of JSON in the shapes that programs write: read, or refused with a command that is
followed here.
"""

import json
import re

import pytest
from following import follow_command
from prediction_reading import assert_predict_reads_the_same

TEXTS = [f"the {word} and tea" for word in ("honey", "crumpet", "kettle", "saucer")] * 3
CATS = [{"Bees": float("honey" in text), "Food": 1.0} for text in TEXTS]
SPACY = [
    [text, {"entities": [[4, 9, "X"]], "cats": cats}]
    for text, cats in zip(TEXTS, CATS, strict=True)
]
OBJECTS = [{"text": text, "cats": cats} for text, cats in zip(TEXTS, CATS, strict=True)]
LABELS = [["Bees", "Food"] if cats["Bees"] else "Food" for cats in CATS]
FOUND = ["Bees", "Food"], 12, 15
COLUMN = ["--format=jsonl", "--labels-column=cats"]


def write_lines(values) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def test_lines_of_spacy(prepare, tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(write_lines(SPACY))
    read = prepare(path, [*COLUMN, f"--test={path}"])
    assert read.found == (FOUND[0], 24, 30)
    assert list(read.dataset.test_texts()) == TEXTS
    assert_predict_reads_the_same(read.dataset, path, tmp_path)


def test_a_text_of_spacy_s_object_gives_way(prepare, tmp_path) -> None:
    pairs = [[text, each | {"text": "other"}] for text, each in SPACY]
    path = tmp_path / "a.jsonl"
    path.write_text(write_lines(pairs))
    read = prepare(path, [*COLUMN, f"--test={path}"])
    assert list(read.dataset.test_texts()) == TEXTS


SHAPES = {
    "array of spaCy's": json.dumps(SPACY),
    "array of spaCy's, indented": json.dumps(SPACY, indent=1),
    "array": json.dumps(OBJECTS),
    "array, indented": json.dumps(OBJECTS, indent=2),
    "array, a record per line": "[" + ",\n".join(json.dumps(each) for each in OBJECTS) + "]\n",
    "indented objects": "\n".join(json.dumps(each, indent=2) for each in OBJECTS),
    "indented objects, nothing between": "".join(json.dumps(each, indent=2) for each in OBJECTS),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_that_are_no_lines(prepare, tmp_path, shape) -> None:
    (tmp_path / "records.json").write_text(SHAPES[shape])
    said = prepare(tmp_path / "records.json", COLUMN).said
    assert said.count("\n") == 1
    read = prepare(follow_command(said, tmp_path / "records.json"), COLUMN)
    assert read.found == FOUND


LISTS = {
    "text, labels": list(zip(TEXTS, LABELS, strict=True)),
    "labels, text": list(zip(LABELS, TEXTS, strict=True)),
    "id, text, labels": list(zip(range(12), TEXTS, LABELS, strict=True)),
}


@pytest.mark.parametrize("columns", [("text", "labels"), ("title", "it's \"5 $")])
@pytest.mark.parametrize("shape", LISTS)
def test_lists_of_values(prepare, tmp_path, shape, columns) -> None:
    text, labels = columns
    (tmp_path / "records.jsonl").write_text("\n" + write_lines(LISTS[shape]))
    options = ["--format=jsonl", f"--text-column={text}", f"--labels-column={labels}"]
    said = prepare(tmp_path / "records.jsonl", options).said
    assert "line 2: expected a JSON object, found the list [" in said
    read = prepare(follow_command(said, tmp_path / "records.jsonl"), options)
    assert read.found == FOUND


@pytest.mark.parametrize("line", ['"bees"', "7", "null"])
def test_lines_of_single_values(prepare, line) -> None:
    said = prepare(f"{line}\n", ["--format=jsonl"]).said
    assert re.search(f"expected a JSON object, found '{line}.*; correct or delete the line", said)
