"""A process of its own for each run of a peer: ``python benchmarks/worker.py JOB.json``.

So a peer's memory and threads are its own, and no peer finds caches that
another one filled. The figures go to ``figures.json`` next to the job,
predictions to ``ids.npy`` and readable weights to ``weights.npz``.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from peers.interface import Peer, Problem
from peers.registry import find_method
from threadpoolctl import threadpool_info

from ovaflow.dataset.dataset import open_dataset
from ovaflow.machine.limits import read_peak_rss
from ovaflow.sparse.csr import CSR
from ovaflow.storage.writing import write_text

PREDICTED_LABELS = 5


def run_job(path: Path) -> None:
    """Run the job of a file: train and predict."""
    job = json.loads(path.read_text(encoding="utf-8"))
    dataset = open_dataset(job["dataset"])
    labels = np.load(job["labels"], allow_pickle=False)
    problem = Problem(dataset=dataset, labels=labels, folder=path.parent, **job["settings"])
    kind = find_method(job["method"]).load()
    kind.warm_up(problem)
    peer, prepare = _clocked(lambda: kind(problem))
    figures, ids = _measure(peer, dataset.test.X)
    np.save(path.parent / "ids.npy", ids)
    weights = peer.weights()
    if weights is not None:
        np.savez(
            path.parent / "weights.npz",
            data=weights.data,
            indices=weights.indices,
            indptr=weights.indptr,
        )
    figures |= {
        "prepare_seconds": prepare[0],
        "prepare_cpu_seconds": prepare[1],
        "threads": _count_threads(),
    }
    write_text(path.parent / "figures.json", json.dumps(figures))


def _measure(peer: Peer, X: CSR) -> tuple[dict, np.ndarray]:
    """Train and predict; return figures and predicted labels."""
    _, train = _clocked(peer.train)
    figures = {
        "train_seconds": train[0],
        "train_cpu_seconds": train[1],
        "peak_rss_bytes": read_peak_rss(),
    }
    # some peers store the model to measure it and load it again to predict: not what is timed
    figures["model_bytes"] = peer.model_bytes()
    ids, predict = _clocked(lambda: peer.predict(X, PREDICTED_LABELS))
    figures |= {"predict_seconds": predict[0], "predict_cpu_seconds": predict[1]}
    return figures, ids


def _clocked(action: Callable[[], Any]) -> tuple[Any, tuple[float, float]]:
    """Run an action; return its result, and wall and CPU seconds of all threads of the process."""
    wall = time.perf_counter()
    cpu = time.process_time()
    result = action()
    return result, (time.perf_counter() - wall, time.process_time() - cpu)


def _count_threads() -> int:
    """Return the size of the largest thread pool that threadpoolctl knows (OpenMP, BLAS)."""
    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


if __name__ == "__main__":
    run_job(Path(sys.argv[1]))
