from types import SimpleNamespace

import numpy as np
import pytest

from ovaflow.initialization.spanning_tree import compute_label_tree
from ovaflow.report.tables import table_of_runs
from ovaflow.report.training import LABEL_TREES, read_label_tree_of
from ovaflow.report.trees_and_embeddings import read_embedding, show_embeddings, show_trees
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.texts import write_json

SHAPE = ["nodes", "leaves", "depth", "mean_depth", "balance", "largest_leaf", "labels_per_leaf", "nonzeros", "seconds"]
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
    forest = {"trees": {name: np.array([2, 4]) for name in SHAPE}, "tree_curve": curve}
    table = shown(show_trees, forest, forest)
    cells = zip(table["table"].columns, table["table"].rows[0].cells, strict=True)
    values = {(column.group, column.title): cell.value for column, cell in cells}
    assert values["", "trees"] == 2
    assert values["per tree", "balance"] == values["per leaf", "labels"] == 3
    assert values["leaf", "largest"] == 4
    assert "var(--series-1)" in table["figures"][0].svg


def test_label_tree_of_a_run(tmp_path):
    Y = from_scipy(np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 1]], bool))
    settings, folder = {"initialization": "label-tree"}, tmp_path / "run"
    dataset = SimpleNamespace(path="dataset.h5", checksum="abc")
    assert read_label_tree_of(folder, settings, dataset) is None
    compute_label_tree(Y).write(tmp_path / "label_tree.h5", dataset=dataset)
    assert read_label_tree_of(folder, {"initialization": "zero"}, dataset) is None
    ours = read_label_tree_of(folder, settings, dataset)
    # 3, 4, 3 and 2 instances from the root; 2 to the last label, and one from each to the one before
    run = SimpleNamespace(name="tree", series=1, summary="", label_tree=ours)
    (row,) = table_of_runs("Label trees", [run], LABEL_TREES).rows
    assert [cell.text for cell in row.cells] == ["1", "4", "12", "5", "58.33"]


@pytest.mark.parametrize("empty", [False, True])
def test_embeddings_with_and_without_a_spectrum(tmp_path, empty):
    assert read_embedding(tmp_path, []) is None
    of_runs = []
    for description in (EMBEDDING, {key: [] for key in EMBEDDING}):
        write_json(tmp_path / "embedding.json", "embedding-description", description)
        of_runs.append({"embedding": read_embedding(tmp_path, ["a", "b"])})
    full, none = of_runs
    assert full["embedding"]["neighbours"] == [{"label": "b", "nearest": [("a", 0.5)]}]
    drawn = shown(show_embeddings, *([none] if empty else [full, full, none]))
    assert [drawing.svg.startswith("<svg") for drawing in drawn["figures"]] == [True, True]
