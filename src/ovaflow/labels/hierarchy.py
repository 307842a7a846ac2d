"""Trees of labels: which labels are above each one, by its name's parts or by a vocabulary's
broader subjects.
"""

import numpy as np
import scipy

from ovaflow.sparse.csr import CSR, from_scipy

BROADER = "broader"
"""Setting for the relations of a vocabulary, in place of a separator."""


def find_ancestors_by_name(separator):
    """A function that gives the names above a name: ``home`` and ``home > kitchen`` of ``home >
    kitchen > knives``.
    """

    def above(name):
        parts = name.split(separator)
        return [separator.join(parts[:end]) for end in range(1, len(parts))]

    return above


def find_ancestors_by_relation(broader):
    """A function that gives all subjects above a subject, from those directly above each; circles
    end nowhere.
    """
    known = {}

    def above(subject):
        if subject not in known:
            known[subject] = reached = {}
            waiting = list(broader.get(subject, ()))
            while waiting:
                parent = waiting.pop()
                if parent not in reached and parent != subject:
                    reached[parent] = True
                    waiting += broader.get(parent, ())
        return list(known[subject])

    return above


def build_ancestor_matrix(marks, above):
    """Which labels are above each label: CSR (l, l), by their names or URIs."""
    ids = {mark: label for label, mark in enumerate(marks)}
    rows = []
    columns = []
    for label, mark in enumerate(marks):
        parents = [ids[parent] for parent in above(mark) if parent in ids]
        rows += [label] * len(parents)
        columns += parents
    shape = len(marks), len(marks)
    return from_scipy(scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape))


def list_ancestors(matrix: CSR, label: int) -> list[int]:
    return matrix.indices[matrix.indptr[label] : matrix.indptr[label + 1]].tolist()


def compute_levels(matrix):
    """Level of each label, 1 for those with none above: int64 (l,)."""
    levels = np.ones(matrix.n_rows, np.int64)
    # a label has more labels above it than any of these has
    for label in np.argsort(np.diff(matrix.indptr), kind="stable"):
        levels[label] += levels[list_ancestors(matrix, label)].max(initial=0)
    return levels


def select_most_specific(labels, matrix, most):
    """The labels, by falling score, that have none of the others below them; as many as lead to
    ``most`` of these.
    """
    kept = []
    covered = set()
    for label in labels:
        if label in covered:
            continue
        above = set(list_ancestors(matrix, label))
        deeper = [other for other in kept if other not in above] + [label]
        if len(deeper) > most:
            break
        kept = deeper
        covered |= above
    return kept
