"""ovaflow against other trainers: same data, same labels, one thread and one process each.

``python benchmarks/compare.py results/DATASET/dataset.h5 --labels=200 --repeats=3``
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import click
import numpy as np
from label_costs import sample_labels
from peers.interface import as_matrix
from peers.registry import OWN, PACKAGES, make_names_callback, select_methods
from tables import NOT_INSTALLED, align
from worker import PREDICTED_LABELS

from ovaflow.console.progress import Progress
from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation import ranking
from ovaflow.machine.limits import ONE_THREAD_ENVIRONMENT
from ovaflow.model.ranked_labels import find_hits
from ovaflow.sparse.csr import CSR, from_scipy, select_rows
from ovaflow.storage.writing import write_text

CUT_OFFS = (1, 3, 5)


@dataclass(frozen=True)
class Comparison:
    """What to compare, and how."""

    dataset: object
    n_labels: int | None  # of the sample; None: all labels with positives
    trees_on_all: bool = (
        False  # label trees train on all labels with positives instead of on the sample
    )
    seed: int = 0
    repeats: int = 1
    C: float = 1.0
    epsilon: float = 0.01
    threshold: float = 0.01
    limit: float = 3600.0  # seconds after which a run is ended
    # runs one-vs-all methods whose weights can be read once more, without dropping any weight,
    # since dropping the small ones moves an objective more than solvers differ
    objectives: bool = True

    def labels_of(self, method):
        """Labels that a method is trained on."""
        counts = np.diff(self.dataset.positives.indptr)
        wanted = None if method.tree and self.trees_on_all else self.n_labels
        return sample_labels(counts, len(counts) if wanted is None else wanted, self.seed)


@dataclass
class Runs:
    """What came of a method."""

    method: object
    figures: list = field(default_factory=list)  # one per round, see worker.py
    quality: dict = field(default_factory=dict)
    objectives: np.ndarray | None = None
    failure: str = ""
    objectives_failure: str = ""


def compare(comparison, methods):
    """Run methods in turn, round after round."""
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


def _timed_run(comparison, runs, folder) -> None:
    labels = comparison.labels_of(runs.method)
    runs.failure = _run_worker(comparison, runs.method, labels, folder)
    if runs.failure:
        return
    runs.figures.append(json.loads((folder / "figures.json").read_text(encoding="utf-8")))
    ids = np.load(folder / "ids.npy", allow_pickle=False)
    runs.quality = {"labels": len(labels)} | sample_precision(
        ids, comparison.dataset.test.Y, labels
    )


def _run_for_objectives(comparison, runs, folder) -> None:
    if not runs.method.readable:
        return
    labels = comparison.labels_of(runs.method)
    runs.objectives_failure = _run_worker(
        replace(comparison, threshold=0.0), runs.method, labels, folder
    )
    if runs.objectives_failure:
        return
    dataset = comparison.dataset
    with np.load(folder / "weights.npz", allow_pickle=False) as file:
        weights = CSR(file["data"], file["indices"], file["indptr"], dataset.n_features)
    runs.objectives = objectives(
        dataset.train.X, select_rows(dataset.positives, labels), weights, comparison.C
    )


def objectives(X, positives, weights, C, width=16):
    """1/2 |w|^2 + C sum_i max(0, 1 - y_i <w, x_i>)^2 of each row of the weights, in float64 and
    apart from the solver.

    The bias feature is one of the features: its weight counts in the norm.
    """
    instances = X.to_scipy()
    sparse = weights.to_scipy()
    of_labels = positives.to_scipy()
    values = np.empty(weights.n_rows)
    for low in range(0, weights.n_rows, width):
        rows = slice(low, low + width)
        dense = sparse[rows].toarray().astype(np.float64)
        signs = 2.0 * of_labels[rows].toarray() - 1.0
        losses = np.square(np.maximum(0.0, 1.0 - signs * (instances @ dense.T).T)).sum(axis=1)
        values[rows] = 0.5 * np.square(dense).sum(axis=1) + C * losses
    return values


def _run_worker(comparison, method, labels, folder):
    """Run a method in a process of its own; says what went wrong, or nothing."""
    _write_job(comparison, method, labels, folder)
    command = [sys.executable, str(Path(__file__).with_name("worker.py")), str(folder / "job.json")]
    settings = {
        "env": os.environ | ONE_THREAD_ENVIRONMENT,
        "timeout": comparison.limit,
        "check": False,
    }
    with open(folder / "log.txt", "wb") as log:
        try:
            status = subprocess.run(command, stdout=log, stderr=log, **settings).returncode
        except subprocess.TimeoutExpired:
            return f"ended after {comparison.limit:.0f} s"
    return f"failed with status {status}: {_last_line(folder / 'log.txt')}" if status else ""


def _write_job(comparison, method, labels, folder) -> None:
    settings = {name: getattr(comparison, name) for name in ("C", "epsilon", "threshold", "seed")}
    np.save(folder / "labels.npy", labels)
    path = str(Path(comparison.dataset.path).absolute())
    job = {
        "method": method.name,
        "dataset": path,
        "labels": str(folder / "labels.npy"),
        "settings": settings,
    }
    write_text(folder / "job.json", json.dumps(job))


def _last_line(path):
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "nothing was said")[
        :200
    ]


def sample_precision(ids, Y, labels):
    """P@k where only some labels count, over the instances that carry one of them."""
    true = from_scipy(as_matrix(Y)[:, labels])
    carrying = np.diff(true.indptr) > 0
    hits = find_hits(ids[:, :PREDICTED_LABELS], true)[carrying]
    return {f"P@{k}": ranking.precision_of_hits(hits, k) for k in CUT_OFFS} | {
        "instances": int(carrying.sum())
    }


def summarize(runs):
    """Medians over the rounds, and ratios to ovaflow's figures of the same round."""
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
        row |= _spread(
            "ratio_to_ovaflow", cpu[:together] / _per_label(own, "train_cpu_seconds")[:together]
        )
        if runs.objectives is not None and own.objectives is not None:
            difference = (runs.objectives - own.objectives) / own.objectives
            row["objective_difference"] = float(difference.mean())
            row["objective_difference_range"] = [float(difference.min()), float(difference.max())]
    return row


def _per_label(runs, name):
    return np.array([1e3 * one[name] / runs.quality["labels"] for one in runs.figures])


def _spread(name, values):
    return {
        name: float(np.median(values)),
        f"{name}_range": [float(values.min()), float(values.max())],
    }


PEER_COLUMNS = [
    "method",
    "labels",
    "train s",
    "CPU s",
    "ms/label",
    "CPU ms/label",
    "ratio",
    "prepare s",
    "predict s",
    "peak RSS",
    "model",
    "P@1",
    "P@3",
    "P@5",
    "objective",
]


def peers_table(summary):
    """Table and notes of a comparison."""
    table = align([PEER_COLUMNS] + [_peer_row(row) for row in summary])
    remarks = [
        f"  {row['method']}: {row['remark']}"
        for row in summary
        if row["remark"] and "failure" not in row
    ]
    return "\n".join([table, "", *NOTES, *_threads(summary), "settings that differ:", *remarks])


NOTES = [
    "train, CPU: wall and CPU seconds of training, medians over the rounds; ratio: CPU time a label over ovaflow's of",
    "  the same round; ranges in brackets. prepare: conversion of the data and means, not part of train.",
    "peak RSS: of the process until training ended. model: bytes as the package stores it, for liblinear and",
    "  scikit-learn as sparse float32 weights.",
    "P@k: among the labels trained, over the test instances that carry one of them.",
    "objective: squared hinge with the bias in the norm, before small weights are dropped (a run of its own);",
    "  mean relative difference from ovaflow's, positive: worse.",
]


def _peer_row(row):
    if "failure" in row:
        return [
            row["method"],
            NOT_INSTALLED if row["failure"] == "not installed" else row["failure"],
        ]
    difference = row.get("objective_difference")
    return [
        row["method"],
        f"{row['labels']:,}",
        _seconds(row["train_seconds"]),
        _seconds(row["train_cpu_seconds"]),
        f"{row['ms_per_label']:.3g}",
        _ranged(row, "cpu_ms_per_label"),
        _ranged(row, "ratio_to_ovaflow"),
        _seconds(row["prepare_seconds"]),
        _seconds(row["predict_seconds"]),
        f"{row['peak_rss_bytes'] / 1e6:,.0f} MB",
        f"{row['model_bytes'] / 1e6:,.1f} MB",
        *(f"{100 * row[place]:.2f}" for place in ("P@1", "P@3", "P@5")),
        "-" if difference is None else f"{100 * difference:+.3f} %",
    ]


def _seconds(seconds):
    return f"{seconds:.3g}" if seconds < 100 else f"{seconds:,.0f}"


def _ranged(row, name):
    if name not in row:
        return "-"
    text = f"{row[name]:.3g}"
    low, high = row[f"{name}_range"]
    return text if row["rounds"] == 1 else f"{text} [{low:.3g}, {high:.3g}]"


def _threads(summary):
    """What shows that each process used one thread; the CPU time could not exceed the wall time
    then.
    """
    done = [row for row in summary if "failure" not in row]
    busiest = max(done, key=lambda row: row["cpu_per_wall"], default=None)
    if busiest is None:
        return []
    largest = max(int(row["threads"]) for row in done)
    return [
        f"threads: largest pool {largest}; CPU over wall time of training at most {busiest['cpu_per_wall']:.2f} "
        f"({busiest['method']})"
    ]


@click.command()
@click.argument("dataset", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--labels", type=click.IntRange(1), help="Size of the sample; all labels by default.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--peers",
    callback=make_names_callback(PACKAGES),
    default=",".join(PACKAGES),
    show_default=True,
    help="Packages, by comma.",
)
@click.option(
    "--trees",
    type=click.Choice(["sample", "all"]),
    default="sample",
    show_default=True,
    help="Labels of the label trees.",
)
@click.option(
    "--repeats", type=click.IntRange(1), default=1, show_default=True, help="Interleaved rounds."
)
@click.option(
    "--limit",
    type=click.FloatRange(1),
    default=3600.0,
    show_default=True,
    help="Seconds of one run.",
)
@click.option(
    "--objectives/--no-objectives",
    default=True,
    show_default=True,
    help="One more run of each one-vs-all method, to compare what it minimised.",
)
@click.option("--C", "C", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True)
@click.option("--epsilon", type=click.FloatRange(0, min_open=True), default=0.01, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(dataset, labels, peers, trees, as_json, **settings) -> None:
    """Train and predict with ovaflow and with other packages, each run in a process of its own."""
    comparison = Comparison(open_dataset(dataset), labels, trees == "all", **settings)
    summary = summarize(compare(comparison, select_methods(peers)))
    click.echo(json.dumps(summary) if as_json else peers_table(summary))


if __name__ == "__main__":
    main()
