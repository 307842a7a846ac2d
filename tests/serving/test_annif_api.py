"""Annif's API as ovaflow serves it; test_real_annif.py has the real Annif as its client."""

import json
from urllib.parse import urlencode

import numpy as np
import pytest
from commands import ovaflow
from running_service import running_service
from scipy.special import expit

from ovaflow.cli.serve import _name_models
from ovaflow.dataset.dataset import open_dataset

URI = "http://example.org/{}".format


@pytest.fixture(scope="module")
def several(library, models, tmp_path_factory):
    """A service of the library's model and of another, whose labels are of no vocabulary."""
    folder = tmp_path_factory.mktemp("several")
    corrections = folder / "corrections.jsonl"
    second = str(models / "b.h5")
    option = f"--corrections=animals={corrections}"
    with running_service(folder, f"animals={library}", second, option) as running:
        running.corrections = corrections
        yield running


def suggest(service, project="animals", status=200, **fields) -> dict | str:
    return service.answer(f"/v1/projects/{project}/suggest", urlencode(fields), status)


def test_every_model_is_a_project(several, library, models) -> None:
    first, second = several.answer("/v1/projects")["projects"]
    assert [first["project_id"], second["project_id"]] == ["animals", "b"]
    assert first["vocab"] == {"vocab_id": "animals", "languages": ["en"], "size": 3, "loaded": True}
    assert (first["language"], second["language"]) == ("en", "und")
    assert second["vocab"]["vocab_id"] == "labels"
    assert several.answer("/v1/projects/b") == second
    assert several.answer("/v1/vocabs") == {"vocabs": [first["vocab"], second["vocab"]]}
    several.answer("/v1/projects/c", status=404)
    assert several.answer("/health")["labels"] == 3
    assert several.answer("/metrics").count("ovaflow_model_workers{model=") == 2


def test_suggestions_are_predictions(several) -> None:
    text = "a cat purrs: cats purr"
    [prediction] = several.answer("/predict", {"text": text})["predictions"]
    ours = suggest(several, text=text)["results"]
    notations = {"cats": "636.8", "dogs": None, "birds": "598"}
    for each, theirs in zip(ours, prediction["labels"], strict=True):
        name = theirs["name"]
        score = pytest.approx(expit(theirs["score"]))
        assert each == {
            "label": name,
            "uri": URI(name),
            "notation": notations[name],
            "score": score,
        }
    above = suggest(several, text=text, threshold=ours[1]["score"])
    assert above["results"] == ours[:2]
    for fields in (
        {"text": "cats", "limit": 0},
        {"text": "", "metadata_title": "x"},
        {"text": "unheard of"},
    ):
        assert suggest(several, **fields) == {"results": []}


def test_several_documents(several) -> None:
    documents = [
        {"text": "cats", "document_id": "x"},
        {"text": "birds", "document_id": None},
    ]
    path = "/v1/projects/animals/suggest-batch?limit=1&language=en"
    answer = several.answer(path, {"documents": documents})
    assert [(each["document_id"], each["results"][0]["label"]) for each in answer] == [
        ("x", "cats"),
        (None, "birds"),
    ]
    assert several.answer(path, {"documents": []}) == []
    several.answer(path, {"documents": documents * 17}, 400)


def test_labels_of_no_vocabulary_are_their_own_uris_in_any_language(several) -> None:
    answer = suggest(several, "b", text="cats and dogs or whatever", language="fi")
    assert all(each["uri"] == each["label"] for each in answer["results"])


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({}, "text: Field required"),
        ({"text": "cats", "limit": "-1"}, "limit: Input should be greater than or equal to 0"),
        ({"text": "cats", "limit": "many"}, "limit: Input should be a valid integer"),
        ({"text": "cats", "threshold": "2"}, "threshold: Input should be less than or equal to 1"),
        (
            {"text": "cats", "language": "fi"},
            'language "fi" not supported by vocabulary, which has en',
        ),
    ],
)
def test_wrong_fields_are_refused(several, fields, detail) -> None:
    assert suggest(several, status=400, **fields)["detail"].startswith(detail)


def test_a_form_of_an_unknown_encoding_is_refused(several) -> None:
    form = b'--b\r\nContent-Disposition: form-data; name="text"\r\n\r\ncats\r\n--b--\r\n'
    connection = several.connect()
    for charset, status, said in (
        ("undefined", 400, b"the form cannot be decoded"),
        ("utf-8", 200, b"cats"),
    ):
        headers = {"Content-Type": f"multipart/form-data; boundary=b; charset={charset}"}
        connection.request("POST", "/v1/projects/animals/suggest", form, headers)
        response = connection.getresponse()
        assert (response.status, said in response.read()) == (status, True)


def learn(service, documents, status, project="animals") -> dict | str:
    return service.answer(f"/v1/projects/{project}/learn", documents, status)


def test_learning_is_a_line_for_the_next_training(several, library) -> None:
    text = "A quick brown fox jumped over the lazy dog."
    birds = {"uri": URI("birds"), "label": "birds"}
    dogs = {"uri": URI("dogs")}
    fox = {"text": text, "metadata": {"title": "Foxes"}, "subjects": [birds, dogs]}
    # programs that cut texts off send halves of characters
    assert learn(several, [fox, {"text": "cats \ud83d", "subjects": []}], 204) == ""
    entries = [json.loads(line) for line in several.corrections.read_text().splitlines()]
    learnt = [(entry["text"], entry["labels"]) for entry in entries]
    assert learnt == [(text, [URI("birds"), URI("dogs")]), ("cats ?", [])]
    assert entries[0]["id"] != entries[1]["id"]
    output = library.parent / "next.h5"
    ovaflow(
        "prepare",
        "--format=annif",
        f"--train={library.parent / 'train.tsv'}",
        f"--vocabulary={library.parent / 'animals.csv'}",
        "--min-df=1",
        "--max-df=1.0",
        f"--extra={several.corrections}",
        "--extra-weight=2",
        "--no-label-names",
        f"--output={output}",
    )
    dataset = open_dataset(output)
    [fox_labels, cats_labels] = dataset.train.Y.to_scipy().toarray()[-2:]
    fox_uris = [dataset.label_uris[label] for label in np.flatnonzero(fox_labels)]
    assert fox_uris == [URI("birds"), URI("dogs")]
    assert not cats_labels.any()


@pytest.mark.parametrize(
    ("documents", "status", "detail"),
    [
        (
            [{"text": "cats", "subjects": []}, {"text": "x", "subjects": [{"uri": URI("foxes")}]}],
            400,
            "no label 'http",
        ),
        ([{"text": "cats"}], 400, "0.subjects: Field required"),
        ({"text": "cats", "subjects": []}, 400, "Input should be a valid list"),
        ([{"text": "cats " * 200_001, "subjects": []}], 413, "a text has more than"),
    ],
)
def test_nothing_is_learnt_from_what_is_refused(several, documents, status, detail) -> None:
    before = several.corrections.stat().st_size
    assert detail in str(learn(several, documents, status))
    assert several.corrections.stat().st_size == before


def test_what_is_too_large_and_what_learns(several) -> None:
    for times in (200_001, 1_000_000):
        # plain text, as in Annif
        assert isinstance(suggest(several, status=413, text="cats " * times), str)
    suggest(several, "none", 404, text="cats")
    learn(several, [], 404, "none")
    assert (
        learn(several, {}, 403, "b")["detail"]
        == "project b does not learn: serve with --corrections b=FILE"
    )


def test_scores_are_probabilities_where_the_model_has_them(service, several) -> None:
    [project] = service.answer("/v1/projects")["projects"]
    assert project["description"] == "the score of a subject is its probability"
    assert "not a probability" in several.answer("/v1/projects/b")["description"]
    results = suggest(service, project["project_id"], text="word10 größe3 filler7")["results"]
    assert len(results) == 10
    assert (np.diff([each["score"] for each in results]) < 0).all()


def test_a_model_behind_a_link_is_named_like_the_link(tmp_path, monkeypatch) -> None:
    (tmp_path / "2026-01").mkdir()
    (tmp_path / "2026-01" / "model.h5").touch()
    (tmp_path / "current").symlink_to("2026-01")
    monkeypatch.chdir(tmp_path)
    assert list(_name_models(["current/model.h5"])) == ["current"]
    monkeypatch.chdir(tmp_path / "current")
    assert list(_name_models(["model.h5"])) == ["2026-01"]


@pytest.mark.parametrize(
    ("models", "why"),
    [
        ("a/model.h5 b/a.h5", "two models are named 'a': write NAME=MODEL"),
        ("a/b=model.h5", "'a/b' is not a valid project name"),
        ("a.h5 b.h5 --reranker=c.h5", "--reranker belongs to one model"),
        ("a.h5 b.h5 --corrections=c=new.jsonl", "no model is named 'c'"),
        ("a.h5 --corrections=x.jsonl --corrections=a=y.jsonl", "two files for the model 'a'"),
    ],
)
def test_refused_on_the_command_line(models, why) -> None:
    assert why in ovaflow("serve", models.split(), status=2)


FOX = "The quick brown fox jumped over the lazy dog, and it was not the first time that it did so"


def test_the_language_of_a_text(several):
    def detect(text, *languages) -> list[dict]:
        body = {"text": text, "languages": languages}
        return several.answer("/v1/detect-language", body)["results"]

    ours = detect(FOX, "sv", "en", "fi")
    assert ours[0]["language"] == "en"
    assert {each["language"] for each in ours} == {"en", "fi", "sv", None}
    scores = [each["score"] for each in ours]
    assert scores == sorted(scores, reverse=True)
    # as Annif answers to texts that it does not know, and to an empty one
    assert detect("exampley texty", "fi", "sv")[0] == {"language": None, "score": 1}
    assert detect("", "en")[0] == {"language": None, "score": 1}
    assert detect(FOX, "fi", "sv")[0]["language"] is None


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        (
            {"text": "a", "languages": ["unk"]},
            400,
            "unsupported candidate languages: unk; those that can be told are",
        ),
        ({"text": "a", "languages": []}, 400, "languages: List should have at least 1 item"),
        (
            {"text": "a", "languages": ["en", "fr", "de", "it", "es", "nl"]},
            400,
            "languages: List should have at most 5",
        ),
        (
            {"text": "a", "languages": ["e"]},
            400,
            "languages.0: String should have at least 2 characters",
        ),
        ({"languages": ["en"]}, 400, "text: Field required"),
        (
            {"text": "a" * 1_000_001, "languages": ["en"]},
            413,
            "a text has more than 1000000 characters",
        ),
    ],
)
def test_languages_that_are_refused(several, body, status, detail) -> None:
    answer = several.answer("/v1/detect-language", body, status)
    assert (answer["detail"] if status == 400 else answer).startswith(detail)
