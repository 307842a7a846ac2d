"""Measure each Newton iteration of a sample of labels from several starts.

The plain solver solves the labels one by one on all instances, as the papers' solvers do.
"""

import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from matplotlib.figure import Figure
from tables import align

from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.initialization.label_tree import add_ancestors, order_parents_first
from ovaflow.initialization.starts import (
    COLD_STARTS,
    StartInputs,
    compute_start_inputs,
    make_ranking_start,
)
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.newton import NO_STEP_LENGTH, evaluate_start, set_up_problem, take_step
from ovaflow.solver.objective import compute_objective
from ovaflow.solver.problem import Workspace, make_workspace
from ovaflow.training.label_jobs import LabelJobs
from ovaflow.training.plan import draw_stratified_sample

OPTIMUM_TOLERANCE = 1e-3
"""Factor of the stopping rule's target at which an objective counts as that of the optimum."""

SMALLEST_SHARE = 0.1
"""Iterations that a smaller share of the labels needs are left out of the summary."""


class Row(NamedTuple):
    """One Newton iteration of a label; iteration 0 is its start."""

    start: str
    label: int
    positives: int
    iteration: int
    objective: float  # under the weights that the iteration leads to, as are the next two
    gradient_norm: float
    active: float  # share of the instances whose loss is curved
    step_length: float  # found by the line search; 0 at the start
    cg_steps: int
    milliseconds: float  # of processor time
    above_optimum: float = np.nan  # objective over that of the optimum, less 1


def measure(
    dataset: Dataset, n_labels: int, seed: int, training: TrainLabels, starts: Sequence[str]
) -> list[Row]:
    """Measure all iterations of the same labels from each start."""
    rows = []
    optima = {}
    for start in starts:
        settings = training.model_copy(update={"initialization": start, "reference": True})
        inputs = compute_start_inputs(dataset, settings)
        labels = np.sort(draw_stratified_sample(inputs.means.counts, n_labels, seed)[0])
        for label, iterations, optimum in _solve(dataset, inputs, labels, settings):
            optima[label] = min(optimum, optima.get(label, np.inf))
            positives = inputs.means.counts[label]
            for each in iterations:
                rows.append(Row(start=start, label=label, positives=positives, **each))
    return [row._replace(above_optimum=row.objective / optima[row.label] - 1) for row in rows]


def _solve(
    dataset: Dataset, inputs: StartInputs, labels: np.ndarray, settings: TrainLabels
) -> Iterator[tuple[int, list[dict], float]]:
    """Yield each label, its iterations, and its objective at the optimum."""
    order = labels
    if inputs.parents is not None:
        order = order_parents_first(add_ancestors(labels, inputs.parents), inputs.parents)
    jobs = LabelJobs.from_dataset(dataset, inputs.restrict_to(order), settings)
    work = make_workspace(jobs.X.n_rows, jobs.X.n_columns)
    # loads the kernels, and X into memory, before anything is timed
    list(_iterations(replace(jobs, start=make_ranking_start(inputs)), int(labels[0]), work))
    for label in order.tolist():
        iterations = list(_iterations(jobs, label, work))
        jobs.keep_solution(label, work.weights)
        if label in labels:
            problem = jobs.make_problem(label)
            strict = problem._replace(target=OPTIMUM_TOLERANCE * problem.target)
            refined = jobs.solver.solve(strict, work)
            yield label, iterations, min(refined.objective, iterations[-1]["objective"])


def _iterations(jobs: LabelJobs, label: int, work: Workspace) -> Iterator[dict]:
    """Yield the fields of each Row of a label, from ``iteration`` to ``milliseconds``."""
    X = jobs.X
    problem = jobs.make_problem(label)
    settings = jobs.solver.settings._replace(C=problem.C)
    jobs.start.fill(label, X, problem.positives, work.weights)
    cost = np.float32(problem.positive_cost)
    set_up_problem(X, jobs.solver.instances, problem.positives, cost, work)
    at = None
    for number in range(settings.max_newton + 1):
        began = time.thread_time()
        if at is None:
            at = evaluate_start(X, work, settings)
        else:
            at = take_step(X, at, work, settings)
        milliseconds = 1000 * (time.thread_time() - began)
        yield {
            "iteration": number,
            "objective": compute_objective(work, settings),
            "gradient_norm": at.gradient_norm,
            "active": at.active / X.n_rows,
            "step_length": at.step_length,
            "cg_steps": at.cg_steps,
            "milliseconds": milliseconds,
        }
        if at.gradient_norm <= jobs.targets[label] or (number and at.step_length == NO_STEP_LENGTH):
            return


def summarize(rows: list[Row], start: str) -> list[dict]:
    """Summarize each iteration of all labels; solved labels keep their distance."""
    rows_by_label = {}
    for row in rows:
        if row.start == start:
            rows_by_label.setdefault(row.label, []).append(row)
    rows_of_labels = list(rows_by_label.values())
    summary = []
    for number in range(max(len(each) for each in rows_of_labels)):
        present = [each[number] for each in rows_of_labels if number < len(each)]
        if len(present) < SMALLEST_SHARE * len(rows_of_labels):
            break
        gaps = [each[min(number, len(each) - 1)].above_optimum for each in rows_of_labels]
        summary.append(
            {
                "labels": len(present),
                "objective above the optimum": np.median(gaps),
                "line-search multiplier": np.mean([row.step_length for row in present]),
                "active instances": np.median([row.active for row in present]),
                "milliseconds": np.median([row.milliseconds for row in present]),
            }
        )
    return summary


def format_table(summaries: dict[str, list[dict]]) -> str:
    """Format the summaries as text."""
    lines = [["start, iteration", "labels", "above optimum", "multiplier", "active", "ms"]]
    for start, summary in summaries.items():
        for number, row in enumerate(summary):
            lines.append(
                [
                    f"{start}, {number}",
                    str(row["labels"]),
                    f"{row['objective above the optimum']:.1e}",
                    f"{row['line-search multiplier']:.2f}",
                    f"{row['active instances']:.2%}",
                    f"{row['milliseconds']:.3g}",
                ]
            )
    return align(lines)


def draw(summaries: dict[str, list[dict]], path: str) -> None:
    """Draw the four figures of each iteration."""
    canvas = Figure(figsize=(8.4, 6), layout="constrained")
    names = [name for name in next(iter(summaries.values()))[0] if name != "labels"]
    for axes, name in zip(canvas.subplots(2, 2).flat, names, strict=True):
        first = 0 if name == "objective above the optimum" else 1
        for start, summary in summaries.items():
            values = [each[name] for each in summary[first:]]
            axes.plot(
                range(first, first + len(values)), values, marker="o", markersize=3, label=start
            )
        axes.set(xlabel="Newton iteration", ylabel=name)
        if name != "line-search multiplier":
            axes.set_yscale("log")
        axes.legend(frameon=False)
    canvas.savefig(path, dpi=160)


@click.command()
@click.argument("dataset", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--start",
    "starts",
    type=click.Choice(COLD_STARTS),
    multiple=True,
    help="Repeatable; by default every start.",
)
@click.option(
    "--labels",
    type=click.IntRange(2),
    default=50,
    show_default=True,
    help="About how many to solve.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the sample."
)
@click.option(
    "--loss",
    type=click.Choice(["squared-hinge", "logistic"]),
    default="squared-hinge",
    show_default=True,
)
@click.option("--C", "C", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True)
@click.option("--epsilon", type=click.FloatRange(0, min_open=True), default=0.01, show_default=True)
@click.option(
    "--output", type=click.Path(dir_okay=False), help="CSV file of every iteration of every label."
)
@click.option("--figure", type=click.Path(dir_okay=False), help="Figure to draw.")
def main(dataset, starts, labels, seed, output, figure, **training) -> None:
    """Solve a sample of the labels of DATASET (dataset.h5) and sum up each Newton iteration."""
    starts = starts or COLD_STARTS
    rows = measure(open_dataset(dataset), labels, seed, TrainLabels(**training), starts)
    summaries = {start: summarize(rows, start) for start in starts}
    if output:
        with open(output, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([Row._fields, *rows])
    if figure:
        draw(summaries, figure)
    click.echo(format_table(summaries))


if __name__ == "__main__":
    main()
