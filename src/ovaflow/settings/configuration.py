"""A whole config file: datasets, runs, and their defaults, of which each method has a section."""

from functools import cache
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, create_model, model_validator

from ovaflow.registry import ONE_VS_ALL, find_method, import_reference, method_names
from ovaflow.settings.predict import AUTO_RERANK_SHARE, N_CANDIDATES, Predict, Report, Sweep
from ovaflow.settings.prepare import Prepare, Tune
from ovaflow.settings.section import HELD_OUT_PREFIX, Name, Section, setting
from ovaflow.settings.source import Location, Source
from ovaflow.settings.train import (
    INITIALIZATION_SETTING,
    Evaluate,
    Initialization,
    Train,
    make_start_scope,
)

_METHODS = [find_method(name) for name in method_names()]
# one-vs-all has the section train
_SECTIONS = {
    method: import_reference(method.section or method.settings)
    for method in _METHODS
    if method.name != ONE_VS_ALL
}
MethodName: Any = Literal[method_names()]


class RunMethod(Section):
    """How a run trains."""

    method: MethodName = setting(ONE_VS_ALL, "family of models")
    initialization: Initialization = INITIALIZATION_SETTING
    pretrained: Location | None = setting(
        None,
        "another run of this config, or the path of a model.h5",
        where=make_start_scope("with initialization: pretrained", "pretrained"),
    )
    sweep: Sweep | None = setting(
        None, "one run per value; those of C are trained each from its neighbour's weights"
    )

    @model_validator(mode="after")
    def _start_from_a_model(self) -> Self:
        if (self.initialization == "pretrained") != (self.pretrained is not None):
            raise ValueError(
                "initialization: pretrained and pretrained: (a run or a path) need each other"
            )
        return self


class DatasetEntry(Evaluate, Prepare, Source):
    """A dataset: its source, and its own values of keys of ``prepare`` and ``evaluate``."""


class RunEntry(Predict, Train, *_SECTIONS.values(), RunMethod):  # type: ignore[misc]
    """A run: its method, and its own values of keys of ``train``, ``predict`` and the section of
    its method.
    """

    @model_validator(mode="after")
    def _keys_of_its_method(self) -> Self:
        foreign = sorted(
            (self.model_fields_set & RunEntry.model_fields.keys()) - _find_legal_keys(self.method)
        )
        if foreign:
            raise ValueError(f"{foreign[0]} is not a setting of method: {self.method}")
        if self.sweep is not None:
            name, _ = self.sweep.setting_and_values
            if name not in _find_legal_keys(self.method):
                raise ValueError(f"method: {self.method} has no {name} to sweep")
            if name in self.model_fields_set:
                raise ValueError(f"{name} and sweep.{name} exclude each other")
        return self


@cache
def _find_legal_keys(method: str) -> frozenset[str]:
    """Keys that a run of a method may set: those that its steps read, and those of all runs."""
    keys = {"method", "shards", "threads", "sweep", *Predict.model_fields}
    found = find_method(method)
    own = [step.settings for step in found.steps.values()]
    for reads in [found.reads("train-shard"), found.reads("merge"), *own]:
        if reads is not None:
            keys |= set(reads.fields or import_reference(reads.model).model_fields)
    # what has a start may start from another run
    return frozenset(keys | {"pretrained"} if "initialization" in keys else keys)


class SweptRun(RunEntry):
    """One value of a sweep; made by :func:`ovaflow.settings.chains.expand_sweeps`, never in a
    config file.
    """

    of: str = Field(description="name of the sweep")


_NEEDS_RERANK = "rerank_with needs rerank, the share of instances that is held out"


class _Trained(Section):
    datasets: dict[Name, DatasetEntry] = Field(
        min_length=1, description="each becomes a folder of results"
    )
    runs: dict[Name, RunEntry] = Field(min_length=1, description="each is trained on every dataset")
    prepare: Prepare = Field(default_factory=Prepare, description="defaults of all datasets")
    train: Train = Field(default_factory=Train, description="defaults of all runs")


def _section(method: Any, model: Any) -> Any:
    return model, Field(
        default_factory=model, description=f"defaults of all runs with method: {method.name}"
    )


_WithMethods: Any = create_model(
    "_WithMethods",
    __base__=_Trained,
    **{method.section_name: _section(method, model) for method, model in _SECTIONS.items()},
)


class Config(_WithMethods):
    """A whole config file, defaults filled in."""

    model_config = ConfigDict(title="ovaflow config file")

    tune: Tune = Field(default_factory=Tune, description="how auto settings are chosen")
    predict: Predict = Field(default_factory=Predict, description="defaults of all runs")
    evaluate: Evaluate = Field(default_factory=Evaluate, description="defaults of all datasets")
    report: Report = Field(default_factory=Report, description="the report page")

    def dataset_entry(self, dataset: str) -> DatasetEntry:
        """The entry of a dataset, or of the one that a part of it is held out of."""
        return self.datasets[dataset.split("/")[0]]

    def section(self, name: str, dataset: str | None = None, run: str | None = None) -> Any:
        """A section with the keys that a dataset or a run sets otherwise."""
        section: Section = getattr(self, name)
        entry: Section = section
        if name in ("prepare", "evaluate") and dataset is not None:
            entry = self.dataset_entry(dataset)
        elif name not in ("prepare", "evaluate", "report", "tune") and run is not None:
            entry = self.runs[run]
        overridden = {
            key: getattr(entry, key)
            for key in entry.model_fields_set & type(section).model_fields.keys()
        }
        values = section.model_dump() | overridden
        if name == "predict" and dataset is not None:
            if dataset.rpartition("/")[2].startswith(HELD_OUT_PREFIX):
                values |= {"top_k": N_CANDIDATES, "rerank": 0, "rerank_with": [], "optimise": None}
            elif values["rerank"] == "auto":
                values["rerank"] = self._share_held_out(dataset, run)
        return type(section).model_validate(values)

    def _share_held_out(self, dataset: str, run: str | None) -> float:
        """What ``rerank: auto`` stands for; kept weights may have seen held-out instances."""
        keeps_weights = run is not None and self.keeps_weights(run)
        return (
            AUTO_RERANK_SHARE
            if self.dataset_entry(dataset).has_texts and not keeps_weights
            else 0.0
        )

    def _has_second_stage(self, run: str) -> bool:
        return any(self.section("predict", dataset, run).rerank for dataset in self.datasets)

    def keeps_weights(self, run: str) -> bool:
        """Whether it keeps weights of another model, which may have seen held-out instances."""
        return self.runs[run].pretrained is not None and self.train_settings(run).retrain != "all"

    def train_settings(self, run: str) -> Train:
        return self.section("train", run=run)

    def runs_with_method(self, method: str) -> list[str]:
        return [name for name, run in self.runs.items() if run.method == method]

    @model_validator(mode="after")
    def _sections_fit(self) -> Self:
        for dataset in self.datasets:
            prepare = self.section("prepare", dataset)
            fewest = prepare.min_df
            most = prepare.max_df
            if type(fewest) is type(most) and fewest > most:
                raise ValueError(
                    f"datasets.{dataset}: min_df ({fewest}) must not be above max_df ({most})"
                )
            if prepare.split_conflict:
                raise ValueError(f"datasets.{dataset}: {prepare.split_conflict}")
        for run in self.runs:
            self._require_a_fit(run)
        if self.predict.rerank_with and not any(map(self._has_second_stage, self.runs)):
            raise ValueError(f"predict: {_NEEDS_RERANK}")
        return self

    def _require_a_fit(self, name: str) -> None:
        run = self.runs[name]
        train = self.train_settings(name)
        if not train.negative_score < train.s:
            raise ValueError(f"runs.{name}: t ({train.negative_score}) must be below s ({train.s})")
        if run.method == ONE_VS_ALL and train.weighting_conflict:
            raise ValueError(f"runs.{name}: {train.weighting_conflict}")
        without = [
            dataset for dataset in self.datasets if not self.section("prepare", dataset).bias
        ]
        if run.initialization == "bias" and without:
            raise ValueError(
                f"runs.{name}: the bias start needs a bias feature, and {without[0]} has bias: 0"
            )
        if run.rerank_with and not self._has_second_stage(name):
            raise ValueError(f"runs.{name}: {_NEEDS_RERANK}")
        predict = self.section("predict", run=name)
        if predict.optimise and not self._has_second_stage(name):
            raise ValueError(f"runs.{name}: optimise needs rerank, which gives probabilities")
        if run.method == ONE_VS_ALL and train.retrain != "all":
            if run.sweep is not None:
                raise ValueError(f"runs.{name}: retrain keeps weights of one C, sweep changes it")
            folds = any(self.section("evaluate", dataset).folds for dataset in self.datasets)
            reranks = predict.rerank not in ("auto", 0)
            for key, is_set in (("rerank", reranks), ("evaluate.folds", folds)):
                if is_set and self.keeps_weights(name):
                    reason = "kept weights may have seen held-out instances"
                    raise ValueError(f"runs.{name}: {key} needs retrain: all; {reason}")
