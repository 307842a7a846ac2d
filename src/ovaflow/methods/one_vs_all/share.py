"""The share of a job in a one-vs-all model: labels of a plan, and their starts."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.initialization.all_negative import Root
from ovaflow.initialization.means import Means
from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.initialization.spanning_tree import LabelTree
from ovaflow.initialization.starts import StartInputs
from ovaflow.model.model_file import LabelWeights
from ovaflow.model.training_file import Shard
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.training.plan import read_plan
from ovaflow.training.shard_job import train_labels
from ovaflow.training.shares import Share


def make_plan_share(
    dataset: Dataset, training: TrainLabels, files: Mapping[str, Path], shard: int
) -> Share:
    """Describe the training of one shard of a plan.

    Parameters
    ----------
    dataset : Dataset
    training : TrainLabels
    files : mapping of str to path-like
        Files from other steps: ``plan`` and ``means``, and those that the start needs of
        ``earlier``, ``root`` and ``label_tree``.
    shard : int
        Number of the shard.

    Returns
    -------
    Share
    """
    labels = read_plan(files["plan"], shard, dataset.n_labels)
    starts: dict[str, Any] = {}
    made_from = {"dataset": dataset.checksum}
    earlier_path = files.get("earlier")
    if earlier_path is not None:
        model = LabelWeights.open(earlier_path)
        require_same_problem(model, training)
        earlier = match_model(model, dataset)
        print(earlier.summary, file=sys.stderr)
        starts["earlier"] = earlier
        made_from["earlier"] = model.checksum
    root_path = files.get("root")
    if root_path is not None:
        root = Root.open(root_path, dataset=dataset)
        root.require_settings(training)
        starts["root"] = root.weights
    tree_path = files.get("label_tree")
    if tree_path is not None:
        starts["parents"] = LabelTree.open(tree_path, dataset=dataset).parent
    means = Means.open(files["means"], dataset=dataset)
    inputs = StartInputs.from_dataset(dataset, means, **starts)
    train = partial(train_labels, inputs=inputs, labels=labels, training=training)
    return Share(labels, train, training.recorded, made_from, inputs.arrays)


def describe_shard(shard: Shard) -> str:
    """Describe a shard in words."""
    status = shard.statistics["status"]
    above_target = [each for each in Status if each.is_above_target]
    counts = {
        "taken over": (status == Status.TAKEN_OVER).sum(),
        "not converged": np.isin(status, above_target).sum(),
    }
    description = f"{len(shard.labels):,} labels, {len(shard.weights.data):,} weights"
    for outcome, count in counts.items():
        if count:
            description += f", {count:,} labels {outcome}"
    return description
