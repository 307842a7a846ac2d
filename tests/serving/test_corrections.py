"""Labels that people chose, saved for the next training: complete lines, of which none is lost."""

import contextlib
import http.client
import json
import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest
from hostile_table import HOSTILE
from running_service import exchange, running_service

from ovaflow.records.source import read_file
from ovaflow.settings.prepare import PrepareSource

LONG = "größe \U00010400 " * 5000


def read_entries(path) -> list[dict]:
    content = path.read_text(encoding="utf-8")
    assert content.endswith("\n")
    return [json.loads(line) for line in content[:-1].split("\n")]


def test_a_correction_is_a_training_record_of_the_same_columns(service, saved, predictor) -> None:
    names = predictor.label_names
    text = 'line one\nline\u2028two "quoted" größe \U00010400'
    body = {"text": text, "labels": [7, names[2], 7], "suggested": [7, 1], "id": "record 17"}
    answer = service.answer("/corrections", body)
    [entry] = read_entries(saved)
    assert answer["model"] == predictor.model.checksum
    assert entry == {
        "id": "record 17",
        "text": text,
        "labels": [names[7], names[2]],
        "suggested": [names[7], names[1]],
        "model": predictor.model.checksum,
        "time": answer["time"],
    }
    assert datetime.fromisoformat(entry["time"]).utcoffset().total_seconds() == 0
    [instance] = read_file(PrepareSource(format="jsonl"), saved, Counter())
    assert instance.text == text
    assert instance.labels == (names[7], names[2])
    assert instance.record_id == "record 17"


def test_every_label_is_read_back_as_the_training_data_had_it(service, saved, predictor) -> None:
    service.answer("/corrections", {"text": "all", "labels": list(range(10))})
    [instance] = read_file(PrepareSource(format="jsonl", label_separator="¦"), saved, Counter())
    assert sorted(instance.labels) == sorted(predictor.label_names)
    assert len(instance.labels) == len(HOSTILE)


def test_without_an_id_the_same_text_has_the_same(service, saved) -> None:
    for text, labels in (("one", [1]), ("other", []), ("one", [2])):
        service.answer("/corrections", {"text": text, "labels": labels})
    ids = [entry["id"] for entry in read_entries(saved)]
    assert ids[0] == ids[2] != ids[1]


def test_a_correction_of_another_version_is_refused_and_shows_what_is_there(
    service, saved, predictor
) -> None:
    body = {"text": "a", "labels": [1], "id": "b0901"}
    first = service.answer("/corrections", body | {"version": ""})
    found = service.answer("/corrections/find", {"id": "b0901"})["correction"]
    assert found["version"] == first["version"]
    second = service.answer("/corrections", body | {"labels": [2], "version": first["version"]})
    for stale in ("", first["version"]):
        problem = service.answer("/corrections", body | {"labels": [3], "version": stale}, 409)
        assert problem["code"] == "stale"
        assert problem["correction"]["version"] == second["version"]
        assert [label["id"] for label in problem["correction"]["labels"]] == [2]
    # a client that knows of no versions, and a record that is deleted by now
    service.answer("/corrections", body | {"labels": [4]})
    assert [entry["labels"] for entry in read_entries(saved)] == [
        [predictor.label_names[label]] for label in (1, 2, 4)
    ]
    saved.write_bytes(b"")
    service.answer("/corrections", body | {"version": second["version"]})


def test_of_many_people_who_saw_one_version_one_saves(service, saved) -> None:
    seen = service.answer("/corrections", {"text": "a", "labels": [0], "id": "b0901"})["version"]

    def save_labels(number) -> int:
        body = {"text": "a", "labels": [number], "id": "b0901", "version": seen}
        return service.ask("/corrections", body)[0]

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(save_labels, range(1, 9)))
    assert sorted(statuses) == [200, *[409] * 7]
    assert len(read_entries(saved)) == 2


def save(service, clients, n_corrections, length) -> list[str]:
    """Save corrections by several clients, each until its connection breaks; return their ids."""
    saved = []

    def run_client(number) -> None:
        connection = service.connect()
        with contextlib.suppress(OSError, http.client.HTTPException):
            for turn in range(n_corrections):
                body = {"text": LONG[: length * turn], "labels": [0], "id": f"{number}-{turn}"}
                assert exchange(connection, "/corrections", body)[0] == 200
                saved.append(body["id"])

    with ThreadPoolExecutor(clients) as pool:
        assert list(pool.map(run_client, range(clients))) == [None] * clients
    return saved


def test_lines_of_many_clients_of_two_workers_are_whole(service, saved) -> None:
    ids = save(service, 12, 6, 400)
    assert len(ids) == 72
    assert sorted(entry["id"] for entry in read_entries(saved)) == sorted(ids)


def test_the_file_may_be_moved_away_and_what_is_not_saved_says_so(service, saved, tmp_path) -> None:
    body = {"text": "a", "labels": [0]}
    saved.rename(tmp_path / "corrections.jsonl.1")
    service.answer("/corrections", body)
    assert len(read_entries(saved)) == 1
    saved.unlink()
    saved.symlink_to("/dev/full")
    problem = service.answer("/corrections", body, 507)
    assert problem["title"] == "Insufficient Storage"
    assert (
        problem["detail"]
        == "not saved: the file of corrections cannot be written: No space left on device"
    )
    saved.unlink()
    saved.mkdir()
    assert service.answer("/corrections", body, 503)["detail"].endswith(": Is a directory")
    service.wait_for(f"corrections: {saved} cannot be written: Is a directory")
    saved.rmdir()
    service.answer("/corrections", body)


def kill_after(workers, path, n_lines) -> None:
    """Kill processes when a file has this many lines."""
    while not path.exists() or len(path.read_bytes().splitlines()) < n_lines:
        time.sleep(0.001)
    for worker in workers:
        os.kill(worker, signal.SIGKILL)


@pytest.mark.long
def test_a_killed_worker_leaves_whole_lines_and_what_it_acknowledged(models, tmp_path) -> None:
    path = tmp_path / "corrections.jsonl"
    with running_service(
        tmp_path, models / "a.h5", "--workers=2", f"--corrections={path}"
    ) as service:
        service.wait_for("startup complete", times=2)
        killing = (service.workers(), path, 40)
        threading.Thread(target=kill_after, args=killing, daemon=True).start()
        ids = save(service, 12, 30, 1000)
        service.wait_for("died")
    assert 12 < len(ids) < 360, "the workers were not killed in the middle"
    assert {*ids} <= {entry["id"] for entry in read_entries(path)}
