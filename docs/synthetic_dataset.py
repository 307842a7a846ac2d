"""Write a dataset.h5 of random texts as large as a public one, to measure its training.

``python docs/synthetic_dataset.py wikilshtc-325k dataset.h5``. Labels have Zipf's frequencies and
eight words of their own, of which each instance of the label has four; the other words of an
instance are drawn by Zipf's law from all.
"""

import sys

import numpy as np
import scipy.sparse as sp

from ovaflow.dataset.dataset import Split, write_dataset
from ovaflow.sparse.csr import CSR, from_scipy

WORDS_OF_LABEL = 8
DRAWN_WORDS = 4
"""Words of a label's own, and how many of them an instance of the label has."""

# instances, features, labels, labels per instance (Extreme Classification repository), words per
# instance
SIZES = {
    "wikilshtc-325k": (1_778_351, 1_617_899, 325_056, 3.19, 42),
    "amazon-3m": (1_717_899, 337_067, 2_812_281, 36.04, 50),
    "tibkat": (90_452, 139_023, 35_116, 3.6, 94),
}


def draw_zipf(
    rng: np.random.Generator, size: int | tuple[int, ...], n: int, shift: float = 3.0
) -> np.ndarray:
    """Draw ranks below n, rank r with a probability proportional to about 1 / (r + shift)."""
    ranks = shift * ((n / shift + 1) ** rng.random(size) - 1)
    return np.minimum(ranks.astype(np.int32), n - 1)


def make_labels(rng: np.random.Generator, n: int, labels: int, per_instance: float) -> sp.csr_array:
    """Make the labels of n instances, at least one instance per label."""
    several = int(n * per_instance) - labels
    columns = np.concatenate(
        [np.arange(labels, dtype=np.int32), draw_zipf(rng, several, labels, shift=0.02 * labels)]
    )
    rows = rng.integers(0, n, len(columns), dtype=np.int32)
    Y = sp.csr_array((np.ones(len(columns), np.float32), (rows, columns)), shape=(n, labels))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


def make_instances(
    rng: np.random.Generator, Y: sp.csr_array, d: int, per_instance: float, topical: int
) -> CSR:
    """Make instances of unit length and a bias feature, which comes last.

    Parameters
    ----------
    rng : Generator
        Source of random numbers.
    Y : csr_array (n, l)
        Labels of the instances.
    d : int
        Number of words.
    per_instance : float
        Mean number of words of an instance.
    topical : int
        Largest number of labels from which an instance has words.
    """
    n, labels = Y.shape
    own = draw_zipf(rng, (labels, WORDS_OF_LABEL), d, shift=200.0)
    counts = np.minimum(np.diff(Y.indptr), topical)
    rows = np.repeat(np.arange(n, dtype=np.int32), counts)
    first_entries = np.repeat(Y.indptr[:-1], counts)
    numbers = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = first_entries + numbers
    topics = own[
        Y.indices[first][:, None], rng.integers(0, WORDS_OF_LABEL, (len(rows), DRAWN_WORDS))
    ]
    common = per_instance - DRAWN_WORDS * len(rows) / n
    others = draw_zipf(rng, int(n * common), d, shift=30.0)
    rows = np.concatenate(
        [np.repeat(rows, DRAWN_WORDS), rng.integers(0, n, len(others), dtype=np.int32)]
    )
    columns = np.concatenate([topics.ravel(), others])
    values = 1 / np.log(np.arange(2, d + 2))[::-1].astype(np.float32)[columns]
    X = sp.csr_array((values, (rows, columns)), shape=(n, d))
    X.sum_duplicates()
    lengths = np.sqrt(np.add.reduceat(np.append(X.data, 0) ** 2, X.indptr[:-1])) + 1e-9
    X.data /= np.repeat(lengths, np.diff(X.indptr)).astype(np.float32)
    return append_bias(X)


def append_bias(X: sp.csr_array) -> CSR:
    """Append a last column of ones."""
    n, d = X.shape
    ends = X.indptr[1:].astype(np.int64)
    data = np.insert(X.data, ends, 1).astype(np.float32)
    indices = np.insert(X.indices, ends, d).astype(np.int32)
    indptr = X.indptr.astype(np.int64) + np.arange(n + 1)
    return CSR(data, indices, indptr, d + 1)


def main(name: str, path: str) -> None:
    """Write the dataset."""
    n, d, labels, labels_each, words_each = SIZES[name]
    rng = np.random.default_rng(0)
    Y = make_labels(rng, n, labels, labels_each)
    X = make_instances(rng, Y, d, words_each, topical=6)
    train = Split(X, from_scipy(Y))
    few = sp.csr_array((10, labels), dtype=np.float32)
    test = Split(
        CSR(X.data[: X.indptr[10]], X.indices[: X.indptr[10]], X.indptr[:11], d + 1),
        from_scipy(few),
    )
    write_dataset(path, train, test, [str(label) for label in range(labels)], [], {"bias": 1.0})
    print(f"{name}: {len(X.data):,} entries, {len(train.Y.data):,} positives")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
