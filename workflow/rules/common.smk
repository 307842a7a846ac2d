# Settings and functions that several files of rules use; no rules.
import os
import re
import shlex
import sys
from functools import cache
from pathlib import Path

from ovaflow import __version__
from ovaflow.console.errors import InputError
from ovaflow.records.catalogue import find_entry, read_catalogue
from ovaflow.estimate import shards
from ovaflow.sparse.fingerprint import kernel_fingerprint
from ovaflow.settings import chains, inputs, paths, suggestion_sources
from ovaflow.settings.config import load_config, require_files, resolve_config
from ovaflow.settings.source import FILE_ROLES, is_in_storage
from ovaflow.settings.section import FOLD_FOLDER, as_list
from ovaflow.registry import ONE_VS_ALL, all_steps, find_method
from snakemake.settings.types import DeploymentMethod


def refuse(error):
    """End with one line and the status of a mistake."""
    print(f"ovaflow: error: {error}", file=sys.stderr)
    sys.exit(2)


IS_MODULE = workflow.modifier.parent_modifier is not None

# where workflows of the catalogue have theirs; it is not merged with one of the command line
if Path("config/config.yaml").is_file() and not (IS_MODULE or workflow.overwrite_configfiles):

    configfile: "config/config.yaml"


try:
    if (cores := workflow.resource_settings.cores) is not None and cores < 1:
        raise InputError(
            f"no job runs on --cores {cores}", remedy="give --cores 1 or more, or --cores all"
        )
    # Snakemake silently takes the last of two keys of the same name, and 8 for a label 010
    CONFIGS = list(map(str, workflow.overwrite_configfiles or workflow.configfiles))
    for path in CONFIGS:
        load_config(path)
    # not by configfile:, which would merge the default datasets and runs with the user's
    SETTINGS = resolve_config(
        config,
        defaults=load_config(workflow.source_path("../../config/config.yaml")),
        path=", ".join(CONFIGS) or None,
        catalogue=find_entry,
    )
    # files that a module reads may be made by the workflow around it; jobs on other machines fetch what they read
    if not (IS_MODULE or workflow.remote_exec):
        require_files(SETTINGS)
except InputError as error:
    refuse(error)


def make_pattern(names):
    """Return a pattern that matches these names, or nothing without names."""
    return "|".join(map(re.escape, names)) or "(?!)"


STEPS = all_steps()


def get_method(run):
    """Return the method of a run."""
    return find_method(SETTINGS.runs[run].method)


RUN_OF_PROBLEM = {
    get_method(run).problem(SETTINGS, dataset, run): chains.find_first_run(SETTINGS, run)
    for dataset in SETTINGS.datasets
    for run in SETTINGS.runs
    if get_method(run).sample
}


def find_runs_that_share():
    """Find one of the runs that share a result of training, by its kind, dataset and name."""
    runs = {}
    for dataset in SETTINGS.datasets:
        for run in SETTINGS.runs:
            names = {"training": inputs.name_training(SETTINGS, dataset, run)}
            names |= get_method(run).name_shared(SETTINGS, dataset, run)
            for kind, name in names.items():
                runs.setdefault((kind, dataset, name), run)
    return runs


RUN_OF_SHARED = find_runs_that_share()
SHARED_KINDS = ("training", "plan", "root", "projection", "decoder")


def name_runs_that_share(kind):
    """Return the names of shared results of a kind, with one of the runs that share each."""
    return {name: run for (each, _, name), run in RUN_OF_SHARED.items() if each == kind}


if workflow.is_main_process:
    # for the logger, which shows the jobs of a dry run in a table
    logger.info(
        "", extra={"shared_by": {kind: name_runs_that_share(kind) for kind in SHARED_KINDS}}
    )


wildcard_constraints:
    dataset=make_pattern([*SETTINGS.datasets, *paths.name_derived_datasets(SETTINGS)]),
    run=make_pattern(SETTINGS.runs),
    training=make_pattern(name_runs_that_share("training")),
    plan=make_pattern(name_runs_that_share("plan")),
    root=make_pattern(name_runs_that_share("root")),
    projection=make_pattern(name_runs_that_share("projection")),
    decoder=make_pattern(name_runs_that_share("decoder")),
    shard=r"\d+",
    name=make_pattern(read_catalogue()),
    role=make_pattern(FILE_ROLES),
    problem=make_pattern(RUN_OF_PROBLEM),


# an installed ovaflow runs whatever PATH says, and never imports from the working directory
IS_DEPLOYED = bool(
    {DeploymentMethod.CONDA, DeploymentMethod.APPTAINER}
    & workflow.deployment_settings.deployment_method
)
if IS_INSTALLED and not IS_DEPLOYED:
    PYTHON = shlex.quote(sys.executable).replace("{", "{{").replace("}", "}}")
    shell.prefix(f'set -euo pipefail; ovaflow() {{{{ {PYTHON} -P -m ovaflow "$@"; }}}}; ')

# another environment file, or the name of an environment that exists
ENVIRONMENT = os.environ.get("OVAFLOW_ENVIRONMENT", "../../envs/ovaflow.yaml")
if Path(ENVIRONMENT).is_file():
    ENVIRONMENT = str(Path(ENVIRONMENT).resolve())


def name_stage(job):
    """Name the stage of a job, such as ``train_shard docstrings/msi``."""
    wildcards = dict(job.wildcards)
    if wildcards.keys() & set(SHARED_KINDS):
        wildcards["run"] = find_run(job.wildcards)
    names = [wildcards[key] for key in ("dataset", "name", "run", "embedding") if key in wildcards]
    # all folds in one line
    place = re.sub(r"(?<=/)fold-\d+-of-", "fold-*-of-", str(Path(*names)))
    return f"{job.rule.name} {place}" if names else job.rule.name


def find_run(wildcards):
    """Return the run of a job, or one of the runs that share its output."""
    for kind in SHARED_KINDS:
        if kind in wildcards.keys():
            return RUN_OF_SHARED[kind, wildcards.dataset.partition("/")[0], wildcards[kind]]
    return RUN_OF_PROBLEM.get(wildcards.get("problem")) or wildcards.get("run")


@cache
def get_train_settings(run):
    """Return the train settings of a run, validated once instead of for each shard."""
    return SETTINGS.train_settings(run)


def count_threads(wildcards):
    """Return the number of threads of each job of a run."""
    return get_train_settings(find_run(wildcards)).threads


@cache
def format_parameters(step, dataset, run):
    """Return the settings that a step depends on, as options."""
    return inputs.format_options(inputs.make_step_parameters(step, SETTINGS, dataset, run))


def make_settings_parameter(step):
    """Return a parameter of a rule: the settings that its step depends on."""
    return lambda wildcards: format_parameters(step, wildcards.get("dataset"), find_run(wildcards))


def mark_for_report(path, caption, file, subcategory="{run}"):
    """Mark a file for Snakemake's own report."""
    place = {"category": "{dataset}", "subcategory": subcategory, "labels": {"file": file}}
    return report(path, caption=f"../report/{caption}.rst", **place)


def format_files(files):
    """Return files as options of a command."""
    return [
        f"--{name.replace('_', '-')}={path}"
        for name, paths in files.items()
        for path in as_list(paths)
    ]


def format_inputs(names, input):
    """Return some input files of a job as options; in a module they have other paths than here."""
    return format_files({name: getattr(input, name) for name in names})


@cache
def count_shards(dataset, run):
    return shards.choose_shard_count(SETTINGS, dataset, run)


def format_division(wildcards):
    """Return the number of shards as an option."""
    return f"--shards={count_shards(wildcards.dataset, find_run(wildcards))}"


def list_shards(dataset, run):
    """Return the shards that are merged into a model."""
    training = inputs.name_training(SETTINGS, dataset, run)
    numbers = range(count_shards(dataset, run))
    return [
        paths.SHARD.format(dataset=dataset, training=training, shard=shard) for shard in numbers
    ]


def list_run_shards(wildcards):
    return list_shards(wildcards.dataset, wildcards.run)


def format_shards(wildcards, input):
    """Return the shards as a shell pattern: thousands of names would exceed the length of a command."""
    return f"{shlex.quote(str(Path(input.shards[0]).parent))}/{{0..{len(input.shards) - 1}}}.h5"
