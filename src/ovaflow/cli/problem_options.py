"""Options that say which problem is solved for each label, for all commands that train."""

import click

from ovaflow.cli.numbers import Finite
from ovaflow.data.propensity import A, B
from ovaflow.solver.problem import REGULARIZATIONS
from ovaflow.training.weighting import WEIGHTINGS

_REGULARIZATION = click.option(
    "--regularization",
    type=click.Choice(list(REGULARIZATIONS)),
    default="l2",
    show_default=True,
    help="1/2 |w|^2, or |w|_1: few weights, trained apart from pruning.",
)
_PROPENSITY_A = click.option(
    "--propensity-a",
    default=A,
    show_default=True,
    type=Finite(0, min_open=True),
    help="A of the propensities (Jain et al. 2016), for the weighting by them.",
)
_PROPENSITY_B = click.option(
    "--propensity-b", default=B, show_default=True, type=Finite(0), help="B of the propensities."
)


def weighting_options(meaning):
    """Decorator that adds the options of how positives are weighted.

    Parameters
    ----------
    meaning : str
        What the weights are, for the help.

    Returns
    -------
    callable
    """
    weighting = click.option(
        "--weighting", type=click.Choice(WEIGHTINGS), default=WEIGHTINGS[0], show_default=True, help=meaning
    )
    return lambda command: weighting(_PROPENSITY_A(_PROPENSITY_B(command)))


def problem_options(command):
    """Decorate a command with these options; it takes them as keyword arguments of ``Training``.

    Parameters
    ----------
    command : callable

    Returns
    -------
    callable
    """
    return _REGULARIZATION(weighting_options("Weight of positives: 1, or 2/p - 1 with the propensity p.")(command))
