"""Corrections with replaced subjects are saved with the successors, also in later trainings."""

import json

import pytest
from commands import ovaflow
from deprecated_vocabulary import HERE, VOCABULARY, write_vocabulary
from running_service import running_service
from synthetic import prepare_and_train

from ovaflow.dataset.dataset import open_dataset


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("living")
    model = prepare_and_train(folder, write_vocabulary(folder).split())
    corrections = folder / "corrections.jsonl"
    with running_service(folder, f"living={model}", f"--corrections={corrections}") as running:
        running.folder = folder
        running.corrections = corrections
        yield running


def read_saved_labels(service) -> list[list[str]]:
    entries = [json.loads(line) for line in service.corrections.read_text().splitlines()]
    return [[uri.removeprefix(HERE) for uri in entry["labels"]] for entry in entries]


def test_corrections_have_the_successors_now_and_later(service) -> None:
    service.answer(
        "/corrections", {"text": "cats purr", "labels": [HERE + "felines", HERE + "cats"]}
    )
    learnt = [{"text": "a hound", "subjects": [{"uri": HERE + "hounds"}]}]
    service.answer("/v1/projects/living/learn", learnt, 204)
    assert read_saved_labels(service) == [["cats"], ["dogs"]]
    refused = service.answer("/corrections", {"text": "pets", "labels": [HERE + "pets"]}, 404)
    assert "no label" in refused["detail"]
    canines = ":canines a skos:Concept ; skos:prefLabel 'canines'@en ."
    later = f"{VOCABULARY}{canines} :dogs dct:isReplacedBy :canines ."
    options = write_vocabulary(service.folder, vocabulary=later).split()
    ovaflow(
        "prepare",
        options,
        f"--extra={service.corrections}",
        "--extra-weight=2",
        f"--output={service.folder}/next.h5",
    )
    dataset = open_dataset(service.folder / "next.h5")
    rows = dataset.documents.train.Y.to_scipy().toarray()[-2:]
    uris = [dataset.label_uris[row.argmax()] for row in rows]
    assert uris == [f"{HERE}cats", f"{HERE}canines"]
