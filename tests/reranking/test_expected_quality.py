"""Promises of answers, against labels drawn by their probabilities and scikit-learn's means over
records.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import precision_score

from ovaflow.model.ranked_labels import find_hits
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.expected_quality import estimate_quality, measure_sure_records
from ovaflow.reranking.fitting import count_missed, mark_expected_labels
from ovaflow.reranking.held_out_candidates import HeldOutCandidates
from ovaflow.sparse.csr import CSR, offsets


@pytest.fixture(scope="module")
def probabilities_and_answers() -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of candidates by falling value, the fourth text without any, and answers among
    them.
    """
    rng = np.random.default_rng(1)
    candidates = -np.sort(-rng.beta(0.5, 1, (400, 8)), axis=1)
    candidates[3] = -np.inf
    return candidates, np.where(rng.random((400, 8)) < 0.4, candidates, -np.inf)


def test_promises_are_the_means_of_labels_drawn_by_their_probabilities(
    probabilities_and_answers,
) -> None:
    candidates, answers = probabilities_and_answers
    ours = estimate_quality(answers, candidates, missed=2.0)
    rng = np.random.default_rng(2)
    hits = rng.random((4000, *candidates.shape), np.float32) < candidates
    inside = np.isfinite(answers)
    # some true labels are no candidates, the more the more of these do not fit
    fit = np.arange(8) < count_fitting_labels(candidates)[:, None]
    left_out = np.ones(400)
    for text, p in enumerate(np.maximum(candidates, 0)):
        if sum(p) > 0:
            left_out[text] = 1 - sum(p[fit[text]]) / sum(p)
    n_missed = rng.poisson(2 * left_out, (4000, 400))
    true = hits.sum(axis=2).mean(axis=0) + n_missed.mean(axis=0)
    right = (hits & inside).sum(axis=2).mean(axis=0)
    amounts = inside.sum(axis=1)
    some = amounts > 0
    assert_allclose(ours.precision[some], right[some] / amounts[some], atol=0.04)
    assert_allclose(ours.recall, right / true, atol=0.04)
    assert_allclose(ours.errors, amounts + true - 2 * right, atol=0.2)
    assert np.isnan(ours.precision[~some]).all()
    assert (ours.recall[3], ours.errors[3]) == (0, 2)


def make_labelled_texts(n_labels, texts) -> SimpleNamespace:
    """Make a dataset of texts that have these labels, as far as they are counted."""
    indptr = offsets([len(labels) for labels in texts])
    indices = np.concatenate(texts)
    Y = CSR(np.ones(len(indices), np.float32), indices.astype(np.int32), indptr, n_labels)
    return SimpleNamespace(counts=np.bincount(Y.indices, minlength=n_labels), Y=Y)


@pytest.mark.parametrize(("n_labels", "theirs"), [(5, [1, 1]), (6, [2, 1])])
def test_missed_are_labels_that_new_texts_may_have_and_candidates_lack(n_labels, theirs) -> None:
    # 3 is of both held-out texts alone, 4 of one of them; that stands for labels without texts,
    # where there are such
    held = [[0, 1, 3, 4], [2, 3]]
    rest = [[0, 1], [0, 2]]
    true = make_labelled_texts(n_labels, held).Y
    expected = mark_expected_labels(
        make_labelled_texts(n_labels, rest + held), make_labelled_texts(n_labels, rest)
    )
    ids = np.array([[0, 3], [1, -1]], np.int32)
    texts = HeldOutCandidates([], None, ids, find_hits(ids, true), np.array([4, 2]))
    assert count_missed(texts, true, expected).tolist() == theirs


def test_sure_records_like_scikit_learn(probabilities_and_answers) -> None:
    candidates = np.maximum(probabilities_and_answers[0], 0)
    hits = np.random.default_rng(3).random(candidates.shape) < candidates**1.2
    inside = np.arange(8) < count_fitting_labels(candidates)[:, None]
    means = np.ma.array(candidates, mask=~inside).mean(axis=1).filled(0)
    for row in measure_sure_records((0.5, 0.7, 0.9), candidates, hits):
        sure = means >= row["level"]
        assert (row["records"], row["instances"]) == (sure.sum(), sure.mean())
        assert row["labels"] == inside[sure].sum()
        assert row["expected"] == pytest.approx(candidates[sure][inside[sure]].mean())
        theirs = precision_score(hits[sure], inside[sure], average="micro")
        assert row["right"] == pytest.approx(theirs)
    assert measure_sure_records([0.9], candidates / 2, hits)[0]["right"] is None
