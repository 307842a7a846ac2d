"""Test instances that a model may remember: those with a near twin in training, and which that is."""

import numpy as np

from ovaflow.data.columns import of_words
from ovaflow.data.near_twins import same_features_among, twins_among
from ovaflow.sparse.csr import rows_of

HEADER = ("test_record", "training_record", "shared", "text", "test_labels", "training_labels")
_WORDS = 8  # heaviest features of a record whose text is not kept
_BEGINNING = 200  # characters of a text
_BETWEEN = "; "  # labels


def table(dataset):
    """Rows of :data:`HEADER`, the most alike first; shared is the Jaccard index of the features."""
    n, rows = dataset.n_documents, np.flatnonzero(dataset.test.twins)
    parts = rows_of(dataset.test.X, rows), dataset.train.X.part(0, n)
    X, others = (of_words(part, dataset.parameters) for part in parts)
    twins = twins_among(X, others)
    # short copies are no near twins by their features
    alone = np.flatnonzero(twins < 0)
    twins[alone] = same_features_among(rows_of(X, alone), others)
    shared = [_jaccard(X, row, others, twin) for row, twin in enumerate(twins.tolist())]
    ids, training_ids = dataset.ids("test"), dataset.ids("train")
    texts = dataset.test_texts(rows) or [" ".join(dataset.heaviest_features("test", row, _WORDS)) for row in rows]
    order = np.argsort(np.negative(shared), kind="stable").tolist()
    return [
        (
            ids[rows[place]] or f"test instance {rows[place]}",
            _name(training_ids, twins[place]),
            f"{shared[place]:.2f}",
            " ".join(texts[place][:_BEGINNING].split()),
            _labels(dataset, dataset.test.Y, rows[place]),
            _labels(dataset, dataset.train.Y, twins[place]),
        )
        for place in order
        if twins[place] >= 0
    ]


def _name(ids, row):
    return ids[row] or f"training instance {row}"


def _labels(dataset, Y, row):
    labels = Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()
    return _BETWEEN.join(map(dataset.label_name, labels))


def _jaccard(X, row, others, twin):
    if twin < 0:
        return 0.0
    ours, theirs = (each.indices[each.indptr[i] : each.indptr[i + 1]] for each, i in ((X, row), (others, twin)))
    common = len(np.intersect1d(ours, theirs))
    return common / (len(ours) + len(theirs) - common)
