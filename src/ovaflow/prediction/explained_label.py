"""What is said of why a label has its score: the same in Python, on the command line, in files and
over HTTP.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from ovaflow.prediction.answer import LabelName
from ovaflow.reranking.evidence.kinds import KINDS, find_explained_kinds


class Weight(BaseModel):
    """A feature of a label."""

    feature: str
    weight: float


class Neighbour(LabelName):
    """A label whose weights point in a similar direction."""

    cosine: float


class Contribution(BaseModel):
    """What a feature adds to a score."""

    feature: str
    contribution: float
    spans: list[tuple[int, int]] = Field(
        description="Where it is in the text: start and end in code points."
    )


def make_evidence_fields() -> dict[str, Any]:
    """Numbers that some kinds of evidence have, each described by all of these."""
    types: dict[str, Any] = {}
    descriptions: dict[str, list[str]] = {}
    for _, words in find_explained_kinds(KINDS):
        for name, (of_type, description) in words.numbers.items():
            types[name] = of_type
            described = descriptions.setdefault(name, [])
            if description not in described:
                described.append(description)
    return {
        name: (types[name] | None, Field(None, description=_sentence(descriptions[name])))
        for name in types
    }


def _sentence(descriptions: list[str]) -> str:
    words = ", or ".join(descriptions)
    return f"{words[0].upper()}{words[1:]}."


class _EvidenceOfAnyKind(BaseModel):
    # kinds may be added by other packages
    model_config = ConfigDict(extra="allow")

    kind: str
    text: str = Field(description="In words.")


Evidence = create_model(
    "Evidence",
    __base__=_EvidenceOfAnyKind,
    __doc__="What the second stage knows of a label besides its score.",
    **make_evidence_fields(),
)


class ExplainedLabel(LabelName):
    """A label with what its score is the sum of: the bias, the contributions listed, and the
    others.
    """

    score: float = Field(description="That of the first stage, which words add up to.")
    bias: float
    up: list[Contribution]
    down: list[Contribution]
    others: float
    probability: float | None = Field(
        None,
        description="Where there is a second stage; null for labels that are not among its candidates.",
    )
    evidence: list[Evidence] | None = Field(None, description="Where there is a second stage.")

    def as_json(self) -> dict[str, Any]:
        """Return it as objects of JSON; what it has no value for is left out."""
        return self.model_dump(exclude_unset=True)
