"""Training some units of a method in a separate process: their time and memory."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace

import click
import numpy as np
import psutil
from numba.core.event import install_recorder

from ovaflow.console.errors import InputError
from ovaflow.estimate.demand import Demand
from ovaflow.machine.limits import read_peak_rss
from ovaflow.registry import find_method, import_reference

_STEADY = 4.0
_REPEATS = 5


@dataclass(frozen=True)
class Sample:
    solved: int  # labels or trees of the sample
    of: int  # all of them
    demand: Demand
    model_bytes: float  # weights or trees in the model
    weights: float  # number of weights
    core_error: float | None = (
        None  # half of a 95 % interval of core_seconds; unknown from one tree
    )


def sample_units(method, path, settings):
    """Train some units of an evenly divided method, as one of its jobs trains them."""
    dataset = method.open(path)
    units = method.units(dataset, settings)
    size = min(units, method.sample_size)
    numbers = np.arange(size) * units // size
    few = replace(dataset, train=dataset.train.take(np.arange(min(50, dataset.train.X.n_rows))))
    method.train(few, numbers[:1], settings, title="warm up")
    job_seconds = time.process_time()
    _, job_bytes = measure_setup(tuple, dataset)
    shard, seconds = time_training(lambda: method.train(dataset, numbers, settings, title="sample"))
    shard = replace(shard, parameters=method.recorded(settings))
    model = method.join([(shard, place) for place in range(size)], dataset)
    scale = units / size
    of_thread = max(0, read_peak_rss() - job_bytes)
    demand = Demand(scale * seconds, job_seconds, job_bytes, of_thread, float(scale * shard.nbytes))
    return Sample(size, units, demand, demand.result_bytes, float(scale * model.nonzeros))


def measure_setup(make, dataset):
    """Processor seconds of making what all threads share, and memory with it and the dataset."""
    start = time.process_time()
    setup = make()
    seconds = time.process_time() - start
    for array in (*dataset.train.X.arrays, *dataset.train.Y.arrays):
        # mapped pages count once they are read
        array.max(initial=0)
    rss = psutil.Process().memory_info().rss
    del setup
    return seconds, rss


def time_training(train):
    """Result and processor seconds; a short training is repeated, as the first has cold caches."""
    seconds = []
    while sum(seconds) < _STEADY and len(seconds) < _REPEATS:
        start = time.process_time()
        result = train()
        seconds.append(time.process_time() - start)
    return result, float(np.mean(seconds[1:] or seconds))


def sample_in_process(method, path, settings, files):
    """Sample in a separate process, whose memory is that of a job."""
    chosen = settings.model_dump(exclude_unset=True)
    request = json.dumps(
        {"method": method, "path": str(path), "settings": chosen, "files": files}, default=str
    )
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
