"""Inputs of a step, from a config: settings, as options of its command, and files that other steps
make.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

from ovaflow.registry import ONE_VS_ALL, find_method, find_reads, import_reference, method_names
from ovaflow.settings import paths
from ovaflow.settings.chains import find_earlier_model, find_first_run, group_swept_runs
from ovaflow.settings.configuration import Config
from ovaflow.settings.section import HELD_OUT_PREFIX, Section


def make_step_settings(
    step: str, config: Config, dataset: str | None = None, run: str | None = None
) -> Any:
    """Fill the settings of a step from a config."""
    reads = find_reads(step, _find_method_name(config, run))
    holders: list[Section] = []
    if dataset is not None:
        holders.append(config.dataset_entry(dataset))
    if run is not None:
        holders.append(config.runs[run])
    for name in reversed(reads.sections):
        holders.append(config.section(name, dataset, run))
    model = import_reference(reads.model)
    # sections, which come last, replace values of the run and the dataset
    values = {}
    for holder in holders:
        for name in model.model_fields:
            if hasattr(holder, name):
                values[name] = getattr(holder, name)
    return model.model_validate(values)


def make_step_parameters(
    step: str, config: Config, dataset: str | None = None, run: str | None = None
) -> dict[str, Any]:
    """Return the settings that the results of a step depend on, by their names as options.

    Files are inputs instead.
    """
    settings = make_step_settings(step, config, dataset, run)
    reads = find_reads(step, _find_method_name(config, run))
    parameters = {}
    for name in reads.fields:
        value = settings.relevant.get(name)
        if value == [] and type(settings).model_fields[name].default != []:
            # an option that is left out is the default
            value = "[]"
        if value is not None and name not in settings.files:
            parameters[reads.options.get(name, name)] = value
    return parameters


def _find_method_name(config: Config, run: str | None) -> str:
    return ONE_VS_ALL if run is None else config.runs[run].method


def format_options(parameters: dict[str, Any]) -> list[str]:
    """Format settings as options, such as ``["--C=1.0", "--no-normalize"]``.

    Each value of a list is an option.
    """
    options = []
    for name, value in parameters.items():
        dashed = name.replace("_", "-")
        if isinstance(value, list):
            options += [f"--{dashed}={each}" for each in value]
        elif isinstance(value, bool) and name == "tfidf":
            # this option also has the value auto
            options.append(f"--{dashed}={str(value).lower()}")
        elif value is True:
            options.append(f"--{dashed}")
        elif value is False:
            options.append(f"--no-{dashed}")
        else:
            options.append(f"--{dashed}={value}")
    return options


def make_problem_name(config: Config, dataset: str, run: str) -> str:
    """Make the name of the problem that a run, or the first in its chain, solves.

    All runs of the same problem share one estimate and one choice of C: files have this name.
    """
    labels = make_step_settings("train-shard", config, dataset, find_first_run(config, run))
    weighting = labels.class_weight or labels.weighting
    if not labels.class_weight and labels.weighting != "none":
        weighting += f"-{labels.propensity_a:g}-{labels.propensity_b:g}"
    C = _format_number(labels.C)
    epsilon = _format_number(labels.epsilon)
    tail = f"C{C}-epsilon{epsilon}-stored{labels.stored_threshold:g}"
    return f"{labels.loss}-{labels.regularization}-{weighting}-{tail}"


def name_training(config: Config, dataset: str, run: str) -> str:
    """Name the training of a run, such as ``one-vs-all-6d0c7ec3f2b1``.

    Runs of a dataset that train alike share it, and what is trained on parts of the dataset has the
    same name.
    """
    entry = config.runs[run]
    method = find_method(entry.method)
    others = [f"--shards={config.train_settings(run).shards}", f"--earlier={entry.pretrained}"]
    return f"{method.name}-{name_settings(config, dataset, run, method.training_steps, others)}"


def name_root(config: Config, dataset: str, run: str) -> str:
    """Name the solution without positives: the same for all runs that share it."""
    return name_settings(config, dataset, run, ["root"])


def name_plan(config: Config, dataset: str, run: str) -> str:
    """Name the division of labels into shards: by their number, and perhaps by the label tree."""
    number = str(config.train_settings(run).shards)
    labels = make_step_settings("train-shard", config, dataset, run)
    return f"{number}-tree" if labels.needs_tree else number


def name_settings(
    config: Config, dataset: str, run: str, steps: Iterable[str], others: Iterable[str] = ()
) -> str:
    """Name the settings of some steps of a run, on a dataset or a part of it."""
    settings = list(others)
    for step in steps:
        parameters = make_step_parameters(step, config, dataset.partition("/")[0], run)
        settings += format_options(parameters)
    return hashlib.sha256("\n".join(settings).encode()).hexdigest()[:12]


def _format_number(value: float | str) -> str:
    """Format a number, or return the word auto."""
    return value if isinstance(value, str) else f"{value:g}"


def find_chosen_C(config: Config, dataset: str, run: str) -> dict[str, str]:
    """Return the file with the choice for ``C: auto``, by option.

    Runs of the same problem and folds of a dataset share it.
    """
    if config.train_settings(run).C != "auto":
        return {}
    problem = make_problem_name(config, dataset, run)
    return {"chosen_C": paths.CHOSEN_C.format(dataset=dataset.partition("/")[0], problem=problem)}


def find_chosen_features(config: Config, dataset: str) -> dict[str, str]:
    """Return the file with the choice for ``features: auto`` of a dataset of texts, by option."""
    prepare = make_step_settings("prepare", config, dataset)
    if not prepare.has_texts or prepare.features != "auto":
        return {}
    return {"chosen_features": paths.CHOSEN_FEATURES.format(dataset=dataset)}


def find_chosen_prune(config: Config, dataset: str, run: str) -> dict[str, str]:
    """Return the file with the choice for ``prune: auto``, by option.

    What is trained without held-out instances has the same threshold.
    """
    whole, _, part = dataset.rpartition("/")
    if not part.startswith(HELD_OUT_PREFIX):
        whole = dataset
    if config.train_settings(run).prune != "auto":
        return {}
    if paths.name_held_out_dataset(config, whole, run) is None:
        return {}
    return {"chosen_prune": paths.CHOSEN_PRUNE.format(dataset=whole, run=run)}


def find_start_files(config: Config, dataset: str, run: str) -> dict[str, str]:
    """Return the files that the training of a run needs besides the means, by option."""
    labels = make_step_settings("train-shard", config, dataset, run)
    files = {}
    if labels.needs_root:
        files["root"] = paths.ROOT.format(dataset=dataset, root=name_root(config, dataset, run))
    if labels.needs_tree:
        files["label_tree"] = paths.LABEL_TREE.format(dataset=dataset)
    files |= find_chosen_C(config, dataset, run)
    earlier = find_earlier_model(config, dataset, run)
    if earlier is not None:
        files["earlier"] = earlier
    return files


def make_warm_up_options(config: Config) -> list[str]:
    """Return the options of ``ovaflow warm-up``: the kernels that the runs need."""
    problems = set()
    for run in config.runs_with_method(ONE_VS_ALL):
        train = config.train_settings(run)
        problems.add(f"--problem={train.loss}/{train.regularization}")
    options = sorted(problems)
    for name in method_names():
        if find_method(name).warm_up and config.runs_with_method(name):
            options.append(f"--{name}")
    if paths.find_second_stage_files(config, paths.RERANKER):
        options.append("--rerank")
    return options


def make_sweep_options(config: Config) -> list[str]:
    """Return the runs of each sweep as options of ``ovaflow report``."""
    sweeps = group_swept_runs(config)
    return [f"--sweep={name}={','.join(runs)}" for name, runs in sweeps.items()]
