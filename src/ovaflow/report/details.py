"""What is recorded of a run for figures alone: its trace and its prune curve, where they belong to its model."""

from dataclasses import dataclass

from ovaflow.model.model_file import open_model
from ovaflow.model.trace_file import read_trace
from ovaflow.report.pruning import read_pruning
from ovaflow.report.traces import Curves, curves_of
from ovaflow.report.weights import Weights, weights_of

_CHANGES_NO_PROBLEM = {"stored_threshold", "reference"}


@dataclass(frozen=True)
class Details:
    """Figures beyond those that every run has.

    Attributes
    ----------
    curves : Curves or None
        From the trace.
    weights : Weights or None
        From the trace and the model.
    pruning : list of dict
        See :func:`ovaflow.report.pruning.read_pruning`.
    """

    curves: Curves | None = None
    weights: Weights | None = None
    pruning: list | tuple = ()


def read_details(folder, metrics):
    """Read a run's trace and prune curve.

    Parameters
    ----------
    folder : pathlib.Path
        Of the run.
    metrics : dict
        The run's metrics.

    Returns
    -------
    Details
        Files that are missing, or were made with other settings than the
        model's, count as not there.

    Raises
    ------
    InputError
        If a file is damaged.
    """
    if not ((folder / "trace.h5").exists() or (folder / "prune.json").exists()):
        return Details()
    model = open_model(folder / "model.h5")
    pruning = read_pruning(folder / "prune.json", model.checksum, model.parameters.get("prune"), metrics)
    trace = read_trace(folder / "trace.h5") if (folder / "trace.h5").exists() else None
    if trace is None or not _same_problem(trace, model):
        return Details(pruning=pruning)
    return Details(curves_of(trace), weights_of(trace, model), pruning)


def _same_problem(trace, model):
    settings = model.parameters.get("train", {})
    names = (settings.keys() | trace.parameters.keys()) - _CHANGES_NO_PROBLEM
    same = all(settings.get(name) == trace.parameters.get(name) for name in names)
    return same and trace.inputs.get("dataset") == model.inputs.get("dataset")
