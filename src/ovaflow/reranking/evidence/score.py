"""Evidence of the scores: how a candidate compares with the others."""

from dataclasses import dataclass
from typing import ClassVar

from ovaflow.reranking.evidence.kind import Evidence


@dataclass(frozen=True)
class Score(Evidence):
    """The score of a candidate, and how far it is below others."""

    name = "score"
    columns = ("score", "below the first", "below the fifth", "rank", "mean of the first five")
    directions: ClassVar[dict[str, int]] = {
        "score": 1,
        "below the first": -1,
        "below the fifth": -1,
        "rank": -1,
        "mean of the first five": 0,
    }

    def compute(self, candidates):
        scores = candidates.finite_scores
        fifth = min(4, scores.shape[1] - 1)
        return [
            scores,
            scores[:, :1] - scores,
            scores[:, fifth : fifth + 1] - scores,
            candidates.ranks[None],
            scores[:, :5].mean(axis=1, keepdims=True),
        ]
