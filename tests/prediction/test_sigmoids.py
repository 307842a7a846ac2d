"""Sigmoids against scikit-learn and SciPy, and what shrinkage is for."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from ovaflow.console.errors import InputError
from ovaflow.prediction.sigmoids import (
    BEND,
    LEAST_SLOPE,
    Pairs,
    bent,
    common_lines,
    fit_bend,
    fit_common,
    fit_deviations,
    fit_sigmoids,
    pairs_of,
)

L = 300


def simulate(seed, n=3000, k=5, spread=0.7):
    """Held-out predictions of labels whose sigmoids deviate from a common one; frequent labels are predicted more."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(99)
    counts = np.maximum(1, (2000 / np.arange(1, L + 1)).astype(int))
    frequency = np.log(counts)
    level, slope = spread * fixed.normal(size=L), 4 - 0.3 * frequency + spread * fixed.normal(size=L)
    ids = np.array([rng.choice(L, k, replace=False, p=(counts + 5) / (counts + 5).sum()) for _ in range(n)], np.int32)
    scores = rng.normal(-0.4, 0.6, ids.shape).astype(np.float32)
    truth = expit(0.5 + level[ids] + slope[ids] * scores)
    return ids, scores, rng.random(ids.shape) < truth, counts


def test_pairs_stand_label_after_label():
    ids = np.int32([[2, 0], [0, -1], [2, 1]])
    scores = np.float32([[5, 4], [3, -np.inf], [2, 1]])
    pairs = pairs_of(ids, scores, np.array([[True, False], [True, False], [False, True]]))
    assert pairs.labels.tolist() == [0, 0, 1, 2, 2]
    assert pairs.rows.tolist() == [0, 1, 2, 0, 2]
    assert pairs.scores.tolist() == [4, 3, 1, 5, 2]
    assert pairs.hits.tolist() == [0, 1, 1, 1, 0]


def test_common_sigmoid_like_scikit_learn():
    ids, scores, hits, counts = simulate(0)
    pairs, frequency = pairs_of(ids, scores, hits), np.log(counts)
    f = frequency[pairs.labels]
    features = np.stack([pairs.scores, f, pairs.scores * f], axis=1)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(features, pairs.hits)
    ours = fit_common(pairs, frequency)
    assert ours == pytest.approx([theirs.intercept_[0], *theirs.coef_[0]], abs=1e-3)


def test_scores_that_make_no_error_are_not_believed_without_end():
    scores = np.linspace(-1, 1, 40)
    pairs = Pairs(np.zeros(40, np.int32), np.arange(40, dtype=np.int32), scores, (scores > 0).astype(float))
    slope, intercept = common_lines(fit_common(pairs, np.zeros(1)), np.ones(1))
    assert 5 < slope[0] < 60
    assert expit(0.05 * slope[0] + intercept[0]) < 0.95


@pytest.mark.parametrize("precisions", [(1.0, 10.0), (0.01, 0.01)])
def test_deviations_are_the_most_probable(precisions):
    pairs = pairs_of(*simulate(1, n=400)[:3])
    offsets = 0.3 + 2 * pairs.scores
    ours = fit_deviations(pairs, offsets, -0.2, precisions, L + 1)
    assert not ours[L].any()

    for label in (0, 1, 10, 200, L - 1):
        own = pairs.labels == label
        o, s, y = offsets[own], pairs.scores[own] + 0.2, pairs.hits[own]

        def loss(w, o=o, s=s, y=y):
            z = o + w[0] + w[1] * s
            return np.logaddexp(0, z).sum() - y @ z + np.dot(precisions, w**2) / 2

        assert ours[label] == pytest.approx(minimize(loss, np.zeros(2), tol=1e-12).x, abs=1e-4)


def test_a_frequent_label_has_the_sigmoid_that_scikit_learn_gives_it():
    *held_out, counts = simulate(2, n=10000, spread=0.3)
    pairs = pairs_of(*held_out)
    slope, intercept = fit_sigmoids(pairs, counts).lines(counts)
    for label in (0, 3):
        own = pairs.labels == label
        X, y = pairs.scores[own][:, None], pairs.hits[own]
        theirs = LogisticRegression(C=np.inf).fit(X, y).predict_proba(X)[:, 1]
        ours = expit(slope[label] * X[:, 0] + intercept[label])
        assert len(y) > 1000
        assert np.abs(ours - theirs).max() < 0.02


def test_shrinkage_predicts_new_instances_best():
    *held_out, counts = simulate(3)
    pairs, fresh = pairs_of(*held_out), pairs_of(*simulate(4)[:3])
    fitted = fit_sigmoids(pairs, counts)
    frequency = np.log(counts)
    offsets = (fitted.common @ [np.ones(L), 0 * frequency, frequency, 0 * frequency])[pairs.labels]
    offsets = offsets + common_lines(fitted.common, counts)[0][pairs.labels] * pairs.scores
    alone = fitted._replace(deviations=fit_deviations(pairs, offsets, fitted.middle, (1e-4, 1e-4), L))
    together = fitted._replace(deviations=np.zeros((L, 2)))
    losses = {}
    for name, sigmoids in (("shrunk", fitted), ("alone", alone), ("together", together)):
        slope, intercept = sigmoids.lines(counts)
        losses[name] = log_loss(fresh.hits, expit(slope[fresh.labels] * fresh.scores + intercept[fresh.labels]))
    assert losses["shrunk"] < losses["together"]
    assert losses["shrunk"] < losses["alone"]
    assert min(fitted.precisions) <= 10


def test_labels_that_do_not_deviate_are_shrunk_away():
    *held_out, counts = simulate(5, spread=0.0)
    assert max(fit_sigmoids(pairs_of(*held_out), counts).precisions) == 100


def test_a_higher_score_never_means_less():
    rng = np.random.default_rng(6)
    labels = np.repeat(np.arange(4, dtype=np.int32), 1000)
    scores = rng.normal(size=4000)
    hits = (rng.random(4000) < expit(np.where(labels == 0, -3, 3) * scores)).astype(float)
    counts = np.full(5, 50)
    slope, _ = fit_sigmoids(Pairs(labels, np.arange(4000) % 1000, scores, hits), counts).lines(counts)
    assert slope[0] == pytest.approx(LEAST_SLOPE * slope[4])
    assert slope[4] > 0.5
    upside_down = fit_sigmoids(Pairs(labels, np.arange(4000) % 1000, -scores, hits), counts)
    with pytest.raises(InputError, match="higher scores"):
        upside_down.lines(counts)


def test_bend_is_the_most_probable():
    rng = np.random.default_rng(7)
    z = rng.normal(-1, 2, 2000)
    hits = (rng.random(2000) < expit(np.minimum(z, 0.4 * z))).astype(float)

    def loss(b):
        log_odds = b[0] + b[1] * z + b[2] * np.maximum(z - BEND, 0)
        return np.logaddexp(0, log_odds).sum() - hits @ log_odds + np.sum((b - [0, 1, 0]) ** 2) / 2

    assert fit_bend(z, hits) == pytest.approx(minimize(loss, [0, 1, 0], tol=1e-12).x, abs=1e-4)


def test_labels_that_look_sure_are_as_often_true_as_said():
    rng, counts = np.random.default_rng(8), np.full(L, 20)
    halves = []
    for _ in range(2):
        ids, scores = rng.integers(0, L, (4000, 5), np.int32), rng.normal(-0.6, 0.5, (4000, 5))
        truth = expit(np.minimum(1 + 6 * scores, 0.5 + 2 * scores))
        halves.append(pairs_of(ids, scores, rng.random(ids.shape) < truth))
    held_out, fresh = halves
    fitted = fit_sigmoids(held_out, counts)
    slope, intercept = fitted.lines(counts)
    straight = slope[fresh.labels] * fresh.scores + intercept[fresh.labels]
    said = expit(bent(straight, fitted.bend))
    sure = said > 0.75
    assert said[sure].mean() == pytest.approx(fresh.hits[sure].mean(), abs=0.03)
    assert log_loss(fresh.hits, said) < log_loss(fresh.hits, expit(straight)) - 0.003
    assert fit_bend(np.array([-3.0, 3.0]), np.array([1.0, 0.0]))[1] >= LEAST_SLOPE
