"""How much of a model each shard is."""

from collections import defaultdict


def work_of_shards(path):
    """Labels and estimated work of the shards of a plan.

    Parameters
    ----------
    path : path-like
        shards.tsv of ``ovaflow plan``.

    Returns
    -------
    dict of str to (int, float)
        By the number of the shard; empty where the plan cannot be read.
    """
    labels, work = defaultdict(int), defaultdict(float)
    try:
        with open(path, encoding="utf-8") as file:
            next(file)
            for line in file:
                if line.startswith("#"):
                    continue
                shard, _, effort = line.rstrip("\n").split("\t")
                labels[shard] += 1
                work[shard] += float(effort)
    except (OSError, ValueError, StopIteration):
        return {}
    return {shard: (labels[shard], work[shard]) for shard in labels}
