"""Candidates of a text: the best labels by score, then those that similar texts or other sources
name first.
"""

from collections.abc import Mapping
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
"""Labels that similar texts, and each source, add at most."""


@dataclass(frozen=True)
class Texts:
    """Texts, and what evidence knows of them before their candidates are known."""

    features: CSR  # as the first stage takes them
    words: CSR  # of these, the features of words; rows of length 1
    own: dict[str, CSR]  # features that a kind of evidence alone reads, by its name
    first_stage: Model | None  # None where no evidence asks it
    threads: int
    suggestions: Mapping[str, Suggestions]  # of each source, by its name
    found: dict[str, Any] = field(
        default_factory=dict
    )  # what each kind of evidence has looked up, by its name


@dataclass(frozen=True)
class Candidates:
    """Candidates of each text."""

    texts: Texts
    ids: np.ndarray  # int32 (n, k); -1 where there is none
    scores: np.ndarray  # float32 (n, k); -inf where a candidate is not among the best by score
    ranks: np.ndarray  # (k,)

    @cached_property
    def finite_scores(self):
        """Scores, :data:`NO_SCORE` where a candidate has none."""
        return np.where(np.isneginf(self.scores), NO_SCORE, self.scores).astype(np.float32)

    def add_scored_candidates(self, ids, scores):
        """Add candidates (n, m) with their scores, which rank after all others that have a score."""
        known = np.array([np.isin(*pair) for pair in zip(ids, self.ids, strict=True)])
        new_ids = np.where(known, NO_LABEL, ids)
        new_scores = np.where(known, np.float32(-np.inf), scores)
        return replace(
            self,
            ids=np.hstack([self.ids, new_ids]),
            scores=np.hstack([self.scores, new_scores]),
            ranks=np.append(self.ranks, np.full(ids.shape[1], N_CANDIDATES - 1)),
        )


def append_candidates(ids, scores, lists):
    """Candidates and scores, then those of each list (n, m) that are not among them, in columns of
    their own.
    """
    end = ids.shape[1]
    all_ids, all_scores = make_empty_ranking(len(ids), end + sum(each.shape[1] for each in lists))
    all_ids[:, :end] = ids
    all_scores[:, :end] = scores
    for more in lists:
        _append(more, end, all_ids)
        end += more.shape[1]
    return all_ids, all_scores


@strict_kernel
def _append(more, start, ids) -> None:
    for i in range(len(ids)):
        end = start
        for label in more[i]:
            known = label == NO_LABEL
            for c in range(end):
                known |= ids[i, c] == label
            if not known:
                ids[i, end] = label
                end += 1
