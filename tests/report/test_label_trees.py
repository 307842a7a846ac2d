"""The label tree in the report: read back as the plan said it."""

from types import SimpleNamespace

import numpy as np

from ovaflow.artifacts.label_tree import compute_label_tree, write_label_tree
from ovaflow.report.label_trees import TreeOfRun, read_tree_of, tree_table
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.plan import write_plan

Y = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 1]], bool)
COUNTS = Y.sum(0)


def run(initialization="label-tree"):
    return SimpleNamespace(name="tree", series=1, parameters=[("initialization", initialization)])


def test_statistics_of_the_tree_and_its_cuts(tmp_path):
    tree, folder = compute_label_tree(from_scipy(Y)), tmp_path / "tree"
    write_label_tree(tmp_path / "label_tree.h5", tree, "abc")
    assert read_tree_of(folder, run(), COUNTS, "abc") is None
    write_plan(folder / "shards.tsv", [np.array([3, 2]), np.array([1, 0])], np.ones(4))
    ours = read_tree_of(folder, run(), COUNTS, "abc")
    # 1 hangs at 2, one instance apart: alone it starts four instances away
    assert tree.parent[1] == 2
    costs = (tree.star_cost, tree.total_cost)
    assert ours == TreeOfRun("tree", 1, tree.subtrees, tree.height, *costs, cuts=1, cut_cost=3)
    assert read_tree_of(folder, run("zero"), COUNTS, "abc") is None


def test_table():
    table = tree_table([TreeOfRun("tree", 1, 10, 3, 1000, 750, 2, 40)])
    assert [cell.text for cell in table.rows[0].cells] == ["10", "3", "1,000", "750", "25.00", "2", "40"]
    assert len(table.columns) == 7
