"""``ovaflow benchmark peers`` and ``growth`` on a few made-up instances."""

import json

import numpy as np
import pytest

from ovaflow.cli import main
from ovaflow.data.dataset import Split, write_dataset
from ovaflow.sparse.csr import from_scipy


@pytest.fixture
def dataset(tmp_path):
    rng = np.random.default_rng(0)
    features = rng.random((80, 9)) * (rng.random((80, 9)) < 0.5)
    split = Split(from_scipy(features), from_scipy((rng.random((80, 4)) < 0.4).astype(np.float32)))
    path = tmp_path / "dataset.h5"
    write_dataset(path, split, split, [f"label {j}" for j in range(4)], [], {"bias": 0.0})
    return str(path)


def test_peers_prints_a_table_or_json(dataset, capsys):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    assert main(["benchmark", "peers", dataset, "--labels=3", "--peers=scikit-learn"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [line.split("  ")[0] for line in lines[1:4]] == ["ovaflow", "scikit-learn primal", "scikit-learn dual"]
    assert main(["benchmark", "peers", dataset, "--labels=3", "--peers=scikit-learn", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["labels"] for row in rows] == [3, 3, 3]


def test_unknown_peers_are_refused(dataset, capsys):
    assert main(["benchmark", "peers", dataset, "--peers=liblinear,tensorflow"]) == 2
    assert "tensorflow; known: blas, liblinear" in capsys.readouterr().err


def test_growth_writes_a_figure_and_prints_json(dataset, tmp_path, capsys):
    figure = tmp_path / "growth.svg"
    assert main(["benchmark", "growth", dataset, "--labels=2", "--json", f"--output={figure}"]) == 0
    assert {fit["axis"] for fit in json.loads(capsys.readouterr().out)["fits"]} == {"n", "d"}
    assert figure.read_text(encoding="utf-8").rstrip().endswith("</svg>")


def test_growth_refuses_an_unknown_figure_before_it_measures(dataset, tmp_path, capsys):
    assert main(["benchmark", "growth", dataset, f"--output={tmp_path / 'growth.pdf'}"]) == 2
    assert "end its name in .svg or .png" in capsys.readouterr().err
