"""Newton's method with a record of every iteration, for the figures of the papers.

The same kernels as in :func:`ovaflow.solver.newton.minimise`, step by step from
Python: training itself records nothing and pays nothing.
"""

import time
from typing import NamedTuple

import numpy as np

from ovaflow.solver.line_search import FAILED
from ovaflow.solver.newton import begin, pose, solve_label, take_step
from ovaflow.solver.objective import value
from ovaflow.solver.problem import Outcome, Status

_REFINED = 1e-3
_MOST_REFINING_STEPS = 20


class Record(NamedTuple):
    """One Newton iteration, or the start before the first.

    Attributes
    ----------
    objective, gradient_norm : float
        Under the weights that the iteration leads to.
    active : int
        Instances with curved loss under these weights: those that the next
        iteration looks at.
    step_length : float
        Multiplier that the line search found; 0 at the start, and where it
        found none.
    cg_steps : int
    seconds : float
        Processor time, without that of recording; jobs beside this one do not stretch it.
    """

    objective: float
    gradient_norm: float
    active: int
    step_length: float
    cg_steps: int
    seconds: float


def solve_recorded(X, positives, target, work, settings, positive_cost=1.0):
    """Minimise the objective of one label as :func:`~ovaflow.solver.newton.solve_label` does, and record how.

    Parameters
    ----------
    X : CSR, shape (n, d)
    positives : ndarray of int32, shape (n_positives,)
    target : float
        Norm of the gradient to reach.
    work : Workspace
        Its weights are the start, and the solution afterwards.
    settings : Settings
    positive_cost : float
        What the loss of a positive counts.

    Returns
    -------
    Outcome
    list of Record
        The start and every Newton iteration.
    """
    began = time.thread_time()
    pose(X, positives, np.float32(positive_cost), work)
    at = begin(X, work, settings)
    seconds = time.thread_time() - began
    records, halvings, status = [_record(at, seconds, work, settings)], 0, Status.CONVERGED
    while at.gradient_norm > target:
        if len(records) > settings.max_newton:
            status = Status.ITERATION_LIMIT
            break
        began = time.thread_time()
        at = take_step(X, at, work, settings)
        seconds = time.thread_time() - began
        records.append(_record(at, seconds, work, settings))
        halvings += at.halvings
        if at.step_length == FAILED:
            status = Status.LINE_SEARCH_FAILED
            break
    return _outcome(records, halvings, target, status), records


def _record(at, seconds, work, settings):
    return Record(value(work, settings), at.gradient_norm, at.active, at.step_length, at.cg_steps, seconds)


def _outcome(records, halvings, target, status):
    first, last, steps = records[0], records[-1], len(records) - 1
    return Outcome(
        newton_steps=steps,
        cg_steps=sum(record.cg_steps for record in records),
        line_search_halvings=halvings,
        active_start=first.active,
        active_end=last.active,
        objective=last.objective,
        gradient_norm=last.gradient_norm,
        gradient_target=target,
        status=int(status),
        full_passes=1 + steps,
    )


def refined_objective(X, positives, target, work, settings, positive_cost=1.0):
    """Objective at the optimum, as near as float32 comes to it, from the solution in ``work.weights``.

    Parameters
    ----------
    X, positives, target, work, settings, positive_cost
        As in :func:`solve_recorded`; the weights are moved on.

    Returns
    -------
    float
    """
    patient = settings._replace(max_newton=_MOST_REFINING_STEPS)
    return solve_label(X, positives, _REFINED * target, work, patient, positive_cost).objective
