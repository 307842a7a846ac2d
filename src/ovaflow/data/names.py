"""What datasets and models know of their labels and features beside numbers."""

from dataclasses import dataclass

import numpy as np

from ovaflow.storage.arrays import map_vector, read_strings
from ovaflow.storage.artifact import open_artifact


@dataclass(frozen=True)
class Names:
    """Names of labels, of features (without the bias feature, or none), and inverse document frequencies."""

    labels: list
    features: list
    idf: np.ndarray | None = None


def read_names(path, kind, name):
    """``"label_names"`` or ``"feature_names"`` of an artifact; empty where it has none."""
    with open_artifact(path, kind) as file:
        return read_strings(file, name) if name in file else []


def read_idf(path, kind):
    """Inverse document frequencies of an artifact, without the bias feature; None without tf-idf."""
    with open_artifact(path, kind) as file:
        return map_vector(file["idf"], np.float32) if "idf" in file else None
