"""Weights before and after pruning, and what pruning further would make of a model."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Weights:
    """Histogram of the weights of sampled labels.

    Attributes
    ----------
    edges : ndarray of float64, shape (b + 1,)
        What lies beyond is counted in the outermost bins.
    before, after : ndarray of float64, shape (b,)
        Shares of all weights before pruning, zeros among them.
    """

    edges: np.ndarray
    before: np.ndarray
    after: np.ndarray

    @property
    def kept(self):
        """Share of the weights that pruning leaves."""
        return float(self.after.sum())


def weights_of(trace, model):
    """Compare the traced labels' weights before pruning with those in the model.

    Parameters
    ----------
    trace : ovaflow.model.trace_file.Trace
    model : ovaflow.model.model_file.Model

    Returns
    -------
    Weights or None
        None without weights.
    """
    total = trace.weight_counts.sum()
    if not total:
        return None
    edges, starts = trace.weight_edges, model.weights.indptr
    rows = [model.weights.data[starts[label] : starts[label + 1]] for label in trace.of_labels["labels"]]
    after, _ = np.histogram(np.clip(np.concatenate(rows), edges[0], edges[-1]), edges)
    return Weights(edges, trace.weight_counts / total, after / total)
