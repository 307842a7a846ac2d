"""Quality by number of trees (FastXML, fig. 1), from one pass over the test instances."""

from ovaflow.console.errors import InputError
from ovaflow.data.propensity import inverse_propensity
from ovaflow.evaluation import ranking
from ovaflow.evaluation.metrics import PLACES
from ovaflow.fastxml.scoring import predict_trees

MOST_POINTS = 24
"""Up to so many trees each number is a point of its own."""


def tree_curve(model, dataset, a, b, threads=1):
    """Quality of the first trees, more and more of them (FastXML, fig. 1), from one pass over the test instances."""
    if model.inputs.get("dataset") != dataset.checksum:
        raise InputError(f"was not trained on {dataset.path}", path=model.path, remedy="train again")
    amounts = _amounts(model.forest.n_trees)
    inverse = inverse_propensity(model.counts, dataset.train.X.n_rows, a, b)
    ids, _ = predict_trees(model.forest, dataset.test.X, max(PLACES), threads, amounts)
    points = [{"trees": trees, **_quality(each, dataset, inverse)} for trees, each in zip(amounts, ids, strict=True)]
    return {"model": model.checksum, "points": points}


def _amounts(n_trees):
    """All numbers of trees where there are few, else ever wider apart, the last one always."""
    steps = range(1, n_trees + 1)
    if n_trees <= MOST_POINTS:
        return list(steps)
    return sorted({round(n_trees ** ((place + 1) / MOST_POINTS)) for place in range(MOST_POINTS)} | {1, n_trees})


def _quality(ids, dataset, inverse):
    hits = ranking.find_hits(ids, dataset.test.Y)
    scored = {f"PSP@{k}": ranking.propensity_scored_precision(ids, hits, dataset.test.Y, inverse, k) for k in PLACES}
    return {f"P@{k}": ranking.precision(hits, k) for k in PLACES} | scored
