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
from peers.registry import OWN, PACKAGES, Method, make_names_callback, select_methods
from tables import NOT_INSTALLED, align
from worker import PREDICTED_LABELS

from ovaflow.console.progress import Progress
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.evaluation import ranking
from ovaflow.machine.limits import ONE_THREAD_ENVIRONMENT
from ovaflow.model.ranked_labels import find_hits
from ovaflow.sparse.csr import CSR, from_scipy, select_rows
from ovaflow.storage.writing import write_text

CUT_OFFS = (1, 3, 5)


@dataclass(frozen=True)
class Comparison:
    """Settings of a comparison."""

    dataset: Dataset
    n_labels: int | None  # size of the sample; None: all labels with positives
    # label trees train on all labels with positives instead of on the sample
    trees_on_all: bool = False
    seed: int = 0
    repeats: int = 1
    C: float = 1.0
    epsilon: float = 0.01
    threshold: float = 0.01
    limit: float = 3600.0  # seconds after which a run is ended
    # runs one-vs-all methods whose weights can be read once more, without dropping any weight,
    # since dropping the small ones moves an objective more than solvers differ
    objectives: bool = True

    def select_labels(self, method: Method) -> np.ndarray:
        """Select the labels that a method is trained on, ascending."""
        counts = np.diff(self.dataset.positives.indptr)
        n_labels = self.n_labels
        if n_labels is None or (method.tree and self.trees_on_all):
            n_labels = len(counts)
        return sample_labels(counts, n_labels, self.seed)


@dataclass
class Runs:
    """Results of the runs of a method."""

    method: Method
    figures: list = field(default_factory=list)  # one dict per round, see worker.py
    quality: dict = field(default_factory=dict)
    objectives: np.ndarray | None = None
    failure: str = ""
    objectives_failure: str = ""


def compare(comparison: Comparison, methods: list[Method]) -> list[Runs]:
    """Run methods in turn, round after round."""
    runs = []
    for method in methods:
        runs.append(Runs(method, failure="" if method.installed else "not installed"))
    rounds = [_run_timed] * comparison.repeats
    if comparison.objectives:
        rounds.append(_run_for_objectives)
    with tempfile.TemporaryDirectory(prefix="ovaflow-benchmark-") as name:
        with Progress("comparing", len(rounds) * len(runs), "runs") as progress:
            for run in rounds:
                for of_method in runs:
                    if not of_method.failure:
                        with tempfile.TemporaryDirectory(dir=name) as folder:
                            run(comparison, of_method, Path(folder))
                    progress.advance()
    return runs


def _run_timed(comparison: Comparison, runs: Runs, folder: Path) -> None:
    labels = comparison.select_labels(runs.method)
    runs.failure = _run_worker(comparison, runs.method, labels, folder)
    if runs.failure:
        return
    runs.figures.append(json.loads((folder / "figures.json").read_text(encoding="utf-8")))
    ids = np.load(folder / "ids.npy", allow_pickle=False)
    runs.quality = {"labels": len(labels)} | sample_precision(
        ids, comparison.dataset.test.Y, labels
    )


def _run_for_objectives(comparison: Comparison, runs: Runs, folder: Path) -> None:
    if not runs.method.readable:
        return
    labels = comparison.select_labels(runs.method)
    runs.objectives_failure = _run_worker(
        replace(comparison, threshold=0.0), runs.method, labels, folder
    )
    if runs.objectives_failure:
        return
    dataset = comparison.dataset
    with np.load(folder / "weights.npz", allow_pickle=False) as file:
        weights = CSR(file["data"], file["indices"], file["indptr"], dataset.n_features)
    runs.objectives = compute_objectives(
        dataset.train.X, select_rows(dataset.positives, labels), weights, comparison.C
    )


def compute_objectives(
    X: CSR, positives: CSR, weights: CSR, C: float, width: int = 16
) -> np.ndarray:
    """Compute 1/2 |w|^2 + C sum_i max(0, 1 - y_i <w, x_i>)^2 of each row of the weights, in float64
    and independently of the solver.

    The bias feature is one of the features: its weight counts in the norm.

    Parameters
    ----------
    X : CSR (n, d)
        Training instances.
    positives : CSR (m, n)
        Positive instances of each label.
    weights : CSR (m, d)
        Weights of each label.
    C : float
        Weight of the loss against the regularization.
    width : int
        Number of labels that are computed at a time.
    """
    instances = X.to_scipy()
    sparse = weights.to_scipy()
    is_positive = positives.to_scipy()
    values = np.empty(weights.n_rows)
    for low in range(0, weights.n_rows, width):
        rows = slice(low, low + width)
        dense = sparse[rows].toarray().astype(np.float64)
        signs = 2.0 * is_positive[rows].toarray() - 1.0
        losses = np.square(np.maximum(0.0, 1.0 - signs * (instances @ dense.T).T)).sum(axis=1)
        values[rows] = 0.5 * np.square(dense).sum(axis=1) + C * losses
    return values


def _run_worker(comparison: Comparison, method: Method, labels: np.ndarray, folder: Path) -> str:
    """Run a method in a process of its own; return the failure, or an empty text."""
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
    if status:
        return f"failed with status {status}: {_read_last_line(folder / 'log.txt')}"
    return ""


def _write_job(comparison: Comparison, method: Method, labels: np.ndarray, folder: Path) -> None:
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


def _read_last_line(path: Path) -> str:
    """Return the last line that is not empty, at most 200 characters of it."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    for line in reversed(lines):
        if line.strip():
            return line.strip()[:200]
    return "nothing was said"


def sample_precision(ids: np.ndarray, Y: CSR, labels: np.ndarray) -> dict[str, float]:
    """Compute P@k if only some labels count, over the instances that have one of them."""
    true = from_scipy(as_matrix(Y)[:, labels])
    has_label = np.diff(true.indptr) > 0
    hits = find_hits(ids[:, :PREDICTED_LABELS], true)[has_label]
    precision = {f"P@{k}": ranking.precision_of_hits(hits, k) for k in CUT_OFFS}
    return precision | {"instances": int(has_label.sum())}


def summarize(runs: list[Runs]) -> list[dict]:
    """Compute medians over the rounds, and ratios to ovaflow's figures of the same round."""
    own = None
    for each in runs:
        if each.method == OWN and each.figures:
            own = each
            break
    return [_summarize_method(each, own) for each in runs]


def _summarize_method(runs: Runs, own: Runs | None) -> dict:
    row = {"method": runs.method.name, "kind": "tree" if runs.method.tree else "one-vs-all"}
    row["remark"] = runs.method.remark
    if not runs.figures or runs.failure:
        return row | {"failure": runs.failure or "did not run"}
    for name in runs.figures[0]:
        row[name] = float(np.median([figures[name] for figures in runs.figures]))
    row |= runs.quality
    if runs.objectives_failure:
        row["remark"] += f"; run for the objectives: {runs.objectives_failure}"
    row |= _spread("ms_per_label", _per_label(runs, "train_seconds"))
    cpu = _per_label(runs, "train_cpu_seconds")
    row |= _spread("cpu_ms_per_label", cpu) | {"rounds": len(cpu)}
    row["cpu_per_wall"] = row["train_cpu_seconds"] / row["train_seconds"]
    if own is not None:
        common_rounds = min(len(cpu), len(own.figures))
        own_cpu = _per_label(own, "train_cpu_seconds")
        row |= _spread("ratio_to_ovaflow", cpu[:common_rounds] / own_cpu[:common_rounds])
        if runs.objectives is not None and own.objectives is not None:
            difference = (runs.objectives - own.objectives) / own.objectives
            row["objective_difference"] = float(difference.mean())
            row["objective_difference_range"] = [float(difference.min()), float(difference.max())]
    return row


def _per_label(runs: Runs, name: str) -> np.ndarray:
    """Return milliseconds per label in each round."""
    return np.array([1e3 * one[name] / runs.quality["labels"] for one in runs.figures])


def _spread(name: str, values: np.ndarray) -> dict:
    """Return the median and the range of some values."""
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


def peers_table(summary: list[dict]) -> str:
    """Format a comparison as a table with notes."""
    table = align([PEER_COLUMNS] + [_peer_row(row) for row in summary])
    remarks = []
    for row in summary:
        if row["remark"] and "failure" not in row:
            remarks.append(f"  {row['method']}: {row['remark']}")
    threads = _describe_threads(summary)
    return "\n".join([table, "", *NOTES, *threads, "settings that differ:", *remarks])


NOTES = [
    "train, CPU: wall and CPU seconds of training, medians over the rounds;",
    "  ratio: CPU time per label over ovaflow's of the same round; ranges in brackets.",
    "  prepare: conversion of the data and means, not part of train.",
    "peak RSS: of the process until training ended.",
    "model: bytes as the package stores it, for liblinear and",
    "  scikit-learn as sparse float32 weights.",
    "P@k: among the labels trained, over the test instances that carry one of them.",
    "objective: squared hinge with the bias in the norm, before small weights are dropped",
    "  (a run of its own); mean relative difference from ovaflow's, positive: worse.",
]


def _peer_row(row: dict) -> list[str]:
    if row.get("failure") == "not installed":
        return [row["method"], NOT_INSTALLED]
    if "failure" in row:
        return [row["method"], row["failure"]]
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


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g}" if seconds < 100 else f"{seconds:,.0f}"


def _ranged(row: dict, name: str) -> str:
    if name not in row:
        return "-"
    text = f"{row[name]:.3g}"
    low, high = row[f"{name}_range"]
    return text if row["rounds"] == 1 else f"{text} [{low:.3g}, {high:.3g}]"


def _describe_threads(summary: list[dict]) -> list[str]:
    """Describe the threads used: with one thread, CPU time cannot exceed wall time."""
    done = [row for row in summary if "failure" not in row]
    busiest = max(done, key=lambda row: row["cpu_per_wall"], default=None)
    if busiest is None:
        return []
    largest = max(int(row["threads"]) for row in done)
    return [
        f"threads: largest pool {largest}; CPU over wall time of training at most "
        f"{busiest['cpu_per_wall']:.2f} ({busiest['method']})"
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
    help="One more run of each one-vs-all method, to compare what it minimized.",
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
