"""Settings of predictions, of the report, and of sweeps."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ovaflow.settings.section import AboveZero, Positive, Section, Seed, Text, setting
from ovaflow.settings.source import Location

N_CANDIDATES = 50
"""Number of first labels of each instance, by score, that a second stage ranks."""
AUTO_RERANK_SHARE = 0.2
"""Share of the training texts that ``rerank: auto`` holds out."""


class Predict(Section):
    """From a model to predictions."""

    top_k: Positive = setting(5, "number of labels predicted for each instance")
    rerank: Literal["auto"] | Annotated[float, Field(ge=0, lt=1)] = setting(
        "auto",
        "share of the training instances held out to fit the second stage, which ranks the "
        "candidates of the model and gives them probabilities; 0: none; auto: 0.2 for texts, none "
        "for ready-made features or with retrain",
    )
    rerank_with: list[Location] = setting(
        [],
        ".csv files of id, label and score by other programs, or folders of Annif's results: their "
        "suggestions are evidence of the second stage; []: none",
    )
    optimise: Literal["macro-F1"] | None = setting(
        None,
        "macro-F1: choose the labels of all texts together, so that rare ones are found; fewer are "
        "right than in the order of probability; needs rerank",
    )


class Report(Section):
    """The page at the end."""

    examples: int = setting(5, "number of test texts shown with their labels", ge=0)
    intended_use: Text | None = setting(None, "what the models are for; shown on the model card")
    licence: Text | None = setting(None, "licence of the models; shown on the model card")


class Sweep(Section):
    """Values of a setting; each becomes a run of its own."""

    C: list[AboveZero] | None = Field(None, min_length=1, description="values of C, in any order")
    seed: list[Seed] | None = Field(
        None, min_length=2, description="seeds: the report has mean and spread"
    )

    @model_validator(mode="after")
    def _require_one_setting(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("sweep needs either C or seed")
        name, values = self.setting_and_values
        for value, following in pairwise(values):
            if value == following:
                raise ValueError(f"{name}: {value:g} appears twice")
        return self

    @property
    def setting_and_values(self) -> tuple[str, list[float]]:
        """Name of the setting, and its values in ascending order."""
        if self.C:
            return "C", sorted(self.C)
        return "seed", sorted(self.seed or [])
