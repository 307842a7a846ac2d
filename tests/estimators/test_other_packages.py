"""Classifiers and text features with scikit-learn's estimators, metrics and scorers, and with
pandas.
"""

import subprocess
import sys
from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from estimators.corpus import CLASSIFIERS, TEXTS, TOPICS, save_and_load
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    coverage_error,
    f1_score,
    label_ranking_average_precision_score,
    label_ranking_loss,
)
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from ovaflow import OneVsAllClassifier, TextFeatures, f1_scorer, precision_at_k_scorer
from ovaflow.estimators.labels import LabelForm

FEATURES = TextFeatures(features="words", min_df=1)


@pytest.fixture(scope="module")
def X():
    return clone(FEATURES).fit_transform(TEXTS)


def get_class_name(estimator) -> str:
    return type(estimator).__name__


def test_features_of_texts_go_into_estimators_of_scikit_learn(X) -> None:
    y = [labels[0] for labels in TOPICS]
    model = make_pipeline(clone(FEATURES), LogisticRegression()).fit(TEXTS, y)
    # other estimators take no wider indices
    assert X.indices.dtype == X.indptr.dtype == np.int32
    theirs = LogisticRegression().fit(X.toarray(), y)
    assert_allclose(
        model.decision_function(TEXTS), theirs.decision_function(X.toarray()), rtol=1e-5
    )


CLASSES_BY_TYPE = {
    "truth values": [False, True],
    "times": [datetime(2024, 2, 29, 12, 30, 1, 5), datetime(1999, 1, 1)],
    "days of NumPy": [np.datetime64("2024-02-29"), np.datetime64("1999-01-01")],
    "nanoseconds of NumPy": np.array(["2024-02-29T01:02:03.000000004", "1999-01-01"], "M8[ns]"),
    "small numbers": np.array([3, -1], np.int8),
    "objects": np.array(["010", "nan"], object),
}


def assert_equal(ours, theirs) -> None:
    assert ours.dtype == theirs.dtype
    assert_array_equal(ours, theirs)
    our_types = [type(label) for label in ours.tolist()]
    assert our_types == [type(label) for label in theirs.tolist()]


@pytest.mark.parametrize("kind", CLASSES_BY_TYPE)
def test_classes_come_back_from_a_file_as_they_were(X, kind, tmp_path) -> None:
    y = np.array(CLASSES_BY_TYPE[kind])[np.arange(60) % 2]
    model = OneVsAllClassifier().fit(X, y)
    lists = [[label] for label in y]
    loaded = save_and_load(model, tmp_path)
    assert_equal(model.classes_, np.unique(y))
    assert_equal(loaded.classes_, model.classes_)
    assert_equal(loaded.predict(X), y)
    model = OneVsAllClassifier().fit(X, lists)
    loaded = save_and_load(model, tmp_path)
    for ours, theirs in zip(loaded.predict(X), model.predict(X), strict=True):
        assert_equal(ours, theirs)
    assert loaded.score(X, lists) == 1


VALUES = st.one_of(
    st.lists(st.booleans()),
    st.lists(st.integers(-(2**63), 2**63 - 1)),
    st.lists(st.floats(allow_nan=False, allow_infinity=False)),
    st.lists(st.dates()),
    st.lists(st.datetimes()),
    st.lists(st.datetimes(timezones=st.just(UTC))),
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))),
)


@given(VALUES)
def test_classes_are_read_from_their_names(values) -> None:
    form = LabelForm.from_labels([values, []])
    ours = LabelForm.from_parameters(form.parameters, [str(label) for label in form.classes])
    assert_equal(ours.classes, form.classes)
    assert ours.classes.tolist() == sorted(set(values))


@pytest.mark.parametrize(
    "labels", [[1, "1"], [b"a", b"b"], [date(2024, 1, 1), datetime(2024, 1, 1)], [("a", 1)]]
)
def test_classes_that_names_do_not_determine_are_refused(X, labels) -> None:
    message = r"Unknown label type: .* expected texts, numbers, truth values or dates"
    with pytest.raises(ValueError, match=message):
        OneVsAllClassifier().fit(X, [labels] * 60)


def test_classes_in_columns_of_objects_and_of_tables(X) -> None:
    texts = np.array(["a", "b"], object)[np.arange(60) % 2]
    assert OneVsAllClassifier().fit(X, np.array([2, 1] * 30, object)).classes_.tolist() == [1, 2]
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = OneVsAllClassifier().fit(X, pd.DataFrame({"topic": texts}))
    assert model.classes_.tolist() == ["a", "b"]
    message = "a table of texts or dates; give a list of labels for each instance"
    with pytest.raises(ValueError, match=message):
        OneVsAllClassifier().fit(X, np.column_stack([texts, texts]))


@pytest.mark.parametrize("dtype", [int, bool, float, "Int64"])
def test_the_only_column_of_a_data_frame_keeps_its_name(table, dtype) -> None:
    label = table.Y.toarray()[:, :1].astype(bool)
    Y = pd.DataFrame(label, columns=["spam"]).astype(dtype)
    ours = OneVsAllClassifier().fit(table.X, Y)
    assert ours.classes_.tolist() == ["spam"]
    theirs = LinearSVC(C=1).fit(table.X, label[:, 0].astype(int))
    assert_array_equal(ours.predict(table.X), theirs.predict(table.X)[:, None])
    assert ours.score(table.X, Y) == label.mean()
    # the column itself has two classes
    assert OneVsAllClassifier().fit(table.X, Y["spam"].astype(int)).classes_.tolist() == [0, 1]


def test_the_only_column_of_a_data_frame_may_hold_lists(table) -> None:
    lists = [["a"], ["a", "b"], []] * (table.X.shape[0] // 3 + 1)
    Y = pd.DataFrame({"topics": lists[: table.X.shape[0]]})
    ours = OneVsAllClassifier().fit(table.X, Y)
    theirs = OneVsAllClassifier().fit(table.X, Y["topics"].tolist())
    assert ours.classes_.tolist() == ["a", "b"]
    assert_equal(ours.decision_function(table.X), theirs.decision_function(table.X))
    Y.loc[2, "topics"] = None
    with pytest.raises(ValueError, match="y has None for instance 2"):
        ours.fit(table.X, Y)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=get_class_name)
def test_ranking_metrics_are_computed_where_a_label_has_no_instances(table, model) -> None:
    Y = table.Y.toarray()
    scores = clone(model).fit(table.X, Y).decision_function(table.X)
    assert np.isfinite(scores).all()
    # no instance has the last label, which has the last rank
    assert (scores[:, -1:] < scores[:, :-1]).all()
    for metric in (label_ranking_average_precision_score, coverage_error):
        assert metric(Y, scores) == pytest.approx(metric(Y[:, :-1], scores[:, :-1]))
    assert 0 <= label_ranking_loss(Y, scores) < label_ranking_loss(Y[:, :-1], scores[:, :-1]) + 1e-9


def test_of_two_classes_one_may_have_no_weight(X) -> None:
    y = np.arange(60) % 2
    scores = OneVsAllClassifier().fit(X, y, sample_weight=y).decision_function(X)
    assert np.isfinite(scores).all()
    assert (scores > 0).all()


COLUMNS = {
    "object": pd.Series([*TEXTS, None, float("nan"), pd.NA, pd.NaT], dtype=object),
    "string": pd.Series([*TEXTS, None, pd.NA], dtype="string[python]"),
    "Arrow as string": pd.Series([*TEXTS, None], dtype="string[pyarrow]"),
    "Arrow": pd.Series([*TEXTS, None], dtype=pd.ArrowDtype(pa.string())),
    "category": pd.Series([*TEXTS, None], dtype="category"),
    "Arrow's own": pa.chunked_array([TEXTS, [None]]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_missing_texts_of_data_frames_are_empty(kind) -> None:
    column = COLUMNS[kind]
    theirs = TEXTS + [""] * (len(column) - len(TEXTS))
    ours = TextFeatures(features="words").fit(column)
    assert (ours.idf_ == TextFeatures(features="words").fit(theirs).idf_).all()
    assert (ours.transform(column) != ours.transform(theirs)).nnz == 0


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["a", "b"] * 29 + [None] * 2, dtype="string"),
        pd.Series(["a", "b"] * 29 + [None] * 2, dtype=pd.ArrowDtype(pa.string())),
        pd.Series([*TOPICS[:58], pd.NA, ["water"]]),
        [*TOPICS[:58], ["water", pd.NA], []],
        pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02"] * 29 + [None] * 2)),
        pd.DataFrame({"a": [0, 1] * 29 + [None] * 2, "b": 1}, dtype="Int64"),
    ],
)
def test_missing_labels_are_refused(X, y) -> None:
    message = r"y has (<NA>|NaT) for instance 58; an instance without labels has an empty"
    with pytest.raises(ValueError, match=message):
        OneVsAllClassifier().fit(X, y)


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "string", "category", "float64[pyarrow]"])
def test_classes_of_nullable_columns_are_those_of_numpy(X, dtype) -> None:
    y = pd.Series([1, 0] * 30).astype(dtype)
    classes = OneVsAllClassifier().fit(X, y).classes_
    assert classes.tolist() == sorted(set(y.tolist()))
    assert {type(label) for label in classes.tolist()} == {type(label) for label in y.tolist()}


@pytest.mark.parametrize("kind", [list, pd.Series, lambda lists: np.fromiter(lists, object)])
def test_lists_of_labels_are_predicted_across_folds(kind) -> None:
    model = make_pipeline(clone(FEATURES), OneVsAllClassifier())
    cv = KFold(3)
    ours = cross_val_predict(model, TEXTS, kind(TOPICS), cv=cv)
    texts = np.array(TEXTS)
    topics = np.fromiter(TOPICS, object)
    for fit, held in cv.split(texts):
        theirs = clone(model).fit(texts[fit], topics[fit]).predict(texts[held])
        assert [list(labels) for labels in ours[held]] == [list(labels) for labels in theirs]


@pytest.mark.parametrize("average", ["micro", "macro", "weighted", "samples"])
def test_F1_of_lists_is_that_of_their_indicators(average) -> None:
    # only the last fold has the label "late"
    late = [[*labels, "late"] for labels in TOPICS[56:]]
    topics = np.fromiter([*TOPICS[:56], *late], object)
    model = make_pipeline(clone(FEATURES), OneVsAllClassifier(C=0.02))
    cv = KFold(3)
    ours = cross_val_score(
        model, TEXTS, topics, cv=cv, scoring=f1_scorer(average), error_score="raise"
    )
    predicted = cross_val_predict(model, TEXTS, topics, cv=cv)
    theirs = []
    for _, held in cv.split(TEXTS):
        binarizer = MultiLabelBinarizer().fit(np.concatenate([topics[held], predicted[held]]))
        true_indicator = binarizer.transform(topics[held])
        indicator = binarizer.transform(predicted[held])
        theirs.append(f1_score(true_indicator, indicator, average=average))
    assert ours == pytest.approx(theirs)
    assert 0.2 < ours[-1] < ours[0]


@pytest.mark.parametrize("scoring", [f1_scorer(), precision_at_k_scorer(1)])
def test_scorers_choose_a_setting_in_processes(scoring) -> None:
    model = make_pipeline(clone(FEATURES), OneVsAllClassifier())
    grid = {"onevsallclassifier__C": [0.001, 1.0]}
    search = GridSearchCV(model, grid, scoring=scoring, cv=KFold(2), n_jobs=2).fit(TEXTS, TOPICS)
    assert search.best_score_ == 1
    assert search.predict(["salt hill"])[0].tolist() == ["cooking"]


def test_F1_is_scikit_learns_for_other_forms(table) -> None:
    for y in (
        table.Y,
        table.Y.toarray(),
        pd.DataFrame(table.Y.toarray()),
        np.asarray(table.Y.argmax(axis=1)),
    ):
        model = OneVsAllClassifier().fit(table.X, y)
        theirs = f1_score(y, model.predict(table.X), average="micro")
        assert f1_scorer()(model, table.X, y) == theirs


@pytest.mark.parametrize("value", [-1.0, 2.0, 0.5, np.nan])
@pytest.mark.parametrize(
    "kind", [sp.csr_array, sp.csc_matrix, sp.lil_array, np.asarray, pd.DataFrame]
)
def test_indicators_hold_zeros_and_ones_only(table, value, kind) -> None:
    Y = table.Y.toarray().astype(float)
    model = OneVsAllClassifier().fit(table.X, kind(Y))
    Y[7, 3] = value
    message = (
        "y has .* for instance 7 and label 3; an indicator holds only 0 and 1|Input y contains NaN"
    )
    with pytest.raises(ValueError, match=message):
        OneVsAllClassifier().fit(table.X, kind(Y))
    with pytest.raises(ValueError, match=message):
        model.score(table.X, kind(Y))


def test_votes_for_a_label_are_refused(table) -> None:
    Y = table.Y.tocoo()
    twice = sp.coo_array((np.tile(Y.data, 2), (np.tile(Y.row, 2), np.tile(Y.col, 2))), Y.shape)
    with pytest.raises(ValueError, match="y has 2 for instance"):
        OneVsAllClassifier().fit(table.X, twice)


@pytest.mark.parametrize("dtype", ["int64", "bool", "boolean", "Sparse[int64]"])
def test_columns_of_a_data_frame_are_the_classes(table, dtype, tmp_path) -> None:
    names = [f"label {number}" for number in np.random.default_rng(0).permutation(table.Y.shape[1])]
    Y = pd.DataFrame(table.Y.toarray(), columns=names).astype(dtype)
    ours = OneVsAllClassifier().fit(table.X, Y)
    theirs = OneVsAllClassifier().fit(table.X, table.Y.toarray(), label_names=names)
    for model in (ours, save_and_load(ours, tmp_path)):
        assert model.classes_.tolist() == theirs.classes_.tolist() == names
        assert_array_equal(model.predict(table.X), theirs.predict(table.X))
        assert (model.predict_topk(table.X)[0] == theirs.predict_topk(table.X)[0]).all()
        # columns in another order are the same labels
        assert model.score(table.X, Y[sorted(names)]) == theirs.score(table.X, table.Y.toarray())
    again = OneVsAllClassifier().fit(table.X, Y, label_names=names[::-1])
    assert again.classes_.tolist() == names[::-1]


def test_the_C_that_was_chosen(table, tmp_path) -> None:
    model = OneVsAllClassifier(C="auto").fit(table.X, table.Y)
    assert model.C_ == save_and_load(model, tmp_path).C_ == model.model_.parameters["train"]["C"]
    assert model.C == "auto"
    theirs = OneVsAllClassifier(C=model.C_).fit(table.X, table.Y)
    assert theirs.C_ == model.C_
    assert_array_equal(model.decision_function(table.X), theirs.decision_function(table.X))
    assert not hasattr(OneVsAllClassifier(), "C_")


CODE = """
import tempfile
from pathlib import Path
from ovaflow import FastXMLClassifier, OneVsAllClassifier, RembrandtClassifier, TextFeatures
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.pipeline import make_pipeline

texts = ["salt sea", "rope hill", "sea hill", "rope sea"] * 8
topics = [["water"], ["land"], ["water", "land"], []] * 8
classifiers = [
    OneVsAllClassifier(C="auto"), FastXMLClassifier(trees=2), RembrandtClassifier(rank=2)
]
with tempfile.TemporaryDirectory() as folder:
    for classifier in classifiers:
        model = clone(make_pipeline(TextFeatures(features="auto"), classifier)).fit(texts, topics)
        path = Path(folder, type(classifier).__name__)
        model[-1].save(path, text_features=model[0])
        X = model[:-1].transform(texts)
        assert type(classifier).load(path).score(X, topics) == model.score(texts, topics)
        model.predict(texts)
    try:
        TextFeatures().fit([["a text in a list"]])
    except TypeError:
        pass
"""


def test_no_warning_of_any_kind() -> None:
    command = [sys.executable, "-W", "error", "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
