"""The starts by the name that the config uses."""

from ovaflow.console.errors import InputError
from ovaflow.initialization.mean_separating import MeanSeparating
from ovaflow.initialization.zero import Zero

STARTS = ("mean-separating", "zero")


def make_start(name, means, n, s, t):
    """Build a start.

    Parameters
    ----------
    name : str
        One of :data:`STARTS`.
    means : Means
    n : int
        Number of instances.
    s, t : float
        Wanted mean scores of positives and of negatives, for the
        mean-separating start.

    Returns
    -------
    object
        With ``fill(label, X, positives, weights)``, which writes a label's
        first weights.

    Raises
    ------
    InputError
        If there is no start of that name.
    """
    if name == "zero":
        return Zero()
    if name == "mean-separating":
        return MeanSeparating(means, n, s, t)
    raise InputError(f"unknown initialization {name!r}", remedy=f"use one of {', '.join(STARTS)}")
