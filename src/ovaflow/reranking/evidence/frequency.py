"""Evidence of the labels' frequencies."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import h5py
import numpy as np

from ovaflow.model.model_file import Model
from ovaflow.reranking.candidates import Candidates
from ovaflow.reranking.evidence.kind import Evidence, EvidenceTraining, ExplainedText, Wording
from ovaflow.storage.artifact import NOT_STORED

RARE_LABEL_COUNT = 10
"""Number of training records below which an explanation calls a label rare."""


@dataclass(frozen=True)
class Frequency(Evidence):
    """Number of training texts that have a label, as log(1 + count)."""

    name = "frequency"
    column_names = ("frequency",)
    wording = Wording(
        position=4,
        translations={
            "de": "selten: {count}-mal im Training",
            "fr": "rare : {count} fois dans l’apprentissage",
        },
        numbers={"count": (int, "training records")},
    )

    counts: np.ndarray = field(metadata=NOT_STORED)  # int64 (l,); the model's file has them

    @classmethod
    def fit(cls, training: EvidenceTraining) -> Self:
        return cls(training.dataset.counts)

    @classmethod
    def load(cls, file: h5py.File, model: Model) -> Self:
        return cls(model.counts)

    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        return [np.log1p(self.counts[candidates.ids])]

    def give_reasons(self, text: ExplainedText) -> Sequence[dict[str, Any] | None]:
        counts = self.counts[text.candidates.ids[0]]
        return [_explain(count) for count in counts.tolist()]


def _explain(count: int) -> dict[str, Any] | None:
    if count >= RARE_LABEL_COUNT:
        return None
    records = "record" if count == 1 else "records"
    return {"text": f"rare: {count or 'no'} training {records}", "count": count}
