"""Sections of settings, and the types that many settings have.

Sections are what a config file says. Classes named by a verb are the settings of one step of the
pipeline: the config fills them, the rule's parameters are their :attr:`Section.relevant` settings,
options of the subcommand are made of their fields, and the code gets the object itself.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo

from ovaflow.settings.spelling import parse_value

NAME_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"
HELD_OUT_PREFIX = "held-out-"
"""Beginning of the names of folders for what is trained without held-out instances."""
FOLD_FOLDER = "fold-{fold}-of-{folds}"
"""Names of folders for what is trained without a fold of a cross-validation, and measured on it."""
RESERVED_NAMES = frozenset(
    {
        "dataset.h5",
        "means.h5",
        "label_tree.h5",
        "embeddings",
        "projections",
        "decoders",
        "plans",
        "roots",
        "trainings",
        "report.html",
    }
)
"""Names of results, which no dataset or run may have."""


def _require_free_name(name: str) -> str:
    is_fold = re.fullmatch(FOLD_FOLDER.format(fold=r"\d+", folds=r"\d+"), name)
    if name in RESERVED_NAMES or name.startswith(HELD_OUT_PREFIX) or is_fold:
        raise ValueError(f"{name} is the name of a result file; choose another name")
    return name


Name = Annotated[
    str,
    StringConstraints(pattern=NAME_PATTERN, max_length=100),
    AfterValidator(_require_free_name),
]


def convert_whole_number(value: Any) -> Any:
    """Convert a whole number to the text that it was written as.

    The loader of config files accepts only those that can be written in one way.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


Text = Annotated[str, BeforeValidator(convert_whole_number), StringConstraints(min_length=1)]


def as_list(value: Any) -> Any:
    """Return one value or several as a list."""
    return value if isinstance(value, list) else [value]


LabelList = Annotated[list[Text], BeforeValidator(as_list)]
Positive = Annotated[int, Field(ge=1)]
AtLeastZero = Annotated[float, Field(ge=0)]
AboveZero = Annotated[float, Field(gt=0)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Frequency = Positive | Annotated[float, Field(gt=0, le=1)]
Weighting = Literal["none", "propensity"]
ClassWeight = Literal["balanced"] | None


@dataclass(frozen=True)
class Scope:
    """Condition under which a setting matters: in words, and as a test of its section."""

    words: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class SettingInfo:
    """Description of a setting, the scope where it matters (None: everywhere), and the meaning of
    null.
    """

    sentence: str
    where: Scope | None = None
    null: str = ""

    @property
    def full_sentence(self) -> str:
        """Scope and description."""
        return f"{self.where.words}: {self.sentence}" if self.where else self.sentence


def setting(
    default: Any, sentence: str, *, where: Scope | None = None, null: str = "", **bounds: Any
) -> Any:
    """Make a field of a section.

    Parameters
    ----------
    default : object
        Default value.
    sentence : str
        Description of the setting for users.
    where : Scope, optional
        Condition under which it matters.
    null : str
        Meaning of null.
    **bounds
        Bounds of the value as :func:`pydantic.Field` names them.
    """
    info = SettingInfo(sentence, where, null)
    description = info.full_sentence
    if null:
        description += f"; null: {null}"
    field = Field(default, description=description, **bounds)
    field.metadata.append(info)
    return field


def setting_info(field: FieldInfo) -> SettingInfo:
    """Return the :class:`SettingInfo` of a field."""
    for each in field.metadata:
        if isinstance(each, SettingInfo):
            return each
    return SettingInfo(field.description or "")


# fields that several sections have
WEIGHTING_SETTING = setting(
    "none",
    "weight of positives; propensity: more for rare labels, which annotators miss most often",
)
SEED_SETTING = setting(0, "seed of all random draws", ge=0, lt=2**63)


class Section(BaseModel):
    """Settings that belong together; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    @cache
    def texts(cls) -> frozenset[str]:
        """Return the names of settings that take texts, which are never parsed."""
        return frozenset(
            name for name, field in cls.model_fields.items() if _takes_texts(field.annotation)
        )

    @field_validator("*", mode="before")
    @classmethod
    def _parse_texts(cls, value: Any, info: ValidationInfo) -> Any:
        """Parse values from texts, which command lines and YAML's ``1e-2`` give."""
        return value if info.field_name in cls.texts() else parse_value(value)

    @property
    def relevant(self) -> dict[str, Any]:
        """Settings that the result depends on, given the others: what rules compare and artifacts
        record.
        """
        return self._exclude()

    @property
    def files(self) -> dict[str, str]:
        """Settings that are paths of files, which rules take as inputs."""
        return {}

    @property
    def irrelevant_settings(self) -> set[str]:
        """Names of settings outside of their scope."""
        irrelevant = set()
        for name, field in type(self).model_fields.items():
            where = setting_info(field).where
            if where is not None and not where.holds(self):
                irrelevant.add(name)
        return irrelevant

    def _exclude(self, *unused: str) -> dict[str, Any]:
        """Return all settings but some."""
        return {name: value for name, value in self if name not in unused}


def _takes_texts(annotation: Any) -> bool:
    """Return whether a type, or a part of it, is a text that must stay as it is."""
    if annotation is str:
        return True
    parts = get_args(annotation)
    if any(isinstance(part, OneWordValidator) for part in parts):
        return False
    return any(_takes_texts(part) for part in parts)


class OneWordValidator(BeforeValidator):
    """Validator that makes one word of the values of a setting, texts or not.

    Such a word is no text that must stay as it is.
    """
