# Memory and minutes that jobs request; no rules. Here and elsewhere, a retried job requests more.
from ovaflow.estimate import demand

MODEL, DATASET, PREDICTIONS = (
    Path(path).name for path in (paths.MODEL, paths.DATASET, paths.PREDICTIONS)
)


def make_memory_request(factor, base=demand.PROGRAM_MEGABYTES, models=True):
    """Return a resource of a rule: memory for the program, and a multiple of the size of its inputs.

    Models are left out where a job only passes over them.
    """

    def request(wildcards, input, attempt):
        size = input.size_mb
        if not models:
            size = sum_megabytes(input, lambda path: Path(path).name != MODEL)
        return attempt * int(base + factor * size)

    return request


def sum_megabytes(input, condition):
    """Sum the sizes of the input files that satisfy a condition."""
    return sum(size for path, size in zip(input, input.size_files_mb) if condition(path))


def request_reading_memory(wildcards, input, attempt):
    return attempt * demand.reading_memory_mb(input, input.size_mb)


def request_choosing_memory(wildcards, input, attempt):
    return attempt * demand.choosing_memory_mb(input, input.size_mb)


def request_shard_resources(wildcards, input):
    """Return memory and minutes of a shard, as its method knows them from an estimate or from sizes."""
    files = {}
    for name in ("estimate", "plan", "sizes"):
        if name in input.keys():
            files[name] = fetch_if_stored(input[name])
    run = find_run(wildcards)
    division = count_shards(wildcards.dataset, run)
    shard = int(wildcards.shard)
    threads = count_threads(wildcards)
    return get_method(run).request(SETTINGS, run, shard, division, threads, files)


def read_shape(input):
    """Read the sizes of a job's dataset."""
    return demand.read_dataset_shape(fetch_if_stored(input.sizes))


def request_merging_memory(wildcards, input, attempt):
    shards = sum_megabytes(input, set(input.shards).__contains__)
    labels = read_shape(input).labels
    return attempt * get_method(wildcards.run).merging_megabytes(labels, input.size_mb, shards)


def request_reranking_memory(wildcards, input, attempt):
    datasets = sum_megabytes(input, lambda path: Path(path).name == DATASET)
    predictions = sum_megabytes(input, lambda path: Path(path).name == PREDICTIONS)
    suggestions = sum_megabytes(input, set(input.get("suggestions", [])).__contains__)
    return attempt * demand.reranking_memory_mb(datasets, predictions, suggestions)
