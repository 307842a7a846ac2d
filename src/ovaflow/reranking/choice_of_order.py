"""Whether evidence ranks held-out texts better than scores do; where not, trees keep the order of the scores."""

from functools import partial

from ovaflow.reranking.choice_of_evidence import worth_of_evidence
from ovaflow.reranking.cross_fitting import cross_fit, fit_for

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


def choose_order(texts, columns, groups, threads):
    """How trees are fitted, a function of rows, hits and their number; its :class:`CrossFit`; and what was compared.

    All columns are used unless the scores rank checked texts better, by more than the standard error.
    """
    fit = fit_for(texts, threads)
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
