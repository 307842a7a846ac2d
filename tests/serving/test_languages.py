"""Names of labels in the language of a request."""

from types import SimpleNamespace

import pytest
from animals import HERE, train_animals
from commands import list_label_values
from fastapi import HTTPException

from ovaflow.serving.annif import _describe_project
from ovaflow.serving.schemas import make_request_models
from ovaflow.serving.served_model import open_served_model

PredictRequest, ExplainRequest = make_request_models(
    SimpleNamespace(max_text=99, max_top_k=9, max_batch=1)
)


def test_every_answer_names_labels_in_the_language(tmp_path) -> None:
    served = open_served_model(train_animals(tmp_path))
    request = PredictRequest(text="cats and dogs in town", include=["cats"], language="sv")
    swedish = served.for_request(request)
    assert list_label_values(swedish.predict(request)["predictions"], "name") == [["katter"]]
    explanation = swedish.explain(ExplainRequest(text="cats", top_k=1))
    assert list_label_values([explanation], "name") == [["katter"]]
    [found] = swedish.find_labels("KATT", 0, 9)["labels"]
    assert (found["name"], found["uri"]) == ("katter", f"{HERE}cats")
    assert swedish.find_labels("cat", 0, 9)["total"] == 0
    languages = ["en", "fi", "sv"]
    assert served.health()["languages"] == languages
    assert _describe_project("animals", served)["vocab"]["languages"] == languages
    refusal = r"^409: language: the served model has names of labels in en, fi, sv only$"
    with pytest.raises(HTTPException, match=refusal):
        served.in_language("de")
