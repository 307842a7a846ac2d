"""Instances held out: a partition that repeated instances never cross."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.dataset.hold_out import SHORTEST_TRUNCATED, hold_out, truncate_every_third
from ovaflow.features.vocabulary import fit_features
from ovaflow.records.drawing import draw_by_hash, hash_rows, is_drawn_for_test
from ovaflow.settings.prepare import Prepare
from ovaflow.sparse.csr import NO_POSITION, from_scipy


@pytest.fixture
def dataset() -> Dataset:
    """A dataset whose test records are those of training."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((400, 40), density=0.1, rng=rng)
    Y = scipy.sparse.random_array((400, 6), density=0.3, rng=rng)
    Y.data[:] = 1
    split = Split(from_scipy(X), from_scipy(Y))
    return Dataset("memory.h5", split, split, "abc", {"bias": 0.0})


def test_the_parts_are_the_training_set(dataset) -> None:
    parts = hold_out(dataset, 0.25)
    held = draw_by_hash(dataset.units, hash_rows(dataset.train.X), 0.25)
    assert 60 < held.sum() < 140
    for part, rows in ((parts.train, ~held), (parts.test, held)):
        for ours, theirs in ((part.X, dataset.train.X), (part.Y, dataset.train.Y)):
            assert (ours.to_scipy() != theirs.to_scipy()[rows]).nnz == 0
    assert parts.parameters == {"bias": 0.0, "held_out": {"of": "abc", "fraction": 0.25, "seed": 0}}


def test_extra_instances_are_never_held_out(dataset) -> None:
    extra = {"extra": np.arange(400) >= 350, "weights": np.repeat(np.float32([1, 2]), [350, 50])}
    parts = hold_out(replace(dataset, train=replace(dataset.train, **extra)), 0.25)
    assert parts.test.extra.sum() == 0 < parts.train.extra.sum()
    assert parts.train.weights.tolist() == (1 + parts.train.extra).tolist()


def test_nothing_held_out_is_refused(dataset) -> None:
    with pytest.raises(InputError, match="0 of 400 training instances would be held out"):
        hold_out(dataset, 1e-9)


@given(st.integers(0, 99), st.booleans())
def test_each_third_text_ends_early(seed, normalized) -> None:
    rng = np.random.default_rng(seed)
    words = []
    for size in (5, 9, 300, 40, 0, 8, 80):
        words.append([f"word{number}" for number in rng.integers(60, size=size)])
    texts = [" ".join(text) for text in words]
    fitted = fit_features(texts, Prepare(min_df=1, max_df=1.0, normalize=normalized))
    norms = np.float32(fitted.norms) if normalized else None
    whole = Split(fitted.X, from_scipy(np.ones((7, 1))), norms=norms)
    ours = truncate_every_third(whole, normalized=normalized)
    for i, text in enumerate(words):
        row = ours.X.part(i, i + 1)
        before = whole.X.part(i, i + 1)
        end = row.places[row.places != NO_POSITION].astype(int).max(initial=-1) + 1
        assert end <= len(text)
        beginning = fitted.transform.transform([" ".join(text[:end])])
        assert row.indices.tolist() == beginning.indices.tolist()
        if i % 3 or len(text) <= SHORTEST_TRUNCATED:
            assert len(row.indices) == len(before.indices)
        # the weights of what is kept, of length 1 again; the last feature is the bias
        values = before.data[np.isin(before.indices, row.indices)]
        length = (normalized and np.linalg.norm(values[:-1])) or 1
        assert row.data == pytest.approx([*values[:-1] / length, 1], rel=1e-5)
        assert not normalized or ours.norms[i] == pytest.approx(whole.norms[i] * length, rel=1e-5)
    assert len(ours.X.data) < len(whole.X.data)


def test_known_values() -> None:
    assert is_drawn_for_test("a", 0.2)
    for text in ("b", "ä", "", "\ud800"):
        assert not is_drawn_for_test(text, 0.2)
