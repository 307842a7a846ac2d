"""Labels excluded for every client, by a file that changes while the service runs."""

import os
import signal

import pytest
from commands import list_label_values, ovaflow
from running_service import running_service, wait_until

from ovaflow.prediction.predictor import Predictor

TEXT = "cats purr while dogs bark at birds"


def suggest(service) -> set[str]:
    """Names of the labels that each route suggests, sorted; one text where all suggest the same."""
    answers = service.answer("/predict", {"text": TEXT})["predictions"]
    answers.append(service.answer("/explain", {"text": TEXT}))
    names = list_label_values(answers, "name")
    project = "/v1/projects/animals"
    by_annif = service.answer(f"{project}/suggest-batch", {"documents": [{"text": TEXT}]})
    by_annif.append(service.answer(f"{project}/suggest", f"text={TEXT}"))
    for answer in by_annif:
        names.append([label["label"] for label in answer["results"]])
    return {" ".join(sorted(each)) for each in names}


def read_failure(service) -> dict | None:
    return service.answer("/health")["left_out_failed"]


@pytest.mark.long
def test_every_route_excludes_them_by_the_last_good_file(library, tmp_path) -> None:
    file = tmp_path / "left-out.txt"
    no_failure = 'left_out_failed_timestamp_seconds{project="animals"} 0.0'
    file.write_text("http://example.org/cat*\tCats\n")
    with running_service(tmp_path, f"animals={library}", f"--exclude={file}") as service:
        assert suggest(service) == {"birds dogs"}
        assert service.answer("/health")["left_out"] == 1
        assert read_failure(service) is None
        # a person may still find and choose them
        assert service.answer("/labels?search=cat")["total"] == 1
        [answer] = service.answer("/predict", {"text": TEXT, "exclude": ["dogs"]})["predictions"]
        assert list_label_values([answer], "name") == [["birds"]]
        refused = service.answer("/predict", {"text": TEXT, "include": ["cats"]}, 404)
        assert refused["detail"] == "include and exclude leave only labels that are never suggested"

        file.write_text("dogs\n")
        service.wait_for("labels left out by .*left-out.txt: 1", times=2)
        assert suggest(service) == {"birds cats"}
        assert no_failure in service.answer("/metrics")

        file.write_text("dogs\n\nbrids\n")
        service.wait_for(
            "same labels as before are left out: .*/left-out.txt: .*no label 'brids'; did you mean"
        )
        since, reason = read_failure(service).values()
        assert reason.startswith(
            "left-out.txt: include or exclude: no label 'brids'; did you mean 'birds'?"
        )
        assert no_failure not in service.answer("/metrics")
        os.kill(service.workers()[0], signal.SIGKILL)
        service.wait_for("startup complete", times=2)
        assert suggest(service) == {"birds cats"}, "a new worker begins with the last good list"
        file.unlink()
        wait_until(lambda: "cannot be read" in read_failure(service)["reason"], service)
        assert read_failure(service)["since"] == since

        file.write_text("birds\n")
        wait_until(lambda: no_failure in service.answer("/metrics"), service)
        assert suggest(service) == {"cats dogs"}
        assert read_failure(service) is None


def test_the_answer_is_that_to_a_request_that_excludes_them(models) -> None:
    predictor = Predictor.open(models / "a.h5", models / "a.reranker.h5")
    X = predictor.from_texts(["word00 word10 größe3"])
    [theirs] = predictor.answer(X, top_k=9, exclude=["plain", "right*"])
    allowed = predictor.allowed(exclude=["plain"])
    [ours] = predictor.offering(allowed).answer(X, top_k=9, exclude=["right*"])
    assert ours == theirs


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--exclude=none.txt", "none.txt: cannot be read"),
        (
            "--exclude=a=odd.txt",
            "odd.txt: include or exclude: no label 'plein'; did you mean 'plain'?",
        ),
        ("--exclude=all.txt", "all.txt: include and exclude leave no label"),
        ("--exclude=b=all.txt", "--exclude b=all.txt: no model is named 'b'"),
    ],
)
def test_wrong_files_are_refused_at_the_start(
    models, tmp_path, monkeypatch, option, message
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.txt").write_text("plain\nplein\n")
    (tmp_path / "all.txt").write_text("*\n")
    words = ("serve", models / "a.h5", "--no-rerank", "--port=0", option)
    assert message in ovaflow(words, status=2)
