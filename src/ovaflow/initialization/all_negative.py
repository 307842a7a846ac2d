"""The all-negative start: the solution of the problem without positives.

OVA-Primal, Fang et al. 2019, sec. 3.3. It is solved once, from zero, and stopped early: at its
optimum all instances are on the kink of the squared hinge, where Newton's method makes poor first
steps (MSI sec. 3).
"""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.start import Start
from ovaflow.solver.losses import SLOPE_AT_ZERO
from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import Settings, alike, make_workspace
from ovaflow.solver.stopping import gradient_norm_at_zero
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.artifact import create_artifact, open_artifact, parameters_of, require_input

KIND = "root"

_SETTINGS = ("C", "loss", "root_epsilon")


def solve_root(X, training):
    """Weights and Outcome without positives, where |g(w)| <= root_epsilon |g(0)|."""
    settings = Settings.of(training)
    mean = np.bincount(X.indices, weights=X.data, minlength=X.n_columns) / max(X.n_rows, 1)
    slope = SLOPE_AT_ZERO[settings.loss]
    norm_at_zero = gradient_norm_at_zero(settings.C, slope, X.n_rows, 0, 0.0, 0.0, mean @ mean)
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = 0.0
    positives = np.empty(0, np.int32)
    target = training.root_epsilon * norm_at_zero
    outcome = solve_label(X, alike(X.n_rows), positives, target, work, settings)
    return work.weights.copy(), outcome


class AllNegative(Start):
    """Every label starts at the root."""

    def __init__(self, root):
        self._weights = root

    def fill(self, label, X, positives, weights):
        weights[:] = self._weights


def write_root(path, weights, outcome, training, dataset):
    with create_artifact(path, KIND, _settings_of(training), {"dataset": dataset}) as file:
        create_array(file, "weights", weights)
        for name, value in outcome._asdict().items():
            file.attrs[name] = value


def read_root(path, dataset, training):
    """Weights of a root file; InputError if it is of another dataset file or of other settings."""
    with open_artifact(path, KIND) as file:
        require_input(file, "dataset", dataset)
        parameters = parameters_of(file)
        for name, value in _settings_of(training).items():
            if parameters.get(name) != value:
                message = f"solved with {name} {parameters.get(name)}, not {value}"
                raise InputError(message, path, remedy="run `ovaflow root` again")
        return map_array(file["weights"])


def _settings_of(training):
    return {name: getattr(training, name) for name in _SETTINGS}
