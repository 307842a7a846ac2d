"""Models of features, of trees, and addresses other than a port."""

import json
import shutil
import socket
from collections import Counter
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
    """Folder with features.h5, one-vs-all of four unnamed features, and trees.h5."""
    folder = tmp_path_factory.mktemp("features")
    random = np.random.default_rng(3)
    lines = ["60 4 3"]
    for label in range(3):
        for _ in range(20):
            x = random.random(4).round(3)
            x[label] += 1
            lines.append(f"{label} " + " ".join(f"{j}:{value}" for j, value in enumerate(x)))
    (folder / "train.txt").write_text("\n".join(lines) + "\n")
    prepare_and_train(
        folder, "--format=xmc-text", f"--train={folder}/train.txt", name="features", prune=0.01
    )
    training = CommandTraining(
        "fastxml", folder / "dataset.h5", folder / "trees", train="--trees=2"
    )
    training.train().rename(folder / "trees.h5")
    return folder


def test_features_by_id_on_a_unix_socket_under_a_path(folder, tmp_path) -> None:
    path = tmp_path / "http.sock"
    with socket.socket(socket.AF_UNIX) as left_by_a_killed_service:
        left_by_a_killed_service.bind(str(path))
    predictor = Predictor.open(folder / "features.h5")
    ids, _ = predictor.top_k(predictor.from_features([{0: 1.5, 3: 0.25}, {}]), 3)
    body = {"features": [{"0": 1.5, "3": 0.25}, {}]}
    model = folder / "features.h5"
    socket_option = f"--unix-socket={path}"
    with running_service(tmp_path, model, socket_option, "--root-path=/labels/of") as service:
        assert path.stat().st_mode & 0o777 == 0o666, "the proxy is another user"
        for prefix in ("", "/labels/of"):
            answer = service.answer(f"{prefix}/predict", body)
            assert list_label_values(answer["predictions"]) == ids.tolist()
        assert service.answer("/openapi.json")["servers"] == [{"url": "/labels/of"}]
        assert "features" in service.answer("/predict", {"text": "a text"}, 409)["detail"]
        for wrong in ("4", "-1", "x", "1.5"):
            problem = service.answer("/predict", {"features": [{wrong: 1}]}, 422)
            assert str(folder) not in problem["detail"]
        answer = service.answer("/explain", {"features": {"0": 1.5}, "labels": [0]})
        assert [part["feature"] for part in answer["labels"][0]["up"]] == ["0"]


def test_text_columns_with_weights(tmp_path) -> None:
    rows = [f"a{i % 3} b,c{i % 3} d{i % 2},l{i % 3}\n" for i in range(30)]
    (tmp_path / "train.csv").write_text("title,body,labels\n" + "".join(rows))
    model = prepare_and_train(
        tmp_path,
        "--format=csv",
        f"--train={tmp_path}/train.csv",
        "--text-column=title,body",
        "--column-weights=2",
        "--column-weights=1",
    )
    predictor = Predictor.open(model)
    columns = {"body": "c1 d0", "title": "a1 b"}
    X = predictor.from_texts([f"a1 b{FIELD_SEPARATOR}c1 d0"])
    ids, _ = predictor.top_k(X, 3)
    with running_service(tmp_path, model, f"--corrections={tmp_path}/new.jsonl") as service:
        for body in ({"text": columns}, {"texts": [columns]}):
            predictions = service.answer("/predict", body)["predictions"]
            assert list_label_values(predictions) == ids.tolist()
        answer = service.answer("/explain", {"text": columns, "top_k": 1})
        spans = {part["feature"]: part["spans"] for part in answer["labels"][0]["up"]}
        assert spans["c1"] == [[5, 7]]
        problem = service.answer("/predict", {"text": {"title": "a1", "abstract": "c1"}}, 422)
        assert problem["detail"] == "text.columns.body: Field required"
        assert "weighs the columns title, body" in service.answer("/health")["remark"]
        for text in (columns, "a2 b"):
            service.answer("/corrections", {"text": text, "labels": ["l1"], "id": "7"})
    settings = PrepareSource(format="jsonl", text_column="title,body", column_weights=[2, 1])
    saved = list(read_file(settings, tmp_path / "new.jsonl", Counter()))
    texts = [f"a1 b{FIELD_SEPARATOR}c1 d0", f"a2 b{FIELD_SEPARATOR}"]
    assert [record.text for record in saved] == texts
    assert [(record.labels, record.record_id) for record in saved] == [(("l1",), "7")] * 2


def test_columns_beside_texts(tmp_path) -> None:
    rows = [f"a{i % 2} b,{i % 3},p{i % 3},l{i % 3}\n" for i in range(30)]
    (tmp_path / "train.csv").write_text(
        "text,price,publisher,labels\n" + "".join(rows) + "a1,,,l1\n"
    )
    model = prepare_and_train(
        tmp_path,
        "--format=csv",
        f"--train={tmp_path}/train.csv",
        "--min-df=1",
        "--number-columns=price",
        "--category-columns=publisher",
        "--split=last",
        "--test-fraction=0.01",
    )
    predictor = Predictor.open(model)
    records = [{"text": "a1 b", "price": 2, "publisher": "p2"}, {"text": "a1 b"}, "a1 b"]
    beside = [predictor.beside(each) if isinstance(each, dict) else () for each in records]
    ids, _ = predictor.top_k(predictor.from_texts(["a1 b"] * 3, beside), 3)
    with running_service(tmp_path, model, f"--corrections={tmp_path}/new.jsonl") as service:
        predictions = service.answer("/predict", {"texts": records})["predictions"]
        assert list_label_values(predictions) == ids.tolist()
        both = ["price", "publisher"]
        assert [each["missing"] for each in predictions] == [[], both, both]
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
        sentence = "its columns by name: text, price, publisher; price, publisher may be missing"
        assert sentence in schemas
        for record in records[::2]:
            service.answer("/corrections", {"text": record, "labels": ["l2"], "id": "7"})
    names = {"number_columns": "price", "category_columns": "publisher"}
    first, second = read_file(
        PrepareSource(format="jsonl", **names), tmp_path / "new.jsonl", Counter()
    )
    assert (first.text, first.labels, first.feature_values) == ("a1 b", ("l2",), (2.0, "p2"))
    assert isnan(second.feature_values[0])
    assert second.feature_values[1] == ""


def test_trees_predict_and_say_that_they_cannot_explain(folder, tmp_path) -> None:
    with running_service(tmp_path, folder / "trees.h5") as service:
        answer = service.answer("/predict", {"features": [{"0": 1.5}]})
        [prediction] = answer["predictions"]
        assert answer["probabilities"] is False
        assert prediction["fit"] is None
        assert prediction["labels"][0]["id"] == 0
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
    corrections = f"--corrections={folder}/new.jsonl"
    output = ovaflow("serve", folder / "features.h5", "--port=0", corrections, status=2)
    assert "only corrections of texts are saved; leave out --corrections" in output


def test_the_second_stage_can_be_left_out(models, tmp_path) -> None:
    shutil.copy(models / "a.h5", tmp_path / "model.h5")
    shutil.copy(models / "a.reranker.h5", tmp_path / "reranker.h5")
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
    output = ovaflow("predict", model, "--text=word10", "--fit", status=2)
    assert "the one next to it is not used: 48 instances were held out" in output
