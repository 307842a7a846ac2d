"""Several workers under load: right answers, clean refusals, correct metrics, and processes that
start and end.
"""

import json
import os
import shutil
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from itertools import product
from pathlib import Path

import numpy as np
import psutil
import pytest
from commands import list_label_values
from prometheus_client.parser import text_string_to_metric_families
from running_service import exchange, running_service

from ovaflow.prediction.predictor import Predictor

TEXTS = [f"word{j}0 word{j}1 größe{j} filler{i}" for j, i in product(range(10), range(5))]

WORD_COUNTS = ("words_total", "unknown_words_total")


@pytest.fixture(scope="module")
def expected(models) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The right predictions for TEXTS by the checksum of each model."""
    answers = {}
    for name, reranker in (("a", models / "a.reranker.h5"), ("b", None)):
        predictor = Predictor.open(models / f"{name}.h5", reranker)
        ids, scores = predictor.top_k(predictor.from_texts(TEXTS), 5)
        answers[predictor.model.checksum] = (ids, scores)
    return answers


def ask(connection, rows, expected) -> str:
    """Ask for some of the TEXTS, and check the answer; return the model that it names."""
    status, _, answer = exchange(connection, "/predict", {"texts": [TEXTS[row] for row in rows]})
    assert status == 200
    ids, scores = expected[answer["model"]]
    predictions = answer["predictions"]
    assert list_label_values(predictions) == ids[rows].tolist()
    ours = list_label_values(predictions, "score")
    np.testing.assert_allclose(ours, scores[rows], rtol=1e-5, atol=1e-6)
    return answer["model"]


def read_metric(service, name, **labels) -> float:
    """Add up the samples that Prometheus reads of this name and these labels."""
    total = 0
    for family in text_string_to_metric_families(service.answer("/metrics")):
        for sample in family.samples:
            if sample.name == f"ovaflow_{name}" and sample.labels.items() >= labels.items():
                total += sample.value
    return total


def test_words_are_counted(service, models, predictor) -> None:
    labels = {"model": predictor.model.checksum}

    def read_counts() -> np.ndarray:
        return np.array([read_metric(service, name, **labels) for name in WORD_COUNTS])

    before = read_counts()
    texts = [f"{text} unheard" for text in TEXTS]
    for start in range(0, 50, 10):
        service.ask("/predict", {"texts": texts[start : start + 10], "top_k": 1})
    service.ask("/v1/projects/a/suggest-batch", {"documents": [{"text": "unheard of"}]})
    words, unknown = read_counts() - before
    each_word = predictor.from_texts(" ".join([*texts, "unheard of"]).split())
    assert words == 50 * 5 + 2
    # an unknown word has the bias feature only
    assert unknown == np.count_nonzero(np.diff(each_word.indptr) == 1) > 50
    metrics = json.loads((models / "metrics.json").read_text())
    usual = metrics["unknown_words"] / metrics["words"]
    assert read_metric(service, "reference_unknown_words_ratio", **labels) == pytest.approx(usual)


def test_many_clients_get_right_answers_and_all_are_counted(service, expected):
    def read_metrics() -> np.ndarray:
        answered = read_metric(service, "requests_total", route="/predict", status="200")
        timed = read_metric(service, "request_seconds_count", route="/predict")
        return np.array([answered, read_metric(service, "instances_total"), timed])

    before = read_metrics()
    a = next(iter(expected))

    def run_client(seed) -> set[str]:
        random = np.random.default_rng(seed)
        connection = service.connect()
        return {ask(connection, random.integers(0, len(TEXTS), 3), expected) for _ in range(25)}

    with ThreadPoolExecutor(16) as pool:
        models = set().union(*pool.map(run_client, range(16)))
    assert models == {a}
    assert (read_metrics() - before).tolist() == [400, 1200, 400]
    assert read_metric(service, "model_workers", model=a) == 2
    assert read_metric(service, "busy") == 0


def test_metrics_are_answered_while_workers_come_and_go(service) -> None:
    worker = psutil.Process(service.workers()[0])
    folder = Path(worker.environ()["PROMETHEUS_MULTIPROC_DIR"])
    begun = folder / f"counter_{worker.ppid()}.db"
    # a worker does so before it writes to the file
    begun.touch()
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
        assert read_metric(service, "model_workers", model=a) == 2, "the dead one is not counted"

        over = threading.Event()
        seen = set()
        cut_off = []

        def client() -> None:
            while not over.is_set():
                try:
                    seen.add(ask(service.connect(), [3, 14], expected))
                # accepted by a worker that was about to end
                except ConnectionError as error:
                    cut_off.append(error)
                # workers need the CPU to start
                over.wait(0.02)

        def client_that_stays() -> None:
            connection = service.connect()
            while not over.wait(0.005):
                ask(connection, [3], expected)

        (tmp_path / "half.h5").write_bytes(served.read_bytes()[: served.stat().st_size // 2])
        (tmp_path / "half.h5").rename(served)
        with ThreadPoolExecutor(4) as pool:
            clients = [pool.submit(client), pool.submit(client)]
            clients += [pool.submit(client_that_stays), pool.submit(client_that_stays)]
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


def send_request_without_body(service, size) -> HTTPConnection:
    """Send the head of a request; return the connection once the application reads the body, which
    it acknowledges by "100 Continue".
    """
    connection = service.connect()
    connection.putrequest("POST", "/predict")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", size)
    connection.putheader("Expect", "100-continue")
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
        connections = [send_request_without_body(service, len(body)) for _ in range(4)]
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
        connections = [send_request_without_body(service, 1000) for _ in range(40)]
        for connection in connections:
            connection.send(b" " * 999)
        statuses = Counter(connection.getresponse().status for connection in connections)
        assert statuses == {408: 32, 503: 8}
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
