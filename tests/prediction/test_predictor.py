"""The predictor against the dataset that the model was made from, for every method."""

import warnings
from collections import Counter

import naive
import numpy as np
import pytest

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import open_dataset
from ovaflow.features.blocks import make_feature_namer
from ovaflow.features.tokens import normal_form
from ovaflow.prediction.predictions import predict_test_set
from ovaflow.prediction.predictor import Predictor, remark_on_memory
from ovaflow.registry import BUILT_IN
from ovaflow.sparse.csr import select_rows


@pytest.fixture(scope="module", params=BUILT_IN)
def predictor(request, tiny_models):
    return Predictor.open(tiny_models / f"{request.param}.h5")


@pytest.fixture(scope="module")
def dataset(tiny_models):
    return open_dataset(tiny_models / "dataset.h5")


@pytest.fixture(scope="module")
def X(predictor, dataset):
    """The test instances as the model takes them."""
    return predictor.from_split(dataset.test)


def same(ours, theirs):
    return ours.n_columns == theirs.n_columns and all(
        map(np.array_equal, ours.arrays, theirs.arrays)
    )


def test_texts_become_what_the_dataset_holds(predictor, dataset, X) -> None:
    texts = dataset.test_texts()
    assert same(predictor.from_texts(texts), X)
    names_of = make_feature_namer(predictor.transform.features)
    counts = [
        Counter(name for token in naive.tokens(normal_form(text)) for name in names_of(token))
        for text in texts
    ]
    assert same(predictor.from_features(counts), X)
    ids = [
        {
            predictor.feature_names.index(word): n
            for word, n in row.items()
            if word in predictor.feature_names
        }
        for row in counts[:2]
    ]
    assert (
        predictor.from_features(ids).data.tolist() == predictor.from_texts(texts[:2]).data.tolist()
    )


def test_trees_take_rows_as_they_were_before_they_were_scaled(predictor, dataset, X) -> None:
    scaled = dataset.test.X.arrays
    is_of_trees = predictor.model.method == "fastxml"
    assert all(map(np.array_equal, X.arrays, scaled)) != is_of_trees
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        predictor.top_k(X, 4)
        predictor.top_k(dataset.test.X, 4)
    assert ["from_split" in str(remark.message) for remark in remarks] == [True] * is_of_trees


def test_a_model_larger_than_memory_is_remarked(predictor) -> None:
    size = predictor.model.path.stat().st_size
    assert remark_on_memory(predictor, size) == ""
    assert str(predictor.model.path) in remark_on_memory(predictor, size - 1)


def test_the_best_labels_are_those_of_the_pipeline(predictor, dataset, X) -> None:
    theirs = predict_test_set(predictor.model, dataset, 4)
    for threads in (1, 3):
        assert all(map(np.array_equal, predictor.top_k(X, 4, threads), (theirs.ids, theirs.scores)))


def test_scores_of_chosen_labels(predictor, X) -> None:
    every = predictor.scores(X, range(predictor.n_labels))
    # products of matrices, as Rembrandt has them, add in an order of their own
    close = {"rtol": 1e-5, "atol": 1e-6} if predictor.model.method == "rembrandt" else {"rtol": 0}
    np.testing.assert_allclose(predictor.scores(X, [7, 2]), every[:, [7, 2]], **close)
    alone = [
        predictor.scores(select_rows(X, np.array([row])), range(predictor.n_labels))
        for row in range(X.n_rows)
    ]
    np.testing.assert_allclose(every, np.vstack(alone), **close)
    with pytest.raises(InputError, match="label ids run from 0 to 9"):
        predictor.scores(X, [10])
    for asked in (predictor.top_k, predictor.scores):
        with pytest.raises(ValueError, match="instances have 7 columns, the model takes"):
            asked(X._replace(n_columns=7), [0])


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({-1: 1}, "no feature -1"),
        ({10**6: 1}, "no feature 1000000, ids run from 0"),
        ({(): 1}, r"no feature \(\)"),
        ({0: "many"}, "is not a number"),
        ({0: float("nan")}, "is not a number"),
        ({0: -2}, "feature 0 has the value -2, which is not a count"),
        ({0: 0.5}, "feature 0 has the value 0.5, which is not a count"),
    ],
)
def test_what_is_no_feature_is_refused(predictor, row, complaint) -> None:
    with pytest.raises(InputError, match=complaint):
        predictor.from_features([row])
