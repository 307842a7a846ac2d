"""``ovaflow root``."""

from pathlib import Path

import click

from ovaflow.cli.numbers import Finite
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.all_negative import solve_root, write_root
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import Status
from ovaflow.training.label_jobs import Training

_FILE = click.Path(path_type=Path, dir_okay=False)
_DEFAULT = Training()


@click.command("root")
@click.argument("dataset", type=_FILE)
@click.option(
    "--C", "C", type=Finite(0, min_open=True), default=_DEFAULT.C, show_default=True, help="Weight of the loss."
)
@click.option(
    "--loss", type=click.Choice(list(LOSSES)), default=_DEFAULT.loss, show_default=True, help="Loss of an instance."
)
@click.option(
    "--root-epsilon",
    type=Finite(0, min_open=True),
    default=_DEFAULT.root_epsilon,
    show_default=True,
    help="Gradient norm to stop at, relative to that at zero.",
)
@click.option("--output", type=_FILE, required=True, help="Root file to write (root.h5).")
def command(dataset, output, **settings):
    """Solve the problem without positives on DATASET (dataset.h5).

    The all-negative start begins every label there, the label-tree start the
    children of the root.
    """
    opened = open_dataset(dataset)
    training = Training(**settings)
    root = solve_root(opened.train.X, training)
    write_root(output, root, training, opened.checksum)
    outcome = root.outcome
    click.echo(
        f"root after {outcome.newton_steps} Newton and {outcome.cg_steps} conjugate gradient steps, "
        f"{outcome.active_end:,} of {opened.train.X.n_rows:,} instances active"
        + ("" if outcome.status == Status.CONVERGED else ", not converged")
        + f": {output}"
    )
