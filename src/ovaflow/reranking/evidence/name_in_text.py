"""Evidence of the names of labels: how much of a name a text has, and where."""

from dataclasses import dataclass, field

import numpy as np

from ovaflow.features.tokens import find_token_spans
from ovaflow.reranking.evidence.kind import Evidence, Wording
from ovaflow.reranking.evidence.names import (
    MIN_REPORTED_SHARE,
    SHARE_DESCRIPTION,
    WHOLE_NAME_SHARE,
    LabelNames,
)
from ovaflow.storage.artifact import AT_ROOT


@dataclass(frozen=True)
class NameInText(Evidence):
    """What the names of a candidate have in common with a text."""

    name = "name in the text"
    columns = (
        "cosine of the name",
        "share of the name",
        "whole name",
        "length of the name",
        "place of the name",
        "spread of the name",
        "place of the phrase",
        "letters of the phrase",
    )
    words = Wording(
        place=0,
        translations={
            "de": "der Name, oder das meiste davon, steht im Text",
            "fr": "le nom, ou presque tout le nom, est dans le texte",
        },
        numbers=SHARE_DESCRIPTION,
    )

    names: LabelNames = field(metadata=AT_ROOT)

    @classmethod
    def fit(cls, training):
        return cls(LabelNames.of(training.dataset))

    def compute(self, candidates):
        overlap = self.names.overlap(candidates.texts.words, candidates.ids)
        return [*overlap.feature_columns, overlap.phrase, overlap.letters]

    def reasons(self, text):
        ids = text.candidates.ids
        shares = self.names.overlap(text.candidates.texts.words, ids).share[0]
        several = np.diff(self.names.names_of_labels) > 1
        reasons = []
        for label, share in zip(ids[0].tolist(), shares.tolist(), strict=True):
            name = tokens_in(text.label_names[label])
            reasons.append(_reason(name, bool(several[label]), text.words, share))
        return reasons


def tokens_in(text, html=False):
    """Tokens of a text."""
    return {span.token for span in find_token_spans(text, html)}


def _reason(name, several, words, share):
    """Say whether the words of a name are among those of the text; it may have only the features of
    theirs.
    """
    if share < MIN_REPORTED_SHARE:
        return None
    which = "one of its names" if several else "its name"
    text = f"words like most of {which} appear in the text"
    if share > WHOLE_NAME_SHARE:
        text = f"words like {which} appear in the text"
        share = 1.0
    if name <= words:
        text = "all words of its name appear in the text"
    return {"text": text, "share": share}
