"""Which kinds of evidence predict held-out texts better, and what the order of candidates loses without each."""

from functools import partial

import numpy as np

from ovaflow.reranking.boosted_trees import rank
from ovaflow.reranking.cross_fitting import PARTS, cross_fit, fit_for, ndcg_of_each
from ovaflow.reranking.evidence import columns_with
from ovaflow.reranking.held_out_candidates import spread

COMPARED, COMPARED_TREES = 3_000, 30
"""Held-out texts at most, and trees, that say whether a further kind of evidence is worth its time.

All parts of the texts are checked: what pieces of names gain on tibkat is 4 to 5 standard errors of them, but 0.8 to 3
of one part.
"""


def useful_kinds(texts, kinds, threads):
    """Further kinds of evidence of held-out texts that predict checked texts better, beyond chance."""
    texts = texts.part(spread(len(texts.ids), COMPARED))
    losses = _losses(texts, threads)
    for kind in kinds:
        without = [each for each in kinds if each != kind]
        less = with_kinds(texts, kinds, without)
        losses_without = _losses(less, threads)
        gains = losses_without - losses
        if gains.mean() <= gains.std() / np.sqrt(len(gains)):
            texts, kinds, losses = less, without, losses_without
    return kinds


def with_kinds(texts, kinds, fewer, sources=()):
    """Held-out texts with fewer of their further kinds of evidence."""
    kept = set(columns_with(fewer, sources))
    return texts._replace(columns=texts.columns[:, :, [name in kept for name in columns_with(kinds, sources)]])


def _losses(texts, threads):
    """Log loss of each text by trees fitted to the other parts, summed over its candidates."""
    crossed = cross_fit(texts, partial(fit_for(texts, threads), n_trees=COMPARED_TREES), amount=PARTS)
    probabilities = crossed.probabilities
    return -np.log(np.where(crossed.texts.hits, probabilities, 1 - probabilities)).sum(axis=1)


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
