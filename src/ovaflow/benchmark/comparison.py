"""ovaflow against other trainers: same data, same labels, one thread and one process each."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ovaflow.benchmark.objective import objectives
from ovaflow.benchmark.peers.registry import OWN
from ovaflow.benchmark.sample import columns_of, sample_labels
from ovaflow.benchmark.worker import TOP_K
from ovaflow.console.progress import Progress
from ovaflow.evaluation import ranking
from ovaflow.machine.threads import ONE_THREAD
from ovaflow.sparse.csr import CSR, rows_of
from ovaflow.storage.artifact import write_text

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
    objectives : bool
        Run the one-vs-all methods whose weights can be read once more, without
        dropping any weight, to compute their objectives: dropping the small
        ones moves an objective more than solvers differ.
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
    objectives: bool = True

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
        ``labels``, P@1, P@3, P@5.
    objectives : ndarray of float64, shape (m,), or None
        Of the labels, before small weights are dropped.
    failure, objectives_failure : str
        Why there are no figures, or no objectives.
    """

    method: object
    figures: list = field(default_factory=list)
    quality: dict = field(default_factory=dict)
    objectives: np.ndarray | None = None
    failure: str = ""
    objectives_failure: str = ""


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
    rounds = [_timed_run] * comparison.repeats + [_run_for_objectives] * comparison.objectives
    with tempfile.TemporaryDirectory(prefix="ovaflow-benchmark-") as name:
        with Progress("comparing", len(rounds) * len(runs), "runs") as progress:
            for run in rounds:
                for of_method in runs:
                    if not of_method.failure:
                        with tempfile.TemporaryDirectory(dir=name) as folder:
                            run(comparison, of_method, Path(folder))
                    progress.advance()
    return runs


def _timed_run(comparison, runs, folder):
    labels = comparison.labels_of(runs.method)
    runs.failure = _run_worker(comparison, runs.method, labels, folder)
    if runs.failure:
        return
    runs.figures.append(json.loads((folder / "figures.json").read_text(encoding="utf-8")))
    ids = np.load(folder / "ids.npy", allow_pickle=False)
    runs.quality = {"labels": len(labels)} | sample_precision(ids, comparison.dataset.test.Y, labels)


def _run_for_objectives(comparison, runs, folder):
    if not runs.method.readable:
        return
    labels = comparison.labels_of(runs.method)
    runs.objectives_failure = _run_worker(replace(comparison, threshold=0.0), runs.method, labels, folder)
    if runs.objectives_failure:
        return
    dataset = comparison.dataset
    with np.load(folder / "weights.npz", allow_pickle=False) as file:
        weights = CSR(file["data"], file["indices"], file["indptr"], dataset.n_features)
    runs.objectives = objectives(dataset.train.X, rows_of(dataset.positives, labels), weights, comparison.C)


def _run_worker(comparison, method, labels, folder):
    """Run a method in a process of its own; says what went wrong, or nothing."""
    _write_job(comparison, method, labels, folder)
    command = [sys.executable, "-m", "ovaflow.benchmark.worker", str(folder / "job.json")]
    settings = {"env": os.environ | ONE_THREAD, "timeout": comparison.limit, "check": False}
    with open(folder / "log.txt", "wb") as log:
        try:
            status = subprocess.run(command, stdout=log, stderr=log, **settings).returncode
        except subprocess.TimeoutExpired:
            return f"ended after {comparison.limit:.0f} s"
    return f"failed with status {status}: {_last_line(folder / 'log.txt')}" if status else ""


def _write_job(comparison, method, labels, folder):
    settings = {name: getattr(comparison, name) for name in ("C", "epsilon", "threshold", "seed")}
    np.save(folder / "labels.npy", labels)
    path = str(Path(comparison.dataset.path).absolute())
    job = {"method": method.name, "dataset": path, "labels": str(folder / "labels.npy"), "settings": settings}
    write_text(folder / "job.json", json.dumps(job))


def _last_line(path):
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "nothing was said")[:200]


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
        ``objective_difference`` (mean over the labels, relative) with its range.
    """
    own = next((one for one in runs if one.method == OWN and one.figures), None)
    return [_summary(one, own) for one in runs]


def _summary(runs, own):
    row = {"method": runs.method.name, "kind": "tree" if runs.method.tree else "one-vs-all"}
    row["remark"] = runs.method.remark
    if not runs.figures or runs.failure:
        return row | {"failure": runs.failure or "did not run"}
    row |= {name: float(np.median([one[name] for one in runs.figures])) for name in runs.figures[0]}
    row |= runs.quality
    if runs.objectives_failure:
        row["remark"] += f"; run for the objectives: {runs.objectives_failure}"
    row |= _spread("ms_per_label", _per_label(runs, "train_seconds"))
    cpu = _per_label(runs, "train_cpu_seconds")
    row |= _spread("cpu_ms_per_label", cpu) | {"rounds": len(cpu)}
    row["cpu_per_wall"] = row["train_cpu_seconds"] / row["train_seconds"]
    if own is not None:
        together = min(len(cpu), len(own.figures))
        row |= _spread("ratio_to_ovaflow", cpu[:together] / _per_label(own, "train_cpu_seconds")[:together])
        if runs.objectives is not None and own.objectives is not None:
            difference = (runs.objectives - own.objectives) / own.objectives
            row["objective_difference"] = float(difference.mean())
            row["objective_difference_range"] = [float(difference.min()), float(difference.max())]
    return row


def _per_label(runs, name):
    return np.array([1e3 * one[name] / runs.quality["labels"] for one in runs.figures])


def _spread(name, values):
    return {name: float(np.median(values)), f"{name}_range": [float(values.min()), float(values.max())]}
