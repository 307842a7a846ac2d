"""The explanation of a label's score, for Python, the command line, files and the service."""

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
    """The contribution of a feature to a score."""

    feature: str
    contribution: float
    spans: list[tuple[int, int]] = Field(
        description="Its positions in the text: start and end in code points."
    )


def make_evidence_fields() -> dict[str, Any]:
    """Make the fields of numbers that some kinds of evidence have, with their descriptions.

    A number of several kinds has the descriptions of all of them.
    """
    types: dict[str, Any] = {}
    descriptions: dict[str, list[str]] = {}
    for _, words in find_explained_kinds(KINDS):
        for name, (number_type, description) in words.numbers.items():
            types[name] = number_type
            described = descriptions.setdefault(name, [])
            if description not in described:
                described.append(description)
    fields = {}
    for name, number_type in types.items():
        description = _join_descriptions(descriptions[name])
        fields[name] = (number_type | None, Field(None, description=description))
    return fields


def _join_descriptions(descriptions: list[str]) -> str:
    """Join descriptions to a sentence."""
    words = ", or ".join(descriptions)
    return f"{words[0].upper()}{words[1:]}."


class _EvidenceOfAnyKind(BaseModel):
    # other packages may add kinds
    model_config = ConfigDict(extra="allow")

    kind: str
    text: str = Field(description="In words.")


Evidence = create_model(
    "Evidence",
    __base__=_EvidenceOfAnyKind,
    __doc__="Evidence of the second stage about a label, besides its score.",
    **make_evidence_fields(),
)


class ExplainedLabel(LabelName):
    """A label with the parts of its score: bias, listed contributions, and sum of the others."""

    score: float = Field(description="Score of the first stage, the sum of what words add.")
    bias: float
    up: list[Contribution]
    down: list[Contribution]
    others: float
    probability: float | None = Field(
        None,
        description=(
            "Probability by the second stage, if there is one; null for labels that are not "
            "candidates."
        ),
    )
    evidence: list[Evidence] | None = Field(
        None, description="Evidence of the second stage, if there is one."
    )

    def as_json(self) -> dict[str, Any]:
        """Return it as objects of JSON, without fields that have no value."""
        return self.model_dump(exclude_unset=True)
