"""What a model answers for one record.

A field of an answer is declared here once. Python, JSON Lines, the service, its OpenAPI document
and, where a :class:`Column` says so, tables have it.
"""

from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, Field, PrivateAttr

from ovaflow.reranking.expected_quality import ExpectedQuality


class TableColumn(NamedTuple):
    """Columns of a field in tables with a row per label, and with a row per record, whose labels
    are joined.
    """

    name: str
    joined: str | None = None  # None: no such column
    needs: Literal["uris", "second stage"] | None = None  # what a model without has no such columns


def find_table_columns(answered: type[BaseModel]) -> dict[str, TableColumn]:
    """Return the columns of those fields that are in tables, by field."""
    columns = {}
    for name, field in answered.model_fields.items():
        for declared in field.metadata:
            if isinstance(declared, TableColumn):
                columns[name] = declared
    return columns


class LabelName(BaseModel):
    """Which label it is."""

    id: Annotated[int, TableColumn("id")]
    name: Annotated[str, TableColumn("label", joined="labels")]
    uri: Annotated[str | None, TableColumn("uri", joined="uris", needs="uris")] = Field(
        None, description="URI of the subject, where labels come from a vocabulary."
    )
    notation: str | None = Field(None, description="Notation of the subject, if it has one.")


class AnsweredLabel(LabelName):
    """A label of an instance."""

    score: Annotated[float, TableColumn("score", joined="scores")] = Field(
        description="Labels are in its order; with a second stage it is the probability."
    )
    probability: Annotated[
        float | None, TableColumn("probability", joined="probabilities", needs="second stage")
    ] = Field(None, description="That the label is right; only where the model has a second stage.")


class Answer(BaseModel):
    """The best labels of an instance."""

    labels: list[AnsweredLabel]
    fit: int | None = Field(
        description="How many labels fit, the first ones; null without a second stage."
    )
    features: int = Field(
        description="How many of the model's features it has; with 0 the labels mean nothing."
    )
    known_words: float | None = Field(
        description="Share of its words that the model knows or leaves out on purpose; null for features."
    )
    language: str | None = Field(
        description="Language of the text, as in ISO 639-1; null where it cannot be told, as of most titles."
    )
    doubts: list[Literal["unknown_words", "language"]] = Field(
        description="Why the labels may mean little: the model knows less than a tenth of the words; training did not "
        "have the language."
    )
    expected_precision: Annotated[
        float | None, TableColumn("expected_precision", needs="second stage")
    ] = Field(
        description="Share of these labels that are probably right; null without a second stage, or without labels."
    )
    expected_recall: Annotated[
        float | None, TableColumn("expected_recall", needs="second stage")
    ] = Field(
        description="Share of its true labels that are probably among these; null without a second stage."
    )
    missing: list[str] | None = Field(
        None,
        description="Columns of numbers and categories that it lacks; only where the model reads such columns.",
    )
    _quality: ExpectedQuality | None = PrivateAttr(None)

    @classmethod
    def of(cls, quality: ExpectedQuality | None, **fields: Any) -> Self:
        """Make an answer of its other fields and what it promises, None without a second stage."""
        precision, recall = (None, None) if quality is None else (quality.precision, quality.recall)
        fields |= {"expected_precision": _rounded(precision), "expected_recall": _rounded(recall)}
        answer = cls.model_validate(fields)
        answer._quality = quality
        return answer

    @property
    def quality(self) -> ExpectedQuality | None:
        """The expected shares before they are rounded; None without a second stage."""
        return self._quality

    def as_json(self) -> dict[str, Any]:
        """Return the answer as objects of JSON; what it has no value for, such as URIs, is left
        out.
        """
        return self.model_dump(exclude_unset=True)


def _rounded(share: np.float64 | None) -> float | None:
    """Return a share with four digits; None where it is unknown, as the precision of no labels."""
    return None if share is None or np.isnan(share) else round(float(share), 4)


def shorten_float(value: np.float32) -> float:
    """Return the number of the fewest digits that give the same float32 again."""
    return float(str(value))
