"""Deprecated and unknown subjects: replaced by successors, or listed for a person to fill in."""

import csv
import json
import os
from pathlib import Path

import h5py
import pytest
from commands import ovaflow
from deprecated_vocabulary import HERE, OLD_RECORDS, VOCABULARY, format_record, write_vocabulary
from marc_records import make_marcxml
from synthetic import train_model_file

from ovaflow.labels.subjects import read_vocabulary
from ovaflow.model.one_vs_all import OneVsAll

CATS = HERE + "cats"
DOGS = HERE + "dogs"
CREATURES = HERE + "creatures"
REPLACED = {
    "felines": CATS,
    "house-cats": CATS,
    "hounds": DOGS,
    "pooches": DOGS,
    "beasts": CREATURES,
}


@pytest.fixture
def options(prepare, tmp_path):
    return write_vocabulary(tmp_path)


def list_labels(split, dataset) -> list[str]:
    """List the URIs of the labels of the first records, without their common beginning."""
    labels_of_records = []
    for row in range(len(OLD_RECORDS)):
        labels = split.Y.part(row, row + 1).indices
        uris = [dataset.label_uris[label].removeprefix(HERE) for label in labels]
        labels_of_records.append(" ".join(uris))
    return labels_of_records


def test_chains_are_followed_and_others_are_counted(options) -> None:
    vocabulary = read_vocabulary(Path("v.ttl"))
    assert vocabulary.replaced == {HERE + old: new for old, new in REPLACED.items()}
    assert vocabulary.uris == [CATS, CREATURES, DOGS]
    assert {*vocabulary.counts.items()} >= {
        ("deprecated_subjects", 5),
        ("replaced_subjects", 5),
        ("subjects_replaced_by_several", 1),
        ("subjects_replaced_in_a_circle", 2),
        ("subjects_replaced_by_unknown_ones", 1),
    }


def test_records_have_the_successors(prepare, options) -> None:
    dataset = prepare(options)
    assert list_labels(dataset.test, dataset) == ["cats", "cats", "dogs", "dogs", "", ""]
    assert (
        "16 records had 3 deprecated subjects, which are replaced by their successors, such as"
        in prepare.said
    )
    assert f"{HERE}felines for {CATS} ('cats')" in prepare.said
    for remark in (
        "5 subjects of the vocabulary",
        "1 of the deprecated subjects are",
        "2 of the deprecated subjects",
    ):
        assert f"remark: {remark}" in prepare.said
    assert dataset.names.replaced == {
        HERE + old: dataset.label_uris.index(new) for old, new in REPLACED.items()
    }
    counts = dataset.parameters["source"]["counts"]
    assert (counts["records_with_replaced_subjects"], counts["replaced_subjects_of_records"]) == (
        16,
        3,
    )


def test_successors_have_broader_subjects_and_may_be_left_out(prepare, options) -> None:
    dataset = prepare(options + f" --hierarchy=broader --exclude={DOGS}")
    assert list_labels(dataset.test, dataset) == [
        "cats creatures",
        "cats creatures",
        "",
        "",
        "",
        "",
    ]
    assert HERE + "hounds" not in dataset.names.replaced
    assert "8 subjects of instances are not in the vocabulary" in prepare.said


def test_headings_of_catalogues_are_followed(prepare, options) -> None:
    records = [
        [("001", str(i)), ("245", "a", f"cats {i}"), ("650", "a", "Felines", "0", HERE + "felines")]
        for i in range(4)
    ]
    Path("a.xml").write_bytes(make_marcxml(records))
    dataset = prepare(options.replace("annif", "marcxml").replace("a.tsv", "a.xml"))
    assert dataset.test.Y.to_scipy().toarray().tolist() == [[1, 0, 0]] * 4


def test_the_advice_about_unknown_subjects(prepare, options) -> None:
    prepare(options)
    lines = prepare.said.splitlines()
    [remark] = [line for line in lines if "subjects of instances are not" in line]
    assert "8 subjects of instances are not in the vocabulary: left out" in remark
    assert "; unknown_subjects.csv lists the 2 diff" in remark
    assert (
        "1 of them deprecated: fill in its column stands_for, and set label_map to a copy" in remark
    )
    rows = list(csv.DictReader(Path("unknown_subjects.csv").read_text().splitlines()))
    assert [(row["subject"].removeprefix(HERE), row["why"], row["records"]) for row in rows] == [
        ("pets", "deprecated", "4"),
        ("yeti", "unknown", "4"),
    ]
    assert (rows[0]["name"], rows[0]["replaced_by"]) == ("pets", f"{CATS} {DOGS}")
    assert "copy it to another folder" in prepare(
        options + " --label-map=unknown_subjects.csv", status=2
    )
    content = Path("unknown_subjects.csv").read_text()
    os.mkdir("mine")
    # as Excel may write it
    filled_in = content.replace("pets,,", "pets,dogs,").replace(",", ";")
    Path("mine/map.csv").write_text("\ufeff" + filled_in)
    dataset = prepare(options + " --label-map=mine/map.csv")
    assert list_labels(dataset.test, dataset) == ["cats", "cats", "dogs", "dogs", "dogs", ""]
    advice = "left out; unknown_subjects.csv lists the 1"
    assert f"4 subjects of instances are not in the vocabulary: {advice}" in prepare.said
    Path("mine/map.csv").write_text(filled_in.replace("yeti;;", f"yeti;{HERE}felines;"))
    dataset = prepare(options + " --label-map=mine/map.csv")
    assert list_labels(dataset.test, dataset) == ["cats", "cats", "dogs", "dogs", "dogs", "cats"]
    assert not Path("unknown_subjects.csv").exists()


def test_subjects_that_are_formulas_to_spreadsheets_are_mapped(prepare, options) -> None:
    Path("a.tsv").write_text("black cats\t<=cats()>\n" * 3 + format_record("dogs", "dogs"))
    prepare(options)
    content = Path("unknown_subjects.csv").read_text()
    assert "'=cats()," in content
    Path("map.csv").write_text(content.replace("'=cats(),,", "'=cats(),cats,"))
    assert prepare(options + " --label-map=map.csv").label_counts()[0]["cats"] == 6


def test_joined_records_may_have_unknown_subjects(prepare, options) -> None:
    Path("a.tsv").write_text(
        format_record("black cats", "yeti cats")
        + format_record("black cats", "pets")
        + format_record("dogs", "dogs")
    )
    dataset = prepare(options + " --repeated=join")
    assert dataset.test.Y.to_scipy().toarray().tolist() == [[1, 0, 0], [0, 0, 1]]


def test_models_follow_and_others_have_no_map(prepare, options, tmp_path) -> None:
    model = train_model_file("m.h5", prepare(options))
    theirs = OneVsAll.open(model)
    assert theirs.names.replaced[HERE + "felines"] == theirs.label_uris.index(CATS)
    ovaflow("evaluate", "--model=m.h5", "a.tsv", "--output=e.json")
    [found] = json.loads(Path("e.json").read_text())["models"]
    # pets and yeti, and the second ones of two records with cats and felines
    assert found["metrics"]["unknown labels"] == 6
    prepare(
        write_vocabulary(
            tmp_path, [("cats", "cats"), ("dogs", "dogs")], VOCABULARY.partition(":beasts a")[0]
        )
    )
    with h5py.File("dataset.h5") as file:
        assert "label_former_uris" not in file


def test_the_advice_about_levels(prepare, options) -> None:
    train_model_file("m.h5", prepare(options))
    said = ovaflow("predict", "m.h5", "--text=cats", "--most-specific", status=2)
    assert "its labels are no hierarchy; train with hierarchy: broader" in said
    assert "broader, and a SKOS vocabulary that has skos:" in said
    train_model_file("m.h5", prepare(options + " --hierarchy=broader"))
    assert CATS in ovaflow("predict", "m.h5", "--text=cats", "--most-specific", "--top-k=1")
