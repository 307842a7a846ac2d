"""A made-up kind of evidence: the letters of a label's name."""

from dataclasses import dataclass

import numpy as np

from ovaflow.reranking.evidence.kind import Evidence, Wording


@dataclass(frozen=True)
class LettersOfName(Evidence):
    """Number of letters of a candidate's name, and its distance from the mean for the text."""

    name = "letters of the name"
    column_names = ("number of letters", "letters above the mean")
    optional = True
    wording = Wording(
        position=9,
        translations={
            "de": "der Name hat {letters} Buchstaben",
            "fr": "le nom a {letters} lettres",
        },
        numbers={"letters": (int, "letters of the label's name")},
    )

    letters_of_names: np.ndarray  # int32 (l,)

    @classmethod
    def fit(cls, training):
        return cls(np.array([len(name) for name in training.dataset.label_names], np.int32))

    def compute(self, candidates) -> list[np.ndarray]:
        letters = self.letters_of_names[candidates.ids].astype(np.float32)
        return [letters, letters - letters.mean(axis=1, keepdims=True)]

    def give_reasons(self, text) -> list[dict]:
        letters = self.letters_of_names[text.candidates.ids[0]].tolist()
        return [{"text": f"its name has {count} letters", "letters": count} for count in letters]
