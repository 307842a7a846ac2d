"""The second stage where only some labels are wanted."""

import numpy as np
import pytest

from ovaflow.prediction.predictor import Predictor
from ovaflow.reranking.evidence.similar_texts import SimilarTexts
from ovaflow.settings.predict import N_CANDIDATES


def pair_labels(ids, probabilities) -> list[dict[int, float]]:
    return [dict(zip(*row, strict=True)) for row in zip(ids, probabilities, strict=True)]


def test_allowed_labels_are_ranked_as_all_are_and_few_by_their_own_scores(dataset, model) -> None:
    predictor = Predictor.open(model)
    X = predictor.from_split(dataset.test).part(0, 100)
    n_labels = predictor.n_labels
    model = predictor.model
    allowed = np.arange(n_labels) % 9 == 3
    ids, probabilities = predictor.top_k(X, n_labels, allowed=allowed)
    assert all(sorted(row[row >= 0]) == np.flatnonzero(allowed).tolist() for row in ids)
    assert (np.diff(np.maximum(probabilities, 0)) <= 0).all()
    first = predictor.top_k(X, 5, allowed=allowed)
    assert np.array_equal(first, [ids[:, :5], probabilities[:, :5]])
    # all labels as candidates, ranked as far as there are ranks
    evidence = model.reranker.evidence
    (best, scores) = model.first_stage.top_k(dataset.test.X.part(0, 100), n_labels)
    candidates = evidence.find_candidates(
        evidence.prepare_texts(X, model.first_stage), best, scores
    )
    columns = evidence.compute(candidates)[:, :n_labels].copy()
    rank = evidence.column_names.index("rank")
    columns[:, :, rank] = np.minimum(columns[:, :, rank], N_CANDIDATES - 1)
    theirs = pair_labels(best, model.reranker.trees.compute_probabilities(columns, best))
    voted = evidence.get(SimilarTexts).suggest_candidates(candidates.texts)
    compared = 0
    for row, ours in enumerate(pair_labels(ids, probabilities)):
        # candidates of similar texts alone have no score
        further = set(best[row, N_CANDIDATES:])
        for label in ours.keys() & theirs[row].keys() - (further & set(voted[row])):
            assert ours[label] == pytest.approx(theirs[row][label], rel=1e-5)
            compared += label in further
    assert compared > 50
