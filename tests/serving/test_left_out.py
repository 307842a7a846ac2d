"""Labels left out for everyone, by a file that changes while the service runs."""

import os
import signal
import time

import pytest
from commands import ovaflow
from running_service import running_service

from ovaflow.data.label_choice import LabelFinder
from ovaflow.prediction.predictor import Predictor

TEXT = "cats purr while dogs bark at birds"
EVERYBODY = {"cats", "dogs", "birds"}


def names(answer):
    return {label["name"] for label in answer["labels"]}


def suggested(service):
    """Labels by each door that suggests some."""
    [prediction] = service.answer("/predict", {"text": TEXT})["predictions"]
    forms = service.answer("/v1/projects/animals/suggest", f"text={TEXT}")
    [batch] = service.answer("/v1/projects/animals/suggest-batch", {"documents": [{"text": TEXT}]})
    by_annif = ({label["label"] for label in each["results"]} for each in (forms, batch))
    return [names(prediction), names(service.answer("/explain", {"text": TEXT})), *by_annif]


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def failed(service):
    return service.answer("/health")["left_out"]["failed"]


def test_the_file_holds_at_every_door_and_the_last_good_one_while_it_is_wrong(library, tmp_path):
    file = tmp_path / "left-out.txt"
    file.write_text("http://example.org/cat*\tCats\n")
    with running_service(tmp_path, f"animals={library}", f"--exclude={file}", "--workers=1") as service:
        assert suggested(service) == [EVERYBODY - {"cats"}] * 4
        assert service.answer("/health")["left_out"] == {"labels": 1, "failed": None}
        # a person may still find and choose them
        assert service.answer("/labels?search=cat")["total"] == 1
        asked = {"text": TEXT, "exclude": ["dogs"]}
        assert names(service.answer("/predict", asked)["predictions"][0]) == {"birds"}
        refused = service.answer("/predict", {"text": TEXT, "include": ["cats"]}, 404)
        assert refused["detail"] == "include and exclude leave only labels that are offered to nobody"

        file.write_text("dogs\n")
        service.wait_for("labels left out by .*left-out.txt: 1")
        assert suggested(service) == [EVERYBODY - {"dogs"}] * 4

        file.write_text("dogs\n\nbrids\n")
        service.wait_for("same labels as before are left out: .*left-out.txt, line 3: no label 'brids'; did you mean")
        since, reason = failed(service).values()
        assert reason.startswith("left-out.txt, line 3: no label 'brids'; did you mean 'birds'?")
        assert 'left_out_failed_timestamp_seconds{project="animals"} 0.0' not in service.answer("/metrics")
        os.kill(service.workers()[0], signal.SIGKILL)
        service.wait_for("startup complete", times=2)
        assert suggested(service) == [EVERYBODY - {"dogs"}] * 4, "a new worker begins with the last good list"
        file.unlink()
        wait_until(lambda: "cannot be read" in failed(service)["reason"])
        assert failed(service)["since"] == since

        file.write_text("birds\n")
        wait_until(lambda: failed(service) is None)
        assert suggested(service) == [EVERYBODY - {"birds"}] * 4
        figures = service.answer("/metrics")
        assert 'left_out_failed_timestamp_seconds{project="animals"} 0.0' in figures
        assert 'left_out_labels{project="animals"} 1.0' in figures


def test_probabilities_stay_whatever_is_left_out(models):
    predictor = Predictor.open(models / "a.h5", models / "a.reranker.h5")
    offered = LabelFinder(predictor.label_names).allowed([], ["plain"])
    X = predictor.from_texts(["word00 word10 größe3"])
    [theirs] = predictor.answer(X, top_k=9, exclude=["plain"])
    for again in (predictor.offering(offered), predictor.offering(offered).offering(offered)):
        [ours] = again.answer(X, top_k=9)
        assert ours.labels == theirs.labels
        assert ours.quality == theirs.quality
    [everybody] = predictor.answer(X, top_k=9)
    assert len(everybody.labels) == 9


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--exclude=none.txt", "none.txt: cannot be read"),
        ("--exclude=a=odd.txt", "odd.txt, line 2: no label 'plein'; did you mean 'plain'?"),
        ("--exclude=all.txt", "all.txt: leaves no label to suggest; remove lines"),
        ("--exclude=b=all.txt", "--exclude b=all.txt: no model is named 'b'"),
    ],
)
def test_what_cannot_be_left_out_is_refused_at_the_start(models, tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.txt").write_text("plain\nplein\n")
    (tmp_path / "all.txt").write_text("*\n")
    assert said in ovaflow("serve", models / "a.h5", "--no-rerank", "--port=0", given, status=2)
