import numpy as np
import pytest
from compare import compute_objectives
from peers import blas
from peers.interface import Peer, Problem, as_matrix
from peers.registry import METHODS, find_method

from ovaflow.console.errors import InputError
from ovaflow.evaluation.ranking import precision_of_hits
from ovaflow.model.ranked_labels import find_hits
from ovaflow.sparse.csr import from_scipy, select_rows

LABELS = np.array([0, 2, 3, 5, 8, 10])


def train_peer(name, dataset, folder, threshold=0.0) -> Peer:
    """Train a peer on some labels of a dataset."""
    method = find_method(name)
    if not method.installed:
        pytest.skip(f"{method.package} is not installed")
    kind = method.load()
    problem = Problem(
        dataset, LABELS, C=1.0, epsilon=1e-3, threshold=threshold, seed=0, folder=folder
    )
    kind.warm_up(problem)
    peer = kind(problem)
    peer.train()
    return peer


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_peer_trains_predicts_and_says_its_size(method, small_dataset, tmp_path) -> None:
    peer = train_peer(method.name, small_dataset, tmp_path, threshold=0.01)
    assert peer.model_bytes() > 0
    ids = peer.predict(small_dataset.train.X, 5)
    assert ids.shape == (400, 5)
    assert ids.max() < len(LABELS)
    assert all(len(set(row)) == 5 for row in ids.tolist())
    true = from_scipy(as_matrix(small_dataset.train.Y)[:, LABELS])
    some = np.diff(true.indptr) > 0
    by_chance = np.diff(true.indptr)[some].mean() / len(LABELS)
    assert precision_of_hits(find_hits(ids, true)[some], 1) > 1.5 * by_chance


@pytest.mark.parametrize(
    "name", [method.name for method in METHODS if method.name != "ovaflow" and not method.tree]
)
def test_one_vs_all_peers_reach_the_same_optimum(name, small_dataset, tmp_path) -> None:
    weights = train_peer(name, small_dataset, tmp_path).weights()
    if weights is None:
        pytest.skip(f"the weights of {name} cannot be read")
    (tmp_path / "own").mkdir()
    own = train_peer("ovaflow", small_dataset, tmp_path / "own").weights()
    positives = select_rows(small_dataset.positives, LABELS)
    X = small_dataset.train.X
    theirs = compute_objectives(X, positives, weights, 1.0)
    ours = compute_objectives(X, positives, own, 1.0)
    # PECOS and the dual solvers stop at their own, looser tolerance
    assert ours == pytest.approx(theirs, rel=2e-3 if "primal" in name else 3e-2)
    assert (ours <= theirs * (1 + 1e-3)).all()


def test_blas_refuses_data_that_no_array_holds(small_dataset, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(blas, "MOST_ENTRIES", 1000)
    with pytest.raises(InputError, match="too large"):
        train_peer("newton on blas", small_dataset, tmp_path)
