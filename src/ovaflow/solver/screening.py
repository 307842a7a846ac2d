"""Which instances can have a curved loss: upper bounds of all scores, for many labels at a time.

Under the squared hinge a negative instance matters only while <w, x_i> > -1,
which few of them reach (under 1 % at the optimum). Finding them needs no exact
scores of the others:

* the *popular* features, hundreds to a few thousand, hold half of the entries of
  texts; their part of the score is computed for a whole batch of labels at once,
  so that one cache line of weights serves 16 labels;
* of the *rare* features only positive weights can raise a score of nonnegative
  features. They are added exactly through posting lists; leaving out the
  negative ones leaves an upper bound.

Instances whose bound exceeds -1 are then scored exactly. No instance with
<w, x_i> > -1 can be missed.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.sparse.csr import count_column_nonzeros, entry_column, is_full
from ovaflow.sparse.jit import kernel, strict_kernel
from ovaflow.sparse.panel import PANEL_WIDTH, multiply_row

STRIPE_INSTANCES = 1 << 17
"""Instances whose bounds are held at a time, which bounds the memory of a thread."""

TRANSPOSED_INSTANCES = 128
"""Instances whose bounds are turned from rows into columns at a time."""

_ALL_POPULAR = 2048
_MOST_POPULAR = 8192
_NEGLIGIBLE = 2.5e-4
_ROUNDING = 1e-4


class Screen(NamedTuple):
    """Features divided into popular and rare ones; read by all threads."""

    popular_data: (
        np.ndarray
    )  # X restricted to popular features, CSR over instances, columns renumbered
    popular_indices: np.ndarray
    popular_indptr: np.ndarray
    popular_features: np.ndarray
    popular_id: np.ndarray  # number among the popular features, -1 for rare ones; shape (d,)
    rare_data: (
        np.ndarray
    )  # posting lists of rare features, stripe by stripe; those of popular features are empty
    rare_rows: np.ndarray  # from the beginning of the stripe
    rare_indptr: (
        np.ndarray
    )  # from the beginning of the stripe's entries: int32, shape (stripes, d + 1)
    rare_starts: np.ndarray  # where the entries of each stripe begin: int64, shape (stripes + 1,)
    signed: (
        np.ndarray
    )  # rare features with negative values, added whatever their weight; empty if there are none
    slack: (
        np.ndarray
    )  # what an instance's score may exceed its bound by, as rounding and tiny weights are left out


def make_screen(X, mean_positives=1.0):
    """Divide the features of a matrix: popular are those of more than 1 % of the instances, 8,192
    at most.

    Labels of more than ten positives reach more of the others, so that these are popular from fewer
    instances on. Where there are no more than 2,048 features, or rows are full, all are; zeros of
    full rows are left out.
    """
    n = X.n_rows
    d = X.n_columns
    frequency = count_column_nonzeros(X)
    order = np.argsort(-frequency, kind="stable")
    share = min(0.01, 0.1 / mean_positives)
    all_popular = d <= _ALL_POPULAR or is_full(X)
    count = d if all_popular else min(int((frequency > share * n).sum()) + 1, _MOST_POPULAR)
    popular_features = order[:count].astype(np.int32)
    popular_id = np.full(d, -1, np.int32)
    popular_id[popular_features] = np.arange(count, dtype=np.int32)
    n_rare = int(frequency[popular_id < 0].sum())
    n_popular = int(frequency.sum()) - n_rare
    popular = (
        np.empty(n_popular, np.float32),
        np.empty(n_popular, np.int32),
        np.zeros(n + 1, np.int64),
    )
    rare = np.empty(n_rare, np.float32), np.empty(n_rare, np.int32)
    firsts = range(0, n, STRIPE_INSTANCES)
    rare_indptr = np.zeros((len(firsts), d + 1), np.int32)
    rare_starts = np.zeros(len(firsts) + 1, np.int64)
    signed = np.zeros(d, bool)
    slack = np.empty(n, np.float32)
    for stripe, first in enumerate(firsts):
        last = min(first + STRIPE_INSTANCES, n)
        part = X.part(first, last)
        np.cumsum(
            np.where(popular_id < 0, count_column_nonzeros(part), 0), out=rare_indptr[stripe, 1:]
        )
        rare_starts[stripe + 1] = rare_starts[stripe] + rare_indptr[stripe, -1]
        slots = rare_starts[stripe] + rare_indptr[stripe, :-1]
        ends = popular[2][first : last + 1]
        _divide(
            *part.arrays, popular_id, *popular[:2], ends, *rare, slots, signed, slack[first:last]
        )
    signed = signed if signed.any() else signed[:0]
    return Screen(
        *popular, popular_features, popular_id, *rare, rare_indptr, rare_starts, signed, slack
    )


@strict_kernel
def _divide(
    data,
    indices,
    indptr,
    popular_id,
    p_data,
    p_indices,
    p_indptr,
    r_data,
    r_rows,
    next_slot,
    signed,
    slack,
) -> None:
    """Copy a stripe's popular entries by row and rare ones by feature; slack_i = eps sum_{f rare}
    |x_if| + rounding.
    """
    filled = p_indptr[0]
    for i in range(len(indptr) - 1):
        row_sum = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            feature = entry_column(indices, k, indptr[i])
            if data[k] == 0 and popular_id[feature] >= 0:
                continue
            if popular_id[feature] >= 0:
                p_data[filled] = data[k]
                p_indices[filled] = popular_id[feature]
                filled += 1
            else:
                slot = next_slot[feature]
                next_slot[feature] = slot + 1
                r_data[slot] = data[k]
                r_rows[slot] = i
                row_sum += abs(data[k])
                if data[k] < 0:
                    signed[feature] = True
        p_indptr[i + 1] = filled
        slack[i] = _NEGLIGIBLE * row_sum + _ROUNDING


@kernel
def bound_by_popular_features(screen, popular_weights, first, last, block, bounds) -> None:
    """bounds[c, i] = slack_i + sum over popular f of x_if w_cf, for the instances first to last."""
    for start in range(first, last, TRANSPOSED_INSTANCES):
        end = min(start + TRANSPOSED_INSTANCES, last)
        for i in range(start, end):
            begin = screen.popular_indptr[i]
            stop = screen.popular_indptr[i + 1]
            multiply_row(
                screen.popular_data,
                screen.popular_indices,
                begin,
                stop,
                popular_weights,
                block[i - start],
            )
        for c in range(PANEL_WIDTH):
            for i in range(start, end):
                bounds[c, i - first] = block[i - start, c] + screen.slack[i]


@kernel
def add_rare_features(screen, features, weights, stripe, bounds) -> None:
    """bounds[i] += sum over rare f with w_f > 0 (or signed values) of x_if w_f, for the instances
    of a stripe.
    """
    indptr = screen.rare_indptr[stripe]
    start = screen.rare_starts[stripe]
    any_signed = len(screen.signed) > 0
    for e in range(len(features)):
        f = features[e]
        weight = weights[e]
        matters = weight > _NEGLIGIBLE or (any_signed and screen.signed[f])
        if not matters or screen.popular_id[f] >= 0:
            continue
        for k in range(np.uint64(start + indptr[f]), np.uint64(start + indptr[f + 1])):
            bounds[np.uint32(screen.rare_rows[k])] += screen.rare_data[k] * weight


@strict_kernel
def collect_above(bounds, count, threshold, first, instances, length):
    """Append {i : bounds_i > threshold} to a list of instances; returns its new length."""
    for i in range(count):
        instances[length] = first + i
        length += bounds[i] > threshold
    return length


@strict_kernel
def estimate_threshold(values, count, n_above, histogram):
    """A number that about ``n_above`` of the values exceed, the largest always among them; from a
    sample of them.
    """
    step = max(1, count // 4096)
    low = high = values[0]
    for i in range(0, count, step):
        low = min(low, values[i])
        high = max(high, values[i])
    if not high > low:
        return low - 1
    histogram[:] = 0
    scale = (len(histogram) - 1) / (high - low)
    for i in range(0, count, step):
        place = (values[i] - low) * scale
        # false for nan, which overflow of huge features can bring here
        if 0 <= place < len(histogram):
            histogram[int(place)] += 1
    left = n_above
    fullest = len(histogram) - 1
    while left > 0 and fullest >= 0:
        left -= histogram[fullest] * step
        fullest -= 1
    return low + (fullest + 0.5) / scale
