"""Screening: instances that can have a curved loss, by upper bounds of their scores.

Under the squared hinge a negative instance matters only while <w, x_i> > -1,
which few of them reach (under 1 % at the optimum). Finding them needs no exact
scores of the others; bounds are computed for many labels at a time:

* the *popular* features, hundreds to a few thousand, hold half of the entries of
  texts; their part of the score is computed for a whole batch of labels at once,
  so that each feature's weights are read for 64 labels together;
* of the *rare* features only positive weights can raise a score of nonnegative
  features. They are added exactly through posting lists; leaving out the
  negative ones leaves an upper bound.

Instances whose bound exceeds -1 are then scored exactly. No instance with
<w, x_i> > -1 can be missed.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.sparse.csr import CSR, count_column_nonzeros, entry_column, is_full
from ovaflow.sparse.jit import inner_kernel, strict_callee, strict_kernel
from ovaflow.sparse.panel import PANEL_WIDTH, multiply_row

STRIPE_INSTANCES = 1 << 17
"""Instances whose bounds are held at a time, which bounds the memory of a thread."""

TRANSPOSED_INSTANCES = 128
"""Instances whose bounds are turned from rows into columns at a time: the cache holds them."""

_ALL_POPULAR_FEATURES = 2048
"""Number of features up to which all are popular: posting lists would save nothing."""

_MOST_POPULAR_FEATURES = 8192
"""Largest number of popular features, whose weights for a batch then take 2 MiB."""

_POPULAR_SHARE = 0.01
"""Share of the instances beyond which a feature is popular."""

_NEGLIGIBLE_WEIGHT = 2.5e-4
"""Weights of rare features that are left out; the slack of each instance makes up for them."""

_ROUNDING_SLACK = 1e-4
"""Most by which float32 sums of scores differ, added to each bound."""

_THRESHOLD_SAMPLE = 4096
"""Values from which a threshold is estimated."""


class Screen(NamedTuple):
    """Features divided into popular and rare ones; read by all threads."""

    # X restricted to popular features: CSR over instances, columns renumbered
    popular_data: np.ndarray
    popular_indices: np.ndarray
    popular_indptr: np.ndarray
    popular_features: np.ndarray  # feature of each number
    popular_id: np.ndarray  # number among the popular features, -1 for rare ones: int32 (d,)
    # posting lists of rare features, stripe by stripe; those of popular features are empty
    rare_data: np.ndarray
    rare_rows: np.ndarray  # from the beginning of the stripe
    # from the beginning of the stripe's entries: int32, shape (stripes, d + 1)
    rare_indptr: np.ndarray
    rare_starts: np.ndarray  # first entry of each stripe: int64, shape (stripes + 1,)
    # rare features with negative values, added whatever their weight: bool (d,), empty without any
    signed: np.ndarray
    # how much a score may exceed its bound, as rounding and tiny weights are left out: (n,)
    slack: np.ndarray


def make_screen(X: CSR, mean_positives: float = 1.0) -> Screen:
    """Divide the features of a matrix into popular and rare ones.

    Popular are those of more than 1 % of the instances, at most 8,192. Labels of more than ten
    positives reach more of the others, so that these are popular from fewer instances on. Where
    there are no more than 2,048 features, or rows are full, all are; zeros of full rows are left
    out.
    """
    n = X.n_rows
    d = X.n_columns
    frequency = count_column_nonzeros(X)
    popular_features = _find_popular_features(X, frequency, mean_positives)
    popular_id = np.full(d, -1, np.int32)
    popular_id[popular_features] = np.arange(len(popular_features), dtype=np.int32)
    n_rare = int(frequency[popular_id < 0].sum())
    n_popular = int(frequency.sum()) - n_rare
    stripe_starts = range(0, n, STRIPE_INSTANCES)
    screen = Screen(
        popular_data=np.empty(n_popular, np.float32),
        popular_indices=np.empty(n_popular, np.int32),
        popular_indptr=np.zeros(n + 1, np.int64),
        popular_features=popular_features,
        popular_id=popular_id,
        rare_data=np.empty(n_rare, np.float32),
        rare_rows=np.empty(n_rare, np.int32),
        rare_indptr=np.zeros((len(stripe_starts), d + 1), np.int32),
        rare_starts=np.zeros(len(stripe_starts) + 1, np.int64),
        signed=np.zeros(d, bool),
        slack=np.empty(n, np.float32),
    )
    for stripe, first in enumerate(stripe_starts):
        part = X.part(first, min(first + STRIPE_INSTANCES, n))
        lengths = np.where(popular_id < 0, count_column_nonzeros(part), 0)
        np.cumsum(lengths, out=screen.rare_indptr[stripe, 1:])
        start = screen.rare_starts[stripe]
        screen.rare_starts[stripe + 1] = start + screen.rare_indptr[stripe, -1]
        _divide_stripe(part, first, screen, start + screen.rare_indptr[stripe, :-1])
    if not screen.signed.any():
        return screen._replace(signed=screen.signed[:0])
    return screen


def _find_popular_features(X: CSR, frequency: np.ndarray, mean_positives: float) -> np.ndarray:
    """Find the popular features, the most frequent first: int32."""
    n_popular = X.n_columns
    if X.n_columns > _ALL_POPULAR_FEATURES and not is_full(X):
        share = min(_POPULAR_SHARE, 10 * _POPULAR_SHARE / mean_positives)
        n_frequent = int((frequency > share * X.n_rows).sum())
        n_popular = min(n_frequent + 1, _MOST_POPULAR_FEATURES)
    order = np.argsort(-frequency, kind="stable")
    return order[:n_popular].astype(np.int32)


@strict_kernel
def _divide_stripe(part: CSR, first: int, screen: Screen, next_slot: np.ndarray) -> None:
    """Copy a stripe's popular entries by row and rare ones by feature, and fill its slack.

    slack_i = eps sum_{f rare} |x_if| + rounding. ``part`` has the rows of the stripe, which begins
    with instance ``first``; the next entry of each rare feature goes to ``next_slot`` (d,).
    """
    filled = screen.popular_indptr[first]
    for i in range(len(part.indptr) - 1):
        row_sum = 0.0
        for k in range(part.indptr[i], part.indptr[i + 1]):
            feature = entry_column(part.indices, k, part.indptr[i])
            value = part.data[k]
            popular_id = screen.popular_id[feature]
            if popular_id >= 0:
                if value != 0:
                    screen.popular_data[filled] = value
                    screen.popular_indices[filled] = popular_id
                    filled += 1
            else:
                slot = next_slot[feature]
                next_slot[feature] = slot + 1
                screen.rare_data[slot] = value
                screen.rare_rows[slot] = i
                row_sum += abs(value)
                if value < 0:
                    screen.signed[feature] = True
        screen.popular_indptr[first + i + 1] = filled
        screen.slack[first + i] = _NEGLIGIBLE_WEIGHT * row_sum + _ROUNDING_SLACK


@inner_kernel
def bound_by_popular_features(
    screen: Screen,
    popular_weights: np.ndarray,
    first: int,
    last: int,
    block: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """Fill bounds[c, i] = slack_i + sum over popular f of x_if w_cf, for instances first to last.

    Parameters
    ----------
    popular_weights
        Shape (F, PANEL_WIDTH).
    block
        Scratch of shape (TRANSPOSED_INSTANCES, PANEL_WIDTH).
    bounds
        Shape (PANEL_WIDTH, at least last - first).
    """
    for start in range(first, last, TRANSPOSED_INSTANCES):
        end = min(start + TRANSPOSED_INSTANCES, last)
        for i in range(start, end):
            row_start = screen.popular_indptr[i]
            row_end = screen.popular_indptr[i + 1]
            multiply_row(
                screen.popular_data,
                screen.popular_indices,
                row_start,
                row_end,
                popular_weights,
                block[i - start],
            )
        for c in range(PANEL_WIDTH):
            for i in range(start, end):
                bounds[c, i - first] = block[i - start, c] + screen.slack[i]


@inner_kernel
def add_rare_features(
    screen: Screen, features: np.ndarray, weights: np.ndarray, stripe: int, bounds: np.ndarray
) -> None:
    """Add to bounds[i] the sum of x_if w_f over rare f with w_f > 0 (or signed values).

    ``bounds`` are those of the instances of a stripe; ``features`` and ``weights`` are a label's.
    """
    indptr = screen.rare_indptr[stripe]
    start = screen.rare_starts[stripe]
    any_signed = len(screen.signed) > 0
    for e in range(len(features)):
        f = features[e]
        weight = weights[e]
        matters = weight > _NEGLIGIBLE_WEIGHT or (any_signed and screen.signed[f])
        if not matters or screen.popular_id[f] >= 0:
            continue
        for k in range(np.uint64(start + indptr[f]), np.uint64(start + indptr[f + 1])):
            bounds[np.uint32(screen.rare_rows[k])] += screen.rare_data[k] * weight


@strict_callee
def collect_above(
    bounds: np.ndarray,
    count: int,
    threshold: float,
    first: int,
    instances: np.ndarray,
    length: int,
) -> int:
    """Append {first + i : bounds_i > threshold, i < count} to a list of instances.

    Returns the new length of the list, which had ``length`` entries.
    """
    for i in range(count):
        instances[length] = first + i
        # without a branch, which the processor would often predict wrongly
        length += bounds[i] > threshold
    return length


@strict_kernel
def estimate_threshold(
    values: np.ndarray, count: int, n_above: float, histogram: np.ndarray
) -> float:
    """Estimate a number that about ``n_above`` of the first ``count`` values exceed.

    It is found in the histogram of a sample of them; the largest value always exceeds it.
    """
    step = max(1, count // _THRESHOLD_SAMPLE)
    low = values[0]
    high = values[0]
    for i in range(0, count, step):
        low = min(low, values[i])
        high = max(high, values[i])
    if not high > low:
        return low - 1
    histogram[:] = 0
    scale = (len(histogram) - 1) / (high - low)
    for i in range(0, count, step):
        bin_position = (values[i] - low) * scale
        # false for nan, which overflow of huge features can bring here
        if 0 <= bin_position < len(histogram):
            histogram[int(bin_position)] += 1
    n_missing = n_above
    lowest_bin = len(histogram) - 1
    while n_missing > 0 and lowest_bin >= 0:
        n_missing -= histogram[lowest_bin] * step
        lowest_bin -= 1
    return low + (lowest_bin + 0.5) / scale
