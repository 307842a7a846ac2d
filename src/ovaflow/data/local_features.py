"""Training features in the memory of a job's node, shared by the jobs there."""

from dataclasses import replace

import numpy as np

from ovaflow.data.dataset import KIND
from ovaflow.sparse.csr import CSR
from ovaflow.storage.arrays import read_into
from ovaflow.storage.artifact import open_artifact

_ALIGNMENT = 4096


def bring_near(dataset, pinning):
    """The same dataset, its training features copied to the job's node if need be.

    A mapped file is on the node that read it first. Without room on the node, which is noted, the dataset stays as it
    was.
    """
    X = dataset.train.X
    ends = np.cumsum([_ALIGNMENT * -(-array.nbytes // _ALIGNMENT) for array in X.arrays])
    starts = [0, *ends[:-1].tolist()]

    def arrays_in(memory):
        parts = zip(X.arrays, starts, strict=True)
        return [np.frombuffer(memory, array.dtype, array.size, start) for array, start in parts]

    def fill(memory):
        with open_artifact(dataset.path, KIND) as file:
            for name, array in zip(("data", "indices", "indptr"), arrays_in(memory), strict=True):
                read_into(file[f"train/X/{name}"], array)

    shared = pinning.share(f"{dataset.checksum}-features", int(ends[-1]), fill)
    if shared is None:
        return dataset
    return replace(dataset, train=replace(dataset.train, X=CSR(*arrays_in(shared), X.n_columns)))
