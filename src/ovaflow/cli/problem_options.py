"""Options that say which problem is solved for each label, for all commands that train."""

import click

from ovaflow.cli.numbers import Finite
from ovaflow.data.propensity import A, B
from ovaflow.solver.problem import REGULARIZATIONS
from ovaflow.training.weighting import WEIGHTINGS

_OPTIONS = (
    click.option(
        "--regularization",
        type=click.Choice(list(REGULARIZATIONS)),
        default="l2",
        show_default=True,
        help="1/2 |w|^2, or |w|_1: few weights, trained apart from pruning.",
    ),
    click.option(
        "--weighting",
        type=click.Choice(WEIGHTINGS),
        default=WEIGHTINGS[0],
        show_default=True,
        help="Weight of positives: 1, or 2/p - 1 with the propensity p of the label.",
    ),
    click.option(
        "--propensity-a",
        default=A,
        show_default=True,
        type=Finite(0, min_open=True),
        help="A of the propensities (Jain et al. 2016), for the weighting by them.",
    ),
    click.option("--propensity-b", default=B, show_default=True, type=Finite(0), help="B of the propensities."),
)


def problem_options(command):
    """Decorate a command with these options; it takes them as keyword arguments of ``Training``.

    Parameters
    ----------
    command : callable

    Returns
    -------
    callable
    """
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
