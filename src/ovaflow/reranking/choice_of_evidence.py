"""Choice of the optional kinds of evidence, and the permutation importance of each kind."""

from functools import partial

import numpy as np

from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.cross_fitting import N_FOLDS, CrossFit, cross_fit, make_tree_fitter
from ovaflow.reranking.held_out_candidates import HeldOutCandidates
from ovaflow.sparse.csr import evenly_spaced_numbers

MAX_COMPARED_TEXTS = 3_000
"""Most held-out texts that decide whether an optional kind of evidence is worth its time.

All folds of the texts are checked: the gain of pieces of names on tibkat is 4 to 5 standard errors
of all folds, but 0.8 to 3 of one fold.
"""

COMPARED_TREES = 30
"""Number of trees that are fitted to them."""

MAX_PERMUTED_TEXTS = 1_000
"""Most checked texts whose evidence is permuted."""


def choose_evidence(texts: HeldOutCandidates, threads: int) -> list[str]:
    """Choose the optional kinds of evidence that improve probabilities by more than chance.

    A kind is left out where the log loss of checked texts without it is larger by at most one
    standard error. Returns the names of the kinds that are kept.
    """
    texts = texts.select(evenly_spaced_numbers(len(texts.ids), MAX_COMPARED_TEXTS))
    names = [kind.name for kind in texts.kinds if kind.optional]
    losses = _compute_losses(texts, threads)
    for name in list(names):
        others = [other for other in names if other != name]
        texts_without = texts.with_optional(others)
        losses_without = _compute_losses(texts_without, threads)
        gains = losses_without - losses
        standard_error = gains.std() / np.sqrt(len(gains))
        if gains.mean() <= standard_error:
            texts = texts_without
            names = others
            losses = losses_without
    return names


def _compute_losses(texts: HeldOutCandidates, threads: int) -> np.ndarray:
    """Compute the summed log loss of each text's candidates by trees fitted to other folds."""
    fit = partial(make_tree_fitter(texts, threads), n_trees=COMPARED_TREES)
    crossed = cross_fit(texts, fit, n_checked=N_FOLDS)
    probabilities = crossed.probabilities
    of_truth = np.where(crossed.texts.hits, probabilities, 1 - probabilities)
    return -np.log(of_truth).sum(axis=1)


def compute_permutation_importance(crossed: CrossFit) -> dict[str, float]:
    """Compute the permutation importance of each kind of evidence.

    It is the loss of nDCG@5 where the columns of the kind are those of random other candidates, of
    any checked text.
    """
    crossed = crossed.select(evenly_spaced_numbers(len(crossed.places), MAX_PERMUTED_TEXTS))
    texts = crossed.texts
    rows = texts.rows
    _, ndcg = crossed.ndcg
    importance = {}
    end = 0
    random = np.random.default_rng(0)
    for kind in texts.kinds:
        start = end
        end = start + len(kind.column_names)
        permuted = rows.copy()
        permuted[:, start:end] = rows[random.permutation(len(rows)), start:end]
        values = texts.evidence_values.copy()
        values[texts.ids != NO_LABEL] = permuted
        _, ndcg_permuted = crossed._replace(probabilities=crossed.predict(values)).ndcg
        importance[kind.name] = float(ndcg.mean() - ndcg_permuted.mean())
    return importance
