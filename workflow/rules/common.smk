# Settings and functions that all rules use; no rules.
import re
import shlex
import sys
from functools import cache
from math import ceil
from pathlib import Path
from zlib import crc32

from ovaflow.console.errors import InputError
from ovaflow.data.catalogue import files_of, read_catalogue
from ovaflow.data.readers.streams import matching, parts_of
from ovaflow.estimate.demand import dense_megabytes, read_demand, shape_of, shares_of_work
from ovaflow.fingerprint import code_fingerprint, kernel_fingerprint
from ovaflow.settings import chains, inputs, paths
from ovaflow.settings.config import load, require_files, resolve
from ovaflow.settings.models import ROLES, SEVERAL, listed
from ovaflow.workflow import code_alone, published_results
from snakemake.settings.types import DeploymentMethod

IS_MODULE = workflow.modifier.parent_modifier is not None

try:
    if (cores := workflow.resource_settings.cores) is not None and cores < 1:
        raise InputError(f"no job runs on --cores {cores}", remedy="give --cores 1 or more, or --cores all")
    # Snakemake silently takes the last of two keys of the same name
    for path in workflow.overwrite_configfiles:
        load(path)
    # not by configfile:, which would merge the default datasets and runs with the user's
    SETTINGS = resolve(
        config,
        defaults=load(workflow.source_path("../../config/config.yaml")),
        path=", ".join(map(str, workflow.overwrite_configfiles)) or None,
        catalogue=files_of,
    )
    # files that a module reads may be made by the workflow around it
    if not IS_MODULE:
        require_files(SETTINGS)
except InputError as error:
    print(f"ovaflow: error: {error}", file=sys.stderr)
    sys.exit(2)


def one_of(names):
    """Pattern that matches these names; nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


MODEL = Path(paths.MODEL).name
PANEL = 1 << 16  # labels of an index that are made at a time
RUN_OF_EMBEDDING = paths.embeddings(SETTINGS)
RUN_OF_PROBLEM = {
    inputs.problem_of(SETTINGS, dataset, run): chains.first_run_of(SETTINGS, run)
    for dataset in SETTINGS.datasets
    for run in SETTINGS.runs_of("one-vs-all")
}


wildcard_constraints:
    dataset=one_of([*SETTINGS.datasets, *paths.folds(SETTINGS)]),
    run=one_of(SETTINGS.runs),
    shard=r"\d+",
    name=one_of(read_catalogue()),
    role=one_of(ROLES),
    embedding=one_of(RUN_OF_EMBEDDING),
    problem=one_of(RUN_OF_PROBLEM),


# jobs run this ovaflow, whatever PATH says, and never import from the working directory; with --sdm conda, Python and the
# packages are those of the environment, and only ovaflow itself is that of this installation
if DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method:
    PYTHON = f"PYTHONPATH={shlex.quote(str(code_alone(Path('.snakemake', 'ovaflow'))))} python"
else:
    PYTHON = shlex.quote(sys.executable)
PYTHON = PYTHON.replace("{", "{{").replace("}", "}}")
shell.prefix(f'set -euo pipefail; ovaflow() {{{{ {PYTHON} -P -m ovaflow "$@"; }}}}; ')


def stage_of(job):
    """Stage that a job belongs to, such as ``train_shard docstrings/msi``."""
    wildcards = dict(job.wildcards)
    names = [wildcards[key] for key in ("dataset", "name", "run", "embedding") if key in wildcards]
    return f"{job.rule.name} {Path(*names)}" if names else job.rule.name


def file_options(files):
    """Files as options of a command."""
    return [f"--{name.replace('_', '-')}={path}" for name, paths in files.items() for path in listed(paths)]


def runs_left_out():
    """A line about finished runs that are not in this config, if their report is about to be replaced."""
    if not Path(paths.REPORT).exists() or "write_report" not in {job.rule.name for job in workflow.dag.needrun_jobs()}:
        return ""
    wanted = {paths.METRICS.format(dataset=dataset, run=run) for dataset in SETTINGS.datasets for run in SETTINGS.runs}
    found = sorted(set(map(str, Path().glob(paths.METRICS.format(dataset="*", run="*")))) - wanted)
    names = ", ".join(str(Path(*Path(path).parts[1:-1])) for path in found[:5]) + ", ..." * (len(found) > 5)
    said = f"{paths.REPORT} will be about this config alone, without {names}; a folder for each config keeps its report"
    return said if found else ""


def raw_files(wildcards):
    """Files that a dataset is made from; a module's prefix does not apply to the user's own."""
    found = paths.raw_files(SETTINGS, wildcards.dataset)
    several = SEVERAL.get(SETTINGS.datasets[wildcards.dataset].format, ())
    own = {role: path for role, path in found.items() if not downloaded(path)}
    return found | {
        role: [local(part) for each in listed(path) for part in parts(each)] if role in several else local(path)
        for role, path in own.items()
    }


def parts(location):
    """Files of a location; where there are none any more, which require_files has said, the location itself."""
    try:
        return list(map(str, matching(location)))
    except InputError:
        return [location]


def downloaded(path):
    """Whether this is a file that a rule fetches."""
    return str(path).startswith(f"{paths.DOWNLOADS}/")


def options_of_files(wildcards, input):
    """Files that a dataset is made from as options; of several files the pattern or the folder that the config names."""
    several = SEVERAL.get(SETTINGS.datasets[wildcards.dataset].format, ())
    named = paths.raw_files(SETTINGS, wildcards.dataset)
    own = {role: named[role] for role in several if role in named and not downloaded(named[role])}
    return file_options(dict(input.items()) | own)


def warm_up_options():
    """Options of the warm-up; as before where that has compiled all that the runs need, since runs may be left out."""
    wanted, marker = inputs.warm_up_options(SETTINGS), Path(paths.WARMED_UP)
    before = marker.read_text(encoding="utf-8").split() if marker.exists() else []
    return before if set(wanted) <= set(before) else wanted


def contents_of_folders(wildcards):
    """Names, sizes and times of what is in folders of documents, whose own times do not tell of changes."""
    entry = SETTINGS.datasets[wildcards.dataset]
    locations = [entry.train, entry.test] if entry.format == "annif" else []
    given = [each for location in filter(None, locations) for each in listed(location)]
    parts = [part for location in given for part in parts_of(location) if part.exists()]
    told = [f"{part} {part.stat().st_size} {part.stat().st_mtime_ns}" for part in parts]
    return f"{crc32(' '.join(told).encode()):08x}"


def files_of_preparation(wildcards):
    """The same, and what says which features were chosen for it."""
    return raw_files(wildcards) | inputs.chosen_features(SETTINGS, wildcards.dataset)


def chosen_C(wildcards):
    """What says which C was chosen, for the run or for runs that pose the same problem."""
    return inputs.chosen_C(SETTINGS, wildcards.dataset, run_by(wildcards))


def options_of(names, input):
    """Some of a job's input files as options of a command; in a module they have other paths than here."""
    return file_options({name: getattr(input, name) for name in names})


@cache
def _settings(subcommand, dataset, run):
    return inputs.as_options(inputs.parameters_of(subcommand, SETTINGS, dataset, run))


def run_by(wildcards):
    """The run that a job belongs to, or one of the runs that share its output."""
    shared = RUN_OF_EMBEDDING.get(wildcards.get("embedding")) or RUN_OF_PROBLEM.get(wildcards.get("problem"))
    return shared or wildcards.get("run")


def settings_of(*subcommands):
    """Parameter of a rule: the settings its step depends on, as options."""

    def options(wildcards):
        names = wildcards.get("dataset"), run_by(wildcards)
        return [option for subcommand in subcommands for option in _settings(subcommand, *names)]

    return options


def megabytes(factor, base=500, models=True):
    """Memory of a job: a base for the program and a scheduler's own processes, plus a multiple of its inputs.

    Models are left out where a job only passes over them. Here and below, a retried job asks for more.
    """

    def asked(wildcards, input, attempt):
        return attempt * int(base + factor * size_of(input, lambda path: models or Path(path).name != MODEL))

    return asked


def size_of(input, wanted):
    """Megabytes of some input files."""
    return sum(size for path, size in zip(input, input.size_files_mb) if wanted(path))


def merging_megabytes(wildcards, input, attempt):
    """Memory of a job that joins shards piece by piece: arrays of the labels and a panel of an index."""
    labels = shape_of(input.dataset).labels
    panel = size_of(input, set(input.shards).__contains__) * min(1, PANEL / max(labels, 1))
    return attempt * int(650 + 200 * labels / 1e6 + 0.4 * panel)


def calibrating_megabytes(wildcards, input, attempt):
    """Memory of a job that compares scores with the labels of held-out instances."""
    _, held_out, predictions = input.size_files_mb
    return attempt * int(500 + 2 * held_out + 20 * predictions)


def reading_megabytes(wildcards, input, attempt):
    """Memory of a job that reads raw files; compressed ones expand to a multiple of their size."""
    packed = any(path.endswith((".gz", ".bz2", ".xz", ".zst", ".parquet", ".npz")) for path in input)
    return attempt * (550 + int((5 if packed else 2) * input.size_mb))


def asked_by_shard(wildcards, input):
    """Memory and minutes of a shard of labels, estimated from a sample."""
    pretrained = SETTINGS.runs[wildcards.run].pretrained is not None
    share = shares_of_work(input.plan).get(int(wildcards.shard), 0.0)
    return read_demand(input.estimate).request(share, train_of(wildcards.run).threads, pretrained)


def asked_by_trees(wildcards, input):
    """Memory and minutes of a shard of trees, estimated from one tree."""
    train, trees = train_of(wildcards.run), SETTINGS.section("fastxml", run=wildcards.run).trees
    return read_demand(input.estimate).request(ceil(trees / train.shards) / trees, train.threads)


def memory_of(asked):
    """The memory of such a request as a resource."""
    return lambda wildcards, input, attempt: attempt * asked(wildcards, input).mem_mb


def minutes_of(asked):
    """The time of such a request as a resource."""
    return lambda wildcards, input, attempt: attempt * asked(wildcards, input).runtime


@cache
def train_of(run):
    """Train settings of a run, validated once rather than for each shard."""
    return SETTINGS.train_of(run)


def threads_of_run(wildcards):
    """Threads of each job of a run."""
    return train_of(wildcards.run).threads


@cache
def start_files(dataset, run):
    """What the start of a run needs besides the means."""
    return inputs.start_files(SETTINGS, dataset, run)


def tree_file(wildcards):
    """The label tree, for runs whose start uses it."""
    found = start_files(wildcards.dataset, wildcards.run)
    return {name: path for name, path in found.items() if name == "label_tree"}


@cache
def estimate_file(dataset, run):
    """Estimate from a sample of labels, shared by runs that pose the same problem and by the folds of a dataset."""
    problem = inputs.problem_of(SETTINGS, dataset, run)
    return paths.ESTIMATE.format(dataset=dataset.partition("/")[0], problem=problem)


def forest_of(dataset, run):
    """Name of a run's trees, which depends on all their settings."""
    return f"fastxml-{crc32(' '.join(_settings('train-trees', dataset, run)).encode()):08x}"


def estimate_of_trees(dataset, run):
    """Estimate from one tree of a run, shared by the folds of a dataset."""
    dataset = dataset.partition("/")[0]
    return paths.ESTIMATE.format(dataset=dataset, problem=forest_of(dataset, run))


FORESTS = {
    forest_of(dataset, run): _settings("train-trees", dataset, run)
    for dataset in SETTINGS.datasets
    for run in SETTINGS.runs_of("fastxml")
}


def shard_files(wildcards):
    """What a shard needs besides dataset, means and plan."""
    names = wildcards.dataset, wildcards.run
    return start_files(*names) | {"estimate": ancient(estimate_file(*names))}


# A parameter of its own, since Snakemake does not compare parameters that are made from a job's files.
def shard_starts(wildcards, input):
    """Options of a shard that name the files it starts from."""
    return options_of(start_files(wildcards.dataset, wildcards.run), input)


def held_out_by(template):
    """A file of the dataset whose held-out instances calibrate a run."""
    return lambda wildcards: template.format(dataset=paths.fold_of(SETTINGS, **wildcards), run=wildcards.run)


def shards_of_run(wildcards):
    """Shards that are merged into a model."""
    return [paths.SHARD.format(**wildcards, shard=shard) for shard in range(train_of(wildcards.run).shards)]


def shards_in_shell(wildcards, input):
    """The same as a shell pattern: thousands of names would exceed the length of a command."""
    last = train_of(wildcards.run).shards - 1
    return f"{shlex.quote(str(Path(input.shards[0]).parent))}/{{0..{last}}}.h5"


# Rembrandt's jobs hold dense matrices with a row per instance, feature or label; the factors count these matrices.
def embedding_megabytes(wildcards, input, attempt):
    """Memory of a job that embeds labels."""
    run = run_by(wildcards)
    n, d, labels, _ = shape_of(input.dataset)
    columns = columns_of(run, d)
    embedded = dense_megabytes(columns, labels=labels)
    threads = train_of(run).threads * dense_megabytes(64, instances=3 * n, features=6 * d)
    fit = threads + dense_megabytes(columns, instances=2 * n, features=d)
    return attempt * int(500 + 3 * input.size_mb + 1.1 * (embedded + max(embedded, fit)))


def softmax_of_embedding(wildcards):
    """An option where a run with this embedding asks for the softmax decoder; no parameter, since it changes no result."""
    runs = [SETTINGS.section("rembrandt", run=run) for run in SETTINGS.runs_of("rembrandt")]
    asked = any(run.decoder == "softmax" and paths.embedding_name(run) == wildcards.embedding for run in runs)
    return "--for-softmax" if asked else "--for-any-decoder"


def projecting_megabytes(wildcards, input, attempt):
    """Memory of a job that projects instances."""
    embedding, (n, d, _, _) = SETTINGS.section("rembrandt", run=wildcards.run), shape_of(input.dataset)
    columns = columns_of(wildcards.run, d)
    features = columns if embedding.features == "linear" else embedding.random_features
    matrices = dense_megabytes(columns, instances=2 * n, features=2 * d) + dense_megabytes(features, instances=2 * n)
    return attempt * int(500 + 2 * input.size_mb + 1.25 * matrices)


def decoding_megabytes(wildcards, input, attempt):
    """Memory of a job that trains a decoder or chooses its settings; softmax holds its weights some hundred times."""
    embedding, train = SETTINGS.section("rembrandt", run=wildcards.run), train_of(wildcards.run)
    n, d, labels, positives = shape_of(input.projected)
    if embedding.decoder == "softmax" or (embedding.decoder == "auto" and positives == n):
        weights = dense_megabytes(d, labels=120 * labels) + dense_megabytes(2048, labels=(4 + train.threads) * labels)
        others = dense_megabytes(300, instances=n) + min(512, dense_megabytes(2 * d * d, labels=labels))
    else:
        weights = dense_megabytes(d, labels=4 * labels / train.shards)
        others = dense_megabytes(128 * train.threads, instances=n)
    return attempt * int(500 + 4 * dense_megabytes(d, instances=n) + 1.25 * (weights + others))


def tuning_megabytes(wildcards, input, attempt):
    """Memory of a job that chooses a decoder's settings, for which the instances are projected once more."""
    return decoding_megabytes(wildcards, input, attempt) + projecting_megabytes(wildcards, input, attempt)


def columns_of(run, features):
    """Columns of a run's dense matrices, in panels of 64."""
    embedding = SETTINGS.section("rembrandt", run=run)
    columns = features if embedding.embedding == "none" else embedding.rank + embedding.oversampling
    return 64 * ceil(columns / 64)


def embedding_of_run(wildcards):
    """Embedding that a run uses, possibly shared with other runs."""
    name = paths.embedding_name(SETTINGS.section("rembrandt", run=wildcards.run))
    return paths.EMBEDDING.format(dataset=wildcards.dataset, embedding=name)
