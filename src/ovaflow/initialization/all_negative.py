"""The all-negative start: the solution of the problem without positives.

OVA-Primal, Fang et al. 2019, sec. 3.3. It is solved once, from zero, and stopped early: at its
optimum all instances are on the kink of the squared hinge, where Newton's method makes poor first
steps (MSI sec. 3).
"""

from dataclasses import dataclass, field

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.start import Start
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
from ovaflow.storage.artifact import AT_ROOT, Artifact

_SETTINGS = ("C", "loss", "root_epsilon")


@dataclass(frozen=True)
class Root(Artifact, kind="root", made_from=("dataset",), remedy="run `ovaflow root` again"):
    """Weights without positives, where |g(w)| <= root_epsilon |g(0)|."""

    weights: np.ndarray  # float64 (d,)
    outcome: Outcome = field(metadata=AT_ROOT)

    def require_settings(self, training) -> None:
        """Refuse a root that was solved with other settings."""
        for name, value in _settings_of(training).items():
            if self.parameters.get(name) != value:
                message = f"solved with {name} {self.parameters.get(name)}, not {value}"
                raise InputError(message, self.path, remedy=self.remedy)


def _settings_of(training):
    return {name: getattr(training, name) for name in _SETTINGS}


def solve_root(X, training):
    settings = Settings.from_training(training)
    mean = np.bincount(X.indices, weights=X.data, minlength=X.n_columns) / max(X.n_rows, 1)
    slope = SLOPE_AT_ZERO[settings.loss]
    norm_at_zero = compute_gradient_norm_at_zero(
        settings.C, slope, X.n_rows, 0, 0.0, 0.0, mean @ mean
    )
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = 0.0
    target = training.root_epsilon * norm_at_zero
    problem = LabelProblem(np.empty(0, np.int32), target, settings.C)
    outcome = solve_label(X, make_unit_instances(X.n_rows), problem, work, settings)
    return Root(work.weights.copy(), outcome, parameters=_settings_of(training))


class AllNegativeStart(Start):
    """Every label starts at the root."""

    def __init__(self, root) -> None:
        self._weights = root

    def fill(self, label, X, positives, weights) -> None:
        weights[:] = self._weights
