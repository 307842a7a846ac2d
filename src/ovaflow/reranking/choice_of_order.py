"""Whether evidence ranks held-out texts better than scores do; where not, trees keep the order of
the scores.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ovaflow.reranking.boosted_trees import BoostedTrees
from ovaflow.reranking.choice_of_evidence import compute_permutation_importance
from ovaflow.reranking.cross_fitting import CrossFit, cross_fit, make_tree_fitter


class ChosenOrder(NamedTuple):
    """The order of candidates that is better on checked texts."""

    fit: Callable[
        ..., BoostedTrees
    ]  # fits trees of this order to rows, hits, and with n_trees their number
    crossed: CrossFit  # what these trees say of the checked texts
    check: dict[str, Any]  # what was compared

    def fit_to_all(self, texts, n_trees):
        """Fit the trees to all held-out texts."""
        return self.fit(texts.rows, texts.row_hits, n_trees=n_trees)


def choose_order(texts, threads) -> ChosenOrder:
    """Order candidates by all evidence, unless the scores rank checked texts better by more than
    the standard error.
    """
    fit = make_tree_fitter(texts, threads)
    crossed = cross_fit(texts, fit)
    by_score, by_evidence = crossed.ndcg
    gains = by_evidence - by_score
    error = float(gains.std() / max(len(gains), 1) ** 0.5)
    check = {
        "first_stage": float(by_score.mean()),
        "second_stage": float(by_evidence.mean()),
        "error": error,
        "lost": compute_permutation_importance(crossed),
    }
    if gains.mean() >= -error:
        return ChosenOrder(fit, crossed, check | {"order": "evidence"})
    fit = partial(fit, directions=_directions(texts))
    return ChosenOrder(fit, cross_fit(texts, fit), check | {"order": "score"})


def _directions(texts):
    """Columns that keep the order of the scores, and whether they rise or fall with it."""
    directions = {column: sign for kind in texts.kinds for column, sign in kind.directions.items()}
    return {texts.column_names.index(column): sign for column, sign in directions.items()}
