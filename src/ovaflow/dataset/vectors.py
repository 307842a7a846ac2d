"""Records whose features are a vector in one of their columns."""

from typing import Any

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Split
from ovaflow.labels.lists import LabelLists
from ovaflow.labels.matrix import Labels
from ovaflow.records.corpus import Corpus
from ovaflow.records.source import SourceFiles
from ovaflow.sparse.csr import from_scipy


def read_vectors(source: SourceFiles, labels: Labels, role: str) -> Split:
    """Read the records of the training or the test files.

    Labels are columns of Y by the numbers that ``labels`` gives.
    """
    corpus = Corpus(source, labels, role)
    lists = LabelLists(labels.meanings.number_of)
    vectors: list[Any] = []
    records = []
    weights = []
    for instance in corpus:
        vectors.append(instance.text)
        lists.append(instance.labels)
        records.append(instance.name)
        weights.append(instance.weight)
    if not vectors:
        raise InputError("no records", path=source.train_name, remedy="give a file with records")
    has_weights = any(weight != 1 for weight in weights)
    return Split(
        from_scipy(stack_vectors(vectors, source.train_name)),
        labels.meanings.translate(lists, corpus.counts).given(),
        records=records,
        weights=np.array(weights, np.float32) if has_weights else None,
    )


def stack_vectors(vectors: list[np.ndarray], path: str) -> "scipy.sparse.csr_array":
    """Stack vectors as the rows of a matrix."""
    lengths = {len(vector) for vector in vectors}
    if len(lengths) > 1:
        message = f"vectors have {min(lengths)} to {max(lengths)} numbers"
        raise InputError(message, path=path, remedy="give vectors of one length")
    return scipy.sparse.csr_array(np.stack(vectors))
