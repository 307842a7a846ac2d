"""The start at an earlier model, whose weights are matched by the names of labels and features."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from solving import compute_starts, make_memory_dataset

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.initialization.pretrained import find_positions, match_model
from ovaflow.model.model_file import Names
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.sparse.csr import from_scipy

NAMES = st.lists(st.text("abc", max_size=3), max_size=12)


def make_dataset(
    labels: list[str], features: list[str], bias: float = 1.0, n: int = 30, *, named: bool = True
) -> Dataset:
    """Make a dataset whose features have names or not."""
    rng = np.random.default_rng(0)
    X = rng.random((n, len(features))) * (rng.random((n, len(features))) < 0.4)
    if bias:
        X = np.hstack([X, np.full((n, 1), bias)])
    Y = (rng.random((n, len(labels))) < 0.3).astype(float)
    Y[0] = 1
    names = Names(labels, features if named else [])
    return replace(
        make_memory_dataset(X, Y),
        parameters={"bias": bias},
        checksum="its own",
        names_in_memory=names,
    )


def make_model(
    path: Path,
    labels: list[str],
    features: list[str],
    bias: float = 1.0,
    trained: np.ndarray | None = None,
    dataset: str = "",
    *,
    named: bool = True,
) -> OneVsAll:
    """Write and open a model of random weights; ``dataset`` is the checksum of its dataset."""
    if trained is None:
        trained = np.ones(len(labels), bool)
    shape = (len(labels), len(features) + bool(bias))
    rng = np.random.default_rng(1)
    weights = sp.random_array(shape, density=0.5, rng=rng, dtype=np.float32)
    model = OneVsAll(
        weights=from_scipy(weights.multiply(trained[:, None])),
        trained=trained,
        counts=np.ones(len(labels), int),
        parameters={"transform": {"bias": bias}},
        inputs={"dataset": dataset},
        names_in_memory=Names(labels, features if named else []),
    )
    model.write(path)
    return OneVsAll.open(path)


def compute_pretrained_starts(dataset: Dataset, model: OneVsAll) -> np.ndarray:
    """Compute the start of every label at a model, dense."""
    earlier = match_model(model, dataset)
    return compute_starts(dataset, earlier, initialization="pretrained")


def test_labels_and_features_are_matched_by_name(tmp_path) -> None:
    labels = list("dbxa")
    features = ["f3", "new", "f1", "f2", "f7"]
    dataset = make_dataset(labels, features)
    model = make_model(
        tmp_path / "m.h5",
        list("abcd"),
        [f"f{j}" for j in range(8)],
        trained=np.array([True, False, True, True]),
    )
    ours = compute_pretrained_starts(dataset, model)
    # of d and a: f3, what is new, f1, f2, f7 and the bias
    theirs = model.weights.to_scipy().toarray()[[3, 0]][:, [3, 0, 1, 2, 7, 8]]
    theirs[:, 1] = 0
    assert_array_equal(ours[[0, 3]], theirs)
    separating = compute_starts(dataset, initialization="mean-separating")
    assert np.array_equal(ours[[1, 2]], separating[[1, 2]])
    assert match_model(model, dataset).summary == (
        "2 of 4 labels start from the earlier model, the others mean-separating; "
        "5 of its features are known, 4 are dropped; new: 1 (x); gone: 1 (c)"
    )


@pytest.mark.parametrize(("bias", "old_bias"), [(2.0, 0.5), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_the_bias_has_the_same_score_as_before(tmp_path, bias, old_bias) -> None:
    features = ["a", "b", "c"]
    dataset = make_dataset(["x", "y"], features, bias=bias)
    model = make_model(tmp_path / "m.h5", ["y", "x"], features, bias=old_bias)
    ours = compute_pretrained_starts(dataset, model)[::-1]
    old = model.weights.to_scipy().toarray()
    assert_array_equal(ours[:, :3], old[:, :3])
    if bias:
        assert ours[:, 3] * bias == pytest.approx(old[:, 3] * old_bias if old_bias else [0, 0])


def test_a_text_has_the_same_score_under_another_idf(tmp_path) -> None:
    labels = ["x", "y"]
    features = ["a", "b", "new"]
    dataset = make_dataset(labels, features)
    model = make_model(tmp_path / "m.h5", labels, ["b", "a", "gone"])
    idf = np.array([1.5, 2.0, 4.0], np.float32)
    old_idf = np.array([3.0, 2.5, 1.0], np.float32)
    dataset = replace(dataset, names_in_memory=Names(labels, features, idf))
    model = replace(model, names_in_memory=Names(labels, ["b", "a", "gone"], old_idf))
    counts = np.array([2.0, 3.0, 0.0])
    old_counts = np.array([3.0, 2.0, 0.0])
    ours = compute_pretrained_starts(dataset, model) @ np.append(counts * idf, 1)
    theirs = model.weights.to_scipy() @ np.append(old_counts * old_idf, 1)
    assert ours == pytest.approx(theirs)


@pytest.mark.parametrize("named", [False, True])
def test_without_names_or_of_the_same_dataset_all_is_matched_by_position(tmp_path, named) -> None:
    labels = ["a", "a"] if named else ["0", "1"]
    features = ["f", "f", "g"]
    dataset = make_dataset(labels, features, named=named)
    checksum = dataset.checksum if named else ""
    model = make_model(tmp_path / "m.h5", labels, features, dataset=checksum)
    assert_array_equal(
        compute_pretrained_starts(dataset, model), model.weights.to_scipy().toarray()
    )


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
    dataset = make_dataset(["a", "b"], ["f", "g", "h"])
    model = make_model(tmp_path / "m.h5", labels, features, named=named)
    with pytest.raises(InputError, match=expected) as caught:
        match_model(model, dataset)
    assert str(caught.value).startswith(str(tmp_path / "m.h5"))


def test_an_earlier_model_must_be_given() -> None:
    with pytest.raises(InputError, match="needs an earlier model; give --earlier=MODEL"):
        compute_starts(make_dataset(["a"], ["f"]), initialization="pretrained")


@given(NAMES, NAMES)
def test_positions_of_names(names, old_names) -> None:
    positions = find_positions(names, old_names)
    found = positions[positions >= 0]
    assert len(set(found)) == len(found)
    for name, position in zip(names, positions, strict=True):
        assert position < 0 or old_names[position] == name
    # every name that both lists have is found, at its first position in both
    for name in set(names) & set(old_names):
        assert positions[names.index(name)] == old_names.index(name)
