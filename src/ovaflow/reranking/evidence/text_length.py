"""Evidence of the lengths of texts: what is said of short ones is less sure."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ovaflow.reranking.evidence.kind import Evidence


@dataclass(frozen=True)
class TextLength(Evidence):
    """How many features of a text the model knows."""

    name = "length of the text"
    columns = ("known features",)
    directions: ClassVar[dict[str, int]] = {"known features": 0}

    def compute(self, candidates):
        return [np.diff(candidates.texts.words.indptr)[:, None]]
