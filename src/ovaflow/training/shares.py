"""What the shards of all methods have in common: a job that continues, and shards that are whole
when they merge.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress, format_duration
from ovaflow.machine.pinning import pin_threads
from ovaflow.model.training_file import require_same_training
from ovaflow.registry import import_reference
from ovaflow.storage.parts import compute_digest, open_parts, restore_output


@dataclass(frozen=True)
class Share:
    """What a job trains."""

    numbers: Sequence[int]  # its units
    train: Callable[..., Any]  # of the training set, threads, title and parts: the shard
    parameters: dict[str, Any]  # settings that it records
    inputs: dict[str, str]  # checksums of what it is made from, by kind
    depends_on: tuple = ()  # arrays and values that its result depends on, too


def train_shard(method, path, settings, files, shard, shards, threads, output):
    """Train a shard and write it, continuing where the job was stopped; what it holds, in words."""
    title = f"shard {shard}"
    with pin_threads(threads, title) as pinning:
        dataset = method.open(path)
        share = method.share(dataset, settings, files, shard, shards)
        near = method.copy_to_local_node(dataset, pinning)
        revision = method.revisions["train-shard"]
        digest = compute_digest(
            share.parameters, share.inputs, revision, np.array(share.numbers), *share.depends_on
        )
        if restore_output(output, digest, import_reference(method.shard).open):
            return ""
        with open_parts(output, digest) as parts:
            done = share.train(near, threads=threads, title=title, parts=parts)
            replace(done, parameters=share.parameters, inputs=share.inputs).write(output)
    return f"{title}: {method.describe(done)}, {format_duration(done.core_seconds)} of core time"


def open_shards(kind, paths, dataset):
    """Shards of one training of a dataset."""
    opened = []
    with Progress("checking shards", len(paths), "shards") as progress:
        for path in map(Path, paths):
            opened.append(kind.open(path))
            require_same_training(opened[-1], opened[0], dataset)
            progress.advance()
    return opened


def locate_units(opened, unit, units, dataset):
    """The shard and the place in it of each unit; refuses shards that have a unit twice or not at
    all.
    """
    unit = unit.removesuffix("s")
    places = {}
    for shard in opened:
        for place, number in enumerate(shard.numbers.tolist()):
            if number in places:
                message = f"{unit} {number} is also in {places[number][0].path}"
                remedy = "give the shards of one training, each once"
                raise InputError(message, path=shard.path, remedy=remedy)
            places[number] = shard, place
    missing = sorted(set(range(units)) - set(places))
    if missing:
        message = f"no shard given has {unit} {missing[0]} of the training on {dataset.path}"
        remedy = "run train-shard for the missing shards and give all of them to merge"
        raise InputError(message, remedy=remedy)
    return [places[number] for number in sorted(places)]
