"""Evidence of the other candidates: which labels go together, P(label | other label) among training
texts.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from ovaflow.reranking.evidence.kind import Evidence, Wording
from ovaflow.sparse.csr import CSR, from_scipy, select_rows
from ovaflow.sparse.jit import strict_kernel

MAX_COUNTED_PAIRS = 50_000_000
"""Most pairs of labels of one text that are counted, in texts evenly spread over all."""

N_SUPPORTING = 10
"""How many of the first candidates support the others."""


MAX_NAMED_CANDIDATES = 3
"""Most other candidates that people are told of."""

MIN_NAMED_SUPPORT = 0.1
"""p(i) P(j | i) from which people are told that a candidate j goes with the candidate i."""


@dataclass(frozen=True)
class OtherCandidates(Evidence):
    """How much the likely candidates of a text support each other."""

    name = "other candidates"
    columns = ("company",)
    words = Wording(
        place=3,
        translations={"de": "passt zu {names}", "fr": "va avec {names}"},
        numbers={
            "labels": (list[int], "other suggestions that it goes with"),
            "names": (list[str], "their names"),
        },
    )

    company: (
        CSR  # (l, l); P(j | i) of the labels j that training texts have together with each label i
    )
    likelihood: (
        np.ndarray
    )  # (2,); slope and intercept of the log-odds of a label over its score alone

    @classmethod
    def fit(cls, training):
        labels = training.dataset.documents.train.Y
        return cls(count_cooccurrence(labels), np.array(training.likelihood))

    def compute(self, candidates):
        return [self.support(candidates.ids, self.likelihoods(candidates.finite_scores))]

    def likelihoods(self, scores):
        """Probabilities of labels by their scores alone: float32."""
        slope, intercept = self.likelihood.astype(np.float32)
        return scipy.special.expit(slope * scores + intercept).astype(np.float32)

    def support(self, candidates, likelihoods):
        """sum over the first other candidates i of p(i) P(j | i), for each candidate j: float32 (n,
        k).
        """
        support = np.zeros(candidates.shape, np.float32)
        places = np.full(self.company.n_rows, -1, np.int32)
        _support(*self.company.arrays, candidates, likelihoods, places, support)
        return support

    def compute_supports(self, candidates, likelihoods):
        """What :meth:`support` sums for the candidates (k,) of one text: float32 (first others, k)."""
        rows = select_rows(self.company, candidates[:N_SUPPORTING]).to_scipy()
        return likelihoods[:N_SUPPORTING, None] * rows[:, candidates].toarray()

    def reasons(self, text):
        ids = text.candidates.ids[0]
        scores = text.candidates.scores[0]
        order = np.lexsort((ids, -scores))
        by_score = ids[order]
        summands = self.compute_supports(by_score, self.likelihoods(scores[order]))[
            :, np.argsort(order)
        ]
        reasons = []
        for supports in summands.T:
            strongest = np.argsort(-supports, kind="stable")[:MAX_NAMED_CANDIDATES]
            labels = by_score[strongest[supports[strongest] >= MIN_NAMED_SUPPORT]].tolist()
            reasons.append(_reason(labels, [text.shown_name(label) for label in labels]))
        return reasons


def _reason(labels, names):
    if not labels:
        return None
    *others, last = names
    joined = f"{', '.join(others)} and {last}" if others else last
    plural = "s" if others else ""
    return {
        "text": f"goes with the other suggestion{plural} {joined}",
        "labels": labels,
        "names": names,
    }


def count_cooccurrence(Y):
    """P(j | i) of the labels j that texts have together with each label i: CSR (l, l)."""
    pairs = np.sum(np.diff(Y.indptr).astype(float) ** 2)
    if pairs > MAX_COUNTED_PAIRS:
        chosen = int(Y.n_rows * MAX_COUNTED_PAIRS / pairs)
        Y = select_rows(Y, np.arange(chosen) * Y.n_rows // chosen)
    labels = Y.to_scipy()
    together = (labels.T @ labels).tocsr()
    counts = together.diagonal()
    together.setdiag(0)
    together.eliminate_zeros()
    # one text more than there are: what was seen once is not certain
    together.data /= np.repeat(counts + 1, np.diff(together.indptr)).astype(np.float32)
    return from_scipy(together)


@strict_kernel
def _support(data, indices, indptr, candidates, likelihoods, places, support) -> None:
    """s_ij = sum over the first candidates o of p_io P(j | o)."""
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
