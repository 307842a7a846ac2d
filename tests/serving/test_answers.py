import hashlib
import re
from base64 import b64encode
from urllib.parse import quote

import numpy as np
import pytest

from ovaflow.prediction.calibration import read_calibration

TEXTS = ["word00 word01 größe0 filler3", "GRÖSSE3 word32 Ⅳx\U000104003, and Unknown", "nothing known", ""]


@pytest.fixture(scope="module")
def predicted(predictor):
    return predictor.top_k(predictor.from_texts(TEXTS), 4)


def test_a_batch_of_texts_is_predicted_as_by_the_library(service, predictor, predicted):
    status, ours = service.ask("/predict", {"texts": TEXTS, "top_k": 4})
    ids, scores = predicted
    assert status == 200
    assert ours["model"] == predictor.model.checksum
    assert [[label["id"] for label in row["labels"]] for row in ours["predictions"]] == ids.tolist()
    assert [[label["name"] for label in row["labels"]] for row in ours["predictions"]] == [
        [predictor.label_names[label] for label in row] for row in ids
    ]
    np.testing.assert_allclose(
        [[label["score"] for label in row["labels"]] for row in ours["predictions"]], scores, rtol=1e-6
    )
    assert [row["features"] for row in ours["predictions"]] == [4, 3, 0, 0]


def test_one_text_is_a_batch_of_one(service):
    ours = service.ask("/predict", {"text": TEXTS[0]})
    theirs = service.ask("/predict", {"texts": TEXTS[:1]})
    assert ours == theirs
    assert len(ours[1]["predictions"][0]["labels"]) == 5


def test_features_are_counts_of_words(service):
    _, ours = service.ask("/predict", {"features": [{"word00": 1, "word01": 2, "never seen": 3}]})
    _, theirs = service.ask("/predict", {"text": "word00 word01 word01"})
    assert ours == theirs


def test_more_labels_than_there_are(service):
    _, answer = service.ask("/predict", {"text": "word00", "top_k": 100})
    assert len(answer["predictions"][0]["labels"]) == 10


def test_probabilities_and_thresholds_are_those_of_the_calibration(service, models, predictor, predicted):
    ids, scores = predicted
    calibration = read_calibration(models / "a.calibration.h5", predictor.model)
    _, answer = service.ask("/predict", {"texts": TEXTS, "top_k": 4, "probabilities": True})
    ours = [[label["probability"] for label in row["labels"]] for row in answer["predictions"]]
    np.testing.assert_allclose(ours, calibration.probabilities(ids, scores), rtol=1e-5)
    _, answer = service.ask("/predict", {"texts": TEXTS, "top_k": 4, "thresholds": True})
    ours = [[label["id"] for label in row["labels"]] for row in answer["predictions"]]
    reached = scores >= 0.1 * ids - 0.5 - 1e-6
    assert ours == [row[kept].tolist() for row, kept in zip(ids, reached, strict=True)]
    assert 0 < reached.sum() < reached.size


def test_an_explanation_adds_up_and_points_into_the_text(service, predicted):
    text = TEXTS[1]
    status, answer = service.ask("/explain", {"text": text, "top_k": 4, "words": 2, "probabilities": True})
    assert status == 200
    assert [label["id"] for label in answer["labels"]] == predicted[0][1].tolist()
    for label, score in zip(answer["labels"], predicted[1][1], strict=True):
        parts = [each["contribution"] for each in label["up"] + label["down"]]
        assert label["bias"] + label["others"] + sum(parts) == pytest.approx(score, abs=1e-5)
        assert label["score"] == pytest.approx(score, abs=1e-5)
        assert 0 < label["probability"] < 1
    best = {each["feature"]: each["spans"] for each in answer["labels"][0]["up"]}
    assert {text[start:end] for spans in best.values() for start, end in spans} <= {
        "GRÖSSE3", "word32", "Ⅳx\U000104003",
    }  # fmt: skip
    assert len(best) == 2


def test_chosen_labels_are_explained_in_the_order_given(service):
    status, answer = service.ask("/explain", {"features": {"word00": 1}, "labels": [7, 0]})
    assert status == 200
    assert [label["id"] for label in answer["labels"]] == [7, 0]
    assert service.ask("/explain", {"text": "word00", "labels": [10]})[0] == 404


def test_labels_are_found_by_a_part_of_their_name(service, predictor):
    names = predictor.label_names
    for search in ("SCRIPT", "größe", "GRÖSSE", "drop table"):
        _, answer = service.ask(f"/labels?search={quote(search)}")
        found = {label["id"] for label in answer["labels"]}
        wanted = search.casefold().replace("ß", "ss")
        assert found == {j for j, name in enumerate(names) if wanted in name.casefold().replace("ß", "ss")}
        assert found
    _, everything = service.ask("/labels")
    pages = [service.ask(f"/labels?offset={offset}&limit=4")[1] for offset in (0, 4, 8, 12)]
    assert [label for page in pages for label in page["labels"]] == everything["labels"]
    assert {page["total"] for page in pages} == {10}
    assert all(label["positives"] > 0 and label["trained"] for label in everything["labels"])


def test_a_label_has_its_strongest_words_and_nearest_labels(service, predictor):
    status, answer = service.ask("/labels/9?words=3&nearest=4")
    assert status == 200
    weights = predictor.model.weights.to_scipy()[[9]].toarray()[0, : len(predictor.feature_names)]
    theirs = np.argsort(-weights, kind="stable")[:3]
    assert [each["feature"] for each in answer["up"]] == [predictor.feature_names[feature] for feature in theirs]
    assert [each["weight"] for each in answer["up"]] == pytest.approx(weights[theirs], rel=1e-6)
    assert len(answer["nearest"]) <= 4
    assert service.ask("/labels/10")[0] == 404


def test_health_names_the_model(service, predictor):
    status, answer = service.ask("/health")
    assert status == 200
    assert answer["model"] == predictor.model.checksum
    assert (answer["status"], answer["labels"], answer["takes_text"]) == ("ready", 10, True)
    assert answer["probabilities"]
    assert answer["explanations"]


def test_metrics_count_requests_of_all_workers(service):
    def count():
        _, text = service.ask("/metrics")
        found = re.search(r'ovaflow_requests_total\{route="/labels/\{label\}",status="404"\} (\S+)', text)
        assert 'ovaflow_model_workers{model="' in text
        return float(found[1]) if found else 0

    before = count()
    for _ in range(20):
        service.ask("/labels/9999")
    assert count() == before + 20


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_ask_nobody_else_and_run_nothing_else(service, path):
    connection = service.connect()
    connection.request("GET", path)
    response = connection.getresponse()
    page, policy = response.read().decode(), response.headers["Content-Security-Policy"]
    assert response.status == 200
    assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(""", page)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        for content in re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL):
            digest = b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{directive} 'sha256-{digest}'" in policy


def test_the_documentation_names_every_route(service):
    _, document = service.ask("/openapi.json")
    _, page = service.ask("/docs")
    for path in document["paths"]:
        assert f"</span>{path}</h2>" in page
    assert document["components"]["schemas"]["PredictRequest"]["properties"]["texts"]["maxItems"] == 16
    assert document["components"]["schemas"]["PredictRequest"]["properties"]["text"]["maxLength"] == 2000


def test_the_log_has_no_texts(service):
    secret = "xyzzyplugh"
    service.ask("/predict", {"text": secret})
    service.ask(f"/labels?search={secret}")
    service.ask(f"/{secret}")
    service.ask("/predict", {secret: 1})
    service.ask("/health")
    service.wait_for("GET /health 200")
    assert secret not in service.log
    assert "POST /predict 200" in service.log
