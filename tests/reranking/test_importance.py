"""Permutation importance of kinds of evidence, against scikit-learn."""

from functools import partial

import numpy as np
import pytest
from sklearn.inspection import permutation_importance
from sklearn.metrics import ndcg_score

from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.boosted_trees import fit_trees
from ovaflow.reranking.choice_of_evidence import compute_permutation_importance
from ovaflow.reranking.cross_fitting import CrossFit, cross_fit
from ovaflow.reranking.evidence.frequency import Frequency
from ovaflow.reranking.evidence.score import Score
from ovaflow.reranking.evidence.text_length import TextLength
from ovaflow.reranking.held_out_candidates import HeldOutCandidates

N_TEXTS = 1400
N_CANDIDATES = 10
KINDS = [Score, Frequency, TextLength]


@pytest.fixture(scope="module")
def crossed() -> CrossFit:
    """Trees of three checked folds: hits depend on scores and a little on frequencies.

    Candidates are in the order of their scores, and every third text lacks the last one.
    """
    rng = np.random.default_rng(0)
    shape = (N_TEXTS, N_CANDIDATES)
    scores = -np.sort(-rng.normal(size=shape), axis=1)
    frequencies = rng.normal(size=shape)
    ids = np.tile(np.arange(N_CANDIDATES), (N_TEXTS, 1))
    ids[::3, -1] = NO_LABEL
    hits = scores + 0.4 * frequencies + rng.normal(size=shape) > 1
    hits &= ids != NO_LABEL
    ranks = np.broadcast_to(np.arange(N_CANDIDATES), shape)
    evidence = np.stack(
        [
            scores,
            scores[:, :1] - scores,
            scores[:, 4:5] - scores,
            ranks,
            np.repeat(scores[:, :5].mean(axis=1, keepdims=True), N_CANDIDATES, axis=1),
            frequencies,
            np.repeat(rng.normal(size=(N_TEXTS, 1)), N_CANDIDATES, axis=1),
        ],
        axis=2,
    )
    texts = HeldOutCandidates(KINDS, evidence.astype(np.float32), ids, hits, hits.sum(axis=1))
    crossed = cross_fit(texts, partial(fit_trees, n_trees=30))
    assert len(crossed.trees) == 3
    return crossed


class RankerOfRowNumbers:
    """An estimator whose features are, for each kind of evidence, the row with its columns.

    So scikit-learn permutes all columns of a kind together.
    """

    def __init__(self, crossed: CrossFit) -> None:
        self.crossed = crossed
        self.exists = crossed.texts.ids != NO_LABEL
        folds_of_texts = crossed.places % 4
        self.folds = np.repeat(folds_of_texts[:, None], N_CANDIDATES, axis=1)[self.exists]

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Do nothing: the trees are fitted."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Compute log-odds by the trees of the folds."""
        rows = self.crossed.texts.rows
        blocks = [rows[X[:, 0], :5], rows[X[:, 1], 5:6], rows[X[:, 2], 6:7]]
        evidence = np.hstack(blocks)
        log_odds = np.empty(len(evidence))
        for fold, trees in enumerate(self.crossed.trees):
            is_in_fold = self.folds == fold
            log_odds[is_in_fold] = trees.compute_log_odds(evidence[is_in_fold])
        return log_odds

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        """Compute the mean nDCG@5 of texts that have a label."""
        hits = self.crossed.texts.hits
        log_odds = np.full(hits.shape, -100.0)
        log_odds[self.exists] = self.predict(X)
        has_label = hits.any(axis=1)
        return float(ndcg_score(hits[has_label], log_odds[has_label], k=5))


def test_importance_is_that_of_scikit_learn(crossed) -> None:
    ours = compute_permutation_importance(crossed)
    ranker = RankerOfRowNumbers(crossed)
    hits = crossed.texts.row_hits
    X = np.repeat(np.arange(len(hits))[:, None], len(KINDS), axis=1)
    _, by_probability = crossed.ndcg
    assert by_probability.mean() == pytest.approx(ranker.score(X, hits), abs=1e-4)
    theirs = permutation_importance(ranker, X, hits, n_repeats=8, random_state=0)
    assert list(ours) == ["score", "frequency", "length of the text"]
    for kind, mean, deviation in zip(
        ours, theirs.importances_mean, theirs.importances_std, strict=True
    ):
        assert ours[kind] == pytest.approx(mean, abs=4 * deviation), kind
    assert ours["score"] > 0.2 > ours["frequency"] > 0.01
