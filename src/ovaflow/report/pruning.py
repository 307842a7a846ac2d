"""Quality and size of a run's model pruned further, as ``ovaflow prune-curve`` measured them."""

from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.storage.texts import read_json

_SAME = ("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5", "nonzeros", "model_bytes")


def read_pruning(path, model, threshold, metrics):
    """Read a prune curve.

    Parameters
    ----------
    path : path-like
    model : str
        Checksum of the run's model; a curve of another one is passed over.
    threshold : float or None
        What the model itself is pruned at.
    metrics : dict
        The run's metrics, which are those at this threshold.

    Returns
    -------
    list of dict
        Points as of :func:`ovaflow.evaluation.prune_curve.prune_curve`, the
        run's own first; empty where there are not two.

    Raises
    ------
    InputError
        If the file holds something else.
    """
    path = Path(path)
    if not path.exists():
        return []
    try:
        curve = read_json(path, "prune-curve")
        current, points = curve["model"] == model, [dict(point) for point in curve["points"]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"no prune curve ({error})", path=path, remedy="run prune-curve again") from None
    own = {name: metrics[name] for name in _SAME if name in metrics}
    # the axis of thresholds is logarithmic
    points = [{"prune": threshold, **own}, *points] if threshold and "model_bytes" in own else points
    return points if current and len(points) > 1 else []
