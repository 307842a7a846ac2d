"""Thresholds against brute force."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from ovaflow.prediction import calibrate
from ovaflow.prediction.calibrate import GRID, PRIOR_POSITIVES, choose_thresholds

COUNTS = np.array([400, 30, 3, 3, 3, 1])


@pytest.fixture(scope="module")
def problem():
    """Log-odds and truth of every label for each instance; the last two labels have no positives."""
    rng = np.random.default_rng(0)
    truth = rng.random((4000, 6)) < np.array([0.3, 0.02, 0.002, 0.002, 0.0, 0.0])
    log_odds = rng.normal(np.where(truth, 1, -4), 1.5)
    return log_odds, truth


def choose(log_odds, truth, keep=None):
    labels = np.repeat(np.arange(6, dtype=np.int32), len(truth))
    flat = log_odds.T.reshape(-1), truth.T.reshape(-1).astype(float)
    kept = np.ones(len(labels), bool) if keep is None else keep
    return choose_thresholds(labels[kept], *(each[kept] for each in flat), truth.sum(axis=0), COUNTS)


def test_the_largest_f1_of_a_frequent_label_and_of_all(problem):
    log_odds, truth = problem
    ours, common = choose(log_odds, truth)
    f1 = [f1_score(truth[:, 0], log_odds[:, 0] >= threshold) for threshold in GRID[100:181:4]]
    assert f1_score(truth[:, 0], log_odds[:, 0] >= ours[0]) > max(f1) - 0.002
    near = [threshold for threshold in GRID if abs(threshold - common) < 1]
    f1 = [f1_score(truth.ravel(), (log_odds >= threshold).ravel()) for threshold in near]
    assert common == near[np.argmax(f1)]


def test_rare_labels_lean_on_those_of_their_frequency(problem):
    log_odds, truth = problem
    ours = choose(log_odds, truth)
    r = PRIOR_POSITIVES

    def counts(labels, threshold):
        chosen = log_odds[:, labels] >= threshold
        return (chosen & truth[:, labels]).sum(), chosen.sum(), truth[:, labels].sum()

    def f1(label, threshold):
        tp, n, p = counts([label], threshold)
        tp_all, n_all, p_all = counts(range(6), threshold)
        tp_group, n_group, p_group = counts([2, 3, 4], threshold)
        t, m = (tp_group + r * tp_all / p_all) / (p_group + r), (n_group + r * n_all / p_all) / (p_group + r)
        return 2 * (tp + r * t) / (p + r + n + r * m)

    for label in (2, 3, 4):
        theirs = max(GRID, key=lambda threshold: f1(label, threshold))
        assert ours[0][label] == pytest.approx(theirs)


def test_blocks_and_pairs_below_the_grid_change_nothing(problem, monkeypatch):
    log_odds, truth = problem
    once = choose(log_odds, truth)
    monkeypatch.setattr(calibrate, "_BLOCK", 2)
    blocked = choose(log_odds, truth)
    assert np.array_equal(blocked[0], once[0])
    above = (log_odds >= GRID[0]).T.reshape(-1)
    assert not above.all()
    assert np.array_equal(choose(log_odds, truth, above)[0], once[0])
