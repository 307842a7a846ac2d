"""Models of requests and answers, with the limits of requests.

Docstrings of models are their descriptions in the OpenAPI document.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Annotated, Any, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    create_model,
    model_validator,
)

from ovaflow.prediction.answer import Answer, LabelName
from ovaflow.prediction.explained_label import ExplainedLabel, Neighbour, Weight
from ovaflow.prediction.question import Question
from ovaflow.prediction.sources import NamedColumns
from ovaflow.reading.feature_columns import COLUMN_KINDS, ColumnKind
from ovaflow.settings.section import setting_info

MAX_LABEL_ID = (1 << 31) - 1
"""Ids are int32."""
MAX_FEATURES = 100_000
"""Features of an instance."""
MAX_WORDS = 1000
"""Words that explain a label, for and against it each."""
MAX_ENTRIES = 1000
"""Entries of a choice of labels."""
MAX_ENTRY_CHARACTERS = 1000
MAX_RECORD_ID_CHARACTERS = 200
MAX_FEATURE_VALUE = 1e15
"""Sums of squares of values up to here are finite in float32."""
FeatureValue = Annotated[
    float, Field(ge=-MAX_FEATURE_VALUE, le=MAX_FEATURE_VALUE, allow_inf_nan=False)
]
TEXT_COLUMN_ONLY = NamedColumns(["text"])
"""Columns of a model of plain texts."""


def _convert_integral_float(value: Any) -> Any:
    """Convert a whole number that JSON has as 5.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _bounded_integer(least: int, most: int) -> Any:
    """Make the type of whole numbers in a range."""
    return Annotated[int, Field(ge=least, le=most), BeforeValidator(_convert_integral_float)]


def _make_request_base(names: Sequence[str], example: dict[str, Any]) -> type[BaseModel]:
    """Make the base class of requests that have exactly one of some fields."""
    extra = {"oneOf": [{"required": [name]} for name in names], "example": example}

    class Request(BaseModel):
        model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra=extra)

        @model_validator(mode="after")
        def _require_one(self) -> Self:
            if len(self.model_fields_set & set(names)) != 1:
                raise ValueError(f"give exactly one of {', '.join(names)}")
            return self

    return Request


class _Reply(BaseModel):
    model: str = Field(description="Checksum of the model that gave this answer.")


class PredictionsReply(_Reply):
    """Predictions in the order of the instances."""

    probabilities: bool = Field(description="Whether scores are probabilities.")
    predictions: list[Answer]


class Label(LabelName):
    """A label of the model."""

    positives: int = Field(description="Training instances that have it.")
    trained: bool = Field(description="Whether it can be predicted.")


class FoundLabel(Label):
    """A label that was found."""

    found_by: str | None = Field(
        None, description="Alternative name, where it matches the search better than the name."
    )


class LabelPage(_Reply):
    """A page of labels."""

    total: int = Field(description="Number of labels on all pages.")
    labels: list[FoundLabel]


class LabelDescription(_Reply):
    """A label with its strongest words, which raise and lower its score, and its nearest labels.

    They are null where the model has no weights of labels.
    """

    label: Label
    up: list[Weight] | None
    down: list[Weight] | None
    bias: float | None = Field(description="Number that is added to every score.")
    nearest: list[Neighbour] | None


class Explanation(_Reply):
    """The reasons for the scores of labels."""

    labels: list[ExplainedLabel]
    features: int = Field(description="Number of the model's features that the instance has.")


class FileText(BaseModel):
    """The plain text of a file."""

    text: str
    characters: int = Field(description="Characters of this text, in code points.")
    cut: bool = Field(
        description="Whether the text was cut off: see --max-text, pages_read and pages."
    )
    pages: int | None = Field(description="Pages of a PDF; null for other files.")
    pages_read: int | None = Field(
        description="Number of pages, from the first, whose text this is; null for other files."
    )


_VERSION_DESCRIPTION = "Version of the record, which changes whenever it is saved."


class SavedCorrection(_Reply):
    """The correction as it was saved."""

    time: str = Field(description="Time of saving, in UTC.")
    id: str = Field(description="Id of the record in the file.")
    replaces: str | None = Field(
        description="Time at which the same record was saved before; null if it was not."
    )
    version: str = Field(description=_VERSION_DESCRIPTION)


class CorrectedRecord(BaseModel):
    """A record that was corrected, as it was saved last."""

    id: str
    text: str
    columns: dict[str, str | float | None] | None = Field(
        None, description="The text by its columns, where the model reads several."
    )
    labels: list[LabelName]
    unknown: list[str] = Field(description="Labels that this model does not have.")
    time: str = Field(
        description="Time of the last saving, in UTC; empty if its line does not say."
    )
    times: int = Field(description="Number of times that it was saved.")
    version: str = Field(description=_VERSION_DESCRIPTION)


class CorrectionPage(_Reply):
    """Records that were corrected."""

    total: int
    corrections: list[CorrectedRecord]


class FoundCorrection(_Reply):
    """A record that was corrected, or none."""

    correction: CorrectedRecord | None


def _make_columns_field(kind: ColumnKind) -> tuple[Any, Any]:
    """Make the field of the columns of a kind."""
    description = f"{kind.plural.capitalize()} next to the text; one may be missing."
    return list[str], Field(description=description)


RecordColumns = create_model(
    "RecordColumns",
    __doc__="Columns of a record, by name.",
    texts=list[str],
    **{kind.plural: _make_columns_field(kind) for kind in COLUMN_KINDS},
)


class Failing(BaseModel):
    """A fault that the operator should mend."""

    since: str = Field(description="Time of the first failure, in UTC.")
    reason: str = Field(description="Reason; the log has the paths.")


class Health(_Reply):
    """The model that is served, and its state."""

    status: str
    method: str
    vocabulary: str | None = Field(
        description="Name of the file of subjects, where labels come from a vocabulary."
    )
    labels: int
    features: int
    takes_text: bool = Field(description="Whether it reads texts; features otherwise.")
    columns: RecordColumns | None = Field(
        description="Columns that it reads of a record; null where it takes features."
    )
    probabilities: bool = Field(
        description="Whether it has a second stage: scores are probabilities."
    )
    explanations: bool = Field(description="Whether its scores are sums over features.")
    languages: list[str] = Field(
        description="Languages in which labels have names, the model's own first."
    )
    trained_languages: list[str] | None = Field(
        description="Languages of the texts of the training, the most frequent first; "
        "null where they are not known."
    )
    remark: str = Field(description="Remark for the operator; empty if all is well.")
    left_out: int = Field(description="Number of labels that are never suggested.")
    left_out_failed: Failing | None = Field(
        description="Failure to read their file, in which case the last good list is used; null if "
        "it is read."
    )
    reload_failed: Failing | None = Field(
        description="Failure of the last reload, in which case the earlier files are used; null if "
        "it worked."
    )


LANGUAGE_DESCRIPTION = (
    "Language of the labels' names, where the vocabulary has it; by default the model's own."
)
Language = Annotated[str, Field(max_length=50)]


def _make_text_type(options: SimpleNamespace, columns: NamedColumns) -> Any:
    """Make the type of a text for a model that reads such columns."""
    Plain = Annotated[str, Field(max_length=options.max_text)]
    # type and default of each column
    fields: dict[str, tuple[Any, Any]] = dict.fromkeys(columns.texts, (Plain, ...))
    for column in columns.feature_columns:
        value = FeatureValue if column.kind.type is float else str
        fields[column.name] = (value | None, None)
    # any string may name a column, but not a field
    aliased: dict[str, Any] = {}
    for number, (name, (value, default)) in enumerate(fields.items()):
        aliased[f"column_{number}"] = (value, Field(default, alias=name))
    sentence = "A text, or the model's text columns by name."
    if columns.feature_names:
        optional = ", ".join(columns.feature_names)
        sentence = (
            f"A text, or its columns by name: {', '.join(fields)}; {optional} may be missing."
        )
    config = ConfigDict(extra="forbid", strict=True)
    Columns = create_model("Columns", __config__=config, **aliased)
    # with a discriminator an error names only the form that was sent
    return Annotated[
        Annotated[Plain, Tag("text")] | Annotated[Columns, Tag("columns")],
        Discriminator(lambda sent: "columns" if isinstance(sent, dict) else "text"),
        Field(description=sentence),
    ]


def _make_question_base(options: SimpleNamespace) -> type[BaseModel]:
    """Make the base class of requests that ask a question, within the limits of a service."""
    Entry = Annotated[str, Field(min_length=1, max_length=MAX_ENTRY_CHARACTERS)]
    Entries = Annotated[list[Entry], Field(max_length=MAX_ENTRIES)]
    limited = {
        "top_k": _bounded_integer(1, options.max_top_k),
        "include": Entries,
        "exclude": Entries,
        "language": Language,
    }
    fields: dict[str, Any] = {}
    for name, info in Question.model_fields.items():
        sentence = setting_info(info).sentence
        description = Field(description=f"{sentence[:1].upper()}{sentence[1:]}.")
        if name in limited:
            field_type = Annotated[limited[name], description]
        else:
            field_type = Annotated[_remove_none(info.annotation), description, *info.metadata]
        default = info.default
        if name == "top_k":
            default = min(default, options.max_top_k)
        fields[name] = (field_type, default)
    return create_model("Asked", **fields)


def _remove_none(annotation: Any) -> Any:
    """Return a type without None: JSON omits a field that is not asked for, instead of null."""
    for part in get_args(annotation):
        if part is not type(None):
            return part
    return annotation


def make_request_models(
    options: SimpleNamespace, columns: NamedColumns = TEXT_COLUMN_ONLY
) -> tuple[type[BaseModel], type[BaseModel]]:
    """Make the models of the bodies of requests to a model that reads such columns.

    Returns
    -------
    PredictRequest, ExplainRequest
    """
    Text = _make_text_type(options, columns)
    Instance = Annotated[dict[str, FeatureValue], Field(max_length=MAX_FEATURES)]
    TopK = _bounded_integer(1, options.max_top_k)
    Words = _bounded_integer(1, MAX_WORDS)
    LabelId = _bounded_integer(0, MAX_LABEL_ID)

    class PredictRequest(
        _make_request_base(
            ("text", "texts", "features"), {"text": "How to train a dragon", "top_k": 3}
        ),
        _make_question_base(options),
    ):
        """One text, several, or instances given by their features."""

        text: Text = Field(None)
        texts: list[Text] = Field(None, min_length=1, max_length=options.max_batch)
        features: list[Instance] = Field(
            None,
            min_length=1,
            max_length=options.max_batch,
            description="Values by feature name, or by id if features have no names.",
        )

        @property
        def question(self) -> Question:
            asked = self.model_dump(include=set(Question.model_fields))
            return Question.model_validate(asked)

    class ExplainRequest(
        _make_request_base(("text", "features"), {"text": "How to train a dragon", "words": 5})
    ):
        """A text, or an instance given by its features."""

        text: Text = Field(None)
        features: Instance = Field(
            None, description="Values by feature name, or by id if features have no names."
        )
        labels: list[LabelId] = Field(
            None,
            min_length=1,
            max_length=options.max_top_k,
            description="Ids; without them the best labels.",
        )
        top_k: TopK = Field(min(5, options.max_top_k))
        words: Words = Field(10, description="Number of words for and against each label.")
        language: Language = Field(None, description=LANGUAGE_DESCRIPTION)

    return PredictRequest, ExplainRequest


def make_correction_models(
    options: SimpleNamespace, columns: NamedColumns = TEXT_COLUMN_ONLY
) -> tuple[type[BaseModel], type[BaseModel]]:
    """Make the models of the bodies of a correction, and of what finds one, for a model that reads
    such columns.

    Returns
    -------
    CorrectionRequest, FindRequest
    """
    Text = _make_text_type(options, columns)
    Record = Annotated[str, Field(max_length=MAX_RECORD_ID_CHARACTERS)]
    Label = Annotated[
        Annotated[_bounded_integer(0, MAX_LABEL_ID), Tag("id")] | Annotated[str, Tag("name")],
        Discriminator(lambda sent: "name" if isinstance(sent, str) else "id"),
    ]
    Labels = Annotated[list[Label], Field(max_length=options.max_top_k)]
    example = {"text": "How to train a dragon", "labels": ["dragons"], "id": "record 17"}

    class CorrectionRequest(BaseModel):
        """A text and its labels, by id, URI or name."""

        model_config = ConfigDict(
            extra="forbid", strict=True, json_schema_extra={"example": example}
        )

        text: Text
        labels: Labels = Field(description="All labels that the text should have, perhaps none.")
        suggested: Labels = Field([], description="Labels that the person was shown.")
        id: Record = Field(None, description="Id of the record; by default made from its text.")
        version: str = Field(
            None,
            max_length=MAX_RECORD_ID_CHARACTERS,
            description="Version of the record that the person saw, empty if there was none. If "
            "another one is saved by now, the answer is 409 and has it as `correction`. Without "
            "this field any version is replaced.",
        )
        language: Language = Field(None, description=LANGUAGE_DESCRIPTION)

    class FindRequest(BaseModel):
        """Id of a record, its text, or both."""

        model_config = ConfigDict(
            extra="forbid", strict=True, json_schema_extra={"example": {"id": "record 17"}}
        )

        id: Record = Field(None)
        text: Text = Field(None)
        language: Language = Field(None, description=LANGUAGE_DESCRIPTION)

    return CorrectionRequest, FindRequest
