"""Evidence of the other candidates: labels that occur together, by P(label | other label) among
training texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy

from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.candidates import Candidates
from ovaflow.reranking.evidence.kind import Evidence, EvidenceTraining, ExplainedText, Wording
from ovaflow.sparse.csr import CSR, from_scipy, select_rows
from ovaflow.sparse.jit import strict_kernel
from ovaflow.storage.artifact import stored_as

MAX_COUNTED_PAIRS = 50_000_000
"""Most pairs of labels of a text that are counted; with more, only texts evenly spread over all."""

N_SUPPORTING = 10
"""Number of first candidates that support the others."""


MAX_NAMED_CANDIDATES = 3
"""Most other candidates that an explanation names."""

MIN_NAMED_SUPPORT = 0.1
"""p(i) P(j | i) from which an explanation says that a candidate j goes with the candidate i."""


@dataclass(frozen=True)
class OtherCandidates(Evidence):
    """Support of a candidate by the other likely candidates of a text."""

    name = "other candidates"
    column_names = ("company",)
    wording = Wording(
        position=3,
        translations={"de": "passt zu {names}", "fr": "va avec {names}"},
        numbers={
            "labels": (list[int], "other suggestions that it goes with"),
            "names": (list[str], "their names"),
        },
    )

    # (l, l); P(j | i) of the labels j that training texts have together with each label i
    cooccurrence: CSR = field(metadata=stored_as("company"))
    likelihood: np.ndarray  # (2,); slope and intercept of the log-odds of a label over its score

    @classmethod
    def fit(cls, training: EvidenceTraining) -> Self:
        labels = training.dataset.documents.train.Y
        return cls(count_cooccurrence(labels), np.array(training.likelihood))

    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        return [
            self.compute_support(candidates.ids, self.compute_likelihoods(candidates.finite_scores))
        ]

    def compute_likelihoods(self, scores: np.ndarray) -> np.ndarray:
        """Compute the probabilities of labels by their scores alone: float32, of the same shape."""
        slope, intercept = self.likelihood.astype(np.float32)
        return scipy.special.expit(slope * scores + intercept).astype(np.float32)

    def compute_support(self, candidates: np.ndarray, likelihoods: np.ndarray) -> np.ndarray:
        """Sum p(i) P(j | i) over the first other candidates i, for each candidate j: float32 (n,
        k).
        """
        support = np.zeros(candidates.shape, np.float32)
        places = np.full(self.cooccurrence.n_rows, -1, np.int32)
        _add_support(
            self.cooccurrence.data,
            self.cooccurrence.indices,
            self.cooccurrence.indptr,
            candidates,
            likelihoods,
            places,
            support,
        )
        return support

    def compute_summands(self, candidates: np.ndarray, likelihoods: np.ndarray) -> np.ndarray:
        """Compute the summands of :meth:`compute_support` for the candidates (k,) of one text.

        Returns float32 (m, k), a row for each of the candidates of :func:`find_supporting`.
        """
        supporting = find_supporting(candidates)
        rows = select_rows(self.cooccurrence, candidates[supporting]).to_scipy()
        return likelihoods[supporting, None] * rows[:, candidates].toarray()

    def give_reasons(self, text: ExplainedText) -> Sequence[dict[str, Any] | None]:
        ids = text.candidates.ids[0]
        likelihoods = self.compute_likelihoods(text.candidates.finite_scores[0])
        supports = self.compute_summands(ids, likelihoods)
        supporting = ids[find_supporting(ids)]
        reasons = []
        for candidate_supports in supports.T:
            strongest = np.argsort(-candidate_supports, kind="stable")[:MAX_NAMED_CANDIDATES]
            is_named = candidate_supports[strongest] >= MIN_NAMED_SUPPORT
            labels = supporting[strongest[is_named]].tolist()
            names = [text.shown_name(label) for label in labels]
            reasons.append(_explain(labels, names))
        return reasons


def find_supporting(candidates: np.ndarray) -> np.ndarray:
    """Find the places of the first candidates (k,) of a text, which support the others."""
    return np.flatnonzero(candidates[:N_SUPPORTING] != NO_LABEL)


def _explain(labels: list[int], names: list[str]) -> dict[str, Any] | None:
    if not labels:
        return None
    *others, last = names
    if others:
        text = f"goes with the other suggestions {', '.join(others)} and {last}"
    else:
        text = f"goes with the other suggestion {last}"
    return {"text": text, "labels": labels, "names": names}


def count_cooccurrence(Y: CSR) -> CSR:
    """Estimate P(j | i) of the labels j that texts have together with each label i: CSR (l, l)."""
    n_pairs = np.sum(np.diff(Y.indptr).astype(float) ** 2)
    if n_pairs > MAX_COUNTED_PAIRS:
        n_counted = int(Y.n_rows * MAX_COUNTED_PAIRS / n_pairs)
        Y = select_rows(Y, np.arange(n_counted) * Y.n_rows // n_counted)
    labels = Y.to_scipy()
    together = (labels.T @ labels).tocsr()
    counts = together.diagonal()
    together.setdiag(0)
    together.eliminate_zeros()
    # one text more than there are: a pair that occurred once is not certain
    together.data /= np.repeat(counts + 1, np.diff(together.indptr)).astype(np.float32)
    return from_scipy(together)


@strict_kernel
def _add_support(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    candidates: np.ndarray,
    likelihoods: np.ndarray,
    places: np.ndarray,
    support: np.ndarray,
) -> None:
    """Add to s_ij the sum over the first candidates o of p_io P(j | o).

    The cooccurrence is a CSR (l, l); candidates, likelihoods and support are (n, k). ``places`` is
    scratch space (l,), -1 before and after: the column of each candidate of a text.
    """
    for i in range(len(candidates)):
        row = candidates[i]
        for c in range(len(row)):
            if row[c] >= 0:
                places[row[c]] = c
        for c in range(min(N_SUPPORTING, len(row))):
            if row[c] >= 0:
                for k in range(indptr[row[c]], indptr[row[c] + 1]):
                    place = places[indices[k]]
                    if place >= 0:
                        support[i, place] += likelihoods[i, c] * data[k]
        for c in range(len(row)):
            if row[c] >= 0:
                places[row[c]] = -1
