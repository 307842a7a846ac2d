"""Quality by number of trees, against models of fewer trees."""

import pytest
import trees
from click.testing import CliRunner

from ovaflow.evaluation.ranking import precision_of_hits
from ovaflow.methods.fastxml.method import FastXMLMethod
from ovaflow.methods.fastxml.settings import GrowTrees
from ovaflow.model.ranked_labels import find_hits


def trained(dataset, n_trees):
    return FastXMLMethod().train_model(dataset, GrowTrees(trees=n_trees, max_leaf=8))


def test_first_trees_are_a_model_of_fewer_trees(small_dataset) -> None:
    metrics = trees.measure(trained(small_dataset, 5), small_dataset, threads=1)
    assert list(metrics) == [1, 2, 4, 5]
    for n_trees in (2, 5):
        ids, _ = trained(small_dataset, n_trees).top_k(small_dataset.test.X, 5)
        hits = find_hits(ids, small_dataset.test.Y)
        assert metrics[n_trees]["P@3"] == pytest.approx(precision_of_hits(hits, 3))


def test_the_script_prints_a_table(small_dataset, tmp_path) -> None:
    path = tmp_path / "model.h5"
    trained(small_dataset, 3).write(path)
    done = CliRunner().invoke(
        trees.main, [str(path), str(small_dataset.path)], catch_exceptions=False
    )
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["trees", *trees.METRICS]
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "3"]
