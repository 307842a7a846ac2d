"""The start at an earlier model, whose weights are matched by the names of labels and features."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from solving import compute_starts, make_memory_dataset

from ovaflow.console.errors import InputError
from ovaflow.initialization.pretrained import find_positions, match_model
from ovaflow.model.model_file import Names
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.sparse.csr import from_scipy

NAMES = st.lists(st.text("abc", max_size=3), max_size=12)


def dataset_of(labels, features, bias=1.0, n=30, named=True):
    rng = np.random.default_rng(0)
    X = rng.random((n, len(features))) * (rng.random((n, len(features))) < 0.4)
    X = np.hstack([X, np.full((n, 1), bias)]) if bias else X
    Y = (rng.random((n, len(labels))) < 0.3).astype(float)
    Y[0] = 1
    names = Names(labels, features if named else [])
    return replace(
        make_memory_dataset(X, Y),
        parameters={"bias": bias},
        checksum="its own",
        names_in_memory=names,
    )


def model_at(path, labels, features, bias=1.0, named=True, trained=None, dataset=""):
    trained = np.ones(len(labels), bool) if trained is None else trained
    shape = (len(labels), len(features) + bool(bias))
    rng = np.random.default_rng(1)
    weights = sp.random_array(shape, density=0.5, rng=rng, dtype=np.float32).multiply(
        trained[:, None]
    )
    arrays = {
        "weights": from_scipy(weights),
        "trained": trained,
        "counts": np.ones(len(labels), int),
    }
    about = {"parameters": {"transform": {"bias": bias}}, "inputs": {"dataset": dataset}}
    OneVsAll(**arrays, **about, names_in_memory=Names(labels, features if named else [])).write(
        path
    )
    return OneVsAll.open(path)


def starts(dataset, model, **settings):
    """What every label starts at, dense."""
    return compute_starts(
        dataset,
        model and match_model(model, dataset),
        **{"initialization": "pretrained"} | settings,
    )


def test_labels_and_features_are_matched_by_name(tmp_path) -> None:
    labels = list("dbxa")
    features = ["f3", "new", "f1", "f2", "f7"]
    dataset = dataset_of(labels, features)
    model = model_at(
        tmp_path / "m.h5",
        list("abcd"),
        [f"f{j}" for j in range(8)],
        trained=np.array([True, False, True, True]),
    )
    ours = starts(dataset, model)
    # of d and a: f3, what is new, f1, f2, f7 and the bias
    theirs = model.weights.to_scipy().toarray()[[3, 0]][:, [3, 0, 1, 2, 7, 8]]
    theirs[:, 1] = 0
    assert_array_equal(ours[[0, 3]], theirs)
    separating = starts(dataset, None, initialization="mean-separating")
    assert np.array_equal(ours[[1, 2]], separating[[1, 2]])
    assert match_model(model, dataset).summary == (
        "2 of 4 labels start from the earlier model, the others mean-separating; "
        "5 of its features are known, 4 are dropped; new: 1 (x); gone: 1 (c)"
    )


@pytest.mark.parametrize(("bias", "old_bias"), [(2.0, 0.5), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_the_bias_scores_what_it_scored(tmp_path, bias, old_bias) -> None:
    features = ["a", "b", "c"]
    dataset = dataset_of(["x", "y"], features, bias=bias)
    model = model_at(tmp_path / "m.h5", ["y", "x"], features, bias=old_bias)
    ours = starts(dataset, model)[::-1]
    old = model.weights.to_scipy().toarray()
    assert_array_equal(ours[:, :3], old[:, :3])
    if bias:
        assert ours[:, 3] * bias == pytest.approx(old[:, 3] * old_bias if old_bias else [0, 0])


def test_features_score_what_they_scored_under_another_idf(tmp_path) -> None:
    """<w, x> stays the same where x is made of the same counts with other inverse document
    frequencies.
    """
    labels = ["x", "y"]
    features = ["a", "b", "new"]
    dataset = dataset_of(labels, features)
    model = model_at(tmp_path / "m.h5", labels, ["b", "a", "gone"])
    idf = np.array([1.5, 2.0, 4.0], np.float32)
    old_idf = np.array([3.0, 2.5, 1.0], np.float32)
    dataset = replace(dataset, names_in_memory=Names(labels, features, idf))
    model = replace(model, names_in_memory=Names(labels, ["b", "a", "gone"], old_idf))
    counts = np.array([2.0, 3.0, 0.0])
    old_counts = np.array([3.0, 2.0, 0.0])
    ours = starts(dataset, model) @ np.append(counts * idf, 1)
    theirs = model.weights.to_scipy() @ np.append(old_counts * old_idf, 1)
    assert ours == pytest.approx(theirs)


@pytest.mark.parametrize("named", [False, True])
def test_without_names_and_of_the_same_dataset_all_is_matched_by_position(tmp_path, named) -> None:
    labels = ["a", "a"] if named else ["0", "1"]
    features = ["f", "f", "g"]
    dataset = dataset_of(labels, features, named=named)
    model = model_at(tmp_path / "m.h5", labels, features, dataset=dataset.checksum if named else "")
    assert_array_equal(starts(dataset, model), model.weights.to_scipy().toarray())


@pytest.mark.parametrize(
    ("labels", "features", "named", "expected"),
    [
        (
            ["a"],
            ["f"] * 4,
            False,
            "has 4 features, .* has 3, and without names they cannot be matched",
        ),
        (["x"], ["f", "g", "h"], True, "none of its 1 labels is one of the 2 of"),
        (["a"], ["x", "y"], True, "none of its 2 features is one of the 3 of"),
    ],
)
def test_models_of_other_data_are_refused(tmp_path, labels, features, named, expected) -> None:
    dataset = dataset_of(["a", "b"], ["f", "g", "h"])
    model = model_at(tmp_path / "m.h5", labels, features, named=named)
    with pytest.raises(InputError, match=expected) as caught:
        match_model(model, dataset)
    assert str(caught.value).startswith(str(tmp_path / "m.h5"))


def test_an_earlier_model_must_be_given() -> None:
    with pytest.raises(InputError, match="needs an earlier model; give --earlier=MODEL"):
        starts(dataset_of(["a"], ["f"]), None)


@given(NAMES, NAMES)
def test_places_of_names(names, old_names) -> None:
    places = find_positions(names, old_names)
    found = places[places >= 0]
    assert len(set(found)) == len(found)
    assert all(
        old_names[place] == name for name, place in zip(names, places, strict=True) if place >= 0
    )
    # every name that both lists have is found, at its first place in both
    for name in set(names) & set(old_names):
        assert places[names.index(name)] == old_names.index(name)
