# Settings and helpers of all rules; no rule here.
import errno
import re
import shlex
import sys
from functools import cache
from pathlib import Path
from zlib import crc32

from ovaflow.configuration import chains, files, folds, problems, steps
from ovaflow.configuration.places import code_alone, published_results
from ovaflow.configuration.resolve import load, resolve
from ovaflow.configuration.schema import ROLES
from ovaflow.console.errors import InputError
from ovaflow.data.catalogue import files_of, read_catalogue
from ovaflow.machine.driver import take_charge
from ovaflow.training.shard_request import shard_request
from snakemake.settings.types import DeploymentMethod

IS_MODULE = workflow.modifier.parent_modifier is not None

if not IS_MODULE:
    take_charge(workflow)

try:
    # Snakemake takes the last of two keys of the same name
    for path in workflow.overwrite_configfiles:
        load(path)
    # no configfile: directive, which would merge the default datasets and runs with the user's
    SETTINGS = resolve(
        config,
        defaults=load(workflow.source_path("../../config/config.yaml")),
        path=", ".join(map(str, workflow.overwrite_configfiles)) or None,
        catalogue=files_of,
    )
    # what a module reads, the workflow around it may make
    if not IS_MODULE:
        files.require_files(SETTINGS)
except InputError as error:
    print(f"ovaflow: error: {error}", file=sys.stderr)
    sys.exit(2)


def one_of(names):
    """Pattern of some names; matches nothing where there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    dataset=one_of([*SETTINGS.datasets, *folds.folds(SETTINGS)]),
    run=one_of(SETTINGS.runs),
    shard=r"\d+",
    name=one_of(read_catalogue()),
    role=one_of(ROLES),
    embedding=one_of(files.embeddings(SETTINGS)),
    problem=one_of(problems.by_name(SETTINGS)),


# jobs run this ovaflow, whatever PATH says, and never import from the working directory; with --sdm conda the
# environment gives Python and the packages, and this installation no more than ovaflow itself
if DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method:
    PYTHON = f"PYTHONPATH={shlex.quote(str(code_alone(Path('.snakemake', 'ovaflow'))))} python"
else:
    PYTHON = shlex.quote(sys.executable)
PYTHON = PYTHON.replace("{", "{{").replace("}", "}}")
shell.prefix(f'set -euo pipefail; ovaflow() {{{{ {PYTHON} -P -m ovaflow "$@"; }}}}; ')


def file_options(files):
    """Files as options of a command."""
    return [f"--{name.replace('_', '-')}={path}" for name, path in files.items()]


def raw_files(wildcards):
    """What a dataset is made from. A module's prefix is for what it makes, not for files of one's own."""
    found = files.raw_files(SETTINGS, wildcards.dataset)
    return {role: path if path.startswith(f"{files.DOWNLOADS}/") else local(path) for role, path in found.items()}


def options_of(names, input):
    """Some of a job's files as options of a command; as a module of another workflow they have other names than here."""
    return file_options({name: getattr(input, name) for name in names})


def megabytes(base, factor):
    """Memory of a job: a base for the program, and a multiple of its inputs. Here and below, a job sent again asks for more."""
    return lambda wildcards, input, attempt: attempt * (base + int(factor * input.size_mb))


def merging_megabytes(wildcards, input, attempt):
    """Memory of a job that joins shards piece by piece: the dataset and some pieces, whatever the shards hold."""
    return attempt * (1500 + int(2 * input.size_files_mb[list(input).index(input.dataset)]))


def reading_megabytes(wildcards, input, attempt):
    """Memory of a job that reads raw files; packed ones hold a multiple of their size."""
    packed = any(path.endswith((".gz", ".bz2", ".xz", ".zst", ".parquet", ".npz")) for path in input)
    return attempt * (1500 + int((12 if packed else 4) * input.size_mb))


def once_there(path, formula, *arguments):
    """What a formula says of a dataset; not known before that is there."""
    try:
        return formula(path, *arguments)
    except InputError as error:
        raise FileNotFoundError(errno.ENOENT, str(error), str(path)) from None


def training_megabytes(wildcards, input, attempt):
    """Memory of a job that trains any of a run's labels by its formula."""
    # imported here, since Numba takes half a second
    from ovaflow.training.memory import requested_megabytes

    run = wildcards.run if "run" in wildcards.keys() else problems.by_name(SETTINGS)[wildcards.problem]
    train, pretrained = train_of(run), SETTINGS.runs[run].pretrained is not None
    arguments = train.threads, train.shards, pretrained, train.loss
    return attempt * once_there(input.dataset, requested_megabytes, *arguments)


def asked_by_shard(wildcards, input):
    """Memory and minutes of a shard, from what a sample of the labels took."""
    pretrained = SETTINGS.runs[wildcards.run].pretrained is not None
    threads = train_of(wildcards.run).threads
    return shard_request(input.estimate, input.plan, int(wildcards.shard), threads, pretrained)


def shard_megabytes(wildcards, input, attempt):
    """Memory of a shard."""
    return attempt * asked_by_shard(wildcards, input).mem_mb


def shard_minutes(wildcards, input, attempt):
    """Time of a shard."""
    return attempt * asked_by_shard(wildcards, input).runtime


def growing_megabytes(wildcards, input, attempt):
    """Memory of a job that grows trees by its formula."""
    # imported here, since Numba takes half a second
    from ovaflow.fastxml.memory import requested_megabytes

    return attempt * once_there(input.dataset, requested_megabytes, train_of(wildcards.run).threads)


@cache
def train_of(run):
    """Train settings of a run, validated once and not for each of its shards."""
    return SETTINGS.train_of(run)


def threads_of_run(wildcards):
    """Threads of each job of a run."""
    return train_of(wildcards.run).threads


@cache
def shard_files(dataset, run):
    """What a shard needs beside dataset, means and plan."""
    estimate = ancient(problems.estimate_file(SETTINGS, dataset, run))
    return files.start_files(SETTINGS, dataset, run) | {"estimate": estimate}


@cache
# Apart from each other: Snakemake does not compare parameters that are made of a job's files.
def shard_settings(wildcards):
    """Options of all shards of a run that name no file."""
    dataset, run = wildcards.dataset, wildcards.run
    return [*steps.train_options(SETTINGS, run), *steps.weighting_options(SETTINGS, dataset, run)]


def shard_starts(wildcards, input):
    """Options of all shards of a run that name what they start from."""
    return options_of(files.start_files(SETTINGS, wildcards.dataset, wildcards.run), input)


def shards_of_run(wildcards):
    """Shards that a model is merged from."""
    shards = range(train_of(wildcards.run).shards)
    return [f"results/{wildcards.dataset}/{wildcards.run}/shards/{shard}.h5" for shard in shards]


def shards_in_shell(wildcards, input):
    """The same for the shell, whose commands may not be as long as the names of thousands of files."""
    last = train_of(wildcards.run).shards - 1
    return f"{shlex.quote(str(Path(input.shards[0]).parent))}/{{0..{last}}}.h5"


def megabytes_by(formula, path, *arguments):
    """Memory of a job by its formula in ovaflow.rembrandt.memory."""
    # imported here, since Numba takes half a second
    from ovaflow.rembrandt import memory

    return once_there(path, getattr(memory, formula), *arguments)


def embedding_megabytes(wildcards, input, attempt):
    """Memory of a job that embeds labels."""
    run = files.embeddings(SETTINGS)[wildcards.embedding]
    embedding, threads = SETTINGS.embedding_of(run), SETTINGS.train_of(run).threads
    columns = None if embedding.embedding == "none" else embedding.rank + embedding.oversampling
    return attempt * megabytes_by("embedding_megabytes", input.dataset, columns, threads)


def projecting_megabytes(wildcards, input, attempt):
    """Memory of a job that projects instances."""
    embedding, threads = SETTINGS.embedding_of(wildcards.run), train_of(wildcards.run).threads
    rank = None if embedding.embedding == "none" else embedding.rank
    random = None if embedding.features == "linear" else embedding.random_features
    return attempt * megabytes_by("projecting_megabytes", input.dataset, rank, random, threads)


def decoding_megabytes(wildcards, input, attempt):
    """Memory of a job that trains a decoder, as of any training on the projected instances."""
    train = train_of(wildcards.run)
    return attempt * megabytes_by("decoding_megabytes", input.projected, train.threads, train.shards)


def tuning_megabytes(wildcards, input, attempt):
    """Memory of a job that chooses what a decoder is trained with, where the instances are projected once more."""
    threads = SETTINGS.train_of(wildcards.run).threads
    decoding = megabytes_by("tuning_megabytes", input.projected, threads)
    return attempt * (decoding + projecting_megabytes(wildcards, input, 1))


def embedding_of_run(wildcards):
    """Embedding that a run uses, which other runs may use, too."""
    return f"results/{wildcards.dataset}/embeddings/{files.embedding_name(SETTINGS, wildcards.run)}.h5"
