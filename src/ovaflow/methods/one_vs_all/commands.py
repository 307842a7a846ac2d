"""Subcommands of one-vs-all: the steps before its shards, and the choice of a threshold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from ovaflow.cli.options import (
    DATASET_ARGUMENT,
    DATASET_OPTION,
    FILE_TYPE,
    SHARDS_OPTION,
    THREADS_OPTION,
    file_argument,
    output_option,
    step_options,
)
from ovaflow.dataset.dataset import open_dataset
from ovaflow.initialization.all_negative import solve_root
from ovaflow.initialization.means import compute_means
from ovaflow.initialization.spanning_tree import LabelTree, compute_label_tree
from ovaflow.model.merge import merge
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.report import wording
from ovaflow.settings.train import STORED_THRESHOLD, Propensities, TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.storage.texts import write_json
from ovaflow.storage.writing import create_temporary_folder
from ovaflow.training.plan import estimate_work, plan_shards, write_plan
from ovaflow.tuning.pruning import GUARDED_METRICS, PRUNE_KIND, choose_prune


@click.command("means")
@DATASET_ARGUMENT
@output_option("Means file to write (means.h5).")
@THREADS_OPTION
def means_command(dataset: Path, output: Path, threads: int) -> None:
    """Compute the means of all instances and of each label's positives in DATASET (dataset.h5)."""
    opened = open_dataset(dataset)
    means = compute_means(opened.train.X, opened.positives, threads, opened.n_documents)
    means.write(output, dataset=opened)
    n_trained = int((means.counts > 0).sum())
    amounts = f"{opened.n_documents:,} instances and {n_trained:,} labels with positives"
    click.echo(f"means of {amounts}: {output}")


@click.command("label-tree")
@DATASET_ARGUMENT
@output_option("Label tree file to write (label_tree.h5).")
def label_tree_command(dataset: Path, output: Path) -> None:
    """Compute the minimum spanning tree over the labels of DATASET (dataset.h5) and the
    all-negative root.
    """
    opened = open_dataset(dataset)
    tree = compute_label_tree(opened.train.Y)
    tree.write(output, dataset=opened)
    cost = f"cost {tree.total_cost:,} against {tree.star_cost:,} of the star"
    click.echo(
        f"label tree with {tree.subtrees:,} subtrees, height {tree.height}, {cost}: {output}"
    )


@click.command("root")
@DATASET_ARGUMENT
@step_options("root")
@output_option("Root file to write (root.h5).")
def root_command(dataset: Path, output: Path, settings: TrainLabels) -> None:
    """Solve the problem without positives on DATASET (dataset.h5).

    Every label starts there with the all-negative start, the children of the root with the
    label-tree start.
    """
    opened = open_dataset(dataset)
    root = solve_root(opened.documents.train.X, settings)
    root.write(output, dataset=opened)
    converged = "" if root.outcome.status == Status.CONVERGED else ", not converged"
    click.echo(f"root after {root.outcome.newton_steps} Newton steps{converged}: {output}")


@click.command("plan")
@DATASET_ARGUMENT
@SHARDS_OPTION
@click.option(
    "--label-tree",
    type=FILE_TYPE,
    help="Keep subtrees of this label tree together (label_tree.h5).",
)
@output_option("Plan to write (shards.tsv).")
def plan_command(dataset: Path, shards: int, label_tree: Path | None, output: Path) -> None:
    """Divide the labels of DATASET (dataset.h5) into shards of about equal work."""
    opened = open_dataset(dataset)
    tree = None if label_tree is None else LabelTree.open(label_tree, dataset=opened)
    Y = opened.train.Y
    counts = np.bincount(Y.indices, minlength=Y.n_columns)
    work = estimate_work(counts)
    plan = plan_shards(work, shards, tree, counts)
    write_plan(output, plan, work)
    loads = np.array([work[labels].sum() for labels in plan])
    over = 0.0
    if loads.any():
        over = 100 * (loads.max() / loads.mean() - 1)
    amount = "1 shard" if len(plan) == 1 else f"{len(plan):,} shards"
    click.echo(
        f"{Y.n_columns:,} labels in {amount}, the largest {over:.1f} % over the mean: {output}"
    )


@click.command("choose-prune")
@file_argument("shards", nargs=-1, required=True)
@DATASET_OPTION
@step_options("choose-prune")
@THREADS_OPTION
@output_option("JSON file to write, for --chosen-prune of merge.")
def choose_prune_command(
    shards: tuple[Path, ...], dataset: Path, settings: Propensities, threads: int, output: Path
) -> None:
    """Choose the threshold below which weights are dropped, the largest that costs a tenth of a
    point at most on the test instances.

    SHARDS were trained without these instances, which hold-out sets aside.
    """
    opened = open_dataset(dataset)
    with create_temporary_folder(output) as folder:
        merge(shards, opened, STORED_THRESHOLD, folder / "model.h5", folder / "training.h5")
        model = OneVsAll.open(folder / "model.h5")
        choice = choose_prune(model, opened, settings.propensity_a, settings.propensity_b, threads)
    write_json(output, PRUNE_KIND, choice)
    for point in choice["points"]:
        click.echo(f"{point['prune']:g}: {_format_size(point)}, {_format_changes(point)}")
    # the last line is what a run shows of the log
    [chosen] = [point for point in choice["points"] if point["prune"] == choice["chosen"]]
    sizes = f"{_format_size(chosen)} instead of {_format_size(choice['points'][0])}"
    changes = f"{_format_changes(chosen)} on {choice['instances']:,} instances"
    click.echo(f"{choice['chosen']:g}  chosen: {sizes}, {changes}")


def _format_size(point: Mapping[str, Any]) -> str:
    """Format the size of a pruned model."""
    n_bytes = point["model_bytes"]
    if n_bytes >= 1e6:
        return f"{n_bytes / 1e6:,.1f} MB"
    return f"{n_bytes / 1e3:,.0f} kB"


def _format_changes(point: Mapping[str, Any]) -> str:
    """Format the changes of metrics, in points, with half of their 95 % intervals."""
    parts = []
    for name in GUARDED_METRICS:
        change = point["change"][name]
        parts.append(f"{name} {wording.points_with_error(change['mean'], change['error'])}")
    return ", ".join(parts)
