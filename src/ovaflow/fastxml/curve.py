"""Quality of the first trees of a model (FastXML, fig. 1)."""

from ovaflow.evaluation.metrics import PLACES
from ovaflow.evaluation.pruned_models import quality_of_top
from ovaflow.fastxml.model_file import predict_trees

MOST_POINTS = 24  # with fewer trees, every number of trees is one


def tree_curve(model, dataset, a, b, threads=1):
    """Quality of growing numbers of trees, from one pass over the test instances."""
    model.require(dataset=dataset)
    amounts = _amounts(model.forest.n_trees)
    inverse = dataset.inverse_propensity(a, b)
    ids, _ = predict_trees(model.forest, model.instances(dataset.test), max(PLACES), threads, amounts)
    points = []
    for trees, each in zip(amounts, ids, strict=True):
        points.append({"trees": trees, **quality_of_top(each, dataset.test.Y, inverse)})
    return {"model": model.checksum, "points": points}


def _amounts(n_trees):
    """All numbers of trees if there are few, otherwise ever wider steps to the last."""
    steps = range(1, n_trees + 1)
    if n_trees <= MOST_POINTS:
        return list(steps)
    return sorted({round(n_trees ** ((place + 1) / MOST_POINTS)) for place in range(MOST_POINTS)} | {1, n_trees})
