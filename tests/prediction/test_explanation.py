"""Explanations against dense products and scikit-learn's cosines."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Names
from ovaflow.features.tokens import TOKEN_PATTERNS
from ovaflow.methods.fastxml.forest import join_trees
from ovaflow.methods.fastxml.model_file import ForestModel
from ovaflow.methods.rembrandt.model_file import EmbeddingModel
from ovaflow.methods.rembrandt.panels import to_panels
from ovaflow.methods.rembrandt.projection import Projection, draw_random_features
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.prediction.explanation import (
    compute_contributions,
    find_nearest_labels,
    find_spans,
    find_strongest_features,
)
from ovaflow.prediction.predictor import Predictor
from ovaflow.sparse.csr import CSR, from_scipy, select_rows

L = 40
D = 30
RANK = 7


def make_fields(method: str) -> dict[str, Any]:
    """Make the fields that models of all methods have; label 5 is not trained."""
    trained = np.arange(L) != 5
    return {
        "path": "model.h5",
        "trained": trained,
        "counts": trained * 3,
        "checksum": "",
        "inputs": {},
        "parameters": {"train": {"method": method}, "transform": {"bias": 2.0}},
    }


@pytest.fixture(scope="module")
def instances() -> CSR:
    """Nine random instances with a bias feature."""
    rng = np.random.default_rng(1)
    random = scipy.sparse.random_array(
        (9, D), density=0.4, rng=rng, data_sampler=rng.standard_normal
    )
    X = random.tolil()
    X[:, D - 1] = 2.0
    return from_scipy(X.tocsr())


@pytest.fixture(scope="module", params=["one-vs-all", "rembrandt"])
def model_and_weights(request) -> tuple[Predictor, np.ndarray, np.ndarray]:
    """A predictor, the dense weights of its model (l, d), and the constants of its scores (l,)."""
    rng = np.random.default_rng(2)
    if request.param == "one-vs-all":
        W = np.where(rng.random((L, D)) < 0.5, rng.normal(size=(L, D)), 0).astype(np.float32)
        W[5] = 0
        return (
            Predictor(OneVsAll(**make_fields(request.param), weights=from_scipy(W))),
            W.astype(float),
            np.zeros(L),
        )
    P = rng.normal(size=(D, RANK)).astype(np.float32)
    decoder = rng.normal(size=(L, RANK + 1)).astype(np.float32)
    model = EmbeddingModel(
        **make_fields(request.param), projection=Projection(to_panels(P), RANK), decoder=decoder
    )
    return (
        Predictor(model),
        decoder[:, :-1].astype(float) @ P.astype(float).T,
        decoder[:, -1].astype(float),
    )


@given(st.integers(0, 8), st.integers(0, L - 1).filter(lambda label: label != 5), st.integers(0, D))
def test_parts_add_up_to_the_score(model_and_weights, instances, row, label, top) -> None:
    predictor, W, constants = model_and_weights
    x = select_rows(instances, np.array([row]))
    ours = compute_contributions(predictor, x, label, top)
    theirs = x.to_scipy().toarray()[0].astype(float) * W[label]
    listed = [value for _, value in ours.up + ours.down]
    assert ours.bias == pytest.approx(theirs[-1] + constants[label], abs=1e-12)
    assert math.fsum([ours.bias, ours.others, *listed]) == pytest.approx(ours.score, abs=1e-14)
    assert ours.score == pytest.approx(theirs.sum() + constants[label], abs=1e-12)
    assert ours.score == pytest.approx(predictor.scores(x, [label])[0, 0], abs=1e-4)
    features = [feature for feature in range(D - 1) if theirs[feature] > 0]
    features.sort(key=lambda feature: -theirs[feature])
    assert [feature for feature, _ in ours.up] == features[:top]
    negative = np.sort(theirs[:-1][theirs[:-1] < 0])[:top]
    assert [value for _, value in ours.down] == pytest.approx(negative.tolist(), abs=1e-12)


def test_strongest_features_are_those_of_the_weights(model_and_weights) -> None:
    predictor, W, constants = model_and_weights
    up, down, bias = find_strongest_features(predictor, 3, top=4)
    theirs = W[3, :-1]
    lowest = np.argsort(theirs)[:4].tolist()
    assert [feature for feature, _ in up] == np.argsort(-theirs)[:4].tolist()
    assert [feature for feature, _ in down] == lowest
    assert dict(down) == pytest.approx({feature: theirs[feature] for feature in lowest})
    assert bias == pytest.approx(2 * W[3, -1] + constants[3])


def test_nearest_labels_like_scikit_learn(model_and_weights) -> None:
    predictor, W, _ = model_and_weights
    theirs = cosine_similarity(W[7:8, :-1], W[:, :-1])[0]
    theirs[[5, 7]] = -1
    ours = find_nearest_labels(predictor, 7, top=6)
    assert [label for label, _ in ours] == np.argsort(-theirs)[:6].tolist()
    assert [cosine for _, cosine in ours] == pytest.approx(np.sort(theirs)[::-1][:6], abs=1e-6)


def test_equal_weights_are_nearest_by_the_smaller_id() -> None:
    W = np.float32([[1, 0, 5], [3, 0, 0], [0, 1, 0], [2, 0, 1]] + [[0, 0, 1]] * (L - 4))
    predictor = Predictor(OneVsAll(**make_fields("one-vs-all"), weights=from_scipy(W)))
    assert find_nearest_labels(predictor, 3) == [(0, 1.0), (1, 1.0)]
    assert find_nearest_labels(predictor, 9) == []


def make_predictor_of_texts(names: list[str], **transform: Any) -> Predictor:
    """Make a predictor of texts with features of these names."""
    settings = {
        "bias": 0.0,
        "sublinear": True,
        "normalize": True,
        "token_pattern": TOKEN_PATTERNS["plain"],
    }
    fields = make_fields("one-vs-all")
    fields["parameters"] = {"transform": settings | transform}
    weights = from_scipy(np.ones((L, len(names))))
    return Predictor(OneVsAll(**fields, names_in_memory=Names([], names), weights=weights))


def find_words(predictor: Predictor, text: str) -> dict[str, list[str]]:
    """Find the words in a text of which each feature is made."""
    words = {}
    for feature, spans in find_spans(predictor, text).items():
        words[predictor.feature_names[feature]] = [text[start:end] for start, end in spans]
    return words


def test_features_are_found_where_they_are_in_a_text() -> None:
    names = [
        "haus",
        "gross haus",
        "grosser*",
        "strass-",
        '"au"',
        '"s "',
        '" "',
        "am haus",
        "<haus grosse>",
    ]
    blocks = ["words", "pairs", "prefixes=7", "stems=german", "characters=1-2", "names"]
    predictor = make_predictor_of_texts(names, features=blocks, left_out=["am", "ein"])
    text = "GROẞ, am Haus. Großerer Straßen-Au"
    theirs = {
        "gross haus": ["GROẞ, am Haus"],
        "haus": ["Haus"],
        "grosser*": ["Großer"],
        "strass-": ["Straßen"],
        '"au"': ["au", "Au"],
        '"s "': ["ẞ", "s"],
        "<haus grosse>": ["Haus. Großerer"],
    }
    assert find_words(predictor, text) == theirs


def test_words_of_symbols_are_found_where_they_are_in_a_text() -> None:
    names = [".net", "c", "c#", "c++", "2", "r c++", "<f# forms>"]
    blocks = ["words", "pairs", "names"]
    predictor = make_predictor_of_texts(names, features=blocks, words="symbols")
    text = "R, C++. Type 2 (C#)? F#-Forms, .NET; c."
    theirs = {
        "r c++": ["R, C++"],
        "c++": ["C++"],
        "2": ["2"],
        "c#": ["C#"],
        "<f# forms>": ["F#-Forms"],
        ".net": [".NET"],
        "c": ["c"],
    }
    assert find_words(predictor, text) == theirs


FOREST = ForestModel(**make_fields("fastxml"), forest=join_trees([], D, L))
DRAWN = Projection(
    np.zeros((1, D, 64), np.float32), RANK, *draw_random_features("gaussian", RANK, 11, 1.0, 0)
)
KERNEL = EmbeddingModel(
    **make_fields("rembrandt"), projection=DRAWN, decoder=np.zeros((L, 12), np.float32)
)


def test_scores_that_cannot_be_explained_are_refused(model_and_weights, instances) -> None:
    predictor, _, _ = model_and_weights
    x = select_rows(instances, np.array([0]))
    with pytest.raises(InputError, match="no training positives"):
        compute_contributions(predictor, x, 5)
    with pytest.raises(InputError, match="no label 40"):
        find_strongest_features(predictor, L)
    with pytest.raises(InputError, match="not from texts"):
        find_spans(predictor, "text")
    with pytest.raises(InputError, match="mean over the leaves"):
        compute_contributions(Predictor(FOREST), x, 0)
    with pytest.raises(InputError, match="random cosine features"):
        find_nearest_labels(Predictor(KERNEL), 0)
