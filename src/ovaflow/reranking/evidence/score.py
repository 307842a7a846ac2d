"""Evidence of the scores: how a candidate compares with the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ovaflow.reranking.candidates import Candidates
from ovaflow.reranking.evidence.kind import Evidence

_FIFTH = 4
"""Column of the fifth candidate."""


@dataclass(frozen=True)
class Score(Evidence):
    """The score of a candidate, and how far it is below others."""

    name = "score"
    column_names = ("score", "below the first", "below the fifth", "rank", "mean of the first five")
    directions: ClassVar[dict[str, int]] = {
        "score": 1,
        "below the first": -1,
        "below the fifth": -1,
        "rank": -1,
        "mean of the first five": 0,
    }

    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        scores = candidates.finite_scores
        first = scores[:, :1]
        last = min(_FIFTH, scores.shape[1] - 1)
        fifth = scores[:, last : last + 1]
        return [
            scores,
            first - scores,
            fifth - scores,
            candidates.ranks[None],
            scores[:, : _FIFTH + 1].mean(axis=1, keepdims=True),
        ]
