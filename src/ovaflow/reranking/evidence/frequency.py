"""Evidence of the labels' frequencies."""

from dataclasses import dataclass, field

import numpy as np

from ovaflow.reranking.evidence.kind import Evidence, Wording
from ovaflow.storage.artifact import NOT_STORED

RARE_LABEL_COUNT = 10
"""Training records below which people are told that a label is rare."""


@dataclass(frozen=True)
class Frequency(Evidence):
    """How many training texts have a label."""

    name = "frequency"
    columns = ("frequency",)
    words = Wording(
        place=4,
        translations={
            "de": "selten: {count} Trainingsdatensätze",
            "fr": "rare : {count} notices d’apprentissage",
        },
        numbers={"count": (int, "training records")},
    )

    counts: np.ndarray = field(metadata=NOT_STORED)  # int64 (l,); the model has them

    @classmethod
    def fit(cls, training):
        return cls(training.dataset.counts)

    @classmethod
    def load(cls, file, model):
        return cls(model.counts)

    def compute(self, candidates):
        return [np.log1p(self.counts[candidates.ids])]

    def reasons(self, text):
        counts = self.counts[text.candidates.ids[0]]
        return [_reason(count) for count in counts.tolist()]


def _reason(count):
    if count >= RARE_LABEL_COUNT:
        return None
    records = "record" if count == 1 else "records"
    return {"text": f"rare: {count or 'no'} training {records}", "count": count}
