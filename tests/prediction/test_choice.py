"""The best of some labels, exactly, and names of labels in the languages of their vocabulary."""

import csv
import json
from dataclasses import replace

import naive
import numpy as np
import pytest
from animals import HERE, train_animals
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ovaflow.cli import main
from ovaflow.model import top_k
from ovaflow.model.index import build_panel, panel_ranges
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.top_k import predict_top_k
from ovaflow.prediction.predictor import Predictor
from ovaflow.sparse.csr import from_scipy

WHOLE = st.sampled_from([0.0, 0.0, 1.0, -1.0, 2.0, -0.5])


@given(
    arrays(np.float32, (3, 4), elements=WHOLE),
    arrays(np.float32, (9, 4), elements=WHOLE),
    arrays(bool, (2, 9)),
    st.integers(1, 10),
)
def test_an_index_finds_the_best_of_the_allowed_labels(X, W, trained_and_allowed, k):
    trained, allowed = trained_and_allowed
    theirs = naive.top_k(X, W, trained & allowed, k)
    weights = from_scipy(W)
    panels = [build_panel(weights, trained, *labels) for labels in panel_ranges(9, 4)]
    ours = predict_top_k(weights, trained, from_scipy(X), k, quiet=True, panels=panels, allowed=allowed)
    assert np.array_equal(ours[0], theirs[0])
    assert np.array_equal(ours[1], theirs[1])


@pytest.mark.parametrize("few", [0, 1])
@pytest.mark.parametrize("method", ["one-vs-all", "fastxml", "rembrandt"])
def test_every_method_against_a_sort_of_all_scores(tiny_models, monkeypatch, method, few):
    monkeypatch.setattr(top_k, "FEW", few)
    predictor = Predictor.open(tiny_models / f"{method}.h5")
    predictor.prepare()
    X = predictor.from_texts(["word00 word11 filler3", "word52 word52 word93", ""])
    every = predictor.scores(X, range(predictor.n_labels))
    if method == "fastxml":
        every[every == 0] = -np.inf  # no leaf names the label
    for seed in range(8):
        allowed = np.random.default_rng(seed).random(predictor.n_labels) < seed / 8
        scores = np.where(allowed, every, -np.inf)
        theirs = np.argsort(-scores, axis=1, kind="stable")[:, :4]
        best = np.take_along_axis(scores, theirs, axis=1)
        ids, ours = predictor.top_k(X, 4, allowed=allowed)
        assert np.array_equal(ids, np.where(np.isinf(best), -1, theirs))
        assert ours == pytest.approx(best, rel=1e-6)


@pytest.fixture(scope="module")
def animals(tmp_path_factory):
    return train_animals(tmp_path_factory.mktemp("animals"))


@pytest.fixture
def predict(animals, capsys):
    """Names of the labels predicted for a text with options; or the error."""

    def predicted(*options, status=0):
        words = ["predict", animals, "--text=cats and dogs in town", "--output-format=jsonl", *options]
        assert main([str(word) for word in words]) == status
        said = capsys.readouterr()
        return said.err if status else [each["name"] for each in json.loads(said.out)["labels"]]

    return predicted


def test_others_take_the_places_of_excluded_labels(predict, tmp_path):
    every = predict()
    assert sorted(every) == ["Helsinki", "birds", "cats", "dogs"]
    (tmp_path / "list.txt").write_text(f"{every[0]}\n{HERE}birds\n")
    assert predict(f"--exclude={tmp_path}/list.txt", "--top-k=2") == [name for name in every[1:] if name != "birds"]
    assert predict(f"--include={HERE}pets", "--exclude=*ats") == ["dogs"]
    assert "no label 'dog'; did you mean 'dogs'?" in predict("--exclude=dog", status=2)


def test_names_in_a_language(predict):
    swedish = {"cats": "katter", "dogs": "dogs", "birds": "fåglar", "Helsinki": "Helsingfors"}
    assert predict("--language=sv") == [swedish[name] for name in predict()]
    assert predict("--language=en") == predict()
    assert predict("--language=sv", "--include=katter", "--include=birds") in (
        ["katter", "fåglar"],
        ["fåglar", "katter"],
    )
    assert "no names of labels in language 'de', but in en, fi, sv" in predict("--language=de", status=2)


def test_a_model_from_before_answers_in_its_own_language(animals, tmp_path, capsys):
    old = tmp_path / "old.h5"
    model = OneVsAll.open(animals)
    names = replace(model.names, translations={}, groups={})
    replace(model, names_in_memory=names).write(old)
    assert main(["predict", str(old), "--text=cats", "--output-format=csv", "--exclude=cats"]) == 0
    rows = csv.DictReader(capsys.readouterr().out.splitlines())
    assert {row["label"] for row in rows} == {"dogs", "birds", "Helsinki"}
    assert main(["predict", str(old), "--text=cats", "--language=sv"]) == 2
    assert "has no names of labels in language 'sv', but in en" in capsys.readouterr().err
