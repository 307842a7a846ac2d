"""The predictor against the dataset that the model was made from, for every method."""

import warnings
from collections import Counter

import naive
import numpy as np
import pytest

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.features.blocks import make_feature_namer
from ovaflow.features.tokens import normal_form
from ovaflow.prediction.predictions import predict_test_set
from ovaflow.prediction.predictor import Predictor, remark_on_memory
from ovaflow.registry import BUILT_IN
from ovaflow.sparse.csr import CSR, select_rows


@pytest.fixture(scope="module", params=BUILT_IN)
def predictor(request, tiny_models) -> Predictor:
    return Predictor.open(tiny_models / f"{request.param}.h5")


@pytest.fixture(scope="module")
def dataset(tiny_models) -> Dataset:
    return open_dataset(tiny_models / "dataset.h5")


@pytest.fixture(scope="module")
def X(predictor, dataset) -> CSR:
    """The test instances for the model."""
    return predictor.from_split(dataset.test)


def assert_same(ours: CSR, theirs: CSR) -> None:
    assert ours.n_columns == theirs.n_columns
    for our_array, their_array in zip(ours.arrays, theirs.arrays, strict=True):
        assert np.array_equal(our_array, their_array)


def count_features(predictor: Predictor, text: str) -> Counter[str]:
    """Count the features of a text by name."""
    names_of = make_feature_namer(predictor.transform.features)
    counts: Counter[str] = Counter()
    for token in naive.tokens(normal_form(text)):
        counts.update(names_of(token))
    return counts


def test_texts_become_the_features_of_the_dataset(predictor, dataset, X) -> None:
    texts = dataset.test_texts()
    assert_same(predictor.from_texts(texts), X)
    counts = [count_features(predictor, text) for text in texts]
    assert_same(predictor.from_features(counts), X)
    counts_by_id = []
    for row in counts[:2]:
        known = {}
        for word, count in row.items():
            if word in predictor.feature_names:
                known[predictor.feature_names.index(word)] = count
        counts_by_id.append(known)
    ours = predictor.from_features(counts_by_id)
    theirs = predictor.from_texts(texts[:2])
    assert ours.data.tolist() == theirs.data.tolist()


def test_trees_take_rows_that_are_not_scaled(predictor, dataset, X) -> None:
    is_of_trees = predictor.model.method == "fastxml"
    assert np.array_equal(X.data, dataset.test.X.data) != is_of_trees
    assert np.array_equal(X.indices, dataset.test.X.indices)
    assert np.array_equal(X.indptr, dataset.test.X.indptr)
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
        ids, scores = predictor.top_k(X, 4, threads)
        assert np.array_equal(ids, theirs.ids)
        assert np.array_equal(scores, theirs.scores)


def test_scores_of_chosen_labels(predictor, X) -> None:
    labels = range(predictor.n_labels)
    all_scores = predictor.scores(X, labels)
    tolerance = {"rtol": 0.0}
    if predictor.model.method == "rembrandt":
        # its products of matrices add in an order that depends on their size
        tolerance = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(predictor.scores(X, [7, 2]), all_scores[:, [7, 2]], **tolerance)
    for row in range(X.n_rows):
        x = select_rows(X, np.array([row]))
        np.testing.assert_allclose(all_scores[[row]], predictor.scores(x, labels), **tolerance)
    with pytest.raises(InputError, match="label ids run from 0 to 9"):
        predictor.scores(X, [10])
    for method in (predictor.top_k, predictor.scores):
        with pytest.raises(ValueError, match="instances have 7 columns, the model takes"):
            method(X._replace(n_columns=7), [0])


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
