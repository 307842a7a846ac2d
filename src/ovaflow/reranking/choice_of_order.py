"""Choice between the order by all evidence and that of the scores, by held-out texts."""

from functools import partial
from typing import Any, NamedTuple

from ovaflow.reranking.boosted_trees import BoostedTrees
from ovaflow.reranking.choice_of_evidence import compute_permutation_importance
from ovaflow.reranking.cross_fitting import CrossFit, TreeFitter, cross_fit, make_tree_fitter
from ovaflow.reranking.held_out_candidates import HeldOutCandidates


class ChosenOrder(NamedTuple):
    """The order of candidates that is better on checked texts."""

    fit: TreeFitter  # fits trees of this order
    crossed: CrossFit  # probabilities of the checked texts by such trees
    check: dict[str, Any]  # figures of both orders

    def fit_to_all(self, texts: HeldOutCandidates, n_trees: int) -> BoostedTrees:
        """Fit the trees to all held-out texts."""
        return self.fit(*texts.training_rows, n_trees=n_trees)


def choose_order(texts: HeldOutCandidates, threads: int) -> ChosenOrder:
    """Choose the order by all evidence, unless the scores rank checked texts clearly better.

    The scores are clearly better where their mean nDCG@5 is larger by more than a standard error of
    the difference.
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
    fit = partial(fit, directions=_find_directions(texts))
    return ChosenOrder(fit, cross_fit(texts, fit), check | {"order": "score"})


def _find_directions(texts: HeldOutCandidates) -> dict[int, int]:
    """Find the columns that keep the order of the scores, and whether they rise or fall with it."""
    directions = {}
    for kind in texts.kinds:
        for name, direction in kind.directions.items():
            directions[texts.column_names.index(name)] = direction
    return directions
