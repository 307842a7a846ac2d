"""Answers to programs, compared with those of Predictor."""

import re
from urllib.parse import quote

import numpy as np
import pytest
from commands import list_label_values

TEXTS = [
    "word00 word01 größe0 filler3",
    "GRÖSSE3 word32 Ⅳx\U000104003, and Unknown",
    "nothing known",
    "",
]


def test_requests_that_mean_the_same_have_the_same_answer(service) -> None:
    for one, other in (
        ({"text": TEXTS[0]}, {"texts": TEXTS[:1]}),
        ({"text": TEXTS[0]}, {"texts": TEXTS[:1], "top_k": 5.0}),
        ({"text": "word00", "top_k": 100}, {"text": "word00", "top_k": 10}),
    ):
        assert service.answer("/predict", one) == service.answer("/predict", other)
    counts = {"features": [{"word00": 1, "word01": 2, "never seen": 3}]}
    text = {"text": "word00 word01 word01"}
    [ours] = service.answer("/predict", counts)["predictions"]
    [theirs] = service.answer("/predict", text)["predictions"]
    # features are no words
    unknown = {"words": None, "known_words": None, "language": None, "doubts": []}
    assert ours == theirs | unknown


def test_each_answer_says_how_many_labels_fit_and_features_are_known(service, predictor) -> None:
    theirs = [len(each.labels) for each in predictor.answer(TEXTS, fit=True)]
    answer = service.answer("/predict", {"texts": TEXTS, "top_k": 1})
    assert (answer["model"], answer["probabilities"]) == (predictor.model.checksum, True)
    ours = [(row["fit"], row["features"]) for row in answer["predictions"]]
    assert ours == list(zip(theirs, [4, 3, 0, 0], strict=True))
    assert len(set(theirs)) > 1


def test_an_explanation_is_of_the_best_labels_and_points_into_the_text(service, predictor) -> None:
    text = TEXTS[1]
    answer = service.answer("/explain", {"text": text, "top_k": 4, "words": 2})
    x = predictor.from_texts([text])
    [ids], [probabilities] = predictor.top_k(x, 4)
    assert list_label_values([answer]) == [ids.tolist()]
    assert list_label_values([answer], "probability") == [pytest.approx(probabilities, rel=1e-6)]
    assert list_label_values([answer], "score") == [
        pytest.approx(predictor.scores(x, ids)[0], abs=1e-5)
    ]
    best = answer["labels"][0]["up"]
    words = set()
    for each in best:
        words |= {text[start:end] for start, end in each["spans"]}
    assert words <= {"GRÖSSE3", "word32", "Ⅳx\U000104003"}
    assert len(best) == 2
    answer = service.answer("/explain", {"features": {"word00": 1}, "labels": [7, 0]})
    assert list_label_values([answer]) == [[7, 0]]


def test_labels_are_found_by_a_part_of_their_name(service, predictor) -> None:
    names = [name.casefold() for name in predictor.label_names]
    for search in ("SCRIPT", "größe", "GRÖSSE", "drop table"):
        answer = service.answer(f"/labels?search={quote(search)}")
        ours = {label["id"] for label in answer["labels"]}
        theirs = {j for j, name in enumerate(names) if search.casefold() in name}
        assert ours == theirs != set()
    everything = service.answer("/labels")
    pages = [service.answer(f"/labels?offset={offset}&limit=4") for offset in (0, 4, 8, 12)]
    listed = []
    for page in pages:
        listed += page["labels"]
    assert listed == everything["labels"]
    assert {page["total"] for page in pages} == {10}
    assert all(label["positives"] > 0 and label["trained"] for label in everything["labels"])


def test_a_label_has_its_strongest_words_and_nearest_labels_and_health_names_the_model(
    service, predictor
) -> None:
    answer = service.answer("/labels/9?words=3&nearest=4")
    names = predictor.feature_names
    label_weights = predictor.model.first_stage.weights.to_scipy()[[9]].toarray()[0]
    weights = label_weights[: len(names)]
    theirs = np.argsort(-weights, kind="stable")[:3]
    assert [each["feature"] for each in answer["up"]] == [names[feature] for feature in theirs]
    assert [each["weight"] for each in answer["up"]] == pytest.approx(weights[theirs], rel=1e-6)
    assert len(answer["nearest"]) <= 4
    answer = service.answer("/health")
    theirs = {
        "status": "ready",
        "model": predictor.model.checksum,
        "labels": 10,
        "takes_text": True,
        "probabilities": True,
        "explanations": True,
        "remark": "",
    }
    assert answer.items() >= theirs.items()


def test_the_log_has_no_texts(service) -> None:
    secret = "xyzzyplugh"
    for path, body in (
        ("/predict", {"text": secret}),
        ("/predict", {secret: 1}),
        (f"/labels?search={secret}", None),
        ("/corrections", {"text": secret, "labels": [0], "id": secret}),
        ("/corrections", {"text": secret, "labels": [secret]}),
    ):
        service.ask(path, body)
    service.ask(f"/{secret}")
    service.wait_for("GET other 404")
    assert secret not in service.log
    assert re.search(r"Z POST /predict 200 [\d.]+ ms\n", service.log)


def test_pages_name_every_route_and_ask_nobody_else(service) -> None:
    document = service.answer("/openapi.json")
    documentation = service.answer("/docs")
    assert all(f"</span>{path}</h2>" in documentation for path in document["paths"])
    schemas = document["components"]["schemas"]
    assert {"PredictionsReply", "DocumentSuggestions"} <= schemas.keys()
    texts = schemas["PredictRequest"]["properties"]
    assert (texts["texts"]["maxItems"], texts["text"]["oneOf"][0]["maxLength"]) == (16, 2000)
    for page in (documentation, service.answer("/")):
        assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(""", page)
