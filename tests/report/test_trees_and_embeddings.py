"""Trees of instances, label trees and label embeddings in the report."""

from types import SimpleNamespace

import numpy as np
import pytest

from ovaflow.artifacts.label_tree import compute_label_tree, write_label_tree
from ovaflow.report.tables import table_of_runs
from ovaflow.report.training import LABEL_TREES, LabelTreeOfRun, read_label_tree_of
from ovaflow.report.trees_and_embeddings import read_embedding, show_embeddings, show_trees
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.texts import write_json
from ovaflow.training.plan import write_plan

SHAPE = ["nodes", "leaves", "depth", "mean_depth", "balance", "largest_leaf", "labels_per_leaf", "nonzeros", "seconds"]
Y = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 1]], bool)
LABEL_TREE = {"initialization": "label-tree"}
EMBEDDING = {
    "eigenvalues": [],
    "label_covariance": [2.0, 1.0],
    "points": [{"rank": 1, "P@1": 0.2}, {"rank": 2, "P@1": 0.4}],
    "neighbours": [{"label": 1, "nearest": [[0, 0.5]]}],
}


def shown(show, *of_runs):
    """What a section shows of runs with these things, twice the same."""
    common = {"summary": "", "metrics": {"P@1": 0.5}}
    runs = [
        SimpleNamespace(name=f"run {number}", series=number, **common, **each) for number, each in enumerate(of_runs)
    ]
    results = SimpleNamespace(runs=runs, shown=runs)
    assert show("mine", results) == show("mine", results)
    return show("mine", results)


def test_trees_of_instances():
    curve = [{"trees": amount, "P@1": 0.3, "P@3": 0.2, "P@5": 0.1 * amount} for amount in (1, 2)]
    found = {"trees": {name: np.array([2, 4]) for name in SHAPE}, "tree_curve": curve}
    table = shown(show_trees, found, found)
    cells = zip(table["table"].columns, table["table"].rows[0].cells, strict=True)
    values = {(column.group, column.title): cell.value for column, cell in cells}
    assert values["", "trees"] == 2
    assert values["per tree", "balance"] == values["per leaf", "labels"] == 3
    assert values["leaf", "largest"] == 4
    assert "var(--series-1)" in table["figures"][0].svg


def test_statistics_of_the_label_tree_and_its_cuts(tmp_path):
    tree, folder, counts = compute_label_tree(from_scipy(Y)), tmp_path / "tree", Y.sum(0)
    write_label_tree(tmp_path / "label_tree.h5", tree, "abc")
    assert read_label_tree_of(folder, LABEL_TREE, counts, "abc") is None
    write_plan(folder / "shards.tsv", [np.array([3, 2]), np.array([1, 0])], np.ones(4))
    ours = read_label_tree_of(folder, LABEL_TREE, counts, "abc")
    # 1 hangs at 2, one instance apart: alone it starts four instances away
    assert tree.parent[1] == 2
    assert ours == LabelTreeOfRun(tree.subtrees, tree.height, tree.star_cost, tree.total_cost, cuts=1, cut_cost=3)
    assert read_label_tree_of(folder, {"initialization": "zero"}, counts, "abc") is None


def test_table_of_label_trees():
    run = SimpleNamespace(name="tree", series=1, summary="", label_tree=LabelTreeOfRun(10, 3, 1000, 750, 2, 40))
    (row,) = table_of_runs("Label trees", [run], LABEL_TREES).rows
    assert [cell.text for cell in row.cells] == ["10", "3", "1,000", "750", "25.00", "2", "40"]


@pytest.mark.parametrize("empty", [False, True])
def test_embeddings_with_and_without_a_spectrum(tmp_path, empty):
    assert read_embedding(tmp_path, []) is None
    found = []
    for description in (EMBEDDING, {key: [] for key in EMBEDDING}):
        write_json(tmp_path / "embedding.json", "embedding-description", description)
        found.append({"embedding": read_embedding(tmp_path, ["a", "b"])})
    full, none = found
    assert full["embedding"]["neighbours"] == [("b", [("a", 0.5)])]
    drawn = shown(show_embeddings, *([none] if empty else [full, full, none]))
    assert [drawing.svg.startswith("<svg") for drawing in drawn["figures"]] == [True, True]
