# Memory and minutes that jobs request; no rules. Here and elsewhere, a retried job requests more.
from ovaflow.estimate import demand

MODEL, DATASET, PREDICTIONS = (
    Path(path).name for path in (paths.MODEL, paths.DATASET, paths.PREDICTIONS)
)


def megabytes(factor, base=demand.PROGRAM_MEGABYTES, models=True):
    """Memory of a job: a base for the program and a scheduler's own processes, plus a multiple of its inputs.

    Models are left out where a job only passes over them.
    """

    def request(wildcards, input, attempt):
        size = (
            input.size_mb if models else megabytes_of(input, lambda path: Path(path).name != MODEL)
        )
        return attempt * int(base + factor * size)

    return request


def megabytes_of(input, condition):
    """Size of the input files that satisfy a condition."""
    return sum(size for path, size in zip(input, input.size_files_mb) if condition(path))


def reading_megabytes(wildcards, input, attempt):
    return attempt * demand.reading_memory_mb(input, input.size_mb)


def choosing_megabytes(wildcards, input, attempt):
    return attempt * demand.choosing_memory_mb(input, input.size_mb)


def request_of_shard(wildcards, input):
    """Memory and minutes of a shard, as its method knows them from an estimate or from sizes."""
    files = {
        name: fetched(input[name]) for name in ("estimate", "plan", "sizes") if name in input.keys()
    }
    division = number_of_shards(wildcards.dataset, wildcards.run)
    shard, threads = int(wildcards.shard), threads_of_run(wildcards)
    return method_of(wildcards.run).request(
        SETTINGS, wildcards.run, shard, division, threads, files
    )


def shape_of(input):
    """Sizes of a job's dataset."""
    return demand.read_dataset_shape(fetched(input.sizes))


def merging_megabytes(wildcards, input, attempt):
    shards = megabytes_of(input, set(input.shards).__contains__)
    labels = shape_of(input).labels
    return attempt * method_of(wildcards.run).merging_megabytes(labels, input.size_mb, shards)


def reranking_megabytes(wildcards, input, attempt):
    datasets = megabytes_of(input, lambda path: Path(path).name == DATASET)
    predictions = megabytes_of(input, lambda path: Path(path).name == PREDICTIONS)
    suggestions = megabytes_of(input, set(input.get("suggestions", [])).__contains__)
    return attempt * demand.reranking_memory_mb(datasets, predictions, suggestions)
