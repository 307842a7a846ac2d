"""What a job trains of a one-vs-all model: labels of a plan, from what other steps have computed."""

import sys
from functools import partial

import numpy as np

from ovaflow.initialization.all_negative import Root
from ovaflow.initialization.means import Means
from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.initialization.spanning_tree import LabelTree
from ovaflow.initialization.starts import StartInputs
from ovaflow.model.model_file import LabelWeights
from ovaflow.solver.problem import Status
from ovaflow.training.plan import read_plan
from ovaflow.training.shard_job import train_labels
from ovaflow.training.shares import Share


def make_plan_share(dataset, training, files, shard):
    """What a job trains: the labels that a plan gives it, and where they start."""
    labels = read_plan(files["plan"], shard, dataset.n_labels)
    starts = {}
    made_from = {"dataset": dataset.checksum}
    if (path := files.get("earlier")) is not None:
        model = LabelWeights.open(path)
        require_same_problem(model, training)
        starts["earlier"] = earlier = match_model(model, dataset)
        print(earlier.summary, file=sys.stderr)
        made_from["earlier"] = model.checksum
    if (path := files.get("root")) is not None:
        root = Root.open(path, dataset=dataset)
        root.require_settings(training)
        starts["root"] = root.weights
    if (path := files.get("label_tree")) is not None:
        starts["parents"] = LabelTree.open(path, dataset=dataset).parent
    inputs = StartInputs.of(dataset, Means.open(files["means"], dataset=dataset), **starts)
    train = partial(train_labels, inputs=inputs, labels=labels, training=training)
    return Share(labels, train, training.recorded, made_from, inputs.arrays)


def describe_shard(shard):
    status = shard.statistics["status"]
    counts = {
        "taken over": (status == Status.TAKEN_OVER).sum(),
        "not converged": np.isin(status, (Status.ITERATION_LIMIT, Status.LINE_SEARCH_FAILED)).sum(),
    }
    others = "".join(f", {count:,} labels {outcome}" for outcome, count in counts.items() if count)
    return f"{len(shard.labels):,} labels, {len(shard.weights.data):,} weights{others}"
