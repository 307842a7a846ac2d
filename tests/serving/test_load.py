"""The service under load: right answers, clean refusals, and how long they take."""

import http.client
import os
import re
import shutil
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from running_service import exchange, running_service

from ovaflow.cli import main
from ovaflow.prediction.predictor import Predictor

TEXTS = [f"word{j}0 word{j}1 größe{j} filler{i}" for j in range(10) for i in range(5)]


@pytest.fixture(scope="module")
def expected(models):
    """The right predictions for TEXTS by the checksum of each model."""
    answers = {}
    for name in "ab":
        predictor = Predictor.open(models / f"{name}.h5")
        ids, scores = predictor.top_k(predictor.from_texts(TEXTS), 5)
        answers[predictor.model.checksum] = ids, scores
    return answers


def assert_right(answer, rows, expected):
    """Every row of an answer is that of the model which it names."""
    ids, scores = expected[answer["model"]]
    found = [[label["id"] for label in row["labels"]] for row in answer["predictions"]]
    assert found == ids[rows].tolist()
    given = [[label["score"] for label in row["labels"]] for row in answer["predictions"]]
    np.testing.assert_allclose(given, scores[rows], rtol=1e-5, atol=1e-6)


class Clients:
    """Threads that ask and check until told to stop."""

    def __init__(self, service, expected, count=8):
        self.models, self.broken, self.seconds, self.refused = set(), [], [], 0
        self._service, self._expected, self._over = service, expected, threading.Event()
        self._pool = ThreadPoolExecutor(count)
        self._work = [self._pool.submit(self._ask_on, seed) for seed in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()

    def stop(self):
        """Tell them to stop, wait for them, and raise what they found wrong."""
        self._over.set()
        self._pool.shutdown()
        for each in self._work:
            each.result()

    def wait_for(self, answers, seconds=30):
        """Wait until so many more answers came."""
        target, deadline = len(self.seconds) + answers, time.monotonic() + seconds
        while len(self.seconds) < target:
            assert time.monotonic() < deadline, self._service.log
            time.sleep(0.01)

    def _ask_on(self, seed):
        random, connection = np.random.default_rng(seed), self._service.connect()
        while not self._over.is_set():
            rows = random.integers(0, len(TEXTS), 3)
            began = time.perf_counter()
            try:
                status, headers, answer = exchange(connection, "/predict", {"texts": [TEXTS[row] for row in rows]})
            except (OSError, http.client.HTTPException) as error:
                self.broken.append(error)
                connection.close()
                connection = self._service.connect()
                continue
            if status == 503:
                assert headers["Retry-After"] == "1"
                self.refused += 1
                continue
            assert status == 200
            assert_right(answer, rows, self._expected)
            self.models.add(answer["model"])
            self.seconds.append(time.perf_counter() - began)
        connection.close()


def test_many_clients_get_right_answers(service, expected, capsys):
    with Clients(service, expected, 16) as clients:
        clients.wait_for(400)
    assert not clients.broken
    assert clients.refused == 0
    p50, p95, p99 = 1000 * np.percentile(clients.seconds, [50, 95, 99])
    with capsys.disabled():
        print(f"\n16 clients, {len(clients.seconds)} answers: {p50:.1f}, {p95:.1f}, {p99:.1f} ms (p50, p95, p99)")


def test_more_than_fits_is_refused_and_the_rest_is_right(models, expected, tmp_path):
    with running_service(tmp_path, models / "a.h5", "--queue=0", "--max-body=30000000") as service:
        heavy = {"texts": [" ".join(TEXTS) + " x" * 20_000] * 64}

        def ask(_):
            status, headers, answer = exchange(service.connect(), "/predict", heavy)
            assert status in (200, 503)
            assert status == 200 or (headers["Retry-After"] == "1" and answer["status"] == 503)
            return status

        with ThreadPoolExecutor(6) as pool:
            statuses = list(pool.map(ask, range(12)))
        assert 0 < statuses.count(200) < 12
        status, answer = service.ask("/predict", {"texts": TEXTS})
        assert status == 200
        assert_right(answer, np.arange(len(TEXTS)), expected)
        _, figures = service.ask("/metrics")
        assert f'route="/predict",status="503"}} {statuses.count(503)}.0' in figures


def test_replaced_files_are_taken_up_under_load(models, expected, tmp_path):
    served = tmp_path / "model.h5"
    shutil.copy(models / "a.h5", served)
    shutil.copy(models / "a.calibration.h5", tmp_path / "calibration.h5")
    a, b = expected
    with running_service(tmp_path, served, "--workers=2") as service:
        assert service.ask("/health")[1]["probabilities"]
        with Clients(service, expected) as clients:
            clients.wait_for(50)
            assert clients.models == {a}
            shutil.copy(models / "b.h5", tmp_path / "next.h5")
            (tmp_path / "next.h5").rename(served)
            for worker in (0, 1):
                service.wait_for(f"worker {worker}: serving model {b}")
            service.wait_for(f"further workers begin with model {b}")
            clients.wait_for(50)
            assert clients.models == {a, b}
            status, health = service.ask("/health")
            assert (status, health["model"], health["probabilities"]) == (200, b, False)
            assert "does not belong" in health["remark"]
            os.kill(service.workers(2)[0], signal.SIGKILL)
            service.wait_for("ended with status -9")
            service.workers(2)
            clients.models.clear()
            clients.wait_for(100)
            assert clients.models == {b}
            assert len(clients.broken) <= 8
            clients.broken.clear()

            (tmp_path / "half.h5").write_bytes(served.read_bytes()[:20_000])
            (tmp_path / "half.h5").rename(served)
            service.wait_for(f"worker 0: still serving model {b}")
            service.wait_for(f"worker 1: still serving model {b}")
            clients.models.clear()
            clients.wait_for(50)
            assert clients.models == {b}
            assert "not served" in service.ask("/health")[1]["remark"]

            shutil.copy(models / "a.h5", tmp_path / "next.h5")
            (tmp_path / "next.h5").rename(served)
            service.process.send_signal(signal.SIGHUP)
            service.wait_for(f"(?s)still.*worker 0: serving model {a}")
            service.wait_for(f"(?s)still.*worker 1: serving model {a}")
            assert service.ask("/health")[1]["probabilities"]

            assert main(["index", str(served)]) == 0
            service.wait_for(f"(?s)(worker 0: serving model {a}.*){{2}}")
            service.wait_for(f"(?s)(worker 1: serving model {a}.*){{2}}")
            clients.models.clear()
            clients.wait_for(50)
            assert clients.models == {a}
        assert not clients.broken
        assert clients.refused == 0


def test_a_killed_worker_is_replaced_and_all_follow_their_parent(models, expected, tmp_path):
    with running_service(tmp_path, models / "a.h5", "--workers=2") as service:
        first, second = service.workers(2)
        with Clients(service, expected) as clients:
            clients.wait_for(50)
            os.kill(first, signal.SIGKILL)
            service.wait_for("ended with status -9")
            clients.wait_for(100)
            assert second in service.workers(2)
        # its connections broke, one request each at most, and no answer was wrong
        assert len(clients.broken) <= 8
        workers = service.workers(2)
        service.process.kill()
        deadline = time.monotonic() + 20
        while any(os.path.exists(f"/proc/{each}") for each in workers):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_it_ends_when_what_is_in_flight_is_answered(models, expected, tmp_path):
    with running_service(tmp_path, models / "a.h5", "--workers=2", "--max-body=30000000") as service:
        heavy = {"texts": [TEXTS[0] + " x" * 20_000] * 128}  # words of one letter are none

        def ask(_):
            try:
                status, _, answer = exchange(service.connect(), "/predict", heavy)
            except ConnectionError:  # not accepted any more
                return False
            assert status == 200
            assert_right(answer, np.zeros(len(heavy["texts"]), int), expected)
            return told.is_set()

        told = threading.Event()
        with ThreadPoolExecutor(8) as pool:
            answered_later = pool.map(ask, range(8))
            while not re.search("ovaflow_busy [2-8]", service.ask("/metrics")[1]):
                time.sleep(0.005)
            told.set()
            service.process.send_signal(signal.SIGTERM)
            assert sum(answered_later) >= 2
        assert service.process.wait(30) == 0
        with pytest.raises(OSError, match="refused"):
            service.ask("/health")


def test_a_restart_refuses_cleanly_and_goes_on(models, expected, tmp_path):
    a, b = expected
    with running_service(tmp_path, models / "a.h5") as first:
        port = first.url.rpartition(":")[2]
        with Clients(first, expected) as clients:
            clients.wait_for(100)
            first.process.send_signal(signal.SIGTERM)
            assert first.process.wait(30) == 0
            with running_service(tmp_path, models / "b.h5", f"--port={port}"):
                clients.wait_for(100)
                assert clients.models == {a, b}
                clients.stop()
    assert all(isinstance(error, ConnectionError) for error in clients.broken), "no answer broke off"
