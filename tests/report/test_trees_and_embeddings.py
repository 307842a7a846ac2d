"""Sections of methods: trees of instances, label trees and label embeddings."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ovaflow.initialization.spanning_tree import compute_label_tree
from ovaflow.methods.fastxml import section as trees
from ovaflow.methods.rembrandt import section as embeddings
from ovaflow.report import training
from ovaflow.report.tables import make_runs_table
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.texts import write_json

SHAPE = [
    "nodes",
    "leaves",
    "depth",
    "mean_depth",
    "balance",
    "largest_leaf",
    "labels_per_leaf",
    "nonzeros",
    "seconds",
]
EMBEDDING = {
    "eigenvalues": [],
    "label_covariance": [2.0, 1.0],
    "points": [{"rank": 1, "P@1": 0.2}, {"rank": 2, "P@1": 0.4}],
    "neighbours": [{"label": 1, "nearest": [[0, 0.5]]}],
}


def show_runs(show: Callable, attributes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Show the section of runs with some attributes; it is the same when it is shown again."""
    runs = []
    for number, each in enumerate(attributes):
        run = SimpleNamespace(name=f"run {number}", series=number, summary="", **each)
        run.metrics = {"P@1": 0.5}
        runs.append(run)
    results = SimpleNamespace(runs=runs, shown_runs=runs, anchor="mine")
    content = show(results)
    assert show(results) == content
    return content


def test_trees_of_instances() -> None:
    forest = {"training": SimpleNamespace(trees={name: np.array([2, 4]) for name in SHAPE})}
    table = show_runs(trees.show, [forest, forest])
    cells = zip(table["table"].columns, table["table"].rows[0].cells, strict=True)
    values = {(column.group, column.title): cell.value for column, cell in cells}
    assert values["", "trees"] == 2
    assert values["per tree", "balance"] == values["per leaf", "labels"] == 3
    assert values["leaf", "largest"] == 4


def test_label_tree_of_a_run(tmp_path) -> None:
    Y = from_scipy(np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 1]], bool))
    dataset = SimpleNamespace(path="dataset.h5", checksum="abc")
    folders = [
        SimpleNamespace(
            folder=tmp_path / "run", settings={"initialization": start}, dataset=dataset
        )
        for start in ("label-tree", "zero")
    ]
    assert [training._read_label_tree(folder) for folder in folders] == [None, None]
    compute_label_tree(Y).write(tmp_path / "label_tree.h5", dataset=dataset)
    with_tree, without_tree = folders
    ours = training._read_label_tree(with_tree)
    assert training._read_label_tree(without_tree) is None
    # distances from the root are 3, 4, 3 and 2 instances; in the tree that of the last label is 2,
    # and each other label is 1 away from the next one
    of_run = SimpleNamespace(label_tree=ours)
    run = SimpleNamespace(
        name="tree", series=1, summary="", read={training.read_training: of_run}.get
    )
    (row,) = make_runs_table("Label trees", [run], training.LABEL_TREE_COLUMNS).rows
    assert [cell.text for cell in row.cells] == ["1", "4", "12", "5", "58.33"]


@pytest.mark.parametrize("empty", [False, True])
def test_embeddings_with_and_without_a_spectrum(tmp_path, empty) -> None:
    folder = SimpleNamespace(folder=tmp_path, dataset=SimpleNamespace(label_names=["a", "b"]))
    assert embeddings.read(folder) is None
    of_runs = []
    for description in (EMBEDDING, {key: [] for key in EMBEDDING}):
        write_json(tmp_path / "embedding.json", "embedding-description", description)
        of_runs.append({"read": {embeddings.read: embeddings.read(folder)}.get})
    full, none = of_runs
    assert full["read"](embeddings.read)["neighbours"] == [{"label": "b", "nearest": [("a", 0.5)]}]
    content = show_runs(embeddings.show, [none] if empty else [full, full, none])
    assert [drawing.svg.startswith("<svg") for drawing in content["figures"]] == [True, True]
