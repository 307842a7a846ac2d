# Memory and minutes that jobs request; no rules. Here and elsewhere, a retried job requests more.
from math import ceil

from ovaflow.estimate import demand

MODEL, DATASET, PREDICTIONS = (Path(path).name for path in (paths.MODEL, paths.DATASET, paths.PREDICTIONS))


def megabytes(factor, base=demand.PROGRAM, models=True):
    """Memory of a job: a base for the program and a scheduler's own processes, plus a multiple of its inputs.

    Models are left out where a job only passes over them.
    """

    def request(wildcards, input, attempt):
        size = input.size_mb if models else megabytes_of(input, lambda path: Path(path).name != MODEL)
        return attempt * int(base + factor * size)

    return request


def megabytes_of(input, condition):
    """Size of the input files that satisfy a condition."""
    return sum(size for path, size in zip(input, input.size_files_mb) if condition(path))


def reading_megabytes(wildcards, input, attempt):
    return attempt * demand.of_reading(input, input.size_mb)


def request_of_shard(wildcards, input):
    """Memory and minutes of a shard of labels, estimated from a sample where the data are not small."""
    if "estimate" not in input.keys():
        return demand.SMALL
    pretrained = SETTINGS.runs[wildcards.run].pretrained is not None
    share = demand.shares_of_work(fetched(input.plan)).get(int(wildcards.shard), 0.0)
    return demand.read_demand(fetched(input.estimate)).request(share, train_of(wildcards.run).threads, pretrained)


def shape_of(input):
    """Sizes of a job's dataset."""
    return demand.shape_of(fetched(input.sizes))


def merging_megabytes(wildcards, input, attempt):
    shards = megabytes_of(input, set(input.shards).__contains__)
    return attempt * demand.of_merging(shape_of(input).labels, shards)


def request_of_trees(wildcards, input):
    """Memory and minutes of a shard of trees, estimated from one tree."""
    trees = SETTINGS.section("fastxml", run=wildcards.run).trees
    of_shard = ceil(trees / number_of_shards(wildcards.dataset, wildcards.run))
    return demand.read_demand(fetched(input.estimate)).request(of_shard / trees, threads_of_run(wildcards))


def embedding_megabytes(wildcards, input, attempt):
    run = run_by(wildcards)
    shape, threads = shape_of(input), train_of(run).threads
    return attempt * demand.of_embedding(shape, input.size_mb, rembrandt_of(run), threads)


def projecting_megabytes(wildcards, input, attempt):
    return attempt * demand.of_projecting(shape_of(input), input.size_mb, rembrandt_of(wildcards.run))


def decoding_megabytes(wildcards, input, attempt):
    settings, division = rembrandt_of(wildcards.run), number_of_shards(wildcards.dataset, wildcards.run)
    return attempt * demand.of_decoding(shape_of(input), settings, division, threads_of_run(wildcards))


def tuning_megabytes(wildcards, input, attempt):
    """Memory of a job that chooses a decoder's settings, for which the instances are projected once more."""
    both = decoding_megabytes(wildcards, input, attempt) + projecting_megabytes(wildcards, input, attempt)
    return both - attempt * demand.PROGRAM


def reranking_megabytes(wildcards, input, attempt):
    datasets = megabytes_of(input, lambda path: Path(path).name == DATASET)
    predictions = megabytes_of(input, lambda path: Path(path).name == PREDICTIONS)
    suggestions = megabytes_of(input, set(input.get("suggestions", [])).__contains__)
    return attempt * demand.of_reranking(datasets, predictions, suggestions)
