"""Fit the second stage to held-out texts, whose candidates come from a model that has not seen them.

Each fourth of these texts first checks what the trees fitted to the others are worth: a second stage that does not
raise nDCG@5 there is not used, and evidence is worth what is lost there when its columns change places at random.
"""

from typing import NamedTuple

import numpy as np
import scipy
from threadpoolctl import threadpool_limits

from ovaflow.console.errors import InputError
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.boosted_trees import BoostedTrees, rank
from ovaflow.reranking.candidates import hits_among, n_more
from ovaflow.reranking.evidence import BEGINNING, FURTHER, CandidateEvidence, columns_with, groups_with
from ovaflow.reranking.expected_quality import LEVELS, sure_records
from ovaflow.reranking.first_words import labels_of_first_words
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.suggestions import known_to_all
from ovaflow.settings.predict import CANDIDATES
from ovaflow.sparse.csr import rows_of

MOST = 20_000
"""Held-out texts that are used, evenly spread over all."""

FEWEST = 200
"""Held-out texts below which there is no second stage: 100 sometimes rank worse than the scores do."""

COMPARED, COMPARED_TREES = 6_000, 100
"""Held-out texts at most, and trees, that say whether a further kind of evidence is worth its time."""

CHECKED = 4
"""Each fourth held-out text checks what the others say."""


SETTINGS = {"learning_rate": 0.05, "min_samples_leaf": 50, "l2_regularization": 10.0}
"""Measured on docstrings, kirjastonhoitaja and tibkat; other losses change nDCG@5 by 0.2 at most."""

MOST_TREES, STEP = 200, 20
"""More trees change nDCG@5 by 0.2 at most; a thousand held-out texts are best served by about 100."""


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
    further = [kind for kind in FURTHER if kind != BEGINNING or of_first_words is not None]
    evidence = CandidateEvidence.of(held_out, likelihood, further)
    candidates = evidence.candidates(evidence.with_pieces(split.X, split.tokens), ids, scores, threads, suggested)
    rows, ids = evidence.columns(candidates, of_first_words, suggested), candidates.ids
    pairs = HeldOut(rows, ids, hits_among(ids, true), np.diff(true.indptr))
    pairs, further = _with_useful_kinds(pairs, complete, evidence.further, sources, threads)
    parameters |= {"columns": columns_with(further, sources), "further": further}
    known = pairs.part(complete)
    fitted, trees = _fit(known, threads)
    check = check_trees(fitted, known.part(_checked(known)), groups_with(further, sources))
    parameters["check"] = check
    if check["second_stage"] <= check["first_stage"]:
        reason = "it ranks held-out instances no better than the scores do"
        return Reranker(parameters=parameters | {"unused": reason}, **about)
    trees_alone, runs = None, [source for source in sources if source.model is not None]
    if len(runs) < len(sources):
        files = suggested[len(runs) :]
        alone = pairs.first(ids.shape[1] - n_more(files))
        _, trees_alone = _fit(alone._replace(columns=alone.columns[:, :, : len(columns_with(further, runs))]), threads)
    evidence = CandidateEvidence.of(dataset, likelihood, further)
    return Reranker(trees, trees_alone, evidence=evidence, parameters=parameters, **about)


def _of_first_words(model, split, threads):
    """What a model says of the first words of texts; None without one, or where the order of words is unknown."""
    if model is None or split.X.places is None:
        return None
    return labels_of_first_words(model, model.instances(split), threads)


def _with_useful_kinds(pairs, complete, kinds, sources, threads):
    """Held-out texts without further kinds of evidence that predict checked texts no better, but for chance."""
    some = np.flatnonzero(complete)
    some = some[_spread(len(some), COMPARED)]
    for kind in kinds:
        without = [each for each in kinds if each != kind]
        names, fewer = columns_with(kinds, sources), set(columns_with(without, sources))
        less = pairs._replace(columns=pairs.columns[:, :, [name in fewer for name in names]])
        gains = _losses(less.part(some), threads) - _losses(pairs.part(some), threads)
        if gains.mean() <= gains.std() / np.sqrt(len(gains)):
            pairs, kinds = less, without
    return pairs, kinds


def _losses(texts, threads):
    """Log loss of each checked text by trees fitted to the others, summed over its candidates."""
    checked = _checked(texts)
    trees, rest = fit_trees(*texts.part(~checked).candidates, threads, COMPARED_TREES), texts.part(checked)
    probabilities = trees.probabilities(rest.columns, rest.ids)
    return -np.log(np.where(rest.hits, probabilities, 1 - probabilities)).sum(axis=1)


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


def fit_trees(rows, hits, threads=1, n_trees=MOST_TREES):
    """Fit trees to rows of evidence (n, c) and whether their candidates are true."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=n_trees, **SETTINGS, early_stopping=False, random_state=0)
    with threadpool_limits(threads):
        model.fit(rows, hits)
        trees = _arrays_of(model)
        # nodes of scikit-learn's trees are not part of its interface
        np.testing.assert_allclose(trees.log_odds(rows[:1000]), model.decision_function(rows[:1000]), rtol=1e-9)
    return trees


def _checked(texts):
    return np.arange(len(texts.ids)) % CHECKED == 0


def _fit(texts, threads):
    """Trees fitted to three of four texts, as many as serve the fourth best, and as many fitted to all."""
    checked = _checked(texts)
    trees = fit_trees(*texts.part(~checked).candidates, threads)
    n_trees = best_number(trees, *texts.part(checked).candidates)
    return trees.part(0, n_trees), fit_trees(*texts.candidates, threads, n_trees)


def best_number(trees, rows, hits):
    """With how many of the trees, in steps, rows of other texts have the least log loss."""
    from sklearn.metrics import log_loss

    log_odds, losses = np.zeros(len(rows)), {}
    for number in range(STEP, len(trees.roots) + 1, STEP):
        log_odds += trees.part(number - STEP, number).log_odds(rows)
        losses[number] = log_loss(hits, scipy.special.expit(log_odds), labels=[False, True])
    return min(losses, key=losses.get)


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


def check_trees(trees, check, groups):
    """Quality of the order by score and by trees, and what is lost without each kind of evidence, in nDCG@5.

    ``missed``: true labels that are no candidates, of a text; ``sure``: what is right where answers seem to be.
    """
    from sklearn.metrics import log_loss

    by_trees, lost, end = _ndcg(trees, check, check.columns), {}, 0
    random = np.random.default_rng(0)
    for name, group in groups.items():
        start, end = end, end + len(group)
        columns, shuffled = check.columns.copy(), random.permutation(len(check.columns))
        columns[:, :, start:end] = columns[shuffled, :, start:end]
        lost[name] = by_trees - _ndcg(trees, check, columns)
    rows, hits = check.candidates
    return {
        "texts": len(check.ids),
        "first_stage": _ndcg_of(check.hits, check.positives),
        "second_stage": by_trees,
        "log_loss": float(log_loss(hits, scipy.special.expit(trees.log_odds(rows)), labels=[False, True])),
        "lost": lost,
        "missed": float(np.mean(check.positives - check.hits.sum(axis=1))),
        "sure": _sure(trees, check),
    }


def _sure(trees, check):
    """Records that would go without a look, with the labels that fit them, by expected precision."""
    probabilities, order = rank(trees, check.columns, check.ids)
    return sure_records(LEVELS, probabilities, np.take_along_axis(check.hits, order, axis=1))


def _ndcg(trees, check, columns):
    _, order = rank(trees, columns, check.ids)
    return _ndcg_of(np.take_along_axis(check.hits, order, axis=1), check.positives)


def _ndcg_of(hits, positives):
    discounts = 1 / np.log2(np.arange(2, 7))
    ideal = np.concatenate([[0.0], np.cumsum(discounts)])[np.minimum(positives, 5)]
    some = ideal > 0
    return float(np.mean(hits[some, :5] @ discounts / ideal[some]))
