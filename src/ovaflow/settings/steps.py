"""What each step of the pipeline reads: parameters of its rule, options of its subcommand, and its code."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ovaflow.fingerprint import code_fingerprint, kernel_fingerprint
from ovaflow.methods import METHODS
from ovaflow.settings import models, paths
from ovaflow.settings.chains import earlier_model, first_run_of, sweeps_of
from ovaflow.settings.models import Config, Section, Train, TrainLabels


class Step(NamedTuple):
    """What a subcommand reads: fields of a model, all of them unless they are named, filled from these sections."""

    model: type[Section]
    sections: tuple[str, ...]
    fields: tuple[str, ...] = ()
    options: Mapping[str, str] = MappingProxyType({})  # names of options that are not those of their fields

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the fields."""
        return self.fields or tuple(self.model.model_fields)


_LABELS = (
    *(name for name in TrainLabels.model_fields if name not in ("reference", "stored_threshold")),
    "stored_threshold",
)
_SAMPLED = ("C", "loss", "regularization", "weighting", "epsilon", "propensity_a", "propensity_b")
_LABEL_SECTIONS = ("train", "evaluate")

STEPS = {
    "prepare": Step(models.PrepareSource, ("prepare",)),
    "choose-features": Step(
        models.ChooseFeatures,
        ("prepare", "tune"),
        tuple(name for name in models.ChooseFeatures.model_fields if name != "features"),
    ),
    "choose-c": Step(
        models.ChooseC,
        ("train", "tune", "evaluate"),
        (
            *(name for name in _SAMPLED if name != "C"),
            "stored_threshold",
            *models.Comparison.model_fields,
            "candidates",
        ),
    ),
    "plan": Step(Train, ("train",), ("shards",)),
    "root": Step(TrainLabels, _LABEL_SECTIONS, ("C", "loss", "root_epsilon")),
    "estimate": Step(TrainLabels, _LABEL_SECTIONS, _SAMPLED),
    "train-shard": Step(TrainLabels, _LABEL_SECTIONS, _LABELS),
    "benchmark solver": Step(TrainLabels, _LABEL_SECTIONS, (*_SAMPLED, "initialization")),
    "merge": Step(Train, ("train",), ("prune",)),
    "predict": Step(models.Predict, ("predict",), ("top_k",)),
    "calibration-curve": Step(models.Predict, ("predict",), ("top_k",)),
    "evaluate": Step(models.Evaluate, ("evaluate",)),
    "prune-curve": Step(models.Evaluate, ("evaluate",)),
    "report": Step(models.Report, ("report",), ("examples", "intended_use", "licence")),
} | {
    name: Step(getattr(models, command.model), *command[2:])
    for method in METHODS.values()
    for name, command in method.commands.items()
    if command.model
}


def read_by(subcommand, config, dataset=None, run=None, **given):
    """What a subcommand reads, filled from a config; ``given`` takes precedence."""
    step = STEPS[subcommand]
    sections = [config.section(name, dataset, run) for name in step.sections]
    sections += [config.runs[run]] if run is not None else []
    found = {}
    for name in step.model.model_fields:
        holder = next((section for section in sections if hasattr(section, name)), None)
        if holder is not None:
            found[name] = getattr(holder, name)
    return step.model.model_validate(found | given)


def of(subcommand, config, dataset=None, run=None):
    """Settings that a step depends on, by their names as options."""
    step, given = STEPS[subcommand], {}
    if subcommand in ("choose-features", "choose-c"):
        given["candidates"] = getattr(config.tune.candidates, "C" if subcommand == "choose-c" else "features")
    if subcommand in ("prepare", "choose-features") and dataset is not None:
        entry = config.datasets[dataset]
        given["format"] = entry.format or entry.source
    if subcommand in ("predict", "calibration-curve") and dataset is not None and "/" in dataset:  # a fold
        given["top_k"] = paths.BEST
    felt = read_by(subcommand, config, dataset, run, **given).felt
    named = {step.options.get(name, name): felt[name] for name in step.reads if felt.get(name) is not None}
    if subcommand in ("prepare", "choose-features") and dataset is not None:
        if config.datasets[dataset].test is not None:
            del named["test_fraction"], named["seed"]
        for name in paths.settings_files(config, dataset):  # files of the step
            named.pop(name, None)
    return named


def problem_of(config: Config, dataset: str, run: str) -> str:
    """Name of the problem that a run, or the first in its chain, poses: one sample tells what all runs of it take."""
    labels = read_by("train-shard", config, dataset, first_run_of(config, run))
    propensities = f"-{labels.propensity_a:g}-{labels.propensity_b:g}" if labels.weighting != "none" else ""
    C = labels.C if isinstance(labels.C, str) else f"{labels.C:g}"
    tail = f"C{C}-epsilon{labels.epsilon:g}-stored{labels.stored_threshold:g}"
    return f"{labels.loss}-{labels.regularization}-{labels.weighting}{propensities}-{tail}"


def chosen_C(config: Config, dataset: str, run: str) -> dict[str, str]:
    """Where ``C: auto`` of a run is chosen, by option; runs of the same problem and folds of a dataset share it."""
    if config.train_of(run).C != "auto":
        return {}
    problem = problem_of(config, dataset, run)
    return {"chosen_C": paths.CHOSEN_C.format(dataset=dataset.partition("/")[0], problem=problem)}


def chosen_features(config: Config, dataset: str) -> dict[str, str]:
    """Where ``features: auto`` of a dataset is chosen, by option."""
    entry = config.datasets[dataset]
    texts = entry.source == "builtin" or entry.format in models.TEXT_FORMATS
    if not texts or config.section("prepare", dataset).features != "auto":
        return {}
    return {"chosen_features": paths.CHOSEN_FEATURES.format(dataset=dataset)}


def start_files(config: Config, dataset: str, run: str) -> dict[str, str]:
    """What the training of a run needs besides the means, by option."""
    labels = read_by("train-shard", config, dataset, run)
    needed = {"root": paths.ROOT} if labels.needs_root else {}
    needed |= {"label_tree": paths.LABEL_TREE} if labels.needs_tree else {}
    earlier = earlier_model(config, dataset, run)
    found = {name: template.format(dataset=dataset, run=run) for name, template in needed.items()}
    return found | chosen_C(config, dataset, run) | ({} if earlier is None else {"earlier": earlier})


def as_options(settings: dict[str, Any]) -> list[str]:
    """Settings as options, such as ``["--C=1.0", "--no-normalize"]``; lists are given value by value."""
    return [option for name, value in settings.items() for option in _options(name.replace("_", "-"), value)]


def _options(name: str, value: Any) -> list[str]:
    if isinstance(value, list):
        return [f"--{name}={each}" for each in value]
    if isinstance(value, bool) and name != "tfidf":
        return [f"--{name}" if value else f"--no-{name}"]
    return [f"--{name}={str(value).lower() if isinstance(value, bool) else value}"]


def warm_up_options(config: Config) -> list[str]:
    """Options of ``ovaflow warm-up``: the kernels that the runs need."""
    trains = [config.train_of(run) for run in config.runs_of("one-vs-all")]
    problems = sorted({f"--problem={train.loss}/{train.regularization}" for train in trains})
    return [*problems, *(f"--{method}" for method, row in METHODS.items() if row.warm_up and config.runs_of(method))]


def sweep_options(config: Config) -> list[str]:
    """The sweeps as options of ``ovaflow report``."""
    return [f"--sweep={name}={','.join(runs)}" for name, runs in sweeps_of(config).items()]


def code_of(subcommand: str) -> str:
    """Fingerprint of the code that a subcommand executes."""
    if subcommand == "warm-up":
        return kernel_fingerprint()
    return code_fingerprint(subcommand)
