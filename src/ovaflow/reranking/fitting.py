"""Fit the second stage to held-out texts, whose candidates come from a model that has not seen them.

Parts of these texts first check what the trees fitted to the others are worth: where these rank no better than the
scores, trees that keep the order of the scores give the probabilities; and evidence is worth what is lost there when
its columns change places at random.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ovaflow.console.errors import InputError
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.boosted_trees import BoostedTrees, rank
from ovaflow.reranking.candidates import hits_among, n_more
from ovaflow.reranking.cross_fitting import cross_fit, ndcg_of_each
from ovaflow.reranking.evidence import BEGINNING, PIECES, CandidateEvidence, columns_with, groups_with
from ovaflow.reranking.expected_quality import LEVELS, share_left_out, sure_records
from ovaflow.reranking.first_words import labels_of_first_words
from ovaflow.reranking.name_pieces import NamePieces
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.suggestions import known_to_all
from ovaflow.settings.predict import CANDIDATES
from ovaflow.sparse.csr import rows_of

MOST = 20_000
"""Held-out texts that are used, evenly spread over all."""

FEWEST = 200
"""Held-out texts below which there is no second stage: 100 sometimes rank worse than the scores do."""

COMPARED, COMPARED_TREES = 3_000, 60
"""Held-out texts at most, and trees, that say whether a further kind of evidence is worth its time."""

SETTINGS = {"learning_rate": 0.05, "min_samples_leaf": 50, "l2_regularization": 10.0}
"""Measured on docstrings, kirjastonhoitaja and tibkat; other losses change nDCG@5 by 0.2 at most."""

MOST_TREES = 200
"""More trees change nDCG@5 by 0.2 at most; a thousand held-out texts are best served by about 100."""

LEAVES, FEW_TEXTS = 31, 1000
FEW = {"leaves": 8, "n_trees": 2 * MOST_TREES}
"""Leaves of a tree, and smaller trees, of which more are needed, for few texts: with these nDCG@5 rises by 0.1 to 1 for
300 to 900 texts, and probabilities come closer; for 3,500 it falls by 0.3."""

BY_SCORE = {
    "score": 1,
    "below the first": -1,
    "below the fifth": -1,
    "rank": -1,
    "mean of the first five": 0,
    "votes of all": 0,
    "known features": 0,
}
"""Columns of trees that keep the order of the scores: they rise or fall with it, or are alike for all candidates."""


class HeldOut(NamedTuple):
    """Held-out texts with their candidates."""

    columns: np.ndarray  # float32 (n, k, c); rows of evidence
    ids: np.ndarray  # int32 (n, k)
    hits: np.ndarray  # bool (n, k); which candidates are true
    positives: np.ndarray  # (n,); true labels of each text

    def part(self, texts):
        return HeldOut(*(array[texts] for array in self))

    def first(self, k):
        """The first k candidates of each text."""
        return HeldOut(self.columns[:, :k], self.ids[:, :k], self.hits[:, :k], self.positives)

    @property
    def candidates(self):
        """Rows of the candidates that there are, and whether they are true."""
        known = self.ids != NO_LABEL
        return self.columns[known], self.hits[known]


def fit_reranker(model, dataset, held_out, predictions, threads=1, suggestions=None, held_out_model=None):
    """Fit a second stage for a model of ``dataset`` to predictions for the test instances of ``held_out``.

    ``suggestions`` for these instances, by their :class:`Source`, are evidence; runs come first. With the model that
    made the predictions its scores of the first words may be evidence, too.
    """
    suggestions = suggestions or {}
    sources = tuple(suggestions)
    inputs = {"model": model.checksum, "held_out": held_out.checksum}
    inputs["held_out_model"] = predictions.inputs["model"]
    inputs |= {source.group: source.checksum for source in sources}
    about = {"inputs": inputs, "sources": sources}
    texts = _spread(len(predictions.ids), MOST)
    parameters = {**held_out.parameters["held_out"], "texts": len(texts)}
    ids, scores = (array[texts, :CANDIDATES] for array in (predictions.ids, predictions.scores))
    true = rows_of(held_out.test.Y, texts)
    hits = hits_among(ids, true)
    suggested = [each.take(texts) for each in suggestions.values()]
    complete = known_to_all(suggested, len(texts))
    if reason := _obstacle(complete, hits, ids != NO_LABEL):
        return Reranker(parameters=parameters | {"unused": reason}, **about)
    likelihood = fit_likelihood(ids, scores, hits)
    split = held_out.test.take(texts)
    of_first_words = _of_first_words(held_out_model, split, threads)
    # the names are those of all training texts, and the weights of their pieces say nothing of held-out texts' labels
    pieces = NamePieces.of(dataset)
    evidence = CandidateEvidence.of(held_out, likelihood, pieces, of_first_words is not None)
    pairs = _held_out(evidence, split, (ids, scores), of_first_words, suggested, threads)
    pairs, further = _with_useful_kinds(pairs, complete, evidence.further, sources, threads)
    parameters |= {"columns": columns_with(further, sources), "further": further}
    known = pairs.part(complete)
    fit, crossed, check = choose_order(known, parameters["columns"], groups_with(further, sources), threads)
    missed = count_missed(pairs, true, labels_expected(dataset, held_out))[complete]
    parameters["check"] = check | check_probabilities(crossed, missed)
    trees = fit(*known.candidates, n_trees=crossed.n_trees)
    trees_alone, runs = None, [source for source in sources if source.model is not None]
    if len(runs) < len(sources):
        files = suggested[len(runs) :]
        alone = pairs.first(pairs.ids.shape[1] - n_more(files))
        alone = alone._replace(columns=alone.columns[:, :, : len(columns_with(further, runs))])
        trees_alone = fit(*alone.candidates, n_trees=cross_fit(alone, fit).n_trees)
    evidence = CandidateEvidence.of(dataset, likelihood, pieces if PIECES in further else None, BEGINNING in further)
    return Reranker(trees, trees_alone, evidence=evidence, parameters=parameters, **about)


def _of_first_words(model, split, threads):
    """What a model says of the first words of texts; None without one, or where the order of words is unknown."""
    if model is None or split.X.places is None:
        return None
    return labels_of_first_words(model, model.instances(split), threads)


def _held_out(evidence, split, best, of_first_words, suggested, threads):
    """:class:`HeldOut` texts, of which the best labels by score are known, with all evidence."""
    X = evidence.with_pieces(split.X, split.tokens)
    candidates = evidence.candidates(X, *best, threads, suggested)
    columns, ids = evidence.columns(candidates, of_first_words, suggested), candidates.ids
    return HeldOut(columns, ids, hits_among(ids, split.Y), np.diff(split.Y.indptr))


def _with_useful_kinds(pairs, complete, kinds, sources, threads):
    """Held-out texts without further kinds of evidence that predict checked texts no better, but for chance."""
    some = np.flatnonzero(complete)
    some = some[_spread(len(some), COMPARED)]
    losses = _losses(pairs.part(some), threads)
    for kind in kinds:
        without = [each for each in kinds if each != kind]
        names, fewer = columns_with(kinds, sources), set(columns_with(without, sources))
        less = pairs._replace(columns=pairs.columns[:, :, [name in fewer for name in names]])
        losses_without = _losses(less.part(some), threads)
        gains = losses_without - losses
        if gains.mean() <= gains.std() / np.sqrt(len(gains)):
            pairs, kinds, losses = less, without, losses_without
    return pairs, kinds


def _losses(texts, threads):
    """Log loss of each text of one part by trees fitted to the others, summed over its candidates."""
    crossed = cross_fit(texts, partial(_fit_for(texts, threads), n_trees=COMPARED_TREES), amount=1)
    probabilities = crossed.probabilities
    return -np.log(np.where(crossed.texts.hits, probabilities, 1 - probabilities)).sum(axis=1)


def _obstacle(complete, hits, candidates):
    """Why no trees can be fitted; empty where they can."""
    if len(complete) < FEWEST:
        return f"{len(complete):,} instances were held out, it needs {FEWEST:,}"
    amount = int(complete.sum())
    if amount < FEWEST:
        return f"files suggest labels for {amount:,} of the held-out instances, it needs {FEWEST:,}"
    if len(np.unique(hits[complete][candidates[complete]])) < 2:
        return "the candidates of held-out instances are all wrong, or all right"
    return ""


def require_parts_of_one(dataset, held_out, made):
    """Refuse a dataset, held-out instances, and predictions or a model ``made`` of them that do not belong together."""
    if held_out.parameters.get("held_out", {}).get("of") != dataset.checksum:
        remedy = "give the held-out dataset and the dataset of one run"
        raise InputError(f"was not held out of {dataset.path}", path=held_out.path, remedy=remedy)
    made.require(dataset=held_out)


def _spread(n, most):
    """At most so many of n instances, evenly spread."""
    amount = min(n, most)
    return np.arange(amount) * n // max(amount, 1)


def fit_likelihood(ids, scores, hits):
    """Slope and intercept of the log-odds of a label over its score alone."""
    # loading scikit-learn takes a second, which a second stage of few instances does not need
    from sklearn.linear_model import LogisticRegression

    known = ids != NO_LABEL
    line = LogisticRegression().fit(scores[known].reshape(-1, 1), hits[known])
    return float(line.coef_[0, 0]), float(line.intercept_[0])


def fit_trees(rows, hits, threads=1, n_trees=MOST_TREES, leaves=LEAVES, directions=None):
    """Fit trees to rows of evidence (n, c) and whether their candidates are true.

    ``directions``: the columns that they may use, and whether log-odds rise with each (1), fall (-1), or do both (0).
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    directions = dict.fromkeys(range(rows.shape[1]), 0) if directions is None else directions
    columns = np.array(list(directions), np.int32)
    shape = {"max_iter": n_trees, "max_leaf_nodes": leaves, "monotonic_cst": list(directions.values())}
    model = HistGradientBoostingClassifier(**SETTINGS, **shape, early_stopping=False, random_state=0)
    with threadpool_limits(threads):
        model.fit(rows[:, columns], hits)
        trees = _arrays_of(model)
        trees = trees._replace(columns=columns[trees.columns])
        # nodes of scikit-learn's trees are not part of its interface
        theirs = model.decision_function(rows[:1000, columns])
        np.testing.assert_allclose(trees.log_odds(rows[:1000]), theirs, rtol=1e-9)
    return trees


def _fit_for(texts, threads):
    """How trees are fitted to so many texts: a function of rows, hits and their number."""
    return partial(fit_trees, threads=threads, **(FEW if len(texts.ids) < FEW_TEXTS else {}))


def choose_order(texts, columns, groups, threads):
    """How trees are fitted, a function of rows, hits and their number; its :class:`CrossFit`; and what was compared.

    All columns are used unless the scores rank checked texts better, by more than the standard error.
    """
    fit = _fit_for(texts, threads)
    crossed = cross_fit(texts, fit)
    by_score, by_evidence = crossed.ndcg
    gains = by_evidence - by_score
    error = float(gains.std() / max(len(gains), 1) ** 0.5)
    check = {"first_stage": float(by_score.mean()), "second_stage": float(by_evidence.mean()), "error": error}
    check["lost"] = worth_of_evidence(crossed, groups)
    if gains.mean() >= -error:
        return fit, crossed, check | {"order": "evidence"}
    fit = partial(fit, directions={columns.index(name): sign for name, sign in BY_SCORE.items()})
    return fit, cross_fit(texts, fit), check | {"order": "score"}


def _arrays_of(model):
    trees = [trees[0].nodes for trees in model._predictors]
    nodes, sizes = np.concatenate(trees), list(map(len, trees))
    roots = np.cumsum([0, *sizes[:-1]])
    children = np.stack([nodes["left"], nodes["right"]], axis=1) + np.repeat(roots, sizes)[:, None]
    leaves = nodes["is_leaf"] == 1
    children[leaves] = np.flatnonzero(leaves)[:, None]
    return BoostedTrees(
        float(model._baseline_prediction.item()),
        roots.astype(np.int64),
        np.array([tree["depth"].max() for tree in trees], np.int64),
        nodes["feature_idx"].astype(np.int32),
        np.where(leaves, np.inf, nodes["num_threshold"]),
        children.astype(np.int32),
        nodes["value"].astype(np.float64),
    )


def worth_of_evidence(crossed, groups):
    """What is lost without each kind of evidence, in nDCG@5."""
    trees, check = crossed.trees, crossed.first_part
    whole, lost, end = _ndcg(trees, check, check.columns), {}, 0
    random = np.random.default_rng(0)
    for name, group in groups.items():
        start, end = end, end + len(group)
        columns, shuffled = check.columns.copy(), random.permutation(len(check.columns))
        columns[:, :, start:end] = columns[shuffled, :, start:end]
        lost[name] = whole - _ndcg(trees, check, columns)
    return lost


def _ndcg(trees, check, columns):
    _, order = rank(trees, columns, check.ids)
    return float(ndcg_of_each(np.take_along_axis(check.hits, order, axis=1), check.positives).mean())


def check_probabilities(crossed, missed):
    """What the probabilities of checked texts are worth, of all of which ``missed`` (n,) true labels are no candidates.

    ``missed``: their number for each text whose labels that fit leave out all that its candidates promise;
    ``sure``: what is right where answers seem to be.
    """
    probabilities, hits = crossed.ranked
    left_out = share_left_out(probabilities).sum()
    return {
        "texts": len(crossed.places),
        "log_loss": crossed.log_loss,
        "missed": float(missed[crossed.places].sum() / left_out) if left_out else 0.0,
        "sure": sure_records(LEVELS, probabilities, hits),
    }


def count_missed(texts, true, expected):
    """Labels of each text that are no candidates, of those that are ``expected`` of new texts: (n,)."""
    found = np.count_nonzero(texts.hits & expected[texts.ids], axis=1)
    return (true.to_scipy() > 0) @ expected.astype(np.int64) - found


def labels_expected(dataset, held_out):
    """Which labels of held-out texts new texts may have, too: bool (l,).

    Those that only held-out texts have are known to the model in use; where one text alone has a label, and there are
    labels that no text has, it stands for these.
    """
    rest, all_ = (np.bincount(each.documents.train.Y.indices, minlength=each.n_labels) for each in (held_out, dataset))
    return (rest > 0) | ((all_ == 1) & np.any(all_ == 0))
