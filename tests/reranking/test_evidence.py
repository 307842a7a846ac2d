"""Evidence and trees against scikit-learn, SciPy and plain loops."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from ovaflow.data.dataset import open_dataset
from ovaflow.data.normalize import unit_rows
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.prediction.predictions import Predictions
from ovaflow.reranking import fitting
from ovaflow.reranking.answer_length import labels_that_fit
from ovaflow.reranking.candidates import Candidates, with_more
from ovaflow.reranking.cooccurrence import OTHERS, LabelCooccurrence
from ovaflow.reranking.evidence import COLUMNS, CandidateEvidence
from ovaflow.reranking.fitting import MOST_TREES, SETTINGS, STEP, best_number, fit_trees
from ovaflow.reranking.names import LabelNames
from ovaflow.reranking.neighbours import NEAREST, Neighbours
from ovaflow.sparse.csr import NOWHERE, from_scipy


@settings(max_examples=5)
@given(st.integers(20, 2000), st.integers(1, 6), st.integers(0, 100), st.booleans())
def test_trees_are_walked_as_scikit_learn_walks_them(n, columns, seed, coarse):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, columns)).astype(np.float32)
    if coarse:
        rows = np.round(rows)
    hits = rows[:, 0] + rng.normal(size=n) > np.median(rows[:, -1])
    theirs = HistGradientBoostingClassifier(max_iter=MOST_TREES, **SETTINGS, early_stopping=False, random_state=0)
    theirs.fit(rows, hits)
    others = np.concatenate([rows, rng.normal(0, 100, (1500, columns))]).astype(np.float32)
    ours = fit_trees(rows, hits).log_odds(others)
    assert ours == pytest.approx(theirs.decision_function(others), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("n", "noise"), [(300, 3.0), (1500, 1.0), (1500, 0.1)])
def test_as_many_trees_as_predict_other_texts_best(n, noise):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2 * n, 3)).astype(np.float32)
    hits = rows[:, 0] + noise * rng.normal(size=2 * n) > 1
    model = HistGradientBoostingClassifier(max_iter=MOST_TREES, **SETTINGS, early_stopping=False, random_state=0)
    staged = model.fit(rows[:n], hits[:n]).staged_predict_proba(rows[n:])
    losses = [log_loss(hits[n:], probabilities[:, 1]) for probabilities in staged]
    theirs = STEP * (1 + np.argmin(losses[STEP - 1 :: STEP]))
    trees = fit_trees(rows[:n], hits[:n])
    assert best_number(trees, rows[n:], hits[n:]) == theirs
    assert len(fit_trees(rows[:n], hits[:n], n_trees=theirs).roots) == theirs


@st.composite
def texts(draw):
    """Training texts, other texts, labels of the first, candidates of the others, some missing."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    n, d = draw(st.integers(1, 80)), draw(st.integers(25, 60))
    n_labels, k = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    X = scipy.sparse.random_array((n + 20, d), density=0.3, rng=rng).tocsr()
    Y = (rng.random((n, n_labels)) < 0.3).astype(np.float32)
    candidates = np.array([rng.permutation(max(n_labels, k))[:k] for _ in range(20)], np.int32)
    return X[:n], X[n:], Y, np.where(candidates < n_labels, candidates, -1).astype(np.int32)


@given(texts())
def test_votes_are_those_of_the_nearest_neighbours(made):
    X, others, Y, candidates = made
    rows, texts = unit_rows(from_scipy(X)), unit_rows(from_scipy(others))
    neighbours = Neighbours.of(rows, from_scipy(Y))
    similar = neighbours.nearest(texts)
    ours, sums = neighbours.votes(similar, candidates)
    most = neighbours.most_voted(similar, 3)
    nearest = NearestNeighbors(n_neighbors=min(NEAREST, X.shape[0]), metric="cosine").fit(X)
    for i, (distances, rows) in enumerate(zip(*nearest.kneighbors(others), strict=True)):
        cosines = 1 - distances
        assert sums[i] == pytest.approx(cosines.sum(), rel=1e-4, abs=1e-5)
        for c, label in enumerate(candidates[i]):
            votes = cosines @ Y[rows, label] if label >= 0 else 0
            theirs = votes / cosines.sum() if cosines.sum() > 1e-9 else 0
            assert ours[i, c] == pytest.approx(theirs, abs=1e-4)
        every = cosines @ Y[rows]
        named = most[i][most[i] >= 0]
        assert len(named) == min(3, (every > 1e-6).sum())
        assert every[named] == pytest.approx(np.sort(every)[::-1][: len(named)], abs=1e-4)


def test_further_candidates_follow_those_by_score_once():
    ids, scores = np.array([[3, 1, -1], [0, 2, 4]], np.int32), np.array([[2, 1, -np.inf], [3, 2, 1]], np.float32)
    lists = [np.array([[1, 5], [-1, -1]], np.int32), np.array([[5, 3, 0], [2, 1, -1]], np.int32)]
    ours, ours_scores = with_more(ids, scores, lists)
    rest = -np.inf
    assert ours.tolist() == [[3, 1, -1, 5, -1, 0, -1, -1], [0, 2, 4, -1, -1, 1, -1, -1]]
    assert ours_scores.tolist() == [[2, 1, *[rest] * 6], [3, 2, 1, *[rest] * 5]]


@given(texts())
def test_names_are_compared_as_sets_of_features_are(made):
    X, others, _, candidates = made
    names = normalize(X[np.arange(24) % X.shape[0]])
    rows = from_scipy(others)
    rows = rows._replace(places=np.random.default_rng(0).integers(0, 99, len(rows.data)).astype(np.uint16))
    # label j has two names, but for one that has none
    indptr = np.minimum(2 * np.arange(13), 22)
    phrases = names.indices[names.indptr[:-1]].astype(np.int32)
    letters = np.arange(24, dtype=np.float32)
    ours = LabelNames(from_scipy(names), indptr, phrases, letters).overlap(rows, candidates)
    for i in range(rows.n_rows):
        text = rows.part(i, i + 1)
        values = dict(zip(text.indices, text.data, strict=True))
        places = dict(zip(text.indices, text.places, strict=True))
        for c, label in enumerate(candidates[i]):
            if label < 0:
                continue
            theirs = [(0, 0, 0, NOWHERE, 0)] * int(indptr[label] == indptr[label + 1])
            for number in range(indptr[label], indptr[label + 1]):
                name = {f: value for f, value in enumerate(names.toarray()[number]) if value}
                common = [f for f in name if f in values]
                cosine = sum(values[f] * name[f] for f in common)
                share = sum(name[f] ** 2 for f in common)
                seen = [places[f] for f in common]
                where = (max(seen), max(seen) - min(seen)) if seen else (NOWHERE, 0)
                theirs.append((cosine, share, len(name), *where))
            most = max(name[1] for name in theirs)
            best = [name for name in theirs if name[1] > most - 1e-5]
            compared = [each[i, c] for each in ours[:5]]
            assert any(compared == pytest.approx(name, abs=1e-5) for name in best)
            numbers = range(indptr[label], indptr[label + 1])
            whole = [number for number in numbers if phrases[number] in values]
            first = min((places[phrases[number]] for number in whole), default=NOWHERE)
            assert ours.phrase[i, c] == first
            assert ours.letters[i, c] == max((letters[number] for number in whole), default=0)


@given(texts())
def test_company_is_counted(made):
    _, _, Y, candidates = made
    likelihoods = np.random.default_rng(0).random(candidates.shape).astype(np.float32)
    ours = LabelCooccurrence.among(from_scipy(Y)).support(candidates, likelihoods)
    sets = [set(np.flatnonzero(row).tolist()) for row in Y]
    for i, row in enumerate(candidates.tolist()):
        for c, j in enumerate(row):
            theirs = 0
            for place, other in enumerate(row[:OTHERS]):
                if min(j, other) >= 0 and j != other:
                    together = sum({j, other} <= labels for labels in sets)
                    alone = sum(other in labels for labels in sets)
                    theirs += likelihoods[i, place] * together / (alone + 1)
            assert ours[i, c] == pytest.approx(theirs, abs=1e-5)


def test_company_of_many_pairs_is_counted_in_some_texts(monkeypatch):
    Y = np.eye(4, dtype=np.float32)[[0, 0, 0, 1, 1, 1]] + np.eye(4, dtype=np.float32)[[2] * 6]
    monkeypatch.setattr("ovaflow.reranking.cooccurrence.PAIRS", 16)
    ours = LabelCooccurrence.among(from_scipy(Y)).probabilities.to_scipy().toarray()
    assert ours[2] == pytest.approx([2 / 5, 2 / 5, 0, 0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(0, 3))
def test_labels_that_fit_have_the_largest_expected_f1(probabilities, missing):
    p = sorted(probabilities, reverse=True)
    ours = labels_that_fit(np.array([p + [-np.inf] * missing], np.float64))[0]
    f1 = [2 * sum(p[:m]) / (m + sum(p)) for m in range(1, len(p) + 1)]
    assert (ours == 0) == (max(p) == 0)
    if ours:
        assert f1[ours - 1] == pytest.approx(max(f1), rel=1e-12)


@pytest.fixture(scope="module")
def evidence(folder):
    return CandidateEvidence.of(open_dataset(folder / "dataset.h5"), [2.0, -1.0])


def test_names_of_labels_are_neither_neighbours_nor_company(folder, evidence):
    dataset = open_dataset(folder / "dataset.h5")
    n = dataset.n_documents
    assert evidence.neighbours.X.n_rows == n < dataset.train.X.n_rows
    Y = dataset.train.Y.to_scipy().toarray()[:n]
    theirs = (Y.T @ Y) / (Y.sum(axis=0) + 1)[:, None] * (1 - np.eye(Y.shape[1]))
    assert evidence.company.probabilities.to_scipy().toarray() == pytest.approx(theirs)
    names = dataset.train.X.to_scipy().toarray()[n:, :-1] > 0
    labels = dataset.train.Y.indices[dataset.train.Y.indptr[n] :]
    theirs = names[np.argsort(labels, kind="stable")]
    assert np.array_equal(evidence.names.features.to_scipy().toarray() > 0, theirs)
    assert np.array_equal(np.diff(evidence.names.indptr), np.bincount(labels, minlength=dataset.n_labels))


def test_rows_of_evidence_in_their_order(folder, evidence):
    X = open_dataset(folder / "dataset.h5").test.X
    rng = np.random.default_rng(0)
    ids = np.array([rng.permutation(60)[:7] for _ in range(X.n_rows)], np.int32)
    scores = -np.sort(rng.normal(size=ids.shape).astype(np.float32))
    texts = unit_rows(X, X.n_columns - 1)
    nearest = evidence.neighbours.nearest(texts)
    columns = evidence.columns(Candidates(texts, nearest, ids, scores, np.arange(ids.shape[1])))
    rows = dict(zip(COLUMNS, np.moveaxis(columns, 2, 0), strict=True))
    votes, sums = evidence.neighbours.votes(nearest, ids)
    words = (X.to_scipy().toarray()[:, :-1] != 0).sum(axis=1)
    theirs = {
        "score": scores,
        "below the first": scores[:, [0]] - scores,
        "below the fifth": scores[:, [4]] - scores,
        "rank": np.broadcast_to(np.arange(7), ids.shape),
        "mean of the first five": np.broadcast_to(scores[:, :5].mean(axis=1)[:, None], ids.shape),
        "frequency": np.log(1 + open_dataset(folder / "dataset.h5").counts[ids]),
        "votes": votes,
        "votes of all": np.broadcast_to(sums[:, None], ids.shape),
        "whole name": np.float32(rows["share of the name"] > 0.999),
        "company": evidence.company.support(ids, expit(2 * scores - 1).astype(np.float32)),
        "known features": np.broadcast_to(words[:, None], ids.shape),
    }
    names = evidence.names.overlap(texts, ids)._asdict()
    theirs["place of the phrase"] = names.pop("phrase")
    theirs["letters of the phrase"] = names.pop("letters")
    theirs |= {f"{name} of the name": array for name, array in names.items()}
    assert set(theirs) == set(COLUMNS)
    for name, values in theirs.items():
        assert rows[name] == pytest.approx(values, abs=1e-5), name


def test_a_held_out_text_is_no_neighbour_of_itself(folder, monkeypatch):
    dataset, held = (open_dataset(folder / name) for name in ("dataset.h5", "held.h5"))
    predictions = Predictions.open(folder / "held" / "predictions.h5")
    model = OneVsAll.open(folder / "dataset" / "model.h5")
    evidence = []

    def noted(rows, *rest):
        evidence.append(rows)
        return fit_trees(rows, *rest)

    monkeypatch.setattr(fitting, "fit_trees", noted)
    fitting.fit_reranker(model, dataset, held, predictions)
    words, others = held.documents.train.X.to_scipy()[:, :-1], held.test.X.to_scipy()[:, :-1]
    nearest = NearestNeighbors(n_neighbors=NEAREST, metric="cosine").fit(words)
    distances, _ = nearest.kneighbors(others)
    ours, theirs = evidence[1][:, COLUMNS.index("votes of all")], (1 - distances).sum(axis=1)
    differences = np.abs(ours[:, None] - theirs)
    assert max(differences.min(axis=0).max(), differences.min(axis=1).max()) < 2e-3
