"""Candidates of held-out texts, to which the second stage is fitted and by which it is checked."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.evidence.kind import Evidence
from ovaflow.reranking.evidence.kinds import list_column_names, select_kinds
from ovaflow.reranking.evidence.suggested import SuggestedBySource


class TrainingRows(NamedTuple):
    """Rows that trees are fitted to."""

    rows: np.ndarray  # float32 (m, c); evidence about each candidate
    hits: np.ndarray  # bool (m,); whether it is true
    weights: np.ndarray | None  # (m,); None where all are the same


@dataclass(frozen=True)
class HeldOutCandidates:
    """Candidates of n held-out texts, and the evidence about them."""

    kinds: Sequence[Evidence | type[Evidence]]  # kinds of evidence, in the order of their columns
    evidence_values: np.ndarray  # float32 (n, k, c)
    ids: np.ndarray  # int32 (n, k); -1 where there is no candidate
    hits: np.ndarray  # bool (n, k); candidates that are true
    positives: np.ndarray  # (n,); number of true labels of each text
    n_suggested: int = 0  # number of the last candidates, which other programs suggest
    # of the candidates in fitting, (n, k): 0 where one is left out; None where all are the same
    weights: np.ndarray | None = None

    def select(self, texts: np.ndarray) -> Self:
        """Select some of the texts."""
        return replace(
            self,
            evidence_values=self.evidence_values[texts],
            ids=self.ids[texts],
            hits=self.hits[texts],
            positives=self.positives[texts],
            weights=None if self.weights is None else self.weights[texts],
        )

    def with_optional(self, names: Collection[str]) -> Self:
        """Keep only these of the optional kinds of evidence, by their names."""
        return self._with_kinds(select_kinds(self.kinds, names))

    def without_sources(self) -> Self:
        """Leave out candidates that other programs suggest, and the evidence of these programs."""
        k = self.ids.shape[1] - self.n_suggested
        kinds = [kind for kind in self.kinds if not isinstance(kind, SuggestedBySource)]
        with_all_kinds = replace(
            self,
            evidence_values=self.evidence_values[:, :k],
            ids=self.ids[:, :k],
            hits=self.hits[:, :k],
            n_suggested=0,
            weights=None if self.weights is None else self.weights[:, :k],
        )
        return with_all_kinds._with_kinds(kinds)

    def _with_kinds(self, kinds: Sequence[Evidence | type[Evidence]]) -> Self:
        kept = set(list_column_names(kinds))
        is_kept = [name in kept for name in self.column_names]
        return replace(self, kinds=kinds, evidence_values=self.evidence_values[:, :, is_kept])

    @property
    def column_names(self) -> list[str]:
        """Names of the columns of evidence."""
        return list_column_names(self.kinds)

    @property
    def rows(self) -> np.ndarray:
        """Evidence about the candidates that exist: float32 (m, c)."""
        return self.evidence_values[self.ids != NO_LABEL]

    @property
    def row_hits(self) -> np.ndarray:
        """Truth of the candidate of each of the :attr:`rows`: bool (m,)."""
        return self.hits[self.ids != NO_LABEL]

    @property
    def training_rows(self) -> TrainingRows:
        """Rows that trees are fitted to."""
        if self.weights is None:
            return TrainingRows(self.rows, self.row_hits, None)
        is_kept = self.weights > 0
        return TrainingRows(
            self.evidence_values[is_kept], self.hits[is_kept], self.weights[is_kept]
        )
