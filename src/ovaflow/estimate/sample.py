"""Training of some units of a method in a separate process, to measure their time and memory."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import click
import numpy as np
import psutil
from numba.core.event import install_recorder

from ovaflow.console.errors import InputError, StrPath
from ovaflow.estimate.demand import Demand
from ovaflow.machine.limits import read_peak_rss
from ovaflow.registry import find_method, import_reference

_STEADY_SECONDS = 4.0
"""Processor time after which a measurement is steady."""
_MAX_REPEATS = 5


@dataclass(frozen=True)
class Sample:
    """Measurements of a sample of units.

    Attributes
    ----------
    solved : int
        Number of labels or trees in the sample.
    total : int
        Number of all of them.
    demand : Demand
        Demand of training all of them.
    model_bytes : float
        Memory of the weights or trees of the model.
    weights : float
        Number of weights of the model.
    core_error : float or None
        Half of a 95 % interval of ``demand.core_seconds``; unknown for one tree.
    """

    solved: int
    total: int
    demand: Demand
    model_bytes: float
    weights: float
    core_error: float | None = None


def sample_units(method: Any, path: StrPath, settings: Any) -> Sample:
    """Train some units of an evenly divided method, as one of its jobs trains them."""
    dataset = method.open(path)
    units = method.units(dataset, settings)
    size = min(units, method.sample_size)
    numbers = np.arange(size) * units // size
    first_rows = np.arange(min(50, dataset.train.X.n_rows))
    few = replace(dataset, train=dataset.train.take(first_rows))
    method.train(few, numbers[:1], settings, title="warm up")
    job_seconds = time.process_time()
    _, job_bytes = measure_setup(tuple, dataset)
    shard, seconds = time_training(lambda: method.train(dataset, numbers, settings, title="sample"))
    shard = replace(shard, parameters=method.recorded(settings))
    model = method.join([(shard, number) for number in range(size)], dataset)
    scale = units / size
    demand = Demand(
        core_seconds=scale * seconds,
        job_seconds=job_seconds,
        job_bytes=job_bytes,
        thread_bytes=max(0, read_peak_rss() - job_bytes),
        result_bytes=float(scale * shard.nbytes),
    )
    weights = float(scale * model.nonzeros)
    return Sample(size, units, demand, demand.result_bytes, weights)


def measure_setup(make: Callable[[], Any], dataset: Any) -> tuple[float, int]:
    """Measure the making of the objects that all threads share.

    Parameters
    ----------
    make : callable
        Makes these objects.
    dataset : ovaflow.dataset.dataset.Dataset
        The dataset, which is read into memory.

    Returns
    -------
    seconds : float
        Processor time of making them.
    rss : int
        Memory of the process with them and the dataset, in bytes.
    """
    start = time.process_time()
    setup = make()
    seconds = time.process_time() - start
    for array in (*dataset.train.X.arrays, *dataset.train.Y.arrays):
        # mapped pages count only after they were read
        array.max(initial=0)
    rss = psutil.Process().memory_info().rss
    del setup
    return seconds, rss


def time_training(train: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result and the processor seconds of a training.

    A short training is repeated, since the first one has cold caches.
    """
    seconds: list[float] = []
    while sum(seconds) < _STEADY_SECONDS and len(seconds) < _MAX_REPEATS:
        start = time.process_time()
        result = train()
        seconds.append(time.process_time() - start)
    return result, float(np.mean(seconds[1:] or seconds))


def sample_in_process(
    method: str, path: StrPath, settings: Any, files: Mapping[str, Any]
) -> Sample:
    """Sample in a separate process, whose memory is that of a job.

    Parameters
    ----------
    method : str
        Name of the method.
    path : path-like
        Dataset.
    settings : pydantic.BaseModel
        Settings of the method's sample.
    files : mapping
        Further input files, by name.

    Returns
    -------
    sample : Sample
        The measurements.
    """
    content = {
        "method": method,
        "path": str(path),
        "settings": settings.model_dump(exclude_unset=True),
        "files": files,
    }
    request = json.dumps(content, default=str)
    command = [sys.executable, "-P", "-m", "ovaflow.estimate.sample"]

    def ignore_interrupts() -> None:
        # Ctrl-C reaches both processes; the parent reports it and ends the child
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    for _ in range(2):
        child = subprocess.run(
            command, input=request, stdout=subprocess.PIPE, text=True, preexec_fn=ignore_interrupts
        )
        if child.returncode:
            raise click.exceptions.Exit(child.returncode)
        sample = json.loads(child.stdout)
        # compiling kernels took time and memory; the next attempt only loads them
        if not sample.pop("compiled"):
            break
    sample["demand"] = Demand(**sample["demand"])
    return Sample(**sample)


def _main() -> None:
    request = json.load(sys.stdin)
    method = find_method(request["method"])
    try:
        settings = import_reference(method.reads("estimate").model).model_validate(
            request["settings"]
        )
        with install_recorder("numba:compile") as compilations:
            sample = method.sample(request["path"], settings, request["files"])
    except InputError as error:
        print(f"ovaflow: error: {error}", file=sys.stderr)
        sys.exit(2)
    print(json.dumps(asdict(sample) | {"compiled": bool(compilations.buffer)}))


if __name__ == "__main__":
    _main()
