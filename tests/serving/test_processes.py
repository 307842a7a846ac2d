"""Several workers under load: right answers, clean refusals, figures that add up, and how processes
come and go.
"""

import json
import os
import shutil
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest
from commands import list_label_values
from prometheus_client.parser import text_string_to_metric_families
from running_service import exchange, running_service

from ovaflow.prediction.predictor import Predictor

TEXTS = [f"word{j}0 word{j}1 größe{j} filler{i}" for j in range(10) for i in range(5)]


COUNTED = "words_total", "unknown_words_total"


@pytest.fixture(scope="module")
def expected(models):
    """The right predictions for TEXTS by the checksum of each model."""
    answers = {}
    for name, reranker in (("a", models / "a.reranker.h5"), ("b", None)):
        predictor = Predictor.open(models / f"{name}.h5", reranker)
        ids, scores = predictor.top_k(predictor.from_texts(TEXTS), 5)
        answers[predictor.model.checksum] = ids, scores
    return answers


def ask(connection, rows, expected):
    """Ask for some of the TEXTS; the answer must be that of the model which it names. Returns that
    model.
    """
    status, _, answer = exchange(connection, "/predict", {"texts": [TEXTS[row] for row in rows]})
    assert status == 200
    ids, scores = expected[answer["model"]]
    assert list_label_values(answer["predictions"]) == ids[rows].tolist()
    np.testing.assert_allclose(
        list_label_values(answer["predictions"], "score"), scores[rows], rtol=1e-5, atol=1e-6
    )
    return answer["model"]


def figure(service, name, **labels):
    """The sum of what Prometheus reads of this name and these labels."""
    families = text_string_to_metric_families(service.answer("/metrics"))
    samples = (sample for family in families for sample in family.samples)
    return sum(
        each.value
        for each in samples
        if each.name == f"ovaflow_{name}" and each.labels.items() >= labels.items()
    )


def test_words_are_counted(service, models, predictor) -> None:
    of_model = {"model": predictor.model.checksum}
    before = [figure(service, name, **of_model) for name in COUNTED]
    texts = [f"{text} unheard" for text in TEXTS]
    for start in range(0, 50, 10):
        service.ask("/predict", {"texts": texts[start : start + 10], "top_k": 1})
    service.ask("/v1/projects/a/suggest-batch", {"documents": [{"text": "unheard of"}]})
    words, unknown = np.subtract([figure(service, name, **of_model) for name in COUNTED], before)
    each = predictor.from_texts(" ".join([*texts, "unheard of"]).split())
    assert words == 50 * 5 + 2
    # the bias feature alone: nothing else is known of the word
    assert unknown == np.count_nonzero(np.diff(each.indptr) == 1) > 50
    metrics = json.loads((models / "metrics.json").read_text())
    usual = metrics["unknown_words"] / metrics["words"]
    assert figure(service, "reference_unknown_words_ratio", **of_model) == pytest.approx(usual)


def test_many_clients_get_right_answers_and_all_are_counted(service, expected):
    def figures():
        answered = figure(service, "requests_total", route="/predict", status="200")
        timed = figure(service, "request_seconds_count", route="/predict")
        return np.array([answered, figure(service, "instances_total"), timed])

    before = figures()
    a = next(iter(expected))

    def client(seed):
        random = np.random.default_rng(seed)
        connection = service.connect()
        return {ask(connection, random.integers(0, len(TEXTS), 3), expected) for _ in range(25)}

    with ThreadPoolExecutor(16) as pool:
        models = set().union(*pool.map(client, range(16)))
    assert models == {a}
    assert (figures() - before).tolist() == [400, 1200, 400]
    assert figure(service, "model_workers", model=a) == 2
    assert figure(service, "busy") == 0


def test_figures_are_told_while_workers_come_and_go(service) -> None:
    worker = psutil.Process(service.workers()[0])
    folder = Path(worker.environ()["PROMETHEUS_MULTIPROC_DIR"])
    begun = folder / f"counter_{worker.ppid()}.db"
    begun.touch()  # as a worker does before it makes room in the file
    dead = [folder / f"gauge_livesum_{2**31 - 1 - number}.db" for number in range(200)]
    for path in dead:
        shutil.copy(folder / f"gauge_livesum_{worker.pid}.db", path)
    with ThreadPoolExecutor(8) as pool:
        assert {status for status, _ in pool.map(service.ask, ["/metrics"] * 16)} == {200}
    assert not any(path.exists() for path in dead)
    begun.unlink()


@pytest.mark.long
def test_workers_are_replaced_when_they_die_and_when_the_model_changes(
    models, expected, tmp_path
) -> None:
    served = tmp_path / "model.h5"
    shutil.copy(models / "a.h5", served)
    shutil.copy(models / "a.reranker.h5", tmp_path / "reranker.h5")
    a, b = expected
    with running_service(tmp_path, served, "--workers=2") as service:
        service.wait_for("startup complete", times=2)
        assert service.answer("/health")["probabilities"]
        os.kill(service.workers()[0], signal.SIGKILL)
        service.wait_for("died")
        service.wait_for("startup complete", times=3)
        assert figure(service, "model_workers", model=a) == 2, "the dead one is not counted"

        over = threading.Event()
        seen = set()
        cut_off = []

        def client() -> None:
            while not over.is_set():
                try:
                    seen.add(ask(service.connect(), [3, 14], expected))
                except ConnectionError as error:  # accepted by a worker that was about to end
                    cut_off.append(error)
                over.wait(0.02)  # workers need the CPU to start

        def client_that_stays() -> None:
            connection = service.connect()
            while not over.wait(0.005):
                ask(connection, [3], expected)

        (tmp_path / "half.h5").write_bytes(served.read_bytes()[: served.stat().st_size // 2])
        (tmp_path / "half.h5").rename(served)
        with ThreadPoolExecutor(4) as pool:
            clients = [pool.submit(each) for each in (client, client_that_stays) for _ in range(2)]
            try:
                service.process.send_signal(signal.SIGHUP)
                service.wait_for("cannot serve: .*model.h5")
                service.wait_for("aborting the restart")
                shutil.copy(models / "b.h5", tmp_path / "next.h5")
                (tmp_path / "next.h5").rename(served)
                service.process.send_signal(signal.SIGHUP)
                service.wait_for(
                    "cannot serve: .*reranker.h5: stale: made from another model than .*model.h5"
                )
                service.wait_for("aborting the restart", times=2)
                (tmp_path / "reranker.h5").unlink()
                service.process.send_signal(signal.SIGHUP)
                service.wait_for(f"serving model {b}", times=2)
                service.wait_for("Finished server process", times=2)
            finally:
                over.set()
        assert [each.exception() for each in clients] == [None] * 4
        assert len(cut_off) <= 2
        assert seen == {a, b}
        health = service.answer("/health")
        assert (health["model"], health["probabilities"]) == (b, False)


def request_without_its_body(service, size):
    """A connection whose request the application has begun to read: it said "100 Continue"."""
    connection = service.connect()
    connection.putrequest("POST", "/predict")
    for header in [
        ("Content-Type", "application/json"),
        ("Content-Length", size),
        ("Expect", "100-continue"),
    ]:
        connection.putheader(*header)
    connection.endheaders()
    said = b""
    while not said.endswith(b"\r\n\r\n"):
        said += connection.sock.recv(1)
    assert said.startswith(b"HTTP/1.1 100 ")
    return connection


@pytest.mark.parametrize(("workers", "sent"), [(1, signal.SIGINT), (2, signal.SIGTERM)])
def test_requests_in_flight_are_answered_at_the_end(models, tmp_path, workers, sent) -> None:
    body = json.dumps({"text": "word00"}).encode()
    with running_service(tmp_path, models / "a.h5", f"--workers={workers}") as service:
        service.wait_for("startup complete", times=workers)
        connections = [request_without_its_body(service, len(body)) for _ in range(4)]
        service.process.send_signal(sent)
        service.wait_for("Shutting down")
        for connection in connections:
            connection.send(body)
            assert connection.getresponse().status == 200
        assert service.process.wait(30) == 0
        with pytest.raises(OSError, match="refused"):
            service.ask("/health")


def test_bodies_that_do_not_arrive_are_given_up(models, tmp_path) -> None:
    with running_service(tmp_path, models / "a.h5", "--max-body=1000", "--timeout=3") as service:
        connections = [request_without_its_body(service, 1000) for _ in range(40)]
        for connection in connections:
            connection.send(b" " * 999)
        assert Counter(connection.getresponse().status for connection in connections) == {
            408: 32,
            503: 8,
        }
        service.answer("/predict", {"text": "word00"})


def test_workers_end_with_their_supervisor(models, tmp_path) -> None:
    with running_service(tmp_path, models / "a.h5", "--workers=2") as service:
        service.wait_for("startup complete", times=2)
        workers = [psutil.Process(worker) for worker in service.workers()]
        figures = Path(workers[0].environ()["PROMETHEUS_MULTIPROC_DIR"])
        assert figures.exists()
        service.process.kill()
        service.process.wait()
        gone, alive = psutil.wait_procs(workers, 30)
        assert (len(gone), alive) == (2, [])
        assert not figures.exists()
