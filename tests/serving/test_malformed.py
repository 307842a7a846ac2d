import json
import socket
import time
from urllib.parse import urlsplit

import pytest
from running_service import exchange, running_service

MALFORMED = [
    (b"[", 400, "not JSON"),
    (b"", 422, "JSON object"),
    (b"null", 422, "JSON object"),
    (b'{"text": "\xff"}', 400, "UTF-8"),
    (b"[" * 50_000, 400, "not JSON"),
    (b'{"text": "\\ud800"}', 422, "text"),
    (b'{"text": null}', 422, "text"),
    (b'{"text": NaN}', 422, "text"),
    (b'{"text": "a", "unknown": 1}', 422, "unknown"),
    (b'{"text": "a", "texts": ["a"]}', 422, "exactly one"),
    (b"{}", 422, "exactly one"),
    (b'{"texts": []}', 422, "texts"),
    (json.dumps({"texts": ["a"] * 17}).encode(), 422, "texts"),
    (json.dumps({"text": "a" * 2001}).encode(), 422, "2000"),
    (b'{"text": "a", "top_k": 0}', 422, "top_k"),
    (b'{"text": "a", "top_k": 101}', 422, "top_k"),
    (b'{"text": "a", "top_k": "5"}', 422, "top_k"),
    (b'{"text": "a", "top_k": 1e400}', 422, "top_k"),
    (b'{"features": [{"word00": NaN}]}', 422, "finite"),
    (b'{"features": [{"word00": Infinity}]}', 422, "finite"),
    (b'{"features": [{"word00": 1e400}]}', 422, "finite"),
    (b'{"features": [{"word00": 1e30}]}', 422, "less than"),
    (b'{"features": [{"word00": -3}]}', 422, "features"),
    (b'{"features": {"word00": 1}}', 422, "features"),
    (b'{"text": "' + b"a" * 600_000 + b'"}', 413, "500000 bytes"),
]


@pytest.mark.parametrize(("body", "status", "said"), MALFORMED, ids=[str(body[:24]) for body, *_ in MALFORMED])
def test_each_is_refused_with_one_line_that_says_why(service, body, status, said):
    connection = service.connect()
    found, headers, problem = exchange(connection, "/predict", body)
    assert found == problem["status"] == status
    assert headers["Content-Type"] == "application/problem+json"
    assert set(problem) == {"title", "status", "detail"}
    assert said in problem["detail"]
    assert len(problem["detail"]) < 500
    assert exchange(connection, "/health")[0] == 200


def _raw(service, *pieces, pause=0.0):
    """Everything that comes back for bytes sent as they are, and how long it took."""
    place = urlsplit(service.url)
    began = time.monotonic()
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause)
        answer = b""
        while received := connection.recv(1 << 16):
            answer += received
    return answer, time.monotonic() - began


def test_what_is_no_http_is_refused(service):
    answer, _ = _raw(service, b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["status"] == 400


def test_endless_headers_are_refused(service):
    answer, _ = _raw(service, b"GET / HTTP/1.1\r\n", b"X: " + b"y" * 70_000)
    assert answer.startswith(b"HTTP/1.1 431")


def test_a_large_body_without_a_length_is_refused(service):
    chunk = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    head = b"POST /predict HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer, _ = _raw(service, head, *[chunk] * 10, b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")


def test_whoever_asks_before_sending_a_large_body_is_spared_it(service):
    head = b"POST /predict HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000000000\r\n\r\n"
    place = urlsplit(service.url)
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        connection.sendall(head)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413")


@pytest.fixture(scope="module")
def hasty(models, tmp_path_factory):
    """A service without patience."""
    options = ["--timeout=0.5", "--max-connections=20", "--head-timeout=0.5"]
    with running_service(tmp_path_factory.mktemp("hasty"), models / "a.h5", *options) as running:
        yield running


def test_slow_clients_are_sent_away(hasty):
    answer, seconds = _raw(hasty, b"GET / HT")
    assert answer.startswith(b"HTTP/1.1 408")
    assert seconds < 10
    answer, _ = _raw(hasty, b"GET / HTTP/1.1\r\n", *[b"X"] * 3, pause=0.1)
    assert answer.startswith(b"HTTP/1.1 408")
    answer, _ = _raw(hasty, b"POST /predict HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 50\r\n\r\n{")
    assert answer.startswith(b"HTTP/1.1 408")
    assert hasty.ask("/health")[0] == 200


def test_too_many_connections_are_refused_at_once(hasty):
    held = [hasty.connect() for _ in range(20)]
    for connection in held:
        assert exchange(connection, "/health")[0] == 200
    status, headers, problem = exchange(hasty.connect(), "/health")
    assert (status, problem["status"], headers["Retry-After"]) == (503, 503, "1")
    assert exchange(held[0], "/health")[0] == 200
    for connection in held:
        connection.close()


def test_a_model_without_calibration_says_so(hasty):
    status, problem = hasty.ask("/predict", {"text": "word00", "probabilities": True})
    assert (status, problem["status"]) == (409, 409)
    assert "calibration" in problem["detail"]
