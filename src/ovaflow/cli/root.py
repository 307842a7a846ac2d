"""``ovaflow root``."""

import click

from ovaflow.cli.options import DATASET, output, reads
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.all_negative import solve_root, write_root
from ovaflow.solver.problem import Status


@click.command("root")
@DATASET
@reads("root")
@output("Root file to write (root.h5).")
def command(dataset, output, settings):
    """Solve the problem without positives on DATASET (dataset.h5).

    The all-negative start begins every label there, the label-tree start the
    children of the root.
    """
    opened = open_dataset(dataset)
    root = solve_root(opened.train.X, settings)
    write_root(output, root, settings, opened.checksum)
    outcome = root.outcome
    click.echo(
        f"root after {outcome.newton_steps} Newton and {outcome.cg_steps} conjugate gradient steps, "
        f"{outcome.active_end:,} of {opened.train.X.n_rows:,} instances active"
        + ("" if outcome.status == Status.CONVERGED else ", not converged")
        + f": {output}"
    )
