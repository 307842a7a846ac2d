"""The section on trees of instances (FastXML), and the label trees that training starts from."""

from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.report import wording
from ovaflow.report.drawing import DASHED, DOTTED, draw_all, line
from ovaflow.report.tables import Column, Table, cell, named_rows, table_of_runs
from ovaflow.storage.texts import read_json
from ovaflow.training.plan import cost_of_cuts, cut_edges, read_shards

STYLES = {"P@1": "solid", "P@3": DASHED, "P@5": DOTTED}


@dataclass(frozen=True)
class TreesOfRun:
    """Trees of instances."""

    of_trees: dict  # those of ovaflow.fastxml.merging.shape_of, and seconds, arrays of shape (T,)
    curve: list  # points of trees.json: number of trees and metrics

    def mean(self, name):
        """Mean over the trees, None where it is not known."""
        values = self.of_trees.get(name)
        return float(np.mean(values)) if values is not None and len(values) else None


def read_trees(folder, recorded, checksum):
    """Trees from the training file, and their curve if it is of this model; None for methods without trees."""
    if not recorded.trees:
        return None
    path = folder / "trees.json"
    curve = read_json(path, "tree-curve") if path.exists() else {}
    return TreesOfRun(recorded.trees, curve["points"] if curve.get("model") == checksum else [])


def _mean(name, title, group, hint="", words=wording.decimal):
    return Column(title, group, hint), lambda run: run.trees.mean(name), words


COLUMNS = (
    (Column("trees"), lambda run: len(run.trees.of_trees["nodes"]), wording.count),
    _mean("leaves", "leaves", "per tree"),
    _mean("depth", "depth", "per tree", "deepest leaf"),
    _mean("mean_depth", "H", "per tree", "mean depth of a training instance’s leaf"),
    _mean("balance", "balance", "per tree", "H / log2(n / max leaf); 1 is perfect"),
    _mean("nonzeros", "weights", "per tree", "of the separators", wording.count),
    _mean("seconds", "time", "per tree", words=wording.duration),
    _mean("labels_per_leaf", "labels", "per leaf", "whose scores are kept"),
    (Column("largest", "leaf", "instances"), lambda run: int(run.trees.of_trees["largest_leaf"].max()), wording.count),
)


def show(anchor, results):
    """Shape of the trees, means over the trees, and quality by their number."""
    grown = [run for run in results.runs if run.trees is not None]
    if not grown:
        return None
    runs = [run for run in grown if run.trees.curve and run.series is not None]
    return {
        "table": table_of_runs("Trees of instances", grown, COLUMNS),
        "runs": runs,
        "figures": draw_all(anchor, runs, FIGURES) if runs else [],
    }


def _paint_quality(axes, runs):
    for run in runs:
        amounts = [point["trees"] for point in run.trees.curve]
        for metric, style in STYLES.items():
            values = [100 * point[metric] for point in run.trees.curve]
            unmarked = {} if style == "solid" or len(values) == 1 else {"marker": None}
            line(axes, run, amounts, values, f"{run.name}, {metric}", linestyle=style, **unmarked)
    axes.set(xlabel="trees", ylabel="P@k in %", xlim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


FIGURES = (
    (
        "by-trees",
        "P@1, P@3 and P@5 by number of trees",
        "P@1 (solid), P@3 (dashed) and P@5 (dotted) of the first trees alone (FastXML, fig. 1). Where the curve is "
        "flat, fewer trees would do.",
        _paint_quality,
    ),
)


@dataclass(frozen=True)
class LabelTreeOfRun:
    """A label tree as a run used it."""

    subtrees: int
    height: int
    star_cost: int  # Hamming distance of all labels from the root
    total_cost: int  # and from their parents
    cuts: int  # labels that started at the root because their parent is in another shard
    cut_cost: int  # Hamming distance that this added


def read_label_tree_of(folder, settings, counts, dataset):
    """The label tree of a run; None where the run starts otherwise, or its files are not kept."""
    tree_path, plan_path = folder.parent / "label_tree.h5", folder / "shards.tsv"
    if settings.get("initialization") != "label-tree" or not (tree_path.exists() and plan_path.exists()):
        return None
    tree = read_label_tree(tree_path, dataset)
    cut = cut_edges(tree, read_shards(plan_path, len(counts)))
    cost = cost_of_cuts(tree, np.asarray(counts), cut)
    return LabelTreeOfRun(tree.subtrees, tree.height, tree.star_cost, tree.total_cost, len(cut), cost)


def label_trees_table(runs):
    """Label trees of the runs side by side."""
    columns = [
        Column("subtrees", "label tree", "labels that start at the root, the problem without positives"),
        Column("height", "label tree", "edges on the longest path down from the root"),
        Column("from the root", "Hamming distance", "of all labels, if each started at the root"),
        Column("from parents", "Hamming distance", "of all labels from the label that they start at"),
        Column("saved", "%", "of the Hamming distance from the root"),
        Column("edges cut", "by shards", "labels that start at the root because their parent is in another shard"),
        Column("cost", "by shards", "Hamming distance added for these labels"),
    ]
    rows = []
    for tree in (run.label_tree for run in runs):
        saved = 1 - tree.total_cost / tree.star_cost if tree.star_cost else None
        sizes = [tree.subtrees, tree.height, tree.star_cost, tree.total_cost]
        cells = [cell(number, wording.count) for number in sizes] + [cell(saved, wording.percent)]
        rows.append(cells + [cell(number, wording.count) for number in (tree.cuts, tree.cut_cost)])
    return Table("run", columns, named_rows(runs, rows), "Label trees")
