"""The starts by their names in the config."""

from dataclasses import dataclass, replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.all_negative import AllNegativeStart, solve_root
from ovaflow.initialization.label_tree import LabelTreeStart, restrict_parents
from ovaflow.initialization.mean_separating import MeanSeparatingStart
from ovaflow.initialization.means import Means, compute_means
from ovaflow.initialization.pretrained import EarlierModel, PretrainedStart
from ovaflow.initialization.spanning_tree import compute_label_tree
from ovaflow.initialization.start import BiasStart, ZeroStart


@dataclass(frozen=True)
class StartInputs:
    """What starts are made from, besides the settings."""

    means: Means
    n: int  # instances, without names of labels
    bias: float = 0.0  # value of the bias feature; 0 where there is none
    earlier: EarlierModel | None = None  # for the pretrained start
    root: np.ndarray | None = (
        None  # weights of the root, for the starts whose labels descend from it
    )
    parents: np.ndarray | None = None  # of the label tree, for the start of that name

    @classmethod
    def of(cls, dataset, means, **more):
        """Inputs from a dataset, its means and what else the start needs."""
        return cls(means, dataset.n_documents, float(dataset.parameters["bias"]), **more)

    @property
    def arrays(self):
        """All that solutions depend on."""
        means = self.means
        numbers = np.array([means.xx, self.bias, self.n])
        arrays = [means.x_mean, means.pp, means.xp, numbers, means.counts, self.root, self.parents]
        return [array for array in arrays if array is not None]

    def within(self, labels):
        """Inputs of a job of some labels: parents elsewhere are replaced by the root."""
        if self.parents is None:
            return self
        return replace(self, parents=restrict_parents(self.parents, labels))


def compute_start_inputs(dataset, training, threads=1, **more):
    """Inputs of a training outside a workflow, computed now."""
    if training.needs_root:
        more["root"] = solve_root(dataset.documents.train.X, training).weights
    if training.needs_tree:
        more["parents"] = compute_label_tree(dataset.train.Y).parent
    means = compute_means(dataset.train.X, dataset.positives, threads, dataset.n_documents)
    return StartInputs.of(dataset, means, **more)


def _mean_separating(training, inputs):
    return MeanSeparatingStart(inputs.means, inputs.n, training.s, training.negative_score)


def _pretrained(training, inputs):
    if inputs.earlier is None:
        raise InputError(
            "the pretrained start needs an earlier model", remedy="give --earlier=MODEL"
        )
    return PretrainedStart(inputs.earlier, otherwise=_mean_separating(training, inputs))


_STARTS = {
    "all-negative": lambda training, inputs: AllNegativeStart(_require(inputs, "root")),
    "bias": lambda training, inputs: BiasStart(training.bias_lambda, inputs.bias),
    "label-tree": lambda training, inputs: LabelTreeStart(
        _require(inputs, "root"), _require(inputs, "parents")
    ),
    "mean-separating": _mean_separating,
    "pretrained": _pretrained,
    "zero": lambda training, inputs: ZeroStart(),
}

STARTS = tuple(_STARTS)

RANKING_STARTS = ("mean-separating", "pretrained")
"""Starts whose scores choose the first working set; for others the mean-separating start's do."""

COLD_STARTS = tuple(name for name in STARTS if name != "pretrained")
"""Starts that need no earlier model."""


def _require(inputs, name):
    value = getattr(inputs, name)
    if value is None:
        remedy = "give --root, and --label-tree for the start of that name"
        raise InputError(f"this start needs the {name} of the label tree", remedy=remedy)
    return value


def make_start(training, inputs):
    return _STARTS[training.initialization](training, inputs)


def make_ranking_start(inputs):
    """The start that chooses first working sets if the label's start separates too little: MSI,
    sec. 4.
    """
    return MeanSeparatingStart(inputs.means, inputs.n)
