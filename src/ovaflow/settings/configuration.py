"""A whole config file: datasets, runs, and their defaults, of which each method has a section."""

import json
from functools import cache
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, create_model, model_validator

from ovaflow.registry import ONE_VS_ALL, find_method, import_reference, method_names
from ovaflow.settings.predict import AUTO_RERANK_SHARE, N_CANDIDATES, Predict, Report, Sweep
from ovaflow.settings.prepare import Prepare, PrepareSource, Tune, explain_foreign_setting
from ovaflow.settings.schema import REPLACED_SECTIONS
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
_METHOD_SECTIONS = {
    method: import_reference(method.section or method.settings)
    for method in _METHODS
    if method.name != ONE_VS_ALL
}
MethodName: Any = Literal[method_names()]


class RunMethod(Section):
    """The method of a run, and its start."""

    method: MethodName = setting(ONE_VS_ALL, "family of models")
    initialization: Initialization = INITIALIZATION_SETTING
    pretrained: Location | None = setting(
        None,
        "another run of this config, or the path of a model.h5",
        where=make_start_scope("with initialization: pretrained", "pretrained"),
    )
    sweep: Sweep | None = setting(
        None, "one run per value; those of C start from the weights of their neighbours"
    )

    @model_validator(mode="after")
    def _require_earlier_model(self) -> Self:
        if (self.initialization == "pretrained") != (self.pretrained is not None):
            raise ValueError(
                "initialization: pretrained and pretrained: (a run or a path) need each other"
            )
        return self


class DatasetEntry(Evaluate, Prepare, Source):
    """A dataset: its source, and its own values of keys of ``prepare`` and ``evaluate``."""


class RunEntry(Predict, Train, *_METHOD_SECTIONS.values(), RunMethod):  # type: ignore[misc]
    """A run: its method, and its own values of keys of ``train``, ``predict`` and the section of
    its method.
    """

    @model_validator(mode="after")
    def _require_keys_of_method(self) -> Self:
        own_keys = self.model_fields_set & RunEntry.model_fields.keys()
        foreign = sorted(own_keys - _find_legal_keys(self.method))
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
    """Return the keys that a run of a method may set: those of its steps, and those of all runs."""
    keys = {"method", "shards", "threads", "sweep", *Predict.model_fields}
    found = find_method(method)
    own = [step.settings for step in found.steps.values()]
    for reads in [found.reads("train-shard"), found.reads("merge"), *own]:
        if reads is not None:
            keys |= set(reads.fields or import_reference(reads.model).model_fields)
    # what has a start may start from another run
    if "initialization" in keys:
        keys.add("pretrained")
    return frozenset(keys)


class SweptRun(RunEntry):
    """One value of a sweep; made by :func:`ovaflow.settings.chains.expand_sweeps`, never in a
    config file.
    """

    sweep_name: str = Field(description="name of the sweep")


_NO_RERANK = "rerank_with needs rerank, the share of instances that is held out"


class _TrainingSections(Section):
    datasets: dict[Name, DatasetEntry] = Field(
        min_length=1, description="each becomes a folder of results"
    )
    runs: dict[Name, RunEntry] = Field(min_length=1, description="each is trained on every dataset")
    prepare: Prepare = Field(default_factory=Prepare, description="defaults of all datasets")
    train: Train = Field(default_factory=Train, description="defaults of all runs")


def _make_section(method: Any, model: Any) -> Any:
    """Return the type and the field of a method's section."""
    return model, Field(
        default_factory=model, description=f"defaults of all runs with method: {method.name}"
    )


_WithMethods: Any = create_model(
    "_WithMethods",
    __base__=_TrainingSections,
    **{
        method.section_name: _make_section(method, model)
        for method, model in _METHOD_SECTIONS.items()
    },
)


class Config(_WithMethods):
    """A whole config file, defaults filled in."""

    model_config = ConfigDict(title="ovaflow config file")

    tune: Tune = Field(default_factory=Tune, description="how auto settings are chosen")
    predict: Predict = Field(default_factory=Predict, description="defaults of all runs")
    evaluate: Evaluate = Field(default_factory=Evaluate, description="defaults of all datasets")
    report: Report = Field(default_factory=Report, description="the report page")

    def dataset_entry(self, dataset: str) -> DatasetEntry:
        """Return the entry of a dataset, or of the dataset that a part is held out of."""
        return self.datasets[dataset.split("/")[0]]

    def section(self, name: str, dataset: str | None = None, run: str | None = None) -> Any:
        """Return a section with the keys that a dataset or a run overrides."""
        section: Section = getattr(self, name)
        entry: Section = section
        if name in ("prepare", "evaluate"):
            if dataset is not None:
                entry = self.dataset_entry(dataset)
        elif name not in ("report", "tune") and run is not None:
            entry = self.runs[run]
        values = section.model_dump()
        for key in entry.model_fields_set & type(section).model_fields.keys():
            values[key] = getattr(entry, key)
        if name == "predict" and dataset is not None:
            if dataset.rpartition("/")[2].startswith(HELD_OUT_PREFIX):
                # the predictions that fit the second stage
                values |= {"top_k": N_CANDIDATES, "rerank": 0, "rerank_with": [], "optimise": None}
            elif values["rerank"] == "auto":
                values["rerank"] = self._share_held_out(dataset, run)
        return type(section).model_validate(values)

    def _share_held_out(self, dataset: str, run: str | None) -> float:
        """Return the share that ``rerank: auto`` means."""
        if not self.dataset_entry(dataset).has_texts:
            return 0.0
        if run is not None and self.keeps_weights(run):
            return 0.0
        return AUTO_RERANK_SHARE

    def _has_second_stage(self, run: str) -> bool:
        """Return whether a run has a second stage on any dataset."""
        return any(self.section("predict", dataset, run).rerank for dataset in self.datasets)

    def _have_second_stages(self) -> bool:
        """Return whether any run has a second stage."""
        return any(self._has_second_stage(run) for run in self.runs)

    def keeps_weights(self, run: str) -> bool:
        """Return whether a run keeps another model's weights, which may know held-out instances."""
        return self.runs[run].pretrained is not None and self.train_settings(run).retrain != "all"

    def train_settings(self, run: str) -> Train:
        """Return the section ``train`` of a run."""
        return self.section("train", run=run)

    def runs_with_method(self, method: str) -> list[str]:
        """Return the names of the runs of a method."""
        return [name for name, run in self.runs.items() if run.method == method]

    @model_validator(mode="after")
    def _check_sections(self) -> Self:
        for dataset in self.datasets:
            self._check_dataset(dataset)
        for run in self.runs:
            self._check_start(run)
            self._check_second_stage(run)
            self._check_kept_weights(run)
        if self.predict.rerank_with and not self._have_second_stages():
            raise ValueError(f"predict: {_NO_RERANK}")
        return self

    def _check_dataset(self, dataset: str) -> None:
        """Refuse limits of frequencies that exclude each other, and two ways to split."""
        prepare = self.section("prepare", dataset)
        fewest = prepare.min_df
        most = prepare.max_df
        # a number of texts and a share cannot be compared
        if type(fewest) is type(most) and fewest > most:
            raise ValueError(
                f"datasets.{dataset}: min_df ({fewest}) must not be above max_df ({most})"
            )
        if prepare.split_conflict:
            raise ValueError(f"datasets.{dataset}: {prepare.split_conflict}")
        entry = self.datasets[dataset]
        if entry.format is not None:
            chosen = entry.model_dump(exclude_defaults=True)
            foreign = explain_foreign_setting(PrepareSource.model_construct(**chosen), chosen)
            if foreign:
                raise ValueError(f"datasets.{dataset}: {foreign}; leave it out")

    def _check_start(self, name: str) -> None:
        """Refuse a start that does not go with the other settings of a run."""
        run = self.runs[name]
        train = self.train_settings(name)
        if not train.negative_score < train.s:
            raise ValueError(f"runs.{name}: t ({train.negative_score}) must be below s ({train.s})")
        if run.method == ONE_VS_ALL and train.weighting_conflict:
            raise ValueError(f"runs.{name}: {train.weighting_conflict}")
        if run.initialization == "bias":
            for dataset in self.datasets:
                if not self.section("prepare", dataset).bias:
                    raise ValueError(
                        f"runs.{name}: the bias start needs a bias feature, and {dataset} has "
                        "bias: 0"
                    )

    def _check_second_stage(self, name: str) -> None:
        """Refuse settings of a second stage for a run without one."""
        has_sources = bool(self.runs[name].rerank_with)
        optimise = self.section("predict", run=name).optimise
        if not (has_sources or optimise) or self._has_second_stage(name):
            return
        if has_sources:
            raise ValueError(f"runs.{name}: {_NO_RERANK}")
        raise ValueError(f"runs.{name}: optimise needs rerank, which gives probabilities")

    def _check_kept_weights(self, name: str) -> None:
        """Refuse kept weights for a sweep, and where they may have seen held-out instances."""
        run = self.runs[name]
        if run.method != ONE_VS_ALL or self.train_settings(name).retrain == "all":
            return
        if run.sweep is not None:
            raise ValueError(f"runs.{name}: retrain keeps weights of one C, sweep changes it")
        if not self.keeps_weights(name):
            return
        reason = "needs retrain: all; kept weights may have seen held-out instances"
        if self.section("predict", run=name).rerank not in ("auto", 0):
            raise ValueError(f"runs.{name}: rerank {reason}")
        if any(self.section("evaluate", dataset).folds for dataset in self.datasets):
            raise ValueError(f"runs.{name}: evaluate.folds {reason}")


def make_json_schema() -> str:
    """Make the config file's JSON schema, which editors read from
    ``workflow/schemas/config.schema.json``.
    """
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Config.model_json_schema(),
    }
    # a user's file need not repeat what the defaults say
    schema.pop("required", None)
    for section in REPLACED_SECTIONS:
        schema["properties"][section]["additionalProperties"] = False
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
