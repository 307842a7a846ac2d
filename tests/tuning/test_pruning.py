"""The choice of the prune threshold, against dense weights and scores."""

import json

import naive
import numpy as np
import pytest
from commands import ovaflow
from finished_run import make_run_with_every_method
from synthetic import write_weights

from ovaflow.dataset.dataset import Split, open_dataset, write_dataset
from ovaflow.evaluation.metrics import compute_ranking_metrics
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.texts import write_json
from ovaflow.tuning.pruning import CANDIDATE_THRESHOLDS, PRUNE_KIND, choose_prune, resolve_threshold

A = 0.55
B = 1.5


@pytest.fixture
def make_case(tmp_path):
    """A dataset in which features stand for labels, and a model with noise on the weights of all
    other features.
    """

    def make(noise, n=400, d=30, n_labels=8):
        rng = np.random.default_rng(0)
        Y = (rng.random((n, n_labels)) < 0.2).astype(np.float32)
        X = np.hstack([Y, rng.random((n, d - n_labels)), np.ones((n, 1))]).astype(np.float32)
        X[:, :-1] /= np.linalg.norm(X[:, :-1], axis=1, keepdims=True)
        split = Split(from_scipy(X), from_scipy(Y))
        names = [f"n{number}" for number in range(d + 1)]
        about = {"bias": 1.0, "normalize": True}
        write_dataset(tmp_path / "dataset.h5", split, split, names[:n_labels], names, about)
        weights = rng.choice(noise, (n_labels, d + 1)).astype(np.float32)
        weights[:, :n_labels] = np.eye(n_labels)
        weights[:, -1] = -1
        dataset = open_dataset(tmp_path / "dataset.h5")
        return write_weights(tmp_path / "model.h5", dataset, weights, prune=0.01), dataset

    return make


def measure_without_small_weights(model, dataset, threshold) -> dict[str, float]:
    """nDCG@5 and PSP@5 of dense weights without the small ones."""
    dense = model.weights.to_scipy().toarray()
    X = dataset.test.X.to_scipy().toarray()
    Y = dataset.test.Y
    dense[np.abs(dense) < np.float32(threshold)] = 0
    ids, _ = naive.top_k(X, dense, model.trained, 5)
    metrics = compute_ranking_metrics(ids, Y, dataset.inverse_propensity(A, B))
    return {name: metrics[name] for name in ("nDCG@5", "PSP@5")}


def test_differences_are_those_of_the_metrics(make_case) -> None:
    model, dataset = make_case([-0.3, -0.08, 0.02, 0.04, 0.12, 0.18])
    choice = choose_prune(model, dataset, A, B)
    before = measure_without_small_weights(model, dataset, 0.01)
    assert [point["prune"] for point in choice["points"]] == list(CANDIDATE_THRESHOLDS)
    for point in choice["points"]:
        theirs = measure_without_small_weights(model, dataset, point["prune"])
        ours = {name: change["mean"] for name, change in point["change"].items()}
        assert ours == pytest.approx(
            {name: theirs[name] - before[name] for name in theirs}, abs=1e-6
        )


@pytest.mark.parametrize(
    ("noise", "chosen"),
    [
        # all of it can go, and is missed by nobody
        ([-0.04, 0.04], 0.2),
        ([-0.09, 0.09, 0.0], 0.2),
        ([0.0], 0.2),
    ],
)
def test_what_is_noise_goes(make_case, noise, chosen) -> None:
    assert choose_prune(*make_case(noise), A, B)["chosen"] == chosen


def test_what_is_needed_stays(make_case) -> None:
    model, dataset = make_case([0.0])
    small = model.weights.data
    # so that labels are told apart by weights of 0.06
    small[:-1] *= np.where(small[:-1] == 1, np.float32(0.06), 1)
    choice = choose_prune(model, dataset, A, B)
    assert choice["chosen"] == 0.05
    lost = choice["points"][list(CANDIDATE_THRESHOLDS).index(0.07)]["change"]["nDCG@5"]
    assert lost["mean"] < -10 * lost["error"]
    # and no larger one either, though nothing more is lost from there on
    assert choice["points"][-1]["change"]["nDCG@5"]["mean"] == pytest.approx(lost["mean"], abs=0.1)


def test_what_auto_is(make_case, tmp_path) -> None:
    _, dataset = make_case([0.0])
    write_json(tmp_path / "chosen.json", PRUNE_KIND, {"chosen": 0.07})
    assert resolve_threshold(0.03, dataset) == 0.03
    for path, theirs in (None, 0.05), (tmp_path / "chosen.json", 0.07):
        assert resolve_threshold("auto", dataset, path) == theirs
    dataset.parameters["normalize"] = False
    assert resolve_threshold("auto", dataset) == 0.01


def test_on_the_command_line(make_once, tmp_path) -> None:
    finished = make_run_with_every_method(make_once)
    chosen = tmp_path / "chosen.json"
    files = f"--dataset={finished['held']}"
    said = ovaflow("choose-prune", finished["held_shard"], files, f"--output={chosen}")
    assert "chosen: " in said.splitlines()[-1]
    said = ovaflow(
        "merge",
        finished["held_shard"],
        files,
        f"--chosen-prune={chosen}",
        f"--output={tmp_path}/model.h5",
        f"--statistics={tmp_path}/training.h5",
    )
    ours = OneVsAll.open(tmp_path / "model.h5").parameters["prune"]
    assert ours == json.loads(chosen.read_text())["chosen"]
    assert f"those of at least {ours:g}" in said
