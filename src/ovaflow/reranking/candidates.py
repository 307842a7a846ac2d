"""Candidates of a text: the best labels by score, then those that similar texts or other sources name first."""

from typing import NamedTuple

import numpy as np

from ovaflow.model.top_k import NO_LABEL, no_labels
from ovaflow.settings.predict import CANDIDATES
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel

MORE = 10
"""Labels that similar texts, and each source, add at most."""


class Candidates(NamedTuple):
    """Texts, and candidates of each."""

    texts: CSR  # rows of length 1
    pieces: CSR | None  # of names of labels in the texts, where they are evidence; rows of length 1
    nearest: tuple  # ids and cosines of similar texts
    ids: np.ndarray  # int32 (n, k); -1 where there is none
    scores: np.ndarray  # float32 (n, k); -inf where a candidate is not among the best by score
    ranks: np.ndarray  # (k,)

    def with_scored(self, ids, scores):
        """Add candidates (n, m) with their scores, which rank after all others that have a score."""
        known = np.array([np.isin(*pair) for pair in zip(ids, self.ids, strict=True)])
        more = np.where(known, NO_LABEL, ids), np.where(known, np.float32(-np.inf), scores)
        every = map(np.hstack, zip((self.ids, self.scores), more, strict=True))
        ranks = np.append(self.ranks, np.full(ids.shape[1], CANDIDATES - 1))
        return Candidates(self.texts, self.pieces, self.nearest, *every, ranks)


def hits_among(ids, Y):
    """Which candidates (n, k) of texts with labels Y are true."""
    rows = np.arange(len(ids))[:, None]
    return (Y.to_scipy()[rows, ids].toarray() > 0) & (ids != NO_LABEL)


def first_of(suggestions):
    """What each source suggests first, (n, m)."""
    return [each.ids[:, :MORE] for each in suggestions]


def n_more(suggestions):
    """Columns of candidates that sources add."""
    return sum(each.shape[1] for each in first_of(suggestions))


def with_more(ids, scores, lists):
    """Candidates and scores, then those of each list (n, m) that are not among them, in columns of their own."""
    width = ids.shape[1] + sum(each.shape[1] for each in lists)
    wider = no_labels(len(ids), width)
    end = ids.shape[1]
    wider[0][:, :end], wider[1][:, :end] = ids, scores
    for each in lists:
        _append(each, end, wider[0])
        end += each.shape[1]
    return wider


@strict_kernel
def _append(more, start, ids):
    for i in range(len(ids)):
        end = start
        for label in more[i]:
            known = label == NO_LABEL
            for c in range(end):
                known |= ids[i, c] == label
            if not known:
                ids[i, end] = label
                end += 1
