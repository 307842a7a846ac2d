"""Models of features, of trees, and addresses other than a port."""

import http.client
import shutil
import socket
import subprocess
import sys

import numpy as np
import pytest
from running_service import exchange, running_service

from ovaflow.cli import main
from ovaflow.prediction.predictor import Predictor


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self._path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With features.h5, one-vs-all of four unnamed features, and trees.h5."""
    folder = tmp_path_factory.mktemp("features")
    random = np.random.default_rng(3)
    rows = [(label, random.random(4).round(3)) for label in range(3) for _ in range(20)]
    lines = [f"{label} " + " ".join(f"{j}:{x[j] + (j == label)}" for j in range(4)) for label, x in rows]
    (folder / "train.txt").write_text("\n".join(["60 4 3", *lines]) + "\n")

    def run(*arguments):
        assert main([argument.format(folder) for argument in arguments]) == 0

    run("prepare", "--format=xmc-text", "--train={}/train.txt", "--output={}/dataset.h5")
    run("means", "{}/dataset.h5", "--output={}/means.h5")
    run("plan", "{}/dataset.h5", "--shards=1", "--output={}/shards.tsv")
    inputs = ["{}/dataset.h5", "--means={}/means.h5", "--plan={}/shards.tsv", "--shard=0"]
    run("train-shard", *inputs, "--output={}/0.h5")
    run("merge", "{}/0.h5", "--dataset={}/dataset.h5", "--output={}/features.h5", "--statistics={}/t.h5")
    run("train-trees", "{}/dataset.h5", "--trees=2", "--output={}/trees-0.h5")
    run("merge-trees", "{}/trees-0.h5", "--dataset={}/dataset.h5", "--output={}/trees.h5", "--statistics={}/t.h5")
    return folder


def test_features_by_id_on_a_unix_socket_under_a_path(folder, tmp_path):
    served, path = tmp_path / "model.h5", tmp_path / "http.sock"
    shutil.copy(folder / "features.h5", served)
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path))
    stale.close()
    with running_service(tmp_path, served, f"--unix-socket={path}", "--root-path=/labels/of") as service:
        connection = UnixConnection(path)
        predictor = Predictor.open(served)
        X = predictor.from_features([{0: 1.5, 3: 0.25}, {}])
        ids, scores = predictor.top_k(X, 3)
        body = {"features": [{"0": 1.5, "3": 0.25}, {}]}
        for prefix in ("", "/labels/of"):
            status, _, answer = exchange(connection, f"{prefix}/predict", body)
            assert status == 200
            rows = [row["labels"] for row in answer["predictions"]]
            assert [[label["id"] for label in row] for row in rows] == ids.tolist()
            np.testing.assert_allclose([[label["score"] for label in row] for row in rows], scores, rtol=1e-6)
        assert exchange(connection, "/openapi.json")[2]["servers"] == [{"url": "/labels/of"}]

        status, _, problem = exchange(connection, "/predict", {"text": "a text"})
        assert (status, "features" in problem["detail"]) == (409, True)
        for wrong in ("4", "-1", "x", "1.5"):
            status, _, problem = exchange(connection, "/predict", {"features": [{wrong: 1}]})
            assert (status, str(tmp_path) in problem["detail"]) == (422, False)
        status, _, answer = exchange(connection, "/explain", {"features": {"0": 1.5}, "labels": [0]})
        assert status == 200
        assert [part["feature"] for part in answer["labels"][0]["up"]] == ["0"]

        shutil.copy(folder / "trees.h5", tmp_path / "next.h5")
        (tmp_path / "next.h5").rename(served)
        service.wait_for("worker 0: serving model")
        status, _, answer = exchange(connection, "/predict", {"features": [{"0": 1.5}]})
        assert status == 200
        assert answer["predictions"][0]["labels"][0]["id"] == 0
        status, _, problem = exchange(connection, "/explain", {"features": {"0": 1.5}})
        assert status == 409
        status, _, answer = exchange(connection, "/labels/0")
        assert (status, answer["up"], answer["nearest"]) == (200, None, None)
        assert not exchange(connection, "/health")[2]["explanations"]


@pytest.mark.parametrize("arguments", [["{}/none.h5"], ["{}/dataset.h5"], ["{}/features.h5", "--port={port}"]])
def test_what_cannot_be_served_is_one_line_and_status_2(folder, arguments):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        given = [argument.format(folder, port=port) for argument in arguments]
        if len(given) == 1:
            given.append("--port=0")
        command = [sys.executable, "-m", "ovaflow", "serve", *given]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 2
    assert ended.stderr.startswith("ovaflow: error: ")
    assert ended.stderr.count("\n") == 1
