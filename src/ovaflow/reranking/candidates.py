"""Candidates of a text: the best labels by score, then those that similar texts or other sources
name first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ovaflow.model.model_file import Model
from ovaflow.model.top_k import NO_LABEL, make_empty_ranking
from ovaflow.reranking.suggestions import NO_SCORE, Suggestions
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel

MAX_FURTHER_CANDIDATES = 10
"""Most labels that similar texts, and each source of suggestions, add to the candidates of a text.
"""


@dataclass(frozen=True)
class PreparedTexts:
    """Texts, and what evidence looks up in them before their candidates are known."""

    features: CSR  # input of the first stage
    # those made of words, without columns next to texts and the bias feature; rows of length 1
    text_features: CSR
    own_features: dict[str, CSR]  # features that a single kind of evidence reads, by its name
    first_stage: Model | None  # None where no evidence needs it
    threads: int
    suggestions: Mapping[str, Suggestions]  # of each source, by its name
    # what each kind of evidence has looked up, by its name
    lookups: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Candidates:
    """Candidates of each text."""

    texts: PreparedTexts
    ids: np.ndarray  # int32 (n, k); -1 where there is none
    scores: np.ndarray  # float32 (n, k); -inf where a candidate is not among the best by score
    ranks: np.ndarray  # (k,)

    @cached_property
    def finite_scores(self) -> np.ndarray:
        """Scores, :data:`NO_SCORE` where a candidate has none: float32 (n, k)."""
        return np.where(np.isneginf(self.scores), NO_SCORE, self.scores).astype(np.float32)

    def add_scored_candidates(self, ids: np.ndarray, scores: np.ndarray) -> "Candidates":
        """Add candidates (n, m) with scores, which rank after all others that have a score."""
        is_candidate = np.empty(ids.shape, bool)
        for row, (new, old) in enumerate(zip(ids, self.ids, strict=True)):
            is_candidate[row] = np.isin(new, old)
        new_ids = np.where(is_candidate, NO_LABEL, ids)
        new_scores = np.where(is_candidate, np.float32(-np.inf), scores)
        return replace(
            self,
            ids=np.hstack([self.ids, new_ids]),
            scores=np.hstack([self.scores, new_scores]),
            ranks=np.append(self.ranks, np.full(ids.shape[1], N_CANDIDATES - 1)),
        )


def append_candidates(
    ids: np.ndarray, scores: np.ndarray, lists: Iterable[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Append further candidates, without scores, to those by score.

    Parameters
    ----------
    ids, scores : (n, k)
        Candidates by falling score.
    lists : iterable of int32 (n, m)
        Further candidates. Each list has columns of its own, in which labels that are candidates
        already are left out.

    Returns
    -------
    ids : int32 (n, k + m + ...)
    scores : float32, of the same shape
    """
    lists = list(lists)
    end = ids.shape[1]
    n_columns = end + sum(labels.shape[1] for labels in lists)
    all_ids, all_scores = make_empty_ranking(len(ids), n_columns)
    all_ids[:, :end] = ids
    all_scores[:, :end] = scores
    for labels in lists:
        _append_new(labels, end, all_ids)
        end += labels.shape[1]
    return all_ids, all_scores


@strict_kernel
def _append_new(labels: np.ndarray, start: int, ids: np.ndarray) -> None:
    """Write labels (n, m) that are not among ids[:, :start] to ids (n, k) from column start on."""
    for i in range(len(ids)):
        end = start
        for label in labels[i]:
            is_candidate = label == NO_LABEL
            for c in range(end):
                is_candidate |= ids[i, c] == label
            if not is_candidate:
                ids[i, end] = label
                end += 1
