"""What the report says of runs that grow trees."""

from types import SimpleNamespace

import numpy as np

from ovaflow.fastxml.shape import SHAPE
from ovaflow.model.training_file import Training
from ovaflow.report.tree_figures import METRICS, quality_by_trees
from ovaflow.report.trees import CURVE, read_trees, trees_table
from ovaflow.storage.texts import write_json

RECORDED = Training({}, 1.0, 1, 1, {name: np.array([2, 4]) for name in [*SHAPE, "seconds"]})


def run(trees, number=0):
    return SimpleNamespace(name=f"run {number}", series=number, summary="fastxml", trees=trees)


def write_curve(folder, checksum):
    points = [{"trees": amount, **dict.fromkeys(METRICS, 0.1 * amount)} for amount in (1, 2)]
    write_json(folder / CURVE, "tree-curve", {"model": checksum, "points": points})


def test_table_of_means(tmp_path):
    table = trees_table([run(read_trees(tmp_path, RECORDED, "x"))])
    values = {
        (column.group, column.title): cell.value
        for column, cell in zip(table.columns, table.rows[0].cells, strict=True)
    }
    assert values["", "trees"] == 2
    assert values["per tree", "balance"] == values["per leaf", "labels"] == 3
    assert values["leaf", "largest"] == 4


def test_curves_belong_to_their_model(tmp_path):
    write_curve(tmp_path, "x")
    assert read_trees(tmp_path, RECORDED, "another").curve == []
    assert [point["trees"] for point in read_trees(tmp_path, RECORDED, "x").curve] == [1, 2]
    assert read_trees(tmp_path, Training({"positives": []}, 1.0, 1, 1), "x") is None


def test_figure(tmp_path):
    write_curve(tmp_path, "x")
    runs = [run(read_trees(tmp_path, RECORDED, "x"), number) for number in range(2)]
    figure = quality_by_trees("trees", runs)
    assert figure.svg.startswith("<svg")
    assert "var(--series-1)" in figure.svg
    assert figure == quality_by_trees("trees", runs)
