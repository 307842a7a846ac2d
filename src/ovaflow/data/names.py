"""What datasets and models know of their labels and features beside numbers."""

from dataclasses import dataclass

import numpy as np

from ovaflow.storage.arrays import map_vector, read_strings
from ovaflow.storage.artifact import open_artifact


@dataclass(frozen=True)
class Names:
    """Names of labels and features.

    Attributes
    ----------
    labels : sequence of str, length l
    features : sequence of str
        Length d without the bias feature, or empty.
    idf : ndarray of float32, optional
    """

    labels: list
    features: list
    idf: np.ndarray | None = None


def read_names(path, kind, name):
    """Some names of a file.

    Parameters
    ----------
    path : path-like
    kind : str
        Of the artifact.
    name : str
        ``"label_names"`` or ``"feature_names"``.

    Returns
    -------
    list of str
        Empty where the file has none.
    """
    with open_artifact(path, kind) as file:
        return read_strings(file, name) if name in file else []


def read_idf(path, kind):
    """Inverse document frequencies of a file.

    Parameters
    ----------
    path : path-like
    kind : str

    Returns
    -------
    ndarray of float32, shape (d without bias,), or None
        None without tf-idf.
    """
    with open_artifact(path, kind) as file:
        return map_vector(file["idf"], np.float32) if "idf" in file else None
