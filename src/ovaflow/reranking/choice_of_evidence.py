"""Which kinds of evidence predict held-out texts better, and what the order of candidates loses
without each.
"""

from functools import partial

import numpy as np

from ovaflow.reranking.boosted_trees import rank_candidates
from ovaflow.reranking.cross_fitting import N_PARTS, compute_ndcg, cross_fit, make_tree_fitter
from ovaflow.sparse.csr import evenly_spaced_numbers

MAX_COMPARED_TEXTS = 3_000
"""Most held-out texts that say whether an optional kind of evidence is worth its time.

All parts of the texts are checked: what pieces of names gain on tibkat is 4 to 5 standard errors of
them, but 0.8 to 3 of one part.
"""

COMPARED_TREES = 30
"""Trees that are fitted to them."""


def choose_evidence(texts, threads) -> list[str]:
    """Return the names of the optional kinds of evidence that predict checked texts better, beyond
    chance.
    """
    texts = texts.part(evenly_spaced_numbers(len(texts.ids), MAX_COMPARED_TEXTS))
    names = [kind.name for kind in texts.kinds if kind.optional]
    losses = _losses(texts, threads)
    for name in list(names):
        others = [other for other in names if other != name]
        without = texts.with_optional(others)
        losses_without = _losses(without, threads)
        gains = losses_without - losses
        if gains.mean() <= gains.std() / np.sqrt(len(gains)):
            texts = without
            names = others
            losses = losses_without
    return names


def _losses(texts, threads):
    """Log loss of each text by trees fitted to the other parts, summed over its candidates."""
    crossed = cross_fit(
        texts, partial(make_tree_fitter(texts, threads), n_trees=COMPARED_TREES), amount=N_PARTS
    )
    probabilities = crossed.probabilities
    return -np.log(np.where(crossed.texts.hits, probabilities, 1 - probabilities)).sum(axis=1)


def compute_permutation_importance(crossed):
    """Permutation importance of each kind of evidence: what is lost without it, in nDCG@5."""
    trees = crossed.trees
    check = crossed.first_part
    whole = _ndcg(trees, check, check.columns)
    lost = {}
    end = 0
    random = np.random.default_rng(0)
    for kind in check.kinds:
        start = end
        end = start + len(kind.columns)
        shuffled = random.permutation(len(check.columns))
        columns = check.columns.copy()
        columns[:, :, start:end] = columns[shuffled, :, start:end]
        lost[kind.name] = whole - _ndcg(trees, check, columns)
    return lost


def _ndcg(trees, check, columns):
    _, order = rank_candidates(trees, columns, check.ids)
    return float(
        compute_ndcg(np.take_along_axis(check.hits, order, axis=1), check.positives).mean()
    )
