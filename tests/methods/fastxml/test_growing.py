from dataclasses import replace

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ovaflow.evaluation.ranking import precision_of_hits
from ovaflow.features.normalize import unscale_rows
from ovaflow.methods.fastxml.forest import Forest
from ovaflow.methods.fastxml.merging import describe_tree
from ovaflow.methods.fastxml.method import FastXMLMethod
from ovaflow.methods.fastxml.model_file import predict_trees
from ovaflow.methods.fastxml.settings import GrowTrees
from ovaflow.methods.fastxml.training import TreeShard, grow_trees
from ovaflow.model.ranked_labels import find_hits
from ovaflow.prediction.predictions import predict_test_set

METHOD = FastXMLMethod()
FOREST = GrowTrees(trees=6, max_leaf=8, leaf_labels=5)


@pytest.fixture(scope="module")
def grown(dataset) -> TreeShard:
    """Six trees."""
    return grow_trees(dataset, range(6), FOREST)


def find_leaves(tree: Forest, X: np.ndarray) -> np.ndarray:
    """Find the leaf that each instance reaches, step by step in dense arithmetic."""
    separators = tree.separators.to_scipy().toarray()
    nodes = np.zeros(len(X), int)
    while (tree.children[nodes] > 0).any():
        is_inner = tree.children[nodes] > 0
        goes_right = (separators[nodes] * X).sum(axis=1) <= 0
        nodes = np.where(is_inner, tree.children[nodes] + goes_right, nodes)
    return nodes


def test_training_instances_fall_into_the_leaves_they_made(dataset, grown) -> None:
    X = dataset.train.X.to_scipy().toarray()
    Y = dataset.train.Y.to_scipy().toarray()
    for number in range(6):
        tree = grown.forest.tree(number)
        nodes = find_leaves(tree, X)
        sizes = np.bincount(nodes, minlength=len(tree.children))
        leaf = tree.children == 0
        # a sum taken in another order may send one on the very boundary elsewhere
        assert np.abs(sizes - tree.sizes)[leaf].sum() <= 2
        assert tree.sizes[0] == len(X)
        for node in np.flatnonzero(leaf & (sizes == tree.sizes)):
            theirs = Y[nodes == node].mean(axis=0)
            ours = tree.distributions.to_scipy()[[node]].toarray()[0]
            assert_allclose(np.sort(ours)[-5:], np.sort(theirs)[-5:], atol=1e-6)
            assert_allclose(ours[ours > 0], theirs[ours > 0], atol=1e-6)


def test_scores_are_means_of_the_leaves(dataset, grown) -> None:
    X = dataset.test.X
    ids, scores = predict_trees(grown.forest, X, 4)
    trees = [grown.forest.tree(number) for number in range(6)]
    for i in range(0, X.n_rows, 29):
        theirs = naive.forest_scores(trees, X.to_scipy()[[i]].toarray()[0], 30)
        assert_allclose(scores[i][ids[i] >= 0], theirs[ids[i][ids[i] >= 0]], atol=1e-6)
        best = np.sort(theirs)[::-1][:4]
        assert_allclose(np.where(ids[i] >= 0, scores[i], 0), best, atol=1e-6)
        ranked = list(zip(-scores[i], ids[i], strict=True))
        order = [(score, label) for score, label in ranked if label >= 0]
        assert order == sorted(order)
    assert (scores[ids < 0] == -np.inf).all()
    other_ids, other_scores = predict_trees(grown.forest, X, 4, threads=3)
    assert_array_equal(other_ids, ids)
    assert_array_equal(other_scores, scores)


def test_first_trees_stay_and_every_setting_has_an_effect(dataset, grown) -> None:
    weights = [grown.forest.tree(number).separators.data for number in range(6)]
    more = grow_trees(dataset, range(3), FOREST.model_copy(update={"trees": 3}))
    for number in range(3):
        assert_array_equal(more.forest.tree(number).separators.data, weights[number])
    assert not np.array_equal(weights[0], weights[1])
    settings = {
        "seed": 1,
        "updates": 3,
        "balanced": False,
        "objective": "P@5",
        "weighting": "propensity",
        "C_delta": 5.0,
    }
    for name, value in settings.items():
        other = grow_trees(dataset, range(1), FOREST.model_copy(update={name: value}))
        assert not np.array_equal(other.forest.separators.data, weights[0]), name


def test_predictions_depend_on_the_instance(dataset) -> None:
    model = METHOD.train_model(dataset, FOREST)
    predictions = predict_test_set(model, dataset, 5, 1)
    hits = find_hits(predictions.ids, dataset.test.Y)
    share_of_commonest_label = model.counts.max() / dataset.train.X.n_rows
    assert precision_of_hits(hits, 1) > 1.5 * share_of_commonest_label


def test_trees_see_features_before_they_were_scaled(dataset) -> None:
    norms = np.random.default_rng(0).uniform(0.5, 8, 600).astype(np.float32)
    unscaled = unscale_rows(dataset.train.X, norms, 1.0)
    raw = replace(dataset, train=replace(dataset.train, X=unscaled))
    scaled = replace(dataset, train=replace(dataset.train, norms=norms))
    ours = grow_trees(scaled, range(2), FOREST).forest.separators
    theirs = grow_trees(raw, range(2), FOREST).forest.separators
    assert_array_equal(ours.data, theirs.data)
    model = METHOD.train_model(scaled, FOREST)
    assert model.parameters["transform"]["unscaled"] is True
    assert_array_equal(model.instances(scaled.train).data, raw.train.X.data)


def test_statistics_of_a_tree(grown) -> None:
    # of eight instances two are in a leaf at depth 1, and two and four in leaves at depth 2
    children = np.array([1, 0, 3, 0, 0], np.int32)
    sizes = np.array([8, 2, 6, 2, 4])
    tree = grown.forest.tree(0)._replace(children=children, sizes=sizes)
    statistics = describe_tree(tree, max_leaf=2)
    assert statistics["nodes"] == 5
    assert statistics["leaves"] == 3
    assert statistics["depth"] == 2
    assert statistics["largest_leaf"] == 4
    assert statistics["mean_depth"] == 1.75
    assert statistics["balance"] == 1.75 / np.log2(8 / 2)
