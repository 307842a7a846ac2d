"""How the trees of a run came out, and how good they are together."""

from dataclasses import dataclass

import numpy as np

from ovaflow.report import tables, tree_figures, wording
from ovaflow.report.tables import Column, Table
from ovaflow.storage.texts import read_json

CURVE = "trees.json"


@dataclass(frozen=True)
class Trees:
    """Trees of a run.

    Attributes
    ----------
    of_trees : dict of str to ndarray, shape (T,)
        See :data:`ovaflow.fastxml.shape.SHAPE`, and ``seconds``.
    curve : list of dict
        Points of trees.json: ``trees`` and metrics; empty where not measured.
    """

    of_trees: dict
    curve: list

    def mean(self, name):
        """Mean over the trees of something recorded, None where it is not known."""
        values = self.of_trees.get(name)
        return float(np.mean(values)) if values is not None and len(values) else None


def read_trees(folder, recorded, checksum):
    """Trees of a run.

    Parameters
    ----------
    folder : pathlib.Path
    recorded : ovaflow.model.training_file.Training
    checksum : str
        Of the model; a curve of another one is passed over.

    Returns
    -------
    Trees or None
        None for methods without trees.
    """
    if not recorded.trees:
        return None
    path = folder / CURVE
    curve = read_json(path, "tree-curve") if path.exists() else {}
    return Trees(recorded.trees, curve["points"] if curve.get("model") == checksum else [])


_COLUMNS = (
    (Column("trees"), lambda trees: len(trees.of_trees["nodes"]), wording.count),
    (Column("leaves", "per tree"), lambda trees: trees.mean("leaves"), wording.decimal),
    (Column("depth", "per tree", "deepest leaf"), lambda trees: trees.mean("depth"), wording.decimal),
    (
        Column("H", "per tree", "mean depth of a training instance’s leaf"),
        lambda t: t.mean("mean_depth"),
        wording.decimal,
    ),
    (
        Column("balance", "per tree", "H / log2(n / max leaf); 1 is perfect"),
        lambda t: t.mean("balance"),
        wording.decimal,
    ),
    (Column("labels", "per leaf", "whose scores are kept"), lambda t: t.mean("labels_per_leaf"), wording.decimal),
    (Column("largest", "leaf", "instances"), lambda trees: int(trees.of_trees["largest_leaf"].max()), wording.count),
    (Column("weights", "per tree", "of the separators"), lambda trees: trees.mean("nonzeros"), wording.count),
    (Column("time", "per tree"), lambda trees: trees.mean("seconds"), wording.duration),
)


def trees_table(runs):
    """Shape of the trees of each run, means over the trees.

    Parameters
    ----------
    runs : sequence of Run
        Those with trees.

    Returns
    -------
    Table
    """
    order = ("", "per tree", "per leaf", "leaf")
    columns = sorted(_COLUMNS, key=lambda entry: order.index(entry[0].group))
    rows = [[tables.figure(value(run.trees), words) for _, value, words in columns] for run in runs]
    return Table("run", [column for column, _, _ in columns], tables.named_rows(runs, rows), "Trees of instances")


def show(anchor, section):
    """Table and figure of the section.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    section : Section

    Returns
    -------
    dict or None
        None leaves the section out.
    """
    grown = [run for run in section.runs if run.trees is not None]
    if not grown:
        return None
    curves = [run for run in grown if run.trees.curve and run.series is not None]
    drawn = tree_figures.quality_by_trees(f"{anchor}.by-trees", curves) if curves else None
    return {"table": trees_table(grown), "curves": curves, "by_trees": drawn}
