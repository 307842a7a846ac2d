"""Shards of any method: a job that trains one and continues where it was stopped, and merging."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.console.progress import Progress, format_duration
from ovaflow.dataset.dataset import Dataset
from ovaflow.machine.pinning import pin_threads
from ovaflow.model.training_file import require_same_training
from ovaflow.registry import import_reference
from ovaflow.storage.parts import compute_digest, open_parts, restore_output
from ovaflow.training.method import Method


@dataclass(frozen=True)
class Share:
    """The training of one job."""

    numbers: Sequence[int] | np.ndarray  # its units
    # makes the shard, from the training set, threads, title and parts
    train: Callable[..., Any]
    parameters: dict[str, Any]  # settings that the shard records
    inputs: dict[str, str]  # checksums of the files that it is made from, by kind
    depends_on: Sequence[Any] = ()  # arrays and values that its result depends on, too


def train_shard(
    method: Method,
    path: StrPath,
    settings: Any,
    files: Mapping[str, Any],
    *,
    shard: int,
    shards: int | None,
    threads: int,
    output: Path,
) -> str:
    """Train a shard and write it, continuing where the job was stopped.

    Parameters
    ----------
    method
        The method of the run.
    path
        The dataset file.
    settings, files
        Settings of the training, and further files that it reads, by their options.
    shard, shards
        Number of the shard, and of all of them.
    threads
        Number of threads.
    output
        The file to write.

    Returns
    -------
    str
        The contents of the shard in words; empty if an earlier job had finished it.
    """
    title = f"shard {shard}"
    with pin_threads(threads, title) as pinning:
        dataset = method.open(path)
        share = method.share(dataset, settings, files, shard, shards)
        near = method.copy_to_local_node(dataset, pinning)
        revision = method.find_revision("train-shard", settings)
        digest = compute_digest(
            share.parameters, share.inputs, revision, np.array(share.numbers), *share.depends_on
        )
        if restore_output(output, digest, import_reference(method.shard).open):
            return ""
        with open_parts(output, digest) as parts:
            done = share.train(near, threads=threads, title=title, parts=parts)
            replace(done, parameters=share.parameters, inputs=share.inputs).write(output)
    return f"{title}: {method.describe(done)}, {format_duration(done.core_seconds)} of core time"


def open_shards(kind: Any, paths: Sequence[StrPath], dataset: Dataset) -> list[Any]:
    """Open shards of the class ``kind``, which must be of one training of a dataset."""
    opened: list[Any] = []
    with Progress("checking shards", len(paths), "shards") as progress:
        for path in paths:
            opened.append(kind.open(Path(path)))
            require_same_training(opened[-1], opened[0], dataset)
            progress.advance()
    return opened


def locate_units(
    opened: Sequence[Any], unit: str, n_units: int, dataset: Dataset
) -> list[tuple[Any, int]]:
    """Find the shard of each unit and its place there.

    Refuses shards that have a unit twice or not at all. ``unit`` is what units are called, in the
    plural.
    """
    unit = unit.removesuffix("s")
    places: dict[int, tuple[Any, int]] = {}
    for shard in opened:
        for place, number in enumerate(shard.numbers.tolist()):
            if number in places:
                message = f"{unit} {number} is also in {places[number][0].path}"
                remedy = "give the shards of one training, each once"
                raise InputError(message, path=shard.path, remedy=remedy)
            places[number] = shard, place
    missing = sorted(set(range(n_units)) - set(places))
    if missing:
        message = f"no shard given has {unit} {missing[0]} of the training on {dataset.path}"
        remedy = "run train-shard for the missing shards and give all of them to merge"
        raise InputError(message, remedy=remedy)
    return [places[number] for number in sorted(places)]
