"""Settings of predictions, of the report, and of sweeps."""

import json
import re
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from ovaflow.settings.section import AboveZero, Positive, Section, Seed, Spelled, Text, listed, setting
from ovaflow.settings.source import Location
from ovaflow.settings.spelling import parsed

CANDIDATES = 50
"""Labels of each instance that a second stage ranks: the first ones by score."""
AUTO_RERANK = 0.2
"""Share of the training texts that ``rerank: auto`` holds out."""


def _wanted(written: Any) -> str:
    """What thresholds are tuned for in one word: f1, or ``precision=0.8`` from ``{precision: 0.8}``."""
    wanted = parsed(written)
    if isinstance(wanted, dict) and len(wanted) == 1:
        ((name, value),) = wanted.items()
        wanted = f"{name}={value}"
    found = re.fullmatch(r"f1|precision=(0?\.\d+)", str(wanted))
    if found is None or (found[1] and not 0 < float(found[1]) < 1):
        given = json.dumps(wanted, default=str)
        raise ValueError(f"{given} is neither f1 nor {{precision: P}} with P above 0 and below 1")
    return str(wanted)


Thresholds = Annotated[
    str,
    Spelled(_wanted),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": "^f1$|^precision="}, {"type": "object"}]}),
]


class Predict(Section):
    """From a model to predictions."""

    top_k: Positive = setting(5, "number of labels predicted for each instance")
    rerank: Literal["auto"] | Annotated[float, Field(ge=0, lt=1)] = setting(
        "auto",
        "share of the training instances held out to fit the second stage, which ranks the candidates of the model "
        "and gives them probabilities; 0: none; auto: 0.2 for texts, none for ready-made features or with retrain",
    )
    rerank_with: list[Location] = setting(
        [],
        "other runs of this config, .csv files of id, label and score by other programs, or folders of Annif's results:"
        " what they suggest is evidence of the second stage; []: none",
    )
    optimise: Literal["macro-F1"] | None = setting(
        None,
        "macro-F1: of all texts together, so that rare labels are found; fewer labels are right than in the order of "
        "probability; needs rerank",
    )
    thresholds: Thresholds | None = setting(
        None,
        "tune a least probability for each label on the held-out instances, for questions with thresholds: f1, or "
        "{precision: 0.8}, the most labels of which so many are right; needs rerank",
    )

    @property
    def wanted(self) -> float | None:
        """The precision that thresholds are to reach; None where they are tuned for F1."""
        _, _, precision = (self.thresholds or "").partition("=")
        return float(precision) if precision else None


class Report(Section):
    """The page at the end."""

    examples: int = setting(10, "number of test documents shown with their predicted and true labels", ge=0)
    prune_thresholds: Annotated[list[AboveZero], BeforeValidator(listed)] = setting(
        [0.05, 0.1, 0.2, 0.3, 0.5], "thresholds at which models pruned further are measured; []: none"
    )
    intended_use: Text | None = setting(None, "what the models are for; shown on the model card")
    licence: Text | None = setting(None, "licence of the models; shown on the model card")


class Sweep(Section):
    """Values of a setting; each becomes a run of its own."""

    C: list[AboveZero] | None = Field(None, min_length=1, description="values of C, in any order")
    seed: list[Seed] | None = Field(None, min_length=2, description="seeds: the report has mean and spread")

    @model_validator(mode="after")
    def _one_setting(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("sweep needs either C or seed")
        name, values = self.swept
        for value, following in pairwise(values):
            if value == following:
                raise ValueError(f"{name}: {value:g} appears twice")
        return self

    @property
    def swept(self) -> tuple[str, list[float]]:
        """Name of the setting, and its values in ascending order."""
        return ("C", sorted(self.C)) if self.C else ("seed", sorted(self.seed or []))
