"""Names of labels as further training texts."""

from dataclasses import replace
from itertools import chain

import numpy as np

from ovaflow.features.tfidf import stack_blocks
from ovaflow.features.tokens import tokenize
from ovaflow.features.vocabulary import join_tokens
from ovaflow.sparse.csr import CSR, select_rows


def append_label_names(train, names, transform, folder=None, others=()):
    """Training instances, then the names, and ``others``, of each label as texts with that label."""
    texts = [*names, *chain.from_iterable(others)]
    labels = [*range(len(names)), *(label for label, more in enumerate(others) for _ in more)]
    tokens = tokenize(texts, frozenset(transform.left_out))
    X, lengths = transform.transform_tokens(tokens)
    rows = np.flatnonzero(np.diff(X.indptr) > (transform.bias != 0))
    labels = np.array(labels, np.int32)[rows]
    Y = CSR(np.ones(len(rows), np.float32), labels, np.arange(len(rows) + 1), len(names))
    norms = None if train.norms is None else np.concatenate([train.norms, lengths[rows]])
    X = stack_blocks([train.X, select_rows(X, rows)], X.n_columns, folder)
    tokens = train.tokens and join_tokens(train.tokens, tokens.take(rows), folder)
    named = replace(
        train, X=X, Y=stack_blocks([train.Y, Y], len(names)), norms=norms, tokens=tokens
    )
    weights = (
        None if train.weights is None else np.pad(train.weights, (0, len(rows)), constant_values=1)
    )
    extra = None if train.extra is None else np.pad(train.extra, (0, len(rows)))
    return replace(named, weights=weights, extra=extra)
