"""The trace file: every Newton iteration of a sample of labels."""

from dataclasses import dataclass

import numpy as np

from ovaflow.storage.arrays import create_array, map_vector, number_of, read_offsets
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact, parameters_of
from ovaflow.storage.refusals import damaged

KIND = "trace"

LABELS = {"labels": np.int32, "positives": np.int64, "target": np.float64, "optimum": np.float64, "status": np.int8}
"""Names and dtypes of what is kept of each label."""

ITERATIONS = {
    "objective": np.float64,
    "gradient_norm": np.float64,
    "active": np.int64,
    "step_length": np.float64,
    "cg_steps": np.int64,
    "seconds": np.float64,
}
"""Names and dtypes of what is kept of each iteration."""


@dataclass(frozen=True)
class Trace:
    """How a sample of labels was solved."""

    # arrays (m,); ``labels`` (ascending), ``positives``, ``target`` (of the gradient's norm),
    # ``optimum`` (objective of a much more exact solution) and ``status``
    of_labels: dict
    # int64 (m + 1,); where the iterations of each label begin; the first is the start, before any step
    starts: np.ndarray
    iterations: dict  # arrays (sum of iterations,); fields of :class:`ovaflow.training.tracing.Record`
    weight_edges: np.ndarray  # float64 (b + 1,); bins of the weights; what lies beyond is counted in the outermost
    weight_counts: np.ndarray  # int64 (b,); weights of all sampled labels before pruning, zeros among them
    n_instances: int
    parameters: dict  # settings of the training
    inputs: dict  # checksums of the artifacts used, by kind


def write_trace(path, trace):
    with create_artifact(path, KIND, trace.parameters, trace.inputs) as file:
        for name, dtype in LABELS.items():
            create_array(file, name, np.asarray(trace.of_labels[name], dtype))
        group = file.create_group("iterations")
        for name, dtype in ITERATIONS.items():
            create_array(group, name, np.asarray(trace.iterations[name], dtype))
        create_array(file, "starts", np.asarray(trace.starts, np.int64))
        create_array(file, "weight_edges", np.asarray(trace.weight_edges, np.float64))
        create_array(file, "weight_counts", np.asarray(trace.weight_counts, np.int64))
        file.attrs["n_instances"] = int(trace.n_instances)


def read_trace(path):
    with open_artifact(path, KIND) as file:
        trace = Trace(
            {name: map_vector(file[name], dtype) for name, dtype in LABELS.items()},
            read_offsets(file["starts"]),
            {name: map_vector(file["iterations"][name], dtype) for name, dtype in ITERATIONS.items()},
            map_vector(file["weight_edges"], np.float64),
            map_vector(file["weight_counts"], np.int64, 0),
            number_of(file, "n_instances", 0),
            parameters_of(file),
            inputs_of(file),
        )
        fits = len(trace.weight_edges) == len(trace.weight_counts) + 1
        fits &= all(len(values) == len(trace.starts) - 1 for values in trace.of_labels.values())
        if not fits or any(len(values) != trace.starts[-1] for values in trace.iterations.values()):
            raise damaged(file, "arrays that do not fit together")
    return trace
