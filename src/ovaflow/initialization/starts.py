"""The starts by the name that the config uses."""

from dataclasses import dataclass

from ovaflow.artifacts.means import Means
from ovaflow.console.errors import InputError
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
    """

    means: Means
    n: int
    bias: float = 0.0
    earlier: Earlier | None = None

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
        """
        return cls(means, dataset.train.X.n_rows, float(dataset.parameters["bias"]), **more)


def _mean_separating(training, inputs):
    return MeanSeparating(inputs.means, inputs.n, training.s, training.t)


def _pretrained(training, inputs):
    if inputs.earlier is None:
        raise InputError("the pretrained start needs an earlier model", remedy="give --earlier=MODEL")
    return Pretrained(inputs.earlier, otherwise=_mean_separating(training, inputs))


_STARTS = {
    "mean-separating": _mean_separating,
    "pretrained": _pretrained,
    "zero": lambda training, inputs: Zero(),
}

STARTS = tuple(_STARTS)

RANKING = ("mean-separating", "pretrained")
"""Starts whose own scores choose the first working set; the others leave that to the mean-separating one."""


def make_start(training, inputs):
    """Build the start of a training.

    Parameters
    ----------
    training : ovaflow.training.label_jobs.Training
        Its ``initialization`` is one of :data:`STARTS`; each start reads its
        own settings.
    inputs : StartInputs

    Returns
    -------
    object
        With ``fill(label, X, positives, weights)``, which writes a label's
        first weights.

    Raises
    ------
    InputError
        If there is no start of that name, or something that it needs is
        missing.
    """
    if training.initialization not in _STARTS:
        raise InputError(f"unknown initialization {training.initialization!r}", remedy=f"use {', '.join(STARTS)}")
    return _STARTS[training.initialization](training, inputs)
