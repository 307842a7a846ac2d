"""The benchmark of prediction: SciPy and PECOS next to ovaflow."""

import importlib.util
import json

import pytest
from click.testing import CliRunner, Result
from predict import main

from ovaflow.console.errors import InputError


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def test_scipy_finds_the_same_labels(tiny_models) -> None:
    files = [str(tiny_models / "one-vs-all.h5"), str(tiny_models / "dataset.h5")]
    options = ["--peers=scipy,pecos", "--instances=20", "--singles=5", "--repeats=1", "--top-k=3"]
    own, scipy, pecos = json.loads(run(*files, *options, "--json").stdout)
    assert [timing["name"] for timing in (own, scipy, pecos)] == ["ovaflow", "scipy", "pecos"]
    assert own["same"] == scipy["same"] == 1.0
    assert min(own["batch_ms"], own["single_ms"], scipy["p50_ms"], scipy["batch_ratio"]) > 0
    assert pecos["failure"] == ("" if importlib.util.find_spec("pecos") else "not installed")
    assert run(*files, *options).stdout.splitlines()[2].startswith("scipy")
    with pytest.raises(InputError, match="give a model of one-vs-all"):
        run(str(tiny_models / "fastxml.h5"), files[1])
    assert run(*files, "--peers=sklearn").exit_code == 2
