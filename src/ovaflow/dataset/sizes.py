"""Sizes of a dataset file and names of its source's files, as JSON for Snakemake, which may lack
HDF5.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import StrPath
from ovaflow.storage.texts import write_json


class Shape(NamedTuple):
    """Sizes of the training set."""

    instances: int
    features: int
    labels: int
    positives: int


def write_sizes(path: StrPath, shape: Shape, files: Mapping[str, str]) -> None:
    """Write sizes and the files of the source by role; commas separate several files of a role."""
    write_json(path, "sizes", shape._asdict() | {"files": dict(files)})


def read_shape(path: StrPath) -> Shape:
    """Read the sizes of the training set."""
    content = json.loads(Path(path).read_bytes())
    return Shape(**{name: content[name] for name in Shape._fields})
