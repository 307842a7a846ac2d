"""What the solver is given, what it works in, and what it reports, label by label."""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ovaflow.solver.losses import LOSSES, SQUARED_HINGE
from ovaflow.sparse.jit import kernel

PAGE_BYTES = 4096

L2 = 0
L1 = 1
REGULARIZATIONS = {"l2": L2, "l1": L1}
"""Code of each regularisation, 1/2 |w|^2 and |w|_1, by the name that the config uses."""

AUTO_EPSILON = 0.01
AUTO_LOOSEST_EPSILON = 0.1
"""Tolerances of ``epsilon: auto``, see :func:`ovaflow.solver.stopping.compute_relative_tolerances`."""


class Settings(NamedTuple):
    """Constants of the optimisation; the defaults follow LIBLINEAR 2.40 and the MSI paper, sec. 5."""

    C: float
    loss: int
    epsilon: float  # relative gradient tolerance before it is scaled to the label (eq. 12)
    loosest: float = 0.0  # tolerance that labels of few positives may have, where it is larger
    max_newton: int = 1000
    max_cg: int = 1000  # in one Newton step
    max_backtracking_steps: int = 20  # in one line search
    sufficient_decrease: float = 0.01  # share of the linear decrease that a step must reach
    preconditioning: float = 0.01  # weight of the Hessian's diagonal against the identity
    regularization: int = L2
    inner_tolerance: float = (
        0.1  # with L1: violation at which a quadratic model is solved, as a share of that before
    )

    @classmethod
    def of(cls, train):
        """Constants of a training, which has C, loss, epsilon and regularization."""
        loss = LOSSES[train.loss]
        regularization = REGULARIZATIONS[train.regularization]
        if train.epsilon != "auto":
            return cls(train.C, loss, train.epsilon, regularization=regularization)
        loosest = AUTO_LOOSEST_EPSILON if (loss, regularization) == (SQUARED_HINGE, L2) else 0.0
        return cls(train.C, loss, AUTO_EPSILON, loosest, regularization=regularization)


class Instances(NamedTuple):
    """What the instances of a problem weigh, whatever the label."""

    weights: np.ndarray  # of their losses: float32, shape (n,)
    n_documents: (
        int  # the first instances, which are negatives of all labels that they do not carry
    )

    @property
    def total(self):
        """Weight of the documents."""
        return float(self.weights[: self.n_documents].sum(dtype=np.float64))


def make_unit_instances(n):
    """Instances of weight 1, all of them documents."""
    return Instances(np.ones(n, np.float32), n)


class Costs(NamedTuple):
    """What the losses of each of l labels weigh: those of positives, beside 1 for negatives, and
    all of them.
    """

    positives: np.ndarray  # float64 (l,)
    C: np.ndarray  # float64 (l,)


class Workspace(NamedTuple):
    """What one thread works in: 6 vectors over n instances and 7 over d features, 4 bytes an entry."""

    signed_costs: np.ndarray  # y_i c_i: each loss has a cost c_i > 0, 1 unless weighted
    scores: np.ndarray  # X w
    score_steps: np.ndarray  # X p
    active: np.ndarray  # instances where the loss is curved, in its first n_active entries (int32)
    slopes: np.ndarray  # c_i phi'(m_i) y_i, in the order of `active`
    curvatures: np.ndarray  # c_i phi''(m_i), in the order of `active`
    weights: np.ndarray  # w: the start before a label is solved, the solution after
    gradient: np.ndarray
    step: np.ndarray  # p
    residual: np.ndarray  # r, d, H d and M of conjugate gradient
    direction: np.ndarray
    curved: np.ndarray
    preconditioner: np.ndarray


def make_workspace(n, d):
    """Allocate what one thread works in, for n instances and d features."""
    first_of_features = Workspace._fields.index("weights")
    shapes = dict.fromkeys(Workspace._fields[:first_of_features], (np.float32, n))
    shapes |= dict.fromkeys(Workspace._fields[first_of_features:], (np.float32, d))
    return Workspace(**allocate_separately(**shapes | {"active": (np.int32, n)}))


@kernel
def slice_workspace(work, m, count):
    """The first m instances and the first ``count`` features of a workspace, sharing its memory."""
    return Workspace(
        work.signed_costs[:m],
        work.scores[:m],
        work.score_steps[:m],
        work.active[:m],
        work.slopes[:m],
        work.curvatures[:m],
        work.weights[:count],
        work.gradient[:count],
        work.step[:count],
        work.residual[:count],
        work.direction[:count],
        work.curved[:count],
        work.preconditioner[:count],
    )


def allocate_separately(**shapes):
    """Allocate named arrays, each given as ``(dtype, *shape)``, with a page between any two."""
    # A vector loop first tests that its arrays do not overlap, with some slack, and adds in another
    # order when they might: with a page between any two, the bits never depend on where they lie.
    sizes = {
        name: np.dtype(dtype).itemsize * math.prod(shape)
        for name, (dtype, *shape) in shapes.items()
    }
    block = np.empty(
        sum(-(-size // PAGE_BYTES) * PAGE_BYTES + PAGE_BYTES for size in sizes.values())
        + 2 * PAGE_BYTES,
        np.uint8,
    )
    start = PAGE_BYTES - block.ctypes.data % PAGE_BYTES
    arrays = {}
    for name, (dtype, *shape) in shapes.items():
        arrays[name] = block[start : start + sizes[name]].view(dtype).reshape(shape)
        start += -(-sizes[name] // PAGE_BYTES) * PAGE_BYTES + PAGE_BYTES
    return arrays


class Status(IntEnum):
    """How a label ended."""

    CONVERGED = 0
    ITERATION_LIMIT = 1
    LINE_SEARCH_FAILED = 2
    NO_POSITIVES = 3
    TAKEN_OVER = 4


class Outcome(NamedTuple):
    """What the solver reports of one label."""

    newton_steps: int
    cg_steps: int
    line_search_halvings: int
    active_start: int  # instances with curved loss under the first weights
    active_end: int  # and under the last
    objective: float  # 1/2 |w|^2, or |w|_1, + C sum of losses
    gradient_norm: float  # |g(w)|, with L1 the violation of the optimality conditions
    gradient_target: float  # what it had to reach
    status: int
    full_passes: int  # over all of X


OUTCOME_DTYPE = np.dtype([(name, np.dtype(kind)) for name, kind in Outcome.__annotations__.items()])
"""An :class:`Outcome` in an array."""
