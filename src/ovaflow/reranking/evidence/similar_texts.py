"""Evidence of similar texts: their votes for the candidates of a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ovaflow.features.normalize import copy_unit_rows
from ovaflow.model.index import LARGEST_DENSE, LARGEST_LISTED, IndexPanel, build_index
from ovaflow.model.top_k import insert_label, make_empty_ranking, search_rounded
from ovaflow.reranking.candidates import MAX_FURTHER_CANDIDATES, Candidates, PreparedTexts
from ovaflow.reranking.evidence.kind import Evidence, EvidenceTraining, ExplainedText, Wording
from ovaflow.sparse.csr import CSR, select_rows
from ovaflow.sparse.jit import strict_callee, strict_kernel

N_NEAREST = 30
"""Number of training texts that vote."""

MAX_INDEXED_TEXTS = 200_000
"""Most training texts that are searched, evenly spread over all: the index takes 3 bytes for each
of their features.
"""


class Nearest(NamedTuple):
    """The nearest training texts of each text, the nearest first."""

    texts: np.ndarray  # int32 (n, m); -1 where there are fewer
    cosines: np.ndarray  # float32 (n, m); up to the rounding of the index


@dataclass(frozen=True)
class SimilarTexts(Evidence):
    """Votes of the nearest training texts, which are searched like the labels of a model."""

    name = "similar texts"
    column_names = ("votes", "votes of all")
    directions: ClassVar[dict[str, int]] = {"votes of all": 0}
    wording = Wording(
        position=2,
        translations={
            "de": "bei {count} der {of} ähnlichsten Datensätze vergeben",
            "fr": "présent dans {count} des {of} notices les plus semblables",
        },
        numbers={
            "count": (int, "similar records that have the label"),
            "of": (int, "similar records"),
        },
    )

    labels: CSR  # of the training texts
    panels: list[
        IndexPanel
    ]  # index of the training texts, of length 1 and without the bias feature

    @classmethod
    def fit(cls, training: EvidenceTraining) -> Self:
        documents = training.dataset.documents.train
        X = documents.X
        labels = documents.Y
        if X.n_rows > MAX_INDEXED_TEXTS:
            rows = np.arange(MAX_INDEXED_TEXTS) * X.n_rows // MAX_INDEXED_TEXTS
            X = select_rows(X, rows)
            labels = select_rows(labels, rows)
        return cls.index(copy_unit_rows(X, training.dataset.n_text_features), labels)

    @classmethod
    def index(cls, X: CSR, labels: CSR) -> Self:
        """Index training texts, rows of length 1, and their labels."""
        panels = build_index(X, np.ones(X.n_rows, bool), cut=0.0)
        return cls(labels, [_round_to_bytes(panel) for panel in panels])

    def look_up(self, texts: PreparedTexts) -> Nearest:
        return self.find_nearest(texts.text_features, texts.threads)

    def suggest_candidates(self, texts: PreparedTexts) -> np.ndarray:
        return self.find_most_voted(texts.lookups[self.name], MAX_FURTHER_CANDIDATES)

    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        shares, sums = self.count_votes(candidates.texts.lookups[self.name], candidates.ids)
        return [shares, sums[:, None]]

    def give_reasons(self, text: ExplainedText) -> Sequence[dict[str, Any] | None]:
        nearest = text.candidates.texts.lookups[self.name]
        similar = nearest.texts[nearest.cosines > 0]
        counts = np.bincount(
            select_rows(self.labels, similar).indices, minlength=self.labels.n_columns
        )
        ids = text.candidates.ids[0]
        return [_explain(count, len(similar)) for count in counts[ids].tolist()]

    def find_nearest(self, X: CSR, threads: int = 1) -> Nearest:
        """Find the nearest training texts of each text, rows of length 1."""
        k = min(N_NEAREST, self.labels.n_rows)
        texts, cosines = search_rounded(self.panels, X, k, threads)
        return Nearest(texts, cosines)

    def count_votes(
        self, nearest: Nearest, candidates: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Count the votes of the nearest texts, weighted by cosine.

        Returns the share of each candidate, float32 (n, k), and the sum of all votes of each text,
        float32 (n,).
        """
        shares = np.zeros(candidates.shape, np.float32)
        sums = np.zeros(len(candidates), np.float32)
        votes = np.zeros(self.labels.n_columns, np.float32)
        _count_votes(
            nearest.texts,
            nearest.cosines,
            self.labels.indices,
            self.labels.indptr,
            votes,
            candidates,
            shares,
            sums,
        )
        return shares, sums

    def find_most_voted(self, nearest: Nearest, k: int) -> np.ndarray:
        """Find the k labels with the most votes, int32 (n, k), ties by the smaller id."""
        ids, best = make_empty_ranking(len(nearest.texts), k)
        votes = np.zeros(self.labels.n_columns, np.float32)
        _keep_most_voted(
            nearest.texts,
            nearest.cosines,
            self.labels.indices,
            self.labels.indptr,
            votes,
            ids,
            best,
        )
        return ids


def _explain(count: int, n_similar: int) -> dict[str, Any] | None:
    if count == 0:
        return None
    have = "has" if count == 1 else "have"
    return {
        "text": f"{count} of the {n_similar} most similar records {have} it",
        "count": count,
        "of": n_similar,
    }


def _round_to_bytes(panel: IndexPanel) -> IndexPanel:
    """Round the values of a panel's lists to 8 bits, too."""
    coarser = LARGEST_LISTED / LARGEST_DENSE
    step = np.where(panel.dense_row >= 0, panel.step, panel.step * np.float32(coarser))
    return panel._replace(step=step, values=np.rint(panel.values / coarser).astype(np.int8))


@strict_kernel
def _count_votes(
    nearest: np.ndarray,
    cosines: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    votes: np.ndarray,
    candidates: np.ndarray,
    shares: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Set share_ij = sum_t cos(x_i, x_t) [j in Y_t] / sum_t cos(x_i, x_t) for candidates j (n, k).

    The sums are over the nearest texts t (n, m) with cosines above 0; ``indices`` and ``indptr``
    are their labels, ``votes`` is scratch space (l,), zeros before and after.
    """
    for i in range(len(nearest)):
        sums[i] = _add_votes(nearest[i], cosines[i], indices, indptr, votes)
        for c in range(candidates.shape[1]):
            if candidates[i, c] >= 0 and sums[i] > 0:
                shares[i, c] = votes[candidates[i, c]] / sums[i]
        for k in range(nearest.shape[1]):
            if nearest[i, k] >= 0:
                for p in range(indptr[nearest[i, k]], indptr[nearest[i, k] + 1]):
                    votes[indices[p]] = 0


@strict_kernel
def _keep_most_voted(
    nearest: np.ndarray,
    cosines: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    votes: np.ndarray,
    ids: np.ndarray,
    best: np.ndarray,
) -> None:
    """Insert labels into the lists ids and best (n, k), which are sorted by falling votes.

    The other parameters are those of :func:`_count_votes`.
    """
    for i in range(len(nearest)):
        _add_votes(nearest[i], cosines[i], indices, indptr, votes)
        for k in range(nearest.shape[1]):
            if nearest[i, k] >= 0:
                for p in range(indptr[nearest[i, k]], indptr[nearest[i, k] + 1]):
                    # of one type in all calls of the kernel, so that it is compiled once
                    label = np.int64(indices[p])
                    last = best[i, -1]
                    if votes[label] > max(last, 0) or (votes[label] == last and label < ids[i, -1]):
                        insert_label(votes[label], label, ids[i], best[i])
                    votes[label] = 0


@strict_callee
def _add_votes(
    nearest: np.ndarray,
    cosines: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    votes: np.ndarray,
) -> np.float32:
    """Add cos(x, x_t) to votes_j for each label j of each nearest text t (m,) with a cosine above
    0.

    Returns the sum of these cosines.
    """
    total = np.float32(0)
    for k in range(len(nearest)):
        if nearest[k] >= 0 and cosines[k] > 0:
            total += cosines[k]
            for p in range(indptr[nearest[k]], indptr[nearest[k] + 1]):
                votes[indices[p]] += cosines[k]
    return total
