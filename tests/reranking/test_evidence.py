"""Evidence and trees against scikit-learn, SciPy and plain loops."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from plain_evidence import PLAIN_COLUMNS, PLAIN_KINDS, fit_plain_evidence
from scipy.special import expit
from scipy.stats import wasserstein_distance
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from ovaflow.features.normalize import copy_unit_rows
from ovaflow.model.index import LARGEST_DENSE, panel_ranges
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.reranking import cross_fitting, fitting
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.boosted_trees import LEARNING_RATE, MAX_TREES, TREE_SETTINGS, fit_trees
from ovaflow.reranking.candidates import Candidates, append_candidates
from ovaflow.reranking.cross_fitting import (
    ENOUGH_CHECKED_TEXTS,
    N_FOLDS,
    TREE_STEP,
    compute_ndcg,
    count_checked_folds,
    cross_fit,
)
from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.evidence.name_in_text import NameInText
from ovaflow.reranking.evidence.names import LabelNames
from ovaflow.reranking.evidence.other_candidates import (
    N_SUPPORTING,
    OtherCandidates,
    count_cooccurrence,
)
from ovaflow.reranking.evidence.similar_texts import N_NEAREST, SimilarTexts
from ovaflow.reranking.held_out_candidates import HeldOutCandidates
from ovaflow.sparse.csr import NO_POSITION, from_scipy


def make_classifier() -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_iter=MAX_TREES,
        learning_rate=LEARNING_RATE,
        **TREE_SETTINGS,
        early_stopping=False,
        random_state=0,
    )


@settings(max_examples=5)
@given(st.integers(20, 2000), st.integers(1, 6), st.integers(0, 100), st.booleans())
def test_trees_are_walked_as_scikit_learn_walks_them(n, columns, seed, coarse) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, columns)).astype(np.float32)
    if coarse:
        rows = np.round(rows)
    hits = rows[:, 0] + rng.normal(size=n) > np.median(rows[:, -1])
    others = np.concatenate([rows, rng.normal(0, 100, (1500, columns))]).astype(np.float32)
    ours = fit_trees(rows, hits).compute_log_odds(others)
    theirs = make_classifier().fit(rows, hits).decision_function(others)
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)


def test_columns_that_are_alike_everywhere_change_nothing() -> None:
    rows = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    wider = np.insert(rows, [0, 2, 2, 4, 4], 3, axis=1)
    hits = rows[:, 0] > rows[:, 3]
    ours = fit_trees(wider, hits).compute_log_odds(wider)
    theirs = fit_trees(rows, hits).compute_log_odds(rows)
    assert np.array_equal(ours, theirs)


def make_held_out_texts(n, noise) -> HeldOutCandidates:
    """Held-out texts with ten candidates each, the last of every third missing."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(n, 10, 3)).astype(np.float32)
    ids = np.tile(np.arange(10), (n, 1))
    ids[::3, -1] = -1
    hits = (columns[:, :, 0] + noise * rng.normal(size=(n, 10)) > 1) & (ids >= 0)
    return HeldOutCandidates([], columns, ids, hits, hits.sum(axis=1) + rng.integers(0, 2, n))


@pytest.mark.parametrize("noise", [3.0, 1.0, 0.1])
def test_as_many_trees_as_predict_other_texts_best_like_scikit_learn(noise) -> None:
    texts = make_held_out_texts(100, noise)
    theirs = np.zeros((MAX_TREES // TREE_STEP, 100, 10))
    ours = cross_fit(texts, fit_trees)
    folds = np.arange(100) % N_FOLDS
    known = texts.ids >= 0
    for fold in range(N_FOLDS):
        others = texts.select(folds != fold)
        model = make_classifier().fit(others.rows, others.row_hits)
        rows = texts.evidence_values[folds == fold].reshape(-1, 3)
        stages = list(model.staged_predict_proba(rows))[TREE_STEP - 1 :: TREE_STEP]
        theirs[:, folds == fold] = np.array(stages)[:, :, 1].reshape(len(stages), -1, 10)
    losses = [log_loss(texts.hits[known], each[known]) for each in theirs]
    assert ours.n_trees == TREE_STEP * (1 + np.argmin(losses))
    assert [len(trees.roots) for trees in ours.trees] == [ours.n_trees] * N_FOLDS
    assert ours.log_loss == pytest.approx(min(losses))
    best = np.where(known, theirs[np.argmin(losses)], 0)[ours.places]
    assert_allclose(ours.probabilities, best, atol=1e-9)
    order = np.argsort(-best, axis=1, kind="stable")
    hits_by_probability = np.take_along_axis(ours.texts.hits, order, axis=1)
    by_score, by_probability = ours.ndcg
    assert by_score == pytest.approx(compute_ndcg(ours.texts.hits, ours.texts.positives))
    assert by_probability == pytest.approx(compute_ndcg(hits_by_probability, ours.texts.positives))


@pytest.mark.parametrize(("times", "n_folds"), [(0.2, 4), (1, 4), (2, 2), (3, 2), (4, 1), (20, 1)])
def test_few_texts_are_all_checked_and_many_in_part(times, n_folds) -> None:
    assert count_checked_folds(ENOUGH_CHECKED_TEXTS * times) == n_folds


def test_trees_by_score_keep_its_order(held, held_predictions) -> None:
    evidence = fit_plain_evidence(held)
    found = evidence.prepare_texts(held.test.X, None)
    candidates = evidence.find_candidates(found, held_predictions.ids, held_predictions.scores)
    columns = evidence.compute(candidates)
    known = candidates.ids >= 0
    hits = np.random.default_rng(0).random(candidates.ids.shape) < expit(candidates.scores)
    directions = {}
    for kind in PLAIN_KINDS:
        for name, direction in kind.directions.items():
            directions[PLAIN_COLUMNS.index(name)] = direction
    trees = fit_trees(columns[known], hits[known], directions=directions)
    assert set(trees.columns[np.isfinite(trees.thresholds)]) <= set(directions)
    probabilities = trees.compute_probabilities(columns, candidates.ids)
    for ours, present in zip(probabilities, known, strict=True):
        assert (np.diff(ours[present]) <= 0).all()


@st.composite
def draw_text_problems(draw) -> tuple:
    """Draw training texts, other texts, labels of the first, and candidates of the others, some
    missing.
    """
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    n = draw(st.integers(1, 80))
    d = draw(st.integers(25, 60))
    n_labels = draw(st.integers(1, 12))
    k = draw(st.integers(1, 12))
    X = scipy.sparse.random_array((n + 20, d), density=0.3, rng=rng).tocsr()
    Y = (rng.random((n, n_labels)) < 0.3).astype(np.float32)
    candidates = np.array([rng.permutation(max(n_labels, k))[:k] for _ in range(20)], np.int32)
    return X[:n], X[n:], Y, np.where(candidates < n_labels, candidates, -1).astype(np.int32)


@given(draw_text_problems(), st.booleans(), st.sampled_from([1, 3]))
def test_nearest_texts_are_those_by_cosine_but_for_rounding(problem, negative, panels) -> None:
    X, others, Y, _ = problem
    if negative:
        X.data -= 0.5
    rows = copy_unit_rows(from_scipy(X))
    texts = copy_unit_rows(from_scipy(others))
    theirs = (texts.to_scipy() @ rows.to_scipy().T).toarray()
    # half a step of 8 bits for each common feature
    largest = abs(rows.to_scipy()).max(axis=0).toarray()
    rounding = (abs(texts.to_scipy()) @ largest * 0.51 / LARGEST_DENSE + 1e-5).reshape(-1, 1)
    k = min(N_NEAREST, X.shape[0])
    kth = -np.sort(-theirs, axis=1)[:, [k - 1]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "ovaflow.model.index.panel_ranges", partial(panel_ranges, size=-(-X.shape[0] // panels))
        )
        neighbours = SimilarTexts.index(rows, from_scipy(Y))
    ids, ours = neighbours.find_nearest(texts)
    assert ids.shape[1] == k
    exact = np.take_along_axis(theirs, ids.astype(int), axis=1)
    assert (abs(ours - exact) <= rounding).all()
    assert (exact >= kth - 2 * rounding).all()
    assert (np.diff(ours) <= 0).all()
    assert all(len(set(row)) == k for row in ids.tolist())


def test_nearest_texts_do_not_depend_on_threads_and_batches(evidence, dataset) -> None:
    texts = copy_unit_rows(dataset.test.X, dataset.n_text_features)
    similar = evidence.get(SimilarTexts)
    theirs = similar.find_nearest(texts, threads=1)
    threaded = similar.find_nearest(texts, threads=3)
    assert np.array_equal(threaded.texts, theirs.texts)
    assert np.array_equal(threaded.cosines, theirs.cosines)
    for i in range(texts.n_rows):
        ours = similar.find_nearest(texts.part(i, i + 1))
        assert np.array_equal(ours.texts[0], theirs.texts[i])
        assert np.array_equal(ours.cosines[0], theirs.cosines[i])


@given(draw_text_problems())
def test_votes_are_those_of_the_nearest_texts(problem) -> None:
    X, others, Y, candidates = problem
    texts = copy_unit_rows(from_scipy(others))
    neighbours = SimilarTexts.index(copy_unit_rows(from_scipy(X)), from_scipy(Y))
    similar = neighbours.find_nearest(texts)
    ours, sums = neighbours.count_votes(similar, candidates)
    most = neighbours.find_most_voted(similar, 3)
    for i, (rows, cosines) in enumerate(zip(similar.texts, similar.cosines, strict=True)):
        votes = cosines @ Y[rows]
        total = cosines.sum()
        assert sums[i] == pytest.approx(total, rel=1e-4, abs=1e-5)
        shares = np.append(votes / total if total > 1e-9 else 0 * votes, 0)
        assert ours[i] == pytest.approx(shares[candidates[i]], abs=1e-4)
        named = most[i][most[i] >= 0]
        # a vote near 0 is rounded to 0 or not
        assert min(3, (votes > 1e-5).sum()) <= len(named) <= min(3, (votes > 0).sum())
        assert votes[named] == pytest.approx(np.sort(votes)[::-1][: len(named)], abs=1e-4)


def test_further_candidates_follow_those_by_score_once() -> None:
    best = np.array([[3, 1, -1]], np.int32)
    lists = [np.array([[1, 5]], np.int32), np.array([[5, 3, 0]], np.int32)]
    ids, scores = append_candidates(best, np.float32([[2, 1, -np.inf]]), lists)
    assert ids.tolist() == [[3, 1, -1, 5, -1, 0, -1, -1]]
    assert scores[0, :2].tolist() == [2, 1]
    assert np.all(scores[0, 2:] == -np.inf)


def compare_name(name, text, places) -> list[float]:
    """Compute cosine, share and length of a name, and its place and spread in a text."""
    common = (name != 0) & (text != 0)
    place = NO_POSITION
    spread = 0
    if common.any():
        place = places[common].max()
        spread = np.ptp(places[common])
    return [name @ text, np.sum(name[common] ** 2), np.count_nonzero(name), place, spread]


@given(draw_text_problems())
def test_names_are_compared_as_sets_of_features_are(problem) -> None:
    X, others, _, candidates = problem
    names = normalize(X[np.arange(24) % X.shape[0]])
    rows = from_scipy(others)
    dense = others.toarray()
    places = np.random.default_rng(0).integers(0, 99, dense.shape).astype(np.uint16)
    rows = rows._replace(places=places[dense != 0])
    # label j has two names, but for one that has none
    indptr = np.minimum(2 * np.arange(13), 22)
    phrases = names.indices[names.indptr[:-1]].astype(np.int32)
    letters = np.arange(24, dtype=np.float32)
    ours = LabelNames(from_scipy(names), indptr, phrases, letters).compare(rows, candidates)
    for i, c in np.argwhere(candidates >= 0):
        label = candidates[i, c]
        numbers = np.arange(indptr[label], indptr[label + 1])
        theirs = [compare_name(names.toarray()[number], dense[i], places[i]) for number in numbers]
        theirs = theirs or [[0, 0, 0, NO_POSITION, 0]]
        most = max(share for _, share, _, _, _ in theirs)
        best = [name for name in theirs if name[1] > most - 1e-5]
        found = [column[i, c] for column in ours[:5]]
        assert any(found == pytest.approx(name, abs=1e-5) for name in best)
        whole = numbers[dense[i, phrases[numbers]] != 0]
        assert ours.phrase[i, c] == places[i, phrases[whole]].min(initial=NO_POSITION)
        assert ours.letters[i, c] == letters[whole].max(initial=0)


def estimate_cooccurrence(Y) -> np.ndarray:
    """P(j | i) of a text more than there are."""
    return (Y.T @ Y) / (Y.sum(axis=0) + 1)[:, None] * (1 - np.eye(Y.shape[1]))


@given(draw_text_problems())
def test_cooccurrence_is_counted(problem) -> None:
    _, _, Y, candidates = problem
    likelihoods = np.random.default_rng(0).random(candidates.shape).astype(np.float32)
    evidence = OtherCandidates(count_cooccurrence(from_scipy(Y)), np.array([1.0, 0.0]))
    ours = evidence.compute_support(candidates, likelihoods)
    # the last stands for no candidate
    together = np.pad(estimate_cooccurrence(Y), (0, 1))
    for i, row in enumerate(candidates):
        theirs = likelihoods[i, :N_SUPPORTING] @ together[np.ix_(row[:N_SUPPORTING], row)]
        assert ours[i] == pytest.approx(theirs, abs=1e-5)


def test_cooccurrence_of_many_pairs_is_counted_in_some_texts(monkeypatch) -> None:
    Y = np.eye(4, dtype=np.float32)[[0, 0, 0, 1, 1, 1]] + np.eye(4, dtype=np.float32)[[2] * 6]
    monkeypatch.setattr("ovaflow.reranking.evidence.other_candidates.MAX_COUNTED_PAIRS", 16)
    ours = count_cooccurrence(from_scipy(Y)).to_scipy().toarray()
    assert ours[2] == pytest.approx([2 / 5, 2 / 5, 0, 0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(0, 3))
def test_labels_that_fit_have_the_largest_expected_f1(probabilities, missing) -> None:
    p = sorted(probabilities, reverse=True)
    ours = count_fitting_labels(np.array([p + [-np.inf] * missing]))[0]
    f1 = [0.0]
    for m in range(1, len(p) + 1):
        f1.append(2 * sum(p[:m]) / (m + sum(p)))
    assert f1[ours] == pytest.approx(max(f1), rel=1e-12)
    assert (ours == 0) == (max(p) == 0)


@pytest.fixture(scope="module")
def evidence(dataset) -> CandidateEvidence:
    return fit_plain_evidence(dataset, (2.0, -1.0))


def test_names_of_labels_are_neither_neighbours_nor_cooccurrence(dataset, evidence) -> None:
    n = dataset.n_documents
    X = dataset.train.X.to_scipy().toarray()
    Y = dataset.train.Y.to_scipy().toarray()
    assert evidence.get(SimilarTexts).labels.n_rows == n < len(X)
    assert evidence.get(OtherCandidates).cooccurrence.to_scipy().toarray() == pytest.approx(
        estimate_cooccurrence(Y[:n])
    )
    names = evidence.get(NameInText).names
    labels = Y[n:].argmax(axis=1)
    theirs = X[n:, :-1][np.argsort(labels, kind="stable")] > 0
    assert np.array_equal(names.names.to_scipy().toarray() > 0, theirs)
    assert np.array_equal(
        np.diff(names.names_of_labels), np.bincount(labels, minlength=dataset.n_labels)
    )


def test_rows_of_evidence_in_their_order(dataset, evidence) -> None:
    rng = np.random.default_rng(0)
    X = dataset.test.X
    ids = np.array([rng.permutation(60)[:7] for _ in range(X.n_rows)], np.int32)
    scores = -np.sort(rng.normal(size=ids.shape).astype(np.float32))
    texts = copy_unit_rows(X, X.n_columns - 1)
    nearest = evidence.get(SimilarTexts).find_nearest(texts)
    columns = evidence.compute(
        Candidates(evidence.prepare_texts(X, None), ids, scores, np.arange(7))
    )
    votes, sums = evidence.get(SimilarTexts).count_votes(nearest, ids)
    names = evidence.get(NameInText).names.compare(texts, ids)
    theirs = {
        "score": scores,
        "below the first": scores[:, [0]] - scores,
        "below the fifth": scores[:, [4]] - scores,
        "rank": np.arange(7),
        "mean of the first five": scores[:, :5].mean(axis=1)[:, None],
        "frequency": np.log(1 + dataset.counts[ids]),
        "votes": votes,
        "votes of all": sums[:, None],
        "whole name": names.share > 0.999,
        "place of the phrase": names.phrase,
        "letters of the phrase": names.letters,
        "company": evidence.get(OtherCandidates).compute_support(
            ids, expit(2 * scores - 1).astype(np.float32)
        ),
        "known features": (X.to_scipy().toarray()[:, :-1] != 0).sum(axis=1)[:, None],
    }
    for name in ("cosine", "share", "length", "place", "spread"):
        theirs[f"{name} of the name"] = getattr(names, name)
    assert set(theirs) == set(PLAIN_COLUMNS)
    for name, ours in zip(PLAIN_COLUMNS, np.moveaxis(columns, 2, 0), strict=True):
        assert_allclose(ours, np.broadcast_to(theirs[name], ours.shape), atol=1e-5, err_msg=name)


def test_a_held_out_text_is_no_neighbour_of_itself(
    dataset, held, held_predictions, model, monkeypatch
) -> None:
    evidence = []

    def record_rows(rows, hits, weights, **settings):
        evidence.append(rows)
        return fit_trees(rows, hits, weights, **settings)

    monkeypatch.setattr(cross_fitting, "fit_trees", record_rows)
    fitting.fit_reranker(OneVsAll.open(model), dataset, held, held_predictions)
    words = held.documents.train.X.to_scipy()[:, :-1]
    others = held.test.X.to_scipy()[:, :-1]
    nearest = NearestNeighbors(n_neighbors=N_NEAREST, metric="cosine").fit(words)
    distances, _ = nearest.kneighbors(others)
    ours = evidence[-1][:, PLAIN_COLUMNS.index("votes of all")]
    theirs = (1 - distances).sum(axis=1)
    # each text would add its cosine of 1 to itself
    assert wasserstein_distance(np.unique(ours), theirs) < 0.02
