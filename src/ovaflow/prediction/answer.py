"""The answer of a model for one record.

A field of an answer is declared here once. It is in Python, JSON Lines, answers of the service and
its OpenAPI document, and in tables if the field has a :class:`TableColumn`.
"""

from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, Field, PrivateAttr

from ovaflow.reranking.expected_quality import ExpectedQuality


class TableColumn(NamedTuple):
    """The column of a field in tables."""

    name: str
    # name in tables whose rows have all labels of a record; None: no column in these
    joined: str | None = None
    # models without this have no such column; None: all models have it
    needs: Literal["uris", "second stage"] | None = None


def find_table_columns(answered: type[BaseModel]) -> dict[str, TableColumn]:
    """Find the columns of the fields that are in tables, by field."""
    columns = {}
    for name, field in answered.model_fields.items():
        for declared in field.metadata:
            if isinstance(declared, TableColumn):
                columns[name] = declared
    return columns


class LabelName(BaseModel):
    """The name and identifiers of a label."""

    id: Annotated[int, TableColumn("id")]
    name: Annotated[str, TableColumn("label", joined="labels")]
    uri: Annotated[str | None, TableColumn("uri", joined="uris", needs="uris")] = Field(
        None, description="URI of the subject, where labels come from a vocabulary."
    )
    notation: str | None = Field(None, description="Notation of the subject, if it has one.")


class AnsweredLabel(LabelName):
    """A label of an instance."""

    score: Annotated[float, TableColumn("score", joined="scores")] = Field(
        description="Number that orders the labels; with a second stage the probability."
    )
    probability: Annotated[
        float | None, TableColumn("probability", joined="probabilities", needs="second stage")
    ] = Field(None, description="Probability that the label is right; only with a second stage.")


class Answer(BaseModel):
    """The best labels of an instance."""

    labels: list[AnsweredLabel]
    fit: int | None = Field(
        description="Number of labels that fit, counted from the first; null without a second "
        "stage."
    )
    features: int = Field(
        description="Number of features of the model, and of its second stage, that the instance "
        "has; with 0 the labels mean nothing."
    )
    words: int | None = Field(description="Number of words of the text; null for features.")
    known_words: int | None = Field(
        description=(
            "Number of these words that the model knows or leaves out on purpose; null for "
            "features."
        )
    )
    language: str | None = Field(
        description=(
            "Language of the text, as in ISO 639-1; null if it is unknown, as for most titles."
        )
    )
    doubts: list[Literal["unknown_words", "language"]] = Field(
        description=(
            "Reasons to doubt the labels: the model knows less than a tenth of the words; training "
            "did not have the language."
        )
    )
    expected_precision: Annotated[
        float | None, TableColumn("expected_precision", needs="second stage")
    ] = Field(
        description=(
            "Share of these labels that are probably right; null without a second stage, or "
            "without labels."
        )
    )
    expected_recall: Annotated[
        float | None, TableColumn("expected_recall", needs="second stage")
    ] = Field(
        description=(
            "Share of the true labels that are probably among these; null without a second stage."
        )
    )
    missing: list[str] | None = Field(
        None,
        description=(
            "Columns of numbers and categories that the record lacks; only where the model reads "
            "such columns."
        ),
    )
    _quality: ExpectedQuality | None = PrivateAttr(None)

    @classmethod
    def with_quality(cls, quality: ExpectedQuality | None, **fields: Any) -> Self:
        """Make an answer of its expected quality, None without a second stage, and other fields."""
        fields["expected_precision"] = None
        fields["expected_recall"] = None
        if quality is not None:
            fields["expected_precision"] = _round_share(quality.precision)
            fields["expected_recall"] = _round_share(quality.recall)
        answer = cls.model_validate(fields)
        answer._quality = quality
        return answer

    @property
    def quality(self) -> ExpectedQuality | None:
        """The expected shares before they are rounded; None without a second stage."""
        return self._quality

    def as_json(self) -> dict[str, Any]:
        """Return the answer as objects of JSON, without fields that have no value, such as URIs."""
        return self.model_dump(exclude_unset=True)


def _round_share(share: np.float64 | np.ndarray) -> float | None:
    """Round a share to four digits; None if it is not a number, as the precision of no labels."""
    if np.isnan(share):
        return None
    return round(float(share), 4)


def shorten_float(value: np.float32) -> float:
    """Return the number with the fewest digits that is rounded to the same float32."""
    return float(str(value))
