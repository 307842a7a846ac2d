"""Failures worth a look: sure and wrong, often missed, and one label in place of another."""

import numpy as np


def sure_and_wrong(ids, scores, hits, n_true, amount):
    """First predictions with the highest scores that are not true, each label once."""
    rows = np.flatnonzero((n_true > 0) & ~hits[:, 0] & (ids[:, 0] >= 0)) if ids.shape[1] else np.array([], np.int64)
    rows = rows[np.argsort(-scores[rows, 0], kind="stable")] if len(rows) else rows
    _, first = np.unique(ids[rows, 0] if len(rows) else rows, return_index=True)
    return [
        {"row": int(row), "label": int(ids[row, 0]), "score": float(scores[row, 0])}
        for row in rows[np.sort(first)][:amount]
    ]


def often_missed(ids, hits, Y, amount):
    """Labels that are missed in the most instances, with how often they are true and found."""
    true = np.bincount(Y.indices, minlength=Y.n_columns)
    found = np.bincount(ids[hits], minlength=Y.n_columns)
    missed = true - found
    order = np.argsort(-missed, kind="stable")[:amount]
    return [
        {"label": int(label), "true": int(true[label]), "found": int(found[label])} for label in order if missed[label]
    ]


def confused(ids, hits, Y, amount):
    """Pairs of labels one of which is predicted where the other is true, more often than chance makes expect."""
    missed, wrong = _pairs(ids, hits, Y)
    if not len(missed):
        return []
    keys, times = np.unique(missed * np.int64(Y.n_columns) + wrong, return_counts=True)
    of_missed, of_wrong = (np.bincount(side, minlength=Y.n_columns) for side in (missed, wrong))
    left, right = np.divmod(keys, Y.n_columns)
    expected = of_missed[left] * of_wrong[right] / len(missed)
    order = np.argsort(expected - times, kind="stable")[:amount]
    return [
        {
            "true": int(left[i]),
            "predicted": int(right[i]),
            "times": int(times[i]),
            "expected": float(expected[i]),
        }
        for i in order
        if times[i] > 1
    ]


def _pairs(ids, hits, Y):
    """Missed true labels and wrong predictions of the same instance, each with each: two arrays of one length."""
    n_true = np.diff(Y.indptr)
    wrong = ~hits & (ids >= 0) & (np.arange(ids.shape[1]) < n_true[:, None])
    rows = np.repeat(np.arange(len(ids)), n_true)
    width = max(Y.n_columns, 1)
    predicted = (np.arange(len(ids))[:, None] * width + ids)[hits]
    open_ = ~np.isin(rows * width + Y.indices, predicted)
    missed, rows = Y.indices[open_].astype(np.int64), rows[open_]
    amounts = wrong.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(amounts)])
    each = amounts[rows]
    places = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each) + np.repeat(starts[rows], each)
    return np.repeat(missed, each), ids[wrong].astype(np.int64)[places]
