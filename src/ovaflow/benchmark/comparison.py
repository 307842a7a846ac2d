"""ovaflow against other trainers: same data, same labels, one thread and one process each."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ovaflow.benchmark.objective import objectives
from ovaflow.benchmark.peers.registry import OWN
from ovaflow.benchmark.sample import columns_of, sample_labels
from ovaflow.benchmark.worker import TOP_K
from ovaflow.console.progress import Progress
from ovaflow.evaluation import ranking
from ovaflow.sparse.csr import CSR, rows_of
from ovaflow.storage.artifact import write_text

ONE_THREAD = dict.fromkeys(
    [
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS",
    ],
    "1",
)  # fmt: skip
"""Environment that keeps libraries from starting threads of their own."""

PLACES = (1, 3, 5)


@dataclass(frozen=True)
class Comparison:
    """What to compare, and how.

    Attributes
    ----------
    dataset : Dataset
    n_labels : int or None
        Size of the sample of labels; None takes all labels with positives.
    trees_on_all : bool
        Train label trees on all labels with positives instead of on the sample.
    seed : int
    repeats : int
        Rounds; each runs every method once.
    C, epsilon, threshold : float
        See :class:`~ovaflow.benchmark.peers.interface.Problem`.
    limit : float
        Seconds after which a run is ended.
    """

    dataset: object
    n_labels: int | None
    trees_on_all: bool = False
    seed: int = 0
    repeats: int = 1
    C: float = 1.0
    epsilon: float = 0.01
    threshold: float = 0.01
    limit: float = 3600.0

    def labels_of(self, method):
        """Labels that a method is trained on.

        Parameters
        ----------
        method : Method

        Returns
        -------
        ndarray of int64
            Ascending.
        """
        counts = np.diff(self.dataset.positives.indptr)
        wanted = None if method.tree and self.trees_on_all else self.n_labels
        return sample_labels(counts, len(counts) if wanted is None else wanted, self.seed)


@dataclass
class Runs:
    """What came of a method.

    Attributes
    ----------
    method : Method
    figures : list of dict
        One a round, see :mod:`ovaflow.benchmark.worker`.
    quality : dict
        ``labels``, P@1, P@3, P@5; for readable one-vs-all weights
        ``objectives``, an array.
    failure : str
        Why there are no figures.
    """

    method: object
    figures: list = field(default_factory=list)
    quality: dict = field(default_factory=dict)
    failure: str = ""


def compare(comparison, methods):
    """Run methods in turn, round after round.

    Parameters
    ----------
    comparison : Comparison
    methods : list of Method

    Returns
    -------
    list of Runs
        In the order of the methods. A method that is not installed or fails says so and stops nothing.
    """
    runs = [Runs(method, failure="" if method.installed else "not installed") for method in methods]
    with tempfile.TemporaryDirectory(prefix="ovaflow-benchmark-") as name:
        with Progress("comparing", comparison.repeats * len(runs), "runs") as progress:
            for _ in range(comparison.repeats):
                for of_method in runs:
                    if not of_method.failure:
                        with tempfile.TemporaryDirectory(dir=name) as folder:
                            _run_once(comparison, of_method, Path(folder))
                    progress.advance()
    return runs


def _run_once(comparison, runs, folder):
    labels = comparison.labels_of(runs.method)
    _write_job(comparison, runs.method, labels, folder)
    command = [sys.executable, "-m", "ovaflow.benchmark.worker", str(folder / "job.json")]
    with open(folder / "log.txt", "wb") as log:
        try:
            done = subprocess.run(
                command, env=os.environ | ONE_THREAD, stdout=log, stderr=log, timeout=comparison.limit, check=False
            )
        except subprocess.TimeoutExpired:
            runs.failure = f"ended after {comparison.limit:.0f} s"
            return
    if done.returncode != 0:
        runs.failure = f"failed with status {done.returncode}: {_last_line(folder / 'log.txt')}"
        return
    runs.figures.append(json.loads((folder / "figures.json").read_text(encoding="utf-8")))
    if not runs.quality:
        runs.quality = _quality(comparison, labels, folder)


def _write_job(comparison, method, labels, folder):
    settings = {name: getattr(comparison, name) for name in ("C", "epsilon", "threshold", "seed")}
    np.save(folder / "labels.npy", labels)
    path = str(Path(comparison.dataset.path).absolute())
    job = {"method": method.name, "dataset": path, "labels": str(folder / "labels.npy"), "settings": settings}
    write_text(folder / "job.json", json.dumps(job))


def _last_line(path):
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "nothing was said")[:200]


def _quality(comparison, labels, folder):
    ids = np.load(folder / "ids.npy", allow_pickle=False)
    quality = {"labels": len(labels)} | sample_precision(ids, comparison.dataset.test.Y, labels)
    if (folder / "weights.npz").exists():
        with np.load(folder / "weights.npz", allow_pickle=False) as file:
            weights = CSR(file["data"], file["indices"], file["indptr"], comparison.dataset.n_features)
        positives = rows_of(comparison.dataset.positives, labels)
        quality["objectives"] = objectives(comparison.dataset.train.X, positives, weights, comparison.C)
    return quality


def sample_precision(ids, Y, labels):
    """P@k where only some labels count, over the instances that carry one of them.

    Parameters
    ----------
    ids : ndarray of int, shape (n, 5)
        Predictions, numbered within ``labels``, -1 where there is none.
    Y : CSR, shape (n, l)
    labels : ndarray of int, shape (m,)
        Ascending.

    Returns
    -------
    dict of str to float
        ``"P@1"``, ``"P@3"``, ``"P@5"``, and ``"instances"``, their number.
    """
    true = columns_of(Y, labels)
    carrying = np.diff(true.indptr) > 0
    hits = ranking.find_hits(ids[:, :TOP_K], true)[carrying]
    return {f"P@{k}": ranking.precision(hits, k) for k in PLACES} | {"instances": int(carrying.sum())}


def summarise(runs):
    """Medians over the rounds, and ratios to ovaflow's figures of the same round.

    Parameters
    ----------
    runs : list of Runs
        ovaflow's among them.

    Returns
    -------
    list of dict
        One a method and JSON-able: ``method``, ``kind``, ``remark``, then
        either ``failure`` or the medians of the worker's figures,
        ``ms_per_label`` and ``cpu_ms_per_label`` with their ranges,
        ``ratio_to_ovaflow`` (of CPU time a label, with its range), P@k, and
        ``objective_difference`` (mean over the labels, relative).
    """
    own = next((one for one in runs if one.method == OWN and one.figures), None)
    return [_summary(one, own) for one in runs]


def _summary(runs, own):
    row = {"method": runs.method.name, "kind": "tree" if runs.method.tree else "one-vs-all"}
    row["remark"] = runs.method.remark
    if not runs.figures or runs.failure:
        return row | {"failure": runs.failure or "did not run"}
    row |= {name: float(np.median([one[name] for one in runs.figures])) for name in runs.figures[0]}
    row |= {name: value for name, value in runs.quality.items() if name != "objectives"}
    row |= _spread("ms_per_label", _per_label(runs, "train_seconds"))
    cpu = _per_label(runs, "train_cpu_seconds")
    row |= _spread("cpu_ms_per_label", cpu) | {"rounds": len(cpu)}
    row["cpu_per_wall"] = row["train_cpu_seconds"] / row["train_seconds"]
    if own is not None:
        together = min(len(cpu), len(own.figures))
        row |= _spread("ratio_to_ovaflow", cpu[:together] / _per_label(own, "train_cpu_seconds")[:together])
        if "objectives" in runs.quality:
            ours = own.quality["objectives"]
            row["objective_difference"] = float(np.mean((runs.quality["objectives"] - ours) / ours))
    return row


def _per_label(runs, name):
    return np.array([1e3 * one[name] / runs.quality["labels"] for one in runs.figures])


def _spread(name, values):
    return {name: float(np.median(values)), f"{name}_range": [float(values.min()), float(values.max())]}
