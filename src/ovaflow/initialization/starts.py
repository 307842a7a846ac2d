"""The starts by their names in the config."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.initialization.all_negative import AllNegativeStart, solve_root
from ovaflow.initialization.label_tree import LabelTreeStart, restrict_parents
from ovaflow.initialization.mean_separating import MeanSeparatingStart
from ovaflow.initialization.means import Means, compute_means
from ovaflow.initialization.pretrained import EarlierModel, PretrainedStart
from ovaflow.initialization.spanning_tree import compute_label_tree
from ovaflow.initialization.start import BiasStart, Start, ZeroStart
from ovaflow.settings.train import TrainLabels


@dataclass(frozen=True)
class StartInputs:
    """Data that starts are made from, besides the settings."""

    means: Means
    n: int  # instances, without names of labels
    bias: float = 0.0  # value of the bias feature; 0 where there is none
    earlier: EarlierModel | None = None  # for the pretrained start
    root: np.ndarray | None = None  # weights of the root, for starts whose labels descend from it
    parents: np.ndarray | None = None  # of the label tree, for the start of that name

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        means: Means,
        *,
        earlier: EarlierModel | None = None,
        root: np.ndarray | None = None,
        parents: np.ndarray | None = None,
    ) -> "StartInputs":
        """Collect the inputs from a dataset, its means and what else the start needs."""
        bias = float(dataset.parameters["bias"])
        return cls(means, dataset.n_documents, bias, earlier, root, parents)

    @property
    def arrays(self) -> list[np.ndarray]:
        """All arrays that solutions depend on."""
        means = self.means
        numbers = np.array([means.xx, self.bias, self.n])
        arrays = [means.x_mean, means.pp, means.xp, numbers, means.counts, self.root, self.parents]
        return [array for array in arrays if array is not None]

    def restrict_to(self, labels: np.ndarray) -> "StartInputs":
        """Restrict the inputs to a job of some labels: parents elsewhere become the root."""
        if self.parents is None:
            return self
        return replace(self, parents=restrict_parents(self.parents, labels))


def compute_start_inputs(
    dataset: Dataset,
    training: TrainLabels,
    threads: int = 1,
    earlier: EarlierModel | None = None,
) -> StartInputs:
    """Compute the inputs of a training outside a workflow."""
    root = None
    parents = None
    if training.needs_root:
        root = solve_root(dataset.documents.train.X, training).weights
    if training.needs_tree:
        parents = compute_label_tree(dataset.train.Y).parent
    means = compute_means(dataset.train.X, dataset.positives, threads, dataset.n_documents)
    return StartInputs.from_dataset(dataset, means, earlier=earlier, root=root, parents=parents)


def _make_all_negative(training: TrainLabels, inputs: StartInputs) -> Start:
    return AllNegativeStart(_require_input(inputs, "root"))


def _make_bias(training: TrainLabels, inputs: StartInputs) -> Start:
    return BiasStart(training.bias_lambda, inputs.bias)


def _make_label_tree(training: TrainLabels, inputs: StartInputs) -> Start:
    return LabelTreeStart(_require_input(inputs, "root"), _require_input(inputs, "parents"))


def _make_mean_separating(training: TrainLabels, inputs: StartInputs) -> Start:
    return MeanSeparatingStart(inputs.means, inputs.n, training.s, training.negative_score)


def _make_pretrained(training: TrainLabels, inputs: StartInputs) -> Start:
    if inputs.earlier is None:
        raise InputError(
            "the pretrained start needs an earlier model", remedy="give --earlier=MODEL"
        )
    return PretrainedStart(inputs.earlier, otherwise=_make_mean_separating(training, inputs))


def _make_zero(training: TrainLabels, inputs: StartInputs) -> Start:
    return ZeroStart()


_STARTS: dict[str, Callable[[TrainLabels, StartInputs], Start]] = {
    "all-negative": _make_all_negative,
    "bias": _make_bias,
    "label-tree": _make_label_tree,
    "mean-separating": _make_mean_separating,
    "pretrained": _make_pretrained,
    "zero": _make_zero,
}

STARTS = tuple(_STARTS)
"""Names of all starts."""

RANKING_STARTS = ("mean-separating", "pretrained")
"""Starts whose scores choose the first working set; for others the mean-separating start's do."""

COLD_STARTS = tuple(name for name in STARTS if name != "pretrained")
"""Starts that need no earlier model."""


def _require_input(inputs: StartInputs, name: str) -> np.ndarray:
    """Return an input of the label tree; InputError if it was not given."""
    value = getattr(inputs, name)
    if value is None:
        remedy = "give --root, and --label-tree for the start of that name"
        raise InputError(f"this start needs the {name} of the label tree", remedy=remedy)
    return value


def make_start(training: TrainLabels, inputs: StartInputs) -> Start:
    """Make the start that a training chooses."""
    return _STARTS[training.initialization](training, inputs)


def make_ranking_start(inputs: StartInputs) -> Start:
    """Make the start that chooses first working sets if the label's start separates too little.

    See MSI, sec. 4.
    """
    return MeanSeparatingStart(inputs.means, inputs.n)
