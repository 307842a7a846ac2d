"""What the solver is given, what it works in, and what it reports, label by label."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ovaflow.solver.losses import LOSSES

PAGE = 4096

L2, L1 = 0, 1
REGULARIZATIONS = {"l2": L2, "l1": L1}
"""Code of each regularisation, 1/2 |w|^2 and |w|_1, by the name that the config uses."""


class Settings(NamedTuple):
    """Constants of the optimisation; the defaults follow LIBLINEAR 2.40 and the MSI paper, sec. 5.

    Attributes
    ----------
    C : float
        Weight of the losses against the regularisation.
    loss : int
        A value of :data:`ovaflow.solver.losses.LOSSES`.
    epsilon : float
        Relative gradient tolerance before it is scaled to the label (eq. 12).
    max_newton : int
        Newton steps after which a label is given up.
    max_cg : int
        Conjugate-gradient steps in one Newton step.
    max_halvings : int
        Halvings of the step in one line search.
    sufficient_decrease : float
        Share of the linear decrease that a step must reach.
    preconditioning : float
        Weight of the Hessian's diagonal against the identity.
    regularization : int
        A value of :data:`REGULARIZATIONS`.
    inner_tolerance : float
        With L1, violation at which the minimisation of a step's quadratic model stops, as a share of that before.
    """

    C: float
    loss: int
    epsilon: float
    max_newton: int = 1000
    max_cg: int = 1000
    max_halvings: int = 20
    sufficient_decrease: float = 0.01
    preconditioning: float = 0.01
    regularization: int = L2
    inner_tolerance: float = 0.1

    @classmethod
    def of(cls, train):
        """Constants of a training, which has C, loss, epsilon and regularization."""
        return cls(train.C, LOSSES[train.loss], train.epsilon, regularization=REGULARIZATIONS[train.regularization])


class Workspace(NamedTuple):
    """What one thread works in: 6 vectors over instances and 7 over features, 4 bytes an entry.

    Attributes
    ----------
    signed_costs, scores, score_steps : ndarray of float32, shape (n,)
        y_i c_i, X w and X p: each loss has a cost c_i > 0, 1 unless weighted.
    active : ndarray of int32, shape (n,)
        Instances where the loss is curved, in its first ``n_active`` entries;
        ``slopes`` and ``curvatures`` (float32) run along with it.
    weights : ndarray of float32, shape (d,)
        w: the start before a label is solved, the solution after.
    gradient, step, residual, direction, curved, preconditioner : ndarray of float32, shape (d,)
        g, p, and conjugate gradient's r, d, H d and M.
    """

    signed_costs: np.ndarray
    scores: np.ndarray
    score_steps: np.ndarray
    active: np.ndarray
    slopes: np.ndarray
    curvatures: np.ndarray
    weights: np.ndarray
    gradient: np.ndarray
    step: np.ndarray
    residual: np.ndarray
    direction: np.ndarray
    curved: np.ndarray
    preconditioner: np.ndarray


def make_workspace(n, d):
    """Allocate what one thread works in.

    Parameters
    ----------
    n, d : int
        Instances and features.

    Returns
    -------
    Workspace
        Parts of one block of memory.
    """
    over_instances = Workspace._fields.index("weights")
    lengths = [n if position < over_instances else d for position in range(len(Workspace._fields))]
    arrays = separate_arrays(lengths)
    return Workspace(**dict(zip(Workspace._fields, arrays, strict=True)))._replace(active=arrays[3].view(np.int32))


def separate_arrays(lengths):
    """Allocate vectors of 4-byte entries with a page between any two.

    Parameters
    ----------
    lengths : list of int

    Returns
    -------
    list of ndarray of float32
    """
    # A vector loop first tests that its arrays do not overlap, with some slack, and adds in another
    # order when they might: with a page between any two, the bits never depend on where they lie.
    starts, end = [], PAGE
    for length in lengths:
        starts.append(end)
        end += -(-4 * length // PAGE) * PAGE + PAGE
    block = np.empty(end + PAGE, np.uint8)
    first = -block.ctypes.data % PAGE
    return [
        block[first + start :][: 4 * length].view(np.float32) for start, length in zip(starts, lengths, strict=True)
    ]


class Status(IntEnum):
    """How a label ended."""

    CONVERGED = 0
    ITERATION_LIMIT = 1
    LINE_SEARCH_FAILED = 2
    NO_POSITIVES = 3
    TAKEN_OVER = 4


class Outcome(NamedTuple):
    """What the solver reports of one label.

    Attributes
    ----------
    newton_steps, cg_steps, line_search_halvings : int
    active_start, active_end : int
        Instances with curved loss under the first and the last weights.
    objective : float
        1/2 |w|^2, or |w|_1, + C sum of losses at the end.
    gradient_norm, gradient_target : float
        |g(w)| at the end, with L1 the violation of the optimality conditions, and what it had to reach.
    status : int
        A :class:`Status`.
    full_passes : int
        Passes over all of X.
    """

    newton_steps: int
    cg_steps: int
    line_search_halvings: int
    active_start: int
    active_end: int
    objective: float
    gradient_norm: float
    gradient_target: float
    status: int
    full_passes: int
