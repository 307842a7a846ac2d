"""What a section of settings is, and the types that many of them have.

Sections are what a config file says. Classes named by a verb are what one step of the pipeline
reads: the config fills them, the rule's parameters are their :attr:`Section.relevant` settings,
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
"""Folders of what is trained without held-out instances begin like this."""
FOLD_FOLDER = "fold-{fold}-of-{folds}"
"""Folders of what is trained without a fold of a cross-validation, and measured on it."""
RESERVED_NAMES = frozenset({"dataset.h5", "means.h5", "label_tree.h5", "embeddings", "report.html"})


def _free_name(name: str) -> str:
    if (
        name in RESERVED_NAMES
        or name.startswith(HELD_OUT_PREFIX)
        or re.fullmatch(FOLD_FOLDER.format(fold=r"\d+", folds=r"\d+"), name)
    ):
        raise ValueError(f"{name} is the name of a result file; choose another name")
    return name


Name = Annotated[
    str, StringConstraints(pattern=NAME_PATTERN, max_length=100), AfterValidator(_free_name)
]


def convert_whole_number(value: Any) -> Any:
    """A text of a whole number, which can only be written in one way where the loader of config
    files took it.
    """
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Text = Annotated[str, BeforeValidator(convert_whole_number), StringConstraints(min_length=1)]


def as_list(value: Any) -> Any:
    """One or several as a list."""
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
    """Where a setting matters: in words, and as a test of the section that has it."""

    words: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class SettingInfo:
    """What a setting does, where it matters (None: everywhere), and what null stands for."""

    sentence: str
    where: Scope | None = None
    null: str = ""

    @property
    def full_sentence(self) -> str:
        """Where it matters and what it does."""
        return f"{self.where.words}: {self.sentence}" if self.where else self.sentence


def setting(
    default: Any, sentence: str, *, where: Scope | None = None, null: str = "", **bounds: Any
) -> Any:
    """A field: its default, :class:`SettingInfo`, and its bounds as :func:`pydantic.Field` names them."""
    says = SettingInfo(sentence, where, null)
    field = Field(
        default,
        description=f"{says.full_sentence}; null: {null}" if null else says.full_sentence,
        **bounds,
    )
    field.metadata.append(says)
    return field


def setting_info(field: FieldInfo) -> SettingInfo:
    """What a field says of itself."""
    found = (each for each in field.metadata if isinstance(each, SettingInfo))
    return next(found, SettingInfo(field.description or ""))


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
        """Settings that take texts, which are never parsed."""
        return frozenset(
            name for name, field in cls.model_fields.items() if _takes_texts(field.annotation)
        )

    @field_validator("*", mode="before")
    @classmethod
    def _as_written(cls, value: Any, info: ValidationInfo) -> Any:
        """Values from texts, which command lines and YAML's ``1e-2`` give."""
        return value if info.field_name in cls.texts() else parse_value(value)

    @property
    def relevant(self) -> dict[str, Any]:
        """Settings that the result depends on, given the others: what rules compare and artifacts
        record.
        """
        return self._without()

    @property
    def files(self) -> dict[str, str]:
        """Settings that are paths of files, which rules take as inputs."""
        return {}

    @property
    def irrelevant_settings(self) -> set[str]:
        """Settings that do not matter where this section is."""
        places = {
            name: setting_info(field).where for name, field in type(self).model_fields.items()
        }
        return {
            name for name, where in places.items() if where is not None and not where.holds(self)
        }

    def _without(self, *unused: str) -> dict[str, Any]:
        return {name: value for name, value in self if name not in unused}


def _takes_texts(annotation: Any) -> bool:
    parts = get_args(annotation)
    return annotation is str or (
        not any(isinstance(part, OneWordValidator) for part in parts)
        and any(map(_takes_texts, parts))
    )


class OneWordValidator(BeforeValidator):
    """Makes one word of what a setting's values say, texts or not; such a word is no text that must
    stay as it is.
    """
