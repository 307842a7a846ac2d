"""The second stage where only some labels are wanted."""

import numpy as np
import pytest
from scipy.special import expit

from ovaflow.data.dataset import open_dataset
from ovaflow.prediction.predictor import Predictor
from ovaflow.reranking.evidence import COLUMNS
from ovaflow.settings.predict import CANDIDATES


@pytest.fixture(scope="module")
def predictor(folder):
    return Predictor.open(folder / "dataset" / "model.h5")


@pytest.fixture(scope="module")
def X(folder):
    return open_dataset(folder / "dataset.h5").test.X.part(0, 100)


def test_excluded_labels_leave_all_others_as_they_are(predictor, X):
    frequent = predictor.label_names[int(predictor.model.counts.argmax())]
    allowed = predictor.allowed(exclude=[frequent, "*5"])
    every = predictor.top_k(X, CANDIDATES)
    ours = predictor.top_k(X, 5, allowed=allowed)
    for row, (ids, probabilities) in enumerate(zip(*every, strict=True)):
        before = dict(zip(ids, probabilities, strict=True))
        after = dict(zip(*(part[row] for part in ours), strict=True))
        assert allowed[list(after)].all()
        # labels that were no candidates may have come in between
        more = {label for label in before if allowed[label] and before[label] > ours[1][row, -1]}
        assert more <= after.keys()
        assert all(after[label] == before[label] for label in before.keys() & after.keys())
        assert ours[0][row, 0] in before


def test_few_labels_are_ranked_by_their_own_scores(predictor, X):
    n_labels, model = predictor.n_labels, predictor.model
    allowed = np.arange(n_labels) % 9 == 3
    ids, probabilities = predictor.top_k(X, n_labels, allowed=allowed)
    assert all(sorted(row[row >= 0]) == np.flatnonzero(allowed).tolist() for row in ids)
    # all labels as candidates, ranked as far as there are ranks
    evidence, (best, scores) = model.reranker.evidence, model.first_stage.top_k(X, n_labels)
    candidates = evidence.candidates(X, best, scores)
    columns = evidence.columns(candidates)[:, :n_labels].copy()
    rank = COLUMNS.index("rank")
    columns[:, :, rank] = np.minimum(columns[:, :, rank], CANDIDATES - 1)
    theirs = expit(model.reranker.trees.log_odds(columns.reshape(-1, len(COLUMNS)))).reshape(best.shape)
    voted = evidence.neighbours.most_voted(candidates.nearest, 10)
    compared = 0
    for row in range(X.n_rows):
        # candidates of similar texts alone have no score
        known = {*best[row, :CANDIDATES], *(set(best[row]) - set(voted[row]))}
        for label in known & set(ids[row]):
            ours = probabilities[row][ids[row] == label]
            assert ours == pytest.approx(theirs[row][best[row] == label], rel=1e-5)
            compared += label in best[row, CANDIDATES:]
    assert compared > 50
