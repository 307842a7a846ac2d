"""The index beside a model file: its weights by feature, mapped by every process that scores with it.

It is no part of the model: 0.53 times its size on 35,116 labels of library
subjects, and what scores a whole test set builds it panel by panel in less
time than it takes to read. It knows the model's checksum, and one of another
model is not used.
"""

from pathlib import Path

import numpy as np

from ovaflow.prediction.index import Panel, build_panel, panel_ranges
from ovaflow.storage.arrays import create_array, map_vector, number_of, read_offsets
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact, parameters_of
from ovaflow.storage.damage import damaged

KIND = "index"

SCHEME = 1
"""Changes whenever panels come to mean something else."""


def index_path(model_path):
    """``model.index.h5`` beside ``model.h5``."""
    return Path(model_path).with_suffix(".index.h5")


def build_index(model):
    for first, end in panel_ranges(model.n_labels):
        yield build_panel(model.weights, model.trained, first, end)


def write_index(path, model):
    """Build and write a model's index, one panel at a time in memory."""
    with create_artifact(path, KIND, {"scheme": SCHEME}, {"model": model.checksum}) as file:
        for number, panel in enumerate(build_index(model)):
            group = file.create_group(f"{number:06d}")
            group.attrs["first"] = panel.first
            for name, array in panel._asdict().items():
                if name != "first":
                    create_array(group, name, array)


def open_index(model):
    """The panels beside a model, mapped; None without an index of this very model."""
    path = index_path(model.path)
    if model.given is not None or not path.exists():
        return None
    with open_artifact(path, KIND) as file:
        if inputs_of(file).get("model") != model.checksum or parameters_of(file).get("scheme") != SCHEME:
            return None
        panels = [_read_panel(group, model.n_features) for _, group in file.items()]
        ends = np.cumsum([0, *(len(panel.base) for panel in panels)])
        if [panel.first for panel in panels] != ends[:-1].tolist() or ends[-1] != model.n_labels:
            raise damaged(file, "panels that do not cover the labels")
        return panels


def _read_panel(group, d):
    """A panel, whose numbers kernels use as places of arrays without looking."""
    m, h = group["base"].size, group["dense"].shape[0] if group["dense"].ndim == 2 else 0
    panel = Panel(
        number_of(group, "first", 0),
        map_vector(group["trained"], bool),
        map_vector(group["base"], np.float32),
        map_vector(group["step"], np.float32, 0),
        map_vector(group["dense_row"], np.int32, -1, h - 1),
        map_vector(group["dense"], np.int16, ndim=2),
        map_vector(group["values"], np.int16),
        map_vector(group["labels"], np.uint16, 0, m - 1),
        read_offsets(group["indptr"]),
    )
    lengths = len(panel.trained), len(panel.step), len(panel.dense_row), len(panel.indptr), panel.dense.shape
    fits = lengths == (m, d, d, d + 1, (h, m)) and panel.indptr[-1] == len(panel.values) == len(panel.labels)
    if not fits:
        raise damaged(group, f"arrays of panel {group.name} do not fit together")
    return panel
