"""The all-negative start: the solution of the problem without positives.

OVA-Primal, Fang et al. 2019, sec. 3.3. It is solved once, from zero, and stopped early: at its
optimum all instances are on the kink of the squared hinge, where Newton's method makes poor first
steps (MSI sec. 3).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.start import Start
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.losses import SLOPE_AT_ZERO
from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import (
    LabelProblem,
    Outcome,
    Settings,
    make_unit_instances,
    make_workspace,
)
from ovaflow.solver.stopping import compute_gradient_norm_at_zero
from ovaflow.sparse.csr import CSR
from ovaflow.steps import ROOT_SETTINGS
from ovaflow.storage.artifact import AT_ROOT, Artifact


@dataclass(frozen=True)
class Root(Artifact, kind="root", made_from=("dataset",), remedy="run `ovaflow root` again"):
    """Weights without positives, where |g(w)| <= root_epsilon |g(0)|."""

    weights: np.ndarray  # float64 (d,)
    outcome: Outcome = field(metadata=AT_ROOT)

    def require_settings(self, training: TrainLabels) -> None:
        """Refuse a root that was solved with other settings."""
        for name, value in _select_settings(training).items():
            if self.parameters.get(name) != value:
                message = f"solved with {name} {self.parameters.get(name)}, not {value}"
                raise InputError(message, self.path, remedy=self.remedy)


def _select_settings(training: TrainLabels) -> dict[str, Any]:
    """Select the settings of a training that the root depends on."""
    return {name: getattr(training, name) for name in ROOT_SETTINGS}


def solve_root(X: CSR, training: TrainLabels) -> Root:
    """Solve the problem without positives, from w = 0."""
    settings = Settings.from_training(training)
    mean = np.bincount(X.indices, weights=X.data, minlength=X.n_columns) / max(X.n_rows, 1)
    norm_at_zero = compute_gradient_norm_at_zero(
        settings.C,
        SLOPE_AT_ZERO[settings.loss],
        X.n_rows,
        n_positives=0,
        pp=0.0,
        xp=0.0,
        xx=float(mean @ mean),
    )
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = 0.0
    target = training.root_epsilon * norm_at_zero
    problem = LabelProblem(np.empty(0, np.int32), target, settings.C)
    outcome = solve_label(X, make_unit_instances(X.n_rows), problem, work, settings)
    return Root(work.weights.copy(), outcome, parameters=_select_settings(training))


class AllNegativeStart(Start):
    """Start of every label at the root."""

    def __init__(self, root: np.ndarray) -> None:
        self._weights = root

    def fill(self, label: int, X: CSR, positives: np.ndarray, weights: np.ndarray) -> None:
        weights[:] = self._weights
