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
from ovaflow.tuning.pruning import (
    MEASURED_THRESHOLDS,
    PRUNE_KIND,
    choose_prune,
    find_threshold,
    resolve_threshold,
)

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
    thresholds = sorted({*MEASURED_THRESHOLDS, choice["chosen"]})
    assert [point["prune"] for point in choice["points"]] == thresholds
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
    change_at = {point["prune"]: point["change"]["nDCG@5"] for point in choice["points"]}
    assert choice["chosen"] <= 0.05
    assert change_at[choice["chosen"]]["mean"] == 0
    assert change_at[0.07]["mean"] < -10 * change_at[0.07]["error"]


def simulate_scores(rng, n, loss_at_largest, power=2.0, deviation=0.0) -> np.ndarray:
    """Simulate scores of n instances at each threshold: (thresholds, n).

    Their mean loss grows with a power of the threshold, and the changes of each instance add up to
    a random walk.
    """
    growth = np.power(MEASURED_THRESHOLDS, power)
    growth = (growth - growth[0]) / (growth[-1] - growth[0])
    steps = rng.normal(size=(len(growth), n)) * np.sqrt(np.diff(growth, prepend=0))[:, None]
    return 0.6 - loss_at_largest * growth[:, None] + deviation * steps.cumsum(axis=0)


@pytest.mark.parametrize("loss_at_largest", [0.0011, 0.003, 0.01, 0.03, 0.2])
def test_the_choice_loses_a_tenth_of_a_point_where_all_instances_lose_alike(
    loss_at_largest,
) -> None:
    theirs = 0.0
    for threshold in np.arange(0.01, 0.2, 0.0001):
        loss = loss_at_largest * (threshold**2 - 0.01**2) / (0.2**2 - 0.01**2)
        if loss <= 0.001:
            theirs = threshold
    scores = simulate_scores(np.random.default_rng(0), 10, loss_at_largest)
    assert find_threshold(scores) == pytest.approx(theirs, abs=0.0006)


# losses at 0.2 and their deviations on docstrings, nDCG@5 and PSP@5, and 12,000 records of tibkat
@pytest.mark.parametrize(
    ("loss_at_largest", "deviation"), [(0.017, 0.10), (0.028, 0.16), (0.008, 0.13)]
)
@pytest.mark.parametrize("power", [1.5, 2, 3])
def test_samples_lead_to_nearly_the_same_choice(loss_at_largest, deviation, power) -> None:
    rng = np.random.default_rng(0)
    choices = []
    for _ in range(10):
        scores = simulate_scores(rng, 2500, loss_at_largest, power, deviation)
        choices.append(find_threshold(scores))
    assert max(choices) / min(choices) <= 1.5


def test_the_fewer_instances_the_less_is_dropped() -> None:
    rng = np.random.default_rng(0)
    choices = []
    for n in (80, 800, 8000, 80_000):
        choices.append(find_threshold(simulate_scores(rng, n, 0.001, deviation=0.15)))
    assert choices == sorted(set(choices))


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
