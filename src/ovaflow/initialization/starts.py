"""The starts by the name that the config uses."""

from dataclasses import dataclass, replace

import numpy as np

from ovaflow.artifacts.means import Means
from ovaflow.console.errors import InputError
from ovaflow.initialization.all_negative import AllNegative, Root
from ovaflow.initialization.bias import Bias
from ovaflow.initialization.label_tree import FromParent, parents_within
from ovaflow.initialization.mean_separating import MeanSeparating
from ovaflow.initialization.pretrained import Earlier, Pretrained
from ovaflow.initialization.zero import Zero


@dataclass(frozen=True)
class StartInputs:
    """What starts are made from, beside the settings.

    Attributes
    ----------
    means : Means
    n : int
        Number of instances.
    bias : float
        Value of the bias feature; 0 where there is none.
    earlier : Earlier, optional
        An earlier model, for the pretrained start.
    root : Root or None
        For the starts whose labels descend from the root.
    parents : ndarray of int32, shape (l,), or None
        Of the label tree, for the start of that name.
    """

    means: Means
    n: int
    bias: float = 0.0
    earlier: Earlier | None = None
    root: Root | None = None
    parents: np.ndarray | None = None

    @classmethod
    def of(cls, dataset, means, **more):
        """Inputs from a dataset.

        Parameters
        ----------
        dataset : Dataset
        means : Means
        **more
            Other attributes, for starts that need them.

        Returns
        -------
        StartInputs

        Raises
        ------
        InputError
            If one is of other features or labels than the dataset.
        """
        root, parents = more.get("root"), more.get("parents")
        features = {len(means.x_mean)} | ({len(root.weights)} if root is not None else set())
        labels = {len(means.counts)} | ({len(parents)} if parents is not None else set())
        if features != {dataset.n_features} or labels != {dataset.n_labels}:
            size = f"{dataset.n_features:,} features and {dataset.n_labels:,} labels"
            said = f"means, root or label tree are not of its {size}"
            raise InputError(said, path=dataset.path, remedy="make them again")
        return cls(means, dataset.train.X.n_rows, float(dataset.parameters["bias"]), **more)

    def within(self, labels):
        """Inputs of a job that solves some of the labels: parents elsewhere give way to the root.

        Parameters
        ----------
        labels : ndarray of int, shape (m,)

        Returns
        -------
        StartInputs
        """
        return self if self.parents is None else replace(self, parents=parents_within(self.parents, labels))


def _mean_separating(training, inputs):
    return MeanSeparating(inputs.means, inputs.n, training.s, training.negative_score)


def _pretrained(training, inputs):
    if inputs.earlier is None:
        raise InputError("the pretrained start needs an earlier model", remedy="give --earlier=MODEL")
    return Pretrained(inputs.earlier, otherwise=_mean_separating(training, inputs))


_STARTS = {
    "all-negative": lambda training, inputs: AllNegative(_given(inputs, "root")),
    "bias": lambda training, inputs: Bias(training.bias_lambda, inputs.bias),
    "label-tree": lambda training, inputs: FromParent(_given(inputs, "root"), _given(inputs, "parents")),
    "mean-separating": _mean_separating,
    "pretrained": _pretrained,
    "zero": lambda training, inputs: Zero(),
}

STARTS = tuple(_STARTS)

RANKING = ("mean-separating", "pretrained")
"""Starts whose own scores choose the first working set; the others leave that to the mean-separating one."""

COLD = tuple(name for name in STARTS if name != "pretrained")
"""Starts that need no earlier model."""

ALONE = tuple(name for name in COLD if name != "label-tree")
"""Cold starts of labels that may be solved in any order."""


def _given(inputs, name):
    found = getattr(inputs, name)
    if found is None:
        remedy = "give --root, and --label-tree for the start of that name"
        raise InputError(f"this start needs the {name} of the label tree", remedy=remedy)
    return found


def make_start(training, inputs):
    """Build the start of a training.

    Parameters
    ----------
    training : ovaflow.settings.models.TrainLabels
        Each start reads its own settings.
    inputs : StartInputs

    Returns
    -------
    Start

    Raises
    ------
    InputError
        If something that the start needs is missing.
    """
    return _STARTS[training.initialization](training, inputs)


def ranking_start(inputs):
    """The start that chooses first working sets where the start's own scores do not: that of MSI, sec. 4."""
    return MeanSeparating(inputs.means, inputs.n, 1.0, -2.0)
