"""Names of labels as further training texts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ovaflow.console.errors import StrPath
from ovaflow.features.tfidf import TfIdf, stack_blocks
from ovaflow.features.tokens import SYMBOLS, find_words, tokenize, tokenize_in_batches
from ovaflow.features.vocabulary import join_tokens
from ovaflow.sparse.csr import CSR, select_rows


def find_names_of_symbols(names: Sequence[str], texts: Iterable[str]) -> list[str]:
    """Find the names, such as C and C++, that are in texts, but have no plain word."""
    without_words = []
    for number in np.flatnonzero(np.diff(tokenize(names).indptr) == 0).tolist():
        # numbers are more often codes than words of texts
        if any(character.isalpha() for character in names[number]):
            without_words.append(names[number])
    if not without_words:
        return []
    words: set[str] = set()
    for tokens in tokenize_in_batches(texts, word_kind=SYMBOLS, quiet=True):
        words.update(tokens.words)
    return [name for name in without_words if find_words(name, word_kind=SYMBOLS) <= words]


def append_label_names(
    train: Any,
    names: Iterable[str],
    transform: TfIdf,
    folder: StrPath | None = None,
    others: Sequence[Iterable[str]] = (),
) -> Any:
    """Append the names of labels to training instances, as texts with that label.

    Parameters
    ----------
    train : ovaflow.dataset.dataset.Split
        Training instances.
    names : iterable of str
        Name of each label; an empty one has no features and is left out.
    transform : TfIdf
        Transform of texts.
    folder : path-like, optional
        Folder of temporary files, from which the features are mapped.
    others : sequence of iterables of str
        Further names of each label.

    Returns
    -------
    train : ovaflow.dataset.dataset.Split
        The instances, then the names, then the further names.
    """
    texts = list(names)
    n_labels = len(texts)
    labels = list(range(n_labels))
    for label, further in enumerate(others):
        for name in further:
            texts.append(name)
            labels.append(label)
    tokens = tokenize(texts, frozenset(transform.left_out), transform.words)
    X, lengths = transform.transform_tokens(tokens)
    n_bias_features = 1 if transform.bias != 0 else 0
    rows = np.flatnonzero(np.diff(X.indptr) > n_bias_features)
    columns = np.array(labels, np.int32)[rows]
    Y = CSR(np.ones(len(rows), np.float32), columns, np.arange(len(rows) + 1), n_labels)
    appended = replace(
        train,
        X=stack_blocks([train.X, select_rows(X, rows)], X.n_columns, folder),
        Y=stack_blocks([train.Y, Y], n_labels),
        tokens=train.tokens and join_tokens(train.tokens, tokens.take(rows), folder),
    )
    if train.norms is not None and lengths is not None:
        appended = replace(appended, norms=np.concatenate([train.norms, lengths[rows]]))
    if train.weights is not None:
        weights = np.pad(train.weights, (0, len(rows)), constant_values=1)
        appended = replace(appended, weights=weights)
    if train.extra is not None:
        appended = replace(appended, extra=np.pad(train.extra, (0, len(rows))))
    return appended
