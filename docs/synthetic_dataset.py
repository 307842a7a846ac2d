"""Write a dataset.h5 of random texts as large as a public one, to see what training takes without
having the data.

``python docs/synthetic_dataset.py wikilshtc-325k dataset.h5``. Labels have Zipf's frequencies and
eight words of their own, of which each instance of the label has four; the other words of an
instance are drawn by Zipf's law from all.
"""

import sys

import numpy as np
import scipy.sparse as sp

from ovaflow.dataset.dataset import Split, write_dataset
from ovaflow.sparse.csr import CSR, from_scipy

OWN, OF_OWN = 8, 4

# instances, features, labels, labels per instance (Extreme Classification repository), words per
# instance
SIZES = {
    "wikilshtc-325k": (1_778_351, 1_617_899, 325_056, 3.19, 42),
    "amazon-3m": (1_717_899, 337_067, 2_812_281, 36.04, 50),
    "tibkat": (90_452, 139_023, 35_116, 3.6, 94),
}


def zipf(rng, size, n, shift=3.0):
    """Ranks below n, rank r with a probability proportional to about 1 / (r + shift)."""
    return np.minimum((shift * ((n / shift + 1) ** rng.random(size) - 1)).astype(np.int32), n - 1)


def label_matrix(rng, n, labels, per_instance):
    """Labels of instances, at least one instance per label."""
    several = int(n * per_instance) - labels
    columns = np.concatenate(
        [np.arange(labels, dtype=np.int32), zipf(rng, several, labels, shift=0.02 * labels)]
    )
    rows = rng.integers(0, n, len(columns), dtype=np.int32)
    Y = sp.csr_array((np.ones(len(columns), np.float32), (rows, columns)), shape=(n, labels))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


def words(rng, Y, d, per_instance, topical):
    """Instances of unit length, the words of at most ``topical`` labels each among them; the bias
    comes last.
    """
    n, labels = Y.shape
    own = zipf(rng, (labels, OWN), d, shift=200.0)
    counts = np.minimum(np.diff(Y.indptr), topical)
    rows = np.repeat(np.arange(n, dtype=np.int32), counts)
    first = (
        np.repeat(Y.indptr[:-1], counts)
        + np.arange(len(rows))
        - np.repeat(np.cumsum(counts) - counts, counts)
    )
    topics = own[Y.indices[first][:, None], rng.integers(0, OWN, (len(rows), OF_OWN))]
    common = per_instance - OF_OWN * len(rows) / n
    others = zipf(rng, int(n * common), d, shift=30.0)
    rows = np.concatenate(
        [np.repeat(rows, OF_OWN), rng.integers(0, n, len(others), dtype=np.int32)]
    )
    columns = np.concatenate([topics.ravel(), others])
    values = 1 / np.log(np.arange(2, d + 2))[::-1].astype(np.float32)[columns]
    X = sp.csr_array((values, (rows, columns)), shape=(n, d))
    X.sum_duplicates()
    lengths = np.sqrt(np.add.reduceat(np.append(X.data, 0) ** 2, X.indptr[:-1])) + 1e-9
    X.data /= np.repeat(lengths, np.diff(X.indptr)).astype(np.float32)
    return with_bias(X)


def with_bias(X):
    """A last column of ones."""
    n, d = X.shape
    ends = X.indptr[1:].astype(np.int64)
    data, indices = np.insert(X.data, ends, 1), np.insert(X.indices, ends, d).astype(np.int32)
    return CSR(
        data.astype(np.float32), indices, X.indptr.astype(np.int64) + np.arange(n + 1), d + 1
    )


def main(name, path) -> None:
    """Write the dataset."""
    n, d, labels, labels_each, words_each = SIZES[name]
    rng = np.random.default_rng(0)
    Y = label_matrix(rng, n, labels, labels_each)
    X = words(rng, Y, d, words_each, topical=6)
    train = Split(X, from_scipy(Y))
    few = sp.csr_array((10, labels), dtype=np.float32)
    test = Split(
        CSR(X.data[: X.indptr[10]], X.indices[: X.indptr[10]], X.indptr[:11], d + 1),
        from_scipy(few),
    )
    write_dataset(path, train, test, [str(label) for label in range(labels)], [], {"bias": 1.0})
    print(f"{name}: {len(X.data):,} entries, {len(train.Y.data):,} positives")


if __name__ == "__main__":
    main(*sys.argv[1:])
