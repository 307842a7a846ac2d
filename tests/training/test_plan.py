"""The shard plan: complete, balanced, and read back with errors that name the line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.artifacts.label_tree import compute_label_tree
from ovaflow.console.errors import InputError
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.texts import write_lines
from ovaflow.training.plan import HEADER, estimated_work, plan_shards, read_plan, write_plan

works = st.lists(st.floats(0, 1e6), min_size=1, max_size=60).map(np.array)


def random_tree(seed, n_labels):
    """A label tree, and positives of the labels."""
    Y = np.random.default_rng(seed).random((10, n_labels)) < 0.3
    return compute_label_tree(from_scipy(Y.astype(np.float32))), Y.sum(axis=0)


@given(works, st.integers(1, 20))
def test_every_label_stands_in_exactly_one_shard(work, n_shards):
    shards = plan_shards(work, n_shards)
    assert len(shards) == n_shards
    np.testing.assert_array_equal(np.sort(np.concatenate(shards)), np.arange(len(work)))
    assert all((np.diff(labels) > 0).all() for labels in shards)


@given(works, st.integers(1, 20))
def test_largest_shard_is_within_a_label_of_the_mean(work, n_shards):
    loads = [work[labels].sum() for labels in plan_shards(work, n_shards)]
    assert max(loads) <= work.sum() / n_shards + work.max() + 1e-6


@given(works, st.integers(1, 20), st.integers(0, 1000))
def test_subtrees_that_fit_stay_whole_and_depth_first(work, n_shards, seed):
    tree, counts = random_tree(seed, len(work))
    shards = plan_shards(work, n_shards, tree, counts)
    np.testing.assert_array_equal(np.sort(np.concatenate(shards)), np.arange(len(work)))
    position = np.argsort(tree.order)
    assert all((np.diff(position[labels]) > 0).all() for labels in shards)
    where = [set(tree.subtree[labels]) for labels in shards]
    whole = np.flatnonzero(np.bincount(tree.subtree, weights=work) <= work.sum() / n_shards)
    assert all(sum(subtree in each for each in where) == 1 for subtree in whole)


@pytest.mark.parametrize(("n_labels", "n_shards", "theirs"), [(10, 4, [3, 3, 2, 2]), (2, 5, [1, 1, 0, 0, 0])])
def test_equal_labels_are_dealt_out(n_labels, n_shards, theirs):
    assert [len(labels) for labels in plan_shards(np.ones(n_labels), n_shards)] == theirs


def test_no_shards_are_refused():
    with pytest.raises(InputError, match="at least 1"):
        plan_shards(np.ones(2), 0)


def test_work_grows_with_positives():
    work = estimated_work([0, 1, 10, 1000])
    assert (np.diff(work) > 0).all()
    assert work[0] < 0.1 < work[1]


@given(works, st.integers(1, 8), st.booleans())
def test_file_gives_back_what_was_written(tmp_path_factory, work, n_shards, tree):
    path = tmp_path_factory.mktemp("plan") / "shards.tsv"
    shards = plan_shards(work, n_shards, *(random_tree(0, len(work)) if tree else ()))
    write_plan(path, shards, work)
    for shard, labels in enumerate(shards):
        again = read_plan(path, shard, len(work))
        assert again.dtype == np.int32
        np.testing.assert_array_equal(again, labels)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["0\t0\t1", "0\t1"], "line 3: expected shard, label and work"),
        (["0\t0\t1", "0\tone\t1"], "line 3: expected shard, label and work"),
        (["0\t0\t1", ""], "line 3: expected shard, label and work"),
        (["0\t0\t1", "1\t0\t1"], "line 3: label 0 appears twice; run `ovaflow plan` again"),
        (["0\t2\t1", "0\t1\t1"], "line 2: label 2 of 2"),
        (["0\t-1\t1"], "line 2: .*not negative"),
        (["-1\t0\t1"], "line 2: .*not negative"),
        (["0\t0\tnan"], "line 2: .*finite"),
        (["0\t0\t1"], "1 of 2 labels"),
    ],
)
def test_bad_lines_are_named(tmp_path, lines, complaint):
    path = tmp_path / "shards.tsv"
    write_lines(path, "plan", [HEADER, *lines])
    with pytest.raises(InputError, match=complaint):
        read_plan(path, 0, 2)


def test_bad_files_are_named(tmp_path):
    path = tmp_path / "shards.tsv"
    with pytest.raises(InputError, match="no such file"):
        read_plan(path, 0)
    write_lines(path, "plan", ["label\twork"])
    with pytest.raises(InputError, match="line 1: expected the header"):
        read_plan(path, 0)
    for content in (HEADER.encode() + b"\n\xff\n", b"", f"{HEADER}\n".encode()):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not a plan file"):
            read_plan(path, 0)
