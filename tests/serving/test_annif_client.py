"""annif-client, the Python package for Annif's API, with our service."""

import json

import pytest
import requests
from running_service import running_service

annif_client = pytest.importorskip("annif_client")

URI = "http://example.org/{}".format


def test_every_method_works_or_says_what_is_missing(library, tmp_path) -> None:
    learnt = tmp_path / "learnt.jsonl"
    text = tmp_path / "text.txt"
    text.write_text("cats purr")
    with running_service(tmp_path, f"animals={library}", f"--corrections={learnt}") as service:
        client = annif_client.AnnifClient(f"{service.url}/v1/")
        assert client.api_info.keys() == {"title", "version"}
        assert client.projects == [client.get_project("animals")]
        with open(text) as file:
            ours = client.suggest("animals", file, limit=2, threshold=0.1)
        assert [label["label"] for label in ours][:1] == ["cats"]
        documents = [{"text": "cats purr", "document_id": "one"}, {"text": "birds sing"}]
        first, second = client.suggest_batch("animals", documents, limit=2, threshold=0.1)
        assert (first, second["document_id"]) == ({"document_id": "one", "results": ours}, None)
        dogs = {"uri": URI("dogs"), "label": "dogs"}
        client.learn("animals", [{"text": "a fox", "subjects": [dogs]}])
        assert json.loads(learnt.read_text())["labels"] == [URI("dogs")]
        sentence = "It is not what I would have said of this"
        languages = client.detect_language(sentence, ["en", "fi"])["results"]
        assert languages[0]["language"] == "en"
        assert {each["language"] for each in languages} == {"en", "fi", None}
        with pytest.raises(requests.HTTPError) as refused:
            client.detect_language("It is not", ["xx"])
        assert "unsupported candidate languages: xx" in refused.value.response.json()["detail"]
        no_project = "no project 'none'; there are animals"
        with pytest.raises(ValueError, match=no_project):
            client.suggest("none", "x")
        with pytest.raises(ValueError, match=no_project):
            client.suggest_batch("none", [])
        with pytest.raises(ValueError, match=no_project):
            client.learn("none", [])
        with pytest.raises(requests.HTTPError) as refused:
            client.learn("animals", [{"text": "x", "subjects": [{"uri": URI("unicorns")}]}])
        assert "no label 'http://example.org/unicorns'" in refused.value.response.json()["detail"]
