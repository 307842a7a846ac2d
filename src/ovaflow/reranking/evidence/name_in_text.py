"""Evidence of the names of labels: how much of a name a text has, and where."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from ovaflow.features.tokens import find_words
from ovaflow.reranking.candidates import Candidates
from ovaflow.reranking.evidence.kind import Evidence, EvidenceTraining, ExplainedText, Wording
from ovaflow.reranking.evidence.names import (
    MIN_REPORTED_SHARE,
    SHARE_DESCRIPTION,
    WHOLE_NAME_SHARE,
    LabelNames,
)
from ovaflow.storage.artifact import AT_ROOT


@dataclass(frozen=True)
class NameInText(Evidence):
    """Features and phrases that the names of a candidate have in common with a text."""

    name = "name in the text"
    column_names = (
        "cosine of the name",
        "share of the name",
        "whole name",
        "length of the name",
        "place of the name",
        "spread of the name",
        "place of the phrase",
        "letters of the phrase",
    )
    wording = Wording(
        position=0,
        translations={
            "de": "der Name, oder das meiste davon, steht im Text",
            "fr": "le nom, ou presque tout le nom, est dans le texte",
        },
        numbers=SHARE_DESCRIPTION,
    )

    names: LabelNames = field(metadata=AT_ROOT)

    @classmethod
    def fit(cls, training: EvidenceTraining) -> Self:
        return cls(LabelNames.from_dataset(training.dataset))

    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        overlap = self.names.compare(candidates.texts.text_features, candidates.ids)
        return [*overlap.feature_columns, overlap.phrase, overlap.letters]

    def give_reasons(self, text: ExplainedText) -> Sequence[dict[str, Any] | None]:
        ids = text.candidates.ids
        shares = self.names.compare(text.candidates.texts.text_features, ids).share[0]
        has_several_names = np.diff(self.names.names_of_labels) > 1
        reasons = []
        for label, share in zip(ids[0].tolist(), shares.tolist(), strict=True):
            name = find_words(text.label_names[label], word_kind=text.word_kind)
            reason = _explain(
                share,
                is_one_of_several=bool(has_several_names[label]),
                has_all_words=name <= text.words,
            )
            reasons.append(reason)
        return reasons


def _explain(
    share: float, *, is_one_of_several: bool, has_all_words: bool
) -> dict[str, Any] | None:
    """Describe how much of a name is in a text.

    A text that has the features of a name may have other forms of its words; ``has_all_words`` says
    that it has the very words.
    """
    if share < MIN_REPORTED_SHARE:
        return None
    which = "one of its names" if is_one_of_several else "its name"
    text = f"words like most of {which} appear in the text"
    if share > WHOLE_NAME_SHARE:
        text = f"words like {which} appear in the text"
        share = 1.0
    if has_all_words:
        text = "all words of its name appear in the text"
    return {"text": text, "share": share}
