import naive
import numpy as np
import pytest
import scipy.sparse as sp
from liblinear.liblinearutil import parameter, problem, train

from ovaflow.solver.losses import LOSSES, SLOPE_AT_ZERO
from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import Settings, Status, make_workspace
from ovaflow.solver.stopping import relative_tolerance
from ovaflow.sparse.csr import from_scipy

OBJECTIVES = {"squared-hinge": naive.squared_hinge_objective, "logistic": naive.logistic_objective}
LIBLINEAR_SOLVERS = {"squared-hinge": 2, "logistic": 0}


def solve(X, dense, y, start=None, loss="squared-hinge", **constants):
    settings = Settings(**{"C": 1.0, "epsilon": 0.01, "loss": LOSSES[loss]} | constants)
    positives = np.flatnonzero(y > 0).astype(np.int32)
    at_zero = np.linalg.norm(settings.C * SLOPE_AT_ZERO[settings.loss] * (y @ dense))
    target = relative_tolerance(settings.epsilon, len(positives), len(y)) * at_zero
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = 0.0 if start is None else start
    outcome = solve_label(X, positives, target, work, settings)
    return work.weights, outcome


def liblinear(dense, y, loss, C, epsilon=1e-6):
    options = f"-s {LIBLINEAR_SOLVERS[loss]} -c {C} -e {epsilon} -q"
    # LIBLINEAR's first class is the first label it meets
    order = np.argsort(-y, kind="stable")
    model = train(problem(y[order], sp.csr_matrix(dense[order])), parameter(options))
    return np.array(model.get_decfun()[0])


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_same_optimum_as_liblinear(text_like, loss, C):
    X, dense, labels = text_like
    for y in labels:
        weights, outcome = solve(X, dense, y, loss=loss, C=C, epsilon=0.001)
        ours = OBJECTIVES[loss](dense, y, weights.astype(float), C)
        theirs = OBJECTIVES[loss](dense, y, liblinear(dense, y, loss, C), C)
        assert outcome.status == Status.CONVERGED
        assert ours <= theirs * 1.001
        assert outcome.objective == pytest.approx(ours, rel=1e-4)


def test_label_by_label_within_a_thousandth_at_the_default_tolerance(text_like):
    X, dense, labels = text_like
    for y in labels:
        weights, _ = solve(X, dense, y)
        ours = naive.squared_hinge_objective(dense, y, weights.astype(float))
        theirs = naive.squared_hinge_objective(dense, y, liblinear(dense, y, "squared-hinge", 1.0))
        assert ours == pytest.approx(theirs, rel=1e-3)


def test_gradient_criterion_holds_on_all_instances(text_like):
    X, dense, labels = text_like
    for y in labels:
        weights, outcome = solve(X, dense, y)
        theirs = np.linalg.norm(naive.squared_hinge_gradient(dense, y, weights.astype(float)))
        assert outcome.gradient_norm == pytest.approx(theirs, rel=0.05, abs=1e-4)
        assert outcome.gradient_norm <= outcome.gradient_target


def test_every_start_reaches_the_same_optimum(text_like):
    X, dense, labels = text_like
    rng = np.random.default_rng(1)
    for y in labels:
        from_zero, _ = solve(X, dense, y, epsilon=1e-4)
        from_elsewhere, _ = solve(X, dense, y, start=rng.normal(size=X.n_columns), epsilon=1e-4)
        assert from_elsewhere == pytest.approx(from_zero, abs=2e-3)


def test_start_at_the_optimum_takes_no_step(text_like):
    X, dense, labels = text_like
    optimum, _ = solve(X, dense, labels[2], epsilon=1e-3)
    _, outcome = solve(X, dense, labels[2], start=optimum)
    assert (outcome.newton_steps, outcome.cg_steps) == (0, 0)


def test_step_limit_is_reported(text_like):
    X, dense, labels = text_like
    _, outcome = solve(X, dense, labels[0], epsilon=1e-5, max_newton=1)
    assert (outcome.status, outcome.newton_steps) == (Status.ITERATION_LIMIT, 1)


@pytest.mark.parametrize(
    ("dense", "y"),
    [
        ([[1.0]], [1.0]),
        ([[1.0]], [-1.0]),
        ([[0.0, 1.0]], [1.0]),
        ([[0.0], [0.0], [1.0]], [1.0, -1.0, -1.0]),
        ([[0.6, 0.8, 1.0], [0.0, 0.0, 1.0]], [1.0, 1.0]),
        ([[0.6, 0.8, 1.0], [0.6, 0.8, 1.0]], [1.0, -1.0]),
    ],
    ids=["one instance", "one negative", "bias only", "no features", "all positive", "contradiction"],
)
def test_degenerate_problems(dense, y):
    dense, y = np.array(dense), np.array(y)
    weights, outcome = solve(from_scipy(sp.csr_array(dense)), dense, y)
    theirs = (
        naive.squared_hinge_objective(dense, y, liblinear(dense, y, "squared-hinge", 1.0)) if len(set(y)) > 1 else None
    )
    ours = naive.squared_hinge_objective(dense, y, weights.astype(float))
    assert outcome.status == Status.CONVERGED
    assert np.isfinite(weights).all()
    if theirs is not None:
        assert ours == pytest.approx(theirs, rel=1e-3)


def test_empty_active_set_at_the_start(text_like):
    X, dense, _ = text_like
    y = np.full(X.n_rows, -1.0)
    start = np.zeros(X.n_columns)
    start[-1] = -5.0
    weights, outcome = solve(X, dense, y, start=start)
    assert outcome.active_start == 0
    assert outcome.status == Status.CONVERGED
    ours = naive.squared_hinge_objective(dense, y, weights.astype(float))
    theirs = naive.squared_hinge_objective(dense, y, solve(X, dense, y)[0].astype(float))
    assert ours == pytest.approx(theirs, rel=1e-3)
