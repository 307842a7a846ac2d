"""Evidence of the lengths of texts: labels of short ones are less certain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ovaflow.reranking.candidates import Candidates
from ovaflow.reranking.evidence.kind import Evidence


@dataclass(frozen=True)
class TextLength(Evidence):
    """Number of features of a text that the model knows."""

    name = "length of the text"
    column_names = ("known features",)
    directions: ClassVar[dict[str, int]] = {"known features": 0}

    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        return [np.diff(candidates.texts.text_features.indptr)[:, None]]
