"""Files with numbers and categories next to texts are read as the training data were."""

import json
from pathlib import Path

import numpy as np
import pytest
from commands import list_label_values, ovaflow, predict_answers
from records import write_records
from synthetic import prepare_and_train

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import open_dataset
from ovaflow.estimators import OneVsAllClassifier
from ovaflow.prediction.predictor import Predictor, count_known_features


def make_record(number: int, *, price: str = "price", publisher: str = "publisher") -> dict:
    """Make a record whose label depends on price and publisher, but not on the text.

    ``price`` and ``publisher`` are the names of their columns.
    """
    return {
        "id": f"r{number}",
        "text": f"word{number % 5} word{number % 7}",
        price: number % 3,
        publisher: f"p{number % 3}",
        "labels": [f"l{number % 3}"],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A model that reads a column of numbers and one of categories, and its data."""
    folder = tmp_path_factory.mktemp("columns")
    train = [make_record(number) for number in range(60)]
    train.append(make_record(0) | {"price": None, "publisher": None})
    write_records(folder / "train.jsonl", train)
    write_records(folder / "test.jsonl", [make_record(number) for number in range(100, 130)])
    columns = "--number-columns=price", "--category-columns=publisher"
    files = f"--train={folder}/train.jsonl", f"--test={folder}/test.jsonl"
    prepare_and_train(folder, "--format=jsonl", files, columns, "--min-df=1")
    return folder


def test_a_file_is_read_as_the_test_set_was(folder, tmp_path) -> None:
    model = folder / "model.h5"
    dataset = open_dataset(folder / "dataset.h5")
    theirs = Predictor.open(model).answer(dataset.test.X, top_k=1)
    ours = predict_answers(model, folder / "test.jsonl", "--top-k=1")
    assert list_label_values(ours) == [[label.id for label in answer.labels] for answer in theirs]
    assert list_label_values(ours, "name") == [[f"l{number % 3}"] for number in range(100, 130)]
    renamed = []
    for number in range(100, 130):
        renamed.append(make_record(number, price="cost", publisher="house"))
    write_records(tmp_path / "other.jsonl", renamed)
    assert "no column 'price', 'publisher'" in ovaflow(
        "predict", model, tmp_path / "other.jsonl", status=2
    )
    names = "--number-columns=cost", "--category-columns=house"
    assert predict_answers(model, tmp_path / "other.jsonl", "--top-k=1", names) == ours
    said = ovaflow(
        "predict", model, tmp_path / "other.jsonl", "--number-columns=cost,house", status=2
    )
    assert "2 number_columns (cost,house), the model has price" in said
    assert "P@1" in ovaflow("evaluate", "--model", model, folder / "test.jsonl")
    assert "no column 'price'" in ovaflow(
        "evaluate", "--model", model, tmp_path / "other.jsonl", status=2
    )


def test_a_text_of_unknown_words_still_has_its_columns(folder, tmp_path, capsys) -> None:
    records = [make_record(number) | {"text": "unknown"} for number in range(3)]
    write_records(tmp_path / "new.jsonl", records)
    names = list_label_values(
        predict_answers(folder / "model.h5", tmp_path / "new.jsonl", "--top-k=1"), "name"
    )
    assert names == [["l0"], ["l1"], ["l2"]]
    said = (
        "3 of 3 texts have no word that the model knows: their predictions come from their other "
        "columns alone"
    )
    assert said in capsys.readouterr().err


def test_lines_without_columns_are_not_evaluated(folder, tmp_path) -> None:
    (tmp_path / "new.ft").write_text("__label__l1 word1\n")
    said = ovaflow("evaluate", "--model", folder / "model.h5", tmp_path / "new.ft", status=2)
    assert said.endswith(
        "fasttext has no columns, and the model also reads price, publisher; give a table, such as"
        " csv or jsonl\n"
    )


def test_plain_texts_lack_the_columns(folder, tmp_path, capsys) -> None:
    model = folder / "model.h5"
    predictor = Predictor.open(model)
    assert main(["predict", str(model), "--text", "word1"]) == 0
    assert (
        "also reads price, publisher, which a plain text lacks: they count as missing"
        in capsys.readouterr().err
    )
    write_records(tmp_path / "new.jsonl", [{"text": "word1", "price": None, "publisher": "-"}])
    [ours] = predict_answers(model, tmp_path / "new.jsonl")
    [theirs] = predict_answers(model, "--text", "word1", "--output-format=jsonl")
    assert ours == theirs
    [of_counts] = predictor.answer(predictor.from_features([{"word1": 1}]))
    assert [label.id for label in of_counts.labels] == [label["id"] for label in ours["labels"]]
    values = predictor.beside({"price": 2.0, "publisher": "p2"})
    X = predictor.from_texts(["word1", "word1", ""], [(), values, values])
    np.testing.assert_array_equal(count_known_features(predictor, X), [1, 1, 0])
    _, second, third = predictor.answer(X, top_k=1)
    for answer in (second, third):
        assert [label.name for label in answer.labels] == ["l2"]
    with pytest.raises(InputError, match="is made from a column"):
        predictor.from_features([{"publisher=p1": 1}])
    with pytest.raises(InputError, match="reads numbers and categories beside texts"):
        OneVsAllClassifier.load(model)


def test_explanations_name_them(folder) -> None:
    of_row = "--dataset", folder / "dataset.h5", "--row=0"
    [label] = json.loads(ovaflow("explain", folder / "model.h5", of_row, "--labels=1", "--json"))[
        "labels"
    ]
    assert "publisher=p1" in [part["feature"] for part in label["up"]]
    assert "price (number)" in ovaflow("explain", folder / "model.h5", "--label=l2")
