"""Trees of labels: the labels above each one, by the parts of its name or by a vocabulary's broader
subjects.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from ovaflow.sparse.csr import CSR, from_scipy

BROADER = "broader"
"""Setting for the relations of a vocabulary, in place of a separator."""


def find_ancestors_by_name(separator: str) -> Callable[[str], list[str]]:
    """Return a function that gives the names above a name.

    Of ``home > kitchen > knives`` these are ``home`` and ``home > kitchen``.
    """

    def find_ancestors(name: str) -> list[str]:
        parts = name.split(separator)
        return [separator.join(parts[:end]) for end in range(1, len(parts))]

    return find_ancestors


def find_ancestors_by_relation(
    broader: Mapping[Any, Iterable[Any]],
) -> Callable[[Any], list[Any]]:
    """Return a function that gives all subjects above a subject, also in circles.

    ``broader`` has the subjects directly above each one.
    """
    ancestors_by_subject: dict[Any, dict[Any, bool]] = {}

    def find_ancestors(subject: Any) -> list[Any]:
        if subject not in ancestors_by_subject:
            ancestors: dict[Any, bool] = {}
            waiting = list(broader.get(subject, ()))
            while waiting:
                parent = waiting.pop()
                if parent not in ancestors and parent != subject:
                    ancestors[parent] = True
                    waiting += broader.get(parent, ())
            ancestors_by_subject[subject] = ancestors
        return list(ancestors_by_subject[subject])

    return find_ancestors


def build_ancestor_matrix(
    marks: Sequence[Hashable], find_ancestors: Callable[[Any], Iterable[Any]]
) -> CSR:
    """Build the matrix (l, l) whose row of each label has ones for the labels above it.

    Parameters
    ----------
    marks : sequence
        Name or URI of each label.
    find_ancestors : callable
        Gives the names or URIs above one; those of no label are left out.

    Returns
    -------
    matrix : CSR
        Ones, shape (l, l).
    """
    ids = {mark: label for label, mark in enumerate(marks)}
    rows: list[int] = []
    columns: list[int] = []
    for label, mark in enumerate(marks):
        parents = [ids[parent] for parent in find_ancestors(mark) if parent in ids]
        rows += [label] * len(parents)
        columns += parents
    shape = len(marks), len(marks)
    return from_scipy(scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape))


def list_ancestors(matrix: CSR, label: int) -> list[int]:
    """List the labels above a label, by the matrix of :func:`build_ancestor_matrix`."""
    return matrix.indices[matrix.indptr[label] : matrix.indptr[label + 1]].tolist()


def compute_levels(matrix: CSR) -> np.ndarray:
    """Compute the level of each label, 1 for those with none above: int64 (l,)."""
    levels = np.ones(matrix.n_rows, np.int64)
    # a label has more labels above it than any of these has
    for label in np.argsort(np.diff(matrix.indptr), kind="stable"):
        levels[label] += levels[list_ancestors(matrix, label)].max(initial=0)
    return levels


def select_most_specific(labels: Iterable[int], matrix: CSR, most: int) -> list[int]:
    """Select the labels that have none of the others below them.

    Parameters
    ----------
    labels : iterable of int
        Labels by falling score.
    matrix : CSR
        Labels above each label, as :func:`build_ancestor_matrix` gives them.
    most : int
        Largest number of selected labels: from there on further labels are not considered.

    Returns
    -------
    selected : list of int
        The selected labels.
    """
    selected: list[int] = []
    covered: set[int] = set()
    for label in labels:
        if label in covered:
            continue
        above = set(list_ancestors(matrix, label))
        deeper = [other for other in selected if other not in above] + [label]
        if len(deeper) > most:
            break
        selected = deeper
        covered |= above
    return selected
