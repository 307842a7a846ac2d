"""Held-out texts with their candidates, to which the second stage is fitted and by which it is
checked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.evidence.kind import Evidence
from ovaflow.reranking.evidence.kinds import columns_of_kinds, with_optional
from ovaflow.reranking.evidence.suggested import SuggestedBySource


@dataclass(frozen=True)
class HeldOutCandidates:
    """Held-out texts with their candidates."""

    kinds: Sequence[Evidence]  # that the columns are of, one after the other
    columns: np.ndarray  # float32 (n, k, c); rows of evidence
    ids: np.ndarray  # int32 (n, k)
    hits: np.ndarray  # bool (n, k); which candidates are true
    positives: np.ndarray  # (n,); true labels of each text
    n_suggested: int = 0  # of the k, the last ones, which other programs suggest

    def part(self, texts):
        """Some of the texts."""
        return replace(
            self,
            columns=self.columns[texts],
            ids=self.ids[texts],
            hits=self.hits[texts],
            positives=self.positives[texts],
        )

    def with_optional(self, names):
        """The same with some of the optional kinds of evidence, by their names."""
        return self._with_kinds(with_optional(self.kinds, names))

    def without_sources(self):
        """The same without what other programs suggest."""
        k = self.ids.shape[1] - self.n_suggested
        kinds = [kind for kind in self.kinds if not isinstance(kind, SuggestedBySource)]
        with_all_kinds = replace(
            self,
            columns=self.columns[:, :k],
            ids=self.ids[:, :k],
            hits=self.hits[:, :k],
            n_suggested=0,
        )
        return with_all_kinds._with_kinds(kinds)

    def _with_kinds(self, kinds):
        kept = set(columns_of_kinds(kinds))
        return replace(
            self,
            kinds=kinds,
            columns=self.columns[:, :, [name in kept for name in self.column_names]],
        )

    @property
    def column_names(self):
        return columns_of_kinds(self.kinds)

    @property
    def rows(self):
        """Rows of evidence of the candidates that there are."""
        return self.columns[self.ids != NO_LABEL]

    @property
    def row_hits(self):
        """Say of each of the :attr:`rows` if its candidate is true."""
        return self.hits[self.ids != NO_LABEL]
