"""``ovaflow benchmark``."""

import json
from pathlib import Path

import click
from threadpoolctl import threadpool_limits

from ovaflow.benchmark.comparison import Comparison, compare, summarise
from ovaflow.benchmark.growth import measure_growth
from ovaflow.benchmark.growth_figure import check_figure_path, write_growth_figure
from ovaflow.benchmark.peers.registry import PACKAGES, methods_of
from ovaflow.benchmark.prediction import CONTESTANTS, benchmark_prediction
from ovaflow.benchmark.solver import benchmark_solver
from ovaflow.benchmark.tables import growth_table, peers_table, prediction_table
from ovaflow.cli.earlier_model import earlier_option, read_earlier
from ovaflow.cli.problem_options import problem_options
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.starts import ALONE, STARTS
from ovaflow.solver.losses import LOSSES
from ovaflow.training.label_jobs import Training

_dataset = click.argument("dataset", type=click.Path(path_type=Path, dir_okay=False))
_seed = click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
_C = click.option("--C", "C", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True)
_epsilon = click.option("--epsilon", type=click.FloatRange(0, min_open=True), default=0.01, show_default=True)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


@click.group("benchmark")
def command():
    """Measure the solver, prediction, and other packages beside them."""


@command.command()
@_dataset
@click.option("--labels", type=click.IntRange(1), default=200, show_default=True, help="Size of the sample.")
@_seed
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option("--initialization", type=click.Choice(STARTS), default="mean-separating", show_default=True)
@_C
@click.option("--loss", type=click.Choice(list(LOSSES)), default="squared-hinge", show_default=True)
@problem_options
@_epsilon
@earlier_option
@click.option("--reference", is_flag=True, help="The plain solver, one label at a time.")
def solver(dataset, labels, seed, threads, earlier, **settings):
    """Train a random sample of labels; prints one line of JSON."""
    opened = open_dataset(dataset)
    start = read_earlier(earlier, opened)[0]
    figures = benchmark_solver(opened, labels, seed, threads, Training(**settings), start)
    click.echo(json.dumps(figures))


def _contestants(context, parameter, value):
    names = [name.strip() for name in value.split(",") if name.strip()]
    unknown = sorted(set(names) - set(CONTESTANTS))
    if unknown:
        raise click.BadParameter(f"{', '.join(unknown)}; known: {', '.join(CONTESTANTS)}")
    return names


@command.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@_dataset
@click.option("--peers", callback=_contestants, default="scipy,pecos", show_default=True,
              help="By comma; napkinxc and omikuji train first.")  # fmt: skip
@click.option("--top-k", default=5, show_default=True, type=click.IntRange(min=1))
@click.option("--instances", default=1000, show_default=True, type=click.IntRange(min=1), help="Of the batch.")
@click.option("--singles", default=300, show_default=True, type=click.IntRange(min=1), help="Scored one at a time.")
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(1), help="Interleaved rounds.")
@_seed
@_json
def predict(model, dataset, peers, top_k, instances, singles, repeats, seed, as_json):
    """Find the best labels of test instances with MODEL (model.h5) and with other packages, on one thread."""
    with threadpool_limits(1):
        timings = benchmark_prediction(model, open_dataset(dataset), peers, top_k, instances, singles, repeats, seed)
    click.echo(json.dumps([timing._asdict() for timing in timings]) if as_json else prediction_table(timings))


def _packages(context, parameter, value):
    names = [name.strip() for name in value.split(",") if name.strip()]
    unknown = sorted(set(names) - set(PACKAGES))
    if unknown:
        raise click.BadParameter(f"{', '.join(unknown)}; known: {', '.join(PACKAGES)}")
    return names


@command.command()
@_dataset
@click.option("--labels", type=click.IntRange(1), help="Size of the sample; all labels by default.")
@_seed
@click.option("--peers", callback=_packages, default=",".join(PACKAGES), show_default=True, help="Packages, by comma.")
@click.option("--trees", type=click.Choice(["sample", "all"]), default="sample", show_default=True,
              help="Labels of the label trees.")  # fmt: skip
@click.option("--repeats", type=click.IntRange(1), default=1, show_default=True, help="Interleaved rounds.")
@click.option("--limit", type=click.FloatRange(1), default=3600.0, show_default=True, help="Seconds of one run.")
@click.option("--objectives/--no-objectives", default=True, show_default=True,
              help="One more run of each one-vs-all method, to compare what it minimised.")  # fmt: skip
@_C
@_epsilon
@_json
def peers(dataset, labels, seed, peers, trees, repeats, limit, objectives, C, epsilon, as_json):
    """Train and predict with ovaflow and with other packages: same data, same labels, one thread each.

    Each run has a process of its own. Packages that are not installed are left
    out: pip install 'ovaflow[benchmark]'.
    """
    comparison = Comparison(
        open_dataset(dataset), labels, trees == "all", seed, repeats,
        C=C, epsilon=epsilon, limit=limit, objectives=objectives,
    )  # fmt: skip
    summary = summarise(compare(comparison, methods_of(peers)))
    click.echo(json.dumps(summary) if as_json else peers_table(summary))


@command.command()
@_dataset
@click.option("--labels", type=click.IntRange(1), default=128, show_default=True,
              help="Size of the sample; the fast solver takes 64 at a time, and fewer cost as much.")  # fmt: skip
@_seed
@click.option("--repeats", type=click.IntRange(1), default=1, show_default=True, help="Rounds, of which the median.")
@click.option("--initialization", type=click.Choice(ALONE), default="mean-separating", show_default=True)
@_C
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Figure to write, .svg or .png.")
@_json
def growth(dataset, labels, seed, repeats, output, as_json, **settings):
    """Cost of a label on 1/8, 1/4, 1/2 and all of the instances, and of the features; fits the exponents."""
    if output is not None:
        check_figure_path(output)
    figures = measure_growth(open_dataset(dataset), labels, seed, Training(**settings), repeats)
    if output is not None:
        write_growth_figure(output, figures)
    click.echo(json.dumps(figures) if as_json else growth_table(figures))
