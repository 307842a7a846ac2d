"""Every way to search a model of one-vs-all, against SciPy's product and a full sort."""

from dataclasses import replace
from pathlib import Path

import naive
import numpy as np
import pytest
from callees import call
from commands import ovaflow
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from synthetic import write_topics

from ovaflow.console.errors import InputError
from ovaflow.model.index import (
    IndexPanel,
    build_panel,
    error_bound,
    index_path,
    open_index,
    panel_ranges,
    upper_bounds,
    write_index,
)
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.top_k import (
    SCANS_BEFORE_INDEX,
    predict_top_k,
    score_every_label,
    score_labels,
    search_index,
    sort_every_score,
)
from ovaflow.prediction.predictor import Predictor
from ovaflow.settings.train import TrainLabels
from ovaflow.sparse.csr import CSR, from_scipy, select_rows
from ovaflow.sparse.weight_rows import round_weights
from ovaflow.training.shard_job import train_model

# whole numbers: float32 sums are exact and ties are frequent
WHOLE = st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, 2.0, -0.5])
WILD = st.floats(-4, 4, width=32) | st.sampled_from([0.0, 0.0, 1e-38, 1e-20, 1e4, -1e4])


@st.composite
def draw_problems(draw, values=WHOLE) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw instances, weights, and which labels are trained."""
    n = draw(st.integers(0, 4))
    n_labels = draw(st.integers(1, 12))
    d = draw(st.integers(1, 6))
    X = draw(arrays(np.float32, (n, d), elements=values))
    W = draw(arrays(np.float32, (n_labels, d), elements=values))
    bias = draw(st.sampled_from([None, -1.0, -3.0]))
    if bias is not None:
        X[:, -1] = 1
        W[:, -1] = bias
    return X, W, draw(arrays(bool, n_labels))


def build_panels(weights, trained, size) -> list[IndexPanel]:
    """Build panels of as many labels each."""
    panels = []
    for first, end in panel_ranges(weights.n_rows, size):
        panels.append(build_panel(weights, trained, first, end))
    return panels


def assert_same(ours, theirs) -> None:
    """Check that ids and scores are the same."""
    for our_array, their_array in zip(ours, theirs, strict=True):
        assert np.array_equal(our_array, their_array)


@pytest.mark.parametrize("form", [lambda weights: weights, round_weights])
@given(draw_problems(), arrays(bool, 12), st.integers(1, 14), st.integers(1, 12), st.integers(1, 3))
@example(
    (np.zeros((2, 1), np.float32), np.zeros((12, 1), np.float32), np.ones(12, bool)),
    np.ones(12),
    3,
    5,
    2,
)
def test_like_brute_force(form, problem, allowed, k, panel, threads) -> None:
    X, W, trained = problem
    theirs = naive.top_k(X, W, trained, k)
    allowed = allowed[: len(W)] > 0
    weights = form(from_scipy(W))
    instances = from_scipy(X)
    panels = build_panels(weights, trained, panel)
    ours = predict_top_k(weights, trained, instances, k, quiet=True, panels=panels, allowed=allowed)
    assert_same(ours, naive.top_k(X, W, trained & allowed, k))
    for ours in (
        search_index(panels, weights, instances, k, threads),
        score_every_label(weights, trained, instances, k, threads),
        sort_every_score(weights, trained, instances, k),
        predict_top_k(weights, trained, instances, k, threads),
    ):
        assert_same(ours, theirs)
        assert (ours[0].dtype, ours[1].dtype) == (np.int32, np.float32)


def score_in_float32(X, W) -> np.ndarray:
    """Sum scores one feature after the other, in float32."""
    return np.add.accumulate(X[:, None, :] * W[None, :, :], axis=2, dtype=np.float32)[:, :, -1]


@given(draw_problems(WILD), st.integers(1, 5))
def test_float32_by_ascending_features(problem, k) -> None:
    X, W, trained = problem
    theirs = np.where(trained, score_in_float32(X, W), -np.inf)
    weights = from_scipy(W)
    instances = from_scipy(X)
    labels = np.arange(len(W), dtype=np.int32)
    assert np.array_equal(score_labels(weights, instances, labels)[:, trained], theirs[:, trained])
    order = np.argsort(-theirs, axis=1, kind="stable")[:, :k]
    for ours in (
        score_every_label(weights, trained, instances, k),
        search_index(build_panels(weights, trained, 5), weights, instances, k),
    ):
        for ids, values, scores, ranked in zip(*ours, theirs, order, strict=True):
            found = ids[ids >= 0]
            assert np.array_equal(found, ranked[trained[ranked]])
            assert np.array_equal(values[: len(found)], scores[found])


@pytest.mark.parametrize("form", [lambda weights: weights, round_weights])
@given(draw_problems(WILD))
@example((np.full((1, 2), 1e-38, np.float32), np.eye(1, 2, dtype=np.float32), np.ones(1, bool)))
@example((np.full((1, 4), 3e-45, np.float32), np.ones((3, 4), np.float32) / 3, np.ones(3, bool)))
def test_the_error_bound_holds(form, problem) -> None:
    X, W, trained = problem
    weights = form(from_scipy(W))
    instances = from_scipy(X)
    W = weights.to_scipy().toarray()
    panel = build_panel(weights, trained, 0, len(W))
    exact = X.astype(float) @ W.astype(float).T
    summed = score_in_float32(X, W)
    out = np.empty(len(W), np.float32)
    in_lists = np.append(panel.dense_row[:-1] < 0, False)
    kept = X.astype(float) @ np.where(in_lists & (W < 0) & (-panel.cut < W), 0, W).astype(float).T
    for i in range(len(X)):
        start = instances.indptr[i]
        end = instances.indptr[i + 1]
        call(upper_bounds, instances.data, instances.indices, start, end, panel, out)
        bound = call(error_bound, instances.data, instances.indices, start, end, panel)
        assert ((exact[i] - out)[trained] <= bound).all()
        assert ((summed[i] - out)[trained] <= bound).all()
        assert (np.abs(out - kept[i])[trained] <= bound).all()
        assert (out[~trained] == -np.inf).all()


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> tuple[Path, CSR]:
    """A model in which some features are in most labels, most in few, and instances."""
    folder = tmp_path_factory.mktemp("model")
    dataset = write_topics(folder / "dataset.h5", n=800, d=300, n_labels=400)
    train_model(dataset, TrainLabels(stored_threshold=0.0), 0.02).write(folder / "model.h5")
    return folder / "model.h5", dataset.test.X


def test_one_by_one_together_and_from_disk(model) -> None:
    path, X = model
    together = Predictor.open(path).top_k(X, 7)
    assert_same(Predictor.open(path).top_k(X, 7, threads=3), together)
    alone = Predictor.open(path)
    for i in range(SCANS_BEFORE_INDEX + 10):
        ours = alone.top_k(select_rows(X, np.array([i])), 7, threads=2)
        assert_same(ours, [part[i : i + 1] for part in together])
    all_ids, _ = alone.top_k(select_rows(X, np.arange(3)), 2000)
    assert np.array_equal(all_ids[:, :7], together[0][:3])
    assert (all_ids >= 0).sum(axis=1).tolist() == [alone.model.trained.sum()] * 3
    ovaflow("index", path)
    mapped = Predictor.open(path)
    assert open_index(mapped.model) is not None
    assert_same(mapped.top_k(X, 7), together)
    assert_same(mapped.model.top_k(X, 7, 2), together)
    index_path(path).unlink()


def test_the_index_of_another_model_or_scheme_is_not_used(model, monkeypatch) -> None:
    path, _ = model
    opened = OneVsAll.open(path)
    with monkeypatch.context() as earlier:
        earlier.setattr("ovaflow.model.index.INDEX_SCHEME", 2)
        write_index(index_path(path), opened)
    assert open_index(opened) is None
    write_index(index_path(path), opened)
    assert open_index(replace(opened, checksum="another")) is None
    assert open_index(opened) is not None
    index_path(path).write_bytes(index_path(path).read_bytes()[:5000])
    with pytest.raises(InputError, match="damaged"):
        open_index(opened)
    index_path(path).unlink()
