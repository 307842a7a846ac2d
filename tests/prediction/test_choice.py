"""The best of some labels, and names of labels in the languages of their vocabulary."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from animals import HERE, train_animals
from commands import list_label_values, ovaflow, predict_answers

from ovaflow.model import top_k
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.question import estimate_missed_labels


@pytest.mark.parametrize("few", [0, 1])
@pytest.mark.parametrize("method", ["one-vs-all", "fastxml", "rembrandt"])
def test_every_method_against_a_sort_of_all_scores(tiny_models, monkeypatch, method, few) -> None:
    monkeypatch.setattr(top_k, "FEW_ALLOWED_SHARE", few)
    predictor = Predictor.open(tiny_models / f"{method}.h5")
    predictor.prepare()
    X = predictor.from_texts(["word00 word11 filler3", "word52 word52 word93", ""])
    all_scores = predictor.scores(X, range(predictor.n_labels))
    if method == "fastxml":
        all_scores[all_scores == 0] = -np.inf  # no leaf names the label
    for seed in range(8):
        allowed = np.random.default_rng(seed).random(predictor.n_labels) < seed / 8
        scores = np.where(allowed, all_scores, -np.inf)
        theirs = np.argsort(-scores, axis=1, kind="stable")[:, :4]
        best = np.take_along_axis(scores, theirs, axis=1)
        ids, ours = predictor.top_k(X, 4, allowed=allowed)
        assert np.array_equal(ids, np.where(np.isinf(best), -1, theirs))
        assert ours == pytest.approx(best, rel=1e-6)


@pytest.fixture(scope="module")
def animals(tmp_path_factory) -> Path:
    return train_animals(tmp_path_factory.mktemp("animals"))


TEXT = "--text=cats and dogs in town"


def predict_names(model: Path, *options: str) -> list[str]:
    """Predict the names of the labels of a text."""
    [names] = list_label_values(predict_answers(model, TEXT, options), "name")
    return names


def test_names_in_a_language(animals, tmp_path) -> None:
    swedish = {"cats": "katter", "dogs": "dogs", "birds": "fåglar", "Helsinki": "Helsingfors"}
    names = predict_names(animals)
    assert predict_names(animals, "--language=sv") == [swedish[name] for name in names]
    assert predict_names(animals, "--language=en") == names
    (tmp_path / "list.txt").write_text(f"katter\n{HERE}birds\n")
    chosen = predict_names(animals, "--language=sv", f"--include={tmp_path}/list.txt")
    assert sorted(chosen) == ["fåglar", "katter"]
    said = ovaflow("predict", animals, TEXT, "--language=de", status=2)
    assert "in language 'de', but in en, fi, sv" in said


def test_a_model_from_before_answers_in_its_own_language(animals, tmp_path) -> None:
    old = tmp_path / "old.h5"
    model = OneVsAll.open(animals)
    names = replace(model.names, translations={}, groups={})
    replace(model, names_in_memory=names).write(old)
    assert sorted(predict_names(old, "--exclude=cats")) == ["Helsinki", "birds", "dogs"]
    said = ovaflow("predict", old, TEXT, "--language=sv", status=2)
    assert "has no names of labels in language 'sv', but in en" in said


@pytest.mark.parametrize(
    ("allowed", "theirs"), [(None, 0.4), ([1, 1, 0], 0), ([1, 1, 1], 0.4), ([0, 1, 1], 0.1)]
)
def test_what_is_missed_is_of_the_labels_asked_for(allowed, theirs) -> None:
    reranker = SimpleNamespace(missed=0.4)
    ranked = 1 if allowed == [0, 1, 1] else 2
    model = SimpleNamespace(probabilistic=True, reranker=reranker, counts=np.array([3, 1, 0]))
    assert estimate_missed_labels(
        model, allowed and np.array(allowed, bool), ranked
    ) == pytest.approx(theirs)
