"""annif-client, the Python package for Annif's interface, with our service."""

import contextlib
import json

import pytest
import requests
from running_service import running_service

annif_client = pytest.importorskip("annif_client")

URI = "http://example.org/{}".format


@pytest.fixture(scope="module")
def service(library, tmp_path_factory):
    folder = tmp_path_factory.mktemp("client")
    with running_service(folder, f"animals={library}", f"--corrections={folder / 'learnt.jsonl'}") as running:
        running.corrections = folder / "learnt.jsonl"
        yield running


@pytest.fixture(scope="module")
def client(service):
    return annif_client.AnnifClient(f"{service.url}/v1/")


def test_what_is_served(client):
    assert client.api_info.keys() == {"title", "version"}
    [project] = client.projects
    assert project == client.get_project("animals")
    assert project["project_id"] == "animals"


def test_suggestions(client, tmp_path):
    (tmp_path / "text.txt").write_text("cats purr")
    with open(tmp_path / "text.txt") as file:
        of_a_file = client.suggest("animals", file, limit=2, threshold=0.1)
    assert of_a_file == client.suggest("animals", "cats purr", limit=2)
    assert of_a_file[0].keys() == {"uri", "label", "notation", "score"}
    documents = [{"text": "cats purr", "document_id": "one"}, {"text": "birds sing"}]
    several = client.suggest_batch("animals", documents, limit=2, threshold=0)
    assert [each["document_id"] for each in several] == ["one", None]
    assert several[0]["results"] == of_a_file


def test_learning(service, client):
    client.learn("animals", [{"text": "a fox", "subjects": [{"uri": URI("dogs"), "label": "dogs"}]}])
    [line] = service.corrections.read_text().splitlines()
    assert json.loads(line)["labels"] == [URI("dogs")]


def test_languages(client):
    # what the client makes of a service that cannot tell languages and says so
    with contextlib.suppress(ValueError):
        found = client.detect_language("The quick brown fox", ["en", "fi"])
        assert {each["language"] for each in found["results"]} <= {"en", "fi", None}


def test_what_is_missing_is_said(client):
    documents = [{"text": "cats", "subjects": [{"uri": URI("unicorns")}]}]
    for ask, *more in ((client.get_project,), (client.suggest, "x"), (client.suggest_batch, []), (client.learn, [])):
        with pytest.raises(ValueError, match="no project 'none'; there are animals"):
            ask("none", *more)
    with pytest.raises(requests.HTTPError) as refused:
        client.learn("animals", documents)
    answer = refused.value.response
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")
    assert "no label 'http://example.org/unicorns'" in answer.json()["detail"]
