"""Wrong requests, and models that cannot be served: one line that says why."""

import http.client
import json
import re
import socket
from urllib.parse import urlsplit

import pytest
from commands import ovaflow
from running_service import exchange

from ovaflow.serving.service import bind_listener, list_allowed_hosts

BODIES = [
    (b"[", 400, "not JSON"),
    (b"null", 422, "JSON object"),
    (b'{"text": "\xff"}', 400, "UTF-8"),
    (b"[" * 50_000, 400, "not JSON"),
    (b'{"text": "\\ud800"}', 422, "text"),
    (b'{"text": "a", "unknown": 1}', 422, "unknown"),
    (b'{"text": "a", "' + b"u" * 5000 + b'": 1}', 422, "uuu: "),
    (b'{"text": "a", "texts": ["a"]}', 422, "exactly one"),
    (b'{"texts": []}', 422, "texts"),
    (json.dumps({"texts": ["a"] * 17}).encode(), 422, "texts"),
    (json.dumps({"text": "a" * 2001}).encode(), 422, "2000"),
    (b'{"text": "a", "top_k": 101}', 422, "top_k"),
    (b'{"text": "a", "min_probability": 50}', 422, "min_probability"),
    (b'{"text": "a", "exclude": ["plain", "cat"]}', 404, "^exclude.1: no such label; see /labels$"),
    (
        b'{"text": "a", "exclude": ["*"]}',
        404,
        "^include and exclude leave no label; exclude fewer$",
    ),
    (
        b'{"text": "a", "include": [' + b'"*", ' * 10 + b'"*"]}',
        422,
        "^include: more than 10 patterns$",
    ),
    (
        b'{"text": "a", "language": "de"}',
        409,
        "^language: the served model does not know the language of",
    ),
    (b'{"features": [{"word00": NaN}]}', 422, "finite"),
    (b'{"features": [{"word00": 1e30}]}', 422, "less than"),
    (b'{"features": [{"word00": -3}]}', 422, "features"),
    (b'{"features": {"word00": 1}}', 422, "features"),
    (b'{"text": "' + b"a" * 600_000 + b'"}', 413, "500000 bytes"),
]


def assert_refused(answer, status, pattern) -> None:
    received, headers, problem = answer
    assert received == problem["status"] == status
    assert headers["Content-Type"] == "application/problem+json"
    assert set(problem) == {"title", "status", "detail"}
    assert re.search(pattern, problem["detail"])
    assert len(problem["detail"]) < 500


OTHER_REQUESTS = [
    ("/explain", {"text": "word00", "labels": [10]}, 404, "no label 10"),
    ("/labels/10", None, 404, "no label 10"),
    ("/labels?limit=101", None, 422, "limit"),
    ("/nothing", None, 404, "see /docs"),
    ("/predict", None, 405, "Method Not Allowed"),
    (
        "/corrections",
        {"text": "a", "labels": ["plain", "no such", "nor this"]},
        404,
        "no label 'no such'",
    ),
    ("/corrections", {"text": "a", "labels": [10]}, 404, "no label 10: their ids run from 0 to 9"),
    (
        "/corrections",
        {"text": "a", "labels": [], "suggested": [-1]},
        422,
        "suggested.0.id: Input should be greater",
    ),
    (
        "/corrections",
        {"text": "a", "labels": [0] * 101},
        422,
        "labels: List should have at most 100 items",
    ),
    (
        "/corrections",
        {"text": "a" * 2001, "labels": []},
        422,
        "text.text: String should have at most 2000 characters",
    ),
    ("/corrections", {"text": "a"}, 422, "labels: Field required"),
    (
        "/corrections",
        {"text": "a", "labels": [], "id": "7" * 201},
        422,
        "id: String should have at most 200",
    ),
    # neither is JSON; a form of another site sends such a body
    ("/corrections", "", 422, "JSON object"),
    ("/corrections", '{"text": "a", "labels": [0]}', 422, "JSON object"),
]
REFUSED = [("/predict", body, status, detail) for body, status, detail in BODIES]
REFUSED += OTHER_REQUESTS


@pytest.mark.parametrize(
    ("path", "body", "status", "detail"), REFUSED, ids=[str(case[1])[:24] for case in REFUSED]
)
def test_wrong_requests_are_refused_and_the_connection_goes_on(
    service, saved, path, body, status, detail
) -> None:
    connection = service.connect()
    assert_refused(exchange(connection, path, body), status, detail)
    assert exchange(connection, "/health")[0] == 200
    assert saved.read_bytes() == b""


POST_HEAD = "POST /corrections HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED_HEAD = POST_HEAD + "Transfer-Encoding: chunked\r\n\r\n"
RAW_REQUESTS = {
    "large, as it is announced": (POST_HEAD + "Content-Length: 99000000000\r\n\r\n{", 413),
    "headers without end": (POST_HEAD + "X: a\r\n" * 12_000, 400),
    "trailers without end": (CHUNKED_HEAD + "2\r\n{}\r\n0\r\n" + "X: a\r\n" * 12_000, 400),
    "a malformed body": (CHUNKED_HEAD.replace("corrections", "nothing") + "-1\r\n", 400),
}
for host in ("localhost:1", "127.0.0.1", "[::1]:8000"):
    RAW_REQUESTS[f"called {host}"] = (f"GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n", 200)
for host in ("example.org", "localhost.example.org", ""):
    # a service of this machine only answers to no other name
    RAW_REQUESTS[f"called {host}"] = (f"GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n", 400)


@pytest.mark.parametrize("case", RAW_REQUESTS)
def test_bytes_are_answered(service, case) -> None:
    address = urlsplit(service.url)
    sent, status = RAW_REQUESTS[case]
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(sent.encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        body = answer.read()
    assert answer.status == status
    if "called" in case and status == 400:
        assert_refused((answer.status, answer.headers, json.loads(body)), status, "--allowed-host$")
    assert "Traceback" not in service.log


@pytest.mark.parametrize("path", ["/v1/projects/a/suggest", "/predict"])
def test_pages_of_other_sites_are_refused(service, path) -> None:
    here = f"http://{urlsplit(service.url).netloc}"
    ours = [
        {},
        {"Origin": here},
        {"Origin": "https://labels.example.org", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "https://allowed.example.org", "Sec-Fetch-Site": "cross-site"},
    ]
    foreign = [
        {"Origin": "https://evil.example.org"},
        {"Origin": "null"},
        {"Origin": here, "Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
    ]
    for headers in ours + foreign:
        connection = service.connect()
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", path, b"text=a", form | headers)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        if headers in foreign:
            assert_refused((answer.status, answer.headers, body), 403, "another site")
        else:
            assert answer.status in (200, 422)


@pytest.mark.parametrize(
    ("host", "given", "names"),
    [
        ("127.0.0.2", (), ["127.0.0.2"]),
        ("127.0.0.1", ("labels.example.org",), ["127.0.0.1", "labels.example.org"]),
        ("0.0.0.0", (), ["*"]),
        ("0.0.0.0", ("*.example.org",), ["localhost", "*.example.org"]),
    ],
)
def test_names_by_which_clients_may_call(host, given, names) -> None:
    with bind_listener(host, 0) as listener:
        assert set(names) <= set(list_allowed_hosts(listener, given))
        assert ("*" in list_allowed_hosts(listener, given)) == (names == ["*"])


def test_a_large_body_without_a_length_is_refused(service) -> None:
    connection = service.connect()
    chunks = iter([b"a" * 65536] * 10)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", "/predict", chunks, headers, encode_chunked=True)
    assert connection.getresponse().status == 413


@pytest.mark.parametrize(
    "arguments",
    [
        "none.h5 --port=0",
        "texts.csv --port=0",
        "texts.csv a.h5",
        "a.h5 --port={port}",
        "a.h5 --allowed-host=http://example.org",
        "a.h5 --allowed-origin=labels.example.org",
        "a.h5 --unix-socket=texts.csv",
        "a.h5 --port=0 --corrections=texts.csv/new.jsonl",
        "a.h5 --port=0 --corrections=.",
        "b.h5 --reranker=a.reranker.h5",
    ],
)
def test_models_that_cannot_be_served_are_one_line_and_status_2(
    models, arguments, monkeypatch, capfd
) -> None:
    monkeypatch.chdir(models)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = arguments.format(port=taken.getsockname()[1]).split()
        output = ovaflow("serve", words, "--workers=2", status=2)
    output += capfd.readouterr().err
    assert output.startswith("ovaflow: error: ")
    assert output.count("\n") == 1
    assert (models / "texts.csv").stat().st_size > 0
