"""ovaflow benchmark predict on a tiny model."""

import importlib.util
import json

from ovaflow.cli import main


def test_scipy_finds_the_same_labels(tiny_models, capsys):
    files = [str(tiny_models / "one-vs-all.h5"), str(tiny_models / "dataset.h5")]
    options = ["--peers=scipy,pecos", "--instances=20", "--singles=5", "--repeats=1", "--top-k=3"]
    assert main(["benchmark", "predict", *files, *options, "--json"]) == 0
    own, scipy, pecos = json.loads(capsys.readouterr().out)
    assert [timing["name"] for timing in (own, scipy, pecos)] == ["ovaflow", "scipy", "pecos"]
    assert own["same"] == scipy["same"] == 1.0
    assert min(own["batch_ms"], own["single_ms"], scipy["p50_ms"], scipy["batch_ratio"]) > 0
    assert pecos["failure"] == ("" if importlib.util.find_spec("pecos") else "not installed")
    assert main(["benchmark", "predict", *files, *options]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("scipy")
    assert main(["benchmark", "predict", str(tiny_models / "fastxml.h5"), files[1]]) == 2
    assert "give a model of one-vs-all" in capsys.readouterr().err
    assert main(["benchmark", "predict", *files, "--peers=sklearn"]) == 2
