import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from estimators.corpus import CLASSIFIERS, save_and_load
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from ovaflow import (
    FastXMLClassifier,
    OneVsAllClassifier,
    RembrandtClassifier,
    precision_at_k_scorer,
)
from ovaflow.console.errors import InputError
from ovaflow.methods.fastxml.settings import GrowTrees
from ovaflow.methods.rembrandt.settings import Rembrandt
from ovaflow.settings.configuration import DatasetEntry, RunEntry
from ovaflow.settings.train import TrainLabels


@pytest.fixture(scope="module", params=CLASSIFIERS, ids=lambda model: model.method)
def fitted(request, table):
    return clone(request.param).fit(table.X, table.Y)


def test_predictions_have_the_form_of_the_labels(table, fitted) -> None:
    names = np.array([f"label {j:02}" for j in range(table.Y.shape[1])])
    named = clone(fitted).fit(table.X, [names[row.indices].tolist() for row in table.Y])
    dense = clone(fitted).fit(table.X.toarray(), table.Y.toarray())
    indicator = fitted.predict(table.X)
    assert sp.issparse(indicator)
    assert_array_equal(dense.predict(table.X), indicator.toarray())
    predicted = [labels.tolist() for labels in named.predict(table.X)]
    assert predicted == [names[row.indices].tolist() for row in sp.csr_array(indicator)]
    assert named.classes_.tolist() == names[:-1].tolist()
    assert named.score(table.X, table.Y[:, :-1]) == fitted.score(table.X, table.Y)


def test_scores_of_chosen_labels(table, fitted) -> None:
    ours = fitted.decision_function(table.X, labels=[7, 2])
    assert_array_equal(ours, fitted.decision_function(table.X)[:, [7, 2]])
    with pytest.raises(ValueError, match="no label 99"):
        fitted.decision_function(table.X, labels=[7, 99])


def test_the_first_labels_are_those_of_the_highest_scores(table, fitted) -> None:
    scores = fitted.decision_function(table.X).astype(np.float64) + fitted.neutral
    labels, found = fitted.predict_topk(table.X, 3)
    # of equal scores the smaller label first, as in a stable sort
    theirs = np.argsort(-scores, axis=1, kind="stable")[:, :3]
    lowest = 0 if fitted.method == "fastxml" else -np.inf
    assert (labels == theirs)[found > lowest].all()
    hits = [np.isin(best, row.indices) for row, best in zip(table.Y, labels, strict=True)]
    assert fitted.precision_at_k(table.X, table.Y, 3) == pytest.approx(np.mean(hits))
    scorer = precision_at_k_scorer(1)
    for estimator in (fitted, Pipeline([("alone", fitted)])):
        assert scorer(estimator, table.X, table.Y) == fitted.score(table.X, table.Y)


def test_where_labels_are_missing_there_is_none(table) -> None:
    model = OneVsAllClassifier().fit(table.X, table.Y)
    labels, scores = model.predict_topk(table.X[:4], table.Y.shape[1])
    assert (labels[:, -1] == None).all()  # noqa: E711
    assert np.isneginf(scores[:, -1]).all()


def test_pickled_and_saved_models_score_alike(table, fitted, tmp_path) -> None:
    for other in (pickle.loads(pickle.dumps(fitted)), save_and_load(fitted, tmp_path)):
        assert_array_equal(other.decision_function(table.X), fitted.decision_function(table.X))
        assert other.classes_.dtype == fitted.classes_.dtype
        assert (other.predict(table.X) != fitted.predict(table.X)).nnz == 0
    others = [type(other) for other in CLASSIFIERS if type(other) is not type(fitted)]
    with pytest.raises(InputError, match=f"a model of {fitted.method}"):
        others[0].load(tmp_path / "model.h5")


def test_multiclass_is_that_of_liblinear(table) -> None:
    X = table.X
    y = np.array(["a", "b", "c"])[np.asarray(table.X[:, :3].toarray().argmax(axis=1))]
    ours = OneVsAllClassifier(epsilon=1e-4, prune=0.0).fit(X, y)
    theirs = LinearSVC(tol=1e-6, max_iter=100_000).fit(sp.csr_matrix(X), y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
    assert ours.score(X, y) == accuracy_score(y, ours.predict(X))


SETTINGS = {
    OneVsAllClassifier: {*TrainLabels.model_fields, "prune", "pretrained"}
    - {"reference", "stored_threshold"},
    FastXMLClassifier: set(GrowTrees.model_fields),
    RembrandtClassifier: set(Rembrandt.model_fields),
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_settings_and_defaults_are_those_of_the_config(kind) -> None:
    ours = kind().get_params()
    assert ours.pop("normalize") is False
    assert ours.pop("verbose") is False
    # estimators are given features, for which auto is 0
    assert ours.pop("rerank") == 0
    assert ours.keys() == SETTINGS[kind] | {"bias", "threads"}
    theirs = {}
    for section in (DatasetEntry, RunEntry):
        theirs |= {name: field.default for name, field in section.model_fields.items()}
    assert ours == {name: theirs[name] for name in ours}


@pytest.mark.parametrize(
    ("settings", "Y", "message"),
    [
        ({"C": 0}, "indicator", "C: found 0, expected a number above 0"),
        ({"bias": -1}, "indicator", "bias: found -1, expected a number of at least 0"),
        ({}, None, "target y is None"),
        ({}, np.full((300, 2), 2), "Unknown label type"),
        ({}, [["a"]] * 7, "inconsistent numbers of samples"),
        ({}, np.array(["a", np.nan], object), "y has nan for instance 1"),
    ],
)
def test_illegal_settings_and_labels_are_refused(table, settings, Y, message) -> None:
    with pytest.raises((ValueError, InputError), match=message):
        OneVsAllClassifier(**settings).fit(table.X, table.Y if isinstance(Y, str) else Y)


def test_training_says_nothing_unless_it_is_asked(table, capfd) -> None:
    OneVsAllClassifier().fit(table.X, table.Y).predict_topk(table.X)
    assert capfd.readouterr() == ("", "")
    OneVsAllClassifier(verbose=True).fit(table.X, table.Y)
    assert "12 labels" in capfd.readouterr().err


def test_from_an_earlier_model(table) -> None:
    first = OneVsAllClassifier().fit(table.X, table.Y)
    start = {"initialization": "pretrained", "retrain": "new"}
    # trained again, weights would differ at this epsilon
    model = clone(OneVsAllClassifier(**start, pretrained=first.model_, epsilon=1e-4))
    ours = model.fit(table.X, table.Y)
    assert_array_equal(ours.decision_function(table.X), first.decision_function(table.X))


def test_the_command_line_loads_neither_scikit_learn_nor_numba() -> None:
    code = "import sys, ovaflow; sys.exit('sklearn' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
