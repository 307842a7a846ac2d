"""The problem of one label: its settings, the arrays that the solver works in, and its outcome."""

import math
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from ovaflow.solver.losses import LOSSES
from ovaflow.sparse.jit import callee, kernel

if TYPE_CHECKING:
    from ovaflow.settings.train import Solve

PAGE_BYTES = 4096
"""Bytes of a memory page."""

REGULARIZATIONS = ("l2", "l1")
"""Names that the config uses for the regularizations 1/2 |w|^2 and |w|_1."""


class Settings(NamedTuple):
    """Constants of the optimization, as kernels take them.

    The defaults follow LIBLINEAR 2.40 and the MSI paper, sec. 5. Root and anchor, which are no
    labels, are solved with the same constants. So what ends a label belongs in
    :class:`LabelProblem`, next to its target: :class:`~ovaflow.solver.stopping.Tolerance` makes
    one for each label.
    """

    C: float
    loss: int  # code of LOSSES
    max_newton: int = 1000
    max_cg: int = 1000  # in one Newton step
    max_line_search_halvings: int = 20  # in one line search
    sufficient_decrease: float = 0.01  # share of the linear decrease that a step must reach
    preconditioning: float = 0.01  # weight of the Hessian's diagonal against the identity
    # with L1: violation at which a quadratic model is solved, as a share of that before
    inner_tolerance: float = 0.1

    @classmethod
    def from_training(cls, train: "Solve") -> Self:
        """Read C and the loss of a training."""
        assert train.C != "auto"
        return cls(train.C, LOSSES[train.loss])


class Instances(NamedTuple):
    """Weights of the instances, the same in the problems of all labels.

    The first ``n_documents`` instances are documents, negatives of all labels that they do not
    carry. The others are names of labels, which are positives of their label and nothing else.
    """

    weights: np.ndarray  # of their losses: float32, shape (n,)
    n_documents: int

    @property
    def total(self) -> float:
        """Weight of all documents."""
        return float(self.weights[: self.n_documents].sum(dtype=np.float64))


def make_unit_instances(n: int) -> Instances:
    """Make n documents of weight 1."""
    return Instances(np.ones(n, np.float32), n)


class Costs(NamedTuple):
    """Weights of the losses of each of l labels."""

    positives: np.ndarray  # of positives, where negatives have 1: float64 (l,)
    C: np.ndarray  # of all losses against the regularization: float64 (l,)


class LabelProblem(NamedTuple):
    """The problem of one label on the instances that all labels share."""

    positives: np.ndarray  # its positive instances, ascending: int32
    target: float  # gradient norm, or with L1 violation, at which it ends
    C: float
    positive_cost: float = 1.0  # weight of the losses of positives, where negatives have 1


class Workspace(NamedTuple):
    """Arrays of one thread: 6 vectors over n instances and 7 over d features, 4 bytes an entry."""

    signed_costs: np.ndarray  # y_i c_i: each loss has a cost c_i >= 0, 1 unless weighted
    scores: np.ndarray  # X w
    score_steps: np.ndarray  # X p
    active: np.ndarray  # instances with a slope, in the first n_active entries: int32
    slopes: np.ndarray  # c_i phi'(m_i) y_i, in the order of `active`
    curvatures: np.ndarray  # c_i phi''(m_i), in the order of `active`
    weights: np.ndarray  # w: the start before a label is solved, the solution after
    gradient: np.ndarray  # g
    step: np.ndarray  # p
    residual: np.ndarray  # r of conjugate gradient
    direction: np.ndarray  # d
    hessian_direction: np.ndarray  # H d
    preconditioner: np.ndarray  # M, diagonal; with L1 the diagonal of the losses' Hessian


def make_workspace(n: int, d: int) -> Workspace:
    """Allocate the arrays of one thread, for n instances and d features."""
    first_of_features = Workspace._fields.index("weights")
    shapes: dict[str, tuple] = {}
    shapes |= dict.fromkeys(Workspace._fields[:first_of_features], (np.float32, n))
    shapes |= dict.fromkeys(Workspace._fields[first_of_features:], (np.float32, d))
    shapes["active"] = (np.int32, n)
    return Workspace(**allocate_separately(**shapes))


@callee
def slice_workspace(work: Workspace, n: int, d: int) -> Workspace:
    """Take the first n instances and the first d features of a workspace, sharing its memory."""
    return Workspace(
        work.signed_costs[:n],
        work.scores[:n],
        work.score_steps[:n],
        work.active[:n],
        work.slopes[:n],
        work.curvatures[:n],
        work.weights[:d],
        work.gradient[:d],
        work.step[:d],
        work.residual[:d],
        work.direction[:d],
        work.hessian_direction[:d],
        work.preconditioner[:d],
    )


def allocate_separately(**shapes: tuple) -> dict[str, np.ndarray]:
    """Allocate named arrays, each given as ``(dtype, *shape)``, with a page between any two."""
    # A vector loop first tests that its arrays do not overlap, with some slack, and adds in another
    # order when they might: with a page between any two, the bits never depend on where they lie.
    sizes = {}
    strides = {}
    for name, (dtype, *shape) in shapes.items():
        sizes[name] = np.dtype(dtype).itemsize * math.prod(shape)
        strides[name] = math.ceil(sizes[name] / PAGE_BYTES) * PAGE_BYTES + PAGE_BYTES
    memory = np.empty(sum(strides.values()) + 2 * PAGE_BYTES, np.uint8)
    start = PAGE_BYTES - memory.ctypes.data % PAGE_BYTES
    arrays = {}
    for name, (dtype, *shape) in shapes.items():
        arrays[name] = memory[start : start + sizes[name]].view(dtype).reshape(shape)
        start += strides[name]
    return arrays


class Status(IntEnum):
    """Ways in which a label ends; files have the numbers."""

    CONVERGED = 0  # the gradient, or with L1 the violation, is at most the target
    ITERATION_LIMIT = 1  # it is above the target after max_newton steps
    LINE_SEARCH_FAILED = 2  # no step length lowers the objective in single precision
    NO_POSITIVES = 3  # nothing is trained
    TAKEN_OVER = 4  # an earlier model's weights are kept

    @property
    def is_above_target(self) -> bool:
        """True if the solver gave the label up above its target."""
        return self not in (Status.CONVERGED, Status.NO_POSITIVES, Status.TAKEN_OVER)


class Outcome(NamedTuple):
    """Steps of one label and the solution that they reached; by default none were taken."""

    newton_steps: int = 0
    cg_steps: int = 0  # with L1 passes over features
    line_search_halvings: int = 0
    active_start: int = 0  # active instances under the first weights
    active_end: int = 0  # and under the last
    objective: float = 0.0  # 1/2 |w|^2, or |w|_1, + C sum of losses
    # |g(w)| or a bound of it, with L1 the violation of the optimality conditions
    gradient_norm: float = 0.0
    gradient_target: float = 0.0  # what it had to reach
    status: int = 0  # code of Status, before the first step that of CONVERGED
    full_passes: int = 0  # over all of X


OUTCOME_AT_START = Outcome()
"""Outcome of a label before its first step; kernels cannot leave out fields."""


@kernel
def add_round(total: Outcome, solved: Outcome, rounds: int) -> Outcome:
    """Add the outcome of one more problem of a label, such as one on a larger working set.

    Steps are summed; what is said of the solution is that of the last problem. The first problem,
    before which there were 0 ``rounds``, says how many instances were active under the first
    weights. Callers count ``full_passes`` themselves.
    """
    active_start = total.active_start
    if rounds == 0:
        active_start = solved.active_start
    return Outcome(
        newton_steps=total.newton_steps + solved.newton_steps,
        cg_steps=total.cg_steps + solved.cg_steps,
        line_search_halvings=total.line_search_halvings + solved.line_search_halvings,
        active_start=active_start,
        active_end=solved.active_end,
        objective=solved.objective,
        gradient_norm=solved.gradient_norm,
        gradient_target=solved.gradient_target,
        status=solved.status,
        full_passes=total.full_passes,
    )
