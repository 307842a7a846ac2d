"""Models of features, of trees, and addresses other than a port."""

import json
import shutil
import socket
from math import isnan

import numpy as np
import pytest
from command_training import CommandTraining
from commands import list_label_values, ovaflow
from running_service import running_service
from synthetic import prepare_and_train

from ovaflow.prediction.predictor import Predictor
from ovaflow.reading.instances import FIELD_SEPARATOR
from ovaflow.records.source import read_file
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.settings.prepare import PrepareSource


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With features.h5, one-vs-all of four unnamed features, and trees.h5."""
    folder = tmp_path_factory.mktemp("features")
    random = np.random.default_rng(3)
    rows = [(label, random.random(4).round(3)) for label in range(3) for _ in range(20)]
    lines = [
        f"{label} " + " ".join(f"{j}:{x[j] + (j == label)}" for j in range(4)) for label, x in rows
    ]
    (folder / "train.txt").write_text("\n".join(["60 4 3", *lines]) + "\n")

    prepare_and_train(
        folder, "--format=xmc-text", f"--train={folder}/train.txt", name="features", prune=0.01
    )
    trees = CommandTraining(
        "fastxml", folder / "dataset.h5", folder / "trees", train="--trees=2"
    ).whole()
    trees.rename(folder / "trees.h5")
    return folder


def test_features_by_id_on_a_unix_socket_under_a_path(folder, tmp_path) -> None:
    path = tmp_path / "http.sock"
    with socket.socket(socket.AF_UNIX) as left_by_a_killed_service:
        left_by_a_killed_service.bind(str(path))
    predictor = Predictor.open(folder / "features.h5")
    ids, _ = predictor.top_k(predictor.from_features([{0: 1.5, 3: 0.25}, {}]), 3)
    body = {"features": [{"0": 1.5, "3": 0.25}, {}]}
    options = f"--unix-socket={path}", "--root-path=/labels/of"
    with running_service(tmp_path, folder / "features.h5", *options) as service:
        assert path.stat().st_mode & 0o777 == 0o666, "the proxy is another user"
        for prefix in ("", "/labels/of"):
            assert (
                list_label_values(service.answer(f"{prefix}/predict", body)["predictions"])
                == ids.tolist()
            )
        assert service.answer("/openapi.json")["servers"] == [{"url": "/labels/of"}]
        assert "features" in service.answer("/predict", {"text": "a text"}, 409)["detail"]
        for wrong in ("4", "-1", "x", "1.5"):
            assert (
                str(folder)
                not in service.answer("/predict", {"features": [{wrong: 1}]}, 422)["detail"]
            )
        answer = service.answer("/explain", {"features": {"0": 1.5}, "labels": [0]})
        assert [part["feature"] for part in answer["labels"][0]["up"]] == ["0"]


def test_text_columns_with_weights(tmp_path) -> None:
    rows = [f"a{i % 3} b,c{i % 3} d{i % 2},l{i % 3}\n" for i in range(30)]
    (tmp_path / "train.csv").write_text("title,body,labels\n" + "".join(rows))
    weights = "--text-column=title,body", "--column-weights=2", "--column-weights=1"
    model = prepare_and_train(tmp_path, "--format=csv", f"--train={tmp_path}/train.csv", *weights)
    predictor = Predictor.open(model)
    columns = {"body": "c1 d0", "title": "a1 b"}
    X = predictor.from_texts([f"a1 b{FIELD_SEPARATOR}c1 d0"])
    ids, _ = predictor.top_k(X, 3)
    with running_service(tmp_path, model, f"--corrections={tmp_path}/new.jsonl") as service:
        for body in ({"text": columns}, {"texts": [columns]}):
            assert (
                list_label_values(service.answer("/predict", body)["predictions"]) == ids.tolist()
            )
        answer = service.answer("/explain", {"text": columns, "top_k": 1})
        assert {part["feature"]: part["spans"] for part in answer["labels"][0]["up"]}["c1"] == [
            [5, 7]
        ]
        problem = service.answer("/predict", {"text": {"title": "a1", "abstract": "c1"}}, 422)
        assert problem["detail"] == "text.columns.body: Field required"
        assert "weighs the columns title, body" in service.answer("/health")["remark"]
        for text in (columns, "a2 b"):
            service.answer("/corrections", {"text": text, "labels": ["l1"], "id": "7"})
    settings = PrepareSource(format="jsonl", text_column="title,body", column_weights=[2, 1])
    saved = [
        (each.text, each.labels, each.id) for each in read_file(settings, tmp_path / "new.jsonl")
    ]
    assert saved == [
        (text, ("l1",), "7") for text in (f"a1 b{FIELD_SEPARATOR}c1 d0", f"a2 b{FIELD_SEPARATOR}")
    ]


def test_columns_beside_texts(tmp_path) -> None:
    rows = [f"a{i % 2} b,{i % 3},p{i % 3},l{i % 3}\n" for i in range(30)]
    (tmp_path / "train.csv").write_text(
        "text,price,publisher,labels\n" + "".join(rows) + "a1,,,l1\n"
    )
    columns = (
        "--number-columns=price",
        "--category-columns=publisher",
        "--split=last",
        "--test-fraction=0.01",
    )
    model = prepare_and_train(
        tmp_path, "--format=csv", f"--train={tmp_path}/train.csv", "--min-df=1", *columns
    )
    predictor = Predictor.open(model)
    records = [{"text": "a1 b", "price": 2, "publisher": "p2"}, {"text": "a1 b"}, "a1 b"]
    beside = [predictor.beside(each) if isinstance(each, dict) else () for each in records]
    ids, _ = predictor.top_k(predictor.from_texts(["a1 b"] * 3, beside), 3)
    with running_service(tmp_path, model, f"--corrections={tmp_path}/new.jsonl") as service:
        predictions = service.answer("/predict", {"texts": records})["predictions"]
        assert list_label_values(predictions) == ids.tolist()
        assert [each["missing"] for each in predictions] == [
            [],
            ["price", "publisher"],
            ["price", "publisher"],
        ]
        up = service.answer("/explain", {"text": records[0], "top_k": 1})["labels"][0]["up"]
        assert "publisher=p2" in [part["feature"] for part in up]
        problem = service.answer("/predict", {"text": {"text": "a", "price": "2,5"}}, 422)
        assert problem["detail"].startswith("text.columns.price: ")
        health = service.answer("/health")
        assert health["columns"] == {
            "texts": ["text"],
            "numbers": ["price"],
            "categories": ["publisher"],
        }
        assert "also reads price, publisher" in health["remark"]
        schemas = json.dumps(service.answer("/openapi.json")["components"]["schemas"])
        assert (
            "its columns by name: text, price, publisher; price, publisher may be missing"
            in schemas
        )
        for record in records[::2]:
            service.answer("/corrections", {"text": record, "labels": ["l2"], "id": "7"})
    names = {"number_columns": "price", "category_columns": "publisher"}
    first, second = read_file(PrepareSource(format="jsonl", **names), tmp_path / "new.jsonl")
    assert (first.text, first.labels, first.beside) == ("a1 b", ("l2",), (2.0, "p2"))
    assert isnan(second.beside[0])
    assert second.beside[1] == ""


def test_trees_predict_and_say_that_they_cannot_explain(folder, tmp_path) -> None:
    with running_service(tmp_path, folder / "trees.h5") as service:
        answer = service.answer("/predict", {"features": [{"0": 1.5}]})
        [prediction] = answer["predictions"]
        assert (answer["probabilities"], prediction["fit"], prediction["labels"][0]["id"]) == (
            False,
            None,
            0,
        )
        service.answer("/explain", {"features": {"0": 1.5}}, status=409)
        for probable in ({"fit": True}, {"min_probability": 0.5}):
            problem = service.answer("/predict", {"features": [{"0": 1.5}], **probable}, 409)
            assert problem["detail"].startswith(
                "the served model has no second stage, so no probabilities"
            )
        answer = service.answer("/labels/0")
        assert answer["up"] is answer["nearest"] is None
        assert not service.answer("/health")["explanations"]
        problem = service.answer("/corrections", {"text": "", "labels": [0]}, 409)
        assert problem["detail"] == "no corrections are saved: serve with --corrections FILE"


def test_corrections_are_of_texts(folder) -> None:
    said = ovaflow(
        "serve", folder / "features.h5", "--port=0", f"--corrections={folder}/new.jsonl", status=2
    )
    assert "only corrections of texts are saved; leave out --corrections" in said


def test_the_second_stage_can_be_left_out(models, tmp_path) -> None:
    for name, served in (("a.h5", "model.h5"), ("a.reranker.h5", "reranker.h5")):
        shutil.copy(models / name, tmp_path / served)
    [theirs] = Predictor.open(models / "a.h5").answer(["word10 größe3"])
    with running_service(tmp_path, tmp_path / "model.h5", "--no-rerank") as service:
        answer = service.answer("/predict", {"text": "word10 größe3"})
        assert not answer["probabilities"]
        assert list_label_values(answer["predictions"]) == [[label.id for label in theirs.labels]]
        assert "probability" not in service.answer("/explain", {"text": "word10"})["labels"][0]
        problem = service.answer("/predict", {"text": "word10", "fit": True}, 409)
        assert problem["detail"].endswith("labels fit; leave out --no-rerank")


def test_a_second_stage_that_is_not_used_says_why(models, tmp_path) -> None:
    model = shutil.copy(models / "b.h5", tmp_path / "model.h5")
    reranker = Reranker(parameters={"unused": "48 instances were held out"})
    reranker.write(tmp_path / "reranker.h5", model=Predictor.open(model).model)
    said = ovaflow("predict", model, "--text=word10", "--fit", status=2)
    assert "the one next to it is not used: 48 instances were held out" in said
