"""The label tree of runs that start from it, and what dividing it into shards cost."""

from dataclasses import dataclass

import numpy as np

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.report import wording
from ovaflow.report.tables import Column, Row, Table, figure
from ovaflow.training.plan import read_shards
from ovaflow.training.tree_parts import cost_of_cuts, cut_edges


@dataclass(frozen=True)
class TreeOfRun:
    """A label tree as a run used it.

    Attributes
    ----------
    name : str
        Of the run.
    series : int
        Number of the run within the dataset.
    subtrees, height : int
    star_cost, total_cost : int
        Hamming distances that all labels have to go from the root, and from their parents.
    cuts, cut_cost : int
        Labels that started at the root because their parent is in another
        shard, and what they had to go more.
    """

    name: str
    series: int
    subtrees: int
    height: int
    star_cost: int
    total_cost: int
    cuts: int
    cut_cost: int


def read_tree_of(folder, run, counts, dataset):
    """The label tree of a run.

    Parameters
    ----------
    folder : pathlib.Path
        Of the run; the label tree is in its parent.
    run : Run
    counts : ndarray of int, shape (l,)
        Training positives of each label.
    dataset : str
        Checksum of the dataset file.

    Returns
    -------
    TreeOfRun or None
        None where the run starts otherwise, or its files are not kept.
    """
    tree_path, plan_path = folder.parent / "label_tree.h5", folder / "shards.tsv"
    if dict(run.parameters).get("initialization") != "label-tree" or not (tree_path.exists() and plan_path.exists()):
        return None
    tree = read_label_tree(tree_path, dataset)
    cut = cut_edges(tree, read_shards(plan_path, len(counts)))
    cost = cost_of_cuts(tree, np.asarray(counts), cut)
    sizes = tree.subtrees, tree.height, tree.star_cost, tree.total_cost
    return TreeOfRun(run.name, run.series, *sizes, len(cut), cost)


def tree_table(trees):
    """Label trees of the runs side by side.

    Parameters
    ----------
    trees : sequence of TreeOfRun

    Returns
    -------
    Table
    """
    columns = [
        Column("subtrees", "label tree", "labels that start at the root, the problem without positives"),
        Column("height", "label tree", "edges on the longest way down from the root"),
        Column("from the root", "Hamming distance", "of all labels, if each started at the root"),
        Column("from parents", "Hamming distance", "of all labels from the label that they start at"),
        Column("saved", "%", "of the Hamming distance from the root"),
        Column("edges cut", "by shards", "labels that start at the root since their parent is in another shard"),
        Column("cost", "by shards", "Hamming distance that these labels have to go more"),
    ]
    rows = []
    for tree in trees:
        saved = 1 - tree.total_cost / tree.star_cost if tree.star_cost else None
        counts = [tree.subtrees, tree.height, tree.star_cost, tree.total_cost]
        cells = [figure(number, wording.count) for number in counts] + [figure(saved, wording.percent)]
        cells += [figure(number, wording.count) for number in (tree.cuts, tree.cut_cost)]
        rows.append(Row(tree.name, cells, series=tree.series))
    return Table("run", columns, rows, "Label trees")
