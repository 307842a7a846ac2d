"""Labels that a request leaves out, and names in its language."""

from types import SimpleNamespace

import pytest
from animals import HERE, train_animals
from fastapi import HTTPException

from ovaflow.serving.annif import _card
from ovaflow.serving.schemas import requests_within
from ovaflow.serving.served_model import open_served_model

PredictRequest, ExplainRequest = requests_within(SimpleNamespace(max_text=99, max_top_k=9, max_batch=1))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    return open_served_model(train_animals(tmp_path_factory.mktemp("animals")))


def predict(served, **request):
    request = PredictRequest(text="cats and dogs in town", **request)
    [prediction] = served.named_for(request).predict(request)["predictions"]
    return [label["name"] for label in prediction["labels"]]


@pytest.mark.parametrize(
    ("request_", "status", "detail"),
    [
        ({"exclude": ["cats", "cat"]}, 404, "exclude.1: no such label; see /labels"),
        ({"exclude": ["*"]}, 404, "include and exclude leave no label; exclude fewer"),
        ({"include": ["*"] * 11}, 422, "include: more than 10 patterns"),
        ({"language": "de"}, 409, "language: the served model has names of labels in en, fi, sv only"),
    ],
)
def test_what_cannot_be_is_refused(served, request_, status, detail):
    with pytest.raises(HTTPException) as refusal:
        predict(served, **request_)
    assert (refusal.value.status_code, refusal.value.detail) == (status, detail)


def test_every_answer_names_labels_in_the_language(served):
    assert predict(served, include=["cats"], language="sv") == ["katter"]
    swedish = served.in_language("sv")
    explained = swedish.explain(ExplainRequest(text="cats", top_k=1))["labels"]
    assert [label["name"] for label in explained] == ["katter"]
    found = swedish.find_labels("KATT", 0, 9)["labels"]
    assert [(label["name"], label["uri"]) for label in found] == [("katter", f"{HERE}cats")]
    assert swedish.find_labels("cats", 0, 9)["total"] == 0
    assert served.health()["languages"] == ["en", "fi", "sv"]
    assert _card("animals", served)["vocab"]["languages"] == ["en", "fi", "sv"]
