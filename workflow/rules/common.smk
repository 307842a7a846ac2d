# Settings and helpers of all rules; no rule here.
import errno
import re
import shlex
import sys
from pathlib import Path
from zlib import crc32

from ovaflow.configuration import chains, files, folds, steps
from ovaflow.configuration.places import published_results
from ovaflow.configuration.resolve import load, resolve
from ovaflow.configuration.schema import ROLES
from ovaflow.console.errors import InputError
from ovaflow.data.catalogue import files_of, read_catalogue

try:
    # no configfile: directive, which would merge the default datasets and runs with the user's
    SETTINGS = resolve(
        config,
        defaults=load(Path(workflow.basedir) / "config" / "config.yaml"),
        path=", ".join(map(str, workflow.overwrite_configfiles)) or None,
        catalogue=files_of,
    )
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


# jobs run this ovaflow, whatever PATH says, and never import from the working directory
PYTHON = shlex.quote(sys.executable).replace("{", "{{").replace("}", "}}")
shell.prefix(f'set -euo pipefail; ovaflow() {{{{ {PYTHON} -P -m ovaflow "$@"; }}}}; ')


def file_options(files):
    """Files as options of a command."""
    return [f"--{name.replace('_', '-')}={path}" for name, path in files.items()]


def megabytes(base, factor):
    """Memory of a job: a base for the program, and a multiple of its inputs."""
    return lambda wildcards, input: base + int(factor * input.size_mb)


def reading_megabytes(wildcards, input):
    """Memory of a job that reads raw files; packed ones hold a multiple of their size."""
    packed = any(path.endswith((".gz", ".bz2", ".xz", ".zst", ".parquet", ".npz")) for path in input)
    return 1500 + int((12 if packed else 4) * input.size_mb)


def training_megabytes(wildcards, input):
    """Memory of a training job by its formula; not known before there is a dataset."""
    # imported here, since Numba takes half a second
    from ovaflow.training.memory import requested_megabytes

    train, pretrained = SETTINGS.train_of(wildcards.run), SETTINGS.runs[wildcards.run].pretrained is not None
    try:
        return requested_megabytes(input.dataset, train.threads, train.shards, pretrained, train.loss)
    except InputError as error:
        raise FileNotFoundError(errno.ENOENT, str(error), str(input.dataset)) from None


def growing_megabytes(wildcards, input):
    """Memory of a job that grows trees by its formula; not known before there is a dataset."""
    # imported here, since Numba takes half a second
    from ovaflow.fastxml.memory import requested_megabytes

    try:
        return requested_megabytes(input.dataset, SETTINGS.train_of(wildcards.run).threads)
    except InputError as error:
        raise FileNotFoundError(errno.ENOENT, str(error), str(input.dataset)) from None


def shards_of_run(wildcards):
    """Shards that a model is merged from."""
    shards = range(SETTINGS.train_of(wildcards.run).shards)
    return [f"results/{wildcards.dataset}/{wildcards.run}/shards/{shard}.h5" for shard in shards]


def megabytes_by(formula, *arguments):
    """Memory of a job by its formula in ovaflow.rembrandt.memory; not known before there is a dataset."""
    # imported here, since Numba takes half a second
    from ovaflow.rembrandt import memory

    try:
        return getattr(memory, formula)(*arguments)
    except InputError as error:
        raise FileNotFoundError(errno.ENOENT, str(error), str(arguments[0])) from None


def embedding_megabytes(wildcards, input):
    """Memory of a job that embeds labels."""
    run = files.embeddings(SETTINGS)[wildcards.embedding]
    embedding, threads = SETTINGS.embedding_of(run), SETTINGS.train_of(run).threads
    return megabytes_by("embedding_megabytes", input.dataset, embedding.rank + embedding.oversampling, threads)


def projecting_megabytes(wildcards, input):
    """Memory of a job that projects instances."""
    embedding = SETTINGS.embedding_of(wildcards.run)
    features = 1 + (embedding.rank if embedding.features == "linear" else embedding.random_features)
    threads = SETTINGS.train_of(wildcards.run).threads
    return megabytes_by("projecting_megabytes", input.dataset, embedding.rank, features, threads)


def decoding_megabytes(wildcards, input):
    """Memory of a job that trains a decoder, as of any training on the projected instances."""
    train = SETTINGS.train_of(wildcards.run)
    return megabytes_by("decoding_megabytes", input.projected, train.threads, train.shards)


def embedding_of_run(wildcards):
    """Embedding that a run uses, which other runs may use, too."""
    return f"results/{wildcards.dataset}/embeddings/{files.embedding_name(SETTINGS, wildcards.run)}.h5"
